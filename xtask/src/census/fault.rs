//! The faults that a census plants, and their hosts.

use anyhow::{Context, Result};
use clockscope_testing::simulation::Random;

/// A fault of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A kernel upgrade makes it use the HPET.
    Hpet,
    /// The kernel marks the counter unstable.
    UnstableTsc,
    /// A kernel release makes two clocks slower.
    SlowerKernel,
    /// No daemon synchronizes it.
    Unsynchronized,
    /// Its daemon states that civil time is far off.
    CivilOff,
    /// One clock costs more than on machines of its kind.
    Outlier,
    /// Its counter is far off the nominal frequency.
    RateOff,
    /// Its records end.
    Silent,
    /// It never left a record.
    Never,
    /// It records a wrong year.
    ClockWrong,
    /// It is checked twice a day, first in another state.
    Twice,
}

impl Fault {
    /// All faults.
    pub(super) const ALL: [Self; 11] = [
        Self::Hpet,
        Self::UnstableTsc,
        Self::SlowerKernel,
        Self::Unsynchronized,
        Self::CivilOff,
        Self::Outlier,
        Self::RateOff,
        Self::Silent,
        Self::Never,
        Self::ClockWrong,
        Self::Twice,
    ];

    /// Returns its name in truth.json.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hpet => "hpet",
            Self::UnstableTsc => "unstable_tsc",
            Self::SlowerKernel => "slower_kernel",
            Self::Unsynchronized => "unsynchronized",
            Self::CivilOff => "civil_off",
            Self::Outlier => "outlier",
            Self::RateOff => "rate_off",
            Self::Silent => "silent",
            Self::Never => "never",
            Self::ClockWrong => "clock_wrong",
            Self::Twice => "twice",
        }
    }

    /// Returns the fault of a name.
    pub(super) fn named(name: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|fault| fault.name() == name);
        found.with_context(|| format!("unknown fault \"{name}\": expected one of {names}"))
    }

    /// Returns the clock that it concerns, if it is one alone.
    pub(super) fn clock(self) -> Option<&'static str> {
        (self == Self::Outlier).then_some("monotonic")
    }

    /// Returns whether it needs the TSC or a clocksource that replaces it. An outlier needs like
    /// hosts, of which x86 has the most.
    pub(super) fn needs_x86(self) -> bool {
        matches!(self, Self::Hpet | Self::UnstableTsc | Self::Twice | Self::Outlier)
    }

    /// Draws the first of so many days, counted from 1, on which it shows.
    pub(super) fn first_day(self, days: u64, random: &mut Random) -> u64 {
        match self {
            Self::Hpet => UPGRADE_DAY,
            Self::SlowerKernel => days - 3,
            // At least four days before the last one have none.
            Self::Silent => random.between(3, days - 2),
            Self::UnstableTsc | Self::Unsynchronized | Self::CivilOff | Self::RateOff => random.between(3, days - 1),
            Self::Outlier | Self::Never | Self::ClockWrong | Self::Twice => 1,
        }
    }
}

/// The day of the kernel upgrade of [`Fault::Hpet`].
const UPGRADE_DAY: u64 = 9;

/// A fault of a host, and the first day on which it shows, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planted {
    pub(super) fault: Fault,
    pub(super) day: u64,
}

/// Draws the faults of so many hosts: one in a hundred has each, two at least, one where there are
/// too few hosts for that. A host has one fault at most.
pub(super) fn draw(hosts: usize, days: u64, random: &mut Random) -> Vec<Option<Planted>> {
    let mut order: Vec<usize> = (0..hosts).collect();
    for at in (1..hosts).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    let each = if hosts > 3 * Fault::ALL.len() { (hosts / 100).max(2) } else { 1 };
    let faults = Fault::ALL.into_iter().flat_map(|fault| std::iter::repeat_n(fault, each));
    let mut planted = vec![None; hosts];
    for (host, fault) in order.into_iter().zip(faults) {
        planted[host] = Some(Planted { fault, day: fault.first_day(days, random) });
    }
    planted
}
