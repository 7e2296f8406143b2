//! Defines the results of measurements: plain types with units in their names, and the versioned
//! JSON that they become.
//!
//! This crate measures nothing and computes nothing. It renders only figures with their units
//! ([`units`]), for the sentences in records. Records of this machine and of others are alike. A
//! [`Figure`] is known or has the reason why it is not ([`Unknown`]). An `Option` is `None` where
//! there is nothing to report. Both are `null` in JSON, and the reason of a figure is in the object
//! `unknown` beside it.
//!
//! - [`Envelope`] is every document: version, time, machine, the run if there was one, and the
//!   findings. One table (`documents!` in `documents.rs`) lists the documents; the enum
//!   [`Document`], its reader and [`Document::environment`] follow from it. `documents/` has their
//!   contents, all other files parts of them.
//! - The code that computes a figure makes its value and its reason at once. A record serializes a
//!   reason in its figure's place; [`Envelope`] moves those of a whole document into the objects
//!   `unknown`, and back. [`reasons()`] gives those of a record by their paths.
//! - A reason is a code with the figures of its sentence, in groups by subject (`reason/`). Its
//!   `Display` is the sentence, for tables and for the key `text` of JSON. A clock or a CPU that
//!   failed has a reason as well. Statements of a system or a clock are
//!   data, under the key `words`.
//! - Other texts live with their type, too. `worded!` names the keys and the functions that make
//!   them, so that a record writes its texts beside its data whoever writes it; readers ignore
//!   them. `evidence/checks/` has a file for each check, with its data and its words.

mod after_work;
mod demand;
mod documents;
mod emulator;
mod envelope;
mod environment;
mod evidence;
mod figure;
mod foreign;
mod identity;
mod kernel_verdict;
mod language;
mod language_clock;
mod performance_counter;
mod policy;
mod printable;
mod processor;
mod read_error;
mod reason;
mod recording;
mod schema;
mod summary;
mod synchronization;
mod tick_evidence;
mod typed;
pub mod units;
mod verdict;
mod words;

pub use clockscope_core::counter::FrequencySource;
pub use clockscope_core::{Basis, ClockBasis, ClockKind, Finding, ReadPath, WallState};

pub use after_work::{AfterWork, Work};
pub use demand::{Demand, DemandTarget, DemandValue, Demanded};
pub use documents::*;
pub use emulator::{Emulator, Hypervisor};
pub use envelope::{Contents, Envelope};
pub use environment::{CounterFlags, Environment, Frequencies, Kernel, MoveNotice, MoveNotices, Program};
pub use evidence::{CheckEvidence, EvidenceData, EvidenceKind, checks};
/// A figure, or why it is unknown.
///
/// In JSON, an unknown figure is `null`, and its reason is in the object `unknown` beside it, under
/// the figure's key.
pub use figure::Figure;
pub use figure::reasons;
pub use foreign::Foreign;
pub use identity::Identity;
pub use kernel_verdict::{KernelCause, KernelVerdict, LogFault, WatchdogIntervals};
pub use language::Language;
pub use language_clock::LanguageClock;
pub use performance_counter::{BootCommand, PerformanceCounter};
pub use policy::{ClockDemands, Policy};
pub use printable::{counted, grouped, is_steering, printable, show_cpus};
pub use processor::{Cpu, ProcessorIdentity};
pub use read_error::{FileKind, ReadError};
pub use reason::{
    ClockReason, CpuLimit, CpusReason, ErrorCause, OtherReason, PairsReason, RateReason, ReadingsReason, SystemError,
    TickReason, Unknown, UnreadableClock, texts, unavailable_because, with_unreadable,
};
pub use recording::{RecordedBatch, RecordedClock, RecordedRun, RecordedTimer, Recording, Resolution, TimerRate, Unit};
pub use schema::{DOCUMENT_SCHEMA, POLICY_SCHEMA, RECORDING_SCHEMA, SCHEMA_VERSION, indented};
pub use summary::Summary;
pub use synchronization::{ChronyTracking, PtpClock, Synchronization};
pub use tick_evidence::{ExactTick, Strength, TickEvidence};
pub use typed::reworded;
pub use units::TimeUnit;
pub use verdict::{Trustworthiness, Use, Uses};
