//! Reasons why a recording gives no answer.

/// Most clocks that are taken from a recording: each needs 0.1 MB however little was recorded of
/// it.
pub(super) const MAX_CLOCKS: usize = 1000;
/// Largest step or resolution that is taken from a recording, in ns: 1000 s.
pub(super) const MAX_STEP_NS: f64 = 1e12;
/// Frequencies that are taken from a recording, in Hz.
pub(super) const FREQUENCIES_HZ: [f64; 2] = [1e-3, 1e15];

/// Reason why a recording gives no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the recording is damaged: {fault}: {}, or record again with `clockscope steps --raw FILE.json`", self.remedy())]
pub struct ReplayError {
    /// The fault.
    pub fault: RecordingFault,
    /// Version of the program that recorded it.
    pub recorded_by: String,
}

impl ReplayError {
    /// Another version may have written keys or words that this one does not know.
    fn remedy(&self) -> String {
        match (env!("CARGO_PKG_VERSION"), &self.recorded_by) {
            (own, by) if own == by => "get an undamaged copy".to_owned(),
            (own, by) => format!("report it with clockscope {by}, which recorded it (this is {own})"),
        }
    }
}

/// Fault of a recording: no run gives it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingFault {
    /// It was changed.
    #[error("its checksum is another one")]
    Checksum,
    /// It has too many clocks.
    #[error("it has {count} clocks, expected {MAX_CLOCKS} at most")]
    TooMany {
        /// Their number.
        count: usize,
    },
    /// A batch has neither readings nor an error.
    #[error("{clock}: a batch has neither readings nor an error")]
    EmptyBatch {
        /// The clock.
        clock: String,
    },
    /// No clock steps so.
    #[error("a clock steps by {ns} ns, expected 0 to {MAX_STEP_NS}")]
    Step {
        /// The step.
        ns: f64,
    },
    /// No clock counts so.
    #[error("a clock counts at {hz} Hz, expected {} to {}", FREQUENCIES_HZ[0], FREQUENCIES_HZ[1])]
    Frequency {
        /// The frequency.
        hz: f64,
    },
    /// No frequency is off by so much.
    #[error("a frequency is off by {ppm} ppm, expected 0 or more")]
    Bound {
        /// The bound.
        ppm: f64,
    },
}
