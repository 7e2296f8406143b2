//! The shared page, for readers outside of this crate.

use clockscope_core::atomic::AtomicU64;
use core::fmt;
use core::sync::atomic::Ordering;

use crate::disciplined::layout;

/// A read-only view of the page that readings take the time from ([`crate::page`]).
///
/// Nothing but the library writes to the page: a store would make all later readings wrong.
///
/// ```compile_fail,E0608
/// use clockscope::layout;
/// use std::sync::atomic::Ordering;
///
/// clockscope::page()[layout::FLOOR / 8].store(u64::MAX, Ordering::Relaxed);
/// ```
#[derive(Clone, Copy)]
pub struct SharedPage(&'static [AtomicU64; layout::SIZE / 8]);

impl SharedPage {
    pub(crate) const fn new(words: &'static [AtomicU64; layout::SIZE / 8]) -> Self {
        Self(words)
    }

    /// Loads the word at an offset in bytes, as [`crate::layout`] has them.
    ///
    /// # Panics
    /// The offset is not a multiple of 8, or not less than [`layout::SIZE`]; or the ordering is
    /// [`Ordering::Release`] or [`Ordering::AcqRel`].
    #[inline]
    #[must_use]
    pub fn load(self, offset: usize, ordering: Ordering) -> u64 {
        assert!(offset % 8 == 0, "offset {offset} in the shared page: expected a multiple of 8");
        self.0[offset / 8].load(ordering)
    }

    /// Returns the address of the page, for code in other languages in this process. It stays valid
    /// for the life of the process.
    ///
    /// Load each word whole and atomically: the library writes to them at any time. Never write
    /// through it.
    #[inline]
    #[must_use]
    pub const fn as_ptr(self) -> *const u64 {
        self.0.as_ptr().cast()
    }
}

impl fmt::Debug for SharedPage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SharedPage").field(&self.as_ptr()).finish()
    }
}
