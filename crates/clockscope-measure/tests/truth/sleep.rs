//! *Sleep*: what calls gave, against what CLOCK_MONOTONIC truly advanced by.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clockscope_measure::{Session, SleepRequest, sleep};
use clockscope_records::{Envelope, Sleep, SleepRow, reasons};
use clockscope_testing::simulation::{Change, Random, Refused};

use crate::harness::{on_machines, on_one, seeds};
use crate::machine::{Machine, Maker, pause_ps, pick};
use crate::platform::{Signal, Simulated};

/// The spin's tolerance, in ns.
const SPIN_ERROR_NS: f64 = 200.0;
/// Time that a thread loses around a sleep without being interrupted, but for the clock's reads, in
/// ns.
const BESIDE_NS: f64 = 100.0;
/// Calls times lengths of sleeps, the most sleeps of each, and the largest lateness of a sleep, in
/// s.
const KINDS: f64 = 7.0 * 6.0;
const MAX_SLEEPS: f64 = 1000.0;
const LATE_S: f64 = 0.005;

/// A machine whose sleeps may end early, by less or more than they are late.
fn machine(mut maker: Maker) -> Machine {
    if maker.random.happens(0.5) {
        maker = maker.quiet();
    }
    let mut random = maker.random.clone();
    let mut machine = maker.make();
    machine.sleeps_end_early_ns = if random.happens(0.5) { 0 } else { 10u64.pow(random.between(2, 6) as u32) };
    machine.cpus.set_taken(0.02, 0.98);
    if random.happens(0.2) {
        // A kernel that wakes sleepers by its timer tick.
        machine.cpus.set_lateness_ps(100_000_000, 4_000_000_000);
    }
    machine
}

fn request(seed: u64) -> SleepRequest {
    SleepRequest {
        duration_s: pick(&mut Random::new(seed ^ 0x51ee), &[0.05, 2.5, 3.0, 4.0]),
        ..SleepRequest::default()
    }
}

fn ask(session: &Session<'_, Simulated>, seed: u64) -> Envelope<Sleep> {
    sleep(session, &request(seed), &mut |_| {}).expect("it can be asked")
}

/// Durations that calls of this name and time truly got, in ns.
fn truths(platform: &Simulated, row: &SleepRow) -> Vec<f64> {
    let mut truths: Vec<f64> = if row.call == "spin_clockscope_now" {
        let spins = platform.spins.lock().expect("nobody panicked");
        spins.iter().filter(|(requested, _)| *requested == row.requested_ns).map(|(_, got)| *got as f64).collect()
    } else {
        let sleeps = platform.sleeps.lock().expect("nobody panicked");
        let same =
            sleeps.iter().filter(|(call, requested, _)| call.name() == row.call && *requested == row.requested_ns);
        same.map(|(.., got)| *got as f64).collect()
    };
    truths.sort_by(f64::total_cmp);
    truths
}

/// By what the clock's reads may make a sleep seem longer: their cost and that of the timer's,
/// twice; and shorter: its tick.
fn reading_ns(machine: &Machine) -> (f64, f64) {
    let spec = machine.spec("monotonic:syscall").expect("it is there");
    let timer = machine.counter_cost.unwrap_or(machine.spec("monotonic_raw:syscall").expect("it is there").cost);
    // Jitter is a tenth of the cost at most, on average.
    let most = 2.5 * (spec.cost.ps + timer.ps) as f64 / 1e3 + spec.tick_ns + BESIDE_NS;
    (most, spec.tick_ns + 1.0 + machine.counter_step as f64 * 1e9 / machine.counter_hz)
}

/// The reported sleep is the true one and what reading the clock takes. All early returns are
/// reported that were earlier than that, and no others.
#[test]
fn sleeps_are_reported_as_they_were() {
    let (mut early, mut left_out) = ([0, 0], 0);
    let make = |seed| limited(machine(Maker::varied(seed)), seed);
    on_machines("sleep::sleeps_are_reported", make, |session, seed| {
        let platform = session.platform();
        let machine = &platform.machine;
        let answer = ask(session, seed);
        assert_eq!(answer.found.clock, "monotonic:syscall");
        let (longer, shorter) = reading_ns(machine);
        let is_quiet = machine.loads[0].competitors == 0 && machine.loads[0].interrupts_every_ns == 0;
        for row in &answer.found.rows {
            let truths = truths(platform, row);
            if truths.is_empty() {
                assert!(!row.early.is_known() && !row.min_ns.is_known() && row.reason.is_some(), "{row:?}");
                assert!(row.call == "poll" && row.requested_ns < 1_000_000, "{row:?}");
                continue;
            }
            // What is early by less than clocks differ is left out.
            let missing = truths.len() as u64 - row.sleeps;
            assert!(missing == 0 || row.left_out == Some(missing) && machine.sleeps_end_early_ns > 0, "{row:?}");
            if missing > 0 {
                left_out += missing;
                continue;
            }
            assert!(row.reason.is_none() && row.sleeps >= 3, "{row:?}");
            let quantile = |share: f64| truths[((truths.len() - 1) as f64 * share).floor() as usize];
            let least = [
                row.min_ns.get().expect("it is there") - truths[0],
                row.max_ns.get().expect("it is there") - truths[truths.len() - 1],
            ];
            assert!(least.iter().all(|more| *more >= -shorter), "{row:?}: {truths:?}");
            assert!(row.p50_ns.get().expect("it is there") >= quantile(0.5) - shorter, "{row:?}");
            assert!(row.p99_ns.get().is_none_or(|p99| p99 >= quantile(0.99) - shorter), "{row:?}");
            assert_eq!(row.p99_ns.is_known(), truths.len() >= 100, "{row:?}");
            // An interruption may hit any of them; on a quiet machine, none.
            if is_quiet {
                assert!(least.iter().all(|more| *more <= longer), "{row:?}: {truths:?}");
            }
            let tolerance = if row.call == "spin_clockscope_now" { SPIN_ERROR_NS } else { 0.0 };
            let count =
                |by: f64| truths.iter().filter(|got| **got + tolerance + by < row.requested_ns as f64).count() as u64;
            let reported = row.early.get().expect("the clock can be read");
            assert!(reported <= count(-shorter), "{row:?}: {} were early", count(0.0));
            if is_quiet {
                assert!(
                    reported >= count(longer + 1.1e-3 * row.requested_ns as f64),
                    "{row:?}: {} were early by more than reading takes",
                    count(longer)
                );
            }
            early[0] += reported;
            early[1] += count(0.0);
            if machine.sleeps_end_early_ns == 0 {
                assert_eq!(reported, 0, "{row:?}");
            }
        }
        duration_is_respected(machine, &answer);
    });
    eprintln!("early returns: {} of {} are reported, {left_out} sleeps left out", early[0], early[1]);
    if std::env::var_os("CLOCKSCOPE_SEED").is_none() {
        assert!(early[0] > 100);
    }
}

/// It takes its time, and names the lengths that it left out for that.
fn duration_is_respected(machine: &Machine, answer: &Envelope<Sleep>) {
    let mut lengths: Vec<u64> = answer.found.rows.iter().map(|row| row.requested_ns).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths.extend(&answer.found.untried_ns);
    assert_eq!(lengths, [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]);
    let took_s = machine.cpus.now_ps() as f64 / 1e12 - paused_s(machine);
    let duration_s = answer.run.as_ref().expect("it is a run").requested_duration_s.expect("it is there");
    let longest_s = longest_s(machine, duration_s);
    assert!(took_s <= longest_s * 1.2, "it took {took_s} s, and {longest_s} s are enough");
}

fn paused_s(machine: &Machine) -> f64 {
    machine.changes.iter().map(|(_, change)| pause_ps(change) as f64 / 1e12).sum()
}

/// Longest time that a question may take that was asked for `duration_s`.
fn longest_s(machine: &Machine, duration_s: f64) -> f64 {
    // Three of all, and one more round of those that were begun; spins lose their CPU.
    let share = 1.0 + f64::from(machine.loads[0].competitors) * 2.0;
    let usual_s = duration_s + KINDS * 4.0 * LATE_S + 0.35 * share + 0.2 * share;
    // Where no clock but the sleepers' runs, the number of sleeps is the only limit.
    let frozen = |change: &Change| matches!(change, Change::FreezeClock { clock } if *clock != machine.monotonic());
    let is_untimed = machine.counter_cost.is_none() && machine.changes.iter().any(|(_, change)| frozen(change));
    if is_untimed { usual_s + duration_s + KINDS * MAX_SLEEPS * LATE_S } else { usual_s }
}

/// A machine that has to be asked in that time.
fn limited(machine: Machine, seed: u64) -> Simulated {
    let longest_s = longest_s(&machine, request(seed).duration_s) * 1.5 + paused_s(&machine);
    Simulated::limited(machine, (longest_s * 1e12) as u128)
}

/// A machine to whose clocks something happens.
fn changing(maker: Maker, seed: u64) -> Machine {
    let mut machine = machine(maker);
    machine.sleeps_end_early_ns = 0;
    let mut random = Random::new(seed ^ 0x5c4a);
    let at_ms = 5.0 + random.fraction() * 2_000.0;
    let back_ms = at_ms + random.fraction() * 800.0;
    let (clock, hz) = (machine.monotonic(), machine.counter_hz);
    let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
    let sign = if random.happens(0.5) { 1.0 } else { -1.0 };
    let share = sign * 10f64.powf(-5.0 + 4.0 * random.fraction());
    match random.below(8) {
        0 | 1 => machine.at_ms(at_ms, Change::SlewClock { clock, share }),
        2 => {
            machine.at_ms(at_ms, Change::FreezeClock { clock });
            if random.happens(0.7) {
                machine.at_ms(back_ms, Change::ThawClock { clock });
            }
        }
        3 => {
            machine.at_ms(at_ms, Change::RefuseClock { clock, refused: Some(Refused(1)) });
            if random.happens(0.7) {
                machine.at_ms(back_ms, Change::RefuseClock { clock, refused: None });
            }
        }
        4 => {
            let left_out = vec![clock, raw];
            machine.at_ms(at_ms, Change::Suspend { ps: random.between(10, 2_000) * 1_000_000_000, left_out });
        }
        5 => {
            let ticks = (sign * 1e9) as i64;
            machine.at_ms(at_ms, Change::MoveMachine { ps: 50_000_000_000, ticks, hz: hz * (1.0 + share) });
        }
        6 => machine.at_ms(at_ms, Change::FreezeClock { clock: raw }),
        _ => machine
            .at_ms(at_ms, Change::SetCounterRate { hz: if random.happens(0.5) { 0.0 } else { hz * (1.0 + share) } }),
    }
    machine
}

/// No call is reported as early that was not, whatever happens to the clocks, and nothing hangs.
#[test]
fn no_sleep_is_early_because_a_clock_is_wrong() {
    let mut left_out = 0;
    let make = |seed| limited(changing(Maker::varied(seed), seed), seed);
    on_machines("sleep::no_sleep_is_early", make, |session, seed| left_out += is_never_early(session, seed));
    eprintln!("{left_out} sleeps are left out");
}

/// Seeds of an earlier list of errors, as machines were before they varied.
#[test]
fn sleeps_beside_wrong_clocks_were_early_once() {
    for seed in [14, 1464] {
        let platform = limited(changing(Maker::new(seed), seed), seed);
        on_one("sleep::no_sleep_is_early", seed, &platform, &mut |session, seed| _ = is_never_early(session, seed));
    }
}

/// Returns how many sleeps are left out.
fn is_never_early(session: &Session<'_, Simulated>, seed: u64) -> u64 {
    let mut left_out = 0;
    let platform = session.platform();
    let answer = ask(session, seed);
    let (_, shorter) = reading_ns(&platform.machine);
    for row in &answer.found.rows {
        let truths = truths(platform, row);
        assert!(row.early.get().is_none_or(|early| early == 0), "{row:?}: {:?}", &truths[..truths.len().min(5)]);
        assert!(row.sleeps <= truths.len() as u64, "{row:?}");
        left_out += truths.len() as u64 - row.sleeps;
        let is_explained = row.reason.is_some() || row.left_out > Some(0);
        let Some(min_ns) = row.min_ns.get() else {
            assert!(is_explained && reasons(&row).contains_key("early"), "{row:?}");
            continue;
        };
        assert!(row.sleeps == truths.len() as u64 || is_explained, "{row:?}");
        // A clock that froze in the midst of a sleep, or was thawed, is off by no more than
        // steering explains.
        assert!(min_ns >= truths[0] * 0.8 - shorter - 2_100.0, "{row:?}: {truths:?}");
    }
    duration_is_respected(&platform.machine, &answer);
    left_out
}

/// A signal ends the run, and the sleep that it ends is not reported as early.
#[test]
fn a_signal_is_no_early_return() {
    for seed in seeds() {
        let mut made = machine(Maker::varied(seed));
        made.sleeps_end_early_ns = 0;
        let mut platform = limited(made, seed);
        let at_ps = u128::from(Random::new(seed).between(5_000_000_000, 3_000_000_000_000));
        platform.signal = Some(Arc::new(Signal { at_ps, stop: AtomicBool::new(false) }));
        on_one("sleep::a_signal", seed, &platform, &mut |session, seed| {
            let answer = ask(session, seed);
            for row in &answer.found.rows {
                assert!(row.early.get().is_none_or(|early| early == 0), "{row:?}");
                assert!(
                    row.min_ns.get().is_none_or(|min| min >= row.requested_ns as f64 - SPIN_ERROR_NS - 500.0),
                    "{row:?}"
                );
            }
            let machine = &session.platform().machine;
            if answer.is_interrupted() {
                let late_s = machine.cpus.now_ps() as f64 / 1e12 - at_ps as f64 / 1e12;
                assert!(
                    late_s < 0.12 * (1.0 + 2.0 * f64::from(machine.loads[0].competitors)),
                    "it ended {late_s} s later"
                );
            }
        });
    }
}
