//! What the functions return, as data.

use std::borrow::Cow;
use std::time::Duration;

use clockscope::bounded::{self, State};
use clockscope::{Evidence, Finding, Source};
use clockscope_statistics::{Tick, tick};

/// A value that Python has a type for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Cow<'static, str>),
    Tuple(Vec<Self>),
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No clock of the system answers.
    NoClock,
    /// The library has failed: a fault in it.
    Panicked,
}

impl Value {
    const fn word(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    fn ns(duration: Duration) -> Self {
        Self::Unsigned(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Returns the error bound now, and the largest since the generation began, in ns.
pub(crate) fn error_bound() -> Result<Value, Failure> {
    let bound = clockscope::error_bound().ok_or(Failure::NoClock)?;
    Ok(Value::Tuple(vec![Value::ns(bound.now), Value::ns(bound.largest)]))
}

/// The same of civil time.
pub(crate) fn wall_error_bound() -> Result<Value, Failure> {
    let bound = clockscope::wall::error_bound().ok_or(Failure::NoClock)?;
    Ok(Value::Tuple(vec![Value::ns(bound.now), Value::ns(bound.largest)]))
}

/// Returns what an interval of civil time is worth now, in a word.
pub(crate) fn bounded_state() -> Result<Value, Failure> {
    Ok(Value::word(match bounded::now().state {
        State::Synchronized => "synchronized",
        State::WhileNotSlewing => "while_not_slewing",
        State::LeapSecond => "leap_second",
        State::Slewing => "slewing",
        State::Worthless => "worthless",
        State::Unsynchronized => "unsynchronized",
        _ => "unavailable",
    }))
}

/// Returns where the time comes from, in a word.
pub(crate) fn source() -> Result<Value, Failure> {
    Ok(Value::word(match clockscope::source() {
        Source::Counter => "counter",
        Source::OsClock => "os_clock",
        _ => "nothing",
    }))
}

/// Returns each piece of evidence: name, finding, sentence, value, unit, source, advice.
pub(crate) fn evidence() -> Result<Value, Failure> {
    Ok(Value::Tuple(clockscope::evidence().into_iter().map(piece).collect()))
}

fn piece(evidence: Evidence) -> Value {
    let finding = match evidence.finding {
        Finding::For => "for",
        Finding::Against => "against",
        _ => "unknown",
    };
    let value = match evidence.value {
        Some(clockscope::Value::Number(number)) => Value::Float(number),
        Some(clockscope::Value::Word(word)) => Value::Text(word),
        _ => Value::None,
    };
    Value::Tuple(vec![
        Value::word(evidence.name),
        Value::word(finding),
        Value::Text(evidence.seen),
        value,
        Value::word(evidence.unit),
        Value::Text(evidence.source),
        Value::Text(evidence.advice),
    ])
}

/// Returns the clock's step in ns, if one was found.
pub(crate) fn resolution() -> Result<Value, Failure> {
    Ok(clockscope::resolution().map_or(Value::None, Value::ns))
}

/// Returns the generation's number.
pub(crate) fn generation() -> Result<Value, Failure> {
    Ok(Value::Unsigned(clockscope::generation()))
}

/// Asks the kernel now what readings would ask later.
pub(crate) fn prepare() -> Result<Value, Failure> {
    clockscope::prepare();
    Ok(Value::None)
}

/// Asks the kernel again, and returns whether the counter may be used.
pub(crate) fn recheck() -> Result<Value, Failure> {
    Ok(Value::Bool(clockscope::recheck()))
}

/// Returns the tick of a clock that gave these readings, and why there is none: one of both.
/// `readings` holds native words of 64 bits.
pub(crate) fn tick_of(readings: &[u8]) -> Value {
    let words: Vec<u64> = readings.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let (found, reason) = match tick(&words) {
        Tick::Found(lattice) => (Value::Float(lattice.period), Value::None),
        Tick::AtMost { units, .. } => {
            let reason = format!("too fine to be separated from the clock's unit: at most {units:.3} units");
            (Value::None, Value::Text(Cow::Owned(reason)))
        }
        Tick::Unknown(reason) => (Value::None, Value::word(reason.reason())),
    };
    Value::Tuple(vec![found, reason])
}
