//! Runs of repeats: which are stalls, which are stuck, and which the clock's tick explains.

use super::*;

#[test]
fn runs_of_repeats_are_stalls_or_stuck_by_their_length() {
    let run = |repeats: usize| {
        let mut values = vec![10; repeats + 1];
        values.push(20);
        let mut counter = EventCounter::new(1.0, 0.0, Judge::None("CPU time"), values.len());
        counter.batch(Batch { values: &values, before_ns: 0.0, after_ns: 5000.0, cost_ns: Some(50.0) });
        let counts = counter.finish().0;
        (counts.stall, counts.stuck)
    };
    assert_eq!([run(0), run(1), run(2), run(199), run(200)], [(0, 0), (0, 0), (1, 0), (1, 0), (0, 1)]);
}

/// Runs of a clock with this tick that freezes for `freeze_ns`, thirty times, from inside its tick.
fn stuck(tick_ns: f64, cost_ns: f64, freeze_ns: f64) -> u64 {
    let period_ns = 20.3 * (tick_ns + freeze_ns);
    let length = 1000_u16;
    let reads = 30.5 * period_ns / cost_ns;
    let mut clock = Simulated::new(cost_ns, tick_ns);
    let frozen = |read: u64| {
        let at_ns = (read as f64 * cost_ns) % period_ns;
        Fault { repeated: at_ns > period_ns - freeze_ns, ..Fault::default() }
    };
    count(&mut clock, (reads / f64::from(length)) as usize, length.into(), frozen).stuck
}

#[test]
fn repeats_within_a_tick_are_no_fault_and_a_freeze_is_whatever_the_tick() {
    for tick_ns in [1.0, 1e3, 1e4, 30_517.578, 99e3, 100e3] {
        for cost_ns in [5.0, 25.0] {
            assert_eq!(stuck(tick_ns, cost_ns, 0.0), 0, "{tick_ns} {cost_ns}");
            // A tick that is late; the pauses between batches are longer than the shorter ticks.
            let late_ns = if tick_ns < 1e4 { 0.0 } else { tick_ns };
            assert_eq!(stuck(tick_ns, cost_ns, late_ns), 0, "{tick_ns} {cost_ns}");
            let freeze_ns = (6.0 * tick_ns).max(1e4);
            assert_eq!(stuck(tick_ns, cost_ns, freeze_ns), 30, "{tick_ns} {cost_ns}");
        }
    }
    // The CPU that serves the timer tick may not run for a while.
    for tick_ns in [1e6, 4e6, 1e7] {
        assert_eq!([0.0, 2e7, 6e7, 2e8].map(|freeze_ns| stuck(tick_ns, 5e4, freeze_ns)), [0, 0, 0, 30], "{tick_ns}");
    }
}

/// A batch of a clock with a tick of 10 µs whose thread, or whose machine, was interrupted does not
/// show that the clock stood still.
#[test]
fn time_that_nobody_read_is_no_time_that_the_clock_stood_still() {
    for (pauses, gap, cost_ns) in
        [(0.0, 0.0, Some(25.0)), (0.0, 5e6, Some(25.0)), (5e6, 0.0, Some(25.0)), (0.0, 5e6, None)]
    {
        let mut counter = EventCounter::new(1.0, 0.0, PERFECT, 400);
        let mut now_ns = 0.0;
        for turn in 0..100_u64 {
            let values: Vec<u64> = (0..400).map(|read| (turn / 2 * 400 + read / 200 * 200) / 200 * 10_000).collect();
            let after_ns = now_ns + 400.0 * 25.0 + gap;
            counter.batch(Batch { values: &values, before_ns: now_ns, after_ns, cost_ns });
            now_ns = after_ns + pauses;
        }
        assert_eq!(counter.finish().0.stuck, 0, "{pauses} {gap} {cost_ns:?}");
    }
}

/// A clock of CPU time stands still while its thread does not run.
#[test]
fn pauses_count_for_clocks_that_follow_the_reference() {
    let frozen = |judge| {
        let mut counter = EventCounter::new(1.0, 10_000.0, judge, 100);
        for turn in 0..100 {
            let before_ns = f64::from(turn) * 5e5;
            counter.batch(Batch { values: &[7; 100], before_ns, after_ns: before_ns + 300.0, cost_ns: Some(3.0) });
        }
        counter.finish().0.stuck
    };
    assert_eq!([frozen(PERFECT), frozen(Judge::None("CPU time"))], [1, 0]);
}

#[test]
fn a_frozen_clock_is_stuck_once_also_when_time_runs_out() {
    let mut counter = EventCounter::new(1.0, 0.0, PERFECT, 100);
    for batch in 0..50 {
        let before_ns = f64::from(batch) * 1e4;
        counter.batch(Batch { values: &[7; 100], before_ns, after_ns: before_ns + 5e3, cost_ns: Some(50.0) });
    }
    assert_eq!(counter.smallest_step(), None);
    let counts = counter.finish().0;
    assert_eq!((counts.stuck, counts.stall), (1, 0));
    assert_eq!((judged(&counts).jump, judged(&counts).warp), (0, 0));
}

/// A run that a snapshot finds is counted there as long as it is, and in the end once.
#[test]
fn a_run_that_goes_on_is_a_stall_first_and_then_stuck() {
    let mut counter = EventCounter::new(1.0, 0.0, Judge::None("CPU time"), 100);
    let mut seen = Vec::new();
    for turn in 0..3 {
        let before_ns = f64::from(turn) * 1e4;
        counter.batch(Batch { values: &[7; 100], before_ns, after_ns: before_ns + 5e3, cost_ns: Some(50.0) });
        let (counts, worst) = counter.snapshot();
        seen.push((counts.stall, counts.stuck, worst.stall.len(), worst.stuck.len()));
    }
    assert_eq!(seen, [(1, 0, 1, 0), (1, 0, 1, 0), (0, 1, 0, 1)]);
    let (counts, worst) = counter.finish();
    assert_eq!((counts.stall, counts.stuck, worst.stall.len()), (0, 1, 0));
}
