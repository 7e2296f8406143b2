//! Why a figure is unknown: a code for programs, with what its sentence needs. clockscope-report
//! makes the sentences.

mod across;
mod advice;
mod clock;
mod machine;
mod rates;
mod readings;
mod synchronization;
mod tick;
mod windows;

pub use across::{CpuLimit, CpusReason, PairsReason, ThreadReason};
pub use advice::AdviceReason;
pub use clock::{ClockReason, ErrorCause, SignalMeaning, SystemError, UnreadableClock};
pub use machine::{ClocksourceReason, MachineReason};
pub use rates::{ComparisonReason, RateReason};
pub use readings::ReadingsReason;
pub use synchronization::SynchronizationReason;
pub use tick::TickReason;
pub use windows::WindowsReason;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Unnamed;

/// The key of a reason's code.
const CODE: &str = "code";

/// Why a figure is unknown, and the sentence beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Why.
    pub reason: UnknownReason,
    /// The same for people: clockscope makes it whenever it writes a document, and ignores it when
    /// it reads one.
    pub text: Option<String>,
}

/// Makes [`UnknownReason`] of its groups, one for each subject.
macro_rules! reasons {
    ($($(#[$about:meta])* $group:ident($type:ident),)+) => {
        /// Why a figure is unknown, by subject. In JSON, all of them have a `code` of their own.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(untagged)]
                pub enum UnknownReason {
            $($(#[$about])* $group($type),)+
            /// The sentence of an older program, which is written again as it was.
            #[schemars(skip)]
            Sentence(Cow<'static, str>),
            /// A reason of a later program, which this one does not know, in the words of that
            /// program.
            #[serde(deserialize_with = "unnamed")]
            Unnamed(Unnamed),
        }

        $(impl From<$type> for Unknown {
            fn from(reason: $type) -> Self {
                Self { reason: UnknownReason::$group(reason), text: None }
            }
        })+
    };
}

reasons! {
    /// A clock that cannot be read or compared, or whose readings ended.
    Clock(ClockReason),
    /// The readings of one clock.
    Readings(ReadingsReason),
    /// A clock's tick.
    Tick(TickReason),
    /// A rate.
    Rate(RateReason),
    /// Two clocks beside each other.
    Comparison(ComparisonReason),
    /// All pairs of CPUs.
    Pairs(PairsReason),
    /// A pair of CPUs, or a clock that is handed from CPU to CPU.
    Cpus(CpusReason),
    /// A thread and its time.
    Thread(ThreadReason),
    /// The machine.
    Machine(MachineReason),
    /// A clocksource.
    Clocksource(ClocksourceReason),
    /// Windows.
    Windows(WindowsReason),
    /// What keeps civil time.
    Synchronization(SynchronizationReason),
    /// Advice on intervals.
    Advice(AdviceReason),
}

fn unnamed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Unnamed, D::Error> {
    Unnamed::read(deserializer, CODE)
}

/// The reason of a figure that is `null` without one. It is not written.
const UNRECORDED: &str = "no reason was recorded";

impl Unknown {
    /// Returns a reason that is a sentence, as older records have it.
    pub fn sentence(text: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: UnknownReason::Sentence(text.into()), text: None }
    }

    /// Returns the reason of a figure whose record has none.
    #[must_use]
    pub fn unrecorded() -> Self {
        Self::sentence(UNRECORDED)
    }

    /// Returns whether the record has a reason.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        !matches!(&self.reason, UnknownReason::Sentence(text) if text == UNRECORDED)
    }
}

/// Writes the sentence beside the code, into the same object.
impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Worded<'a> {
            #[serde(flatten)]
            reason: &'a UnknownReason,
            text: &'a str,
        }
        match (&self.reason, &self.text) {
            // Both have their words already.
            (UnknownReason::Sentence(_) | UnknownReason::Unnamed(_), _) | (_, None) => {
                self.reason.serialize(serializer)
            }
            (reason, Some(text)) => Worded { reason, text }.serialize(serializer),
        }
    }
}

/// Reads from a value: groups are tried one after the other.
impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        // serde would take a number for the place of a variant.
        if !value.is_string() && !value[CODE].is_string() {
            return Err(Error::custom(format!("there is no \"{CODE}\"")));
        }
        Ok(Self { reason: UnknownReason::deserialize(&value).map_err(Error::custom)?, text: None })
    }
}

impl JsonSchema for Unknown {
    fn schema_name() -> Cow<'static, str> {
        "Unknown".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let reason = generator.subschema_for::<UnknownReason>();
        let text = "The same for people; only in documents, and ignored when one is read.";
        json_schema!({
            "description": "Why a figure is unknown.",
            "anyOf": [
                { "allOf": [reason], "properties": { "text": { "type": "string", "description": text } } },
                { "type": "string", "description": "The sentence of an older program." },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;
    use serde_json::json;

    use super::*;
    use crate::Failure;

    /// All codes of a schema: the only constants in it.
    fn codes(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(keys) => {
                found.extend(keys.get("const").and_then(Value::as_str).map(str::to_owned));
                keys.values().for_each(|value| codes(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| codes(value, found)),
            _ => {}
        }
    }

    /// Two groups with one code would read each other's reasons.
    #[test]
    fn each_reason_has_a_code_of_its_own() {
        let mut found = Vec::new();
        let mut schema = schema_for!(UnknownReason).to_value();
        // Words of `failure` are constants, too, and no codes.
        schema["$defs"].as_object_mut().unwrap().retain(|name, _| name.ends_with("Reason"));
        codes(&schema, &mut found);
        let different: BTreeSet<&String> = found.iter().collect();
        assert!(found.len() > 100 && different.len() == found.len(), "{found:?}");
        assert!(found.iter().any(|code| code == "few_batches") && found.iter().any(|code| code == "not_stated"));
    }

    fn read(value: &Value) -> Option<Unknown> {
        serde_json::from_value(value.clone()).ok()
    }

    #[test]
    fn reasons_are_read_as_they_are_written() {
        let killed = ClockReason::TrialKilled { signal: "SIGSYS".to_owned(), meaning: SignalMeaning::DeniedCall };
        let failed = ReadingsReason::ClockFailed { failure: Some(Failure::Killed), because: Box::new(killed.into()) };
        let because = Box::new(Unknown::from(failed));
        let reasons: [(Unknown, Value); 4] = [
            (TickReason::FewSteps.into(), json!({ "code": "few_steps" })),
            (WindowsReason::NotStated.into(), json!({ "code": "not_stated" })),
            (ReadingsReason::FewBatches { fewest: 48 }.into(), json!({ "code": "few_batches", "fewest": 48 })),
            (
                CpusReason::OfPair { a: 0, b: 3, because }.into(),
                json!({
                    "code": "of_pair", "a": 0, "b": 3,
                    "because": {
                        "code": "clock_failed", "failure": "killed",
                        "because": { "code": "trial_killed", "signal": "SIGSYS", "meaning": "denied_call" },
                    },
                }),
            ),
        ];
        for (reason, written) in reasons {
            assert_eq!(serde_json::to_value(&reason).unwrap(), written);
            assert_eq!(read(&written), Some(reason.clone()));
            let worded = Unknown { text: Some("so".to_owned()), ..reason.clone() };
            let mut with_text = written;
            with_text["text"] = "so".into();
            assert_eq!(serde_json::to_value(&worded).unwrap(), with_text);
            assert_eq!(read(&with_text), Some(reason), "words are made anew");
        }
    }

    #[test]
    fn what_earlier_and_later_programs_wrote_is_kept() {
        for written in [
            json!("its value changed fewer than three times"),
            json!({ "code": "eclipse", "text": "the sun was hidden", "minutes": 4 }),
            // A code that this program knows, with other data.
            json!({ "code": "few_batches", "text": "few" }),
        ] {
            let kept = read(&written).unwrap();
            assert!(matches!(kept.reason, UnknownReason::Sentence(_) | UnknownReason::Unnamed(_)), "{kept:?}");
            assert_eq!(serde_json::to_value(Unknown { text: Some("so".to_owned()), ..kept }).unwrap(), written);
        }
        // The word of a later program for what failed.
        let later = json!({ "code": "clock_failed", "failure": "melted", "words": "it melted" });
        let melted =
            |failure| ReadingsReason::ClockFailed { failure, because: Box::new(Unknown::sentence("it melted")) };
        assert_eq!(read(&later), Some(melted(None).into()));
        // An older program wrote a sentence where there are data now.
        let older = json!({ "code": "clock_failed", "failure": "denied", "words": "it melted" });
        assert_eq!(read(&older), Some(melted(Some(Failure::Denied)).into()));
        let cause = json!({ "number": 1, "cause": "eclipse", "words": "it was dark" });
        let error: SystemError = serde_json::from_value(cause).unwrap();
        assert_eq!(error.cause, ErrorCause::Other, "the word of a later program");
        for odd in [json!(null), json!(1), json!([]), json!({}), json!({ "text": "so" }), json!({ "code": 1 })] {
            assert_eq!(read(&odd), None, "{odd}");
        }
    }
}
