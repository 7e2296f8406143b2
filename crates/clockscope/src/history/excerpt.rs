//! An excerpt of a history: it converts counts in other processes, and later.

use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use super::piece::{CONVERTED, FLAGS, Piece};
use super::search::{Doubt, Tail, Uncovered, index_of, is_before, no_doubt, not_past};
use super::{DOUBTS, History};
use crate::process::process_mark;

/// The pieces of a history from some count on, as they were at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) tail: Tail,
}

impl Excerpt {
    /// The piece of a count, as [`History::find`] has it.
    ///
    /// # Errors
    /// No piece covers the count.
    pub fn find(&self, count: u64) -> Result<Piece, Uncovered> {
        no_doubt(self.doubts.iter().copied(), count)?;
        let index = index_of(count, self.pieces.len(), |index| self.pieces[index].start)?;
        let piece = self.pieces[index];
        not_past(&piece, count, index + 1 == self.pieces.len())?;
        Ok(self.tail.applied(piece, count))
    }
}

impl<const N: usize> History<N> {
    /// Copies the history of this process from a count on. All its pieces stay as they are: the
    /// excerpt converts counts as this process does.
    ///
    /// # Errors
    /// [`Uncovered::None`] and [`Uncovered::Busy`].
    pub fn excerpt(&self, from: u64) -> Result<Excerpt, Uncovered> {
        let owner = process_mark();
        // Nothing is allocated under the lock.
        let (mut pieces, mut doubts) = (Vec::with_capacity(N), Vec::with_capacity(DOUBTS));
        let writer = self.lock(owner).ok_or(Uncovered::Busy)?;
        if !self.is_of(owner) {
            return Err(Uncovered::None);
        }
        // All pieces if the counter went back since: later counts are smaller.
        let count = self.pieces();
        let has_from = count > 0 && !is_before(self.piece(count - 1).end(), from);
        let first = if has_from { index_of(from, count, |index| self.start(index)).unwrap_or(0) } else { 0 };
        for index in first..count {
            // No writer reads marks now, or writes words.
            let flags = &self.words[index][FLAGS];
            if flags.load(Ordering::Relaxed) & CONVERTED == 0 {
                flags.fetch_or(CONVERTED, Ordering::Relaxed);
            }
            pieces.push(self.piece(index));
        }
        doubts.extend((0..DOUBTS).map(|index| self.doubt(index)).filter(|doubt| doubt.counts > 0));
        let tail = self.tail();
        drop(writer);
        pieces.shrink_to_fit();
        Ok(Excerpt { pieces, doubts, tail })
    }
}
