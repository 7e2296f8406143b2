//! A run of `clockscope steps` with everything that it read, from which its answer can be computed
//! again.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::reason::{OTHER, coded};
use crate::{ClockIdentity, Environment, Failure, ReadError, SCHEMA_VERSION, Unknown};

/// The key `schema` of a recording.
const SCHEMA: &str = "clockscope.recording";

/// One recorded run of `clockscope steps`. `clockscope replay` computes its answer again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "schema", rename = "clockscope.recording")]
pub struct Recording {
    /// Version of this document's schema.
    pub schema_version: u32,
    /// CRC-32 (as in zlib) of `recorded` as it is written: JSON without spaces, and without the
    /// sentences of reasons.
    pub checksum: u32,
    /// The run.
    pub recorded: RecordedRun,
}

/// Everything that a run learned from its machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRun {
    /// The machine.
    #[serde(serialize_with = "without_sentences")]
    pub environment: Environment,
    /// Civil time at the start, in seconds since 1970; `null` where no wall clock could be read.
    pub unix_seconds: Option<u64>,
    /// Reads of each clock that the user asked for.
    pub reads_asked: u64,
    /// `true` when the user interrupted the run: the last batch may be short, and clocks after it
    /// have none.
    pub interrupted: bool,
    /// CPU that the measuring thread was to be pinned to; `null` where the system does not report
    /// it.
    pub cpu: Option<u32>,
    /// Reason why the thread could not be pinned; `null` when it was.
    pub not_pinned: Option<String>,
    /// Outcomes of all trial reads, a list for each time that some were made, in that order.
    pub child_reads: Vec<Vec<RecordedChildRead>>,
    /// The processor's counter in all its reading sequences.
    pub counters: Vec<RecordedCounter>,
    /// The counter's ordered read; `null` where there is none.
    pub ordered_counter: Option<RecordedReference>,
    /// Clocks that others could be judged against, the best first. The first that answered has
    /// readings.
    pub references: Vec<RecordedReference>,
    /// One record per clock and path, in the order of the catalog.
    pub clocks: Vec<RecordedClock>,
}

/// The outcome of one trial read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordedChildRead {
    /// It succeeded.
    Answered,
    /// It failed.
    Failed {
        /// The failure.
        failure: Failure,
        /// The error.
        #[serde(serialize_with = "coded::serialize")]
        error: Unknown,
    },
    /// It ended its process by the signal of this number.
    Killed(i32),
    /// It did not return in time.
    Silent,
    /// It was not made, for this reason.
    Untried(String),
}

/// A reading sequence of the processor's counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedCounter {
    /// Its name.
    pub name: String,
    /// Reason why there is none, in the words of its description; `null` when there is. No answer
    /// depends on them.
    pub reason: Option<String>,
}

/// A clock that others were timed with or judged against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedReference {
    /// Its name.
    pub name: String,
    /// Its step, in ns; 0 for one that is finer than what it judges.
    pub tick_ns: f64,
    /// All its readings outside of child_reads, in its unit, in the order in which they were made.
    /// Each is the difference from the one before it, and the first from 0, modulo 2^64. A read
    /// that failed is the reading 0.
    pub readings: Vec<i64>,
}

/// A clock that was to be read, with its readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedClock {
    /// Its name, kind and path.
    pub identity: ClockIdentity,
    /// Unit of the readings.
    pub unit: RecordedUnit,
    /// The resolution that its interface states.
    pub resolution: RecordedResolution,
    /// Reason why it could not be read, where that was known before the trial; `null` otherwise.
    #[serde(serialize_with = "coded::serialize_option")]
    pub reason: Option<Unknown>,
    /// The failure at that time; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Its batches, in the order in which they were read.
    pub batches: Vec<RecordedBatch>,
    /// The readings of the last batch, in the clock's unit. Each is the difference from the one
    /// before it, and the first from 0, modulo 2^64. The other batches only warm up: nothing is
    /// computed from their readings.
    pub readings: Vec<i64>,
}

/// The unit of a clock's readings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordedUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Counts of this frequency, in Hz; `null` where the hardware does not state it.
    Counts(Option<f64>),
}

/// The resolution that a clock's interface states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordedResolution {
    /// In ns.
    Nanoseconds(f64),
    /// One count of a counter, whose length has to be measured.
    OneCount,
    /// None, for this reason.
    Unknown(String),
}

/// One batch of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedBatch {
    /// Readings that were delivered.
    pub delivered: u64,
    /// Error number of the read that ended the batch early; `null` when none did.
    pub error: Option<i32>,
}

impl Recording {
    /// Returns the recording of a run, with its checksum.
    #[must_use]
    pub fn new(recorded: RecordedRun) -> Self {
        Self { schema_version: SCHEMA_VERSION, checksum: checksum(&recorded), recorded }
    }

    /// Reads a recording from its JSON text. Does not compare the checksum.
    ///
    /// # Errors
    /// [`ReadError::NoRecording`] for anything else than a recording, [`ReadError::CutOff`] for a
    /// part of one, [`ReadError::OtherDocument`] for a document of another schema,
    /// [`ReadError::Version`] when the version is another one, [`ReadError::Malformed`] for a
    /// recording that lacks something.
    pub fn from_json(text: &[u8]) -> Result<Self, ReadError> {
        /// The head of a recording: its mark, and its version.
        #[derive(Deserialize)]
        struct RecordingHead {
            schema: String,
            schema_version: u32,
        }
        let head: RecordingHead =
            serde_json::from_slice(text).map_err(|error| match error.is_eof() && !text.is_empty() {
                true => ReadError::CutOff(error),
                false => ReadError::NoRecording(error),
            })?;
        if head.schema != SCHEMA {
            return Err(ReadError::OtherDocument(head.schema));
        }
        if head.schema_version != SCHEMA_VERSION {
            return Err(ReadError::Version { found: head.schema_version });
        }
        Ok(serde_json::from_slice(text)?)
    }

    /// Returns whether the run is the one that the checksum was computed from.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        checksum(&self.recorded) == self.checksum
    }
}

/// Writes the machine without the sentences of its reasons, which a later program may word
/// otherwise.
fn without_sentences<S: Serializer>(environment: &Environment, serializer: S) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(environment).map_err(S::Error::custom)?;
    if let Some(reasons) = value["unknown"].as_object_mut() {
        reasons.values_mut().for_each(remove_sentences);
    }
    value.serialize(serializer)
}

fn remove_sentences(reason: &mut Value) {
    match reason {
        Value::Object(keys) => {
            // The sentence of a reason without a code of its own is data.
            if keys.get("code").is_some_and(|code| code != OTHER) {
                keys.remove("text");
            }
            keys.values_mut().for_each(remove_sentences);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_sentences),
        _ => {}
    }
}

/// CRC-32 of the run's JSON.
fn checksum(run: &RecordedRun) -> u32 {
    let mut crc = Crc::default();
    // It cannot fail: all keys are texts, and the sum takes every byte.
    let _ = serde_json::to_writer(&mut crc, run);
    crc.0.finalize()
}

/// CRC-32 of what is written to it.
#[derive(Default)]
struct Crc(crc32fast::Hasher);

impl Write for Crc {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ReadingsReason;

    /// The sum is of the run without sentences.
    #[test]
    fn a_recording_is_intact_and_a_changed_one_is_not() {
        let flags = json!({
            "is_ordered": false, "is_coarse": false, "is_wall": false, "is_cpu_time": false, "is_steered": false,
            "counts_suspend": true, "is_device": false, "is_usual": false, "is_wrapper": false,
        });
        let mut identity = json!({
            "name": "tsc", "aliases": [], "kind": "counter", "path": "instruction", "description": "RDTSC",
            "basis": "counter", "counter_based": true,
        });
        identity.as_object_mut().unwrap().extend(flags.as_object().unwrap().clone());
        let few = ReadingsReason::FewRuns { fewest: 6 };
        let run = RecordedRun {
            environment: Environment { governor: crate::Figure::unknown(few.clone()), ..Environment::default() },
            unix_seconds: Some(1),
            reads_asked: 1,
            interrupted: false,
            cpu: None,
            not_pinned: None,
            child_reads: Vec::new(),
            counters: Vec::new(),
            ordered_counter: None,
            references: Vec::new(),
            clocks: vec![RecordedClock {
                identity: serde_json::from_value(identity).unwrap(),
                unit: RecordedUnit::Counts(None),
                resolution: RecordedResolution::OneCount,
                reason: Some(few.into()),
                failure: None,
                batches: Vec::new(),
                readings: vec![1],
            }],
        };
        let text = serde_json::to_string(&Recording::new(run.clone())).unwrap();
        assert!(!text.contains("\"text\":") && text.contains("\"code\":"), "{text}");
        let mut read = Recording::from_json(text.as_bytes()).unwrap();
        assert_eq!(read.recorded, run);
        assert!(read.is_intact());
        read.recorded.clocks[0].readings = vec![2];
        assert!(!read.is_intact());
    }

    #[test]
    fn the_checksum_is_crc_32() {
        let mut crc = Crc::default();
        crc.write_all(b"123456789").unwrap();
        assert_eq!(crc.0.finalize(), 0xcbf4_3926);
    }
}
