//! Tests of what is made of the kernel's state, by states that daemons left in an emulated machine
//! whose true time was known.

use super::*;
use crate::WallTime;
use crate::disciplined::carried_on;
use clockscope_core::Basis;
use clockscope_core::WallState;
use clockscope_core::kernel_clock::Leap;
use proptest::prelude::*;
use std::time::Duration;

/// Lines of `CLASS ret=… offset=… …`: the fields of struct timex, the rest of adjtime(3), and the
/// true time less CLOCK_REALTIME just after.
const RECORDED: &str = include_str!("adjtimex.txt");

/// A recorded line: what is to be made of it, the state at 0 of Unix time, and the true time then.
fn parsed(line: &str) -> (&str, KernelClockState, i128) {
    let (class, fields) = line.split_once(' ').unwrap();
    let status = i64::from_str_radix(field(fields, "status").trim_start_matches("0x"), 16).unwrap();
    let [unsync, pll, nano, ins, del] = [0x40, 0x1, 0x2000, 0x10, 0x20].map(|flag| status & flag != 0);
    let unit_ns = if nano { 1 } else { 1000 };
    let state = KernelClockState {
        unix_ns: 0,
        unit_ns: unit_ns as u64,
        leap: if ins || del { Leap::Announced } else { Leap::None },
        is_unsynchronized: unsync,
        has_failed: number(fields, "ret") == 5 && !unsync,
        is_by_loop: pll,
        is_in_ns: nano,
        max_error_us: number(fields, "maxerror") as u64,
        estimated_error_us: number(fields, "esterror") as u64,
        offset_ns: number(fields, "offset") * unit_ns,
        time_constant: number(fields, "constant") as u32,
        adjust_us: Some(number(fields, "adjtime_pending_us")),
        rate_ppm: (number(fields, "tick") as f64 / 1e4 - 1.0) * 1e6 + number(fields, "freq") as f64 / 65536.0,
        tai_offset_s: None,
    };
    (class, state, number(fields, "true_minus_real_ns").into())
}

/// The text of a field.
fn field<'a>(fields: &'a str, name: &str) -> &'a str {
    let all = fields.split_whitespace().filter_map(|field| field.split_once('='));
    all.into_iter().find(|(key, _)| *key == name).unwrap_or_else(|| panic!("{name} in {fields}")).1
}

fn number(fields: &str, name: &str) -> i64 {
    field(fields, name).parse().unwrap()
}

/// Number of recorded states, by what is to be made of them and whether the true time is inside.
type Counts<'a> = std::collections::BTreeMap<(&'a str, bool), u32>;

fn count(counts: &Counts<'_>, expected: &str, is_inside: bool) -> u32 {
    counts.get(&(expected, is_inside)).copied().unwrap_or(0)
}

fn class(interval: &Result<WallInterval, Unbounded>) -> &'static str {
    match interval {
        Ok(interval) if interval.state == WallState::Synchronized => "synchronized",
        Ok(_) => "while_not_slewing",
        Err(Unbounded::Slewing { .. }) => "slewing",
        Err(Unbounded::Worthless(_)) => "worthless",
        Err(Unbounded::Unsynchronized(_)) => "unsynchronized",
        Err(other) => panic!("{other}"),
    }
}

/// Time between the state and the reading of the true time, in ns.
const BETWEEN_NS: u64 = 100_000;

/// Returns true if the true time is in the interval, or in one that is stated and worth nothing.
fn is_inside(interval: &Result<WallInterval, Unbounded>, truth_ns: i128) -> bool {
    let truth = WallTime::from_unix_ns(truth_ns.try_into().unwrap());
    match interval {
        Ok(interval) => (interval.earliest_ns..=interval.latest_ns).contains(&truth_ns),
        Err(error) => error.interval().is_some_and(|interval| interval.earliest <= truth && truth <= interval.latest),
    }
}

#[test]
fn states_that_daemons_left_are_trusted_as_recorded() {
    let mut seen = Counts::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (expected, state, truth_ns) = parsed(line);
        let interval = state.interval(BETWEEN_NS);
        let is_inside = is_inside(&interval, truth_ns);
        assert_eq!(class(&interval), expected, "{line}");
        assert!(expected != "synchronized" || is_inside, "{line}: {interval:?}");
        *seen.entry((expected, is_inside)).or_insert(0) += 1;
    }
    assert!(count(&seen, "synchronized", true) >= 10 && count(&seen, "while_not_slewing", true) >= 15, "{seen:?}");
    // Those that are not believed were wrong.
    for expected in ["worthless", "slewing", "unsynchronized"] {
        assert!(count(&seen, expected, false) > 0, "{expected}: {seen:?}");
    }
}

/// A second of the clock's time, as the clock that carries a statement on shows it at most: less
/// the last tick.
fn second_ns(rate_ppm: f64) -> u64 {
    (1e9 / (1.0 + rate_ppm * 1e-6)).min(1e9) as u64 - 1
}

/// Largest drift of a clock that is kept right, as a share: the growth of the kernel's own bound.
const MAX_DRIFT: f64 = 500e-6;

/// `bounded::now()` carries a statement on for a second. The recorded states, by the counter and by
/// the unsteered clock, while true time goes on at any rate that the kernel allows for.
#[test]
fn the_true_time_stays_inside_what_daemons_state() {
    let mut seen = Counts::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (expected, state, truth_ns) = parsed(line);
        let statement = state.wall_statement();
        let interval = state.interval(0);
        let was_inside = is_inside(&interval, truth_ns);
        *seen.entry((expected, was_inside)).or_insert(0) += 1;
        let expected_state = match expected {
            "synchronized" => WallState::Synchronized,
            "while_not_slewing" => WallState::WhileNotSlewing,
            "slewing" => WallState::Slewing,
            "worthless" => WallState::Worthless,
            _ => WallState::Unsynchronized,
        };
        assert_eq!((statement.state, statement.lasts_ns), (expected_state, 1_000_000_000), "{line}");
        for after_ns in [0, 500_000_000, second_ns(state.rate_ppm)] {
            for at in carried_on(statement, after_ns) {
                let at = at.unwrap_or_else(|| panic!("nothing after {after_ns} ns: {line}"));
                assert_eq!(at.state, expected_state, "{line}");
                if !expected_state.is_bounded() {
                    assert_eq!((at.earliest_ns, at.latest_ns), (i64::MIN, i64::MAX), "{line}");
                    continue;
                }
                // The recorded moment, and the furthest ones that the daemon allows for.
                let ends = interval.as_ref().map(|interval| [interval.earliest_ns, interval.latest_ns]).unwrap();
                let recorded = if was_inside { Some(truth_ns) } else { None };
                for (truth_ns, share) in ends
                    .into_iter()
                    .chain(recorded)
                    .flat_map(|truth| [-MAX_DRIFT, 0.0, MAX_DRIFT].map(|share| (truth, share)))
                {
                    let passed_ns = after_ns as f64 * (1.0 + state.rate_ppm * 1e-6) * (1.0 + share);
                    let truth_ns = truth_ns + passed_ns as i128;
                    let is_inside = (at.earliest_ns.into()..=at.latest_ns.into()).contains(&truth_ns);
                    assert!(is_inside, "{truth_ns} is not in {at:?} after {after_ns} ns: {line}");
                }
            }
        }
    }
    assert!(count(&seen, "synchronized", true) >= 10 && count(&seen, "while_not_slewing", true) >= 15, "{seen:?}");
    // Outside when they were recorded, which is why that is worth less.
    assert_eq!((count(&seen, "synchronized", false), count(&seen, "while_not_slewing", false)), (0, 4), "{seen:?}");
}

/// Returns a state as ntpd leaves it: the kernel's loop works off nothing, within 1 ms.
fn by_loop() -> KernelClockState {
    KernelClockState {
        max_error_us: 1000,
        estimated_error_us: 100,
        is_unsynchronized: false,
        is_by_loop: true,
        is_in_ns: true,
        ..KernelClockState::unsynchronized(0)
    }
}

/// The kernel sets its clock at a leap second: what is stated near one is asked for anew each time,
/// and what is carried on ends before one is near.
#[test]
fn nothing_is_carried_on_near_a_leap_second() {
    const MIDNIGHT_NS: i128 = 20_000 * 86_400_000_000_000;
    let state = by_loop();
    let leaps = [Leap::None, Leap::Announced, Leap::Insert, Leap::Delete, Leap::InProgress, Leap::Done];
    for (leap, tenths) in leaps.into_iter().flat_map(|leap| (-50..50).map(move |tenths| (leap, tenths))) {
        let statement =
            KernelClockState { leap, unix_ns: MIDNIGHT_NS + tenths * 100_000_000, ..state }.wall_statement();
        let is_near = leap != Leap::None && (-10..=10).contains(&tenths);
        let expected = if is_near { WallState::LeapSecond } else { WallState::Synchronized };
        assert_eq!(statement.state, expected, "{leap:?}, {tenths} tenths of a second after midnight");
        // A second before it is near, and as long as it is.
        let is_soon = leap != Leap::None && (-20..=10).contains(&tenths);
        assert!(!is_soon || statement.lasts_ns == 0, "{leap:?}, {tenths}: {statement:?}");
        let is_far = leap == Leap::None || !(-31..=10).contains(&tenths);
        assert!(!is_far || statement.lasts_ns == 1_000_000_000, "{leap:?}, {tenths}: {statement:?}");
        let is_carried_on = carried_on(statement, 0).map(|at| at.is_some());
        assert_eq!(is_carried_on, [statement.lasts_ns > 0; 2], "{leap:?}, {tenths}");
    }
}

#[test]
fn what_the_kernel_has_yet_to_correct_is_part_of_the_bound() {
    let state = by_loop();
    let interval =
        |state: KernelClockState| state.interval(0).map(|interval| (interval.earliest_ns, interval.latest_ns)).unwrap();
    assert_eq!(interval(state), (-1_000_001, 1_000_001));
    // The loop works off a quarter in the present second: 300 ms before it began.
    let ahead = KernelClockState { offset_ns: 225_000_000, ..state };
    assert_eq!(interval(ahead), (-1_000_001, 301_000_001));
    let slowly = KernelClockState { offset_ns: -256_000_000, time_constant: 6, ..state };
    assert_eq!(interval(slowly), (-1_000_001 - 256_000_000 - 1_003_921, 1_000_001));
    // adjtime(3) is moving the clock by 500 µs in the present second.
    let adjusted = KernelClockState { adjust_us: Some(-20_000), ..state };
    assert_eq!(interval(adjusted), (-21_500_001, 1_000_001));
    let any = KernelClockState { offset_ns: i64::MAX, adjust_us: Some(i64::MIN), time_constant: 63, ..state };
    assert!(interval(any).1 > interval(any).0);
    // Whether adjtime(3) moves it is not known: no more than a hope.
    let unadjusted = KernelClockState { adjust_us: None, ..state };
    assert_eq!(unadjusted.interval(0).unwrap().state, WallState::WhileNotSlewing);
    assert_eq!(state.interval(0).unwrap().state, WallState::Synchronized);
}

#[test]
fn a_rate_that_no_oscillator_explains_is_a_slew() {
    let state = KernelClockState {
        max_error_us: 1234,
        estimated_error_us: 100,
        is_unsynchronized: false,
        ..KernelClockState::unsynchronized(0)
    };
    for (rate_ppm, slews) in [(99.0, None), (-99.0, None), (101.0, Some(101)), (-83_333.0, Some(-83_333))] {
        let sent = KernelClockState { rate_ppm, ..state };
        match sent.interval(0) {
            Ok(interval) => assert_eq!((slews, interval.state), (None, WallState::WhileNotSlewing)),
            Err(Unbounded::Slewing { ppm, interval }) => {
                assert_eq!((slews, interval.state), (Some(ppm), WallState::WhileNotSlewing));
            }
            Err(other) => panic!("{other}"),
        }
        // What ntpd's frequency corrects is the oscillator's error; more was left by another
        // daemon, as by a chronyd that was killed.
        let by_loop = KernelClockState { rate_ppm, is_by_loop: true, is_in_ns: true, ..state };
        assert_eq!(by_loop.interval(0).is_ok(), rate_ppm.abs() < 500.0);
    }
}

#[test]
fn nobody_is_trusted_without_an_error() {
    let with_error = KernelClockState {
        max_error_us: 1234,
        estimated_error_us: 100,
        is_unsynchronized: false,
        ..KernelClockState::unsynchronized(0)
    };
    assert!(with_error.interval(0).is_ok());
    // chronyd without rtcsync.
    assert!(KernelClockState { is_unsynchronized: true, ..with_error }.interval(0).is_ok());
    // An estimate that nobody has set, and a largest error that is no multiple of what the kernel
    // adds.
    let by_phc2sys = KernelClockState { estimated_error_us: 16_000_000, ..with_error };
    assert!(matches!(by_phc2sys.interval(0), Err(Unbounded::Worthless(_))));
    let nobodys = [
        KernelClockState { max_error_us: 16_000_000, ..with_error },
        KernelClockState { has_failed: true, ..with_error },
        KernelClockState { is_unsynchronized: true, is_by_loop: true, is_in_ns: true, ..with_error },
        KernelClockState::unsynchronized(0),
    ];
    for state in nobodys {
        assert!(matches!(state.interval(0), Err(Unbounded::Unsynchronized(_))), "{state:?}");
    }
    let far = KernelClockState::unsynchronized(i128::MAX / 2);
    assert_eq!(far.interval(0), Err(Unbounded::OutOfRange));
}

/// Returns a state as ClockBound 3 leaves it `seconds` after it stated its bound: the kernel's loop
/// in nanoseconds with the time constant 0, and one figure for both errors, of which the kernel
/// lets the largest grow.
fn by_clockbound(bound_us: u64, seconds: u64) -> KernelClockState {
    KernelClockState {
        max_error_us: bound_us + 500 * seconds,
        estimated_error_us: bound_us,
        offset_ns: 12_345,
        time_constant: 0,
        ..by_loop()
    }
}

/// ClockBound's bounds were not compared with a known truth, and its states could be ntpd's.
#[test]
fn a_state_that_clockbound_may_have_left_is_not_trusted() {
    for (bound_us, seconds) in [(137, 0), (137, 1), (137, 16), (20_000, 0), (1, 1024)] {
        let interval = by_clockbound(bound_us, seconds).interval(0).unwrap();
        assert_eq!(
            (interval.state, interval.basis),
            (WallState::WhileNotSlewing, Basis::KernelLoop),
            "{bound_us} {seconds}"
        );
        assert_eq!(by_clockbound(bound_us, seconds).wall_statement().state, WallState::WhileNotSlewing);
    }
    // A bound below a microsecond is an estimated error of zero, as timesyncd leaves it.
    assert!(matches!(by_clockbound(0, 1).interval(0), Err(Unbounded::Worthless(_))));
    // ClockBound clamps a large offset, and marks the clock.
    let clamped = KernelClockState { is_unsynchronized: true, ..by_clockbound(137, 0) };
    assert!(matches!(clamped.interval(0), Err(Unbounded::Unsynchronized(_))));
    // Errors that differ by anything else are not ClockBound's.
    for us in [1, 100, 499, 501] {
        let by_ntpd = KernelClockState { max_error_us: 1000 + us, estimated_error_us: 1000, ..by_loop() };
        assert_eq!(by_ntpd.interval(0).unwrap().state, WallState::Synchronized);
    }
    // ntpd's time constant is the logarithm of its poll interval, 3 at least where it was recorded.
    let by_ntpd = KernelClockState { time_constant: 3, ..by_clockbound(500, 31) };
    assert_eq!(by_ntpd.interval(0).unwrap().state, WallState::Synchronized);
    // ClockBound's estimated error is never the larger one.
    let below = KernelClockState { max_error_us: 500, estimated_error_us: 1000, ..by_loop() };
    assert_eq!(below.interval(0).unwrap().state, WallState::Synchronized);
}

/// ntpd-rs states the root delay as the largest error, and a standard deviation as the estimated
/// one: the root distance may be more than the root delay.
#[test]
fn a_state_that_ntpd_rs_may_have_left_has_room_for_its_dispersion() {
    // A server on the local network, and a client that has measured little: ±5 ms.
    let (delay_us, deviation_us) = (301, 5_000);
    let state = KernelClockState {
        max_error_us: delay_us,
        estimated_error_us: deviation_us,
        is_unsynchronized: false,
        ..KernelClockState::unsynchronized(0)
    };
    for state in [state, KernelClockState { is_unsynchronized: true, ..state }] {
        let interval = state.interval(0).unwrap();
        assert_eq!((interval.state, interval.basis), (WallState::WhileNotSlewing, Basis::SteeredRate));
        // Half the root delay, and twice the standard deviation: one moment in twenty is beyond.
        let truth_ns = i128::from(delay_us / 2 + 2 * deviation_us) * 1000;
        for truth_ns in [truth_ns, -truth_ns] {
            assert!(is_inside(&Ok(interval), truth_ns), "{truth_ns} is not in {interval:?}");
        }
    }
    // It slews by up to 200 ppm, which the kernel does not know.
    let slewing = KernelClockState { rate_ppm: 200.0, ..state };
    assert!(matches!(slewing.interval(0), Err(Unbounded::Slewing { ppm: 200, .. })));
    // A root delay that is a multiple of what the kernel adds looks like an error set to zero.
    let zeroed = KernelClockState { max_error_us: 500, ..state };
    assert!(matches!(zeroed.interval(0), Err(Unbounded::Worthless(_))));
}

#[test]
fn tai_is_ahead() {
    let interval = WallInterval::around(5_000_000_000, 1_000, (Basis::KernelLoop, WallState::Synchronized), Leap::None);
    let tai = interval.on_scale(37_000_000_000).unwrap();
    assert_eq!(tai.earliest, WallTime::from_unix_ns(42_000_000_000 - 1_000));
    assert_eq!(tai.latest, WallTime::from_unix_ns(42_000_000_000 + 1_000));
    assert_eq!((tai.basis, tai.leap), (Some(Basis::KernelLoop), Some(Leap::None)));
    assert_eq!(interval.on_scale(i128::from(i64::MAX)), Err(Unbounded::OutOfRange));
}

#[test]
#[cfg(target_os = "linux")]
fn utc_is_between_its_bounds() {
    match utc_now() {
        Ok(utc) => assert!(utc.earliest <= crate::wall::now() && utc.earliest < utc.latest && utc.basis.is_some()),
        Err(Unbounded::Unsynchronized(time)) => assert!(time <= crate::wall::now()),
        Err(error @ (Unbounded::Slewing { .. } | Unbounded::Worthless(_))) => assert!(error.interval().is_some()),
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #[test]
    fn the_true_time_is_inside(unix_ns in -(1i128 << 62)..(1i128 << 62), error_us in 0u64..16_000_000, off in -1.0f64..1.0, took in 0u64..1_000_000) {
        let state = KernelClockState { unix_ns, max_error_us: error_us, is_unsynchronized: false, is_by_loop: true, is_in_ns: true, estimated_error_us: 1, ..KernelClockState::unsynchronized(0) };
        let interval = state.interval(took).unwrap();
        let truth = unix_ns + (error_us as f64 * 1000.0 * off) as i128;
        prop_assert!(interval.earliest_ns <= truth && truth <= interval.latest_ns);
        let on_scale = interval.on_scale(0).unwrap();
        prop_assert_eq!(on_scale.width(), Duration::from_nanos(2 * (error_us * 1000 + 1 + took)));
        prop_assert_eq!(i128::from(on_scale.earliest.as_unix_ns()), interval.earliest_ns);
        // The time constant is 0: once in 500 times the state could be ClockBound's.
        let is_one_figure = error_us % 500 == state.estimated_error_us;
        prop_assert_eq!(on_scale.state, if is_one_figure { WallState::WhileNotSlewing } else { WallState::Synchronized });
    }
}
