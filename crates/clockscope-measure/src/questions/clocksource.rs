//! The question *clocksource*: the kernel's clocksources, and the same measurement with one after
//! the other.

use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::checks::CostCause;
use clockscope_records::{
    ClockReason, ClockRecord, Clocksource, Clocksources, Envelope, Figure, KernelCause, RateReason, ReadPath, Switched,
    Unknown, texts,
};
use clockscope_system::affinity;
use clockscope_system::clocksource::{self, Architecture, Hardware, SwitchError};
use clockscope_system::performance_counter;
use clockscope_system::timecounters::{self, Timecounter};
use clockscope_system::{ClockKind, Unit};

use crate::instrument::bench::{Progress, Setup};
use crate::instrument::catalog::{Catalog, Paths};
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::platform::ThisMachine;
use crate::questions::measure::{self, MeasureRequest, measure};

/// Request to measure with several clocksources: what, and how.
#[derive(Clone, Debug)]
pub struct SwitchedRequest {
    /// The clocksources, in this order.
    pub clocksources: Vec<String>,
    /// Clocks by their names; all if there are none.
    pub clocks: Vec<String>,
    /// The path by which clocks that have several are read.
    pub paths: Paths,
    /// Time for sampling with each clocksource, in seconds, all clocks together.
    pub duration_s: f64,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
    /// True to look across CPUs and over time as well.
    pub extended: bool,
}

/// Switches the kernel's clocksource, measures, and so on, and puts back what was there before:
/// also on an error, a panic, and when it is stopped. What was measured until an error is kept, and
/// the error in the record.
///
/// # Errors
/// No such clocksource or clock, no right to switch, or another process is switching or has left it
/// switched: then nothing was switched. What [`measure()`] reports, or the kernel refuses, before
/// anything was measured. Or the process has more than one thread: clocks are first tried in a
/// forked child.
pub fn switched(
    session: &Session<'_>,
    request: &SwitchedRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Switched>, MeasureError> {
    Catalog::new(&ThisMachine).select(&request.clocks, request.paths)?;
    // Reports what is wrong with a CPU before anything is switched; each measurement pins anew.
    drop(request.cpu.map(affinity::pin).transpose()?);
    let recorded_at = session.recorded_at()?;
    let whole = request.clocksources.len() as f64;
    let found = with_each_clocksource(&request.clocksources, session.stop, &mut |index, _| {
        // A clock's nominal resolution and path depend on the clocksource, so that it is looked at
        // anew.
        let catalog = Catalog::new(&ThisMachine).select(&request.clocks, request.paths)?;
        let SwitchedRequest { duration_s, cpu, extended, .. } = *request;
        let part = MeasureRequest { duration_s, cpu, extended, ticks: true, synchronization: extended };
        measure(&Session::new(&ThisMachine, session.stop), catalog, &part, &mut |share| {
            progress((index as f64 + share) / whole)
        })
    })?;
    let PerClocksource { was, found: measurements, error } = found;
    Ok(Envelope::of_facts(recorded_at, session.environment.clone(), Switched { was, measurements, error }))
}

/// Findings with one clocksource after the other.
#[derive(Debug)]
pub struct PerClocksource<T> {
    /// The clocksource before and after.
    pub was: String,
    /// Findings with each, in order, until something went wrong or the user stopped it.
    pub found: Vec<T>,
    /// Error during the run, or when it was put back.
    pub error: Option<String>,
}

/// Switches the kernel to one clocksource after the other, asks a question with each (by its place
/// and name), and puts back what was there before: also on an error, a panic, and when it is
/// stopped.
///
/// # Errors
/// No such clocksource, no right to switch, or another process is switching or has left it
/// switched: then nothing was switched. What the question reports, or the kernel refuses, before
/// anything was found.
pub fn with_each_clocksource<T>(
    clocksources: &[String],
    stop: &AtomicBool,
    ask: &mut dyn FnMut(usize, &str) -> Result<T, MeasureError>,
) -> Result<PerClocksource<T>, MeasureError> {
    let right = clocksource::right(clocksources)?;
    let was = right.was().to_owned();
    let mut found = Vec::new();
    let mut ended = Ok(());
    for (index, name) in clocksources.iter().enumerate() {
        if ended.is_err() || stop.load(Ordering::Relaxed) {
            break;
        }
        match right.switch(name).map_err(MeasureError::from).and_then(|()| ask(index, name)) {
            Ok(answer) => found.push(answer),
            Err(error) => ended = Err(error),
        }
    }
    let is_back = right.put_back().map_err(MeasureError::from);
    let error = match (ended, is_back) {
        (Ok(()), Ok(())) => None,
        (Err(error), Ok(())) | (Ok(()), Err(error)) if found.is_empty() => return Err(error),
        (Err(error), Ok(())) | (Ok(()), Err(error)) => Some(error.to_string()),
        (Err(first), Err(second)) => Some(format!("{first}; then: {second}")),
    };
    Ok(PerClocksource { was, found, error })
}

/// Time for which the costs of reads are measured, in s.
const COST_S: f64 = 0.1;

/// Lists what the kernel could build its clocks on, and why not on the counter. Takes 0.2 s, in
/// which the counter's frequency and the costs of a read and of a system call are measured.
///
/// # Errors
/// The process has more than one thread: clocks are first tried in a forked child.
pub fn clocksources(session: &Session<'_>) -> Result<Envelope<Clocksources>, MeasureError> {
    let environment = session.environment.clone();
    let recorded_at = session.recorded_at()?;
    let counter_hz = counter_hz(session);
    let hpet_hz = hpet_hz(session);
    let costs = ReadCosts::measured(session);
    let current = environment.clocksource.as_deref();
    let names = environment.clocksources_available.known().cloned();
    let names = names.or_else(|| current.map(|name| vec![name.to_owned()]));
    let counter = clocksource::kernel_verdict(&environment);
    let timecounters = timecounters::read().unwrap_or_default();
    let clocksources = names.into_iter().flatten().map(|name| {
        let timecounter = timecounters.iter().find(|one| one.name == name);
        let measured = match clocksource::known(&name).map(|known| known.hardware) {
            Some(Hardware::Counter(Architecture::HERE)) => counter_hz.as_ref().copied(),
            Some(Hardware::Hpet) => hpet_hz.as_ref().copied(),
            Some(Hardware::TimerTick) => Err(&NoFrequency::TimerTick),
            _ => Err(&NoFrequency::Unknown),
        };
        let is_current = current == Some(name.as_str());
        let ReadCosts { cost_ns, syscall_ns } = if is_current {
            costs.clone()
        } else {
            ReadCosts::unknown(format!("`clockscope measure --clocksource {name}` measures it, as root"))
        };
        let has_erratum =
            is_current && counter.reasons.iter().any(|cause| matches!(cause, KernelCause::Erratum { .. }));
        let usual = described(&name, is_current, measured, timecounter);
        as_measured(Clocksource { cost_ns, syscall_ns, ..usual }, has_erratum)
    });
    let measured_hz = Figure::from(counter_hz.as_ref().copied().map_err(NoFrequency::reason));
    let left = clocksource::left_behind();
    let found = Clocksources {
        clocksources: clocksources.collect(),
        counter,
        switched_by: left.as_ref().err().cloned(),
        left_behind: left.ok().flatten(),
        performance_counter: performance_counter::read(&measured_hz),
    };
    Ok(Envelope::of_facts(recorded_at, environment, found))
}

/// Reason why a clocksource's frequency is unknown.
#[derive(Debug)]
enum NoFrequency {
    Measure(MeasureError),
    Unreadable(ClockReason),
    Missing,
    NotInRegisters,
    TimerTick,
    Unknown,
}

impl NoFrequency {
    /// Returns what records have of it.
    fn reason(&self) -> Unknown {
        match self {
            Self::Measure(error) => {
                let unreadable = error.unreadable().to_vec();
                RateReason::NotMeasured { words: error.to_string(), unreadable }.into()
            }
            Self::Unreadable(reason) => reason.clone().into(),
            Self::Missing => "there is none".into(),
            Self::NotInRegisters => "its registers do not show it".into(),
            Self::TimerTick => "it is the kernel's HZ, which nothing shows".into(),
            Self::Unknown => "nothing shows it".into(),
        }
    }
}

impl From<MeasureError> for NoFrequency {
    fn from(error: MeasureError) -> Self {
        Self::Measure(error)
    }
}

/// One of them, with its frequency, or why that is unknown. What the kernel shows of a timecounter
/// counts before what is known of its name.
fn described(
    name: &str,
    current: bool,
    measured_hz: Result<f64, &NoFrequency>,
    timecounter: Option<&Timecounter>,
) -> Clocksource {
    let known = clocksource::known(name);
    let missing = if known.is_none() { texts::UNFAMILIAR } else { texts::DEPENDS_ON_HARDWARE };
    let timecounter_hz = timecounter.and_then(|one| one.frequency_hz).filter(|hz| *hz > 0).map(|hz| hz as f64);
    let nominal_hz = timecounter_hz.or_else(|| known.and_then(|known| known.frequency_hz));
    let frequency_hz = Figure::from(nominal_hz.map_or(measured_hz, Ok).map_err(NoFrequency::reason));
    let bits = timecounter.and_then(Timecounter::bits).or_else(|| known.and_then(|known| known.bits));
    let wraps_after_s = frequency_hz.get().zip(bits).map(|(hz, bits)| 2f64.powi(bits as i32) / hz);
    Clocksource {
        name: name.to_owned(),
        current,
        description: Figure::of(known.map(|known| known.description.to_owned()), texts::UNFAMILIAR),
        quality: timecounter.map(|one| one.quality),
        frequency_hz,
        bits: Figure::of(bits, missing),
        wraps_after_s: Figure::of(wraps_after_s, missing),
        vdso: Figure::of(known.and_then(|known| known.vdso), missing),
        cost_ns: Figure::default(),
        syscall_ns: Figure::default(),
    }
}

/// Leaves out of the usual facts those that the costs here, or an erratum of the counter, deny.
fn as_measured(usual: Clocksource, has_erratum: bool) -> Clocksource {
    if has_erratum {
        return Clocksource { vdso: Figure::Known(false), ..usual };
    }
    let costs = usual.cost_ns.get().zip(usual.syscall_ns.get());
    let is_like_system_call = costs.is_some_and(|(ns, syscall_ns)| CostCause::is_like_system_call(ns, syscall_ns));
    if usual.vdso.get() == Some(true) && is_like_system_call {
        return Clocksource { vdso: Figure::unknown("a read costs as much as a system call here"), ..usual };
    }
    usual
}

/// The counter's frequency, measured: to better than 100 ppm.
fn counter_hz(session: &Session<'_>) -> Result<f64, NoFrequency> {
    let setup = Setup::new(session, Catalog::counters(session.platform), None)?;
    let rows = &setup.catalog.entries;
    if rows.iter().any(|row| row.sampler.is_ok()) {
        return Ok(1e9 / setup.bench.facts.first_rate.ns_per_unit);
    }
    let failure_reason = rows.iter().find_map(|row| row.sampler.as_ref().err().cloned());
    Err(failure_reason.map_or(NoFrequency::Missing, NoFrequency::Unreadable))
}

/// Costs of reading CLOCK_MONOTONIC, in ns.
#[derive(Clone, Debug)]
struct ReadCosts {
    /// Cost by the path that programs use.
    cost_ns: Figure<f64>,
    /// Cost by system call.
    syscall_ns: Figure<f64>,
}

impl ReadCosts {
    fn unknown(reason: String) -> Self {
        Self { cost_ns: Figure::unknown(reason.clone()), syscall_ns: Figure::unknown(reason) }
    }

    /// Measures both.
    fn measured(session: &Session<'_>) -> Self {
        match Self::clocks(session) {
            Ok(clocks) => Self {
                cost_ns: Self::median_ns(clocks.iter().find(|clock| clock.identity.path.is_usual())),
                syscall_ns: Self::median_ns(clocks.iter().find(|clock| clock.identity.path == ReadPath::Syscall)),
            },
            Err(error) => Self::unknown(error.to_string()),
        }
    }

    /// Measures CLOCK_MONOTONIC by all of its paths.
    fn clocks(session: &Session<'_>) -> Result<Vec<ClockRecord>, MeasureError> {
        let catalog = Catalog::new(session.platform).select(&["monotonic".to_owned()], Paths::All)?;
        let mut setup = Setup::new(session, catalog, None)?;
        Ok(measure::find(&mut setup, COST_S, false, &mut |_| {}).clocks)
    }

    fn median_ns(clock: Option<&ClockRecord>) -> Figure<f64> {
        let Some(clock) = clock else { return Figure::unknown("this system has no such path") };
        match clock.cost_ns.known() {
            Some(cost) => Figure::Known(cost.median),
            None => Figure::unknown(clock.cost_ns.why().unwrap_or_default()),
        }
    }
}

/// The HPET's frequency, by its own registers.
fn hpet_hz(session: &Session<'_>) -> Result<f64, NoFrequency> {
    let known = Catalog::new(session.platform).select(&["hpet".to_owned()], Paths::Libc);
    let tried = known.map_err(MeasureError::from)?.tried(session).map_err(MeasureError::from)?;
    let row = tried.entries.first().ok_or(NoFrequency::Missing)?;
    row.sampler.as_ref().map_err(|reason| NoFrequency::Unreadable(reason.clone()))?;
    match (row.info.unit, row.info.kind) {
        (Unit::Counts(Some(hz)), ClockKind::Counter) => Ok(hz),
        _ => Err(NoFrequency::NotInRegisters),
    }
}

/// Returns what a killed run has left switched, in a sentence that says what to do; or who is
/// switching just now.
#[must_use]
pub fn warning() -> Option<String> {
    match clocksource::left_behind() {
        Ok(None) => None,
        Ok(Some(left)) => {
            let (pid, was) = (left.pid, left.was);
            Some(SwitchError::LeftBehind { pid, was }.to_string())
        }
        Err(switched_by) => Some(SwitchError::from(switched_by).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::reasons;

    use super::*;

    #[test]
    fn what_is_known_of_each_is_reported_and_unknowns_have_reasons() {
        let pm = described("acpi_pm", true, Err(&NoFrequency::Unknown), None);
        assert_eq!((pm.frequency_hz.get(), pm.bits.get(), pm.vdso.get()), (Some(3_579_545.0), Some(24), Some(false)));
        assert!(pm.wraps_after_s.get().is_some_and(|s| (s - 4.687).abs() < 0.001) && reasons(&pm).is_empty());
        let hpet = described("hpet", false, Ok(1e8), None);
        assert!(hpet.wraps_after_s.get().is_some_and(|s| (s - 42.95).abs() < 0.01));
        let odd = described("sundial", false, Err(&NoFrequency::Unknown), None);
        assert_eq!((reasons(&odd).len(), odd.quality), (5, None));
    }

    /// Reads that cost as much as a system call do not avoid it, whatever is usual of their kind.
    /// A cost in ns alone does not show that.
    #[test]
    fn what_is_usual_gives_way_to_what_was_measured() {
        let vdso = |ns: f64, syscall_ns: Figure<f64>, has_erratum| {
            let usual = described("arch_sys_counter", true, Ok(2.4e7), None);
            as_measured(Clocksource { cost_ns: Figure::Known(ns), syscall_ns, ..usual }, has_erratum).vdso.get()
        };
        assert_eq!(vdso(40.0, Figure::Known(120.0), false), Some(true));
        assert_eq!(vdso(124.0, Figure::Known(120.0), false), None);
        assert_eq!(vdso(2000.0, Figure::Known(9000.0), false), Some(true));
        assert_eq!(vdso(2000.0, Figure::unknown("refused"), false), Some(true));
        assert_eq!(vdso(30_000.0, Figure::Known(30_100.0), true), Some(false));
    }

    /// The machine of timecounters(4): the TSC without its lowest bits counts slower than the TSC.
    #[test]
    fn what_the_kernel_shows_of_a_timecounter_counts_first() {
        let timecounter = |name: &str, quality, hz, mask| Timecounter {
            name: name.to_owned(),
            quality,
            frequency_hz: Some(hz),
            mask: Some(mask),
        };
        let low = timecounter("TSC-low", -100, 11_458_556, 0xFFFF_FFFF);
        let found = described("TSC-low", false, Ok(2.9e9), Some(&low));
        assert_eq!((found.frequency_hz.get(), found.bits.get()), (Some(11_458_556.0), Some(32)));
        assert_eq!(found.quality, Some(-100));
        let fast = timecounter("ACPI-fast", 900, 3_579_545, 0xFF_FFFF);
        let found = described("ACPI-fast", true, Err(&NoFrequency::Unknown), Some(&fast));
        assert!(found.wraps_after_s.get().is_some_and(|s| (s - 4.687).abs() < 0.001));
        // A frequency of 0 divides nothing.
        let none = described("TSC", true, Err(&NoFrequency::Unknown), Some(&timecounter("TSC", 0, 0, 0)));
        assert!(!none.frequency_hz.is_known() && !none.wraps_after_s.is_known());
    }
}
