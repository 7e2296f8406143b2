//! A simulated clock whose faults are known is read in batches; the counts must be exact.

mod stuck;

use super::*;
use proptest::prelude::*;

const PERFECT: Judge = Judge::Reference { tick_ns: 0.0, rate_error: 0.0 };

/// A clock that reads the true time plus what its faults added, on a lattice of `tick` ns.
struct Simulated {
    now: f64,
    offset: f64,
    cost: f64,
    tick: f64,
    reads: u64,
    last: u64,
}

/// Faults at one read.
#[derive(Clone, Copy, Debug, Default)]
struct Fault {
    /// Stays.
    step: f64,
    /// Affects one reading.
    blip: f64,
    /// The thread does not run for so long before the read.
    gap: f64,
    /// The clock is not brought up to date: it gives the last reading again.
    repeated: bool,
}

impl Simulated {
    fn new(cost: f64, tick: f64) -> Self {
        Self { now: 1e6, offset: 0.0, cost, tick, reads: 0, last: 0 }
    }

    fn read(&mut self, fault: Fault) -> u64 {
        self.reads += 1;
        // A deterministic jitter of a tenth of the cost.
        let jitter = (self.reads % 7) as f64 / 70.0;
        self.now += self.cost * (1.0 + jitter) + fault.gap;
        self.offset += fault.step;
        if !fault.repeated {
            self.last = (((self.now + self.offset + fault.blip + 1e15) / self.tick).floor() * self.tick) as u64;
        }
        self.last
    }
}

/// Reads `batches` batches of `length` and counts; `faults` returns what happens at the n-th read.
fn count(clock: &mut Simulated, batches: usize, length: usize, faults: impl Fn(u64) -> Fault) -> Events {
    counted(clock, batches, length, faults).finish().0
}

fn counted(clock: &mut Simulated, batches: usize, length: usize, faults: impl Fn(u64) -> Fault) -> EventCounter {
    interrupted(clock, batches, length, faults, |_| (0.0, 0.0))
}

/// Reads and counts; `lost` is how long the thread does not run between the reference and the
/// readings of the n-th batch: before the first reading, and after the last.
fn interrupted(
    clock: &mut Simulated,
    batches: usize,
    length: usize,
    faults: impl Fn(u64) -> Fault,
    lost: impl Fn(usize) -> (f64, f64),
) -> EventCounter {
    let mut counter = EventCounter::new(1.0, 0.0, PERFECT, length);
    let mut values = Vec::with_capacity(length);
    for batch in 0..batches {
        let before_ns = clock.now;
        let (lost_before, lost_after) = lost(batch);
        clock.now += 10.0 + lost_before;
        values.clear();
        // The instrument starts with a single read.
        for _ in 0..if batch == 0 { 1 } else { length } {
            let fault = faults(clock.reads + 1);
            values.push(clock.read(fault));
        }
        clock.now += 10.0 + lost_after;
        let cost_ns = (batch > 0).then_some(clock.cost * 1.043);
        counter.batch(Batch { values: &values, before_ns, after_ns: clock.now, cost_ns });
        // Other clocks' batches.
        clock.now += 3_000.0;
    }
    counter
}

/// The worst events are those that were planted, with their sizes, where they were planted.
#[test]
fn the_worst_events_are_known_by_time_and_size() {
    let faults = |read: u64| match read {
        20_000 => Fault { step: 2e6, ..Fault::default() },
        90_000 => Fault { step: 5e6, ..Fault::default() },
        40_000 => Fault { gap: 3e6, ..Fault::default() },
        60_000 => Fault { step: -7e5, ..Fault::default() },
        _ => Fault::default(),
    };
    let mut clock = Simulated::new(25.0, 1.0);
    let (_, worst) = counted(&mut clock, 376, 800, faults).finish();
    let about = |events: &[WorstEvent]| -> Vec<(f64, f64)> {
        events.iter().map(|event| ((event.at_s * 2e3).round(), (event.size_ns.unwrap() / 1e4).round())).collect()
    };
    // A read costs 25 ns and a little, a batch of 800 is followed by 3 µs; the gap of 3 ms comes
    // before the later ones.
    let at = |read: f64, gap: f64| ((read * (25.0 * 1.043 + 3000.0 / 800.0) + gap) / 5e5).round();
    assert_eq!(about(&worst.warp), [(at(90_000.0, 3e6), 500.0), (at(20_000.0, 0.0), 200.0)]);
    assert_eq!(about(&worst.jump), about(&worst.warp));
    assert_eq!(about(&worst.gap), [(at(40_000.0, 0.0), 300.0)]);
    assert_eq!(about(&worst.regression), [(at(60_000.0, 3e6), 70.0)]);
}

fn every(reads: u64, fault: Fault) -> impl Fn(u64) -> Fault {
    move |read| if read.is_multiple_of(reads) { fault } else { Fault::default() }
}

/// In 375 batches of 800 and the single read before them.
const READS: u64 = 300_001;

/// Counts that need a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Judged {
    jump: u64,
    warp: u64,
    gap: u64,
    hidden_regression: Option<u64>,
}

fn judged(events: &Events) -> Judged {
    let [jump, warp, gap] = [&events.jump, &events.warp, &events.gap].map(|count| count.get().expect("judged"));
    Judged { jump, warp, gap, hidden_regression: events.hidden_regression.get() }
}

#[test]
fn a_healthy_clock_has_no_events() {
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, |_| Fault::default());
    assert_eq!(counts.reads, READS);
    assert_eq!((counts.stuck, counts.stall, counts.regression), (0, 0, 0));
    assert_eq!(judged(&counts), Judged { hidden_regression: Some(0), ..Judged::default() });
}

#[test]
fn every_lasting_step_back_is_one_regression() {
    let back = Fault { step: -1000.0, ..Fault::default() };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, every(2500, back));
    assert_eq!(counts.regression, READS / 2500);
    assert_eq!(judged(&counts), Judged { hidden_regression: Some(0), ..Judged::default() });
}

/// A step back by one unit counts with its size, inside a batch and from one batch to the next.
#[test]
fn a_step_back_by_one_unit_is_a_regression() {
    for judge in [PERFECT, Judge::None("CPU time")] {
        let mut counter = EventCounter::new(0.5, 0.0, judge, 4);
        for (values, before_ns) in [([100, 140, 139, 180], 0.0), ([179, 220, 260, 300], 40.0)] {
            counter.batch(Batch { values: &values, before_ns, after_ns: before_ns + 70.0, cost_ns: Some(20.0) });
        }
        assert_eq!((counter.repeats(), counter.smallest_step()), (0, Some(40)));
        let (counts, worst) = counter.finish();
        assert_eq!(counts.regression, 2);
        let sizes: Vec<f64> = worst.regression.iter().filter_map(|event| event.size_ns).collect();
        assert_eq!(sizes, [0.5, 0.5]);
    }
}

#[test]
fn the_return_from_a_step_back_is_no_second_event() {
    for blip in [-1000.0, -20_000.0, -5e6] {
        let back = Fault { blip, ..Fault::default() };
        // 801 does not divide the batch's length: the step falls on every place, the boundaries
        // included.
        let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, every(801, back));
        // A step of 1 µs between two batches, 3 µs apart, is no step back among the readings: one
        // falls there.
        let seen = READS / 801 - u64::from(blip == -1000.0);
        assert_eq!(counts.regression, seen, "{blip}");
        assert_eq!(judged(&counts), Judged { hidden_regression: Some(0), ..Judged::default() }, "{blip}");
    }
}

#[test]
fn every_step_forward_is_one_jump() {
    for (step, warp) in [(5_000.0, 0), (500_000.0, 0), (2e6, READS / 801)] {
        let forward = Fault { step, ..Fault::default() };
        let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, every(801, forward));
        assert_eq!(counts.regression, 0);
        assert_eq!(judged(&counts), Judged { jump: READS / 801, warp, gap: 0, hidden_regression: Some(0) }, "{step}");
    }
}

/// The reference stepped back during a batch with two interruptions, which were no jumps.
/// A batch of jumps is judged in one pass, and a clock that goes back by the most there is, too.
#[test]
fn readings_of_no_clock_end_as_well() {
    const JUMPS: u64 = 100_000;
    let mut events = EventCounter::new(1.0, 1.0, PERFECT, 16);
    let batch = |values, before_ns| Batch { values, before_ns, after_ns: before_ns + 1000.0, cost_ns: Some(10.0) };
    events.batch(batch(&[1000, 1010, 1020], 0.0));
    let jumps: Vec<u64> = (1..=JUMPS).map(|jump| 2000 + jump * 100_000).collect();
    events.batch(batch(&jumps, 1e4));
    let back = jumps[jumps.len() - 1].wrapping_add_signed(i64::MIN);
    events.batch(batch(&[back, back + 10], 2e4));
    let (counts, _) = events.finish();
    assert!(judged(&counts).jump >= JUMPS - 1, "{counts:?}");
    assert_eq!(counts.regression, 1);
}

#[test]
fn a_reference_that_goes_back_shows_no_jump() {
    let mut counter = EventCounter::new(1.0, 0.0, PERFECT, 800);
    let mut clock = Simulated::new(25.0, 1.0);
    let mut stepped_ns = 0.0;
    for batch in 0..100 {
        let before_ns = clock.now - stepped_ns;
        let fault = |read| match (batch, read) {
            (50, 100 | 400) => Fault { gap: 4e6, ..Fault::default() },
            _ => Fault::default(),
        };
        let values: Vec<u64> = (0..800).map(|read| clock.read(fault(read))).collect();
        stepped_ns += if batch == 50 { 2e7 } else { 0.0 };
        let after_ns = clock.now - stepped_ns;
        counter.batch(Batch { values: &values, before_ns, after_ns, cost_ns: (batch > 0).then_some(26.1) });
        clock.now += 3_000.0;
    }
    let found = judged(&counter.finish().0);
    assert_eq!((found.jump, found.warp, found.hidden_regression), (0, 0, Some(0)));
}

/// Nine of ten jumps of the reported sure size are counted.
#[test]
fn jumps_of_the_sure_size_are_counted() {
    let sure_ns = |step: f64| {
        let jump = Fault { step, ..Fault::default() };
        let counts = count(&mut Simulated::new(25.0, 10.0), 376, 800, every(3001, jump));
        (counts.sure_ns.get().unwrap(), judged(&counts).jump)
    };
    let (sure, none) = sure_ns(0.0);
    assert!((1000.0..1500.0).contains(&sure) && none == 0, "{sure}");
    // The clock shows a jump in whole ticks.
    let (_, seen) = sure_ns(sure + 10.0);
    assert!(seen as f64 >= 0.9 * (READS / 3001) as f64, "{seen} of {} at {sure} ns", READS / 3001);
    // Well below it hardly any is.
    assert!(sure_ns(sure - 100.0).1 <= READS / 3001 / 10);
}

#[test]
fn a_preempted_thread_is_a_gap_and_no_jump() {
    let gap = Fault { gap: 4e6, ..Fault::default() };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, every(3001, gap));
    assert_eq!(judged(&counts), Judged { gap: READS / 3001, hidden_regression: Some(0), ..Judged::default() });
}

/// A batch that an interruption made longer than a coarse clock's tick was taken for one in which a
/// loss of time would show, and none was reported of all others.
#[test]
fn an_interrupted_batch_decides_nothing_for_a_coarse_clock() {
    let faults = |read: u64| Fault { gap: if read == 5_000 { 9e6 } else { 0.0 }, ..Fault::default() };
    let counts = count(&mut Simulated::new(25.0, 4e6), 376, 800, faults);
    assert_eq!(judged(&counts).hidden_regression, None);
}

/// A batch that began with a repeat left an upper bound of the offset that was too high by its
/// length. A jump or a gap of the next batch was taken for the return from there.
#[test]
fn what_follows_a_batch_that_began_with_a_repeat_is_counted() {
    let faults = |read: u64| match read {
        // The first readings of the sixth and of the eleventh batch.
        3_202 | 7_202 => Fault { repeated: true, ..Fault::default() },
        4_302 => Fault { step: 5e3, ..Fault::default() },
        8_302 => Fault { gap: 5e3, ..Fault::default() },
        _ => Fault::default(),
    };
    let counts = count(&mut Simulated::new(25.0, 1.0), 20, 800, faults);
    assert_eq!(judged(&counts), Judged { jump: 1, warp: 0, gap: 1, hidden_regression: Some(0) });
}

/// If most batches were interrupted, their usual cost holds an interruption: a batch with a shorter
/// one took no longer than usual.
#[test]
fn a_gap_that_is_shorter_than_the_usual_ones_is_a_gap() {
    let mut clock = Simulated::new(25.0, 1.0);
    let mut counter = EventCounter::new(1.0, 0.0, PERFECT, 800);
    let usual_ns = 25.0 * 1.043 + 4_000.0 / 800.0;
    for batch in 0..20 {
        let before_ns = clock.now;
        let gap = if batch == 10 { 2_000.0 } else { 4_000.0 };
        let values: Vec<u64> = (0..800)
            .map(|read| clock.read(Fault { gap: if read == 400 { gap } else { 0.0 }, ..Fault::default() }))
            .collect();
        clock.now += 10.0;
        counter.batch(Batch { values: &values, before_ns, after_ns: clock.now, cost_ns: Some(usual_ns) });
    }
    assert_eq!(judged(&counter.finish().0).gap, 20);
}

#[test]
fn a_jump_inside_a_gap_is_a_jump() {
    let both = Fault { gap: 4e6, step: 500_000.0, ..Fault::default() };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, every(3001, both));
    assert_eq!(judged(&counts).jump, READS / 3001);
}

#[test]
fn a_jump_inside_a_gap_takes_no_other_gap_of_its_batch_along() {
    // The jump's step is longer than the jump, by the gap that it fell into; another gap is shorter
    // than it.
    let faults = |read: u64| match read % 8000 {
        100 => Fault { gap: 9e3, ..Fault::default() },
        200 => Fault { gap: 20e3, step: 2e6, ..Fault::default() },
        _ => Fault::default(),
    };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, faults);
    assert_eq!(judged(&counts), Judged { jump: 38, warp: 38, gap: 38, hidden_regression: Some(0) });
}

#[test]
fn a_jump_beside_a_gap_is_distinguished_by_its_size() {
    // Both in one batch: the gap is longer than a warp, the jump is not.
    let faults = |read: u64| match read % 8000 {
        100 => Fault { gap: 4e6, ..Fault::default() },
        200 => Fault { step: 500_000.0, ..Fault::default() },
        _ => Fault::default(),
    };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, faults);
    // 300,001 reads hold 38 first and 38 second places of a period of 8,000.
    assert_eq!(judged(&counts), Judged { jump: 38, warp: 0, gap: 38, hidden_regression: Some(0) });
}

/// The interruption hides part of the jump from the batch that it is in, but not from the next one:
/// that part is no second jump.
#[test]
fn a_jump_before_an_interruption_is_one_jump() {
    let jump = Fault { step: 2e6, ..Fault::default() };
    for lost in [0.0, 500.0, 2_000.0, 20_000.0, 1_500_000.0, 1_999_000.0, 5e6] {
        for batch in [99, 100, 101] {
            let lost = |at: usize| if at == batch { (0.0, lost) } else { (0.0, 0.0) };
            // The 100th batch holds readings 79,202 to 80,001.
            let jump = |read: u64| if read == 79_500 { jump } else { Fault::default() };
            let (counts, worst) = interrupted(&mut Simulated::new(25.0, 1.0), 376, 800, jump, lost).finish();
            let Judged { jump, warp, hidden_regression, .. } = judged(&counts);
            assert_eq!((jump, hidden_regression), (1, Some(0)), "{:?} in {batch}", lost(batch));
            let size = worst.jump[0].size_ns.unwrap();
            assert!(size <= 2e6 + 100.0 && warp == u64::from(size > WARP_NS), "{size}");
        }
    }
}

#[test]
fn a_step_back_that_has_returned_excuses_no_later_jump() {
    let faults = |read: u64| match read % 8000 {
        100 => Fault { blip: -20_000.0, ..Fault::default() },
        200 => Fault { step: 20_000.0, ..Fault::default() },
        _ => Fault::default(),
    };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, faults);
    assert_eq!((counts.regression, judged(&counts).jump), (38, 38));
}

#[test]
fn time_lost_inside_a_gap_is_a_hidden_regression() {
    let both = Fault { gap: 4e6, step: -500_000.0, ..Fault::default() };
    let counts = count(&mut Simulated::new(25.0, 1.0), 376, 800, every(3001, both));
    assert_eq!(counts.regression, 0);
    assert_eq!(judged(&counts).hidden_regression, Some(READS / 3001));
    assert_eq!(judged(&counts).jump, 0);
}

#[test]
fn the_regular_step_of_a_coarse_clock_is_neither_jump_nor_warp() {
    for tick in [1_000.0, 1e6, 4e6, 1e7] {
        let counter = counted(&mut Simulated::new(5.0, tick), 3000, 1000, |_| Fault::default());
        assert_eq!(counter.smallest_step(), Some(tick as u64), "{tick}");
        let counts = counter.finish().0;
        assert_eq!((judged(&counts).jump, judged(&counts).warp, judged(&counts).gap), (0, 0, 0), "{tick}");
        assert_eq!((counts.stuck, counts.stall > 0), (0, tick < 2e3), "{tick}");
        assert_eq!(counts.regression, 0);
    }
}

#[test]
fn a_coarse_clock_that_misses_ticks_and_catches_up_did_not_jump() {
    // 12 ms without a tick of 4 ms: what then comes at once is what had passed.
    let late = |read: u64| Fault { repeated: (3_000_000..4_500_000).contains(&read), ..Fault::default() };
    let counts = count(&mut Simulated::new(5.0, 4e6), 9000, 1000, late);
    assert_eq!((judged(&counts).jump, judged(&counts).warp), (0, 0));
}

#[test]
fn a_jump_of_a_coarse_clock_is_seen() {
    let forward = Fault { step: 20e6, ..Fault::default() };
    let counts = count(&mut Simulated::new(5.0, 4e6), 9000, 1000, every(1_500_001, forward));
    assert_eq!((judged(&counts).jump, judged(&counts).warp), (5, 5));
}

#[test]
fn nobody_judges_cpu_time() {
    let mut counter = EventCounter::new(1.0, 0.0, Judge::None("CPU time"), 2);
    counter.batch(Batch { values: &[0, 1_000_000_000], before_ns: 0.0, after_ns: 1.0, cost_ns: Some(1.0) });
    assert_eq!(counter.finish().0.jump, Figure::unknown("CPU time"));
}

#[test]
fn a_slewed_clock_is_not_at_fault() {
    // The kernel's fastest slew, both ways, over half a second.
    for rate in [-450e-6, 450e-6] {
        let mut clock = Simulated::new(25.0, 1.0);
        let counts = count(&mut clock, 5000, 800, |_| Fault { step: 26.0 * rate, ..Fault::default() });
        assert_eq!(
            (counts.regression, judged(&counts).jump, judged(&counts).hidden_regression),
            (0, 0, Some(0)),
            "{rate}"
        );
    }
}

#[test]
fn a_fine_clock_is_not_blamed_for_a_coarse_reference() {
    // The reference moves by 4 ms every 4 ms, as the system's clocks do on the clocksource jiffies.
    let coarse = |ns: f64| (ns / 4e6).floor() * 4e6;
    let mut clock = Simulated::new(10.0, 1.0);
    let mut counter = EventCounter::new(1.0, 0.0, Judge::Reference { tick_ns: 4e6, rate_error: 0.0 }, 1000);
    for _ in 0..5000 {
        let before_ns = coarse(clock.now);
        let values: Vec<u64> = (0..1000).map(|_| clock.read(Fault::default())).collect();
        counter.batch(Batch { values: &values, before_ns, after_ns: coarse(clock.now), cost_ns: Some(10.43) });
    }
    let counts = judged(&counter.finish().0);
    assert_eq!((counts.jump, counts.gap, counts.hidden_regression.unwrap_or(0)), (0, 0, 0));
}

#[test]
fn a_rate_that_is_not_known_well_accuses_nobody() {
    let judge = Judge::Reference { tick_ns: 0.0, rate_error: 0.02 };
    for rate in [-0.015, 0.015] {
        let mut clock = Simulated::new(25.0, 1.0);
        let mut counter = EventCounter::new(1.0, 0.0, judge, 800);
        for _ in 0..5000 {
            let before_ns = clock.now * (1.0 + rate);
            let values: Vec<u64> = (0..800).map(|_| clock.read(Fault::default())).collect();
            counter.batch(Batch {
                values: &values,
                before_ns,
                after_ns: clock.now * (1.0 + rate),
                cost_ns: Some(26.0),
            });
            clock.now += 500_000.0;
        }
        let counts = judged(&counter.finish().0);
        assert_eq!((counts.jump, counts.hidden_regression), (0, Some(0)), "{rate}");
    }
}

proptest! {
    #[test]
    fn gaps_alone_never_accuse_the_clock(
        cost in 4.0..800.0_f64,
        tick in prop::sample::select(vec![1.0, 10.0, 41.0, 100.0, 1000.0]),
        gaps in prop::collection::vec((1_u64..20_000, 1e3..1e8_f64), 0..40),
        length in 1_usize..900,
    ) {
        let gap = |read| Fault { gap: gaps.iter().filter(|(at, _)| *at == read).map(|(_, gap)| gap).sum(), ..Fault::default() };
        let counts = count(&mut Simulated::new(cost, tick), 20_000 / length, length, gap);
        prop_assert_eq!(counts.regression, 0);
        prop_assert_eq!((judged(&counts).jump, judged(&counts).warp), (0, 0));
        prop_assert_eq!(judged(&counts).hidden_regression.unwrap_or(0), 0);
    }

    /// Wherever a busy machine interrupts: what it hides of a jump is never a second one. (In one
    /// of 40,000 cases two gaps of one batch are together as long as what is left of the jump, and
    /// look the same.)
    #[test]
    fn interruptions_never_add_a_jump(
        step in prop::sample::select(vec![5e3, 5e5, 2e6]),
        lost in prop::collection::vec((0_usize..60, 0.0..2_f64, 0.0..2_f64), 0..60),
        gaps in prop::collection::vec((1_u64..48_000, 1e3..5e6_f64), 0..40),
    ) {
        let faults = |read: u64| Fault {
            gap: gaps.iter().filter(|(at, _)| *at == read).map(|(_, gap)| gap).sum(),
            step: if read.is_multiple_of(3001) { step } else { 0.0 },
            ..Fault::default()
        };
        // Of the jump's size and less, and none at all where a share is above 1.
        let share = |share: f64| if share > 1.0 { 0.0 } else { share * step };
        let lost = |batch: usize| {
            let here = lost.iter().filter(|(at, ..)| *at == batch);
            here.fold((0.0, 0.0), |(before, after), (_, b, a)| (before + share(*b), after + share(*a)))
        };
        let (counts, _) = interrupted(&mut Simulated::new(25.0, 1.0), 60, 800, faults, lost).finish();
        prop_assert!(judged(&counts).jump <= 47_201 / 3001 + 1, "{:?}", judged(&counts));
        prop_assert_eq!(judged(&counts).hidden_regression, Some(0));
    }

    /// A loss that a reading shows as a step back is not counted once more as a hidden one,
    /// wherever a busy machine interrupts.
    #[test]
    fn a_loss_is_counted_once(
        loss in prop::sample::select(vec![100.0, 1e3, 3e3, 2e4, 5e5]),
        every in prop::sample::select(vec![101_u64, 701, 3001, 20_001]),
        returns in any::<bool>(),
        lost in prop::collection::vec((0_usize..60, 0.0..3e4_f64, 0.0..3e4_f64), 0..60),
        gaps in prop::collection::vec((1_u64..48_000, 1e3..5e6_f64), 0..40),
    ) {
        let faults = |read: u64| {
            let here = if read.is_multiple_of(every) { -loss } else { 0.0 };
            Fault {
                gap: gaps.iter().filter(|(at, _)| *at == read).map(|(_, gap)| gap).sum(),
                step: if returns { 0.0 } else { here },
                blip: if returns { here } else { 0.0 },
                ..Fault::default()
            }
        };
        let lost = |batch: usize| {
            let here = lost.iter().filter(|(at, ..)| *at == batch);
            here.fold((0.0, 0.0), |(before, after), (_, b, a)| (before + b, after + a))
        };
        let (counts, _) = interrupted(&mut Simulated::new(25.0, 1.0), 60, 800, faults, lost).finish();
        let found = counts.regression + judged(&counts).hidden_regression.unwrap_or(0);
        prop_assert!(found <= 47_201 / every, "{found} of {}: {counts:?}", 47_201 / every);
        prop_assert_eq!(judged(&counts).jump, 0);
    }

    /// Whatever is read, and whenever it is asked: a snapshot is what an end there would give, and
    /// nothing after it changes. Readings are repeated, so that batches and snapshots fall into
    /// runs.
    #[test]
    fn snapshots_change_nothing(
        steps in prop::collection::vec((prop::sample::select(vec![0_i64, 0, 0, 0, 1, 25, 30_000, -7, -40_000]), any::<bool>()), 1..1500),
        lengths in prop::collection::vec(1_usize..40, 1..40),
        pauses in prop::collection::vec(prop::sample::select(vec![0.0, 500.0, 2e6]), 1..7),
        snapshots in prop::collection::vec(any::<bool>(), 1..20),
        has_judge in any::<bool>(),
    ) {
        let mut value = 1_u64 << 40;
        let values: Vec<u64> = steps.iter().map(|(step, is_long)| {
            value = value.wrapping_add_signed(if *is_long { *step } else { step.signum() });
            value
        }).collect();
        let judge = if has_judge { PERFECT } else { Judge::None("CPU time") };
        let (mut alone, mut observed) = (EventCounter::new(1.0, 0.0, judge, 40), EventCounter::new(1.0, 0.0, judge, 40));
        let (mut remaining, mut now_ns) = (values.as_slice(), 0.0);
        for (turn, length) in lengths.iter().cycle().enumerate() {
            let (part, others) = remaining.split_at((*length).min(remaining.len()));
            let after_ns = now_ns + 25.0 * part.len() as f64;
            let batch = Batch { values: part, before_ns: now_ns, after_ns, cost_ns: (turn > 0).then_some(25.0) };
            alone.batch(batch);
            observed.batch(batch);
            let pause_ns = pauses[turn % pauses.len()];
            if pause_ns > 1e6 {
                alone.gap_between_batches(pause_ns);
                observed.gap_between_batches(pause_ns);
            }
            if snapshots[turn % snapshots.len()] {
                prop_assert_eq!(observed.snapshot(), alone.clone().finish());
                // So does a copy that goes on instead.
                observed = observed.clone();
            }
            (remaining, now_ns) = (others, after_ns + pause_ns);
            if remaining.is_empty() {
                break;
            }
        }
        prop_assert_eq!(observed.snapshot(), observed.snapshot());
        prop_assert_eq!(observed.finish(), alone.finish());
    }

    #[test]
    fn any_values_are_survived(values in prop::collection::vec(any::<u64>(), 0..200), scale in 1e-3..1e9_f64) {
        let mut counter = EventCounter::new(scale, 1.0, PERFECT, 200);
        for part in values.chunks(7) {
            counter.batch(Batch { values: part, before_ns: 0.0, after_ns: 100.0, cost_ns: Some(10.0) });
        }
        prop_assert_eq!(counter.finish().0.reads, values.len() as u64);
    }
}
