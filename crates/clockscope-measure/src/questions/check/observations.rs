//! Observations that the judges look at: the records of all questions, and what several judges
//! derive from them.

use clockscope_records::checks::{CostCause, HypervisorStatement, ReferenceProblem};
use clockscope_records::{
    Adjtimex, ClockBasis, ClockKind, ClockRecord, Cost, Emulator, Environment, KernelVerdict, Offsets, Order, Rate,
    RateRecord, ReadPath, Sequence, Synchronization, Unknown, UnreadableClock, WallState, texts,
};
use clockscope_system::clocksource;

use super::cpu_time::CpuTimes;
use super::paths::ComparedPath;
use crate::instrument::error::MeasureError;

/// No processor takes longer for an ordered read, in ns, unless it is trapped, or emulated.
pub(super) const TRAPPED_NS: f64 = 200.0;
/// No crystal is off by more than this, in ppm.
pub(super) const CRYSTAL_PPM: f64 = 200.0;
/// A trapped read that takes longer costs this share of a system call that reads the same counter
/// at least: the trap alone enters a kernel or a hypervisor. A machine that is slow in everything,
/// such as one that is emulated and does not say so, takes less.
const TRAPPED_SHARE: f64 = 0.25;

/// Observations that verdicts are based on: of the machine, the kernel, and its clocks.
pub(crate) struct Observations {
    pub(crate) environment: Environment,
    /// True if the hardware promises a constant rate.
    pub(crate) is_invariant: Option<bool>,
    /// The hypervisor's statement on the counter.
    pub(crate) statement: Option<HypervisorStatement>,
    pub(crate) kernel: KernelVerdict,
    pub(crate) clocks: Vec<ClockRecord>,
    pub(crate) order: Order,
    pub(crate) offsets: Offsets,
    pub(crate) rates: Result<Rate, MeasureError>,
    /// True if nothing steers the reference of rates.
    pub(crate) is_reference_unsteered: bool,
    /// CPU-time clocks beside wall time.
    pub(crate) cpu_times: CpuTimes,
    /// Paths of the system's clocks beside their system calls.
    pub(crate) paths: Vec<ComparedPath>,
    /// Time from the start of the check until they were compared, in ns.
    pub(crate) elapsed_ns: f64,
    /// Libraries that are preloaded into this process.
    pub(crate) preloaded: Vec<String>,
    /// Statements of the kernel and of a daemon on the time of day.
    pub(crate) synchronization: Synchronization,
    /// True if the system's clocks were judged by the counter; otherwise by a system call.
    pub(crate) by_counter: bool,
    /// The counter's frequency until its rate was looked at closely, and over the whole time.
    pub(crate) means: [Mean; 2],
    /// The clocksource at the start, if the kernel has turned to another one since then.
    pub(crate) turned_from: Option<String>,
}

/// The counter's mean frequency since the start, by the reference of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mean {
    /// In Hz, and its bound in ppm.
    Known { hz: f64, bound_ppm: f64 },
    /// The counter is behind where it began, or stands there.
    WentBack,
    /// There is no counter, or another reference.
    Unknown,
}

/// The processor's own counter, in whatever reading sequence.
pub(crate) fn is_counter(clock: &ClockRecord) -> bool {
    clock.identity.is_counter()
}

/// Returns the bound of a clock's step, in ns, where no more than that is known of it.
pub(crate) fn at_most_ns(clock: &ClockRecord) -> Option<f64> {
    if clock.tick_ns.is_known() { None } else { clock.tick_evidence.as_ref()?.at_most_ns }
}

/// Returns the clock with the reason why it cannot be read; `None` if it could be.
pub(crate) fn unreadable(clock: &ClockRecord) -> Option<UnreadableClock> {
    if clock.available {
        return None;
    }
    let reason = clock.reason.clone().unwrap_or_else(|| texts::NOT_MEASURED.into());
    Some(UnreadableClock { clock: clock.identity.label(), reason })
}

/// Returns true if this machine lacks the clock, or shows its device to others only: nothing is
/// wrong with it, and there is nothing to judge.
pub(super) fn is_absent(clock: &ClockRecord) -> bool {
    let is_device = clock.identity.path == ReadPath::Mmap;
    match &clock.reason {
        Some(Unknown::Clock(reason)) => !clock.available && (reason.is_missing() || is_device && reason.is_denied()),
        _ => false,
    }
}

impl Observations {
    /// A clock by its name or alias, with its path where that is not the usual one.
    pub(crate) fn clock(&self, name: &str) -> Option<&ClockRecord> {
        self.clocks
            .iter()
            .find(|clock| clock.identity.label() == name || clock.identity.aliases.iter().any(|alias| alias == name))
    }

    /// The rate of a clock, if it was compared.
    pub(super) fn rate(&self, label: &str) -> Option<&RateRecord> {
        self.rates.as_ref().ok()?.clocks.iter().find(|rate| rate.name == label)
    }

    /// All sequences of the counter.
    pub(super) fn counters(&self) -> impl Iterator<Item = &ClockRecord> {
        self.clocks.iter().filter(|clock| is_counter(clock))
    }

    /// Sequence that handoffs of a clock showed.
    pub(crate) fn handed_over(&self, label: &str) -> Option<&Sequence> {
        self.order.sequences.iter().find(|sequence| sequence.name == label)
    }

    /// Returns true if every read of the counter is trapped: then all that reads it is expensive.
    pub(crate) fn is_trapped(&self) -> bool {
        let Some((_, cost)) = self.cheapest_ordered() else { return false };
        let ns = cost.median;
        let is_long = ns > TRAPPED_NS;
        let is_slow = self.syscall_ns().map_or(is_long, |syscall_ns| {
            CostCause::is_like_system_call(ns, syscall_ns) || (is_long && ns >= TRAPPED_SHARE * syscall_ns)
        });
        self.environment.emulation.is_empty() && is_slow
    }

    /// The cheapest sequence that is ordered, or else of all, and its cost.
    pub(super) fn cheapest_ordered(&self) -> Option<(&str, &Cost)> {
        let ordered = self
            .counters()
            .filter(|clock| self.handed_over(&clock.identity.label()).is_some_and(|sequence| sequence.ordered));
        cheapest(ordered).or_else(|| cheapest(self.counters()))
    }

    /// The clock by which programs of this system usually measure intervals, as they read it.
    pub(super) fn stopwatch(&self) -> Option<&ClockRecord> {
        self.stopwatch_by(ReadPath::is_usual)
    }

    /// Cost of a clock that enters the kernel, in ns: the measure for those that need not.
    pub(super) fn syscall_ns(&self) -> Option<f64> {
        self.stopwatch_by(|path| path == ReadPath::Syscall).and_then(cost_ns)
    }

    fn stopwatch_by(&self, is_path: impl Fn(ReadPath) -> bool) -> Option<&ClockRecord> {
        self.clocks.iter().find(|clock| {
            let clock = &clock.identity;
            clock.is_usual && clock.kind == ClockKind::Monotonic && is_path(clock.path)
        })
    }

    /// The kernel's clocksource. A program that is emulated alone sees the host's files, which say
    /// nothing about it.
    pub(crate) fn clocksource(&self) -> Option<&str> {
        if self.is_emulated_alone() { None } else { self.environment.clocksource.as_deref() }
    }

    /// Returns true if the kernel's clocks are computed from the counter by what a hypervisor
    /// states: it corrects what is wrong with the counter, and what the kernel says of that
    /// concerns the counter alone.
    pub(super) fn is_corrected(&self) -> bool {
        self.clocksource().is_some_and(clocksource::is_scaled_counter)
    }

    /// Returns true if the same code reads both clocks, from the same counter: by the vDSO or the
    /// kernel, which add to its reading what is each clock's own.
    pub(super) fn shares_path(&self, one: &ClockRecord, other: &ClockRecord) -> bool {
        let (one, other) = (&one.identity, &other.identity);
        let is_same_way = (one.path, one.basis, one.is_coarse) == (other.path, other.basis, other.is_coarse);
        let is_kernels = one.basis == ClockBasis::Clocksource && !one.is_wrapper && !other.is_wrapper;
        one.name != other.name && is_same_way && is_kernels
    }

    /// Returns whether a clock is computed from the same hardware counter as the reference of
    /// rates, which is a clock of the kernel; `None` where the kernel's clocksource is not known.
    pub(super) fn shares_hardware(&self, clock: &ClockRecord) -> Option<bool> {
        match clock.identity.basis {
            ClockBasis::Clocksource => Some(true),
            ClockBasis::Counter => self.clocksource().and_then(clocksource::is_counter_based),
            _ => self.clocksource().map(|name| name == clock.identity.name),
        }
    }

    /// Returns true if the program is emulated, and not the machine: the kernel is the host's.
    pub(crate) fn is_emulated_alone(&self) -> bool {
        self.environment.emulation.iter().any(Emulator::is_of_program)
    }

    /// Reason why the kernel's clock cannot judge the counter, nor the counter, whose rate it gave,
    /// the kernel's clock: `None` if they can. A clock that the timer tick moves loses time with
    /// every tick that is lost.
    pub(crate) fn reference_problem(&self) -> Option<ReferenceProblem> {
        match (self.clocksource(), &self.rates) {
            (Some(name), _) if clocksource::is_timer_tick(name) => Some(ReferenceProblem::TimerTick),
            (_, Ok(rates)) if rates.reference_suspected => Some(ReferenceProblem::ReferenceChanged),
            _ => None,
        }
    }

    /// The kernel's statement on its own clock; `None` where it makes none.
    pub(super) fn kernel_time(&self) -> Option<&Adjtimex> {
        self.synchronization.adjtimex.known()
    }

    /// The largest error of the time of day by the statement of chronyd, in s, with what it has
    /// still to correct; `None` where none answers that follows a source, and while it works off an
    /// offset above its error.
    pub(super) fn daemon_error_s(&self) -> Option<f64> {
        let tracking = self.synchronization.chrony.known()?;
        let correction_s = tracking.correction_s.abs();
        let error_s = correction_s + tracking.error_s;
        (correction_s <= tracking.error_s && error_s.is_finite()).then_some(error_s)
    }

    /// Correction that a daemon makes to the frequency of the kernel's clock and goes on to make,
    /// in ppm, and the bound of that; `None` where no daemon states it, where it is no more than a
    /// crystal's error, where the usual clock does not run so, and while the daemon works off an
    /// offset above its error.
    pub(super) fn lasting_ppm(&self) -> Option<(f64, f64)> {
        if !self.is_reference_unsteered {
            return None;
        }
        let (ppm, bound_ppm) = match self.synchronization.chrony.known() {
            // chronyd sets the kernel's frequency to the opposite of its own.
            Some(chrony) if chrony.correction_s.abs() <= chrony.error_s => (-chrony.freq_ppm, chrony.skew_ppm.abs()),
            Some(_) => return None,
            // Daemons that steer by the kernel's loop leave offsets to that, beside the frequency.
            None => match self.kernel_time()? {
                kernel if kernel.state != Some(WallState::Synchronized) => return None,
                kernel if !kernel.status.iter().any(|flag| flag == "pll") => return None,
                kernel => (kernel.steering_ppm(), 0.0),
            },
        };
        let found = self.rate(&self.stopwatch()?.identity.label())?;
        let apart_ppm = (found.ppm.get()? - ppm).abs() - found.bound_ppm.get()? - bound_ppm;
        (ppm.abs() - bound_ppm > CRYSTAL_PPM && apart_ppm <= CRYSTAL_PPM).then_some((ppm, bound_ppm))
    }

    /// Returns true if order across CPUs means something for a clock: not for one of a single
    /// thread.
    pub(super) fn is_ordered_across(&self, label: &str, is_counter: bool) -> bool {
        is_counter || self.clock(label).is_some_and(|clock| !clock.identity.is_cpu_time)
    }
}

/// Median cost of a read, in ns.
pub(super) fn cost_ns(clock: &ClockRecord) -> Option<f64> {
    Some(clock.cost_ns.known()?.median)
}

fn cheapest<'a>(clocks: impl Iterator<Item = &'a ClockRecord>) -> Option<(&'a str, &'a Cost)> {
    let costs = clocks.filter_map(|clock| Some((clock.identity.name.as_str(), clock.cost_ns.known()?)));
    costs.min_by(|one, other| one.1.median.total_cmp(&other.1.median))
}
