//! The result of *info*: facts about the machine that clocks depend on.

use serde::{Deserialize, Serialize};

use crate::Figure;

/// Facts about the machine alone, which are in the head, and those that only Windows has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Info {
    /// Facts that Windows shows of its timer and processors; `null` on other systems.
    pub windows: Option<WindowsFacts>,
}

/// Facts that Windows shows of its timer interrupt, of its steering of the time of day, and of its
/// processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "WindowsFacts", transform = crate::schema::add_unknown))]
pub struct WindowsFacts {
    /// Period of the timer interrupt now, in ns (NtQueryTimerResolution). Coarse clocks move by it
    /// at most.
    pub timer_period_ns: Figure<u64>,
    /// The longest period, in ns: without any program's request.
    pub longest_timer_period_ns: Figure<u64>,
    /// The shortest period that programs can request, in ns.
    pub shortest_timer_period_ns: Figure<u64>,
    /// The steering of the time of day, by GetSystemTimeAdjustment: in units of 100 ns per period.
    pub adjustment: Figure<TimeAdjustment>,
    /// The same by GetSystemTimeAdjustmentPrecise: in counts per second (Windows 10 and newer).
    pub precise_adjustment: Figure<TimeAdjustment>,
    /// Active processors of each group. A thread runs in one group, of 64 processors at most,
    /// unless it asks for more.
    pub processor_groups: Figure<Vec<u32>>,
}

/// The speed at which Windows lets the time of day run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeAdjustment {
    /// The time added instead of `nominal`.
    pub added: u64,
    /// The time that would be added without steering.
    pub nominal: u64,
    /// True if this steering is off: `nominal` is added then, and the system may set the time.
    pub is_disabled: bool,
}

impl TimeAdjustment {
    /// Returns how much faster than nominal the wall clock runs, in ppm; `None` for a nominal 0.
    #[must_use]
    pub fn ppm(&self) -> Option<f64> {
        let added = if self.is_disabled { self.nominal } else { self.added };
        (self.nominal > 0).then(|| (added as f64 / self.nominal as f64 - 1.0) * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_is_relative_to_what_is_nominal() {
        let of = |added, nominal, is_disabled| TimeAdjustment { added, nominal, is_disabled }.ppm();
        assert!(of(156_250, 156_250, false).is_some_and(|ppm| ppm.abs() < 1e-9));
        assert!(of(10_000_100, 10_000_000, false).is_some_and(|ppm| (ppm - 10.0).abs() < 1e-6));
        assert!(of(156_266, 156_250, false).is_some_and(|ppm| (ppm - 102.4).abs() < 1e-6));
        assert_eq!(of(156_266, 156_250, true), Some(0.0));
        assert_eq!(of(1, 0, false), None);
    }
}
