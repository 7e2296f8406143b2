//! The check of the certainty with which the time of day is known.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::{Finding, WallState};

/// The certainty with which the time of day is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Synchronization {
    /// True if the kernel could be asked.
    pub answered: bool,
    /// The worth of the stated error.
    pub state: Option<WallState>,
    /// Half the length of the interval in which the time of day lies: by the statement of a daemon
    /// that answers, or else by the kernel's.
    pub error_s: Option<f64>,
    /// The largest error by the statement of chronyd, with what it has still to correct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon_error_s: Option<f64>,
    /// The largest error by the kernel's own statement, whatever that is worth.
    pub reported_error_s: Option<f64>,
    /// True if it is a clock of TAI that shows UTC, because the kernel does not know how far
    /// they are apart.
    pub shows_utc: bool,
}

impl Synchronization {
    /// Says how far the time of day is off by the kernel's statement.
    fn by_kernel(&self) -> String {
        let unknown = match (self.state, self.error_s) {
            (Some(WallState::Synchronized), Some(s)) => return format!("the time of day is right within {s:.6} s"),
            (Some(WallState::WhileNotSlewing), Some(s)) => {
                return format!(
                    "the time of day is right within {s:.6} s, unless its daemon is correcting it by the rate"
                );
            }
            (Some(WallState::Slewing), _) => {
                "it is being corrected by the clock's rate, and how much is left is not known"
            }
            (Some(WallState::Worthless), _) => {
                "the daemon that keeps it states no error: it sets that to zero, as timesyncd and phc2sys do, or has only begun"
            }
            (Some(WallState::Unsynchronized), _) => match self.reported_error_s {
                Some(s) if s >= 1.0 => {
                    return format!("no daemon synchronizes it; the kernel states an error of {s:.0} s");
                }
                _ => "no daemon synchronizes it",
            },
            _ => "the quality of its stated error is unknown",
        };
        format!("the time of day is unknown: {unknown}")
    }

    /// Says what the kernel states beside a daemon that has answered.
    fn beside_daemon(&self) -> &'static str {
        match self.state {
            Some(WallState::Synchronized) => "the kernel agrees that it is synchronized",
            Some(WallState::WhileNotSlewing) => "the kernel agrees, unless a daemon corrects it by the rate",
            Some(WallState::LeapSecond) => "the kernel says that a leap second is near",
            Some(WallState::Slewing) => "the kernel says that it is being corrected",
            Some(WallState::Unsynchronized) => "the kernel's flag still says that no daemon synchronizes it",
            _ => "the kernel has no error that is worth anything",
        }
    }

    fn keep_time(&self) -> &'static str {
        match self.state {
            Some(WallState::Synchronized | WallState::WhileNotSlewing) if self.shows_utc => {
                "use realtime, or have the daemon set TAI - UTC in the kernel (chronyd: leapsectz, ntpd: leapfile)"
            }
            Some(WallState::Slewing) => {
                "for durations use monotonic_raw, because this clock is being corrected; for the time of day wait until it has been"
            }
            _ => "run chronyd or ntpd; for durations use monotonic, which cannot be set",
        }
    }
}

impl Evidence for Synchronization {
    const NAME: &str = "synchronization";
    const SOURCE: &str = "adjtimex";

    fn source(&self) -> &'static str {
        if self.daemon_error_s.is_some() { "chronyd and adjtimex" } else { Self::SOURCE }
    }

    fn text(&self, _finding: Finding) -> String {
        let time_of_day = match (self.daemon_error_s, self.answered) {
            (Some(s), true) => {
                format!("the time of day is right within {s:.6} s, as chronyd states; {}", self.beside_daemon())
            }
            (Some(s), false) => format!("the time of day is right within {s:.6} s, as chronyd states"),
            (None, true) => self.by_kernel(),
            (None, false) => return "the kernel cannot be asked".to_owned(),
        };
        let tai = "it shows UTC, since the kernel does not know TAI - UTC";
        match self.state {
            _ if !self.shows_utc => time_of_day,
            Some(WallState::Synchronized | WallState::WhileNotSlewing) => tai.to_owned(),
            _ => format!("{time_of_day}; it shows UTC, not TAI"),
        }
    }

    fn brief(&self) -> Option<String> {
        let brief = match (self.state, self.error_s, self.daemon_error_s) {
            _ if !self.answered => "the kernel does not say whether it is synchronized",
            (_, _, Some(s)) if !self.shows_utc => return Some(format!("time of day within {s:.6} s")),
            (Some(WallState::Unsynchronized), ..) => "no daemon synchronizes it",
            (Some(WallState::Slewing), ..) => "it is being corrected",
            (Some(WallState::Worthless), ..) => "its daemon states no error",
            _ if self.shows_utc => "it shows UTC, not TAI",
            (Some(_), Some(s), _) => return Some(format!("time of day within {s:.6} s")),
            _ => "its stated error may be worth nothing",
        };
        Some(brief.to_owned())
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(self.keep_time())
    }

    fn next_step(&self) -> Option<&'static str> {
        if self.state == Some(WallState::Worthless) { Some(self.keep_time()) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Synchronization {
        fn examples() -> Vec<Self> {
            let states = [
                WallState::Synchronized,
                WallState::WhileNotSlewing,
                WallState::Slewing,
                WallState::Worthless,
                WallState::Unsynchronized,
            ];
            let silent = Self {
                answered: false,
                state: None,
                error_s: None,
                daemon_error_s: None,
                reported_error_s: None,
                shows_utc: false,
            };
            let known = states.map(|state| Self { error_s: Some(0.002), ..synchronization(state, false) });
            known.into_iter().chain([silent]).collect()
        }
    }

    fn synchronization(state: WallState, shows_utc: bool) -> Synchronization {
        Synchronization {
            answered: true,
            state: Some(state),
            error_s: None,
            daemon_error_s: None,
            reported_error_s: Some(16.0),
            shows_utc,
        }
    }

    /// The sentence on a clock that nobody synchronizes has what its reader needs.
    #[test]
    fn a_clock_that_nobody_synchronizes_is_worded_for_both_uses() {
        let check = synchronization(WallState::Unsynchronized, false);
        assert_eq!(check.text(Finding::Against), "no daemon synchronizes it; the kernel states an error of 16 s");
        assert!(check.keep_time().contains("for durations use monotonic, which cannot be set"));
        let check = synchronization(WallState::Unsynchronized, true);
        assert!(check.text(Finding::Against).contains("shows UTC"));
    }

    /// A machine that has a daemon is not advised to install one.
    #[test]
    fn the_remedy_of_time_of_day_is_that_of_its_fault() {
        assert!(synchronization(WallState::Synchronized, true).keep_time().contains("TAI - UTC"));
        assert!(synchronization(WallState::Slewing, true).keep_time().contains("wait until"));
        assert!(synchronization(WallState::Unsynchronized, true).keep_time().contains("run chronyd or ntpd"));
    }
}
