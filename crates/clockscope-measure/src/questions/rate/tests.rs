use super::*;
use crate::instrument::catalog::{CatalogEntry, ErasedClock};
use crate::instrument::sampler::Probe;
use crate::platform::ThisMachine;
use clockscope_records::texts;
use clockscope_system::{ClockBasis, ClockInfo, ClockKind, Errno, RawClock, ReadPath, Resolution};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// True time as the test has it: every read takes 20 ns, now and then 50 µs.
struct World {
    ns: AtomicU64,
    reads: AtomicU64,
}

impl World {
    fn next(&self) -> u64 {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed);
        self.ns.fetch_add(if reads % 7 == 3 { 50_000 } else { 20 }, Ordering::Relaxed)
    }
}

/// A clock of that world that runs at a rate of its own.
#[derive(Clone, Copy)]
struct Fast(&'static World, f64);

impl RawClock for Fast {
    type Raw = u64;

    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        *raw = (self.0.next() as f64 * (1.0 + self.1)) as u64;
        Ok(())
    }

    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

fn row(name: &'static str, clock: Fast) -> CatalogEntry<ThisMachine> {
    let resolution = Resolution::Nanoseconds(1.0);
    let info = ClockInfo::new(name, ClockKind::Monotonic, ReadPath::Library, resolution, "of a test");
    let info = ClockInfo { basis: ClockBasis::Other, is_steered: false, ..info };
    CatalogEntry { info, sampler: Ok(Box::new(Probe::new(clock)) as Box<dyn ErasedClock<ThisMachine>>) }
}

/// Compares clocks of a simulated world for some of its seconds.
fn compared(rates: &[(&'static str, f64)], seconds: f64) -> Rate {
    let world: &'static World = Box::leak(Box::new(World { ns: AtomicU64::new(1 << 40), reads: AtomicU64::new(0) }));
    let rows: Vec<_> = rates.iter().map(|(name, rate)| row(name, Fast(world, *rate))).collect();
    let stop = AtomicBool::new(false);
    let session = Session::new(&ThisMachine, &stop);
    let setup = Setup::untried(&session, Catalog::counters(&ThisMachine)).unwrap();
    let participants: Vec<_> =
        rows.iter().map(|row| Participant::new(row, &setup.bench, session.environment())).collect();
    let mut comparisons = pairs(&participants, 0);
    for turn in 0..100 {
        world.ns.fetch_add((seconds * 1e7) as u64, Ordering::Relaxed);
        round(&participants, &mut comparisons, if matches!(turn, 0 | 99) { 20 } else { BRACKETS });
    }
    let plan = RateSettings { reference: "true".to_owned(), duration_s: seconds, until_ppm: Some(0.001) };
    let reference = participants[0].as_reference(&setup.calibration, &setup.bench);
    record(&setup.bench, &participants, 0, comparisons, reference, &plan)
}

#[test]
fn every_clock_is_compared_with_the_reference_and_with_every_other() {
    let found = compared(&[("true", 0.0), ("fast", 10e-6), ("faster", 500e-6), ("slow", -0.1e-6)], 2.0);
    assert_eq!((found.reference.as_str(), found.clocks.len(), found.pairs.len()), ("true", 3, 6));
    for (clock, ppm) in found.clocks.iter().zip([10.0, 500.0, -0.1]) {
        let (seen, bound) = (clock.ppm.get().unwrap(), clock.bound_ppm.get().unwrap());
        assert!((seen - ppm).abs() <= bound && bound < 0.05, "{clock:?}");
        assert!(
            (clock.estimate_ppm.get().unwrap() - ppm).abs() < 0.02 && clock.constant.get() == Some(true),
            "{clock:?}"
        );
        // A hundredth of a millionth takes as much longer as the bound is larger.
        assert!(
            (clock.needed_s.get().unwrap() / clock.seconds.get().unwrap() - bound / 0.001).abs() < 1e-6,
            "{clock:?}"
        );
        assert!(!clock.allan.is_empty() && !clock.mtie.is_empty());
    }
    let pair = found.pairs.iter().find(|pair| (pair.a.as_str(), pair.b.as_str()) == ("fast", "faster")).unwrap();
    let truth = (10e-6 - 500e-6) / (1.0 + 500e-6) * 1e6;
    assert!((pair.ppm.get().unwrap() - truth).abs() <= pair.bound_ppm.get().unwrap(), "{pair:?}");
}

#[test]
fn memory_does_not_grow_with_the_rounds() {
    let world: &'static World = Box::leak(Box::new(World { ns: AtomicU64::new(0), reads: AtomicU64::new(0) }));
    let rows = [row("true", Fast(world, 0.0)), row("fast", Fast(world, 3e-6))];
    let stop = AtomicBool::new(false);
    let session = Session::new(&ThisMachine, &stop);
    let setup = Setup::untried(&session, Catalog::counters(&ThisMachine)).unwrap();
    let participants: Vec<_> =
        rows.iter().map(|row| Participant::new(row, &setup.bench, session.environment())).collect();
    let mut comparison = Comparison::new(1, 0);
    for turn in 0..20_000 {
        world.ns.fetch_add(1_000_000, Ordering::Relaxed);
        comparison.bracket(&participants, if turn == 19_999 { BRACKETS_AT_ENDS } else { 1 });
    }
    assert!(comparison.bracket_count() <= 4096, "{}", comparison.bracket_count());
    // From the first to the last, all of 20 s.
    let (ppm, bound) = comparison.bounds_ppm(&participants, 0.0).unwrap();
    assert!((ppm - 3.0).abs() <= bound && bound < 0.01, "{ppm} {bound}");
}

#[test]
fn what_cannot_be_a_reference_is_refused() {
    let selected = |clocks: &[&str], reference: &str| {
        let clocks: Vec<String> = clocks.iter().map(ToString::to_string).collect();
        participant::selected(&ThisMachine, &clocks, Paths::Libc, reference).err()
    };
    let select = |clocks: &[&str], reference: &str| {
        selected(clocks, reference).map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(select(&[], "nonsense").contains("unknown clock: nonsense"));
    assert!(select(&["rust_instant"], "rust_system_time").is_empty());
    if cfg!(target_os = "linux") {
        let process = selected(&[], "process").expect("it has no rate");
        let [refused] = process.unreadable() else { panic!("{process:?}") };
        assert_eq!(refused.reason.to_string(), texts::PROCESSOR_TIME, "{process:?}");
        assert!(select(&["monotonic"], "monotonic").contains("reference itself"));
        assert!(select(&["monotonic:syscall"], "monotonic").is_empty());
        assert!(select(&["monotonic_raw:vdso"], "monotonic_raw:vdso").contains("--reference"));
    }
}

/// A read before its turn is in no bracket: an unordered read takes longer, by a fence on either
/// side.
#[test]
fn unordered_reads_are_fenced() {
    let stop = AtomicBool::new(false);
    let session = Session::new(&ThisMachine, &stop);
    let setup = Setup::untried(&session, Catalog::counters(&ThisMachine)).unwrap();
    for entry in &setup.catalog.entries {
        let participant = Participant::new(entry, &setup.bench, session.environment());
        assert_eq!(participant.fence.is_some(), !entry.info.is_ordered, "{}", participant.label);
    }
}
