//! *Check* on machines of which something goes wrong.

use std::ops::Range;

use clockscope_measure::Session;
use clockscope_records::{Policy, Trustworthiness, Verdict};
use clockscope_testing::simulation::{Change, Refused};

use crate::check::{Checked, against, ask, limited, once_sound, usual_s, verdict};
use crate::harness::{are_many, on_machines, on_one, seeds};
use crate::machine::{Clocksource, Machine, Maker};
use crate::platform::Simulated;

/// Time by which a check may take longer beside a clock that fails, in s: what stands still is read
/// so often that one which works would have moved, before it is given up.
const FAILING_S: f64 = 2.0;

/// Ratio of the time that a check as short as these takes to the one asked for: each test of it has
/// a shortest time.
const SHORT_RUN: f64 = 1.4;

/// Subject whose fault it is that something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Counter,
    Monotonic,
    Raw,
    /// Of nothing: the machine paused.
    Nothing,
}

/// A machine on which one thing goes wrong at this time, or from the beginning on if there is none.
fn faulty(maker: Maker, seed: u64) -> (Machine, Fault, Option<u128>, &'static str) {
    let mut maker = maker.answering();
    maker.clocksource = Clocksource::Tsc;
    let random = &mut maker.random;
    let kind = random.below(14);
    let share_of_run = random.fraction();
    let ns = 10f64.powf(4.7 + 3.3 * random.fraction());
    let ns = if random.happens(0.5) { -ns } else { ns };
    let share = 10f64.powf(-2.7 + 2.0 * random.fraction()) * if random.happens(0.5) { -1.0 } else { 1.0 };
    let (cpu, hz) = (random.below(u64::from(maker.cpus)) as u32, maker.counter_hz);
    let glitches = 200 + random.below(2000) as usize;
    let pause_ps = (ns.abs() * 1e3) as u64;
    let mut machine = maker.make();
    let at_ms = 8.0 + machine.duration_s(usual_s(seed)) * 1e3 * SHORT_RUN * share_of_run;
    let clock = machine.monotonic();
    let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
    let ticks = (ns * hz / 1e9) as i64;
    let is_alone = machine.cpus.cpus() == 1;
    let (fault, change, name) = match kind {
        // A single CPU is behind none.
        0 if is_alone => (Fault::Nothing, Change::SetCounterOffset { cpu, ticks }, "offset"),
        0 => (Fault::Counter, Change::SetCounterOffset { cpu, ticks }, "offset"),
        1 => (Fault::Counter, Change::SetCounterRate { hz: hz * (1.0 + share) }, "rate"),
        2 => (Fault::Counter, Change::StepCounter { ticks }, "step"),
        3 => (Fault::Counter, Change::GlitchCounter { ticks: [ticks, 0, 0].repeat(glitches) }, "glitches"),
        4 => (Fault::Counter, Change::SetCounterRate { hz: 0.0 }, "stop"),
        5 => (Fault::Counter, Change::MoveMachine { ps: pause_ps, ticks, hz }, "move"),
        6 => (Fault::Monotonic, Change::StepClock { clock, ns: ns as i64 }, "step"),
        7 => (Fault::Monotonic, Change::SlewClock { clock, share: share * 10.0 }, "slew"),
        8 => (Fault::Monotonic, Change::FreezeClock { clock }, "freeze"),
        9 => (Fault::Monotonic, Change::RefuseClock { clock, refused: Some(Refused(1)) }, "refuse"),
        10 => (Fault::Raw, Change::StepClock { clock: raw, ns: ns as i64 }, "step"),
        11 => (Fault::Raw, Change::FreezeClock { clock: raw }, "freeze"),
        12 => (Fault::Nothing, Change::Suspend { ps: pause_ps, left_out: Vec::new() }, "pause"),
        _ => (Fault::Nothing, Change::MoveMachine { ps: pause_ps, ticks: 0, hz }, "pause"),
    };
    let at_ms = if kind == 0 { 0.0 } else { at_ms };
    machine.at_ms(at_ms, change);
    (machine, fault, (kind != 0).then_some((at_ms * 1e9) as u128), name)
}

/// Every kind of fault that `faulty` makes.
const FAULTS: [(Fault, &str); 12] = [
    (Fault::Counter, "rate"),
    (Fault::Monotonic, "slew"),
    (Fault::Raw, "freeze"),
    (Fault::Counter, "move"),
    (Fault::Monotonic, "step"),
    (Fault::Raw, "step"),
    (Fault::Counter, "step"),
    (Fault::Monotonic, "refuse"),
    (Fault::Counter, "offset"),
    (Fault::Counter, "glitches"),
    (Fault::Counter, "stop"),
    (Fault::Monotonic, "freeze"),
];

/// Nobody trusts what is at fault, if that showed during the measurement; and nothing else is unfit
/// for it. Returns whether there was a fault, and it showed.
fn judge(session: &Session<'_, Simulated>, seed: u64, maker: Maker) -> bool {
    let (_, fault, at_ps, name) = faulty(maker, seed);
    let checked = ask(session, Policy::default(), session.platform().machine.duration_s(usual_s(seed)));
    let Checked { whole, reads, rates, .. } = &checked;
    let windows: &[&Range<u128>] = match (fault, name) {
        // What lasts shows whenever it begins before the clocks are compared.
        (Fault::Counter, "glitches") => &[reads],
        (Fault::Counter, _) => &[whole],
        (_, "step") => &[rates],
        (Fault::Raw, _) => &[rates],
        _ => &[reads, rates],
    };
    let is_covered = at_ps.is_none_or(|at_ps| windows.iter().any(|range| range.contains(&at_ps)));
    let (counter, monotonic) = (verdict(&checked.found, "tsc"), verdict(&checked.found, "monotonic"));
    let raw = verdict(&checked.found, "monotonic_raw");
    let sound: &[&Verdict] = match fault {
        Fault::Counter => &[monotonic, raw],
        Fault::Monotonic => &[counter, raw],
        Fault::Raw => &[counter, monotonic],
        Fault::Nothing => &[counter, monotonic, raw],
    };
    for verdict in sound {
        // A kernel's clock that is computed from a counter shows that one's faults where these
        // differ by CPU or reading.
        let is_inherited = fault == Fault::Counter && name == "offset" && verdict.clock != "tsc";
        let is_unfit = verdict.verdict == Trustworthiness::Unfit;
        // Outside of that, the counter and its reference are the only ones that are compared.
        let is_ambiguous = fault == Fault::Raw && !is_covered;
        assert!(
            !is_unfit || is_inherited || is_ambiguous,
            "{fault:?} {name}: {} is unfit: {:#?}",
            verdict.clock,
            against(verdict)
        );
    }
    let at_fault = match fault {
        Fault::Counter => counter,
        Fault::Monotonic => monotonic,
        Fault::Raw => raw,
        Fault::Nothing => return false,
    };
    let is_trusted = at_fault.verdict == Trustworthiness::Trusted;
    assert!(
        !is_covered || !is_trusted,
        "{fault:?} {name} at {at_ps:?} of {whole:?}, {reads:?}, {rates:?}: {at_fault:#?}"
    );
    is_covered
}

/// A clock or counter whose fault falls into what is tested is never trusted, and no other is unfit
/// for it; and the question ends.
#[test]
fn a_fault_is_never_trusted() {
    let maker = |seed| Maker::varied(seed ^ 0xfa17);
    let (mut covered, mut faults) = (0, 0);
    on_machines(
        "check_faults::a_fault_is_never_trusted",
        |seed| limited(faulty(maker(seed), seed).0, seed, FAILING_S),
        |session, seed| {
            let (_, fault, _, name) = faulty(maker(seed), seed);
            assert!(FAULTS.contains(&(fault, name)) || fault == Fault::Nothing, "{fault:?} {name} is not listed");
            faults += u32::from(fault != Fault::Nothing);
            covered += u32::from(judge(session, seed, maker(seed)));
        },
    );
    eprintln!("{covered} of {faults} faults were tested");
    // Of few machines no share is known.
    assert!(!are_many() || covered * 5 >= faults * 2, "{covered} of {faults}");
}

/// Of every kind of fault one shows while it is looked at, and is not trusted: no kind is left out
/// because it never falls into what is tested. The quick tier asks of every fourth kind.
#[test]
fn every_kind_of_fault_is_covered() {
    let maker = |seed| {
        let mut maker = Maker::new(seed ^ 0xfa17);
        maker.load.competitors = 0;
        maker
    };
    // One machine alone, to repeat it.
    if seeds().count() == 1 {
        for seed in seeds() {
            on_one(
                "check_faults::every_kind",
                seed,
                &limited(faulty(maker(seed), seed).0, seed, FAILING_S),
                &mut |session, seed| {
                    _ = judge(session, seed, maker(seed));
                },
            );
        }
        return;
    }
    for kind in FAULTS.into_iter().step_by(if are_many() { 1 } else { 4 }) {
        let of_kind =
            (0..500).map(|seed| (seed, faulty(maker(seed), seed))).filter(|(_, made)| (made.1, made.3) == kind);
        // A fault may fall between what is tested: not twenty times.
        let is_covered = of_kind.take(20).any(|(seed, (machine, ..))| {
            let mut is_covered = false;
            on_one("check_faults::every_kind", seed, &limited(machine, seed, FAILING_S), &mut |session, seed| {
                is_covered = judge(session, seed, maker(seed));
            });
            is_covered
        });
        assert!(is_covered, "{kind:?} was never tested");
    }
}

/// Machines, as they were before machines varied, of which this was wrong once.
fn once(seeds: &[u64]) {
    let maker = |seed| {
        let mut maker = Maker::new(seed ^ 0xfa17);
        maker.load.competitors = maker.load.competitors.min(3);
        maker
    };
    for seed in seeds.iter().copied() {
        let platform = limited(faulty(maker(seed), seed).0, seed, FAILING_S);
        let judge = &mut |session: &Session<'_, Simulated>, seed| _ = judge(session, seed, maker(seed));
        on_one("check_faults::a_fault_is_never_trusted", seed, &platform, judge);
    }
}

/// Seeds of an earlier list of errors, of either question.
#[test]
fn busy_machines_are_judged_as_quiet_ones() {
    once(&[21, 31, 43]);
    [21, 31, 43].into_iter().for_each(once_sound);
}

/// The counter stopped while another thread ran. The counter itself gave the time when it was
/// looked at, so that it stood still for no time, and the clocks that ran on had jumped.
#[test]
fn clocks_jumped_beside_a_counter_that_stopped() {
    once(&[228, 269, 369]);
}

/// The counter's readings were off for microseconds, while one of the kernel's clocks was compared
/// with it: once only, and that clock was unfit.
#[test]
fn a_single_jump_may_be_the_counters() {
    once(&[543, 727, 1070, 1738]);
}

/// The counter's rate changed, and the simulated kernel reckoned a clock back by a part of the
/// counter's step.
#[test]
fn a_counter_that_slows_down_turns_no_clock_back() {
    once(&[662]);
}

/// The reference stands still from some time on: the check went on for ever.
#[test]
fn a_reference_that_freezes_ends_a_check() {
    let moments = if are_many() { &[40.0, 10.0][..] } else { &[40.0] };
    for &at_ms in moments {
        let mut maker = Maker::new(7);
        maker.load.competitors = 0;
        (maker.has_counter, maker.clocksource) = (true, Clocksource::Tsc);
        let mut machine = maker.make();
        let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
        machine.at_ms(at_ms, Change::FreezeClock { clock: raw });
        let platform = Simulated::across(machine, 0.06 + FAILING_S);
        on_one("check_faults::a_reference", 7, &platform, &mut |session, _| {
            let checked = ask(session, Policy::default(), 0.06);
            assert_ne!(verdict(&checked.found, "monotonic_raw").verdict, Trustworthiness::Trusted);
        });
    }
}
