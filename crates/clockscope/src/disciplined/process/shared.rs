//! The state that a forked child must not inherit.

use super::lock::Lock;
use crate::disciplined::lines::state::SteeringState;
use crate::disciplined::page::shared_statement::SharedStatement;
#[cfg(not(clockscope_models))]
use crate::disciplined::page::sync::AtomicU64;
use crate::disciplined::page::sync::const_fn;
use crate::disciplined::readings::Readings;

/// The shared state. All zero is the state before the first use, if it is one of both clocks.
///
/// Pages of its own, so that the kernel can wipe them in a forked child: a lock that another thread
/// held while the process forked would never be released there, and the parent's calibration may
/// not hold in the child's time namespace. A page has 4 kB on x86, and up to 64 kB elsewhere.
#[cfg_attr(all(not(clockscope_models), any(target_arch = "x86_64", target_arch = "x86")), repr(C, align(4096)))]
#[cfg_attr(all(not(clockscope_models), not(any(target_arch = "x86_64", target_arch = "x86"))), repr(C, align(65536)))]
pub(crate) struct Shared<C, S> {
    pub(crate) readings: Readings<C, S>,
    pub(crate) steering: Lock<SteeringState>,
    /// For callers without a line.
    pub(crate) statement: SharedStatement,
    /// Identifies this process; 0 until [`Shared::process_mark`] is called. Last, where nothing is
    /// written that readers would wait for.
    #[cfg(not(clockscope_models))]
    pub(crate) process_mark: AtomicU64,
}

impl<C, S> Shared<C, S> {
    const_fn! {
        /// The state before the first use.
        pub(crate) fn new(readings: Readings<C, S>) -> Self {
            Self {
                readings,
                steering: Lock::new(SteeringState::ZERO),
                statement: SharedStatement::new(),
                #[cfg(not(clockscope_models))]
                process_mark: AtomicU64::new(0),
            }
        }
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;
    use crate::disciplined::page::Page;

    /// For every size of the machine's pages, all of this memory is wiped, and no other.
    #[test]
    fn the_shared_state_fills_its_pages() {
        let largest = if cfg!(any(target_arch = "x86_64", target_arch = "x86")) { 4096 } else { 65_536 };
        assert_eq!((align_of::<Shared<(), u64>>() % largest, size_of::<Shared<(), u64>>() % largest), (0, 0));
    }

    /// 64 bytes on nearly all processors. The process's OS clock is as large as two words.
    #[test]
    fn a_reading_touches_few_cache_lines() {
        let page = core::mem::offset_of!(Shared<(), [u64; 2]>, readings.page);
        let (needed, segments) = Page::LAYOUT;
        assert!(page + needed <= 64, "a reading of the OS clock touches two");
        assert_eq!((page + segments) % 64, 0, "a line lies in two");
    }
}
