//! Stamps: their sources and conversions.

use core::mem::MaybeUninit;

use clockscope::stamps::{self, Stamp, StampClock, StampError, Stamps};
use clockscope::{Instant, Interval};

use crate::answers::AnswerFailure;

/// Returns the clock of a word, as [`clock_word`] has it.
pub(crate) fn clock_of(word: &str) -> Option<StampClock> {
    [StampClock::Counter, StampClock::Os].into_iter().find(|clock| clock_word(*clock) == word)
}

/// Returns a clock in a word.
pub(crate) const fn clock_word(clock: StampClock) -> &'static str {
    match clock {
        StampClock::Counter => "counter",
        StampClock::Os => "os",
    }
}

/// Begins the history of a clock.
pub(crate) fn begin(clock: StampClock) -> Result<Stamps, AnswerFailure> {
    match clock {
        StampClock::Counter => stamps::counter().map_err(AnswerFailure::Refused),
        StampClock::Os => Ok(stamps::os()),
    }
}

/// Returns a moment in ns. One that does not fit is centuries away, so it comes from elsewhere.
pub(crate) fn moment(instant: Instant) -> Result<i64, StampError> {
    i64::try_from(instant.as_ns()).map_err(|_| StampError::Future)
}

/// Returns the ends of an interval, in ns since the Unix epoch.
pub(crate) fn ends(interval: Interval) -> [i64; 2] {
    [interval.earliest, interval.latest].map(|end| end.as_unix_ns())
}

/// A batch of conversions, each of which gives `N` numbers.
pub(crate) type Question<const N: usize> = fn(Stamps, &[[u8; 8]], &mut Answers<'_, N>) -> Result<(), AnswerFailure>;

/// Memory for the numbers of a batch, in native order.
pub(crate) struct Answers<'a, const N: usize> {
    /// As many as stamps.
    pub(crate) numbers: &'a mut [MaybeUninit<[[u8; 8]; N]>],
    /// A flag for each stamp: 1 if it has a time. Without flags, the first stamp that has no time
    /// is a failure.
    pub(crate) flags: Option<&'a mut [MaybeUninit<u8>]>,
}

/// Stamps of native words.
fn stamps_of(words: &[[u8; 8]]) -> impl Iterator<Item = Stamp> {
    words.iter().map(|word| Stamp::from_count(u64::from_ne_bytes(*word)))
}

/// Converts stamps to moments.
pub(crate) fn instants(source: Stamps, words: &[[u8; 8]], answers: &mut Answers<'_, 1>) -> Result<(), AnswerFailure> {
    answers.write(source.instants(stamps_of(words)).map(|found| Ok([moment(found?)?])))
}

/// Converts stamps to times of the wall clock.
pub(crate) fn walls(source: Stamps, words: &[[u8; 8]], answers: &mut Answers<'_, 1>) -> Result<(), AnswerFailure> {
    answers.write(source.walls(stamps_of(words)).map(|found| Ok([found?.as_unix_ns()])))
}

/// Converts stamps to intervals of the true time.
pub(crate) fn boundeds(source: Stamps, words: &[[u8; 8]], answers: &mut Answers<'_, 2>) -> Result<(), AnswerFailure> {
    answers.write(source.boundeds(stamps_of(words)).map(|found| found.map(ends)))
}

impl<const N: usize> Answers<'_, N> {
    /// Writes numbers of all stamps, zeros for those without a time.
    fn write(&mut self, found: impl Iterator<Item = Result<[i64; N], StampError>>) -> Result<(), AnswerFailure> {
        for (index, (found, numbers)) in found.zip(self.numbers.iter_mut()).enumerate() {
            if let Some(flag) = self.flags.as_mut().and_then(|flags| flags.get_mut(index)) {
                flag.write(found.is_ok().into());
            } else if let Err(error) = found {
                return Err(AnswerFailure::Stamp(error, Some(index)));
            }
            numbers.write(found.unwrap_or([0; N]).map(i64::to_ne_bytes));
        }
        Ok(())
    }
}
