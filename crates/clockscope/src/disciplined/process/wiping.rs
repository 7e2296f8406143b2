//! The shared state as memory: a forked child's is wiped, and programs in other languages read the
//! page by its words.

#![allow(unsafe_code, reason = "memory is wiped and read as words; marks are made")]

use clockscope_core::os::{self, Timeline};

use super::lock::ProcessMark;
use super::shared::Shared;
use crate::disciplined::lines::state::SteeringState;
use crate::disciplined::page::layout;
use crate::disciplined::page::sync::{AtomicU64, Ordering};

/// The process's clock, whose shared state a forked child must not inherit.
pub(crate) trait Wiped: Sized + 'static {
    /// Returns that state.
    fn shared() -> &'static Shared<Self, Timeline>;
}

/// Asks the kernel to wipe the state in forked children. `false` where the kernel cannot.
pub(crate) fn wipe_on_fork<W: Wiped>() -> bool {
    // SAFETY: all-zero is the state before the first use, of both clocks as well; the child's only
    // thread is in `fork`, not in our clock.
    unsafe { os::wipe_on_fork(W::shared()) }
}

/// Has forked children forget the state, where the kernel cannot wipe the memory.
pub(crate) fn forget_in_children<W: Wiped>() {
    extern "C" fn forget<W: Wiped>() {
        // SAFETY: called in a forked child, in which there is only this thread, and it is in no
        // call of ours.
        unsafe { W::shared().forget() };
    }
    os::call_in_child(forget::<W>);
}

impl<C, S> Shared<C, S> {
    /// Returns the words of the page.
    pub(crate) fn page_words(&self) -> &[AtomicU64; layout::SIZE / 8] {
        // SAFETY: the page is in C's layout and holds only atomics of 64 bits, without a gap:
        // `layout` asserts where each is, and the size of all.
        unsafe { &*(&raw const self.readings.page).cast() }
    }

    /// Returns the mark of this process. A child that forgets this state has another one.
    ///
    /// `last` counts the marks that were given, in memory that is not forgotten: so no ancestor of
    /// a process has had its mark.
    pub(crate) fn process_mark(&self, last: &AtomicU64) -> ProcessMark {
        let number = match self.process_mark.load(Ordering::Relaxed) {
            0 => {
                let number = last.fetch_add(1, Ordering::Relaxed) + 1;
                let exchanged = self.process_mark.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
                exchanged.map_or_else(|other| other, |_| number)
            }
            number => number,
        };
        // SAFETY: all threads get the number that is stored first, and `last` gave it to no
        // ancestor.
        unsafe { ProcessMark::new(number) }
    }

    /// Returns true if `mark` is the mark of this process.
    #[inline(always)]
    pub(crate) fn has_process_mark(&self, mark: ProcessMark) -> bool {
        self.process_mark.load(Ordering::Relaxed) == mark.number()
    }

    /// Forgets all but both clocks and the window, where the kernel cannot wipe the memory.
    ///
    /// # Safety
    /// No other thread may be there: the caller is a child that was just forked.
    unsafe fn forget(&self) {
        // SAFETY: the child has none of the parent's other threads.
        unsafe { self.steering.break_open(SteeringState::ZERO) };
        self.process_mark.store(0, Ordering::Relaxed);
        self.statement.wipe();
        self.readings.page.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disciplined::page::shared_statement::{ClockSnapshot, SharedStatement, Statement};
    use crate::disciplined::page::statement::WallStatement;
    use crate::disciplined::readings::Readings;
    use clockscope_core::WallState;

    /// A child forgets by itself where the kernel does not wipe the memory; a grandchild as well.
    #[test]
    fn a_process_that_forgets_has_another_mark() {
        let (shared, last) = (Shared::new(Readings::new((), ())), AtomicU64::new(0));
        let mut marks = Vec::new();
        for _ in 0..3 {
            let mark = shared.process_mark(&last);
            assert!(mark.number() != 0 && !marks.contains(&mark));
            assert_eq!(shared.process_mark(&last), mark, "it stays");
            marks.push(mark);
            // SAFETY: no other thread uses it.
            unsafe { shared.forget() };
            assert!(marks.iter().all(|mark| !shared.has_process_mark(*mark)));
        }
    }

    /// A child asks for the system's statement anew, and keeps its own.
    #[test]
    fn a_process_that_forgets_has_no_statement() {
        let (shared, nothing) = (Shared::new(Readings::new((), ())), WallStatement::nothing(WallState::Unsynchronized));
        let statement = Statement::new(nothing, ClockSnapshot::default(), 0, 1, 1).unwrap();
        for _ in 0..3 {
            let before = shared.statement.turn();
            shared.statement.keep(before, &statement);
            assert_eq!(shared.statement.load(), Some(statement));
            // SAFETY: no other thread uses it.
            unsafe { shared.forget() };
            assert_eq!((shared.statement.load(), shared.statement.turn()), (None, SharedStatement::new().turn()));
        }
    }
}
