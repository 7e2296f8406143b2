//! The second clock that a check compares with.

use serde::{Deserialize, Serialize};

use crate::Finding;

/// Reason why a second clock cannot judge another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReferenceProblem {
    /// The timer tick moves the kernel's clock, and may be late or lost.
    TimerTick,
    /// The second clock changed against all others, which did not change against each other.
    ReferenceChanged,
    /// The second clock is the counter, which is unfit.
    CounterUnfit,
    /// One jump was seen, against the counter alone: either of them may have jumped.
    SeenOnce,
}

impl ReferenceProblem {
    /// Says why a second clock cannot judge this one.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::TimerTick => "the kernel's clock is moved by the timer tick, which may be late or lost",
            Self::ReferenceChanged => {
                "the clock that it was compared with changed against all others, and they did not against each other"
            }
            Self::CounterUnfit => "the counter, which it was judged by, is unfit",
            Self::SeenOnce => "a single jump, seen against the counter alone, may be either one's",
        }
    }
}

/// Names the second clock in a sentence.
pub(super) fn name(reference: Option<&str>) -> &str {
    reference.unwrap_or("another clock")
}

/// Qualifies agreement with a clock that is computed from the same counter: it shows that both
/// paths agree, and nothing about the oscillator.
pub(super) fn qualified(found: String, finding: Finding, shares_hardware: Option<bool>) -> String {
    if finding == Finding::For && shares_hardware == Some(true) {
        return format!("consistent (same counter): {found}");
    }
    found
}
