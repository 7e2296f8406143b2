//! The layers of the clock's methods.
//!
//! A layer holds the one below it and nothing else, and adds methods: those in the file that its
//! comment names. It dereferences to the layer below, so a method can call methods of its own layer
//! and of lower ones. It cannot call others, because no layer has a way up. So no walk from `now()`
//! enters a file twice, and serving depends on publishing, never the other way round.
//!
//! The two lowest layers, `decisions` and `readings`, have the clock's state.

use core::ops::Deref;

use super::decisions::Decisions;
use super::process::shared::Shared;
use super::readings::Readings;

/// Declares layers, each with the one below it in parentheses.
macro_rules! layers {
    ($($(#[$comment:meta])* $layer:ident($below:ident);)*) => {$(
        $(#[$comment])*
        #[repr(transparent)]
        pub(crate) struct $layer<C, S>($below<C, S>);

        impl<C, S> $layer<C, S> {
            /// A clock's layers before its first use.
            pub(super) const fn new(shared: Shared<C, S>) -> Self {
                Self($below::new(shared))
            }

            /// Returns the lowest layer of a clock that no thread reads yet.
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
    /// Begins, renews and ends lines, under the lock: `steering`.
    Steering(Comparison);
    /// Compares the clocks, and ends the line where they disagree, under the lock: `comparison`.
    Comparison(Migration);
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
}
