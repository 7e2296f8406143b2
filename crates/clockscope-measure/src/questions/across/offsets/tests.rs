use super::*;
use crate::platform::ThisMachine;
use clockscope_core::brackets::OffsetBounds;
use clockscope_records::texts;
use clockscope_system::clocks::counter::{self, Ordered};
use clockscope_testing::skip;
use std::sync::atomic::AtomicBool;

/// The counter of a CPU that was not synchronized.
#[derive(Clone, Copy)]
struct Skewed(Ordered, i64);

impl RawClock for Skewed {
    type Raw = u64;

    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        self.0.read(raw)
    }

    fn value(&self, raw: &u64) -> u64 {
        raw.wrapping_add_signed(self.1)
    }
}

/// From 100 ticks to 10^9, on either side: found within the bound, which is half of the tightest
/// round trip, a step and what the unit is uncertain by at most.
#[test]
fn a_skew_is_found_within_the_bound() {
    let Some((one, other)) = clockscope_testing::two_cpus() else { return };
    let Ok(counter) = counter::ordered() else { return skip("this architecture has no ordered counter") };
    let stop = AtomicBool::new(false);
    let session = Session::new(&ThisMachine, &stop);
    let setup = Setup::untried(&session, Catalog::counters(&ThisMachine)).expect("there is a reference");
    let unit = CounterUnit::from_step(&setup.bench, step(&counter));
    let by = |skew: [i64; 2]| {
        let played = exchange(&setup.bench, skew.map(|skew| Skewed(counter, skew)), &[(one, other)], 20_000_000);
        pair_record(played.into_iter().next().unwrap(), unit)
    };
    // How far the real counters are apart is not known here; skews are, within both bounds.
    let true_pair = by([0, 0]);
    let (true_ticks, true_bound) =
        (true_pair.offset_counts.get().unwrap(), true_pair.bound_ns.get().unwrap() / unit.ns);
    for skew in [100, -100, 1000, 54_321, -1_000_000, 1_000_000_000, -1_000_000_000] {
        for skews in [[0, skew], [-skew, 0]] {
            let pair = by(skews);
            let (found, bound) = (pair.offset_counts.get().unwrap(), pair.bound_ns.get().unwrap() / unit.ns);
            assert!((found - true_ticks - skew as f64).abs() <= bound + true_bound, "{skew}: {pair:?} {true_pair:?}");
            let half = pair.round_trip_ns.get().unwrap() / unit.ns / 2.0 + unit.step + 0.5;
            assert!(bound <= half + (found.abs() + half) * unit.uncertain, "{pair:?}");
        }
    }
}

const UNIT: CounterUnit = CounterUnit { ns: 1.0, uncertain: 0.0, step: 1.0 };

fn learned(bounds: [OffsetBounds; 2]) -> Result<[Learned; 2], ThreadError> {
    Ok(bounds.map(|bounds| Learned { bounds, parted: false }))
}

fn pair(a: u32, b: u32, offset_ns: f64) -> OffsetPair {
    let ticks = |ns: f64| ns as i64;
    let mut bounds = OffsetBounds::default();
    let there = 1_000_000_u64;
    let arrived = there.wrapping_add_signed(ticks(offset_ns) + 30);
    bounds.push(&Bracket { before: there, inner: arrived, after: there + 60 });
    pair_record(((a, b), learned([bounds, OffsetBounds::default()])), UNIT)
}

#[test]
fn the_worst_pair_and_what_does_not_add_up_are_reported() {
    let mut offsets = Offsets { cpus: vec![0, 4, 9], ..Offsets::default() };
    offsets.pairs = vec![pair(0, 4, 5.0), pair(0, 9, -200.0), pair(4, 9, -180.0)];
    summarize(&mut offsets);
    assert_eq!((offsets.worst_pair.get(), offsets.apart), (Some([0, 9]), 2));
    assert!((offsets.within_ns.get().unwrap() - 231.0).abs() < 1e-9);
    // -200 - 5 + 180.
    assert_eq!(offsets.closure_ns, Figure::Known(25.0));
}

#[test]
fn an_offset_that_changed_is_the_worst() {
    let mut changed = OffsetBounds::default();
    changed.push(&Bracket { before: 0, inner: 100, after: 60 });
    changed.push(&Bracket { before: 1000, inner: 5100, after: 1060 });
    let mut offsets = Offsets { cpus: vec![0, 4, 9], ..Offsets::default() };
    let changed = pair_record(((4, 9), learned([changed, OffsetBounds::default()])), UNIT);
    offsets.pairs = vec![pair(0, 4, 5000.0), pair(0, 9, 1.0), changed];
    summarize(&mut offsets);
    assert_eq!((offsets.worst_pair.get(), offsets.apart, offsets.within_ns.get()), (Some([4, 9]), 2, None));
}

/// As many of this exchange as it takes to compare both directions.
fn bounds([before, inner, after]: [u64; 3]) -> OffsetBounds {
    let mut bounds = OffsetBounds::default();
    (0..MIN_EXCHANGES).for_each(|_| bounds.push(&Bracket { before, inner, after }));
    bounds
}

#[test]
fn who_asks_must_not_make_a_difference() {
    let forward = bounds([0, 50, 100]);
    // Asked by the other one, the first CPU's counter is ahead by 60.
    let reverse = bounds([0, 110, 100]);
    let unit = UNIT;
    assert_eq!(pair_record(((0, 1), learned([forward, reverse])), unit).symmetric, Figure::Known(false));
    assert_eq!(pair_record(((0, 1), learned([forward, forward])), unit).symmetric, Figure::Known(true));
}

/// Whatever the other CPU was doing instead is no property of the counters.
#[test]
fn directions_that_were_interrupted_tell_nothing_of_symmetry() {
    let mut once = OffsetBounds::default();
    once.push(&Bracket { before: 0, inner: 4_000_000, after: 4_000_100 });
    for (reverse, reason) in
        [(bounds([0, 4_000_000, 4_000_100]), texts::INTERRUPTED_DIRECTION), (once, texts::FEW_EXCHANGES)]
    {
        let found = pair_record(((0, 1), learned([bounds([0, 50, 100]), reverse])), UNIT);
        assert_eq!((found.asymmetry_ns.get(), found.offset_ns.get()), (None, Some(0.0)));
        assert_eq!(found.symmetric, Figure::unknown(reason));
    }
}

#[test]
fn unmeasured_pairs_are_not_within_any_bound() {
    let mut offsets = Offsets { cpus: vec![0, 1], ..Offsets::default() };
    let lost: PairResult<Learned> = ((0, 1), Err(ThreadError::Moved { from: 1, to: 0 }));
    offsets.pairs = vec![pair_record(lost, UNIT)];
    summarize(&mut offsets);
    assert_eq!((offsets.worst_pair.get(), offsets.apart), (None, 0));
    let because = Box::new(Unknown::from(CpusReason::MovedAway { from: 1, to: 0 }));
    assert_eq!(offsets.untestable, Some(PairsReason::AllLost { because: because.clone() }.into()));
    assert_eq!(offsets.within_ns, Figure::unknown(CpusReason::OfPair { a: 0, b: 1, because }));
}

#[test]
fn a_counter_off_the_line_is_reported_with_its_bound() {
    // The counter wraps among them.
    let at = |ticks: u64, inner: u64| {
        let bracket = Bracket { before: ticks.wrapping_sub(20), inner, after: ticks + 20 };
        Together { bracket, step_ns: 1.0 }
    };
    let unit = CounterUnit { ns: 0.5, uncertain: 0.0, step: 2.0 };
    let found = off_line(&at(1000, 0), &at(1000 + 2000 + 300, 1000), &at(1000 + 8000, 4000), unit).unwrap();
    // Half a bracket of 20 ticks, two steps and the kernel's rounding, of the moment and of the
    // line at a quarter of it.
    assert!((found.offset - 150.0).abs() < 1e-9 && (found.bound - (28.0 + 28.0) * 0.5).abs() < 1e-9, "{found:?}");
    let beyond = off_line(&at(0, 0), &at(30_000, 10_000), &at(2000, 1000), unit).unwrap();
    assert!((beyond.bound - (28.0 + 28.0 * 9.0 + 28.0 * 10.0) * 0.5).abs() < 1e-9, "{beyond:?}");
    assert_eq!(off_line(&at(0, 5), &at(1, 5), &at(2, 5), unit).unwrap_err(), CpusReason::KernelClockStopped);
}
