//! Reasons why a figure is unknown. Those that programs act on, or that have data, have a code of
//! their own; all others are a sentence.
//!
//! To add a reason with a code, add a variant and its sentence (`Display`) to the file of its
//! subject in `reason/`, then run `CLOCKSCOPE_SCHEMA=write cargo test -p clockscope-records --lib`.

mod across;
mod clock;
mod rates;
mod readings;
pub mod texts;
mod tick;

pub use across::{CpuLimit, CpusReason, PairsReason};
pub use clock::{ClockReason, ErrorCause, SystemError, UnreadableClock, unavailable_because, with_unreadable};
pub use rates::RateReason;
pub use readings::ReadingsReason;
pub use tick::TickReason;

use std::borrow::Cow;
use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The key of a reason's code.
const CODE: &str = "code";

/// The code of reasons that are a sentence.
pub(crate) const OTHER: &str = "other";

/// A reason that is a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum OtherReason {
    /// A reason that no program acts on.
    Other {
        /// The sentence, without its end.
        text: Cow<'static, str>,
    },
}

impl fmt::Display for OtherReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Other { text } = self;
        f.write_str(text)
    }
}

impl From<&'static str> for Unknown {
    fn from(text: &'static str) -> Self {
        OtherReason::Other { text: text.into() }.into()
    }
}

impl From<String> for Unknown {
    fn from(text: String) -> Self {
        OtherReason::Other { text: text.into() }.into()
    }
}

/// Declares [`Unknown`] of its groups, one for each subject.
macro_rules! reasons {
    ($($(#[$about:meta])* $group:ident($type:ident),)+) => {
        /// Reason why a figure is unknown, by subject. Displays as a sentence without its end. In
        /// JSON, each reason has a `code` of its own, its data, and the sentence as `text`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Unknown", transform = crate::schema::add_text))]
        #[serde(untagged, remote = "Self")]
        pub enum Unknown {
            $($(#[$about])* $group($type),)+
            /// The record has no reason: `null` in JSON.
            #[serde(skip)]
            Unrecorded,
        }

        $(impl From<$type> for Unknown {
            fn from(reason: $type) -> Self {
                Self::$group(reason)
            }
        })+

        impl fmt::Display for Unknown {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$group(reason) => reason.fmt(f),)+
                    Self::Unrecorded => f.write_str("no reason was recorded"),
                }
            }
        }
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
    /// All pairs of CPUs.
    Pairs(PairsReason),
    /// A pair of CPUs, or a clock that is handed from CPU to CPU.
    Cpus(CpusReason),
    /// Anything else.
    Other(OtherReason),
}

/// The code and its data, without the sentence: for recordings, whose checksum no wording may
/// change.
struct Coded<'a>(&'a Unknown);

impl Serialize for Coded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Unknown::Unrecorded => serializer.serialize_none(),
            reason => Unknown::serialize(reason, serializer),
        }
    }
}

/// Writes the code, its data and the sentence into one object.
impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Worded<'a> {
            #[serde(flatten)]
            reason: Coded<'a>,
            text: String,
        }
        match self {
            // The sentence is data.
            Self::Unrecorded | Self::Other(_) => Coded(self).serialize(serializer),
            _ => Worded { reason: Coded(self), text: self.to_string() }.serialize(serializer),
        }
    }
}

/// Writes a reason without its sentence.
pub(crate) fn coded<S: Serializer>(unknown: &Option<Unknown>, serializer: S) -> Result<S::Ok, S::Error> {
    unknown.as_ref().map(Coded).serialize(serializer)
}

/// Reads from a value: groups are tried one after the other.
impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        // serde would take a number for the place of a variant.
        match value[CODE].as_str() {
            None => Err(Error::custom(format!("there is no \"{CODE}\""))),
            Some(code) => Self::deserialize(&value)
                .map_err(|_| Error::custom(format!("the reason \"{code}\" is not known, or lacks data"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;
    use serde_json::json;

    use super::*;

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
        let mut schema = schema_for!(Unknown).to_value();
        // Words of data are constants, too, and no codes.
        schema["$defs"].as_object_mut().unwrap().retain(|name, _| name.ends_with("Reason"));
        codes(&schema, &mut found);
        let different: BTreeSet<&String> = found.iter().collect();
        assert!(found.len() > 40 && different.len() == found.len(), "{found:?}");
        assert!(found.iter().any(|code| code == "few_batches") && found.iter().any(|code| code == "other"));
    }

    fn read(value: &Value) -> Option<Unknown> {
        serde_json::from_value(value.clone()).ok()
    }

    #[test]
    fn reasons_are_read_as_they_are_written() {
        let killed = ClockReason::ChildReadKilled { signal: "SIGSYS".to_owned() };
        let because = Box::new(Unknown::from(killed));
        let reasons: [(Unknown, Value); 4] = [
            (TickReason::FewSteps.into(), json!({ "code": "few_steps" })),
            ("the sun was hidden".into(), json!({ "code": "other", "text": "the sun was hidden" })),
            (ReadingsReason::FewBatches { fewest: 48 }.into(), json!({ "code": "few_batches", "fewest": 48 })),
            (
                CpusReason::OfPair { a: 0, b: 3, because }.into(),
                json!({
                    "code": "of_pair", "a": 0, "b": 3,
                    "because": { "code": "child_read_killed", "signal": "SIGSYS" },
                }),
            ),
        ];
        for (reason, written) in reasons {
            assert_eq!(read(&written), Some(reason.clone()));
            assert_eq!(serde_json::to_value(Coded(&reason)).unwrap()["code"], written["code"]);
            let mut worded = serde_json::to_value(&reason).unwrap();
            assert_eq!(worded["text"], reason.to_string());
            if worded["code"] != "other" {
                worded["text"] = "so".into();
                assert_eq!(read(&worded), Some(reason), "sentences are made anew");
            }
        }
    }

    #[test]
    fn no_reason_is_null() {
        assert_eq!(serde_json::to_value(Unknown::Unrecorded).unwrap(), Value::Null);
        assert_eq!(serde_json::from_value::<Option<Unknown>>(Value::Null).unwrap(), None);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let eclipse = json!({ "code": "eclipse", "text": "the sun was hidden" });
        let why = serde_json::from_value::<Unknown>(eclipse).unwrap_err().to_string();
        assert_eq!(why, "the reason \"eclipse\" is not known, or lacks data");
        for odd in [
            json!({ "code": "few_batches", "text": "few" }),
            json!(null),
            json!(1),
            json!("it was cloudy"),
            json!([]),
            json!({}),
            json!({ "text": "so" }),
            json!({ "code": 1 }),
        ] {
            assert_eq!(read(&odd), None, "{odd}");
        }
    }

    #[test]
    fn figures_of_a_reason_are_in_its_sentence() {
        let because = Box::new(CpusReason::PeerMissing.into());
        for (unknown, sentence) in [
            (ReadingsReason::FewBatches { fewest: 48 }.into(), "fewer than 48 batches: give it more time"),
            (
                TickReason::LikeCost { at_most_ns: 31.2 }.into(),
                "too few readings to separate a tick from the read's own cost: at most 31.200 ns",
            ),
            (
                CpusReason::OfPair { a: 0, b: 3, because }.into(),
                "CPUs 0 and 3: the thread on the other CPU ended before the handoffs",
            ),
            ("the clock did not step".into(), "the clock did not step"),
        ] {
            assert_eq!(Unknown::to_string(&unknown), sentence);
        }
    }

    /// The system's words on a failure are data; the sentence adds the usual cause.
    #[test]
    fn failures_are_worded_with_their_usual_cause() {
        let error = |cause| SystemError { number: 1, cause, words: "no".to_owned() };
        let failed = |cause| ClockReason::ChildReadFailed { error: error(cause) };
        let killed = |signal: &str| ClockReason::ChildReadKilled { signal: signal.to_owned() };
        let words = || "sched_setaffinity: no".to_owned();
        let unreadable = |clock: &str, reason: Unknown| UnreadableClock { clock: clock.to_owned(), reason };
        let several = vec![
            unreadable("tai", failed(ErrorCause::Other).into()),
            unreadable("boottime", ClockReason::ChildReadSilent { after_ms: 200 }.into()),
        ];
        for (unknown, sentence) in [
            (failed(ErrorCause::Denied).into(), "the read failed: no; does a seccomp filter deny the call?"),
            (
                failed(ErrorCause::Unsupported).into(),
                "the read failed: no; the kernel lacks the call, or a seccomp filter hides it",
            ),
            (ClockReason::CallRefused { call: "poll".to_owned(), error: error(ErrorCause::Denied) }.into(), "poll: no"),
            (killed("SIGSYS").into(), "a read raises SIGSYS: a seccomp filter denies the call"),
            (killed("SIGSEGV").into(), "a read raises SIGSEGV"),
            (
                ClockReason::SomeReadsFailed { errors: 3, reads: 9, first: 2, error: error(ErrorCause::Other) }.into(),
                "3 of 9 reads failed; the first, read 2: no",
            ),
            (
                RateReason::ReadsFailed { failed: 3, error: error(ErrorCause::Other) }.into(),
                "3 reads failed; the first: no",
            ),
            (
                CpusReason::BindDenied { cpu: 7, words: words() }.into(),
                "no thread can be bound to CPU 7 (sched_setaffinity: no): does a seccomp filter or a container forbid it?",
            ),
            (
                CpusReason::NotBound { cpu: 7, words: words() }.into(),
                "no thread can be bound to CPU 7 (sched_setaffinity: no): is it online, and in the cpuset?",
            ),
            (
                CpusReason::MovedAway { from: 1, to: 0 }.into(),
                "its thread was moved from CPU 1 to 0: did the CPU go offline, or leave the cpuset?",
            ),
            (
                RateReason::NotMeasured { words: "none answers".to_owned(), unreadable: several }.into(),
                "none answers: tai: the read failed: no; boottime: the read did not return within 200 ms",
            ),
        ] {
            assert_eq!(Unknown::to_string(&unknown), sentence);
        }
    }
}
