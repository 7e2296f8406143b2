//! Answers of the functions, as data.

use std::borrow::Cow;
use std::time::Duration;

use clockscope::bounded::{self, NotPast};
use clockscope::stamps::{Refused, StampError};
use clockscope::{ErrorBound, Evidence, Finding, Instant, Interval, Source, WallState, WallTime};
use clockscope_statistics::{Tick, tick};

/// Longest part of a wait: between two, signal handlers of Python run.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// A value that Python has a type for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PythonValue {
    None,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Cow<'static, str>),
    Tuple(Vec<Self>),
}

/// Reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerFailure {
    /// No clock of the system answers.
    NoClock,
    /// The library has failed: a fault in it.
    Panicked,
    /// Nothing bounds the true time.
    NoBound(WallState),
    /// A moment is not certainly past after this time limit.
    TimeLimit(Duration),
    /// No stamps are taken of the counter.
    Refused(Refused),
    /// A stamp has no time: the stamp at this index of a batch, or the only one.
    Stamp(StampError, Option<usize>),
}

impl AnswerFailure {
    /// Returns the arguments of the exception that this failure becomes.
    pub(crate) fn arguments(self) -> Vec<PythonValue> {
        match self {
            Self::NoClock => vec![PythonValue::word("no clock of the system answers")],
            Self::Panicked => vec![PythonValue::word("the library has failed: please report it")],
            Self::NoBound(state) => {
                let text = format!("no bound of the true time: {state}");
                vec![PythonValue::Text(Cow::Owned(text)), PythonValue::word(state.as_str())]
            }
            Self::TimeLimit(limit) => {
                let text = format!("the moment is not certainly past after {} s", limit.as_secs_f64());
                vec![PythonValue::Text(Cow::Owned(text))]
            }
            Self::Refused(refused) => {
                vec![PythonValue::Text(Cow::Owned(refused.to_string())), PythonValue::word(refusal_word(refused))]
            }
            Self::Stamp(error, index) => {
                let index = index.map_or(PythonValue::None, |index| PythonValue::Unsigned(index as u64));
                let text = PythonValue::Text(Cow::Owned(stamp_sentence(error)));
                vec![text, PythonValue::word(error.word()), index]
            }
        }
    }
}

/// Returns the reason of a refusal in a word.
const fn refusal_word(refused: Refused) -> &'static str {
    match refused {
        Refused::NoCounter => "no_counter",
        Refused::NotInvariant => "not_invariant",
        Refused::NotUsed(_) => "not_used",
        Refused::NotCompared => "not_compared",
        _ => "other",
    }
}

/// Returns the reason in a sentence, with the names of Python.
fn stamp_sentence(error: StampError) -> String {
    match error {
        StampError::NoHistory => {
            "this process has no history of stamps: call stamps.counter() or stamps.os() first".to_owned()
        }
        error => error.to_string(),
    }
}

impl PythonValue {
    const fn word(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    fn bound(bound: ErrorBound) -> Self {
        Self::Tuple(vec![Self::ns(bound.now), Self::ns(bound.largest), Self::Unsigned(bound.largest_at.as_ns())])
    }

    fn ns(duration: Duration) -> Self {
        Self::Unsigned(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Returns the error bound now, the largest since the generation began, and the time of that, in
/// ns.
pub(crate) fn error_bound() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::bound(clockscope::error_bound().ok_or(AnswerFailure::NoClock)?))
}

/// Returns the error bound of the time of day now, the largest since the generation began, and the
/// time of that, in ns.
pub(crate) fn wall_error_bound() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::bound(clockscope::wall::error_bound().ok_or(AnswerFailure::NoClock)?))
}

/// Returns the error bound of boot time now, the largest since the generation began, and the time
/// of that, in ns.
pub(crate) fn boot_error_bound() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::bound(clockscope::boot::error_bound().ok_or(AnswerFailure::NoClock)?))
}

/// Returns whether boot time goes on in a suspend.
pub(crate) fn boot_counts_suspends() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::Bool(clockscope::boot::counts_suspends()))
}

/// Returns what an interval of the time of day is worth now, in a word.
pub(crate) fn bounded_state() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::word(bounded::now().state.as_str()))
}

/// A wait until a moment is certainly past, in parts.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    moment: WallTime,
    limit: Option<Duration>,
    began: Instant,
}

impl Wait {
    /// Begins a wait for `moment`, of `limit` at most.
    pub(crate) fn begin(moment: WallTime, limit: Option<Duration>) -> Self {
        Self { moment, limit, began: clockscope::now() }
    }

    /// Waits for a part of the time that remains, and returns the interval that shows that the
    /// moment is past; `None` if more parts follow. The last part of a limited wait is an error.
    pub(crate) fn part(self) -> Result<Option<Interval>, AnswerFailure> {
        let remaining = self.limit.map(|limit| (limit, limit.saturating_sub(self.began.elapsed())));
        let (part, last) = match remaining {
            Some((limit, remaining)) if remaining <= MAX_WAIT => (remaining, Some(limit)),
            _ => (MAX_WAIT, None),
        };
        match bounded::commit_wait_for(self.moment, part) {
            Ok(interval) => Ok(Some(interval)),
            Err(NotPast::TimeLimit(_)) => last.map_or(Ok(None), |limit| Err(AnswerFailure::TimeLimit(limit))),
            Err(NotPast::NoBound(error)) => Err(AnswerFailure::NoBound(error.state)),
            Err(_) => Err(AnswerFailure::NoBound(WallState::Unavailable)),
        }
    }
}

/// Returns where the time comes from, in a word.
pub(crate) fn source() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::word(match clockscope::source() {
        Source::Counter => "counter",
        Source::OsClock => "os_clock",
        _ => "nothing",
    }))
}

/// Returns each piece of evidence: name, finding, sentence, value, unit, source, advice.
pub(crate) fn evidence() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::Tuple(clockscope::evidence().into_iter().map(piece).collect()))
}

fn piece(evidence: Evidence) -> PythonValue {
    let finding = match evidence.finding {
        Finding::For => "for",
        Finding::Against => "against",
        _ => "unknown",
    };
    let value = match evidence.value {
        Some(clockscope::Value::Number(number)) => PythonValue::Float(number),
        Some(clockscope::Value::Word(word)) => PythonValue::Text(word),
        _ => PythonValue::None,
    };
    PythonValue::Tuple(vec![
        PythonValue::word(evidence.name),
        PythonValue::word(finding),
        PythonValue::Text(evidence.seen),
        value,
        PythonValue::word(evidence.unit),
        PythonValue::Text(evidence.source),
        PythonValue::Text(evidence.advice),
    ])
}

/// Returns the clock's step in ns, if one was found.
pub(crate) fn resolution() -> Result<PythonValue, AnswerFailure> {
    Ok(clockscope::resolution().map_or(PythonValue::None, PythonValue::ns))
}

/// Returns the generation's number.
pub(crate) fn generation() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::Unsigned(clockscope::generation()))
}

/// Asks the kernel now what readings would ask later.
pub(crate) fn prepare() -> Result<PythonValue, AnswerFailure> {
    clockscope::prepare();
    Ok(PythonValue::None)
}

/// Asks the kernel again, and returns whether the counter may be used.
pub(crate) fn recheck() -> Result<PythonValue, AnswerFailure> {
    Ok(PythonValue::Bool(clockscope::recheck()))
}

/// Compares the clocks now, for each history of stamps that has begun.
pub(crate) fn renew_stamps() -> Result<PythonValue, AnswerFailure> {
    clockscope::stamps::renew().map_err(|error| AnswerFailure::Stamp(error, None))?;
    Ok(PythonValue::None)
}

/// Returns the tick of a clock that gave these readings, and why there is none: one of both.
/// `readings` holds native words of 64 bits.
pub(crate) fn tick_of(readings: &[u8]) -> PythonValue {
    let words: Vec<u64> = readings.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let (found, reason) = match tick(&words) {
        Tick::Found(lattice) => (PythonValue::Float(lattice.period), PythonValue::None),
        Tick::AtMost { units, .. } => {
            let reason = format!("too fine to be separated from the clock's unit: at most {units:.3} units");
            (PythonValue::None, PythonValue::Text(Cow::Owned(reason)))
        }
        Tick::Unknown(reason) => (PythonValue::None, PythonValue::Text(Cow::Owned(reason.to_string()))),
    };
    PythonValue::Tuple(vec![found, reason])
}
