use super::*;

/// Length of a spin, in ns.
const SPUN_NS: f64 = 2e6;

/// A clock that counts these shares of the spins.
fn spun(label: &str, shares: &[f64]) -> SpunClock {
    let span = |share: f64, outer_ns: f64| Span { counted_ns: share * outer_ns, outer_ns, inner_ns: outer_ns - 500.0 };
    let whole = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    SpunClock {
        label: label.to_owned(),
        ns_per_unit: 1.0,
        nominal_ns: 1.0,
        spins: shares.iter().map(|share| span(*share, SPUN_NS)).collect(),
        whole: span(whole, SPUN_NS * shares.len() as f64),
        reason: None,
    }
}

fn times(clocks: Vec<SpunClock>) -> CpuTimes {
    let reference = "monotonic_raw:syscall".to_owned();
    CpuTimes { reference, slack: SLEW_PPM * 1e-6, wall_step_ns: 0.0, by_counter: true, clocks }
}

/// Spins as clocks see them that count wall time.
pub(crate) fn healthy(labels: &[&str]) -> CpuTimes {
    times(labels.iter().map(|label| spun(label, &[0.9995; MIN_SPINS])).collect())
}

/// The finding on a clock with a step of 10 ns, or why there is none.
fn found(times: &CpuTimes, label: &str) -> Result<(Finding, String), String> {
    let found = times.rate(label, Some(10.0)).map_err(|reason| reason.to_string())?;
    Ok((found.finding, found.reference))
}

const LOST: [f64; 4] = [0.31, 0.84, 0.02, 0.6];

fn of_shares(shares: [f64; 4], factor: f64) -> [f64; 4] {
    shares.map(|share| share * factor)
}

#[test]
fn a_clock_that_counts_more_than_wall_time_is_fast() {
    for factor in [1.1, 11.0] {
        let times = times(vec![spun("process", &[0.999 * factor; 4]), spun("thread", &[0.999; 4])]);
        assert_eq!(found(&times, "process"), Ok((Finding::Against, "monotonic_raw:syscall".to_owned())));
        assert_eq!(found(&times, "thread").map(|(finding, _)| finding), Ok(Finding::For));
    }
    // One spin alone shows nothing.
    let glitch = times(vec![spun("process", &[1.2, 0.999, 0.999, 0.998]), spun("thread", &[0.999; 4])]);
    assert_ne!(found(&glitch, "process").map(|(finding, _)| finding), Ok(Finding::Against));
}

#[test]
fn a_slow_clock_needs_another_one_that_counted_the_time() {
    let slow = || spun("process", &[0.5; 4]);
    let both = times(vec![slow(), spun("thread", &[0.9999; 4])]);
    assert_eq!(found(&both, "process"), Ok((Finding::Against, "thread".to_owned())));
    let ppm = both.rate("process", Some(10.0)).unwrap_or_else(|reason| panic!("{reason}")).range;
    assert!((ppm.ppm() + 500_000.0).abs() <= ppm.bound_ppm(), "{ppm:?}");
    let three_percent = times(vec![spun("process", &[0.97; 4]), spun("thread", &[0.9999; 4])]);
    assert_eq!(found(&three_percent, "process"), Ok((Finding::Against, "thread".to_owned())));
    for times in [times(vec![slow()]), times(vec![slow(), spun("thread", &[0.5; 4])])] {
        assert_eq!(found(&times, "process"), Err(texts::CPU_TIME_LOST.to_owned()));
    }
    // Both count what the thread ran for.
    let busy = times(vec![spun("process", &LOST), spun("thread", &of_shares(LOST, 0.5))]);
    assert_eq!(found(&busy, "thread"), Err(texts::CPU_TIME_LOST.to_owned()));
}

/// A thread that lost its CPU in each spin may hide that a clock is fast.
#[test]
fn clocks_of_a_thread_that_lost_its_cpu_are_unknown() {
    let busy = times(vec![spun("process", &of_shares(LOST, 1.15)), spun("thread", &LOST)]);
    for clock in ["process", "thread"] {
        assert_eq!(found(&busy, clock), Err(texts::CPU_TIME_LOST.to_owned()));
    }
}

#[test]
fn wall_time_of_a_single_clock_may_be_slow() {
    let fast = || vec![spun("process", &[1.5; 4]), spun("thread", &[1.5; 4])];
    let single = CpuTimes { by_counter: false, ..times(fast()) };
    assert_eq!(found(&single, "process"), Err(texts::CPU_TIME_BEYOND_WALL.to_owned()));
    assert_eq!(found(&times(fast()), "process").map(|(finding, _)| finding), Ok(Finding::Against));
    let one = CpuTimes { by_counter: false, ..times(vec![spun("process", &[1.5; 4]), spun("thread", &[0.999; 4])]) };
    assert_eq!(found(&one, "process").map(|(finding, _)| finding), Ok(Finding::Against));
}

/// A clock whose tick is longer than a spin is compared over the whole time, if that has several.
#[test]
fn the_tick_is_part_of_the_bound() {
    let coarse = |step_ns: f64, share: f64| {
        let times = times(vec![spun("clock", &[share; MAX_SPINS]), spun("thread", &[0.9995; MAX_SPINS])]);
        times.rate("clock", Some(step_ns)).map(|found| found.finding).map_err(|reason| reason.to_string())
    };
    assert_eq!(coarse(1e6, 0.9995), Ok(Finding::For));
    assert_eq!(coarse(1e6, 0.5), Ok(Finding::Against));
    assert_eq!(coarse(1e6, 2.0), Ok(Finding::Against));
    assert_eq!(coarse(1e7, 0.9995), Err(texts::CPU_TIME_COARSE.to_owned()));
    assert_eq!(coarse(1e7, 11.0), Ok(Finding::Against));
}

#[test]
fn what_was_not_compared_has_a_reason() {
    let mut failed = spun("process", &[]);
    failed.reason = Some(texts::CPU_TIME_READ_FAILED.into());
    let times = times(vec![failed, spun("thread", &[0.999; 3])]);
    assert_eq!(found(&times, "process"), Err(texts::CPU_TIME_READ_FAILED.to_owned()));
    assert_eq!(found(&times, "thread"), Err(texts::INTERRUPTED.to_owned()));
    assert_eq!(found(&times, "clock"), Err(texts::NOT_MEASURED.to_owned()));
}
