//! Random machines, and what is true of them.

use std::fmt;
use std::sync::Arc;

use clockscope_records::{Cpu, Environment, Figure, Frequencies, KernelCause, texts};
use clockscope_system::{ClockBasis, ClockInfo, ClockKind, ReadPath, Resolution, Unit};
use clockscope_testing::simulation::{
    Change, ClockId, Counted, Load, Multiprocessor, Random, ReadCost, SimulatedClock, SimulatedCounter,
};

use crate::varied::Facts;
use crate::windows::Windows;

/// Counters' frequencies, in Hz: of x86, Arm and RISC-V machines.
const FREQUENCIES: [f64; 9] = [2_596_160_000.0, 3e9, 1.992e9, 1e9, 100e6, 62.5e6, 25e6, 24e6, 19.2e6];
/// Ticks at once, of the fast ones.
const COUNTS_AT_ONCE: [u64; 6] = [1, 1, 2, 20, 26, 36];
/// Steps of hardware beside the counter, in ns.
const DEVICE_TICKS_NS: [u64; 4] = [10, 40, 70, 280];
/// Periods of the timer tick, in ns.
const TIMER_TICKS_NS: [u64; 3] = [1_000_000, 4_000_000, 10_000_000];

/// Time that a question takes beside the time that it was asked for, in s: child_reads, the timer's
/// calibration, one more batch of each clock.
const OVERHEAD_S: f64 = 0.1;

/// Source that the kernel builds its clocks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clocksource {
    /// The counter.
    Tsc,
    /// A device of this tick, in ns.
    Device(u64),
}

/// One clock of a machine, by one path.
pub(crate) struct Spec {
    pub(crate) info: ClockInfo,
    /// `None` for the counter.
    pub(crate) id: Option<ClockId>,
    pub(crate) cost: ReadCost,
    /// Its nominal step, in ns.
    pub(crate) nominal_ns: f64,
    /// The true step of its readings, in ns of its own time.
    pub(crate) tick_ns: f64,
    /// Share by which it is fast until something changes it.
    pub(crate) fast: f64,
}

/// A machine and all that is true of it.
pub(crate) struct Machine {
    pub(crate) cpus: Arc<Multiprocessor>,
    pub(crate) specs: Vec<Spec>,
    /// Cost of an ordered read of the counter; `None` without a counter.
    pub(crate) counter_cost: Option<ReadCost>,
    pub(crate) counter_hz: f64,
    pub(crate) counter_step: u64,
    /// Mean share of their cost by which reads take longer.
    pub(crate) jitter: f64,
    /// The nominal frequency of its counter, in Hz.
    pub(crate) nominal_hz: Option<u64>,
    pub(crate) clocksource: Clocksource,
    pub(crate) loads: Vec<Load>,
    /// Time by which the calls that sleep end too early, in ns.
    pub(crate) sleeps_end_early_ns: u64,
    /// Changes that are made to it, by true time in ps.
    pub(crate) changes: Vec<(u128, Change)>,
    /// Reasons that the kernel gives for not using the counter.
    pub(crate) reasons: Vec<KernelCause>,
    /// For how long it is asked, in s, where that is longer than its question usually takes.
    long_s: Option<f64>,
    /// Facts that its hardware and its kernel state, and what they permit.
    pub(crate) facts: Facts,
}

/// Parts from which a machine is made; each can be taken out or changed by a test.
pub(crate) struct Maker {
    pub(crate) random: Random,
    pub(crate) cpus: u32,
    pub(crate) clocksource: Clocksource,
    pub(crate) has_counter: bool,
    pub(crate) counter_hz: f64,
    pub(crate) counter_step: u64,
    /// Rate errors of the kernel's clocks, positive where they are fast: MONOTONIC and its like,
    /// MONOTONIC_RAW, in ppm.
    pub(crate) fast_ppm: [f64; 2],
    pub(crate) timer_tick_ns: u64,
    pub(crate) load: Load,
    pub(crate) jitter: f64,
    /// For how long it is asked, in s, if that is long and it is busy.
    pub(crate) long_s: Option<f64>,
    /// True if it has a clock that counts suspends.
    pub(crate) has_boottime: bool,
    /// Its CPU-time clocks: the name of each, what it counts, by what share it is fast, and its
    /// step in ns.
    pub(crate) cpu_time: Vec<(&'static str, Counted, f64, u64)>,
    pub(crate) facts: Facts,
    /// The clocks of Windows, in the place of Linux's.
    pub(crate) windows: Option<Windows>,
}

impl Maker {
    /// A random machine with nothing wrong, which may be busy. It has two CPUs or more, threads can
    /// be bound to them, and all that can be said for a counter is said for it; see
    /// [`Maker::varied`].
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x51ab_1e5e_ed00_0000);
        let counter_hz =
            if random.happens(0.3) { 1e9 + random.fraction() * 4e9 } else { pick(&mut random, &FREQUENCIES) };
        let counter_step = if counter_hz >= 1e9 { pick(&mut random, &COUNTS_AT_ONCE) } else { 1 };
        let is_device = random.happens(0.2);
        let clocksource =
            if is_device { Clocksource::Device(pick(&mut random, &DEVICE_TICKS_NS)) } else { Clocksource::Tsc };
        let timer_tick_ns = pick(&mut random, &TIMER_TICKS_NS);
        let fast_ppm = [(random.fraction() - 0.5) * 200.0, (random.fraction() - 0.5) * 200.0];
        let load = random_load(&mut random, timer_tick_ns);
        let has_counter = !random.happens(0.1);
        let jitter = random.fraction() * 0.1;
        let cpus = random.between(2, 5) as u32;
        let facts = Facts::default();
        Self {
            random,
            cpus,
            clocksource,
            has_counter,
            counter_hz,
            counter_step,
            fast_ppm,
            timer_tick_ns,
            load,
            jitter,
            long_s: None,
            has_boottime: false,
            cpu_time: Vec::new(),
            facts,
            windows: None,
        }
    }

    /// Leaves the CPUs nothing else to do.
    pub(crate) fn quiet(mut self) -> Self {
        self.load = Load { tick_ns: self.timer_tick_ns, ..Load::NONE };
        self
    }

    /// Makes it.
    pub(crate) fn make(mut self) -> Machine {
        let random = &mut self.random;
        // Also one that floats do not hold, or that is about to wrap.
        let start = random.any();
        let start = self.facts.wraps_after_s.map_or(start, |seconds| wraps_after(seconds * self.counter_hz));
        let counter = SimulatedCounter::new(self.counter_hz, start).with_step(self.counter_step);
        let cpus = Multiprocessor::new(counter, self.cpus, random.any());
        cpus.set_jitter(self.jitter);
        let loads = vec![self.load; self.cpus as usize];
        for (cpu, load) in loads.iter().enumerate() {
            cpus.set_load(cpu as u32, *load);
        }
        let (specs, counter_cost) = self.specs(&cpus);
        Machine {
            cpus,
            specs,
            counter_cost,
            counter_hz: self.counter_hz,
            counter_step: self.counter_step,
            jitter: self.jitter,
            nominal_hz: None,
            clocksource: self.clocksource,
            loads,
            sleeps_end_early_ns: 0,
            changes: Vec::new(),
            reasons: Vec::new(),
            long_s: self.long_s.filter(|_| self.load.competitors > 0),
            facts: self.facts,
        }
    }

    fn specs(&mut self, cpus: &Multiprocessor) -> (Vec<Spec>, Option<ReadCost>) {
        if let Some(windows) = self.windows {
            return windows.specs(self, cpus);
        }
        let count_ns = self.counter_step as f64 * 1e9 / self.counter_hz;
        let bare_ps = self.random.between(6_000, 20_000);
        let ordered = ReadCost::ordered(bare_ps + self.random.between(5_000, 20_000));
        let unordered = ReadCost::unordered(bare_ps, 3 * bare_ps);
        let mut specs = Vec::new();
        for (name, cost) in [("tsc", unordered), ("lfence_tsc_lfence", ordered)] {
            let info = info(name, ClockKind::Counter, ReadPath::Instruction, cost.early_ps == 0);
            specs.push(Spec { info, id: None, cost, nominal_ns: 0.0, tick_ns: count_ns, fast: 0.0 });
        }
        let [usual_ppm, raw_ppm] = self.fast_ppm;
        let kernels = [
            ("monotonic", ClockKind::Monotonic, usual_ppm, self.random.any() >> 12),
            ("realtime", ClockKind::Wall, usual_ppm, 1_800_000_000_000_000_000),
            ("monotonic_raw", ClockKind::Monotonic, raw_ppm, self.random.any() >> 12),
        ];
        for (name, kind, ppm, start_ns) in kernels {
            let id = cpus.add(self.kernel_clock(start_ns, ppm));
            self.paths(&mut specs, (name, kind, ppm), id, count_ns);
        }
        let tick_ns = self.timer_tick_ns;
        let coarse = SimulatedClock::new(self.random.any() >> 12).with_error_ppm(usual_ppm).moved_every_ns(tick_ns);
        let mut info = info("monotonic_coarse", ClockKind::Monotonic, ReadPath::Libc, true);
        info.is_coarse = true;
        info.resolution = Resolution::Nanoseconds(tick_ns as f64);
        let cost = ReadCost::ordered(self.random.between(4_000, 9_000));
        let fast = usual_ppm * 1e-6;
        let true_ns = tick_ns as f64 * (1.0 + fast);
        let id = Some(cpus.add(coarse));
        specs.push(Spec { info, id, cost, nominal_ns: tick_ns as f64, tick_ns: true_ns, fast });
        if self.has_boottime {
            // It is MONOTONIC and the time of all suspends.
            let start_ns = self.random.any() >> 12;
            let id = cpus.add(self.kernel_clock(start_ns, usual_ppm));
            self.paths(&mut specs, ("boottime", ClockKind::Monotonic, usual_ppm), id, count_ns);
        }
        self.cpu_time_specs(&mut specs, cpus);
        (specs, self.has_counter.then_some(ordered))
    }

    fn cpu_time_specs(&mut self, specs: &mut Vec<Spec>, cpus: &Multiprocessor) {
        for (name, counted, fast, tick_ns) in std::mem::take(&mut self.cpu_time) {
            let clock = SimulatedClock::new(0).with_error_ppm(fast * 1e6).with_tick_ns(tick_ns).counting(counted);
            let id = Some(cpus.add(clock));
            let cost = ReadCost::ordered(self.random.between(100_000, 700_000));
            let nominal_ns = tick_ns as f64;
            let mut info = info(name, ClockKind::CpuTime, ReadPath::Libc, true);
            (info.basis, info.resolution) = (ClockBasis::Scheduler, Resolution::Nanoseconds(nominal_ns));
            specs.push(Spec { info, id, cost, nominal_ns, tick_ns: nominal_ns, fast });
        }
    }

    fn kernel_clock(&self, start_ns: u64, ppm: f64) -> SimulatedClock {
        let clock = SimulatedClock::new(start_ns).with_error_ppm(ppm);
        match self.clocksource {
            Clocksource::Tsc => clock.on_counter(),
            Clocksource::Device(tick_ns) => clock.with_tick_ns(tick_ns),
        }
    }

    /// The three paths of one of the kernel's clocks.
    fn paths(
        &mut self,
        specs: &mut Vec<Spec>,
        (name, kind, ppm): (&'static str, ClockKind, f64),
        id: ClockId,
        count_ns: f64,
    ) {
        let fast = ppm * 1e-6;
        // A device is read through the kernel, also where the vDSO is asked.
        let (tick_ns, device_ps) = match self.clocksource {
            Clocksource::Tsc => (count_ns * (1.0 + fast), 0),
            Clocksource::Device(tick_ns) => (tick_ns as f64, self.random.between(300_000, 1_200_000)),
        };
        let syscall_ps = self.random.between(90_000, 700_000) + device_ps;
        let vdso_ps = if device_ps > 0 { syscall_ps } else { self.random.between(18_000, 40_000) };
        for (path, ps) in
            [(ReadPath::Libc, vdso_ps + 1_000), (ReadPath::Vdso, vdso_ps), (ReadPath::Syscall, syscall_ps)]
        {
            let info = ClockInfo { basis: ClockBasis::Clocksource, ..info(name, kind, path, true) };
            specs.push(Spec { info, id: Some(id), cost: ReadCost::ordered(ps), nominal_ns: 1.0, tick_ns, fast });
        }
    }
}

impl Machine {
    /// Time for which a question is asked that usually takes `usual_s`: some busy machines are
    /// asked for long.
    pub(crate) fn duration_s(&self, usual_s: f64) -> f64 {
        self.long_s.unwrap_or(usual_s)
    }

    /// Has this happen at a true time.
    pub(crate) fn at_ms(&mut self, ms: f64, change: Change) {
        let ps = (ms * 1e9) as u128;
        self.cpus.at(ps, change.clone());
        self.changes.push((ps, change));
    }

    /// The clock of this name, with its path behind a colon where it is not the usual one.
    pub(crate) fn spec(&self, label: &str) -> Option<&Spec> {
        self.specs.iter().find(|spec| spec.label() == label)
    }

    /// The true time in ps by which a question is over that one thread was asked for `duration_s`:
    /// it needs some more for trials and for the timer's calibration, and shares its CPU.
    pub(crate) fn longest_ps(&self, duration_s: f64) -> u128 {
        let load = &self.loads[0];
        let turns = f64::from(load.competitors) + 1.0;
        let cycle_s = turns * (load.slice_ns + load.tick_ns) as f64 / 1e9;
        let paused_s: f64 = self.changes.iter().map(|(_, change)| pause_ps(change) as f64 / 1e12).sum();
        let stolen_s = load.stolen_ns.1 as f64 / 1e9;
        let stolen = if load.stolen_every_ns > 0 { stolen_s * 1e9 / load.stolen_every_ns as f64 } else { 0.0 };
        let work_s = (duration_s + OVERHEAD_S) * turns * 1.5 * (1.0 + stolen);
        ((work_s + 4.0 * cycle_s + 4.0 * stolen_s + paused_s) * 1e12) as u128
    }

    /// Returns true if this clock answers: it is there, and a read of it does not end its process.
    pub(crate) fn answers(&self, spec: &Spec) -> bool {
        (spec.id.is_some() || self.counter_cost.is_some()) && !self.facts.ends_process(spec)
    }

    /// Returns true if threads can be handed readings on two CPUs that they are bound to.
    pub(crate) fn has_pairs(&self) -> bool {
        self.cpus.cpus() > 1 && self.facts.can_bind
    }

    /// Returns true if the measuring thread ran for at least a millisecond between these times.
    pub(crate) fn runs_between(&self, from_ms: f64, until_ms: f64) -> bool {
        let overlap = |at_ps: u128, ps: u128| {
            let (at_ms, ms) = (at_ps as f64 / 1e9, ps as f64 / 1e9);
            ((at_ms + ms).min(until_ms) - at_ms.max(from_ms)).max(0.0)
        };
        let lost_ms: f64 = self.cpus.taken().iter().map(|lost| overlap(lost.taken.at_ps, lost.taken.ps)).sum();
        until_ms - from_ms - lost_ms >= 1.0
    }

    /// CLOCK_MONOTONIC.
    pub(crate) fn monotonic(&self) -> ClockId {
        self.spec("monotonic").and_then(|spec| spec.id).expect("every machine has one")
    }

    /// Environment that the machine states.
    pub(crate) fn environment(&self) -> Environment {
        Environment {
            cpu: Cpu { online: Figure::Known(self.cpus.cpus()), ..Cpu::default() },
            counter_readable: Figure::Known(self.counter_cost.is_some()),
            hypervisor: Figure::Known(self.facts.hypervisor()),
            clocksource: match self.spec("query_performance_counter") {
                Some(_) => Figure::unknown(texts::ONLY_LINUX),
                None => Figure::Known(if self.clocksource == Clocksource::Tsc { "tsc" } else { "hpet" }.to_owned()),
            },
            frequencies: Frequencies {
                cpuid_15h_hz: Figure::of(self.nominal_hz, texts::PROCESSOR_SILENT),
                ..Frequencies::default()
            },
            ..Environment::default()
        }
    }
}

impl Spec {
    /// Its name, as records have it.
    pub(crate) fn label(&self) -> String {
        match self.info.path {
            ReadPath::Vdso => format!("{}:vdso", self.info.name),
            ReadPath::Syscall => format!("{}:syscall", self.info.name),
            _ => self.info.name.to_string(),
        }
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let costs = self.specs.iter().map(|spec| (spec.label(), spec.cost.ps as f64 / 1e3, spec.tick_ns, spec.fast));
        f.debug_struct("Machine")
            .field("cpus", &self.cpus.cpus())
            .field("clocksource", &self.clocksource)
            .field("counter_hz", &self.counter_hz)
            .field("counter_step", &self.counter_step)
            .field("has_counter", &self.counter_cost.is_some())
            .field("loads", &self.loads)
            .field("long_s", &self.long_s)
            .field("sleeps_end_early_ns", &self.sleeps_end_early_ns)
            .field("changes", &self.changes)
            .field("facts", &self.facts)
            .field("clocks: cost, tick in ns, fast", &costs.collect::<Vec<_>>())
            .finish()
    }
}

/// For how long a change stops the machine, in ps.
pub(crate) fn pause_ps(change: &Change) -> u64 {
    match change {
        Change::Suspend { ps, .. } | Change::MoveMachine { ps, .. } => *ps,
        _ => 0,
    }
}

/// The count from which a counter of 64 bits wraps after `counts`.
fn wraps_after(counts: f64) -> u64 {
    0u64.wrapping_sub(counts as u64)
}

/// One of these.
pub(crate) fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

/// A third of the machines is quiet but for interrupts; on others up to 8 threads compete, in
/// slices of 1 to 10 ms.
fn random_load(random: &mut Random, tick_ns: u64) -> Load {
    let competitors = if random.happens(0.33) { 0 } else { random.between(0, 9) as u32 };
    let is_virtual = random.happens(0.2);
    Load {
        tick_ns,
        competitors,
        slice_ns: random.between(1_000_000, 10_000_001),
        interrupts_every_ns: random.between(500_000, 8_000_000),
        interrupt_ns: (1_000, random.between(2_000, 40_000)),
        stolen_every_ns: if is_virtual { random.between(5_000_000, 100_000_000) } else { 0 },
        stolen_ns: (20_000, 3_000_000),
        cpus: 1,
        migrates: 0.0,
    }
}

pub(crate) fn info(name: &'static str, kind: ClockKind, path: ReadPath, is_ordered: bool) -> ClockInfo {
    let is_counter = kind == ClockKind::Counter;
    let resolution = if is_counter { Resolution::OneCount } else { Resolution::Nanoseconds(1.0) };
    let info = ClockInfo::new(name, kind, path, resolution, "simulated");
    ClockInfo {
        unit: if is_counter { Unit::Counts(None) } else { Unit::Nanoseconds },
        basis: if is_counter { ClockBasis::Counter } else { ClockBasis::Other },
        is_ordered,
        is_steered: !is_counter && name != "monotonic_raw",
        counts_suspend: kind == ClockKind::Wall || name == "boottime",
        is_usual: matches!(name, "monotonic" | "realtime"),
        ..info
    }
}
