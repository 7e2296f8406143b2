//! The search for the piece of a count, in a history and in a copy of it.

use super::piece::Piece;

/// Reason why a count is not converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncovered {
    /// No history of this process.
    None,
    /// It is before the first observation that is kept.
    Before,
    /// It is after the last one.
    After,
    /// The clocks were interrupted: by a suspend, a move, a step.
    Gap,
    /// The counter went back, so that this count occurred twice.
    Twice,
    /// The history was being written for all of this time.
    Busy,
}

/// A range of counts that may occur twice, because the counter went back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) from: u64,
    pub(crate) counts: u64,
}

impl Doubt {
    fn has(self, count: u64) -> bool {
        count.wrapping_sub(self.from) < self.counts
    }
}

/// The smallest error from a count on, in ns, as far as is known yet; 0 if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) from: u64,
    pub(crate) error_ns: u64,
}

impl Tail {
    /// The piece as it is for a count.
    pub(crate) fn applied(self, piece: Piece, count: u64) -> Piece {
        match self.error_ns {
            0 => piece,
            _ if is_before(count, self.from) => piece.up_to(self.from),
            error_ns => Piece { error_ns: piece.error_ns.max(error_ns), ..piece },
        }
    }
}

/// Fails where there may be two moments of a count.
pub(crate) fn no_doubt(mut doubts: impl Iterator<Item = Doubt>, count: u64) -> Result<(), Uncovered> {
    if doubts.any(|doubt| doubt.has(count)) { Err(Uncovered::Twice) } else { Ok(()) }
}

/// The number of the last piece that begins at or before a count.
pub(crate) fn index_of(count: u64, pieces: usize, start: impl Fn(usize) -> u64) -> Result<usize, Uncovered> {
    let (mut least, mut most) = (0, pieces);
    if most == 0 {
        return Err(Uncovered::After);
    }
    while least < most {
        let middle = least + (most - least) / 2;
        if is_before(count, start(middle)) { most = middle } else { least = middle + 1 }
    }
    least.checked_sub(1).ok_or(Uncovered::Before)
}

/// Fails where a count is past the end of the last piece that begins before it.
pub(crate) fn not_past(piece: &Piece, count: u64, is_last: bool) -> Result<(), Uncovered> {
    match count.wrapping_sub(piece.start) <= piece.counts {
        true => Ok(()),
        false if is_last => Err(Uncovered::After),
        false => Err(Uncovered::Gap),
    }
}

/// Returns true if one count is before another, if less than half of 2^64 is between them.
pub(crate) fn is_before(one: u64, other: u64) -> bool {
    (one.wrapping_sub(other) as i64) < 0
}
