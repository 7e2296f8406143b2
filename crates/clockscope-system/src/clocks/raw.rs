//! Clocks, as a program that reads them sees them.

use std::borrow::Cow;

use clockscope_core::{ClockBasis, ClockKind, Errno, ReadPath, Unavailable};
use clockscope_records::{Figure, Resolution, Unit, texts};

use super::interface::Interface;

/// A clock that can be read.
///
/// Reading and understanding are two steps, because only the first may cost anything while it is
/// being measured: [`RawClock::read`] leaves what the hardware or the call delivered in the
/// caller's place, [`RawClock::value`] turns that into a number later.
///
/// Any thread may read it, several at once.
pub trait RawClock: Send + Sync {
    /// Raw result that one read leaves behind: a counter value, a `timespec`, …
    type Raw: Copy + Default + Send + Sync;

    /// Reads the clock once into `raw`.
    ///
    /// Inlined into the caller's loop; the compiler can neither remove nor merge two reads.
    /// Ordering against surrounding instructions is that of the clock, as documented for its type.
    ///
    /// # Errors
    /// The error number of the call, when it refused; `raw` is then unspecified. Instructions
    /// cannot refuse.
    fn read(&self, raw: &mut Self::Raw) -> Result<(), Errno>;

    /// The reading as a number in the clock's [`Unit`]. Differences are to be taken wrapping, as
    /// `i64`.
    fn value(&self, raw: &Self::Raw) -> u64;
}

/// Description of a clock. Its facts are stated here, by the clock itself, and nowhere derived from
/// its name.
#[derive(Clone, Debug)]
pub struct ClockInfo {
    /// Its name, in lower case with underscores.
    pub name: Cow<'static, str>,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Names by which programs of its system read it, the best known first.
    pub interfaces: &'static [Interface],
    /// The quantity that it counts.
    pub kind: ClockKind,
    /// The way by which it is read.
    pub path: ReadPath,
    /// Unit of its values.
    pub unit: Unit,
    /// Its nominal resolution.
    pub resolution: Resolution,
    /// One line: what is read.
    pub description: &'static str,
    /// The hardware that its readings come from.
    pub basis: ClockBasis,
    /// True if a read is ordered: it takes effect after everything before it in the program, so
    /// that of two reads, one of which happens before the other, the later one is never smaller.
    pub is_ordered: bool,
    /// True if it is coarse by design: the timer tick moves it.
    pub is_coarse: bool,
    /// True if the kernel steers its rate, as NTP wants it.
    pub is_steered: bool,
    /// True if it goes on while the machine is suspended.
    pub counts_suspend: bool,
    /// True if it is a device of its own, which is read in one way only.
    pub is_device: bool,
    /// True if programs of this system usually read it: for intervals if it is monotonic, for the
    /// time of day if it is a wall clock.
    pub is_usual: bool,
    /// True if it is a call that reads another clock of the same system: an older one, or the
    /// standard library of a language.
    pub is_wrapper: bool,
    /// True if a read costs less where it is read often: it calibrates itself for callers who do.
    pub is_adaptive: bool,
}

impl ClockInfo {
    /// Creates the description of a clock in ns that is ordered, not coarse, not a device, not the
    /// usual one of its system, not adaptive, and does not wrap another clock. A clock of this
    /// kind that is a wall clock or monotonic is the kernel's: read from its clocksource, and
    /// steered. One that is monotonic leaves out suspends.
    #[must_use]
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        kind: ClockKind,
        path: ReadPath,
        resolution: Resolution,
        description: &'static str,
    ) -> Self {
        Self { name: name.into(), ..Self::of_kind("", kind, path, resolution, description) }
    }

    /// [`ClockInfo::new`] for constants.
    pub(crate) const fn of_kind(
        name: &'static str,
        kind: ClockKind,
        path: ReadPath,
        resolution: Resolution,
        description: &'static str,
    ) -> Self {
        let is_kernels = matches!(kind, ClockKind::Monotonic | ClockKind::Wall);
        Self {
            name: Cow::Borrowed(name),
            aliases: &[],
            interfaces: &[],
            kind,
            path,
            unit: Unit::Nanoseconds,
            resolution,
            description,
            basis: match kind {
                ClockKind::Monotonic | ClockKind::Wall => ClockBasis::Clocksource,
                ClockKind::CpuTime => ClockBasis::Scheduler,
                ClockKind::Counter | ClockKind::Cycles => ClockBasis::Other,
            },
            is_ordered: true,
            is_coarse: false,
            is_steered: is_kernels,
            counts_suspend: !matches!(kind, ClockKind::Monotonic | ClockKind::CpuTime),
            is_device: false,
            is_usual: false,
            is_wrapper: false,
            is_adaptive: false,
        }
    }

    /// Returns the interface that programs write like this; `None` if it is not read by that.
    #[must_use]
    pub fn interface(&self, text: &str) -> Option<&'static Interface> {
        self.interfaces.iter().find(|interface| interface.is_written(text))
    }

    /// Returns whether it is a wall clock: the time of day, which may be set.
    #[must_use]
    pub fn is_wall(&self) -> bool {
        self.kind == ClockKind::Wall
    }

    /// Returns whether it counts processor time.
    #[must_use]
    pub fn is_cpu_time(&self) -> bool {
        self.kind == ClockKind::CpuTime
    }

    /// Returns whether it is the processor's own counter, in whatever reading sequence.
    #[must_use]
    pub fn is_counter(&self) -> bool {
        self.basis == ClockBasis::Counter
    }

    /// Returns the length of its unit in ns, where a count of the processor's counter takes so
    /// long;
    /// `None` for a unit whose length is not fixed.
    #[must_use]
    pub fn ns_per_unit(&self, ns_per_count: f64) -> Option<f64> {
        self.unit.length_ns(self.kind, ns_per_count)
    }

    /// Returns the resolution that its interface states, in ns; one count of the processor's
    /// counter once the length of that is known.
    #[must_use]
    pub fn nominal_resolution_ns(&self, ns_per_count: Option<f64>) -> Figure<f64> {
        match &self.resolution {
            Resolution::Nanoseconds(ns) => Figure::Known(*ns),
            Resolution::OneCount => Figure::of(ns_per_count, texts::ONE_COUNT),
            Resolution::Unknown(reason) => Figure::unknown(reason.to_string()),
        }
    }
}

/// A clock, or the reason why there is none, with its description either way.
#[derive(Debug)]
pub struct Entry<C> {
    /// Description of the clock.
    pub info: ClockInfo,
    /// The clock itself. That it is here does not promise that it answers: a filter may still deny
    /// the call.
    pub clock: Result<C, Unavailable>,
}

/// Receives every clock of a platform with its own type.
pub trait Visitor {
    /// Called once a clock, in the order in which a table should list them.
    fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_says_what_moves_a_clock() {
        use ClockKind::{Counter, CpuTime, Cycles, Monotonic, Wall};
        let facts = |kind| {
            let info = ClockInfo::new("x", kind, ReadPath::Libc, Resolution::OneCount, "x");
            (info.basis, info.is_steered, info.counts_suspend)
        };
        assert_eq!([Monotonic, Wall].map(facts), [false, true].map(|counts| (ClockBasis::Clocksource, true, counts)));
        assert_eq!(facts(CpuTime), (ClockBasis::Scheduler, false, false));
        assert_eq!([Counter, Cycles].map(facts), [(ClockBasis::Other, false, true); 2]);
    }
}
