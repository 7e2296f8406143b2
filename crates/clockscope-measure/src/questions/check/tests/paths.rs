//! A clock whose paths show different times.

use super::*;
use crate::questions::check::paths::ComparedPath;

/// The paths of two clocks, each with its lead over the system call where it is off.
fn with_paths(libc_ns: Option<f64>, vdso_ns: Option<f64>) -> Observations {
    let mut seen = healthy();
    for clock in ["monotonic", "realtime"] {
        for (path, off_ns) in [(ReadPath::Libc, libc_ns), (ReadPath::Vdso, vdso_ns)] {
            let off_ns = off_ns.filter(|_| clock == "realtime");
            let (clock, reference) = (clock.to_owned(), ReadPath::Syscall);
            seen.paths.push(ComparedPath { clock, path, reference, off_ns, within_ns: Some(300.0) });
        }
    }
    seen.preloaded = vec!["libfaketime.so.1".to_owned()];
    seen
}

fn text(seen: &Observations, clock: &str) -> (Trustworthiness, Finding, String) {
    let verdicts = judged(seen);
    let found = evidence(verdict_on(&verdicts, clock), EvidenceKind::Paths);
    (verdict_on(&verdicts, clock).verdict, found.finding, found.text())
}

/// The path at fault is named, whatever the kernel states of its own clock; and only clocks that
/// are read by it are distrusted.
#[test]
fn a_path_that_is_off_is_named() {
    use Trustworthiness::{Trusted, Unfit};
    for (libc_ns, vdso_ns, expected, named) in [
        (None, None, Trusted, "the C library, the vDSO and the system call agree within 300 ns"),
        (Some(3.6e12), None, Unfit, "by the C library it is 3600 s ahead of the system call; preloaded: libfaketime"),
        (Some(-5e6), Some(-5e6), Unfit, "by the vDSO it is 5 ms behind the system call; preloaded: libfaketime"),
        (None, Some(-5e6), Trusted, "by the vDSO it is 5 ms behind the system call, with which this path agrees"),
    ] {
        let seen = with_paths(libc_ns, vdso_ns);
        let (verdict, finding, text) = text(&seen, "realtime");
        let is_against = if expected == Unfit { Finding::Against } else { Finding::For };
        assert_eq!((verdict, finding), (expected, is_against), "{text}");
        assert!(text.starts_with(named), "{text}");
        assert_eq!(self::text(&seen, "monotonic").0, Trusted);
        // What the kernel states is not of a path that shows another time.
        let verdicts = judged(&seen);
        let is_stated = |one: &CheckEvidence| one.data.kind() == EvidenceKind::Synchronization;
        assert_eq!(verdict_on(&verdicts, "realtime").evidence.iter().any(is_stated), expected == Trusted, "{text}");
    }
}

/// A library that bends time is blamed for what it does, and not the kernel.
#[test]
fn the_kernel_is_not_blamed_for_a_path() {
    let mut seen = with_paths(Some(3.6e12), None);
    let clock = seen.clocks.iter_mut().find(|clock| clock.identity.name == "realtime").unwrap();
    clock.events.as_mut().unwrap().jump = Figure::Known(12);
    let verdicts = judged(&seen);
    for one in verdict_on(&verdicts, "realtime").evidence.iter().filter(|one| one.finding == Finding::Against) {
        let advice = one.advice().unwrap();
        assert!(advice.contains("preload") && !advice.contains("report it"), "{advice}");
    }
}

/// A path is unknown, and said to be, where the system call is refused.
#[test]
fn a_path_that_was_not_compared_is_unknown() {
    let mut seen = with_paths(None, None);
    seen.paths.iter_mut().for_each(|found| found.within_ns = None);
    let (verdict, finding, text) = text(&seen, "realtime");
    assert_eq!((verdict, finding), (Trustworthiness::Trusted, Finding::Unknown), "{text}");
    assert_eq!(text, "it could not be read by another path to compare");
}
