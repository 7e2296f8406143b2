//! The documents that are written and read back: their table, and modules for their contents.

mod advise;
mod check;
mod clocksource;
mod compare;
mod fleet;
mod gaps;
mod info;
mod list;
mod measure;
mod offsets;
mod order;
mod rate;
mod runtimes;
mod shootout;
mod sleep;
mod steps;
mod time_bounds;

pub use advise::{Advice, AdviceRow, Candidate, LeftOut, LeftOutCause, Recommendation, ScaleSource, TickIs};
pub use check::{Check, Verdict};
pub use clocksource::{Clocksource, Clocksources, LeftBehind, Switched, SwitchedBy};
pub use compare::{
    AppearedEvents, Bounds, ChangedFact, ClockComparison, ComparedFact, ComparedSide, ComparedVerdict, Comparison,
    ComparisonBasis, CostChange, FactValue, FaultKind, MachineComparison, Undecided,
};
pub use fleet::{Fleet, FleetAnswer, FleetValue};
pub use gaps::{Cause, CauseKind, CpuGaps, GapCounts, Gaps, InterruptCount, WorstGap};
pub use info::{Info, TimeAdjustment, WindowsFacts};
pub use list::{AllClocks, Listed, Listing, SystemClock};
pub use measure::{
    Baseline, BetweenRuns, ClockIdentity, ClockRecord, Cost, Events, Extended, FastestCounter, Measurement, Monotonic,
    Run, TimerRecord,
};
pub use offsets::{CpuOffset, OffsetPair, Offsets};
pub use order::{HandoffPair, Handoffs, LostPair, Order, Sequence, StoreOrder, StoreRoundCounts, Stores};
pub use rate::{Adjtimex, Allan, Changed, Mtie, Rate, RatePair, RateRecord, Step};
pub use runtimes::{
    ComparedApi, MovedBy, RuntimeFailure, RuntimeFound, RuntimeRecord, Runtimes, RuntimesFound, SurprisingApi,
    SurprisingFact,
};
pub use shootout::{Agreement, Metric, MetricKind, Shootout, Winner};
pub use sleep::{Sleep, SleepRow};
pub use steps::{Bin, DifferenceRecord, Mode, Steps, StepsRecord, Worst, WorstEvent};
pub use time_bounds::{TimeBounds, TimeInterval, TimeOfDay};

use serde::{Deserialize, Serialize};

use crate::read_error::{self, without_mark};
use crate::{Contents, Envelope, Environment, FileKind, ReadError, SCHEMA_VERSION};

/// Declares the documents: the variant of each, its contents, its key `schema`, and whether its
/// head has a run.
macro_rules! documents {
    ($dollar:tt $(
        $(#[$doc:meta])*
        $variant:ident($contents:ident) = $schema:tt, is_run = $is_run:tt, has_charts = $has_charts:tt;
    )*) => {
        /// Everything that the instrument writes as JSON. The key `schema` names the document.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(tag = "schema")]
        #[allow(clippy::large_enum_variant, reason = "one document exists at a time")]
        pub enum Document {
            $($(#[$doc])* #[serde(rename = $schema)] $variant(Envelope<$contents>),)*
        }

        $(impl Contents for $contents {
            const IS_RUN: bool = $is_run;
        })*

        $(impl From<Envelope<$contents>> for Document {
            fn from(envelope: Envelope<$contents>) -> Self {
                Self::$variant(envelope)
            }
        })*

        impl Document {
            /// All kinds of documents, in the order of this type.
            pub const KINDS: &[DocumentKind] =
                &[$(DocumentKind { schema: $schema, is_run: $is_run, has_charts: $has_charts },)*];

            /// Returns the machine that the document describes.
            #[must_use]
            pub fn environment(&self) -> &Environment {
                match self {
                    $(Self::$variant(envelope) => &envelope.environment,)*
                }
            }

            /// Returns the key `schema`, which names the document: `clockscope.measure`.
            #[must_use]
            pub const fn schema(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $schema,)*
                }
            }

            /// Returns when it was made (RFC 3339), if a wall clock could be read.
            #[must_use]
            pub fn recorded_at(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(envelope) => envelope.recorded_at.as_deref(),)*
                }
            }
        }

        /// Evaluates an expression with the envelope of a document, whichever it is:
        /// `with_envelope!(&document, envelope => envelope.is_interrupted())`.
        #[macro_export]
        macro_rules! with_envelope {
            ($dollar document:expr, $dollar envelope:ident => $dollar do:expr) => {
                match $dollar document {
                    $($dollar crate::Document::$variant($dollar envelope) => $dollar do,)*
                }
            };
        }
    };
}

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentKind {
    /// The key `schema`: `clockscope.measure`.
    pub schema: &'static str,
    /// True if it is the result of a run, and has facts of that.
    pub is_run: bool,
    /// True if reports of it can have charts.
    pub has_charts: bool,
}

documents! {
    $
    /// The result of `clockscope measure`.
    Measurement(Measurement) = "clockscope.measure", is_run = true, has_charts = true;
    /// The result of `clockscope steps`.
    Steps(Steps) = "clockscope.steps", is_run = true, has_charts = true;
    /// The result of `clockscope advise`.
    Advice(Advice) = "clockscope.advise", is_run = false, has_charts = false;
    /// The result of `clockscope order`.
    Order(Order) = "clockscope.order", is_run = true, has_charts = false;
    /// The result of `clockscope order --offsets`.
    Offsets(Offsets) = "clockscope.offsets", is_run = true, has_charts = false;
    /// The result of `clockscope rate`.
    Rate(Rate) = "clockscope.rate", is_run = true, has_charts = true;
    /// The result of `clockscope gaps`.
    Gaps(Gaps) = "clockscope.gaps", is_run = true, has_charts = true;
    /// The result of `clockscope sleep`.
    Sleep(Sleep) = "clockscope.sleep", is_run = true, has_charts = true;
    /// The result of `clockscope check`.
    Check(Check) = "clockscope.check", is_run = true, has_charts = true;
    /// The comparison of two clocks by `clockscope compare`.
    Shootout(Shootout) = "clockscope.shootout", is_run = true, has_charts = false;
    /// The result of `clockscope compare`.
    Comparison(Comparison) = "clockscope.compare", is_run = false, has_charts = true;
    /// The result of `clockscope clocksource`.
    Clocksources(Clocksources) = "clockscope.clocksource", is_run = false, has_charts = false;
    /// The result of `clockscope measure --clocksource`.
    Switched(Switched) = "clockscope.switched", is_run = false, has_charts = true;
    /// The result of `clockscope runtimes`.
    Runtimes(Runtimes) = "clockscope.runtimes", is_run = false, has_charts = true;
    /// The result of `clockscope runtimes --list`.
    RuntimesFound(RuntimesFound) = "clockscope.runtimes_found", is_run = false, has_charts = false;
    /// The result of `clockscope list`.
    Listing(Listing) = "clockscope.list", is_run = false, has_charts = false;
    /// The result of `clockscope list --all-platforms`.
    AllClocks(AllClocks) = "clockscope.all_clocks", is_run = false, has_charts = false;
    /// The result of `clockscope bounds`.
    TimeBounds(TimeBounds) = "clockscope.bounds", is_run = false, has_charts = false;
    /// The result of `clockscope info`.
    Info(Info) = "clockscope.info", is_run = false, has_charts = false;
    /// The result of `clockscope-fleet report`.
    Fleet(Fleet) = "clockscope.fleet", is_run = false, has_charts = true;
}

impl Document {
    /// Reads a document from its JSON text.
    ///
    /// # Errors
    /// [`ReadError`]: says what the text is instead, or where it is damaged.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        Self::from_bytes(text.as_bytes())
    }

    /// Reads a document from a file's bytes.
    ///
    /// # Errors
    /// [`ReadError`]: says what the file is instead, or where it is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let bytes = without_mark(bytes);
        let document: Self = serde_json::from_slice(bytes)
            .map_err(|fault| read_error::diagnosed(bytes, FileKind::Record, &fault.to_string()))?;
        match with_envelope!(&document, envelope => envelope.schema_version) {
            SCHEMA_VERSION => Ok(document),
            found => Err(ReadError::Version { found: found.into() }),
        }
    }
}
