//! Counts of the kernel's watchdog and of the clocksource that it judged.

use std::fmt;

use clockscope_core::clocksource;
use serde::{Deserialize, Serialize};

/// The intervals of the watchdog and of the clocksource that it judged, in the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WatchdogIntervals {
    /// The watchdog's name.
    pub watchdog: String,
    /// Its interval, in ns; `null` where the log has its counts alone, and not its frequency.
    pub watchdog_ns: Option<u64>,
    /// The other's name.
    pub clocksource: String,
    /// The interval of that one, in ns; `null` as above, and where it went back.
    pub clocksource_ns: Option<u64>,
    /// True if the clocksource was behind where it had been: it began again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub went_back: bool,
    /// The clocksource in use, which drove the timer between two looks; not known where the log
    /// does not name it (Linux before 5.14, and 7). Empty if there was none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_use: Option<String>,
}

/// Time that Linux waits between two looks at a clocksource, in ns (`WATCHDOG_INTERVAL` of
/// `kernel/time/clocksource.c`): a timer, which may be late, but not early.
const WATCHDOG_PERIOD_NS: std::ops::RangeInclusive<u64> = 499_000_000..=520_000_000;

/// Two clocks that differ by a wrap of one and by less than this, in ns, agree.
const WRAP_TOLERANCE_NS: f64 = 50e6;

impl WatchdogIntervals {
    /// Returns the name of the one that went back, or that counted another time than the kernel's
    /// timer waits, if the other one did not: `None` where both or neither did, where one of them
    /// drove the timer itself, and where an interval is not known. A third clock has to decide
    /// then.
    #[must_use]
    pub fn accused(&self) -> Option<&str> {
        if self.went_back {
            return Some(&self.clocksource);
        }
        let both = [&self.watchdog, &self.clocksource];
        if self.in_use.as_ref().is_some_and(|in_use| both.contains(&in_use)) || self.may_have_wrapped() {
            return None;
        }
        match [self.watchdog_ns?, self.clocksource_ns?].map(|ns| WATCHDOG_PERIOD_NS.contains(&ns)) {
            [false, true] => Some(&self.watchdog),
            [true, false] => Some(&self.clocksource),
            [true, true] | [false, false] => None,
        }
    }

    /// Returns whether they accuse the watchdog, which judges nothing then.
    pub(super) fn accuse_the_watchdog(&self) -> bool {
        self.accused() == Some(&self.watchdog)
    }

    /// Returns whether the watchdog may have wrapped, so that both counted the same time: they
    /// differ by as much as it counts until then (acpi_pm: 4.69 s).
    fn may_have_wrapped(&self) -> bool {
        let known = clocksource::known(self.watchdog.as_bytes());
        let (Some(bits), Some(hz)) = (known.and_then(|known| known.bits), known.and_then(|known| known.frequency_hz))
        else {
            return false;
        };
        let (Some(watchdog_ns), Some(clocksource_ns)) = (self.watchdog_ns, self.clocksource_ns) else { return false };
        let wraps_after_ns = 2f64.powi(bits.cast_signed()) / hz * 1e9;
        let wraps = (clocksource_ns as f64 - watchdog_ns as f64) / wraps_after_ns;
        wraps > 0.5 && (wraps - wraps.round()).abs() * wraps_after_ns < WRAP_TOLERANCE_NS
    }

    /// The meaning, in words.
    fn meaning(&self) -> String {
        let both = [&self.watchdog, &self.clocksource];
        match (self.accused(), &self.in_use) {
            (Some(accused), _) if self.went_back => format!("which points to {accused}"),
            (Some(accused), Some(_)) => format!("which points to {accused}"),
            (Some(accused), None) => {
                let other = if *accused == self.watchdog { &self.clocksource } else { &self.watchdog };
                format!("which points to {accused}, unless {other} drove the timer")
            }
            (None, Some(in_use)) if both.contains(&in_use) => {
                format!("which points to neither, because {in_use} drove the timer")
            }
            (None, _) if self.may_have_wrapped() => {
                format!("which points to neither, because {} wraps within that time", self.watchdog)
            }
            (None, _) => "which points to neither".to_owned(),
        }
    }
}

/// The intervals, and the clock that they accuse.
impl fmt::Display for WatchdogIntervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ns: Option<u64>| {
            ns.map_or_else(
                || "for a time that is not known (the log has counts, and not their frequency)".to_owned(),
                |ns| format!("{:.3} s", ns as f64 / 1e9),
            )
        };
        write!(f, "{} counted {} and {} ", self.watchdog, seconds(self.watchdog_ns), self.clocksource)?;
        match self.went_back {
            true => f.write_str("went back: it restarted, ")?,
            false => write!(f, "{} where a timer waits half a second, ", seconds(self.clocksource_ns))?,
        }
        f.write_str(&self.meaning())
    }
}
