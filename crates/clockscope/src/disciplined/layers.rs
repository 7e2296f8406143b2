//! The layers of the clock's methods, and its state.
//!
//! A layer is the one below it and further methods, which the file that its comment names has. It
//! dereferences to that one and holds nothing else, so a method reaches methods of its own layer
//! and of lower ones alone. So no walk from `now()` enters a file twice, and serving depends on
//! publishing, never the other way round.
//!
//! All types are in this one file because the compiler divides a program's code by the files of
//! types: calls between layers stay within one part.

use core::ops::Deref;

use clockscope_core::atomic::AtomicU64;

use super::first_reading::FirstReading;
use super::shared::Shared;
use super::trust::Trust;

/// Declares layers, each with the one below it in parentheses.
macro_rules! layers {
    ($($(#[$comment:meta])* $layer:ident($below:ident);)*) => {$(
        $(#[$comment])*
        #[repr(transparent)]
        pub(crate) struct $layer<C, S>($below<C, S>);

        impl<C, S> $layer<C, S> {
            pub(super) const fn new(shared: Shared<S>, counter: C) -> Self {
                Self($below::new(shared, counter))
            }

            pub(super) const fn readings_mut(&mut self) -> &mut Readings<C, S> {
                self.0.readings_mut()
            }
        }

        impl<C, S> Deref for $layer<C, S> {
            type Target = $below<C, S>;

            #[inline(always)]
            fn deref(&self) -> &$below<C, S> {
                &self.0
            }
        }
    )*};
}

layers! {
    /// Observes one moment of all clocks: `observation`.
    Observer(Report);
    /// Answers questions about the clock: `answers`.
    Report(CivilBounds);
    /// Serves the bounds of civil time: `bounds`.
    CivilBounds(OffsetClocks);
    /// Serves the wall clock and the boot clock: `offset_clock`.
    OffsetClocks(Serving);
    /// Serves readings of the time: `serving`.
    Serving(Standstill);
    /// Holds the time while the OS clock is behind it: `standstill`.
    Standstill(Steering);
    /// Decides under the lock when a line begins, goes on and ends: `steering`.
    Steering(Migration);
    /// Notices another machine, or a CPU outside of the test: `migration`.
    Migration(Offsets);
    /// Compares other clocks with the timeline: `offsets`.
    Offsets(Publication);
    /// Publishes lines and ends them, under the lock: `publication`.
    Publication(Holding);
    /// Takes the lock: `holding`.
    Holding(Admission);
    /// Asks whether the counter may be used: `admission`.
    Admission(Decisions);
    /// Decides whether the counter is used, without the lock: `decisions`.
    Decisions(Readings);
}

/// The clock's state, and readings of both clocks and of the page: `readings`.
#[repr(C)]
pub(crate) struct Readings<C, S> {
    pub(super) shared: Shared<S>,
    pub(super) counter: C,
    /// 0 for the default: all of a clock that was not used yet is zero, so that a static one is
    /// in memory of the process's own, and not of a file. The kernel wipes no other in a forked
    /// child.
    pub(super) requested_window_ns: u64,
    // Outside of the shared page, because a fork wipes that one.
    pub(super) generation: AtomicU64,
    pub(super) wall_generation: AtomicU64,
    pub(super) trust: Trust,
    pub(super) first: FirstReading,
}

impl<C, S> Readings<C, S> {
    const fn new(shared: Shared<S>, counter: C) -> Self {
        Self {
            shared,
            counter,
            requested_window_ns: 0,
            generation: AtomicU64::new(0),
            wall_generation: AtomicU64::new(0),
            trust: Trust::new(),
            first: FirstReading::new(),
        }
    }

    const fn readings_mut(&mut self) -> &mut Self {
        self
    }
}
