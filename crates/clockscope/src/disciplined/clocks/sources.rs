//! The two clocks that a disciplined clock is made of, as traits: a test, or a program with clocks
//! of its own, brings others.

use clockscope_core::clocksource::ClocksourceName;

use super::first_reading::FirstReading;
use crate::Errno;
use crate::disciplined::page::statement::WallStatement;

/// A counter: cheap to read, of an unknown rate.
///
/// Only wrapping differences of its readings count. Readings are compared around half of 2^64.
pub trait Counter {
    /// Bits that count. Fewer than 64 are accepted only where they last for
    /// [`Counter::MIN_PERIOD_NS`].
    const BITS: u32 = 64;

    /// Shortest period of a counter, in ns: ten years. One that wraps sooner could wrap unnoticed
    /// between two readings.
    const MIN_PERIOD_NS: f64 = 10.0 * 365.25 * 86400e9;

    /// Reads the counter after every load that an earlier branch depends on. A reading that is
    /// taken after another one in happens-before order, on any CPU, is not smaller, as far as the
    /// CPUs' counters agree. Called only after [`Counter::is_permitted`] did not answer
    /// `Some(false)`.
    ///
    /// An instruction that waits for all earlier ones does more than that: LFENCE on x86. On
    /// aarch64 and POWER it is enough that none begins before earlier branches are decided (ISB,
    /// ISYNC), because the clock branches on a word that it loads first, with acquire ordering. A
    /// load that no branch depends on may still be outstanding: [`crate::ticks::now`] waits for
    /// those as well.
    fn ordered(&self) -> u64;

    /// The bare reading: may be taken earlier than the program says.
    fn unordered(&self) -> u64 {
        self.ordered()
    }

    /// A reading that is no later than the moment at which an OS clock shows the time whose call
    /// follows it. May be taken earlier than the program says: a bracket is then wider, but not
    /// wrong.
    fn before_os(&self) -> u64 {
        self.ordered()
    }

    /// Returns true if this process may read it; `None` where the system cannot be asked. Must not
    /// read it.
    fn is_permitted(&self) -> Option<bool>;

    /// Returns true if the kernel builds its current clocks on this counter; `None` where it does
    /// not report that.
    fn is_clocksource(&self) -> Option<bool>;

    /// Returns true if the hardware promises a constant rate in all states; `None` where it does
    /// not report that.
    fn is_invariant(&self) -> Option<bool>;

    /// The answer of [`Counter::is_clocksource`], and the name of the kernel's clocksource if the
    /// same question shows it. Must not allocate.
    fn clocksource(&self) -> (Option<bool>, Option<ClocksourceName>) {
        (self.is_clocksource(), None)
    }

    /// Name of the kernel's clocksource, where it reports one. Asked by
    /// [`Disciplined::recheck`] only, if [`Counter::clocksource`] names none.
    ///
    /// [`Disciplined::recheck`]: crate::disciplined::Disciplined::recheck
    fn clocksource_name(&self) -> Option<ClocksourceName> {
        None
    }

    /// The nominal frequency in Hz, and its source. It is compared, never used. Makes no system
    /// call.
    fn nominal_hz(&self) -> Option<(f64, &'static str)> {
        None
    }

    /// The counter's frequency in Hz as the kernel states it. Asked by [`Disciplined::recheck`]
    /// only, without a [`Counter::nominal_hz`].
    ///
    /// [`Disciplined::recheck`]: crate::disciplined::Disciplined::recheck
    fn kernel_hz(&self) -> Option<f64> {
        None
    }
}

/// An operating system's clock: of a known unit, trusted, and more expensive to read.
pub trait OsClock {
    /// The time in ns. Ordered like [`Counter::ordered`], by branches of its own: those on the
    /// sequence number of Linux' vDSO, or a system call. Expected not to decrease; where it does,
    /// the disciplined clock stands still instead.
    ///
    /// # Errors
    /// The system refused.
    fn now_ns(&self) -> Result<u64, Errno>;

    /// The clock's tick in ns, 1 or more: the time may be that much further than the reading.
    /// `is_the_counter`: the kernel builds this clock on the counter.
    fn tick_ns(&self, is_the_counter: bool) -> u64;

    /// Returns true if it is a monotonic clock, and not one that can be set.
    fn is_monotonic(&self) -> bool {
        true
    }

    /// Total time that the machine has spent suspended, in ns, if the clock leaves that time out;
    /// `None` if unknown. A difference of both clocks after a suspend is not an error of either.
    /// Asked when they disagree.
    fn suspended_ns(&self) -> Option<u64> {
        None
    }

    /// A number that changes when the machine was moved to other hardware or restored from a
    /// snapshot, which invalidates the calibration of the counter; `None` where the system does not
    /// announce that, and while the number is being changed. Asked at each renewal; must not wait.
    fn disruptions(&self) -> Option<u64> {
        None
    }

    /// The CPU that the calling thread runs on; `None` where it is not known. Asked at each renewal
    /// after [`crate::disciplined::Disciplined::readmit_on`].
    fn current_cpu(&self) -> Option<u32> {
        None
    }

    /// An unsteered clock of the same oscillator as [`OsClock::now_ns`], in ns since any moment: it
    /// carries the time of day on for callers that are not served by the counter
    /// ([`Disciplined::bounded`]). It stops and steps when that one does. `None` where there is no
    /// such clock, or reading it is not cheap.
    ///
    /// [`Disciplined::bounded`]: crate::disciplined::Disciplined::bounded
    fn raw_ns(&self) -> Option<u64> {
        None
    }

    /// The wall clock in ns since the Unix epoch, ordered as [`OsClock::now_ns`] is.
    ///
    /// # Errors
    /// The system refused, or has none.
    fn wall_ns(&self) -> Result<i64, Errno> {
        Err(Errno::UNSUPPORTED)
    }

    /// Returns true if the wall clock is steered as [`OsClock::now_ns`] is: then their distance
    /// changes only when the wall clock is set or leaps, or while the machine sleeps. Otherwise the
    /// wall clock itself is served, and never by the counter.
    fn is_wall_steered_alike(&self) -> bool {
        true
    }

    /// The time since the machine was started, in ns, with suspends; ordered as
    /// [`OsClock::now_ns`] is.
    ///
    /// # Errors
    /// The system refused, or has none.
    fn boot_ns(&self) -> Result<i64, Errno> {
        Err(Errno::UNSUPPORTED)
    }

    /// Returns true if [`OsClock::boot_ns`] is steered as [`OsClock::now_ns`] is: then their
    /// distance changes only while the machine sleeps. Otherwise that clock itself is served, and
    /// never by the counter.
    fn is_boot_steered_alike(&self) -> bool {
        true
    }

    /// The system's statement on the time of day now: the true time is in the interval at some
    /// moment of the call. `None` where it states nothing. Asked once a second where
    /// [`Disciplined::bounded`] is used; at each call without a line where there is no
    /// [`OsClock::raw_ns`].
    ///
    /// [`Disciplined::bounded`]: crate::disciplined::Disciplined::bounded
    fn wall_statement(&self) -> Option<WallStatement> {
        None
    }

    /// Called once in each process before [`OsClock::tick_ns`], and before any line is published.
    /// (One reading comes before that.) `may_read_counter` is the answer of
    /// [`Counter::is_permitted`].
    fn prepare(&self, may_read_counter: Option<bool>) {
        let _ = may_read_counter;
    }

    /// A number of the process that calls, never 0: a forked child has another one.
    fn process(&self) -> u64 {
        1
    }

    /// Returns the memory of the process's first reading: `own` of the disciplined clock, or memory
    /// that the process already uses, so that the first reading waits for no page.
    fn first_reading<'a>(&'a self, own: &'a FirstReading) -> &'a FirstReading {
        own
    }

    /// Called where preemption matters: on the slow path after the line was loaded, and before each
    /// publication. Tests let other threads run there; there is no other use.
    #[doc(hidden)]
    fn preemption_point(&self) {}
}

/// Defines methods of a reference as those of its target.
macro_rules! forward {
    ($($(#[$attribute:meta])* fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {$(
        $(#[$attribute])*
        fn $name(&self $(, $argument: $type)*) $(-> $result)? {
            (**self).$name($($argument),*)
        }
    )*};
}

#[deny(clippy::missing_trait_methods, reason = "a default would hide the answer of the counter itself")]
impl<C: Counter> Counter for &C {
    const BITS: u32 = C::BITS;
    const MIN_PERIOD_NS: f64 = C::MIN_PERIOD_NS;

    forward! {
        #[inline(always)]
        fn ordered(&self) -> u64;
        #[inline(always)]
        fn unordered(&self) -> u64;
        fn before_os(&self) -> u64;
        fn is_permitted(&self) -> Option<bool>;
        fn is_clocksource(&self) -> Option<bool>;
        fn is_invariant(&self) -> Option<bool>;
        fn clocksource(&self) -> (Option<bool>, Option<ClocksourceName>);
        fn clocksource_name(&self) -> Option<ClocksourceName>;
        fn nominal_hz(&self) -> Option<(f64, &'static str)>;
        fn kernel_hz(&self) -> Option<f64>;
    }
}

#[deny(clippy::missing_trait_methods, reason = "a default would hide the answer of the clock itself")]
impl<S: OsClock> OsClock for &S {
    forward! {
        fn now_ns(&self) -> Result<u64, Errno>;
        fn tick_ns(&self, is_the_counter: bool) -> u64;
        fn is_monotonic(&self) -> bool;
        fn suspended_ns(&self) -> Option<u64>;
        fn disruptions(&self) -> Option<u64>;
        fn current_cpu(&self) -> Option<u32>;
        fn raw_ns(&self) -> Option<u64>;
        fn wall_ns(&self) -> Result<i64, Errno>;
        fn is_wall_steered_alike(&self) -> bool;
        fn boot_ns(&self) -> Result<i64, Errno>;
        fn is_boot_steered_alike(&self) -> bool;
        fn wall_statement(&self) -> Option<WallStatement>;
        fn prepare(&self, may_read_counter: Option<bool>);
        fn process(&self) -> u64;
        fn preemption_point(&self);
    }

    fn first_reading<'a>(&'a self, own: &'a FirstReading) -> &'a FirstReading {
        (**self).first_reading(own)
    }
}

/// Answers of a [`Counter`] that system and hardware trust.
#[cfg(test)]
macro_rules! trusted_counter {
    () => {
        fn is_permitted(&self) -> Option<bool> {
            Some(true)
        }
        fn is_clocksource(&self) -> Option<bool> {
            Some(true)
        }
        fn is_invariant(&self) -> Option<bool> {
            Some(true)
        }
    };
}
#[cfg(test)]
pub(crate) use trusted_counter;

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;

    /// An OS clock that keeps the first reading by itself.
    struct Keeping(FirstReading);

    impl OsClock for Keeping {
        fn now_ns(&self) -> Result<u64, Errno> {
            Ok(1)
        }

        fn tick_ns(&self, _: bool) -> u64 {
            1
        }

        fn first_reading<'a>(&'a self, _: &'a FirstReading) -> &'a FirstReading {
            &self.0
        }
    }

    /// That all others are is a lint's to show.
    #[test]
    fn the_place_of_the_first_reading_is_asked_of_the_clock_behind_a_reference() {
        fn place<'a, S: OsClock>(clock: &'a S, own: &'a FirstReading) -> *const FirstReading {
            clock.first_reading(own)
        }
        let (clock, own) = (Keeping(FirstReading::new()), FirstReading::new());
        assert_eq!(place(&&clock, &own), &raw const clock.0);
    }
}
