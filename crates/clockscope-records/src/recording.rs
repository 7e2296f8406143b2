//! A run of `clockscope steps` with everything that it read, from which its answer can be computed
//! again.

mod differences;

use std::borrow::Cow;
use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::figure::{BESIDE, put_beside, put_in_place};
use crate::read_error::{self, without_mark};
use crate::reason::{OTHER, coded};
use crate::typed::read;
use crate::{ClockIdentity, ClockKind, Environment, FileKind, ReadError, Run, SCHEMA_VERSION, Unknown};

/// One recorded run of `clockscope steps`. `clockscope report` computes its answer again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// Everything that the answer to a run is computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordedRun {
    /// The machine.
    #[serde(serialize_with = "without_sentences", deserialize_with = "explained")]
    pub environment: Environment,
    /// The time of day at the start, RFC 3339 in UTC; `null` where no wall clock could be read.
    pub recorded_at: Option<String>,
    /// The run: amount of reads, duration, CPU.
    #[serde(serialize_with = "without_sentences", deserialize_with = "explained")]
    pub run: Run,
    /// The timer of its batches.
    pub timer: RecordedTimer,
    /// One record per clock and path, in the order of the catalog.
    pub clocks: Vec<RecordedClock>,
}

/// The timer of a run's batches, and the reference that its rate is by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordedTimer {
    /// Its name.
    pub name: String,
    /// `true` for the processor's counter; `false` where no counter may be read, and the reference
    /// is the timer.
    pub is_counter: bool,
    /// The step that it states, in ns; 0 for one that is finer than what it times.
    pub tick_ns: f64,
    /// The step that it moves in, in its unit, as far as that is known.
    pub step: f64,
    /// Largest cost of a call, in its unit; 0 for a counter, whose reads cost next to nothing
    /// beside a batch.
    pub call: f64,
    /// Reading that all its times are relative to.
    pub origin: u64,
    /// Its rate at the start.
    pub first_rate: TimerRate,
    /// Its mean rate over the run; `null` if it or the reference stood still, stepped or changed
    /// its rate.
    pub mean_rate: Option<TimerRate>,
    /// Name of the reference.
    pub reference: String,
    /// The step of the reference, in ns: the one that it states, or a longer one that its readings
    /// showed at the start.
    pub reference_tick_ns: f64,
    /// Reading of the reference that its times are relative to.
    pub reference_origin: u64,
    /// By what share the kernel states that the clocks that it steers run faster than the
    /// reference; 0 where it steers that as well, or does not state it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub steering: f64,
}

/// Recordings that have no steering keep their checksum.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_none(steering: &f64) -> bool {
    *steering == 0.0
}

/// The rate of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimerRate {
    /// Length of its unit, in ns.
    pub ns_per_unit: f64,
    /// By how much the frequency may be off, in ppm.
    pub bound_ppm: f64,
}

/// A clock that was to be read, with its readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordedClock {
    /// Its name, kind and path.
    #[serde(serialize_with = "without_sentences", deserialize_with = "explained")]
    pub identity: ClockIdentity,
    /// Unit of the readings.
    pub unit: Unit,
    /// The resolution that its interface states.
    pub resolution: Resolution,
    /// Reason why it was not read; `null` if it was.
    #[serde(serialize_with = "coded")]
    pub reason: Option<Unknown>,
    /// Cost of a read in each batch before these, in ns. Those batches only warm up.
    pub warm_up_ns: Vec<f64>,
    /// Its batches, in the order in which they were read.
    pub batches: Vec<RecordedBatch>,
}

/// The unit of a clock's readings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Counts of this frequency, in Hz; `null` where the hardware does not state it.
    Counts(Option<f64>),
}

/// The resolution that a clock's interface states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// In ns.
    Nanoseconds(f64),
    /// One count of a counter whose frequency is not stated: 1 / frequency, once that was measured.
    OneCount,
    /// None, for this reason.
    Unknown(Cow<'static, str>),
}

/// One batch of reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordedBatch {
    /// The timer before the first and after the last read, in its unit.
    pub timer: [u64; 2],
    /// The reference outside of those, in ns, for a clock that is judged by it; `null` for others.
    pub reference_ns: Option<[u64; 2]>,
    /// The readings, in the clock's unit. Each is written as the difference from the one before it,
    /// and the first as that from 0, modulo 2^64.
    #[serde(with = "differences")]
    #[cfg_attr(test, schemars(with = "Vec<i64>"))]
    pub readings: Vec<u64>,
    /// Error number of the read that ended the batch early; `null` when none did.
    pub error: Option<i32>,
    /// The timer after the readings were checked.
    pub processed_at: u64,
}

impl Unit {
    /// Returns its length in ns, for a clock of this kind, where a count of the processor's counter
    /// takes so long; `None` for one whose length is not fixed.
    #[must_use]
    pub fn length_ns(self, kind: ClockKind, ns_per_count: f64) -> Option<f64> {
        match (self, kind) {
            (Self::Nanoseconds, _) => Some(1.0),
            (Self::Counts(Some(hz)), _) => Some(1e9 / hz),
            (Self::Counts(None), ClockKind::Counter) => Some(ns_per_count),
            (Self::Counts(None), _) => None,
        }
    }
}

impl RecordedTimer {
    /// Returns the rate by which figures are converted: the mean over the run if it is known, else
    /// the rate at the start.
    #[must_use]
    pub fn rate(&self) -> TimerRate {
        self.mean_rate.unwrap_or(self.first_rate)
    }

    /// Returns the time between two readings, in ns, by the rate at the start.
    #[must_use]
    pub fn ns_between(&self, earlier: u64, later: u64) -> f64 {
        later.wrapping_sub(earlier) as i64 as f64 * self.first_rate.ns_per_unit
    }
}

impl Recording {
    /// Returns the recording of a run, with its checksum.
    #[must_use]
    pub fn new(recorded: RecordedRun) -> Self {
        Self { schema_version: SCHEMA_VERSION, checksum: checksum(&recorded), recorded }
    }

    /// Returns true for JSON with the key `schema` of a recording, whatever else it holds.
    #[must_use]
    pub fn is_recording(text: &[u8]) -> bool {
        /// The mark of a recording.
        #[derive(Deserialize)]
        struct Mark {
            schema: String,
        }
        serde_json::from_slice::<Mark>(without_mark(text)).is_ok_and(|mark| mark.schema == read_error::RECORDING)
    }

    /// Reads a recording from its JSON text. Does not compare the checksum.
    ///
    /// # Errors
    /// [`ReadError`]: says what the file is instead, or where it is damaged.
    pub fn from_json(text: &[u8]) -> Result<Self, ReadError> {
        let text = without_mark(text);
        let recording = if Self::is_recording(text) {
            read(&mut serde_json::Deserializer::from_slice(text))
        } else {
            // Only a file without another fault has this one.
            Err(": duplicate key `schema`".to_owned())
        };
        let recording: Self = recording.map_err(|fault| read_error::diagnosed(text, FileKind::Recording, &fault))?;
        match recording.schema_version {
            SCHEMA_VERSION => Ok(recording),
            found => Err(ReadError::Version { found: found.into() }),
        }
    }

    /// Returns whether the run is the one that the checksum was computed from.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        checksum(&self.recorded) == self.checksum
    }
}

/// Writes a record without the sentences of its reasons, which a later program may word otherwise.
fn without_sentences<T: Serialize, S: Serializer>(record: &T, serializer: S) -> Result<S::Ok, S::Error> {
    explained_by_codes(record).map_err(S::Error::custom)?.serialize(serializer)
}

/// Returns the JSON of a record, whose reasons have codes and no sentences.
fn explained_by_codes<T: Serialize>(record: &T) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(record)?;
    put_beside(&mut value);
    explain_by_codes(&mut value);
    Ok(value)
}

fn explain_by_codes(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    for (key, value) in object {
        if key == BESIDE {
            remove_sentences(value);
        } else {
            explain_by_codes(value);
        }
    }
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

/// Reads a record with the reasons beside its figures.
fn explained<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let mut value = Value::deserialize(deserializer)?;
    put_in_place(&mut value).and_then(|()| read(&value)).map_err(serde::de::Error::custom)
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
        let batch =
            RecordedBatch { timer: [1, 2], reference_ns: None, readings: vec![1], error: None, processed_at: 3 };
        let few = ReadingsReason::FewRuns { fewest: 6 };
        let run = RecordedRun {
            environment: Environment { governor: crate::Figure::unknown(few.clone()), ..Environment::default() },
            recorded_at: None,
            run: Run {
                requested_duration_s: None,
                requested_reads: Some(1),
                duration_s: 1.0,
                waited_s: None,
                runs: None,
                cpu: crate::Figure::Known(0),
                timer_period_ns: None,
                timer: crate::TimerRecord {
                    name: "rdtscp".to_owned(),
                    frequency_hz: 1e9,
                    frequency_problem: None,
                    frequency_bound_ppm: 1.0,
                    reference: "monotonic".to_owned(),
                },
                interrupted: false,
            },
            timer: RecordedTimer {
                name: "rdtscp".to_owned(),
                is_counter: true,
                tick_ns: 0.0,
                step: 1.0,
                call: 0.0,
                origin: u64::MAX,
                first_rate: TimerRate { ns_per_unit: 1.0, bound_ppm: 1.0 },
                mean_rate: None,
                reference: "monotonic".to_owned(),
                reference_tick_ns: 1.0,
                steering: 0.0,
                reference_origin: 0,
            },
            clocks: vec![RecordedClock {
                identity: serde_json::from_value(identity).unwrap(),
                unit: Unit::Counts(None),
                resolution: Resolution::OneCount,
                reason: Some(few.into()),
                warm_up_ns: Vec::new(),
                batches: vec![batch],
            }],
        };
        let text = serde_json::to_string(&Recording::new(run.clone())).unwrap();
        assert!(!text.contains("\"text\":") && text.contains("\"code\":"), "{text}");
        let mut read = Recording::from_json(text.as_bytes()).unwrap();
        assert_eq!(read.recorded, run);
        assert!(read.is_intact());
        read.recorded.clocks[0].batches[0].readings = vec![2];
        assert!(!read.is_intact());
    }

    #[test]
    fn the_checksum_is_crc_32() {
        let mut crc = Crc::default();
        crc.write_all(b"123456789").unwrap();
        assert_eq!(crc.0.finalize(), 0xcbf4_3926);
    }
}
