//! Findings about clocks.

use serde::{Deserialize, Serialize};

use crate::{
    AfterWork, ClockBasis, ClockKind, Figure, Offsets, Order, Rate, ReadPath, Recommendation, Summary, Synchronization,
    TickEvidence, Unknown,
};

/// One run of `clockscope measure`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measurement {
    /// The baseline of the costs.
    pub baseline: Baseline,
    /// One record a clock and path, in the order of the catalog.
    pub clocks: Vec<ClockRecord>,
    /// The results across CPUs and over time; `null` unless requested.
    pub extended: Option<Extended>,
    /// Facts on what keeps the time of day and the clocks' rates right, as the machine states them;
    /// `null` unless requested.
    pub synchronization: Option<Synchronization>,
    /// The clock to use.
    pub advice: Recommendation,
}

/// The results across CPUs and over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Extended", transform = crate::schema::add_unknown))]
pub struct Extended {
    /// Order across CPUs.
    pub order: Order,
    /// Offsets of the CPUs' counters.
    pub offsets: Offsets,
    /// Rates of the clocks; `null` where they could not be compared.
    pub rate: Figure<Rate>,
}

/// The circumstances of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Run", transform = crate::schema::add_unknown))]
pub struct Run {
    /// Time that the user allowed for sampling, in seconds, all clocks together; `null` where a
    /// number of reads was asked for instead.
    pub requested_duration_s: Option<f64>,
    /// Reads of each clock that the user asked for; `null` where a time was.
    pub requested_reads: Option<u64>,
    /// Time that sampling took, in seconds; of all runs where there were several.
    pub duration_s: f64,
    /// Time of that for which the measuring thread waited for a CPU, in seconds: other threads had
    /// it, or a quota was used up. Not there where the system does not count it, or the question
    /// does not ask. Time that a hypervisor took while it ran is not part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<f64>,
    /// Runs that this record is of; `null` where it is one.
    pub runs: Option<u32>,
    /// CPU that the measuring thread was pinned to; `null` when it could not be pinned.
    pub cpu: Figure<u32>,
    /// Period of the system's timer that was requested during the run, in ns (`--timer-period`, on
    /// Windows); not there where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_period_ns: Option<u64>,
    /// The clock that batches were timed with.
    pub timer: TimerRecord,
    /// `true` when the user interrupted the run: the records hold what was measured until then.
    pub interrupted: bool,
}

/// The clock that batches were timed with, and how its unit became nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimerRecord {
    /// Its name, e.g. `rdtscp_lfence`.
    pub name: String,
    /// Its frequency, in Hz: of the mean rate between the tightest brackets at both ends of the
    /// run.
    pub frequency_hz: f64,
    /// Reason why that is the frequency at the start only; not there if it is of the whole
    /// run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_problem: Option<Unknown>,
    /// Bound of that frequency's error, in parts per million: bracket widths over the time between
    /// them.
    pub frequency_bound_ppm: f64,
    /// The clock that the frequency was taken against.
    pub reference: String,
}

/// The baseline of the costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Baseline {
    /// Cost of one turn of the measuring loop with no clock in it, in ns. Not subtracted from any
    /// cost.
    pub empty_loop_ns: Option<f64>,
    /// The cheapest counter read; `null` when no counter could be read.
    pub fastest_counter: Option<FastestCounter>,
    /// The baselines of several runs, in the order of the runs; empty where one was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Self>,
}

/// The cheapest counter read, which ratios are taken against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FastestCounter {
    /// Name of the counter's reading sequence.
    pub name: String,
    /// Its median cost, in ns.
    pub cost_ns: f64,
}

/// A clock's identity, as it states it itself: the part that list and measurement share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ClockIdentity", transform = crate::schema::add_unknown))]
pub struct ClockIdentity {
    /// Its name.
    pub name: String,
    /// Other names that the command accepts for it.
    pub aliases: Vec<String>,
    /// Names by which programs of its system read it, the best known first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// The quantity that it counts.
    pub kind: ClockKind,
    /// The way by which it is read.
    pub path: ReadPath,
    /// One line: what is read.
    pub description: String,
    /// The source of its readings.
    pub basis: ClockBasis,
    /// True if that is the processor's counter on this machine; `null` where that is not known.
    pub counter_based: Figure<bool>,
    /// True if a read takes effect after everything before it in the program.
    pub is_ordered: bool,
    /// True if it is coarse by design: the timer tick moves it.
    pub is_coarse: bool,
    /// True if it is the time of day, which may be set.
    pub is_wall: bool,
    /// True if it counts processor time, which has no rate.
    pub is_cpu_time: bool,
    /// True if the kernel steers its rate, as NTP wants it.
    pub is_steered: bool,
    /// True if it goes on while the machine is suspended.
    pub counts_suspend: bool,
    /// True if it is a device of its own, which is read in one way only.
    pub is_device: bool,
    /// True if programs of its system usually read it: for intervals if it is monotonic, for the
    /// time of day if it is a wall clock.
    pub is_usual: bool,
    /// True if it is a call that reads another clock of the same system: an older one, or the
    /// standard library of a language.
    pub is_wrapper: bool,
}

impl ClockIdentity {
    /// Returns whether it is the processor's own counter, in whatever reading sequence.
    #[must_use]
    pub fn is_counter(&self) -> bool {
        self.basis == ClockBasis::Counter
    }

    /// The name, with the path where that is not the usual one: what the command accepts.
    #[must_use]
    pub fn label(&self) -> String {
        match self.path {
            _ if self.is_device => self.name.clone(),
            ReadPath::Vdso => format!("{}:vdso", self.name),
            ReadPath::Syscall => format!("{}:syscall", self.name),
            ReadPath::User => format!("{}:user", self.name),
            _ => self.name.clone(),
        }
    }
}

/// The results for one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ClockRecord", transform = crate::schema::add_unknown))]
pub struct ClockRecord {
    /// Its identity.
    #[serde(flatten)]
    pub identity: ClockIdentity,
    /// True if it could be read.
    pub available: bool,
    /// Reason why it could not be read, or what ended or disturbed its readings; `null` when
    /// nothing did.
    pub reason: Option<Unknown>,
    /// Cost of one read, back to back.
    pub cost_ns: Figure<Cost>,
    /// Median cost divided by that of [`Baseline::fastest_counter`].
    pub ratio_to_fastest: Figure<f64>,
    /// The resolution that the interface states, in ns.
    pub nominal_resolution_ns: Figure<f64>,
    /// The smallest positive difference between two successive readings, in ns.
    pub observed_resolution_ns: Figure<f64>,
    /// The step of the lattice on which all readings lie, in ns, also where a read takes many
    /// ticks.
    pub tick_ns: Figure<f64>,
    /// The evidence for the tick.
    pub tick_evidence: Option<TickEvidence>,
    /// Errors of intervals that it measured around other work, by the work: the cost of its reads
    /// as programs meet them. `[]` where it was read in a loop alone.
    #[serde(default, with = "crate::figure::list")]
    #[cfg_attr(test, schemars(with = "Vec<AfterWork>"))]
    pub after_work: Figure<Vec<AfterWork>>,
    /// Figures of the differences between successive readings, in ns.
    pub summary: Figure<Summary>,
    /// The monotonicity of its readings.
    pub monotonic: Figure<Monotonic>,
    /// Events between readings.
    pub events: Option<Events>,
}

/// Cost of one read, in ns: a batch of reads timed as a whole and divided by the number of reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Cost", transform = crate::schema::add_unknown))]
pub struct Cost {
    /// Median over the batches.
    pub median: f64,
    /// 95 % interval of this run's median, from 6 to 32 blocks of time of at least 8 batches each;
    /// `null` with fewer, and where several runs were made. Another run's median may lie outside:
    /// see `between_runs`.
    pub ci95: Figure<[f64; 2]>,
    /// The medians of several runs; `null` where one was made.
    pub between_runs: Option<BetweenRuns>,
    /// The cost in each of 8 to 31 equal parts of the run, in order: the mean of the medians of
    /// groups of eight batches. Empty with fewer than 64 batches, and where several runs were made.
    pub rounds: Vec<f64>,
    /// The cheapest batch.
    pub min: f64,
    /// 99th percentile of the batches; `null` with fewer than a hundred batches.
    pub p99: Figure<f64>,
    /// The batches by their cost, as pairs of a bin and a count, in ascending order: bin b holds
    /// costs from 2^(b/32) ns on, below 2^((b+1)/32) ns. Of more than 256 batches it has
    /// 256 quantiles of equal distance. Several runs are added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<(i64, u64)>,
    /// Batches from which the figures are computed.
    pub batches: u64,
    /// Reads in a batch.
    pub reads_per_batch: u64,
    /// Batches that were left out because a read failed in them.
    pub batches_dropped: u64,
}

/// The medians of several runs, each in a process of its own, in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "BetweenRuns", transform = crate::schema::add_unknown))]
pub struct BetweenRuns {
    /// Number of runs.
    pub runs: u32,
    /// The interval of another run's median with 95 %: mean ± t·s·√(1 + 1/n), and no less than
    /// `lowest` to `highest`; `null` with fewer than six runs. Runs are taken as independent: a
    /// machine whose speed drifts over minutes may leave it.
    pub interval95: Figure<[f64; 2]>,
    /// The lowest median of a run.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The median of each run, in the order of the runs; `null` for a run without a cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub medians: Vec<Option<f64>>,
}

/// The monotonicity of readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Monotonic {
    /// Every reading was larger than the one before it.
    pub strict: bool,
    /// No reading was smaller than the one before it.
    pub weak: bool,
}

/// Exact counts of what happened between successive readings. docs/reference/method/events.md has
/// the definitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Events", transform = crate::schema::add_unknown))]
pub struct Events {
    /// Readings that were checked.
    pub reads: u64,
    /// Reads that returned an error instead of a reading.
    pub errors: u64,
    /// From before the first reading until after the last, in ns.
    pub span_ns: Figure<f64>,
    /// Runs of at least 200 repeats of one value that the clock's tick does not explain.
    pub stuck: u64,
    /// Runs of 2 to 199 repeats of one value.
    pub stall: u64,
    /// Jumps of more than 1 ms.
    pub warp: Figure<u64>,
    /// Steps forward that the reference did not see, warps included.
    pub jump: Figure<u64>,
    /// Times in which clock and reference both went on while the thread did not run.
    pub gap: Figure<u64>,
    /// Readings smaller than the one before.
    pub regression: u64,
    /// Losses of time that no reading shows as a step back: the clock advanced by less than the
    /// reference did.
    pub hidden_regression: Figure<u64>,
    /// Smallest step that is counted singly as jump, gap or hidden regression, in ns.
    pub threshold_ns: Figure<f64>,
    /// A jump of this size, in ns, is counted in nine tenths of the time; one between
    /// `threshold_ns` and this may or may not be.
    pub sure_ns: Figure<f64>,
    /// The clock that jumps, gaps and hidden regressions were judged against.
    pub reference: Figure<String>,
    /// True if clock and reference are based on the same hardware counter; `null` where that is
    /// unknown.
    pub reference_shares_hardware: Figure<bool>,
}
