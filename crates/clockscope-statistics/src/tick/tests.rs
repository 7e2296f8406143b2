//! Clocks that are simulated: what they tick at is known.

use clockscope_testing::simulation::Random;

use super::*;

mod batches;

/// A clock that ticks every `period` ns and shows whole ns; a read takes `cost` ns, plus or minus
/// `jitter`, and one in a thousand is interrupted.
#[derive(Clone, Copy, Debug)]
struct Simulated {
    period: f64,
    cost: f64,
    jitter: f64,
    normal: bool,
    interrupted: f64,
}

impl Simulated {
    fn readings(&self, count: usize, random: &mut Random) -> Vec<u64> {
        let mut time = random.within(1e6, 1e9);
        let mut read = || {
            let noise = if self.normal { random.normal() } else { random.within(-1.0, 1.0) };
            time += (self.cost + self.jitter * noise).max(self.cost * 0.01);
            if random.within(0.0, 1.0) < self.interrupted {
                time += random.scale(10.0, 1000.0) * self.cost.max(self.period);
            }
            ((time / self.period).floor() * self.period).floor() as u64
        };
        (0..count).map(|_| read()).collect()
    }

    fn random(shortest: f64, longest: f64, random: &mut Random) -> Self {
        let period = random.scale(shortest, longest);
        let period = match random.any() % 3 {
            0 => period,
            1 => period.round().max(shortest.ceil()),
            _ => {
                let parts = 2.0 + (random.any() % 11) as f64;
                ((period * parts).round() / parts).max(shortest)
            }
        };
        let cost = period * random.scale(0.1, 100.0);
        Self { period, cost, jitter: 0.2 * cost, normal: random.any().is_multiple_of(2), interrupted: 0.001 }
    }
}

fn is_right(found: f64, period: f64) -> bool {
    (found / period - 1.0).abs() <= 1e-3
}

/// Number of simulated clocks that a test has: `full` in the release check, a third of them in the
/// quick tier, or as many as `CLOCKSCOPE_TICK_CASES` says.
fn clock_count(full: usize) -> usize {
    let chosen = std::env::var("CLOCKSCOPE_TICK_CASES").ok().and_then(|clock_count| clock_count.parse().ok());
    let is_full = std::env::var_os("CLOCKSCOPE_MACHINES").is_some_and(|machines| machines == "full");
    chosen.unwrap_or(if is_full { full } else { full / 3 })
}

#[test]
fn ticks_of_simulated_clocks() {
    let seed = std::env::var("CLOCKSCOPE_TICK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121);
    let (mut right, mut unknown, mut slowest) = (0, 0, 0.0_f64);
    let clock_count = clock_count(150);
    for number in 0..clock_count {
        let mut random = Random::new(seed + number as u64);
        let clock = Simulated::random(3.0, 1000.0, &mut random);
        let readings = clock.readings(40_000, &mut random);
        let start = std::time::Instant::now();
        let found = tick(&readings);
        slowest = slowest.max(start.elapsed().as_secs_f64());
        match found {
            Tick::Found(lattice) if is_right(lattice.period, clock.period) => right += 1,
            Tick::AtMost { units, .. } if clock.period <= units => unknown += 1,
            Tick::Unknown(_) => unknown += 1,
            wrong => panic!("seed {}: {clock:?} gave {wrong:?}", seed + number as u64),
        }
    }
    // `cargo xtask bench` reads these.
    println!(
        "\nfigure right {right}\nfigure unknown {unknown}\nfigure cases {clock_count}\nfigure slowest_s {slowest:.4}"
    );
    assert!(right as f64 >= 0.99 * clock_count as f64, "{right} of {clock_count} found, {unknown} unknown");
}

/// A tick that is found in few readings is right within its own error.
fn assert_honest(found: Tick, period: f64, what: &dyn std::fmt::Debug) -> bool {
    match found {
        Tick::Found(lattice) => {
            let off = (lattice.period / period - 1.0).abs();
            assert!(off <= lattice.error + 1e-9, "{what:?}: {lattice:?} is off by {:.3} ppm", off * 1e6);
            true
        }
        Tick::AtMost { units, .. } => {
            assert!(period <= units, "{what:?}: at most {units}");
            false
        }
        Tick::Unknown(_) => false,
    }
}

#[test]
fn short_series_of_simulated_clocks() {
    let mut reported = 0;
    for number in 0..clock_count(300) {
        let mut random = Random::new(0x5_0000 + number as u64);
        let count = random.scale(200.0, 8192.0) as usize;
        let mut clock = Simulated::random(0.2, 1000.0, &mut random);
        // From a cost that is nearly constant to one that hardly shows.
        clock.jitter = clock.cost * random.scale(1e-3, 0.3);
        let readings = clock.readings(count, &mut random);
        reported += usize::from(assert_honest(tick(&readings), clock.period, &(number, count, clock)));
    }
    println!("{reported} of {} reported", clock_count(300));
    assert!(reported >= clock_count(300) / 3, "{reported} of {}", clock_count(300));
}

/// A CPU-time clock: fine in its tick, slow to read, and cut to whole units.
#[test]
fn short_series_of_a_slow_read() {
    let mut reported = 0;
    for number in 0..clock_count(300) {
        let mut random = Random::new(0x51_0000 + number as u64);
        let count = random.scale(200.0, 1000.0) as usize;
        let cost = random.within(60.0, 900.0);
        let jitter = cost * random.scale(3e-3, 0.1);
        let clock = Simulated { period: 10.014_87, cost, jitter, normal: true, interrupted: 0.003 };
        reported += usize::from(assert_honest(
            tick(&clock.readings(count, &mut random)),
            clock.period,
            &(number, count, clock),
        ));
    }
    println!("{reported} of {} reported", clock_count(300));
    assert!(reported >= clock_count(300) / 3, "{reported} of {}", clock_count(300));
}

/// An ordered read of a counter of coarse ticks takes a few of them, and all readings share one
/// residue.
#[test]
fn short_series_of_an_ordered_counter() {
    let mut reported = 0;
    for number in 0..clock_count(300) {
        let mut random = Random::new(0x52_0000 + number as u64);
        let count = random.scale(200.0, 8192.0) as usize;
        let period = 2 + random.any() % 60;
        let cost = random.within(0.3, 6.0) * period as f64;
        let clock = Simulated {
            period: period as f64,
            cost,
            jitter: cost * random.scale(1e-3, 0.3),
            normal: true,
            interrupted: random.scale(1e-5, 3e-3),
        };
        reported += usize::from(assert_honest(
            tick(&clock.readings(count, &mut random)),
            clock.period,
            &(number, count, clock),
        ));
    }
    println!("{reported} of {} reported", clock_count(300));
    assert!(reported >= clock_count(300) / 5, "{reported} of {}", clock_count(300));
}

/// Each step back moves the phase of what follows, always the same way.
#[test]
fn steps_back_are_in_the_error() {
    let mut reported = 0;
    for number in 0..clock_count(60) {
        let mut random = Random::new(0xBAC + number as u64);
        let period = if random.any().is_multiple_of(2) { 10.014_87 } else { random.scale(3.0, 300.0) };
        let cost = period * random.scale(0.5, 30.0);
        let clock = Simulated { period, cost, jitter: 0.1 * cost, normal: true, interrupted: 0.001 };
        let (every, back) = (random.scale(50.0, 5000.0) as usize, random.scale(2.0, 40.0) * cost);
        let mut readings = clock.readings(10_000, &mut random);
        for (index, reading) in readings.iter_mut().enumerate() {
            *reading = (*reading + (1 << 30)).saturating_sub((index / every) as u64 * back as u64);
        }
        reported += usize::from(assert_honest(tick(&readings), period, &(number, every, back, clock)));
    }
    println!("{reported} of {} reported", clock_count(60));
    assert!(reported >= clock_count(60) / 3, "{reported} of {}", clock_count(60));
}

/// A clock of 4 ms whose reader runs only between timer ticks, so that it sees every second, fifth
/// or tenth step: what it sees is no tick, but one is not longer. One step that was seen at once is
/// enough.
#[test]
fn steps_during_which_nobody_read_are_no_tick() {
    for (every, sees_one) in [2, 3, 5, 10].into_iter().flat_map(|every| [(every, false), (every, true)]) {
        every_nth_step_is_seen(every, sees_one, 1.0);
    }
}

/// The clock that shows how much time passed may be slower than the one that is read.
#[test]
fn two_steps_are_not_one_by_a_slower_clock() {
    for rate in [1.0 - 30e-6, 1.0 - 500e-6, 1.0 / 1.1] {
        every_nth_step_is_seen(2, false, rate);
    }
}

/// Reads a clock of 4 ms in slices that are `every` ticks apart, by a clock of this rate.
fn every_nth_step_is_seen(every: u64, sees_one: bool, rate: f64) {
    const TICK: u64 = 4_000_000;
    let mut collector = TickCollector::new(40_000);
    let mut push = |tick: u64, lost: f64| {
        let readings = [tick * TICK; 800];
        let since_last = lost * rate;
        collector.push_timed(&readings, Elapsed { since_last, between: 20_000.0, undisturbed: 50.0 });
    };
    for slice in 0..60 {
        let lost = if sees_one && slice == 30 { 100.0 } else { (every - 1) as f64 * TICK as f64 + 100.0 };
        let tick = every * slice - if sees_one && slice >= 30 { every - 1 } else { 0 };
        (0..50).for_each(|batch| push(tick, if batch == 0 { lost } else { 30_000.0 }));
    }
    match (collector.tick(), sees_one) {
        (Tick::Found(lattice), true) => assert_eq!(lattice.period, TICK as f64, "{every}"),
        (Tick::AtMost { units, .. }, false) => {
            assert!((units / (every * TICK) as f64 - 1.0).abs() < 1e-6, "{every} {units}");
        }
        (wrong, _) => panic!("every {every}, one seen: {sees_one}: {wrong:?}"),
    }
}

/// Below 3 units a tick is right, "at most 3", or unknown.
#[test]
fn ticks_below_three_units_are_never_wrong() {
    let mut reported = 0;
    for number in 0..clock_count(100) {
        let mut random = Random::new(0x3000 + number as u64);
        let mut clock = Simulated::random(0.2, 3.0, &mut random);
        clock.cost = clock.cost.max(0.5);
        let readings = clock.readings(40_000, &mut random);
        match tick(&readings) {
            Tick::Found(lattice) => {
                assert!(is_right(lattice.period, clock.period), "case {number}: {clock:?} {lattice:?}")
            }
            Tick::AtMost { units, .. } => {
                assert!(clock.period <= units, "case {number}: {clock:?}");
                reported += 1;
            }
            Tick::Unknown(_) => {}
        }
    }
    assert!(reported >= clock_count(100) / 2, "{reported} of {} were reported to be at most 3", clock_count(100));
}

/// A counter that moves by two counts, and reads that cost 20 to 26 of them: the tick may be 2, or
/// 1 and the costs even.
#[test]
fn few_even_steps_bound_the_tick() {
    let mut random = Random::new(2);
    let mut last = 0;
    let readings: Vec<u64> = std::iter::repeat_with(|| {
        last += 20 + 2 * random.below(4);
        last
    })
    .take(8192)
    .collect();
    match tick(&readings) {
        Tick::AtMost { units, .. } => assert!((2.0..2.001).contains(&units), "{units}"),
        wrong => panic!("{wrong:?}"),
    }
}

/// A clock of whole ns above a counter that is finer, whose reads take 18 ns, nearly always.
#[test]
fn a_read_of_nearly_constant_cost_bounds_a_fine_tick() {
    for cost in [17.3, 18.4, 18.9, 25.2] {
        let mut random = Random::new(18);
        let clock = Simulated { period: 0.769, cost, jitter: 0.6, normal: true, interrupted: 0.0005 };
        let found = tick(&clock.readings(8192, &mut random));
        assert!(matches!(found, Tick::AtMost { units, .. } if units == MIN_PERIOD_UNITS), "{cost}: {found:?}");
    }
}

/// QueryPerformanceCounter of 10 MHz, a read of which takes 2 to 12 counts: no step is one count,
/// and the steps are nearly alike. No lattice of several counts is claimed, and their absence is
/// proved.
#[test]
fn a_read_of_a_few_counts_hides_no_count() {
    let costs = [2.3, 3.0, 3.3, 4.5, 7.0, 12.0];
    for (number, (cost, share)) in
        costs.into_iter().flat_map(|cost| [0.02, 0.05, 0.1].map(|share| (cost, share))).enumerate()
    {
        let mut random = Random::new(20_261_124 + number as u64);
        let clock = Simulated { period: 1.0, cost, jitter: share * cost, normal: number % 2 == 0, interrupted: 0.001 };
        match tick(&clock.readings(40_000, &mut random)) {
            Tick::AtMost { units, .. } if units <= MIN_PERIOD_UNITS => {}
            // Of less noise, too little adds up.
            Tick::Unknown(_) if share < 0.05 => {}
            wrong => panic!("{clock:?} gave {wrong:?}"),
        }
    }
}

/// Reads of a few units do not hide a tick that takes several, and no bound is claimed that it
/// exceeds.
#[test]
fn a_tick_of_a_few_units_is_not_called_finer() {
    let mut found_right = 0;
    let clock_count = 60;
    for number in 0..clock_count {
        let mut random = Random::new(20_261_125 + number);
        let period = random.within(3.01, 6.0);
        let cost = random.within(2.0, 12.0);
        let jitter = cost * random.scale(0.005, 0.1);
        let clock = Simulated { period, cost, jitter, normal: number % 2 == 0, interrupted: 0.001 };
        match tick(&clock.readings(40_000, &mut random)) {
            Tick::Found(lattice) => {
                assert!(is_right(lattice.period, period), "{clock:?} gave {lattice:?}");
                found_right += 1;
            }
            Tick::AtMost { units, .. } => assert!(period <= units, "{clock:?}: at most {units}"),
            Tick::Unknown(_) => {}
        }
    }
    assert!(found_right >= clock_count / 2, "{found_right} of {clock_count}");
}

/// A constant cost of the read, with or without pauses, is no tick.
#[test]
fn a_constant_cost_is_no_tick() {
    for number in 0..clock_count(150) {
        let mut random = Random::new(0xC057 + number as u64);
        let (cost, every) = (random.scale(4.0, 5000.0), 2 + random.any() % 2000);
        let cost = if random.any().is_multiple_of(3) { cost.round() } else { cost };
        let pause = if random.any().is_multiple_of(3) { 0.0 } else { cost * random.scale(0.01, 100.0) };
        let pause = if random.any().is_multiple_of(3) { (pause / cost).round() * cost } else { pause };
        let costs = [cost, cost * random.within(0.3, 3.0), cost * random.within(0.3, 3.0)];
        // One cost with pauses, or a cycle of two or three costs.
        let cycle = (random.any() % 4) as usize;
        // Hardly any jitter at all, up to what hides the cost.
        let jitter = if random.any().is_multiple_of(2) { 0.0 } else { random.scale(1e-4, 0.3) };
        let period = random.within(0.01, 1.0);
        let mut time = random.within(1e6, 1e9);
        let readings: Vec<u64> = (0..40_000)
            .map(|index| {
                let pause = if (index as u64).is_multiple_of(every) && cycle < 2 { pause } else { 0.0 };
                time += costs[index % cycle.max(1)] + jitter * random.normal() + pause;
                ((time / period).floor() * period) as u64
            })
            .collect();
        let found = tick(&readings);
        assert!(
            !matches!(found, Tick::Found(_)),
            "case {number}: {costs:?}, cycle {cycle}, pause {pause} every {every}, jitter {jitter}, tick {period} gave {found:?}"
        );
    }
}

/// A clock that gains or loses while it is read has no single tick, nor is that tick too fine to be
/// seen.
#[test]
fn a_drift_is_noticed_or_does_not_matter() {
    for number in 0..clock_count(80) {
        let mut random = Random::new(0xD41F + number as u64);
        let mut clock = Simulated::random(3.0, 1000.0, &mut random);
        let (first, share, mut readings) = (clock.period, random.scale(1e-6, 1e-3), vec![0]);
        for _ in 0..100 {
            let part = clock.readings(400, &mut random);
            let last = readings[readings.len() - 1];
            readings.extend(part.iter().map(|value| last + (value - part[0])));
            clock.period += first * share / 100.0;
        }
        match tick(&readings) {
            Tick::Found(lattice) => assert!(is_right(lattice.period, first), "case {number}: {clock:?} {lattice:?}"),
            Tick::AtMost { units, .. } => assert!(first <= units * 1.001, "case {number}: {clock:?} at most {units}"),
            Tick::Unknown(_) => {}
        }
    }
}

/// A rate that changes half-way leaves no single tick, unless it changes by less than a tick is
/// right to.
#[test]
fn a_rate_that_changes_half_way_is_noticed() {
    for number in 0..clock_count(150) {
        let mut random = Random::new(0x4A7E + number as u64);
        let clock = Simulated::random(3.0, 1000.0, &mut random);
        let share = random.scale(1e-5, 0.3);
        let second = Simulated { period: clock.period * (1.0 + share), ..clock };
        let mut readings = clock.readings(20_000, &mut random);
        let (last, more) = (readings[readings.len() - 1], second.readings(20_000, &mut random));
        readings.extend(more.iter().map(|value| last + (value - more[0])));
        match tick(&readings) {
            Tick::Found(lattice) => assert!(
                is_right(lattice.period, clock.period) && is_right(lattice.period, second.period),
                "case {number}: {clock:?} by {share}: {lattice:?}"
            ),
            Tick::AtMost { units, .. } => {
                assert!(second.period <= units * 1.001, "case {number}: {clock:?} by {share}: at most {units}")
            }
            Tick::Unknown(_) => {}
        }
    }
}

/// An x86 counter that steps by 26 and answers further reads within a step with one more each.
#[test]
fn further_reads_within_a_tick_may_be_one_more() {
    for cost in [1.5, 5.0, 10.0, 15.0, 24.7, 47.0, 60.0, 450.0, 9600.0] {
        let mut random = Random::new(26);
        let mut last = 0;
        let clock = Simulated { period: 26.0, cost, jitter: 0.02 * cost, normal: true, interrupted: 0.001 };
        let readings: Vec<u64> = clock
            .readings(40_000, &mut random)
            .into_iter()
            .map(|reading| {
                last = if reading <= last { last + 1 } else { reading };
                last
            })
            .collect();
        let Tick::Found(lattice) = tick(&readings) else { panic!("{cost}: {:?}", tick(&readings)) };
        assert!(is_right(lattice.period, 26.0), "{cost}: {lattice:?}");
    }
}

/// A counter whose readings are multiples of 26 until one is moved by half of that: the greatest
/// common divisor is 13.
#[test]
fn a_counter_that_was_moved_by_half_a_tick() {
    let mut random = Random::new(13);
    let clock = Simulated { period: 26.0, cost: 9600.0, jitter: 200.0, normal: true, interrupted: 0.001 };
    let mut readings = clock.readings(8000, &mut random);
    for reading in &mut readings[5000..] {
        *reading += 13;
    }
    let Tick::Found(lattice) = tick(&readings) else { panic!("{:?}", tick(&readings)) };
    assert!(is_right(lattice.period, 26.0), "{lattice:?}");
}

/// A few readings that are multiples of 26 until one is moved by half of that: a part of the tick
/// is no more than a divisor.
#[test]
fn a_single_moved_reading_of_few_halves_no_tick() {
    for number in 0..200u64 {
        let mut random = Random::new(0x1326 + number);
        let mut reading = 0;
        let mut readings: Vec<u64> = (0..20 + random.below(100))
            .map(|_| {
                reading += 26 * (500 + random.below(200));
                reading
            })
            .collect();
        let whole = tick(&readings);
        assert!(matches!(whole, Tick::Found(lattice) if (lattice.period - 26.0).abs() < 1e-9), "{number}: {whole:?}");
        let moved = random.below(readings.len() as u64) as usize;
        readings[moved] += 13;
        // In half of the cases the clock stood still as well.
        let again = readings[moved / 2];
        readings.splice(moved / 2..moved / 2, vec![again; (number % 2) as usize]);
        let found = tick(&readings);
        assert!(!matches!(found, Tick::Found(lattice) if lattice.period < 25.9), "{number}: {found:?}");
    }
}

/// Steps that are near the longest that there are.
#[test]
fn a_few_steps_of_huge_multiples_are_examined() {
    let found = tick(&[0, 1 << 60, 2 << 60, 3 << 60, 5 << 60]);
    assert!(!matches!(found, Tick::Found(lattice) if lattice.period < (1u64 << 60) as f64), "{found:?}");
}

/// 4 ms, which the kernel stretches by a few ns, read in bursts between which other things happen.
#[test]
fn a_coarse_clock_that_is_steered() {
    let mut random = Random::new(4);
    let mut readings = Vec::new();
    for tick in 0..12u64 {
        let value = tick * 4_000_000 + random.any() % 5;
        readings.extend(std::iter::repeat_n(value, 500));
    }
    let Tick::Found(lattice) = tick(&readings) else { panic!("{:?}", tick(&readings)) };
    assert!((lattice.period - 4e6).abs() < 2.0 && lattice.error < 1e-5, "{lattice:?}");
}

#[test]
fn three_equal_steps_are_enough_and_two_are_not() {
    let readings = |steps: u64| -> Vec<u64> { (0..=steps * 1000).map(|read| read / 1000 * 4_000_000).collect() };
    assert_eq!(tick(&readings(2)), Tick::Unknown(TickReason::FewSteps));
    let Tick::Found(lattice) = tick(&readings(3)) else { panic!("{:?}", tick(&readings(3))) };
    assert_eq!((lattice.period, lattice.steps), (4e6, 3));
}

/// A coarse clock of 4 ms left out a suspend of 31 ms: one of its steps was of a tick of 1 ms, and
/// all of the others were multiples of that.
#[test]
fn a_tick_does_not_depend_on_one_step() {
    for (rate, steps) in [(1.0, 13), (1.000_023_367, 13), (1.0, 150)] {
        let mut collector = TickCollector::new(40_000);
        for step in 0..steps {
            let ns = 4_000_000 * step - if step > 5 { 3_000_000 } else { 0 };
            let elapsed = Elapsed { since_last: 30_000.0, between: 20_000.0, undisturbed: 50.0 };
            collector.push_timed(&[(ns as f64 * rate) as u64; 500], elapsed);
        }
        assert_eq!(collector.tick(), Tick::Unknown(TickReason::SeveralTicks), "{rate}, {steps} steps");
    }
}

/// QueryPerformanceCounter counts units of 100 ns; where a read takes 115 ns each time, all steps
/// are one or two units.
#[test]
fn no_tick_shows_where_every_read_takes_a_little_more_than_a_unit() {
    let readings: Vec<u64> = (0..40_000u64).map(|read| read * 115 / 100).collect();
    assert_eq!(tick(&readings), Tick::Unknown(TickReason::NoneShown));
}

#[test]
fn nothing_is_reported_of_nothing() {
    assert_eq!(tick(&[]), Tick::Unknown(TickReason::FewSteps));
    assert_eq!(tick(&[7; 40_000]), Tick::Unknown(TickReason::FewSteps));
    let backwards: Vec<u64> = (0..40_000u64).rev().collect();
    assert_eq!(tick(&backwards), Tick::Unknown(TickReason::FewSteps));
    assert_eq!(tick(&[u64::MAX - 5, u64::MAX, 3, 9]), Tick::Unknown(TickReason::FewDifferences));
}

/// Readings of clocks that are truncated further than to ns: by the microsecond, by the
/// millisecond.
#[test]
fn a_common_divisor_is_a_tick() {
    for (unit, cost) in [(1000.0, 27.0), (1000.0, 610.0), (1e6, 24.0), (1000.0, 5300.0)] {
        let mut random = Random::new(unit as u64);
        let clock = Simulated { period: unit, cost, jitter: 0.2 * cost, normal: true, interrupted: 0.001 };
        let found = tick(&clock.readings(1_000_000, &mut random)[..]);
        let Tick::Found(lattice) = found else { panic!("{clock:?} {found:?}") };
        assert_eq!((lattice.period, lattice.spread), (unit, 0.0), "{clock:?}");
    }
}

proptest::proptest! {
    /// Whatever the readings are: an answer, and a finite one.
    #[test]
    fn any_readings_have_an_answer(readings in proptest::collection::vec(proptest::num::u64::ANY, 0..600)) {
        if let Tick::Found(lattice) = tick(&readings) {
            proptest::prop_assert!(lattice.period.is_finite() && lattice.period > 0.0 && lattice.error.is_finite());
        }
    }
}

/// A CPU-time clock of a thread that is interrupted every so often: its readings go on between two
/// ticks of before.
#[test]
fn a_clock_whose_phase_moves_at_interruptions() {
    for every in [300, 1000, 5000] {
        let mut random = Random::new(every);
        let clock = Simulated { period: 10.0148, cost: 540.0, jitter: 20.0, normal: true, interrupted: 0.0 };
        let readings = clock.readings(20_000, &mut random);
        let mut moved = 0;
        let moving = readings.iter().zip(0u64..).map(|(reading, index)| {
            moved += if index % every == 0 { random.any() % 1000 } else { 0 };
            reading + moved
        });
        let moving: Vec<u64> = moving.collect();
        let Tick::Found(lattice) = tick(&moving) else { panic!("{every}: {:?}", tick(&moving)) };
        assert!(is_right(lattice.period, 10.0148), "{every}: {lattice:?}");
    }
}
