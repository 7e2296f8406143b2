//! Clocks that an offset carries beside a line, and what is known of their offsets.

use super::sync::{AtomicU64, Ordering, const_fn};

/// A clock of the system that is steered as ours is: an offset carries it beside a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffsetClock {
    /// The time of day, CLOCK_REALTIME, which may be set.
    Wall,
    /// The time since the machine was started, CLOCK_BOOTTIME, which counts suspends.
    Boot,
}

impl OffsetClock {
    pub(crate) const ALL: [Self; 2] = [Self::Wall, Self::Boot];

    /// Bit of [`super::Page::wanted`].
    pub(super) const fn wanted_bit(self) -> u64 {
        1 << self as u32
    }
}

/// An [`OffsetClock`]'s lead over our timeline, as a word; zero while it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockOffset(pub(crate) u64);

impl ClockOffset {
    pub(crate) const UNKNOWN: Self = Self(0);

    /// The word of an offset in ns. Zero is published as one: an offset may be above the true one.
    pub(crate) fn from_ns(ns: i64) -> Self {
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
    /// The offset that is published until a comparison contradicts it.
    known: AtomicU64,
    /// Distance by which an offset may be above the true one, in ns, in the lower half; the upper
    /// half is the lower one of that offset.
    width: AtomicU64,
    /// Largest measured error of that offset since it changed, in ns.
    pub(crate) largest_error_ns: AtomicU64,
}

impl OffsetWords {
    const_fn! {
        /// No offset is known.
        pub(super) fn new() -> Self {
            Self { known: AtomicU64::new(0), width: AtomicU64::new(0), largest_error_ns: AtomicU64::new(0) }
        }
    }

    #[cfg(not(clockscope_models))]
    pub(super) fn all(&self) -> [&AtomicU64; 3] {
        [&self.known, &self.width, &self.largest_error_ns]
    }

    /// The offset that no comparison has contradicted.
    #[inline(always)]
    pub(crate) fn known(&self) -> ClockOffset {
        ClockOffset(self.known.load(Ordering::Relaxed))
    }

    /// The known offset, and how far it may be above the true one, in ns: `None` after a thread
    /// that replaced this offset was interrupted.
    pub(crate) fn known_with_width(&self) -> (ClockOffset, Option<u64>) {
        let (known, width) = (self.known(), self.width.load(Ordering::Relaxed));
        let is_of_it = width >> 32 == known.0 & u64::from(u32::MAX);
        (known, if is_of_it { Some(width & u64::from(u32::MAX)) } else { None })
    }

    /// Replaces the known offset, and stores the width of the new one. `false` if another thread
    /// has replaced `from`.
    pub(crate) fn replace(&self, from: ClockOffset, to: ClockOffset, width_ns: u64) -> bool {
        let is_replaced = self.known.compare_exchange(from.0, to.0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_replaced {
            self.keep_width(to, width_ns);
        }
        is_replaced
    }

    /// Stores the width of this offset.
    pub(crate) fn keep_width(&self, known: ClockOffset, width_ns: u64) {
        self.width.store(known.0 << 32 | width_ns.min(u64::from(u32::MAX)), Ordering::Relaxed);
    }
}
