//! Events between readings: counted anew from these, and compared with what the machine did.

use clockscope_measure::{Amount, Catalog, MeasureRequest, Paths, Session, StepsRequest, measure, steps};
use clockscope_records::{ClockIdentity, Events, Figure, TickEvidence};
use clockscope_testing::simulation::{Change, Lost, Random};

use crate::harness::{Coverage, on_machines, on_one};
use crate::machine::{Clocksource, Machine, Maker, Spec, pick};
use crate::measure::true_cost_ns;
use crate::platform::{Around, Read, Simulated};
use crate::steps::nothing_is_wrong;
use crate::ticks;

/// Reads of a clock that are made before any is looked at: two child_reads, and those that show
/// what a read costs.
const UNSEEN: u64 = 2 + 4 * 16;
/// Batches of `measure` that show no gap: their cost is not known yet.
const UNCOSTED: usize = 2 * 3 * 11 + 3;
/// Readings that follow a step back until it shows in the end of a batch, and the beginning of
/// another one.
const SOME_BATCHES: u64 = 1 << 16;
/// Repeats of one value that are no stall, and stuck if the clock stood still for more than
/// `STUCK_TICKS`.
const STUCK: usize = 200;
const STUCK_TICKS: f64 = 4.0;
/// Share by which the mean rate of a timer may differ from its first one without being doubted, and
/// the uncertainty of both.
const UNNOTICED: f64 = 1.5e-3;
/// A pause between two batches that is a gap, in ns, less what the clocks differ by.
const PAUSE_NS: f64 = 0.99e6;

/// Findings on one clock.
struct FoundEvents {
    identity: ClockIdentity,
    events: Events,
    /// The smallest step forward in ns, where the record has it.
    smallest_ns: Option<f64>,
    tick_ns: Option<f64>,
    evidence: Option<TickEvidence>,
    /// The median cost of a read in ns, where the question is what it costs, and the reads of a
    /// batch.
    cost: Option<(f64, u64)>,
    /// Batches at the start whose usual cost is not known.
    uncosted: usize,
}

/// Asks *steps* or *measure* of these clocks.
fn ask(session: &Session<'_, Simulated>, names: &[String], seconds: f64, is_steps: bool) -> Vec<FoundEvents> {
    let catalog = Catalog::new(session.platform()).select(names, Paths::Libc).expect("they are there");
    if is_steps {
        let request = StepsRequest { amount: Amount::Duration(seconds), cpu: None };
        let found = steps(session, catalog, &request, &mut |_| {}).expect("it can be asked");
        let clocks = found.found.clocks.into_iter().filter(|clock| clock.available);
        let clocks = clocks.map(|clock| FoundEvents {
            identity: clock.identity,
            events: clock.events.expect("it was judged"),
            smallest_ns: None,
            tick_ns: clock.tick_ns.get(),
            evidence: clock.tick_evidence,
            cost: None,
            uncosted: 0,
        });
        return clocks.collect();
    }
    let request =
        MeasureRequest { duration_s: seconds, cpu: None, extended: false, ticks: true, synchronization: false };
    let found = measure(session, catalog, &request, &mut |_| {}).expect("it can be asked").found;
    let clocks = found.clocks.into_iter().filter(|clock| clock.available);
    let clocks = clocks.map(|clock| FoundEvents {
        identity: clock.identity,
        events: clock.events.expect("it was judged"),
        smallest_ns: clock.observed_resolution_ns.get(),
        tick_ns: clock.tick_ns.get(),
        evidence: clock.tick_evidence,
        cost: clock.cost_ns.known().map(|cost| (cost.median, cost.reads_per_batch)),
        uncosted: UNCOSTED,
    });
    clocks.collect()
}

/// Events that readings of one clock show by themselves.
#[derive(Debug, Default, PartialEq, Eq)]
struct Recounted {
    regression: u64,
    stall: u64,
    smallest: Option<i64>,
}

impl Recounted {
    fn from_readings(readings: &[Read]) -> Self {
        let steps: Vec<i64> =
            readings.windows(2).map(|pair| pair[1].value.wrapping_sub(pair[0].value) as i64).collect();
        let runs: Vec<usize> = steps.split(|step| *step != 0).map(<[i64]>::len).collect();
        let count = |is: &dyn Fn(usize) -> bool| runs.iter().filter(|run| is(**run)).count() as u64;
        Self {
            regression: steps.iter().filter(|step| **step < 0).count() as u64,
            stall: count(&|run| (2..STUCK).contains(&run)),
            smallest: steps.into_iter().filter(|step| *step > 0).min(),
        }
    }
}

/// Returns how many runs of repeats are certainly stuck, and how many may be: pauses between
/// batches may not count.
fn stuck(machine: &Machine, spec: &Spec, readings: &[Read]) -> (u64, u64) {
    let ns_per_unit = if spec.id.is_some() { 1.0 } else { 1e9 / machine.counter_hz };
    let nominal_ns = spec.info.nominal_resolution_ns(Some(ns_per_unit)).get().unwrap_or(0.0);
    let (mut certain, mut possible, mut smallest) = (0, 0, f64::INFINITY);
    let mut runs = readings.chunk_by(|one, other| one.value == other.value).peekable();
    while let Some(run) = runs.next() {
        let next = runs.peek().and_then(|next| next.first());
        let step_ns = next.map_or(0.0, |next| next.value.wrapping_sub(run[0].value) as i64 as f64 * ns_per_unit);
        if step_ns > 0.0 {
            smallest = smallest.min(step_ns);
        }
        let tick_ns = nominal_ns.max(if smallest.is_finite() { smallest } else { 0.0 });
        let repeats = run.len() - 1;
        let still_ns = (run[repeats].taken_ps - run[0].taken_ps) as f64 / 1e3;
        let read_ns = repeats as f64 * spec.cost.ps as f64 / 1e3;
        if repeats >= STUCK {
            certain += u64::from(0.8 * read_ns > STUCK_TICKS * tick_ns);
            possible += u64::from(1.2 * still_ns > STUCK_TICKS * tick_ns);
        }
    }
    (certain, possible)
}

/// Fault of a machine in [`counted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Single readings of the counter are off.
    Glitches,
    /// MONOTONIC steps many times, mostly back.
    Steps,
    /// MONOTONIC freezes for moments.
    Freezes,
}

/// A machine to which it happens in the first milliseconds.
fn faulty(maker: Maker, seed: u64) -> (Machine, Fault) {
    let mut maker = maker.answering();
    let mut random = Random::new(seed ^ 0xeb_e275);
    let fault = pick(&mut random, &[Fault::Nothing, Fault::Glitches, Fault::Steps, Fault::Freezes]);
    if fault != Fault::Nothing {
        maker.clocksource = Clocksource::Tsc;
    }
    let hz = maker.counter_hz;
    let mut machine = maker.make();
    let clock = machine.monotonic();
    let cost_ns = machine.spec("monotonic").map_or(0.0, |spec| spec.cost.ps as f64 / 1e3);
    for _ in 0..random.between(1, 12) {
        let at_ms = 4.0 + 36.0 * random.fraction();
        let ns = 10f64.powf(1.0 + 5.0 * random.fraction()) * if random.happens(0.3) { 1.0 } else { -1.0 };
        // Of a stall's length, and of that of a clock that is stuck.
        let reads = random.between(2, 2 * STUCK as u64) as f64;
        match fault {
            Fault::Nothing => {}
            Fault::Glitches => machine.at_ms(at_ms, Change::GlitchCounter { ticks: vec![(ns * hz / 1e9) as i64] }),
            Fault::Steps => machine.at_ms(at_ms, Change::StepClock { clock, ns: ns as i64 }),
            Fault::Freezes => {
                machine.at_ms(at_ms, Change::FreezeClock { clock });
                let ns = if random.happens(0.5) { ns.abs() } else { reads * cost_ns };
                machine.at_ms(at_ms + ns / 1e6, Change::ThawClock { clock });
            }
        }
    }
    (machine, fault)
}

/// Duration of these questions, in s.
const SECONDS: f64 = 0.02;
/// For how long the thread itself may run, in s: all of its readings are kept.
const MAX_RUNNING_S: f64 = 0.04;

/// Time for which this machine is asked, in s.
fn seconds(machine: &Machine) -> f64 {
    let turns = f64::from(machine.loads[0].competitors) + 1.0;
    machine.duration_s(SECONDS).min((MAX_RUNNING_S * turns).max(SECONDS))
}

/// A machine whose question has to end.
fn limited(machine: Machine) -> Simulated {
    let seconds = seconds(&machine);
    Simulated::within(machine, seconds)
}

/// Two clocks, of which the first is the one to which things happen, and whether *steps* is asked.
fn question(seed: u64, machine: &Machine, fault: Fault) -> (Vec<String>, bool) {
    let mut random = Random::new(seed ^ 0x9e57);
    let first = match fault {
        Fault::Glitches => pick(&mut random, &["tsc", "lfence_tsc_lfence"]),
        _ => pick(&mut random, &["monotonic", "monotonic:vdso"]),
    };
    let other = machine.specs[random.below(machine.specs.len() as u64) as usize].label();
    let mut names = vec![first.to_owned(), other];
    names.dedup();
    (names, random.happens(0.5))
}

/// The readings of one clock that were looked at.
fn readings(reads: &[Read], clock_index: usize, count: u64) -> Vec<Read> {
    let all: Vec<Read> =
        reads.iter().filter(|read| read.is_target && read.clock_index == clock_index).copied().collect();
    let unseen = (all.len() as u64).checked_sub(count).expect("each reading was read");
    assert!((1..=UNSEEN).contains(&unseen), "{unseen} reads were not looked at");
    all[unseen as usize..].to_vec()
}

/// Counts of what readings show are those of the readings; gaps are those that the machine made;
/// and nothing is wrong that no fault made so.
fn counted(session: &Session<'_, Simulated>, seed: u64, fault: Fault, gaps: &mut Coverage) {
    let platform = session.platform();
    let machine = &platform.machine;
    let (names, is_steps) = question(seed, machine, fault);
    platform.log_reads();
    let found = ask(session, &names, seconds(machine), is_steps);
    let reads = platform.logged();
    let glitched = reads.iter().filter(|read| is_glitched(machine, read)).count() as u64;
    assert!(glitched == 0 || fault == Fault::Glitches);
    for FoundEvents { identity, events, smallest_ns, uncosted, .. } in found {
        let name = identity.label();
        let clock_index = machine.clock_index(&name);
        let spec = &machine.specs[clock_index];
        let readings = readings(&reads, clock_index, events.reads);
        let recounted = Recounted::from_readings(&readings);
        let reported = Recounted { regression: events.regression, stall: events.stall, smallest: recounted.smallest };
        assert_eq!(reported, recounted, "{name}: {events:?}");
        let (certain, possible) = stuck(machine, spec, &readings);
        assert!((certain..=possible).contains(&events.stuck), "{name}: {certain} to {possible}, {events:?}");
        if let (Some(reported_ns), Some(smallest), true) = (smallest_ns, recounted.smallest, spec.id.is_some()) {
            assert_eq!(reported_ns, smallest as f64, "{name}");
        }
        let is_on_it = spec.id == Some(machine.monotonic());
        let is_right = match fault {
            Fault::Nothing => true,
            Fault::Glitches => glitched == 0,
            Fault::Steps | Fault::Freezes => !is_on_it,
        };
        if is_right {
            nothing_is_wrong(&name, &events);
            gaps_are_losses(machine, spec, &reads, (clock_index, &readings), &events, uncosted, gaps);
        }
        if fault == Fault::Glitches {
            let wrong = events.jump.get().unwrap_or(0) + events.hidden_regression.get().unwrap_or(0);
            assert!(wrong <= 2 * glitched, "{name}, {glitched} glitches: {events:?}");
        }
        if fault == Fault::Freezes && is_on_it {
            assert_eq!(events.regression, 0, "{name}: {events:?}");
        }
    }
}

/// Returns true if a reading of the counter is not what the counter was.
fn is_glitched(machine: &Machine, read: &Read) -> bool {
    let is_counter = machine.specs[read.clock_index].id.is_none();
    let step = machine.counter_step;
    is_counter && read.value != machine.cpus.true_counter(read.taken_ps, 0) / step * step
}

/// Time that the thread lost between two true times, in ns. `lost` is in order.
fn lost_ns(lost: &[Lost], from_ps: u128, until_ps: u128) -> f64 {
    let first = lost.partition_point(|lost| lost.taken.at_ps + lost.taken.ps <= from_ps);
    let within = lost[first..].iter().take_while(|lost| lost.taken.at_ps < until_ps);
    within.map(|lost| lost.taken.ps as f64 / 1e3).sum()
}

/// Gaps are times that the thread lost between two readings of a batch, all that are far longer
/// than the threshold and none that is far shorter; or longer pauses between batches.
fn gaps_are_losses(
    machine: &Machine,
    spec: &Spec,
    reads: &[Read],
    (clock_index, readings): (usize, &[Read]),
    events: &Events,
    uncosted: usize,
    found: &mut Coverage,
) {
    let (Figure::Known(reported), Figure::Known(threshold_ns)) = (&events.gap, &events.threshold_ns) else { return };
    // The cost is that of most batches; where most were interrupted, shorter gaps are not reported.
    let usual_ns = (15.0 * spec.cost.ps as f64 / 1e3).max(1000.0).max(spec.tick_ns * 1.01);
    if *threshold_ns > usual_ns || spec.tick_ns > 1000.0 {
        return;
    }
    let lost = machine.cpus.taken();
    // Reads of other clocks are between two batches.
    let ends = batch_ends(reads, clock_index, readings.len());
    let (mut certain, mut possible) = (0, 0);
    for (index, pair) in readings.windows(2).enumerate() {
        let ns = lost_ns(&lost, pair[0].taken_ps, pair[1].taken_ps);
        let batch = ends.partition_point(|end| *end <= index);
        let is_inside = ends.get(batch) != Some(&(index + 1));
        if is_inside {
            certain += u64::from(ns > 4.0 * threshold_ns && batch >= uncosted);
            possible += u64::from(ns > threshold_ns / 4.0);
        } else {
            possible += u64::from(ns > PAUSE_NS);
        }
    }
    // The last batch may be followed by a pause.
    assert!(
        (certain..=possible + 1).contains(reported),
        "{certain} to {possible} gaps, {reported} were reported: {events:?}"
    );
    found.count(certain > 0);
}

/// Numbers of readings of a clock until each of its batches ends, of the last `count` readings.
fn batch_ends(reads: &[Read], clock_index: usize, count: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut left, mut was_target) = (count, false);
    for read in reads.iter().rev() {
        let is_target = read.is_target && read.clock_index == clock_index;
        if is_target && left == 0 {
            break;
        }
        if is_target && !was_target {
            ends.push(left);
        }
        left -= usize::from(is_target);
        was_target = is_target;
    }
    ends.reverse();
    ends
}

#[test]
fn what_readings_show_is_counted_as_it_is() {
    let mut gaps = Coverage::default();
    on_machines(
        "events::what_readings_show",
        |seed| limited(faulty(Maker::varied(seed), seed).0),
        |session, seed| counted(session, seed, faulty(Maker::varied(seed), seed).1, &mut gaps),
    );
    // Some clocks of some machines have a gap.
    gaps.check(0.2, 5);
}

/// A batch that began with a repeat left a bound of the clock's offset that was too high by the
/// batch's length, and gaps of the next one were taken for a return from there. Where most batches
/// were interrupted, a batch with a shorter interruption than most seemed to have none.
#[test]
fn gaps_were_returns_or_shorter_than_usual() {
    for seed in [0, 15, 28, 48, 78, 80, 93] {
        let (machine, fault) = faulty(Maker::varied_before(seed), seed);
        on_one("events::what_readings_show", seed, &limited(machine), &mut |session, seed| {
            counted(session, seed, fault, &mut Coverage::default());
        });
    }
}

/// The clock ran slower than the reference by 180 ppm, and so fell behind by 12 µs while the thread
/// lost its CPU for 64 ms: a gap of 6.5 µs in the next batch was taken for the return.
#[test]
fn a_gap_was_the_return_of_a_slower_clock() {
    let maker = Maker { long_s: Some(2.413768135136592), ..Maker::varied(1339) };
    let (machine, fault) = faulty(maker, 1339);
    on_one("events::what_readings_show", 1339, &limited(machine), &mut |session, seed| {
        counted(session, seed, fault, &mut Coverage::default());
    });
}

/// Time that it takes to see what happened, in s.
const USUAL_S: f64 = 0.05;

/// Time for which a machine is asked beyond the usual one, in ms.
pub(crate) fn longer_ms(maker: &Maker, usual_s: f64) -> f64 {
    maker.long_s.filter(|_| maker.load.competitors > 0).map_or(0.0, |long_s| (long_s - usual_s).max(0.0) * 1e3)
}

/// A machine that is suspended or moved to another host, or whose time of day is set, once.
pub(crate) fn disturbed(maker: Maker, seed: u64, at_ms: f64) -> Machine {
    let mut random = Random::new(seed ^ 0xd157_04b3);
    let hz = maker.counter_hz;
    let mut machine = maker.make();
    let id = |name| machine.spec(name).and_then(|spec| spec.id).expect("every machine has it");
    let (monotonic, realtime) = (machine.monotonic(), id("realtime"));
    let left_out = vec![monotonic, id("monotonic_raw"), id("monotonic_coarse")];
    let ps = random.between(1, 60) * 1_000_000_000;
    let ns = 10f64.powf(3.0 + 5.0 * random.fraction()) * if random.happens(0.5) { 1.0 } else { -1.0 };
    // Hosts' counters differ by some 50 ppm.
    let other_hz = hz * (1.0 + 1e-4 * (random.fraction() - 0.5));
    let change = match random.below(4) {
        0 => Change::Suspend { ps, left_out },
        1 => Change::MoveMachine { ps, ticks: (ns * hz / 1e9) as i64, hz: other_hz },
        2 => Change::StepClock { clock: realtime, ns: ns as i64 },
        _ => Change::StepClock { clock: monotonic, ns: ns as i64 },
    };
    machine.at_ms(at_ms, change);
    machine
}

/// Time by which the one change of a machine sets this clock back, in ns.
pub(crate) fn set_back_ns(machine: &Machine, spec: &Spec) -> f64 {
    let is_pause = matches!(machine.changes.last(), Some((_, Change::Suspend { .. })));
    if is_pause { 0.0 } else { (-displaced_ns(machine, spec)).max(0.0) }
}

/// Time by which the one change of a machine puts this clock ahead of true time, in ns.
pub(crate) fn displaced_ns(machine: &Machine, spec: &Spec) -> f64 {
    match &machine.changes.last().expect("it has one").1 {
        Change::Suspend { ps, left_out } if spec.id.is_some_and(|id| left_out.contains(&id)) => -(*ps as f64) / 1e3,
        Change::MoveMachine { ticks, .. } if spec.id.is_none() => *ticks as f64 * 1e9 / machine.counter_hz,
        Change::StepClock { clock, ns } if spec.id == Some(*clock) => *ns as f64,
        _ => 0.0,
    }
}

/// A step back of a clock that its readings show is found, and so is one that the thread's own
/// pause hides, if the clock is behind by more than the reference's own limits. `ns` is negative.
pub(crate) fn back_is_found(machine: &Machine, around: &Around, ns: f64, events: &Events) {
    let (Some(before), Some(after)) = (around.before, around.after) else { return };
    if around.reads_before <= UNSEEN {
        return;
    }
    let spec = &machine.specs[around.clock_index];
    let passed_ns = (after.taken_ps - before.taken_ps) as f64 / 1e3;
    let slack_ns = spec.tick_ns + 2.0 + 1e-3 * passed_ns;
    if -ns > passed_ns + slack_ns {
        assert_eq!(events.regression, 1, "stepped by {ns} ns in {passed_ns} ns: {events:?}");
    }
    let hidden = events.hidden_regression.get();
    let least_ns = 3.0 * events.threshold_ns.get().unwrap_or(f64::INFINITY) + 1e-3 * passed_ns + 1e4;
    if -ns > least_ns && around.reads_after > SOME_BATCHES && hidden.is_some() {
        let found = events.regression + hidden.unwrap_or(0);
        assert_eq!(
            found, 1,
            "stepped by {ns} ns in {passed_ns} ns, with {} reads after it: {events:?}",
            around.reads_after
        );
    }
}

/// A disturbance of a machine is an event of the clocks that it moves against one another, and of
/// no others: one at most, in the right direction.
#[test]
fn what_happens_to_a_machine_is_one_event() {
    let make = |seed| {
        let maker = Maker::varied(seed).answering();
        // In the same part of the run, however long that is.
        let at_ms = 14.0 + (30.0 + longer_ms(&maker, USUAL_S)) * Random::new(seed).fraction();
        disturbed(maker, seed, at_ms)
    };
    let request = |seed: u64, machine: &Machine| {
        let mut random = Random::new(seed ^ 0xa5ed);
        let name = machine.specs[random.below(machine.specs.len() as u64) as usize].label();
        (name, random.happens(0.5))
    };
    let mut forward = Coverage::default();
    let platform = |seed| {
        let machine = make(seed);
        let clock_index = machine.clock_index(&request(seed, &machine).0);
        let at_ps = machine.changes[0].0;
        let duration_s = machine.duration_s(USUAL_S);
        let platform = Simulated::within(machine, duration_s);
        platform.log_around(clock_index, at_ps);
        platform
    };
    on_machines("events::what_happens", platform, |session, seed| {
        let machine = &session.platform().machine;
        let (name, is_steps) = request(seed, machine);
        let found = ask(session, std::slice::from_ref(&name), machine.duration_s(USUAL_S), is_steps).remove(0);
        let around = session.platform().around().expect("it was kept");
        // Before that, the timer was calibrated.
        if around.reads_before <= UNSEEN || around.after.is_none() {
            return;
        }
        let events = &found.events;
        let (Figure::Known(reference), Some(jumps)) = (&events.reference, events.jump.get()) else {
            panic!("{events:?}")
        };
        let spec = &machine.specs[around.clock_index];
        let judge = machine.spec(reference).expect("it is there");
        // Whatever the mean rate of such a run is.
        ticks::check_to(UNNOTICED, machine, spec, found.tick_ns, found.evidence.as_ref());
        if let Some((median_ns, reads)) = found.cost {
            let true_ns = true_cost_ns(machine, spec, reads);
            assert!((median_ns / true_ns - 1.0).abs() < 0.06, "{name}: it costs {true_ns} ns, not {median_ns}");
        }
        let ns = displaced_ns(machine, spec) - displaced_ns(machine, judge);
        let back = events.regression + events.hidden_regression.get().unwrap_or(0);
        // Beside a reference that stepped back, interruptions are jumps as well.
        let is_judge_back = set_back_ns(machine, judge) > 0.0;
        let most = u64::from(ns > 0.0) * if is_judge_back { 1 + machine.cpus.taken().len() as u64 } else { 1 };
        assert!(jumps <= most && back <= u64::from(ns < 0.0 || is_judge_back), "moved by {ns} ns: {events:?}");
        assert_eq!(events.errors, 0, "{events:?}");
        if ns < 0.0 && displaced_ns(machine, judge) == 0.0 {
            back_is_found(machine, &around, ns, events);
        }
        if events.sure_ns.get().is_some_and(|sure_ns| ns > sure_ns) {
            forward.count(jumps == 1);
        }
    });
    forward.check_nominal(0.9, 20);
}
