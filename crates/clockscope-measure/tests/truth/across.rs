//! Helpers that the tests of *order* and *offsets* share: machines whose CPUs' counters are apart,
//! and the time that a question may take.

use clockscope_records::{CpusReason, Unknown};
use clockscope_testing::simulation::{Change, Random};

use crate::machine::{Clocksource, Machine, Maker, pause_ps};
use crate::platform::Simulated;

/// Longest times of random transits between CPUs, in ps: threads of one core, cores, sockets.
const TRANSITS_PS: [u64; 5] = [5_000, 40_000, 120_000, 400_000, 1_500_000];

/// Turns of the longest of these questions: ten rounds of one pair each, of seven tasks.
const MAX_TURNS: f64 = 80.0;
/// Shortest time of a turn, in ns.
const MIN_TURN_NS: f64 = 2e6;

/// A machine, and the lead of each CPU's counter in ticks.
pub(crate) struct Apart {
    pub(crate) machine: Machine,
    pub(crate) ticks: Vec<i64>,
}

/// The offset of `b`'s counter against `a`'s, in ns of the reference.
pub(crate) fn true_ns(machine: &Machine, ticks: &[i64], a: u32, b: u32) -> f64 {
    (ticks[b as usize] - ticks[a as usize]) as f64 * count_ns(machine)
}

/// One count in ns of the reference, which is MONOTONIC_RAW.
pub(crate) fn count_ns(machine: &Machine) -> f64 {
    let fast = machine.spec("monotonic_raw").map_or(0.0, |spec| spec.fast);
    1e9 / machine.counter_hz * (1.0 + fast)
}

/// A random machine with random ways between its CPUs, in which as many as `share` of the CPUs are
/// apart.
pub(crate) fn random(seed: u64, share: f64) -> Apart {
    from(Maker::varied(seed), seed, share)
}

/// A machine of this maker, whose CPUs' counters disagree with a probability of `share` each.
pub(crate) fn from(maker: Maker, seed: u64, share: f64) -> Apart {
    let mut random = Random::new(seed ^ 0x00ac_5055);
    let hz = maker.counter_hz;
    let ticks: Vec<i64> =
        (0..maker.cpus).map(|_| if random.happens(share) { offset(&mut random, hz) } else { 0 }).collect();
    with(maker.make(), &mut random, ticks)
}

/// A machine whose CPUs' counters have these offsets.
pub(crate) fn with(mut machine: Machine, random: &mut Random, ticks: Vec<i64>) -> Apart {
    let longest = crate::machine::pick(random, &TRANSITS_PS);
    machine.cpus.set_transit_ps(longest / random.between(1, 5), longest);
    // One CPU may be further away than the others.
    if random.happens(0.3) {
        machine.cpus.set_detour_ps(random.below(ticks.len() as u64) as u32, random.below(500_000));
    }
    for (cpu, ticks) in (0..).zip(&ticks) {
        machine.at_ms(0.0, Change::SetCounterOffset { cpu, ticks: *ticks });
    }
    Apart { machine, ticks }
}

/// From one count to some ms, ahead or behind.
pub(crate) fn offset(random: &mut Random, hz: f64) -> i64 {
    let ns = 10f64.powf(7.0 * random.fraction());
    let ticks = (ns * hz / 1e9).ceil() as i64;
    if random.happens(0.5) { ticks } else { -ticks }
}

/// Returns true if the kernel's clocks show the counters' offsets.
pub(crate) fn is_on_counter(machine: &Machine) -> bool {
    machine.clocksource == Clocksource::Tsc
}

/// The machine did not take longer than `turns` of `turn_ns`, and what comes before and after them,
/// in ns of true time; on a busy machine, in which threads wait for each other, a multiple of that.
///
/// # Panics
/// It did.
pub(crate) fn check_time(machine: &Machine, turns: f64, turn_ns: f64) {
    let most_ns = most_ns(machine, turns, turn_ns);
    let paused_ps: u64 = machine.changes.iter().map(|(_, change)| pause_ps(change)).sum();
    let took_ns = machine.cpus.now_ps().saturating_sub(paused_ps.into()) as f64 / 1e3;
    assert!(took_ns <= most_ns, "it took {took_ns} ns for {turns} turns of {turn_ns} ns: {most_ns} ns at most");
}

/// Longest time that `turns` of `turn_ns` take, without pauses of the machine, in ns.
fn most_ns(machine: &Machine, turns: f64, turn_ns: f64) -> f64 {
    let load = &machine.loads[0];
    let share = f64::from(load.competitors) + 1.0;
    let cycle_ns = if load.competitors > 0 { share * (load.slice_ns + load.tick_ns) as f64 } else { 0.0 };
    // The counter's rate is measured in 64 steps of the reference.
    let window_ns = 64.0 * machine.spec("monotonic_raw:syscall").map_or(0.0, |spec| spec.nominal_ns);
    (40e6 + window_ns + turns * turn_ns * 1.2) * share * 1.5 + turns * 4.0 * cycle_ns
}

/// The true time in ps by which a question is over that is asked on one thread and then across
/// CPUs, for `duration_s`: there, threads of busy CPUs wait for each other.
pub(crate) fn longest_ps(machine: &Machine, duration_s: f64) -> u128 {
    let cpus = f64::from(machine.cpus.cpus());
    machine.longest_ps(duration_s + 0.05 * cpus * cpus) * 2
}

/// Limits a machine's time to a question with turns that are long enough for all of them, in each
/// of which threads wait for each other.
pub(crate) fn limited(machine: Machine, duration_s: f64) -> Simulated {
    let turn_ns = MIN_TURN_NS.max(duration_s * 1e9 / MAX_TURNS);
    let paused_ps: u64 = machine.changes.iter().map(|(_, change)| pause_ps(change)).sum();
    let limit_ps = most_ns(&machine, MAX_TURNS, turn_ns) as u128 * 1000 + u128::from(paused_ps);
    Simulated::limited(machine, limit_ps)
}

/// Rounds of a tournament, and turns in each.
pub(crate) fn turns(cpus: u32, is_serial: bool) -> (f64, f64) {
    let rounds = if cpus.is_multiple_of(2) { cpus - 1 } else { cpus };
    (rounds.into(), if is_serial { (cpus / 2).max(1).into() } else { 1.0 })
}

/// Returns true if a CPU was lost before or during the test.
pub(crate) fn is_gone(reason: &Unknown) -> bool {
    matches!(
        reason,
        Unknown::Cpus(
            CpusReason::CpuMissing { .. }
                | CpusReason::NotBound { .. }
                | CpusReason::MovedAway { .. }
                | CpusReason::PeerMissing
        )
    )
}
