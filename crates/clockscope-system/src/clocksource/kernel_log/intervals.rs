//! The intervals of two clocks in the lines below a verdict of the watchdog:
//!
//! ```text
//! clocksource:                       'hpet' wd_nsec: 503990000 wd_now: 1f wd_last: 1e mask: ff
//! clocksource:                       'tsc' cs_nsec: 512034822 cs_now: 2f cs_last: 2e mask: ff
//! clocksource:                       'tsc' is current clocksource.
//! clocksource: Watchdog                    hpet interval:        503990000ns
//! clocksource: Clocksource                  tsc interval:        512034822ns
//! ```
//!
//! The first three are of Linux 5.14 and later, the last two of Linux 7. Before, the first two have
//! counts alone, and until Linux 4 no `clocksource:`.

use clockscope_core::clocksource::{self, KnownClocksource};
use clockscope_records::WatchdogIntervals;

/// Returns the intervals that these lines have, which follow a verdict. Counts become times by the
/// frequencies that the whole log states.
pub(super) fn find(lines: &[&String], log: &[String]) -> Option<WatchdogIntervals> {
    let below: Vec<&str> = lines.iter().map(|line| line.strip_prefix("clocksource: ").unwrap_or(line).trim()).collect();
    let watchdog = below.iter().find_map(|line| Interval::read(line, "Watchdog ", "wd_", log))?;
    let clocksource = below.iter().find_map(|line| Interval::read(line, "Clocksource ", "cs_", log))?;
    Some(WatchdogIntervals {
        watchdog: watchdog.name,
        watchdog_ns: watchdog.ns,
        clocksource: clocksource.name,
        clocksource_ns: clocksource.ns,
        went_back: clocksource.went_back,
        in_use: below.iter().find_map(|line| in_use(line)),
    })
}

/// The clocksource in use: `'hpet' (not 'tsc') is current clocksource.`; empty for none.
fn in_use(line: &str) -> Option<String> {
    let who = line.strip_suffix(" current clocksource.")?;
    if who == "No" {
        return Some(String::new());
    }
    who.strip_suffix(" is")?.split_whitespace().next().map(|name| name.trim_matches('\'').to_owned())
}

/// The interval of one clock.
#[derive(Debug, PartialEq)]
struct Interval {
    name: String,
    ns: Option<u64>,
    went_back: bool,
}

/// The hexadecimal number behind a key.
fn count(line: &str, key: &str) -> Option<u64> {
    let (_, digits) = line.split_once(key)?;
    u64::from_str_radix(digits.split_whitespace().next()?, 16).ok()
}

impl Interval {
    /// Reads it in any of the forms: in ns, or as two counts and the mask of its bits.
    fn read(line: &str, role: &str, prefix: &str, log: &[String]) -> Option<Self> {
        if let Some((name, interval)) = line.strip_prefix(role).and_then(|text| text.split_once(" interval:")) {
            let ns = Some(decimal(interval)?);
            return Some(Self { name: name.trim().to_owned(), ns, went_back: false });
        }
        let (name, counted) = line.split_once(prefix)?;
        let name = name.trim().trim_matches('\'').to_owned();
        if let Some(ns) = counted.strip_prefix("nsec: ") {
            return Some(Self { name, ns: Some(decimal(ns)?), went_back: false });
        }
        let now = count(line, &format!("{prefix}now: "))?;
        let last = count(line, &format!("{prefix}last: "))?;
        let mask = count(line, "mask: ")?;
        let counts = now.wrapping_sub(last) & mask;
        // A counter of 64 bits does not wrap.
        let went_back = mask == u64::MAX && now < last;
        let ns = frequency_hz(&name, log).filter(|_| !went_back).map(|hz| (counts as f64 / hz * 1e9) as u64);
        Some(Self { name, ns, went_back })
    }
}

/// The number that a text begins with, after spaces.
fn decimal(text: &str) -> Option<u64> {
    text.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the frequency of a clocksource in Hz: that of every machine, or what the log says.
///
/// ```text
/// tsc: Detected 2600.000 MHz processor
/// tsc: Refined TSC clocksource calibration: 2599.998 MHz
/// hpet0: 3 comparators, 64-bit 14.318180 MHz counter
/// ```
fn frequency_hz(name: &str, log: &[String]) -> Option<f64> {
    let known = clocksource::known(name.as_bytes()).and_then(|known| known.frequency_hz);
    known.or_else(|| log.iter().rev().find_map(|line| stated_hz(name, line)))
}

fn stated_hz(name: &str, line: &str) -> Option<f64> {
    let is_counter = clocksource::known(name.as_bytes()).is_some_and(KnownClocksource::is_bare_counter);
    let stated = match name {
        "hpet" => line.strip_prefix("hpet").and_then(|text| text.split_once("-bit ")),
        _ if is_counter => line.split_once("tsc: Detected ").or_else(|| line.split_once("clocksource calibration: ")),
        _ => None,
    };
    let (number, _) = stated?.1.split_once(" MHz")?;
    let mhz: f64 = number.trim().parse().ok()?;
    (mhz.is_finite() && mhz > 0.0).then_some(mhz * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Option<WatchdogIntervals> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        find(&lines.iter().collect::<Vec<_>>(), &lines)
    }

    /// Linux 5.10: the watchdog was the one that was off.
    #[test]
    fn counts_become_times_where_the_log_has_the_frequencies() {
        let counts = [
            "clocksource:                       'hpet' wd_now: 5ca548fd wd_last: 5932c25f mask: ffffffff",
            "clocksource:                       'tsc' cs_now: bb8a0f7168a0d4 cs_last: bb8a0f234df0c3 mask: ffffffffffffffff",
        ];
        let (tsc, hpet) =
            ("tsc: Detected 2600.000 MHz processor", "hpet0: 3 comparators, 64-bit 14.318180 MHz counter");
        let intervals = found(&[counts[0], counts[1], tsc, hpet]).unwrap();
        assert_eq!((intervals.watchdog_ns, intervals.clocksource_ns), (Some(4_039_424_982), Some(503_989_175)));
        assert_eq!(intervals.accused(), Some("hpet"));
        let without = found(&counts).unwrap();
        assert_eq!((without.watchdog_ns, without.clocksource_ns, without.accused()), (None, None, None));
    }

    /// Linux 4 in a guest of Xen, whose host had slept.
    #[test]
    fn a_counter_that_began_again_went_back() {
        let intervals = found(&[
            "        'xen' wd_now: f6aa707c0c8f wd_last: f6a8d4762faa mask: ffffffffffffffff",
            "        'tsc' cs_now: 1b6861d00 cs_last: 21d7172f2b8c4 mask: ffffffffffffffff",
        ])
        .unwrap();
        assert_eq!(
            (intervals.watchdog_ns, intervals.clocksource_ns, intervals.went_back),
            (Some(6_912_597_221), None, true)
        );
        assert_eq!(intervals.accused(), Some("tsc"));
        // One of fewer bits wraps.
        let wrapped = found(&[
            "'acpi_pm' wd_now: 10 wd_last: fffff0 mask: ffffff",
            "'tsc' cs_now: 2 cs_last: 1 mask: ffffffffffffffff",
        ])
        .unwrap();
        assert_eq!((wrapped.watchdog_ns, wrapped.went_back), (Some(8939), false));
    }

    #[test]
    fn odd_lines_have_no_intervals() {
        let counter = "'tsc' cs_nsec: 5 cs_now: 2 cs_last: 1 mask: ff";
        for odd in ["'hpet' wd_now: x wd_last: 1 mask: ff", "'hpet' wd_now: 1", "'hpet' wd_nsec: ns", "wd_", ""] {
            assert_eq!(found(&[odd, counter]), None, "{odd}");
        }
        assert_eq!(stated_hz("tsc", "tsc: Detected nan MHz processor"), None);
        assert_eq!(stated_hz("tsc", "tsc: Detected -1 MHz processor"), None);
    }
}
