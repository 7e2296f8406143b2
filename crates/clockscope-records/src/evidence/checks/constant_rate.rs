//! The check that one rate explains a clock beside a second one.

use serde::{Deserialize, Serialize};

use super::{ReferenceProblem, Suspect, reference};
use crate::evidence::Evidence;
use crate::units::time;
use crate::{Finding, Unknown, counted};

/// Does one rate explain the clock beside a second clock?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct ConstantRate {
    /// The second clock.
    pub reference: Option<String>,
    /// Brackets that were compared.
    pub brackets: u64,
    /// Time between the first bracket and the last.
    pub seconds: Option<f64>,
    /// The change that contradicts a constant rate.
    pub change: Option<RateChange>,
    /// The suspect for a change.
    pub suspect: Suspect,
    /// Reason why the second clock cannot judge this one.
    pub reference_problem: Option<ReferenceProblem>,
    /// `true` if both are computed from one hardware counter; `null` where that is unknown.
    pub reference_shares_hardware: Option<bool>,
    /// Reason why the rates were not compared.
    pub reason: Option<Unknown>,
}

/// A change that contradicts a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RateChange {
    /// The clock stepped.
    Step {
        /// Its time, in seconds from the first bracket.
        at_s: f64,
        /// By how much at least.
        step_ns: f64,
    },
    /// The rate changed once.
    Once {
        /// One rate explains all brackets from here on.
        from_s: f64,
        /// One rate explains all brackets until here.
        until_s: f64,
    },
    /// No rate explains the brackets.
    Unexplained,
    /// The mean over the whole check differs from the rate that was measured.
    OtherMean {
        /// The frequency that was measured.
        measured_hz: f64,
        /// The mean over the whole check.
        mean_hz: f64,
    },
    /// The counter stopped, or went behind its value at the start of the check.
    WentBack,
    /// All other clocks changed against this one, and not against each other.
    AgainstAll,
}

impl RateChange {
    /// Words the change against a second clock.
    fn text(self, reference: &str) -> String {
        match self {
            Self::Step { at_s, step_ns } => {
                format!("it stepped by at least {} against {reference} at {at_s:.3} s", time(step_ns))
            }
            Self::Once { from_s, until_s } => {
                format!("its rate against {reference} changed between {from_s:.3} s and {until_s:.3} s")
            }
            Self::Unexplained => format!("no rate explains what was seen against {reference}"),
            Self::OtherMean { measured_hz, mean_hz } => format!(
                "it ran at {:.6} MHz during the measurement, and at {:.6} MHz on average: its rate changed, or it stepped",
                measured_hz / 1e6,
                mean_hz / 1e6
            ),
            Self::WentBack => "it stood still, or went back to before the check began".to_owned(),
            Self::AgainstAll => "all other clocks changed against it, and not against each other".to_owned(),
        }
    }
}

impl Evidence for ConstantRate {
    const NAME: &str = "constant rate";
    const SOURCE: &str = "brackets";
    const IS_TEST: bool = true;

    fn text(&self, finding: Finding) -> String {
        let reference = reference::name(self.reference.as_deref());
        match (self.change, self.reference_problem, &self.reason) {
            (Some(change), ..) => change.text(reference),
            (None, Some(problem), _) => problem.text().to_owned(),
            (None, None, Some(reason)) => reason.to_string(),
            (None, None, None) if finding == Finding::For => {
                let brackets = counted(self.brackets, "bracket");
                let seconds = self.seconds.unwrap_or(0.0);
                let found = format!("one rate explains {brackets} by {reference} in {seconds:.1} s");
                reference::qualified(found, finding, self.reference_shares_hardware)
            }
            (None, None, None) if self.reference.is_none() => "the counter was not compared".to_owned(),
            (None, None, None) => "it was not compared".to_owned(),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(self.suspect.remedy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for ConstantRate {
        fn examples() -> Vec<Self> {
            let changes = [
                RateChange::Step { at_s: 0.5, step_ns: 1e6 },
                RateChange::Once { from_s: 0.5, until_s: 0.75 },
                RateChange::Unexplained,
                RateChange::OtherMean { measured_hz: 2.5e9, mean_hz: 2.6e9 },
                RateChange::WentBack,
                RateChange::AgainstAll,
            ];
            changes.map(|change| Self { change: Some(change), suspect: Suspect::Kernel, ..constant(Some(true)) }).into()
        }
    }

    fn constant(reference_shares_hardware: Option<bool>) -> ConstantRate {
        ConstantRate {
            reference: Some("monotonic_raw".to_owned()),
            brackets: 220,
            seconds: Some(1.25),
            change: None,
            suspect: Suspect::Counter,
            reference_problem: None,
            reference_shares_hardware,
            reason: None,
        }
    }

    /// Agreement with a clock of the same counter claims nothing about the oscillator.
    #[test]
    fn a_reference_on_the_same_counter_is_named() {
        let sentence = constant(Some(true)).text(Finding::For);
        assert!(sentence.starts_with("consistent (same counter): one rate explains"));
        for independent in [Some(false), None] {
            assert!(constant(independent).text(Finding::For).starts_with("one rate explains"));
        }
    }
}
