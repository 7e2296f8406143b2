//! The header of a stamp file: a history as text, by which other programs convert counts.
//!
//! ```text
//! clockscope stamps 1
//! clock counter
//! boot 5c1dd3a7-6a0c-4cf9-b3a6-2f8b3c1d9e10
//! process 4711
//! generation 1
//! hz 2596126044
//! tail 97004127514 85
//! piece 92125871212 4878256302 35485716712345 7105 ...
//! end
//! ```
//!
//! docs/reference/stamps-file.md defines the numbers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use clockscope_core::WallState;

use super::by_piece::{bounded_by, instant_by, wall_by};
use super::errors::StampError;
use super::stamp::{Stamp, StampClock};
use crate::disciplined::ClockOffset;
use crate::history::{Ahead, Doubt, Excerpt, Piece, Tail, Uncovered};
use crate::tick_length::TickLength;
use crate::{Instant, Interval, WallTime};

/// First line: the format and its version.
const FIRST_LINE: &str = "clockscope stamps 1";
const LAST_LINE: &str = "end";
/// Word for an unknown value.
const UNKNOWN: &str = "-";

/// A history of stamps, from a first stamp to the renewal that made it. A file of stamps begins
/// with it, so that another program can convert them.
///
/// [`Stamps::header`](super::Stamps::header) makes it, and it is written as text (`Display`).
/// [`Header::split`] reads it again. The program `clockscope stamps` converts files of stamps.
///
/// ```
/// use clockscope::stamps::{self, Header};
///
/// # if let Ok(stamps) = stamps::counter() {
/// let first = stamps.now();
/// // Work, and more stamps.
/// let mut file = stamps.header(first)?.to_string().into_bytes();
/// file.extend(first.count().to_le_bytes());
///
/// // Elsewhere, later:
/// let (header, counts) = Header::split(&file)?;
/// let count = u64::from_le_bytes(counts.try_into()?);
/// let converted = header.convert(stamps::Stamp::from_count(count))?;
/// assert_eq!(converted.instant, stamps.instant(first)?);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    clock: StampClock,
    boot: Option<String>,
    process: u32,
    generation: u64,
    history: Excerpt,
}

/// Times of a stamp, and their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// As [`Stamps::instant`](super::Stamps::instant) has it.
    pub instant: Instant,
    /// As [`Stamps::error_bound`](super::Stamps::error_bound) has it.
    pub error_bound: Duration,
    /// As [`Stamps::wall`](super::Stamps::wall) has it; `None` where the wall clock was set between
    /// the renewals around the stamp, or did not answer.
    pub wall: Option<WallTime>,
    /// As [`Stamps::bounded`](super::Stamps::bounded) has it; `None` of a stamp of the system's
    /// clock that the header does not cover.
    pub interval: Option<Interval>,
}

/// Reason why a header cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// Number of the line, from 1 on.
    line: usize,
    /// Its beginning.
    text: String,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    NoHeader,
    Version,
    NoText,
    Cut,
    UnknownKey,
    Repeated,
    Value,
    OutOfOrder,
    Missing,
}

/// Letters of a line that an error shows.
const MAX_SHOWN_LETTERS: usize = 60;

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.reason {
            Reason::NoHeader => {
                return write!(f, "found {:?} where a header begins: expected {FIRST_LINE:?}", self.text);
            }
            Reason::Version => "this version is not known: expected 1. A later program converts it",
            Reason::NoText => "it is not UTF-8",
            Reason::Cut => "the header is cut short: expected lines up to \"end\"",
            Reason::UnknownKey => "its first word is not known",
            Reason::Repeated => "this line is there twice",
            Reason::Value => "a number or word is missing, unknown, out of range, or too many",
            Reason::OutOfOrder => "it begins before the piece above ends, in counts or in time",
            Reason::Missing => "one of the lines clock, boot, process, generation and tail is missing",
        };
        write!(f, "line {} of the header, {:?}: {words}", self.line, self.text)
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// The header of an excerpt.
    pub(super) fn new(clock: StampClock, history: Excerpt) -> Self {
        Self {
            clock,
            boot: super::boot::known(),
            process: std::process::id(),
            generation: crate::generation(),
            history,
        }
    }

    /// Reads the header at the beginning of a file, and returns what follows it: the counts.
    ///
    /// # Errors
    /// It does not begin with a header, or with an incomplete one.
    pub fn split(file: &[u8]) -> Result<(Self, &[u8]), HeaderError> {
        let mut parser = Parser::default();
        let mut rest = file;
        loop {
            let (line, tail) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            let is_at_end = rest.is_empty();
            rest = tail;
            if let Some(header) = parser.take(line, is_at_end)? {
                return Ok((header, rest));
            }
        }
    }

    /// Returns true if a line is the first one of a header, of any version.
    #[must_use]
    pub fn begins_with(line: &[u8]) -> bool {
        let (name, _) = FIRST_LINE.split_at(FIRST_LINE.len() - 1);
        line.starts_with(name.as_bytes())
    }

    /// Returns the clock that the stamps were taken of.
    #[must_use]
    pub fn clock(&self) -> StampClock {
        self.clock
    }

    /// Returns the identifier of the machine's boot (/proc/sys/kernel/random/boot_id); `None` where
    /// the system states none.
    #[must_use]
    pub fn boot(&self) -> Option<&str> {
        self.boot.as_deref()
    }

    /// Returns the number of the process that wrote it.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Returns [`crate::generation`] of the process as the header was made.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the counter's rate over the last piece, in Hz; `None` without a piece.
    #[must_use]
    pub fn hz(&self) -> Option<f64> {
        let TickLength { mantissa, shift } = self.history.pieces.last()?.tick_length;
        if mantissa > 0 { Some(1e9 / mantissa as f64 * 2f64.powi(shift as i32)) } else { None }
    }

    /// Converts a stamp, to the same time as the process that wrote the header.
    ///
    /// # Errors
    /// The header does not have it.
    pub fn convert(&self, stamp: Stamp) -> Result<Converted, StampError> {
        let found = self.history.find(stamp.count());
        let (instant, error_ns) = match (self.clock, found) {
            (StampClock::Os, _) => (Instant::from_ns(stamp.count()), 0),
            (StampClock::Counter, Ok(piece)) => (instant_by(&piece, stamp)?, piece.error_ns()),
            (StampClock::Counter, Err(Uncovered::After)) => return Err(StampError::AfterHeader),
            (StampClock::Counter, Err(reason)) => return Err(reason.into()),
        };
        Ok(Converted {
            instant,
            error_bound: Duration::from_nanos(error_ns),
            wall: found.ok().and_then(|piece| wall_by(&piece, stamp).ok()),
            interval: found.ok().and_then(|piece| bounded_by(&piece, stamp).ok()),
        })
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}\nclock {}", self.clock.word())?;
        writeln!(f, "boot {}\nprocess {}", self.boot.as_deref().unwrap_or(UNKNOWN), self.process)?;
        writeln!(f, "generation {}", self.generation)?;
        if let Some(hz) = self.hz() {
            writeln!(f, "hz {hz:.0}")?;
        }
        for Doubt { from, counts } in &self.history.doubts {
            writeln!(f, "doubt {from} {counts}")?;
        }
        let Tail { from, error_ns } = self.history.tail;
        writeln!(f, "tail {from} {error_ns}")?;
        self.history.pieces.iter().try_for_each(|piece| write_piece(piece, f))?;
        writeln!(f, "{LAST_LINE}")
    }
}

fn write_piece(piece: &Piece, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Piece { start, counts, value, tick_length, error_ns, wall, wall_error_ns, bounds } = piece;
    let TickLength { mantissa, shift } = tick_length;
    write!(f, "piece {start} {counts} {value} {mantissa} {shift} {error_ns}")?;
    match wall.is_known() {
        true => write!(f, " {} {wall_error_ns}", wall.ns())?,
        false => write!(f, " {UNKNOWN} {UNKNOWN}")?,
    }
    writeln!(f, " {} {} {}", bounds.state.as_str(), bounds.least_ns, bounds.width_ns)
}

impl FromStr for Header {
    type Err = HeaderError;

    fn from_str(text: &str) -> Result<Self, HeaderError> {
        Self::split(text.as_bytes()).map(|(header, _)| header)
    }
}

/// A header that is being read, line by line.
#[derive(Default)]
struct Parser {
    line: usize,
    clock: Option<StampClock>,
    /// The inner `None`: the header has no identifier.
    boot: Option<Option<String>>,
    process: Option<u32>,
    generation: Option<u64>,
    hz: Option<f64>,
    doubts: Vec<Doubt>,
    tail: Option<Tail>,
    pieces: Vec<Piece>,
}

impl Parser {
    /// Takes the next line; returns the header with its last one.
    fn take(&mut self, line: &[u8], is_at_end: bool) -> Result<Option<Header>, HeaderError> {
        self.line += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.take_line(line, is_at_end).map_err(|reason| {
            let text = String::from_utf8_lossy(line).chars().take(MAX_SHOWN_LETTERS).collect();
            HeaderError { line: self.line, text, reason }
        })
    }

    fn take_line(&mut self, line: &[u8], is_at_end: bool) -> Result<Option<Header>, Reason> {
        if self.line == 1 {
            return match line {
                first if first == FIRST_LINE.as_bytes() => Ok(None),
                first if Header::begins_with(first) => Err(Reason::Version),
                _ => Err(Reason::NoHeader),
            };
        }
        if is_at_end {
            return Err(Reason::Cut);
        }
        let line = core::str::from_utf8(line).map_err(|_| Reason::NoText)?;
        if line == LAST_LINE {
            return self.finish().map(Some).ok_or(Reason::Missing);
        }
        self.keep(line).map(|()| None)
    }

    fn keep(&mut self, line: &str) -> Result<(), Reason> {
        let mut words = line.split(' ');
        let words = &mut words;
        match words.next().unwrap_or_default() {
            "clock" => once(&mut self.clock, clock(words)?)?,
            "boot" => once(&mut self.boot, known(word(words)?).map(ToString::to_string))?,
            "process" => once(&mut self.process, number(words)?)?,
            "generation" => once(&mut self.generation, number(words)?)?,
            // For readers: it follows from the pieces.
            "hz" => once(&mut self.hz, number(words)?)?,
            "doubt" => self.doubts.push(Doubt { from: number(words)?, counts: number(words)? }),
            "tail" => once(&mut self.tail, Tail { from: number(words)?, error_ns: number(words)? })?,
            "piece" => {
                let piece = piece(words)?;
                if !self.follows(&piece) {
                    return Err(Reason::OutOfOrder);
                }
                self.pieces.push(piece);
            }
            _ => return Err(Reason::UnknownKey),
        }
        if words.next().is_some() { Err(Reason::Value) } else { Ok(()) }
    }

    /// Returns true if a piece neither begins before the end of the last one nor goes back to an
    /// earlier time, and ends less than half of 2^64 counts after the first one begins.
    fn follows(&self, next: &Piece) -> bool {
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else { return true };
        let [last_end, start, end] = [last.end(), next.start, next.end()].map(|count| count.wrapping_sub(first.start));
        last_end <= start && start <= end && end < 1 << 63 && next.value >= last.end_value()
    }

    fn finish(&mut self) -> Option<Header> {
        let pieces = core::mem::take(&mut self.pieces);
        let history = Excerpt { pieces, doubts: core::mem::take(&mut self.doubts), tail: self.tail? };
        let boot = self.boot.take()?;
        Some(Header { clock: self.clock?, boot, process: self.process?, generation: self.generation?, history })
    }
}

fn known(word: &str) -> Option<&str> {
    if word == UNKNOWN { None } else { Some(word) }
}

/// Sets a value that was not set before.
fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Reason> {
    if place.replace(value).is_some() { Err(Reason::Repeated) } else { Ok(()) }
}

fn word<'a>(words: &mut core::str::Split<'a, char>) -> Result<&'a str, Reason> {
    words.next().filter(|word| !word.is_empty()).ok_or(Reason::Value)
}

/// Reads digits, with a minus where the type has one.
fn number<T: FromStr>(words: &mut core::str::Split<'_, char>) -> Result<T, Reason> {
    digits(word(words)?)
}

fn digits<T: FromStr>(word: &str) -> Result<T, Reason> {
    if word.bytes().any(|letter| !letter.is_ascii_digit() && letter != b'-') {
        return Err(Reason::Value);
    }
    word.parse().map_err(|_| Reason::Value)
}

fn clock(words: &mut core::str::Split<'_, char>) -> Result<StampClock, Reason> {
    let word = words.next();
    [StampClock::Counter, StampClock::Os].into_iter().find(|clock| word == Some(clock.word())).ok_or(Reason::Value)
}

fn piece(words: &mut core::str::Split<'_, char>) -> Result<Piece, Reason> {
    let (start, counts, value) = (number(words)?, number(words)?, number(words)?);
    let tick_length = TickLength { mantissa: number(words)?, shift: number(words)? };
    let error_ns = number(words)?;
    let [wall, wall_error] = [words.next(), words.next()].map(|word| word.ok_or(Reason::Value));
    let (wall, wall_error_ns) = match (known(wall?), known(wall_error?)) {
        (Some(ns), Some(error)) => (ClockOffset::from_ns(digits(ns)?), digits(error)?),
        (None, None) => (ClockOffset::UNKNOWN, 0),
        _ => return Err(Reason::Value),
    };
    let state = state(words.next())?;
    let bounds = Ahead { least_ns: number(words)?, width_ns: number(words)?, state };
    let piece = Piece { start, counts, value, tick_length, error_ns, wall, wall_error_ns, bounds };
    // A piece whose numbers do not fit its words was not written by this library.
    if Piece::from_words(piece.words()) == piece { Ok(piece) } else { Err(Reason::Value) }
}

fn state(word: Option<&str>) -> Result<WallState, Reason> {
    (0..=WallState::Unavailable as u64)
        .map(WallState::of_number)
        .find(|state| word == Some(state.as_str()))
        .ok_or(Reason::Value)
}

#[cfg(test)]
mod tests;
