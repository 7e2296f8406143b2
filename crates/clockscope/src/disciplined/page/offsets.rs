//! Clocks that an offset carries beside a line, and what is known of their offsets.

use super::sync::{AtomicU64, Ordering};

/// A clock of the system that is steered as ours is: an offset carries it beside a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffsetClock {
    /// Civil time, CLOCK_REALTIME, which may be set.
    Wall,
    /// The time since the machine was started, CLOCK_BOOTTIME, which goes on in a suspend.
    Boot,
}

impl OffsetClock {
    pub(crate) const ALL: [Self; 2] = [Self::Wall, Self::Boot];

    /// Bit of [`super::Page::wanted`].
    pub(super) const fn wanted_bit(self) -> u64 {
        1 << self as u32
    }
}

/// By how much an [`OffsetClock`] is ahead of our timeline, as a word; zero for an offset that is
/// not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockOffset(pub(crate) u64);

impl ClockOffset {
    pub(crate) const UNKNOWN: Self = Self(0);

    /// The word of an offset in ns. Zero is published as one: an offset may be above the true one.
    pub(crate) fn of(ns: i64) -> Self {
        Self(if ns == 0 { 1 } else { ns as u64 })
    }

    #[inline(always)]
    pub(crate) fn is_known(self) -> bool {
        self.0 != 0
    }

    /// The offset in ns. Only of one that is known.
    pub(crate) fn ns(self) -> i64 {
        self.0 as i64
    }

    /// The clock's time in ns where ours is `ns`. Only of one that is known.
    #[inline(always)]
    pub(crate) fn clock_ns(self, ns: u64) -> i64 {
        ns.wrapping_add(self.0) as i64
    }
}

/// Words on the offset of an [`OffsetClock`].
#[repr(C)]
pub(crate) struct OffsetWords {
    /// The offset that is published as long as nothing contradicts it.
    known: AtomicU64,
    /// Distance by which an offset may be above the true one, in ns, in the lower half; the upper
    /// half is the lower one of that offset.
    width: AtomicU64,
    /// Largest error of that offset that was seen since it changed, in ns.
    pub(crate) largest_error_ns: AtomicU64,
}

impl OffsetWords {
    /// Nothing is known.
    #[cfg(not(clockscope_models))]
    pub(super) const fn new() -> Self {
        Self { known: AtomicU64::new(0), width: AtomicU64::new(0), largest_error_ns: AtomicU64::new(0) }
    }

    /// Nothing is known. Loom's atomics cannot be made at compile time.
    #[cfg(clockscope_models)]
    pub(super) fn new() -> Self {
        Self { known: AtomicU64::new(0), width: AtomicU64::new(0), largest_error_ns: AtomicU64::new(0) }
    }

    #[cfg(not(clockscope_models))]
    pub(super) fn all(&self) -> [&AtomicU64; 3] {
        [&self.known, &self.width, &self.largest_error_ns]
    }

    /// The offset that nothing contradicts so far.
    #[inline(always)]
    pub(crate) fn known(&self) -> ClockOffset {
        ClockOffset(self.known.load(Ordering::Relaxed))
    }

    /// The same, and how far it may be above the true one, in ns: `None` where that of another
    /// offset was left, by a thread that had replaced this one and was interrupted.
    pub(crate) fn known_with_width(&self) -> (ClockOffset, Option<u64>) {
        let (known, width) = (self.known(), self.width.load(Ordering::Relaxed));
        let is_of_it = width >> 32 == known.0 & u64::from(u32::MAX);
        (known, is_of_it.then_some(width & u64::from(u32::MAX)))
    }

    /// Replaces it by one that is so wide. `false` if another thread has replaced `from`.
    pub(crate) fn replace(&self, from: ClockOffset, to: ClockOffset, width_ns: u64) -> bool {
        let is_replaced = self.known.compare_exchange(from.0, to.0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_replaced {
            self.keep_width(to, width_ns);
        }
        is_replaced
    }

    /// Says how wide this offset is.
    pub(crate) fn keep_width(&self, known: ClockOffset, width_ns: u64) {
        self.width.store(known.0 << 32 | width_ns.min(u64::from(u32::MAX)), Ordering::Relaxed);
    }
}
