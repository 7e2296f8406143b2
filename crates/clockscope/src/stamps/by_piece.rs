//! Conversions of a stamp by one piece of the history.

use super::errors::StampError;
use super::stamp::Stamp;
use crate::history::Piece;
use crate::{Instant, Interval, WallTime};

/// The moment of a stamp.
#[inline(always)]
pub(super) fn instant_by(piece: &Piece, stamp: Stamp) -> Result<Instant, StampError> {
    piece.time_of(stamp.count()).map(Instant::from_ns).ok_or(StampError::Busy)
}

/// The wall clock's time then.
pub(super) fn wall_by(piece: &Piece, stamp: Stamp) -> Result<WallTime, StampError> {
    let ns = instant_by(piece, stamp)?.as_ns();
    piece.wall_at(ns).map(|(wall_ns, _)| WallTime::from_unix_ns(wall_ns)).ok_or(StampError::NoWallTime)
}

/// The interval in which the true time was then.
pub(super) fn bounded_by(piece: &Piece, stamp: Stamp) -> Result<Interval, StampError> {
    let ns = instant_by(piece, stamp)?.as_ns();
    Ok(Interval::carried(piece.bounded_at(ns)))
}
