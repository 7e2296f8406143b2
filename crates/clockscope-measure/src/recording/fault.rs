//! Reasons why a recording gives no answer.

use crate::error::MeasureError;

/// Most clocks that are taken from a recording: each needs 0.1 MB however little was recorded of
/// it.
pub(super) const MOST_CLOCKS: usize = 1000;
/// The last second that a time stamp has, since 1970: of the year 9999.
pub(super) const LAST_SECOND: u64 = 253_402_300_799;
/// Largest step or resolution that is taken from a recording, in ns: 1000 s.
pub(super) const LONGEST_NS: f64 = 1e12;
/// Frequencies that are taken from a recording, in Hz.
pub(super) const FREQUENCIES_HZ: [f64; 2] = [1e-3, 1e15];

/// Fault of a recording: no run gives it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingFault {
    /// It was changed.
    #[error("its checksum is another one")]
    Checksum,
    /// It has too many clocks or counters.
    #[error("it has {count} {what}, expected {MOST_CLOCKS} at most")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// Their number.
        count: usize,
    },
    /// It was made after the last second that a time stamp has.
    #[error("it was made {seconds} s after 1970, expected {LAST_SECOND} at most")]
    Date {
        /// Seconds since 1970.
        seconds: u64,
    },
    /// A batch has neither readings nor an error.
    #[error("{clock}: a batch has neither readings nor an error")]
    EmptyBatch {
        /// The clock.
        clock: String,
    },
    /// The last batch of a clock does not have as many readings as it delivered.
    #[error("{clock}: the last batch has {delivered} readings, and {recorded} are there")]
    Readings {
        /// The clock.
        clock: String,
        /// Readings that were delivered.
        delivered: u64,
        /// Readings that are there.
        recorded: usize,
    },
    /// No clock steps so.
    #[error("a clock steps by {ns} ns, expected 0 to {LONGEST_NS}")]
    Step {
        /// The step.
        ns: f64,
    },
    /// A clock that could not be read has a reason and a failure.
    #[error("{clock}: has one of reason and failure without the other")]
    HalfRefused {
        /// The clock.
        clock: String,
    },
    /// No clock counts so.
    #[error("a clock counts at {hz} Hz, expected {} to {}", FREQUENCIES_HZ[0], FREQUENCIES_HZ[1])]
    Frequency {
        /// The frequency.
        hz: f64,
    },
}

/// Part that this program reads otherwise than the one that recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayMismatch {
    /// Another version wrote keys or words that this one does not know, or the recording was
    /// changed.
    #[error("its checksum is not that of what this program reads in it")]
    Checksum,
    /// The question has no answer.
    #[error(transparent)]
    Unanswered(#[from] MeasureError),
    /// Lists of trial reads that were not asked for.
    #[error("{0} lists of trial reads are left over")]
    ChildReadsLeft(usize),
    /// Another number of trial reads.
    #[error("{recorded} trial reads were recorded, {needed} are needed")]
    ChildReads {
        /// Those that are there.
        recorded: usize,
        /// Those that are needed.
        needed: usize,
    },
    /// Batches that were not asked for.
    #[error("{0} batches of readings are left over")]
    BatchesLeft(usize),
    /// A batch that is not there.
    #[error("{clock}: another batch of {reads} reads is needed")]
    NoBatch {
        /// The clock.
        clock: String,
        /// The batch's reads.
        reads: usize,
    },
    /// A batch of another length.
    #[error("{clock}: a batch has {delivered} readings, {reads} are needed")]
    Batch {
        /// The clock.
        clock: String,
        /// Readings that are there.
        delivered: u64,
        /// Those that are needed.
        reads: usize,
    },
    /// Another number of readings of a clock.
    #[error("{clock}: {recorded} readings were recorded, {needed} are needed")]
    Readings {
        /// The clock.
        clock: String,
        /// Those that are there.
        recorded: usize,
        /// Those that are needed.
        needed: usize,
    },
}
