//! Texts of reasons that several places give.

#![allow(missing_docs, reason = "each says itself what it is")]

pub const NOT_MEASURED: &str = "it was not measured";
pub const CHRONY_UNSYNCHRONIZED: &str = "chronyd answers that it is not synchronized";
pub const CLOCKSOURCE_HIDDEN: &str = "the kernel does not show its clocksource";
pub const COARSE_RUNTIME_TIMER: &str =
    "the runtime's own timer is too coarse: most batches of reads took no time on it";
pub const CORE_CYCLES: &str = "it counts the cycles of one core for one thread";
pub const COUNTS_WORK: &str = "it counts work, not time";
pub const CPU_TIME_BEYOND_WALL: &str =
    "every CPU-time clock counts more than the wall time, which a single clock measures: that one may be slow";
pub const CPU_TIME_COARSE: &str = "its tick is too long for the time that the thread spun";
pub const CPU_TIME_LOST: &str =
    "the thread lost its CPU while it spun, and no other CPU-time clock counted more: try again on a less busy machine";
pub const CPU_TIME_OF_USER: &str = "it counts user time alone, and the thread also entered the kernel";
pub const CPU_TIME_READ_FAILED: &str = "a read failed while the thread spun";
pub const DEPENDS_ON_HARDWARE: &str = "it depends on the hardware, which does not show it";
pub const EMULATED: &str = "costs under emulation are the emulator's";
pub const FEW_EXCHANGES: &str = "other programs left too little time for exchanges in both directions";
pub const INTERRUPTED: &str = "interrupted before its turn";
pub const INTERRUPTED_DIRECTION: &str = "other programs interrupted every exchange of one direction";
pub const KEEPER_NOT_RECORDED: &str =
    "the record does not state what keeps the clocks' rates: record it by measure --extended";
pub const NOTHING_FIT: &str = "no measured clock is fit for intervals (see their events)";
pub const NOTHING_MEASURED: &str = "none of the measured clocks suits intervals";
pub const NOT_REQUESTED: &str = "not requested";
pub const NO_READINGS: &str = "nothing was read";
pub const NOT_REPORTED_BY_PROBE: &str = "the probe does not state it";
pub const NOT_SYNCHRONIZED: &str = "no daemon synchronizes this machine";
pub const NO_BATCH: &str = "no batch of reads was completed";
pub const NO_BOUND: &str = "no bound was asked for";
pub const NO_CHRONY: &str = "no chronyd answers on the loopback";
pub const NO_CONSTANT_OFFSET: &str = "no constant offset explains all exchanges: it changed during the run";
pub const NO_CPUFREQ: &str = "the system does not control the CPU's frequency (no cpufreq)";
pub const NO_DIFFERENCES: &str = "no two readings followed one another";
pub const DIFFERENCES_NOT_RECORDED: &str =
    "the record lacks the differences of readings: measure again, and advise from that record";
pub const NOT_AFTER_WORK: &str = "it was only read in a loop: name up to four clocks to read them after other work";
pub const NO_COUNTER_FOR_WORK: &str = "no counter may be read here, which the work is timed by";
pub const NO_EVENTS: &str = "it was not found";
pub const NO_EXCHANGE: &str = "no exchange was completed";
pub const NO_FORWARD_STEP: &str = "no two successive readings differed by a positive step";
pub const NO_GAP: &str = "there was no gap";
pub const NO_HANDOFF: &str = "nothing was handed over";
pub const NO_HANDOFF_IN_TIME: &str = "interrupted before anything was handed over";
pub const NO_IDENTITY: &str = "neither the processor nor a file of the system states it";
pub const NO_LENGTH: &str = "it counts core cycles, whose length changes";
pub const NO_MICROCODE: &str = "/proc/cpuinfo does not state it, or cannot be read";
pub const NO_NAME: &str = "neither the processor nor /proc/cpuinfo names it";
pub const NO_NOMINAL_IN_API: &str =
    "the API states neither a frequency nor a resolution, and gives a floating-point number";
pub const NO_PAIR: &str = "no pair of CPUs was tested";
pub const NO_RATE_STATEMENT: &str = "no daemon states the error of the clocks' rates";
pub const NO_TICK_SEARCH: &str = "no tick was looked for while it could be read";
pub const ONE_COUNT: &str = "one count, whose length has to be measured";
pub const ONLY_LINUX: &str = "only Linux shows it in a file";
pub const PROCESSOR_SILENT: &str = "the processor does not state it";
pub const PROCESSOR_TIME: &str = "it counts processor time, which stands still while the thread does not run";
pub const PTP_NAME_HIDDEN: &str = "the kernel does not show the device's name";
pub const SCHEDULER_HIDDEN: &str = "the kernel does not show what the scheduler's clock is based on";
pub const SEVERAL_RUNS: &str = "there were several runs: see between_runs";
pub const SHOWS_TIME: &str = "it shows time, not counts";
pub const SLEEPERS_CLOCK_UNREADABLE: &str = "CLOCK_MONOTONIC, by which the calls sleep, cannot be read";
pub const UNFAMILIAR: &str = "clockscope does not know it";
pub const UNTIMED: &str =
    "the reference failed, or did not advance like the counter: one of them stood still, stepped or changed its rate";
pub const ZERO_FREQUENCY: &str = "the performance counter's frequency is 0";
