//! *Check* of clocks that count CPU time.

use clockscope_records::{EvidenceKind, Finding, Policy, Trustworthiness, Verdict};
use clockscope_testing::simulation::{Counted, Load};

use crate::check::{against, ask, verdict};
use crate::harness::{on_machines, on_one};
use crate::machine::{Machine, Maker};
use crate::platform::Simulated;

/// The CPU-time clocks of Linux, and what getrusage counts, which is in µs.
const CLOCKS: [(&str, Counted, u64); 3] = [
    ("process", Counted::ProcessTime, 1),
    ("thread", Counted::ThreadTime, 1),
    ("getrusage_thread", Counted::ThreadTime, 1000),
];

/// Time for which a machine is asked, in s.
const ASKED_S: f64 = 0.1;

/// A machine with CPU-time clocks, one of which is fast by this share.
fn with_cpu_time(mut maker: Maker, faulty: &str, share: f64) -> Machine {
    maker.cpu_time = CLOCKS
        .iter()
        .map(|(name, counted, tick_ns)| (*name, *counted, if *name == faulty { share } else { 0.0 }, *tick_ns))
        .collect();
    maker.make()
}

fn quiet(seed: u64) -> Maker {
    Maker::new(seed).quiet().answering()
}

/// The finding on a clock's rate.
fn rate(verdict: &Verdict) -> Finding {
    let found = verdict.evidence.iter().find(|found| found.data.kind() == EvidenceKind::Rate);
    found.unwrap_or_else(|| panic!("no rate: {verdict:?}")).finding
}

/// Faulty clocks, and by what share each is fast: machines have one after the other.
const FAULTS: [(&str, f64); 6] =
    [("process", 10.0), ("thread", -0.5), ("process", 0.1), ("thread", 10.0), ("process", -0.5), ("thread", -0.03)];

fn fault(seed: u64) -> (&'static str, f64) {
    FAULTS[(seed % FAULTS.len() as u64) as usize]
}

#[test]
fn a_cpu_time_clock_at_a_wrong_rate_is_unfit() {
    let make = |seed| {
        let (clock, share) = fault(seed);
        Simulated::across(with_cpu_time(quiet(seed), clock, share), 2.0 * ASKED_S)
    };
    on_machines("check_cpu_time::a_cpu_time_clock_at_a_wrong_rate", make, |session, seed| {
        let found = ask(session, Policy::default(), ASKED_S).found;
        for (name, ..) in CLOCKS {
            let (verdict, is_faulty) = (verdict(&found, name), name == fault(seed).0);
            let expected = if is_faulty { Trustworthiness::Unfit } else { Trustworthiness::Trusted };
            assert_eq!(verdict.verdict, expected, "{verdict:?}");
            let kinds: Vec<_> = against(verdict).iter().map(|found| found.data.kind()).collect();
            assert_eq!(kinds == [EvidenceKind::Rate], is_faulty, "{verdict:?}");
        }
    });
}

/// A thread that loses its CPU is not a slow clock.
#[test]
fn cpu_time_clocks_are_not_unfit_on_busy_machines() {
    let make = |seed| {
        let maker = Maker::varied_before(seed).answering();
        Simulated::across(with_cpu_time(maker, "", 0.0), 2.0 * ASKED_S)
    };
    on_machines("check_cpu_time::cpu_time_clocks_are_not_unfit", make, |session, _| {
        let load = session.platform().machine.loads[0];
        let found = ask(session, Policy::default(), ASKED_S).found;
        for (name, ..) in CLOCKS {
            let verdict = verdict(&found, name);
            assert!(against(verdict).is_empty(), "{verdict:?}");
            let is_quiet = load.competitors == 0 && load.stolen_every_ns == 0;
            let is_trusted = verdict.verdict == Trustworthiness::Trusted;
            assert!(is_trusted || !is_quiet && verdict.verdict == Trustworthiness::Undecided, "{verdict:?}");
        }
    });
}

/// Eight threads that take turns of a quarter of a millisecond leave no spin of 1 ms whole.
#[test]
fn nothing_is_known_where_each_spin_is_interrupted() {
    let mut maker = quiet(11);
    maker.timer_tick_ns = 250_000;
    maker.load = Load { tick_ns: 250_000, competitors: 8, slice_ns: 250_000, ..Load::NONE };
    let machine = with_cpu_time(maker, "thread", -0.5);
    on_one("check_cpu_time::nothing_is_known", 11, &Simulated::across(machine, 1.0), &mut |session, _| {
        let found = ask(session, Policy::default(), 0.3).found;
        for (name, ..) in CLOCKS {
            let verdict = verdict(&found, name);
            assert_eq!(rate(verdict), Finding::Unknown, "{verdict:?}");
            assert_eq!(verdict.verdict, Trustworthiness::Undecided, "{verdict:?}");
        }
    });
}

/// Nothing tests the rate of a clock whose tick is too long for the spins of a short check.
#[test]
fn a_cpu_time_clock_that_was_not_tested_is_not_trusted() {
    let mut maker = quiet(12);
    maker.cpu_time = vec![("thread", Counted::ThreadTime, 0.0, 90_000)];
    on_one("check_cpu_time::not_tested", 12, &Simulated::across(maker.make(), 1.0), &mut |session, _| {
        let (undecided, trusted) = (Trustworthiness::Undecided, Trustworthiness::Trusted);
        for (asked_s, expected) in [(0.02, (undecided, Finding::Unknown)), (0.3, (trusted, Finding::For))] {
            let found = ask(session, Policy::default(), asked_s).found;
            let thread = verdict(&found, "thread");
            assert_eq!((thread.verdict, rate(thread)), expected, "{asked_s}: {thread:?}");
        }
    });
}
