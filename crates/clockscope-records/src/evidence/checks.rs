//! The checks: one file for each, with its data, its name, its sentence, its source and its advice.

mod clocksource;
mod constant_rate;
mod cost;
mod counter;
mod emulation;
mod hypervisor;
mod invariance;
mod jumps;
mod kernel_verdict;
mod nominal_frequency;
mod offsets;
mod order;
mod paths;
mod rate;
mod readable;
mod reference;
mod resolution;
mod steps_back;
mod stuck;
mod suspect;
mod synchronization;

pub use constant_rate::RateChange;
pub use cost::CostCause;
pub use hypervisor::HypervisorStatement;
pub use reference::ReferenceProblem;
pub use suspect::Suspect;

use serde::{Deserialize, Serialize};

use super::Evidence;
#[cfg(test)]
use super::tests::Examples;
use crate::{Finding, Unknown};

/// The next step for a test that saw too little.
const ASK_FOR_LONGER: &str = "try again for longer (--duration), or when the CPUs are less busy";

/// Declares [`EvidenceData`] and [`EvidenceKind`] of all checks.
macro_rules! checks {
    ($($module:ident::$check:ident,)+) => {
        $(pub use $module::$check;

        impl From<$check> for EvidenceData {
            fn from(check: $check) -> Self {
                Self::$check(check)
            }
        })+

        /// A question about a clock, with the figures that answer it. An unknown figure is `None`;
        /// `reason` explains it, by a reason of another record.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(tag = "check", rename_all = "snake_case")]
        #[allow(missing_docs, reason = "the checks are documented")]
        pub enum EvidenceData {
            $($check($check),)+
        }

        /// The question of [`EvidenceData`], without its figures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        #[allow(missing_docs, reason = "the checks are documented")]
        pub enum EvidenceKind {
            $($check,)+
        }

        impl EvidenceData {
            /// Returns which question it asks.
            #[must_use]
            pub const fn kind(&self) -> EvidenceKind {
                match self {
                    $(Self::$check(_) => EvidenceKind::$check,)+
                }
            }

            /// Returns its name in tables.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                self.kind().name()
            }

            /// Returns where the answer comes from.
            #[must_use]
            pub fn source(&self) -> &'static str {
                match self {
                    $(Self::$check(check) => check.source(),)+
                }
            }

            pub(super) fn text(&self, finding: Finding) -> String {
                match self {
                    $(Self::$check(check) => check.text(finding),)+
                }
            }

            pub(crate) fn brief(&self) -> Option<String> {
                match self {
                    $(Self::$check(check) => check.brief(),)+
                }
            }

            pub(super) fn advice(&self, finding: Finding) -> Option<String> {
                match self {
                    $(Self::$check(check) => check.advice(finding),)+
                }
            }
        }

        impl EvidenceKind {
            /// Returns its name in tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$check => $check::NAME,)+
                }
            }

            /// Returns whether a test answers it, rather than a statement of the hardware or of the
            /// system.
            #[must_use]
            pub const fn is_test(self) -> bool {
                match self {
                    $(Self::$check => $check::IS_TEST,)+
                }
            }
        }

        #[cfg(test)]
        pub(super) fn examples() -> Vec<EvidenceData> {
            let mut examples = Vec::new();
            $(examples.extend($check::examples().into_iter().map(EvidenceData::from));)+
            examples
        }
    };
}

checks! {
    readable::Readable,
    invariance::Invariance,
    clocksource::Clocksource,
    kernel_verdict::KernelVerdict,
    hypervisor::Hypervisor,
    emulation::Emulation,
    steps_back::StepsBack,
    stuck::Stuck,
    jumps::Jumps,
    order::Order,
    offsets::Offsets,
    constant_rate::ConstantRate,
    rate::Rate,
    nominal_frequency::NominalFrequency,
    cost::Cost,
    resolution::Resolution,
    synchronization::Synchronization,
    paths::Paths,
    counter::Counter,
}

/// Words a reason, if there is one.
fn or_reason(reason: Option<&Unknown>, otherwise: &str) -> String {
    reason.map_or_else(|| otherwise.to_owned(), Unknown::to_string)
}
