//! An excerpt of a history: it converts counts elsewhere, and later than the process lives.

use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use super::piece::{CONVERTED, FLAGS, Piece};
use super::search::{Doubt, Tail, Uncovered, index_of, is_before, no_doubt, not_past};
use super::{DOUBTS, History};

/// The pieces of a history from some count on, as they were at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Excerpt {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) tail: Tail,
}

impl Excerpt {
    /// The piece of a count, as [`History::find`] has it.
    ///
    /// # Errors
    /// None has it, for this reason.
    pub(crate) fn find(&self, count: u64) -> Result<Piece, Uncovered> {
        no_doubt(self.doubts.iter().copied(), count)?;
        let index = index_of(count, self.pieces.len(), |index| self.pieces[index].start)?;
        let piece = self.pieces[index];
        not_past(&piece, count, index + 1 == self.pieces.len())?;
        Ok(self.tail.applied(piece, count))
    }
}

impl<const N: usize> History<N> {
    /// Copies the history of `owner` from a count on. All its pieces stay as they are: the excerpt
    /// converts counts as this process does.
    ///
    /// # Errors
    /// [`Uncovered::None`] and [`Uncovered::Busy`].
    pub(crate) fn excerpt(&self, owner: u64, from: u64) -> Result<Excerpt, Uncovered> {
        // Nothing is allocated under the lock.
        let (mut pieces, mut doubts) = (Vec::with_capacity(N), Vec::with_capacity(DOUBTS));
        let _writer = self.lock(owner).ok_or(Uncovered::Busy)?;
        if !self.is_of(owner) {
            return Err(Uncovered::None);
        }
        for index in (0..self.pieces()).filter(|index| !is_before(self.piece(*index).end(), from)) {
            // No writer looks for marks now, or writes words.
            self.words[index][FLAGS].fetch_or(CONVERTED, Ordering::Relaxed);
            pieces.push(self.piece(index));
        }
        doubts.extend((0..DOUBTS).map(|index| self.doubt(index)).filter(|doubt| doubt.counts > 0));
        Ok(Excerpt { pieces, doubts, tail: self.tail() })
    }
}
