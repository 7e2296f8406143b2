//! The record of one check: a base record, changed to what the host's state on that day leads to.

use clockscope_records::Figure::Known;
use clockscope_records::{
    Adjtimex, Check, CheckEvidence, ChronyTracking, CivilState, CostCause, Envelope, EvidenceData, EvidenceKind,
    Figure, Finding, FrequencySource, Identity, KernelCause, LogFault, Verdict, WatchdogIntervals, texts,
};
use clockscope_testing::simulation::Random;

use super::cost::{self, Spread};
use super::fault::Fault;
use super::host::{Daemon, Host, digits};
use super::judgment;

/// Ticks of the devices that replace the counter, in ns.
const HPET_TICK_NS: f64 = 1e9 / 14_318_180.0;
const ACPI_PM_TICK_NS: f64 = 1e9 / 3_579_545.0;
/// Largest change of a day's costs, in standard deviations.
const MOST_NOISE: f64 = 1.75;
/// Steering by more than this, in ppm, contradicts a clock.
const SLEWED_PPM: f64 = 200.0;

/// The state of a host at the time of a check.
#[derive(Clone, Debug)]
pub(super) struct State {
    release: &'static str,
    /// The clocksource that replaces the counter.
    device: Option<Device>,
    /// Factor of the costs of `monotonic` and `realtime`.
    slower: f64,
    /// Factor of the cost of `monotonic`.
    outlier: f64,
    /// Distance of the counter from its nominal frequency, in ppm.
    counter_ppm: f64,
    steering_ppm: f64,
    daemon: Daemon,
    /// Lag of civil time behind true time, in s, that the daemon has not yet corrected.
    behind_s: f64,
}

/// A clocksource other than the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Device {
    name: &'static str,
    tick_ns: f64,
    cost_ns: f64,
    /// The kernel found the counter unstable.
    is_unstable: bool,
}

impl State {
    /// Returns the state of a host on a day, counted from 1.
    pub(super) fn of(host: &Host, day: u64) -> Self {
        let mut state = Self {
            release: host.release_on(day),
            device: None,
            slower: 1.0,
            outlier: 1.0,
            counter_ppm: host.counter_ppm,
            steering_ppm: host.steering_ppm,
            daemon: host.daemon,
            behind_s: 0.0,
        };
        let hpet = Device { name: "hpet", tick_ns: HPET_TICK_NS, cost_ns: host.device_ns, is_unstable: false };
        let acpi_pm = Device { name: "acpi_pm", tick_ns: ACPI_PM_TICK_NS, cost_ns: host.device_ns * 2.0, ..hpet };
        match host.fault_on(day) {
            Some(Fault::Hpet) => state.device = Some(hpet),
            Some(Fault::UnstableTsc) => {
                let device = if host.number.is_multiple_of(2) { hpet } else { acpi_pm };
                state.device = Some(Device { is_unstable: true, ..device });
            }
            Some(Fault::SlowerKernel) => state.slower = 1.12,
            Some(Fault::Outlier) => state.outlier = 3.0,
            Some(Fault::RateOff) => {
                state.counter_ppm += 400.0;
                state.steering_ppm = 400.0;
            }
            Some(Fault::Unsynchronized) => state.daemon = Daemon::None,
            Some(Fault::CivilOff) => state.behind_s = 0.04_f64.copysign(host.steering_ppm),
            _ => {}
        }
        state
    }

    /// Returns a state of the same host that its later check of the day replaces.
    pub(super) fn superseded(self) -> Self {
        let device = Device { name: "acpi_pm", tick_ns: ACPI_PM_TICK_NS, cost_ns: 4_200.0, is_unstable: false };
        Self { device: Some(device), ..self }
    }
}

/// Makes the record of a host. `habits` draws what stays the same on all days, `random` what does
/// not.
pub(super) fn record(
    base: &Envelope<Check>,
    host: &Host,
    state: &State,
    recorded_at: String,
    habits: &mut Random,
    random: &mut Random,
) -> Envelope<Check> {
    let mut record = base.clone();
    record.recorded_at = Some(recorded_at);
    set_environment(&mut record, host, state);
    let nominal_hz = f64::from(host.model.khz) * 1e3;
    let measured_hz = nominal_hz * (1.0 + (state.counter_ppm + random.within(-0.1, 0.1)) * 1e-6);
    if let Some(run) = &mut record.run {
        run.duration_s = random.within(4.0, 4.4);
        run.cpu = Known(random.below(host.cpus.into()) as u32);
        run.timer.frequency_hz = measured_hz;
    }
    let found = &mut record.found;
    found.check_id = digits(random, 2);
    // An upgrade boots the machine.
    let mut boot = habits.clone();
    state.release.bytes().for_each(|byte| boot = Random::new(boot.any() ^ u64::from(byte)));
    found.identity = Identity { boot: Known(digits(&mut boot, 4)), ..host.identity.clone() };
    found.demands.clear();
    let common = random.normal() * 0.8;
    let mut noise = || (host.noise * (common + random.normal() * 0.6).clamp(-MOST_NOISE, MOST_NOISE)).exp();
    let syscall_ns = state.device.map_or(host.model.syscall_ns, |device| device.cost_ns + 200.0) * noise();
    let costs: Vec<Option<f64>> = found.verdicts.iter().map(|verdict| cost_of(verdict, host, state, habits)).collect();
    let costs: Vec<Option<f64>> = costs.into_iter().map(|cost| cost.map(|ns| ns * noise())).collect();
    let monotonic_ns = found.verdicts.iter().zip(&costs).find(|(verdict, _)| verdict.clock == "monotonic");
    let monotonic_ns = monotonic_ns.and_then(|(_, ns)| *ns);
    for (verdict, ns) in found.verdicts.iter_mut().zip(costs) {
        let spread = Spread { width: random.within(0.004, 0.012), tail: random.within(0.12, 0.3) };
        let is_counter = judgment::is_counter(verdict);
        if is_counter {
            set_counter(verdict, host, state, random);
        }
        for found in &mut verdict.evidence {
            if let Some(ns) = ns {
                cost::set(&mut found.data, ns, spread);
            }
            set_evidence(&verdict.clock, found, state, random);
            if let EvidenceData::Cost { monotonic_ns: beside, syscall_ns: of_call, .. } = &mut found.data {
                (*beside, *of_call) = (monotonic_ns.filter(|_| is_counter), Some(syscall_ns));
            }
            if let EvidenceData::NominalFrequency { .. } = found.data {
                found.data = EvidenceData::NominalFrequency {
                    nominal_hz: Some(nominal_hz),
                    reported_by: Some(host.architecture.source),
                    measured_hz: Some(measured_hz),
                    ppm: Some((nominal_hz / measured_hz - 1.0) * 1e6),
                    lasting_ppm: None,
                    bound_ppm: Some(random.within(0.2, 0.4)),
                };
                found.finding = Finding::For;
            }
        }
        judgment::judge(verdict);
    }
    if let Some(synchronization) = &mut found.synchronization {
        synchronization.adjtimex = Known(adjtimex(state, random));
        if let Some(tracking) = tracking(state, random) {
            synchronization.chrony = Known(tracking);
        }
    }
    record
}

fn set_environment(record: &mut Envelope<Check>, host: &Host, state: &State) {
    let environment = &mut record.environment;
    environment.kernel.release = Known(state.release.to_owned());
    environment.cpu.vendor = Known(host.model.vendor.to_owned());
    environment.cpu.model = Known(host.model.name.to_owned());
    environment.cpu.identity = Known(host.model.identity);
    environment.cpu.microcode = Figure::unknown(texts::NO_MICROCODE);
    environment.cpu.online = Known(host.cpus);
    environment.cpu.allowed = Known((0..host.cpus).collect());
    // The base may have been measured by a program for tests.
    environment.program.debug_build = false;
    match host.architecture.source {
        FrequencySource::Firmware => environment.frequencies.cntfrq_hz = Known(u64::from(host.model.khz) * 1_000),
        _ => environment.frequencies.cpuid_40000010h_tsc_khz = Known(host.model.khz),
    }
    environment.clocksource = Known(current_clocksource(host, state).to_owned());
    let is_offered = |name: &&&str| **name != "tsc" || !state.device.is_some_and(|device| device.is_unstable);
    let offered = host.architecture.clocksources.iter().filter(is_offered);
    environment.clocksources_available = Known(offered.map(|name| (*name).to_owned()).collect());
}

fn current_clocksource(host: &Host, state: &State) -> &'static str {
    state.device.map_or(host.architecture.clocksources[0], |device| device.name)
}

/// Returns whether programs read it by the clocksource, unless it is the counter.
fn is_by_clocksource(verdict: &Verdict) -> bool {
    let has_cost = verdict.evidence.iter().any(|found| found.data.kind() == EvidenceKind::Cost);
    has_cost && !judgment::is_counter(verdict) && !verdict.clock.ends_with("_coarse")
}

/// Returns a host's usual cost of a clock; `None` for one without a cost.
fn cost_of(verdict: &Verdict, host: &Host, state: &State, habits: &mut Random) -> Option<f64> {
    let base = verdict.evidence.iter().find_map(|found| match found.data {
        EvidenceData::Cost { cost_ns, .. } => cost_ns,
        _ => None,
    })?;
    let own = 1.0 + habits.within(-0.03, 0.03);
    if let Some(device) = state.device.filter(|_| is_by_clocksource(verdict)) {
        return Some(device.cost_ns * (1.0 + (own - 1.0) / 3.0));
    }
    let special = match verdict.clock.as_str() {
        "monotonic" => state.slower * state.outlier,
        "realtime" => state.slower,
        _ => 1.0,
    };
    Some(base * host.model.cost * own * special)
}

/// Changes the evidence that only the counter has. A kernel that uses another clocksource has been
/// given the reason by its command line or by its watchdog. `check` found both kinds on emulated
/// machines of x86. None of those is a base record: QEMU's processors promise no constant rate.
fn set_counter(verdict: &mut Verdict, host: &Host, state: &State, random: &mut Random) {
    verdict.evidence.retain(|found| found.data.kind() != EvidenceKind::KernelVerdict);
    let Some(at) = verdict.evidence.iter().position(|found| found.data.kind() == EvidenceKind::Clocksource) else {
        return;
    };
    let found = &mut verdict.evidence[at];
    let name = current_clocksource(host, state);
    found.finding = if state.device.is_some() { Finding::Against } else { Finding::For };
    found.data = EvidenceData::Clocksource { current: Some(name.to_owned()), former: None, invariant: Some(true) };
    let Some(device) = state.device else { return };
    let cause = if device.is_unstable {
        KernelCause::LogLine {
            line: "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew \
                   is too large:"
                .to_owned(),
            fault: LogFault::FrequencySkew,
            intervals: Some(WatchdogIntervals {
                watchdog: device.name.to_owned(),
                watchdog_ns: Some(random.between(503_000_000, 505_000_000)),
                clocksource: "tsc".to_owned(),
                clocksource_ns: Some(random.between(560_000_000, 700_000_000)),
                went_back: false,
                in_use: None,
            }),
            corrected: None,
            unwatched: None,
        }
    } else {
        KernelCause::ClocksourceOption { clocksource: device.name.to_owned() }
    };
    let data = EvidenceData::KernelVerdict { cause: Some(cause), log_error: None };
    verdict.evidence.insert(at + 1, CheckEvidence { data, finding: Finding::Against, decides: false });
}

/// Changes a piece of evidence to what the state of the host leads to.
fn set_evidence(clock: &str, found: &mut CheckEvidence, state: &State, random: &mut Random) {
    let CheckEvidence { data, finding, .. } = found;
    let shares = Some(state.device.is_none());
    let is_unstable = state.device.is_some_and(|device| device.is_unstable);
    match data {
        EvidenceData::StepsBack { readings, .. } => *readings = varied(*readings, random),
        EvidenceData::Jumps { readings, reference_shares_hardware, .. } => {
            (*readings, *reference_shares_hardware) = (varied(*readings, random), shares);
        }
        EvidenceData::Order { handoffs, .. } => *handoffs = varied(*handoffs, random),
        EvidenceData::Offsets { apart, within_ns, a, b, offset_ns, bound_ns, .. } => {
            *within_ns = Some(random.within(90.0, 250.0));
            if is_unstable {
                (*apart, *a, *b) = (1, Some(0), Some(1));
                (*offset_ns, *bound_ns) = (Some(random.within(20_000.0, 90_000.0)), *within_ns);
                (*within_ns, *finding) = (offset_ns.zip(*bound_ns).map(|(ns, bound)| ns + bound), Finding::Against);
            }
        }
        EvidenceData::ConstantRate { reference_shares_hardware, .. } => *reference_shares_hardware = shares,
        EvidenceData::Rate { ppm, bound_ppm, reference_shares_hardware, .. } => {
            let steering = if clock.starts_with("monotonic_raw") { 0.0 } else { state.steering_ppm };
            *ppm = Some(steering + random.within(-0.05, 0.05));
            (*bound_ppm, *reference_shares_hardware) = (Some(random.within(0.25, 0.4)), shares);
            *finding = if steering.abs() > SLEWED_PPM { Finding::Against } else { Finding::For };
        }
        EvidenceData::Cost { sequence: None, cause, clocksource, .. } => {
            let device = state.device.filter(|_| !clock.ends_with("_coarse"));
            *cause = device.map(|_| CostCause::Clocksource);
            *clocksource = device.map(|device| device.name.to_owned());
            *finding = if device.is_some() { Finding::Against } else { Finding::For };
        }
        EvidenceData::Resolution { tick_ns: Some(tick_ns), .. } => {
            if let Some(device) = state.device.filter(|_| *tick_ns < 1_000.0 && !matches!(clock, "process" | "thread"))
            {
                *tick_ns = device.tick_ns;
            }
        }
        EvidenceData::Synchronization { state: civil, error_s, reported_error_s, shows_utc, .. } => {
            let (kind, s) = civil_state(state.daemon);
            (*civil, *error_s, *shows_utc) = (Some(kind), s, false);
            *reported_error_s = Some(s.unwrap_or(if kind == CivilState::Worthless { 0.0 } else { 16.0 }));
            *finding = match state.daemon {
                Daemon::Exact(_) => Finding::For,
                Daemon::Vague => Finding::Unknown,
                Daemon::None => Finding::Against,
            };
        }
        _ => {}
    }
}

/// Returns a number of readings that another run may have made.
fn varied(count: u64, random: &mut Random) -> u64 {
    (count as f64 * random.within(0.8, 1.2)) as u64
}

/// Returns the worth of civil time, and its error in s.
fn civil_state(daemon: Daemon) -> (CivilState, Option<f64>) {
    match daemon {
        Daemon::Exact(s) => (CivilState::Synchronized, Some(s)),
        Daemon::Vague => (CivilState::Worthless, None),
        Daemon::None => (CivilState::Unsynchronized, None),
    }
}

/// Returns the statement of chronyd, if that is the daemon.
fn tracking(state: &State, random: &mut Random) -> Option<ChronyTracking> {
    let Daemon::Exact(error_s) = state.daemon else { return None };
    Some(ChronyTracking {
        stratum: 3,
        correction_s: state.behind_s + random.within(-1e-4, 1e-4),
        error_s,
        freq_ppm: state.steering_ppm,
        skew_ppm: random.within(0.01, 0.2),
        update_interval_s: random.scale(64.0, 1024.0),
    })
}

/// Returns the kernel's figures about civil time.
fn adjtimex(state: &State, random: &mut Random) -> Adjtimex {
    let (kind, civil_error_s) = civil_state(state.daemon);
    let error_us = match state.daemon {
        Daemon::Exact(s) => (s * 1e6) as i64,
        Daemon::Vague => 0,
        Daemon::None => 16_000_000,
    };
    let status: &[&str] = if state.daemon == Daemon::None { &["unsync", "nano"] } else { &["pll", "nano"] };
    Adjtimex {
        freq_ppm: state.steering_ppm,
        tick_us: 10_000,
        offset_ns: random.below(2_000) as i64 - 1_000,
        maxerror_us: error_us,
        esterror_us: error_us / 4,
        tai_offset_s: Some(37),
        status: status.iter().map(|flag| (*flag).to_owned()).collect(),
        state: Some(kind),
        civil_error_s,
    }
}
