//! The functions that `include/clockscope_wall.h` declares.

#![allow(unsafe_code, reason = "exported names and the caller's pointers have no safe form")]

use core::ffi::c_int;
use core::time::Duration;

use clockscope::bounded::{self, NotPast};
use clockscope::{Anchor, Instant, WallTime, wall};

use super::store;
use crate::answers::{BoundNs, CallFailure, guarded, whole_ns};

/// A moment on both clocks: `clockscope_anchor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AnchorNs {
    /// The time of day less the moment, in ns.
    pub offset_ns: i64,
    /// Largest error of the offset, in ns.
    pub bound_ns: u64,
    /// The [`wall::generation`] of the anchor.
    pub generation: u64,
}

/// Stores the ends of [`bounded::now`] in ns since the Unix epoch, and returns its state.
///
/// # Safety
/// Each pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_bounded_now(earliest: *mut i64, latest: *mut i64) -> c_int {
    if earliest.is_null() || latest.is_null() {
        return CallFailure::Null.code();
    }
    guarded(|| {
        let interval = bounded::now();
        // SAFETY: neither is NULL, and the caller promises that both may be written.
        unsafe { write_ends([interval.earliest, interval.latest], earliest, latest) };
        Ok(interval.state as c_int)
    })
}

/// Waits by [`bounded::commit_wait`], stores the ends of the interval that shows the moment to be
/// past, and returns its state. Without a bound, stores what [`bounded::now`] has then.
///
/// # Safety
/// As [`clockscope_bounded_now`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_commit_wait(unix_ns: i64, earliest: *mut i64, latest: *mut i64) -> c_int {
    if earliest.is_null() || latest.is_null() {
        return CallFailure::Null.code();
    }
    guarded(|| {
        let (ends, state) = match bounded::commit_wait(WallTime::from_unix_ns(unix_ns)) {
            Ok(interval) => ([interval.earliest, interval.latest], interval.state),
            Err(none) => ([WallTime::MIN, WallTime::MAX], none.state),
        };
        // SAFETY: neither is NULL, and the caller promises that both may be written.
        unsafe { write_ends(ends, earliest, latest) };
        Ok(state as c_int)
    })
}

/// Waits by [`bounded::commit_wait_for`], and stores and returns what [`clockscope_commit_wait`]
/// does. Stores nothing after the limit.
///
/// # Safety
/// As [`clockscope_bounded_now`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_commit_wait_for(
    unix_ns: i64,
    limit_ns: u64,
    earliest: *mut i64,
    latest: *mut i64,
) -> c_int {
    if earliest.is_null() || latest.is_null() {
        return CallFailure::Null.code();
    }
    guarded(|| {
        let limit = Duration::from_nanos(limit_ns);
        let (ends, state) = match bounded::commit_wait_for(WallTime::from_unix_ns(unix_ns), limit) {
            Ok(interval) => ([interval.earliest, interval.latest], interval.state),
            Err(NotPast::NoBound(none)) => ([WallTime::MIN, WallTime::MAX], none.state),
            // The limit; there is no other reason yet.
            Err(_) => return Err(CallFailure::TimeLimit),
        };
        // SAFETY: neither is NULL, and the caller promises that both may be written.
        unsafe { write_ends(ends, earliest, latest) };
        Ok(state as c_int)
    })
}

/// Returns [`wall::generation`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_wall_generation() -> u64 {
    wall::generation()
}

/// Stores [`wall::error_bound`].
///
/// # Safety
/// The pointer is NULL or the address of a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_wall_error_bound(bound: *mut BoundNs) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(bound, || wall::error_bound().map(BoundNs::from).ok_or(CallFailure::NoClock)) }
}

/// Stores [`Anchor::now`].
///
/// # Safety
/// The pointer is NULL or the address of a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_anchor_now(anchor: *mut AnchorNs) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(anchor, || AnchorNs::now().ok_or(CallFailure::NoClock)) }
}

/// Returns [`Anchor::is_current`] as 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_anchor_is_current(anchor: AnchorNs) -> c_int {
    guarded(|| Ok(c_int::from(anchor.is_current())))
}

impl AnchorNs {
    /// The moment whose time of day is the offset.
    const ZERO: Instant = Instant::from_ns(0);

    fn now() -> Option<Self> {
        // Before the offset: a set between both makes the anchor one that is not current.
        let generation = wall::generation();
        let anchor = Anchor::now()?;
        let offset_ns = anchor.to_wall(Self::ZERO).as_unix_ns();
        Some(Self { offset_ns, bound_ns: whole_ns(anchor.error_bound()), generation })
    }

    fn is_current(self) -> bool {
        let bound = Duration::from_nanos(self.bound_ns);
        let anchor = Anchor::new(Self::ZERO, WallTime::from_unix_ns(self.offset_ns), bound);
        // After the offset: a set between both shows.
        anchor.is_some_and(|anchor| anchor.is_current()) && wall::generation() == self.generation
    }
}

/// Writes an interval's ends in ns since the Unix epoch.
///
/// # Safety
/// Both may be written.
pub(super) unsafe fn write_ends(ends: [WallTime; 2], earliest: *mut i64, latest: *mut i64) {
    // SAFETY: as the caller promises.
    unsafe {
        earliest.write(ends[0].as_unix_ns());
        latest.write(ends[1].as_unix_ns());
    }
}
