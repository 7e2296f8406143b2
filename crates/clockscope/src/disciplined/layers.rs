//! The layers of the clock's methods.
//!
//! A layer holds the one below it and nothing else, and adds the methods of its file. It
//! dereferences to the layer below, so a method can call methods of its own layer and of lower
//! ones. It cannot call others, because no layer has a way up. So no walk from `now()` enters a
//! file twice, and serving depends on publishing, never the other way round.
//!
//! The two lowest layers, `decisions` and `readings`, have the clock's state.

use core::ops::Deref;

use super::decisions::Decisions;
use super::process::shared::Shared;
use super::readings::Readings;

/// Declares layers, each with the one below it in parentheses, and with the file of its methods.
macro_rules! layers {
    ($($(#[$comment:meta])* $layer:ident($below:ident) in $file:literal;)*) => {
        /// The layers' files and their text, from the highest to the lowest.
        #[cfg(all(test, not(clockscope_models)))]
        const FILES: &[(&str, &str)] = &[
            $(($file, include_str!($file)),)*
            ("decisions.rs", include_str!("decisions.rs")),
            ("readings.rs", include_str!("readings.rs")),
        ];

        $(
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
        )*
    };
}

layers! {
    /// Observes one moment of all clocks.
    Observer(Report) in "observation.rs";
    /// Answers questions about the clock.
    Report(WallBounds) in "report.rs";
    /// Serves the bounds of the time of day.
    WallBounds(OffsetClocks) in "bounds.rs";
    /// Serves the wall clock and the boot clock.
    OffsetClocks(Serving) in "offset_clock.rs";
    /// Serves readings of the time.
    Serving(Standstill) in "serving.rs";
    /// Holds the time while the OS clock is behind it.
    Standstill(Steering) in "standstill.rs";
    /// Begins, renews and ends lines, under the lock.
    Steering(Comparison) in "steering.rs";
    /// Compares the clocks, and ends the line where they disagree, under the lock.
    Comparison(Migration) in "comparison.rs";
    /// Notices another machine, or a CPU outside of the test.
    Migration(Offsets) in "migration.rs";
    /// Compares other clocks with the timeline.
    Offsets(Publication) in "offsets.rs";
    /// Publishes lines and ends them, under the lock.
    Publication(Locking) in "publication.rs";
    /// Takes the lock.
    Locking(Admission) in "locking.rs";
    /// Asks whether the counter may be used.
    Admission(Decisions) in "admission.rs";
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;

    /// Names of types and constants are not calls: no file has one of a layer above its own, or of
    /// the type that holds all layers.
    #[test]
    fn no_layer_imports_from_one_above_it() {
        for (number, (file, text)) in FILES.iter().enumerate() {
            let (text, _) = text.split_once("\nmod tests").unwrap_or((text, ""));
            assert!(!text.contains("Disciplined"), "{file} names Disciplined");
            for (above, _) in &FILES[..number] {
                let path = above.replace(".rs", "::");
                assert!(!text.contains(&alloc::format!("::{path}")), "{file} imports from {above}");
            }
        }
    }
}
