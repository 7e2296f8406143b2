//! A simulated Windows: QueryPerformanceCounter on each hardware that it may be based on, and a
//! machine without high resolution, with the figures of real machines (Akinshin, "Stopwatch under
//! the hood", 2016: an i7-4702MQ with Windows 10; the rows of its summary).

use clockscope_measure::{
    Amount, Catalog, Handoff, MeasureRequest, OrderRequest, Paths, Session, StepsRequest, measure, order, steps,
};
use clockscope_records::{ClockRecord, Measurement, StepsRecord};
use clockscope_system::{ClockBasis, ClockInfo, ClockKind, ReadPath, Resolution, Unit};
use clockscope_testing::simulation::{Change, Multiprocessor, ReadCost, SimulatedClock};

use crate::harness::{are_many, on_machines, on_one};
use crate::machine::{Machine, Maker, Spec, info};
use crate::measure::true_cost_ns;
use crate::platform::Simulated;

const QPC: &str = "query_performance_counter";

/// For how long clocks are measured, in s: each has hundreds of batches then.
const DURATION_S: f64 = 0.02;
/// Duration of the longest of these questions, in s, and of what the tests ask of one machine.
const MAX_QUESTION_S: f64 = 1.0;

/// By what share a tick may differ from the true one.
const NEAR: f64 = 1e-4;

/// By what share a cost may differ from the true one.
const NEAR_COST: f64 = 0.05;

/// Source by which a Windows counts, and the costs of reads there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Windows {
    /// QueryPerformanceFrequency.
    frequency_hz: u64,
    /// A read of the performance counter by the library, in ps, and by the system call.
    library_ps: u64,
    syscall_ps: u64,
    /// Period of the timer, in ns.
    timer_ns: u64,
    /// True if programs read the processors' own counters, whether these agree or not.
    is_bare: bool,
}

/// A read of GetSystemTimeAsFileTime, in ps: it only loads from memory.
const SYSTEM_TIME_PS: u64 = 8_000;

/// The time-stamp counter of the article's machine, in Hz.
const TSC_HZ: f64 = 2_143_473.0 * 1024.0;

const TSC: Windows =
    Windows { frequency_hz: 2_143_473, library_ps: 16_000, syscall_ps: 150_000, timer_ns: 15_625_000, is_bare: false };

/// Windows XP with a time-stamp counter for each processor.
const BARE: Windows = Windows { frequency_hz: 2_143_473 * 1024, is_bare: true, ..TSC };

/// Newer builds of Windows 10.
const SCALED: Windows = Windows { frequency_hz: 10_000_000, library_ps: 20_000, ..TSC };

/// The platform's clocks are read through the kernel alone.
const HPET: Windows = Windows { frequency_hz: 14_318_180, library_ps: 599_000, syscall_ps: 590_000, ..TSC };

const ACPI_PM: Windows = Windows { frequency_hz: 3_579_545, library_ps: 760_000, syscall_ps: 750_000, ..HPET };

/// In the order of what reads cost.
const ALL: [Windows; 4] = [TSC, SCALED, HPET, ACPI_PM];

impl Windows {
    /// Its clocks, and what an ordered read of the counter costs.
    pub(crate) fn specs(self, maker: &mut Maker, cpus: &Multiprocessor) -> (Vec<Spec>, Option<ReadCost>) {
        let ordered = ReadCost::ordered(12_000);
        let of_counter = |name, cost: ReadCost| Spec {
            info: info(name, ClockKind::Counter, ReadPath::Instruction, cost.early_ps == 0),
            id: None,
            cost,
            nominal_ns: 0.0,
            tick_ns: maker.counter_step as f64 * 1e9 / maker.counter_hz,
            fast: 0.0,
        };
        let counters = [("tsc", ReadCost::unordered(8_000, 24_000)), ("lfence_tsc_lfence", ordered)];
        let mut specs: Vec<Spec> = counters.map(|(name, cost)| of_counter(name, cost)).into();
        let count_ns = 1e9 / self.frequency_hz as f64;
        let clock = SimulatedClock::new(maker.random.any() >> 12);
        let id = Some(cpus.add(if self.is_bare { clock.on_counter() } else { clock }));
        for (path, ps) in [
            (ReadPath::SystemLibrary, self.library_ps),
            (ReadPath::User, self.library_ps),
            (ReadPath::Syscall, self.syscall_ps),
        ] {
            let info = ClockInfo {
                unit: Unit::Counts(Some(self.frequency_hz as f64)),
                resolution: Resolution::Nanoseconds(count_ns),
                is_steered: false,
                basis: ClockBasis::Clocksource,
                ..info(QPC, ClockKind::Monotonic, path, true)
            };
            let cost = ReadCost::ordered(ps);
            specs.push(Spec { info, id, cost, nominal_ns: count_ns, tick_ns: count_ns, fast: 0.0 });
        }
        let moved = SimulatedClock::new(1_800_000_000_000_000_000).moved_every_ns(self.timer_ns);
        let mut coarse = info("system_time", ClockKind::Wall, ReadPath::SystemLibrary, true);
        (coarse.is_coarse, coarse.resolution) = (true, Resolution::Nanoseconds(100.0));
        let (id, tick_ns) = (Some(cpus.add(moved)), self.timer_ns as f64);
        let cost = ReadCost::ordered(SYSTEM_TIME_PS);
        specs.push(Spec { info: coarse, id, cost, nominal_ns: 100.0, tick_ns, fast: 0.0 });
        (specs, Some(ordered))
    }

    /// A quiet machine with it.
    fn machine(self, seed: u64) -> Simulated {
        Simulated::within(self.made(seed), MAX_QUESTION_S)
    }

    fn made(self, seed: u64) -> Machine {
        let mut maker = Maker::new(seed).quiet();
        (maker.windows, maker.has_counter, maker.counter_hz, maker.counter_step) = (Some(self), true, TSC_HZ, 1);
        maker.jitter += 0.02;
        maker.make()
    }
}

fn measured(session: &Session<'_, Simulated>, names: &[&str]) -> Measurement {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let catalog = Catalog::new(session.platform()).select(&names, Paths::Libc).expect("they are there");
    let request =
        MeasureRequest { duration_s: DURATION_S, cpu: None, extended: false, ticks: true, synchronization: false };
    measure(session, catalog, &request, &mut |_| {}).expect("it can be asked").found
}

fn stepped(session: &Session<'_, Simulated>, name: &str, seconds: f64) -> StepsRecord {
    let catalog = Catalog::new(session.platform()).select(&[name.to_owned()], Paths::Libc).expect("it is there");
    let request = StepsRequest { amount: Amount::Duration(seconds), cpu: None };
    let found = steps(session, catalog, &request, &mut |_| {}).expect("it can be asked");
    found.found.clocks.into_iter().next().expect("one clock was asked for")
}

fn median_ns(record: &ClockRecord) -> f64 {
    record.cost_ns.known().map(|cost| cost.median).expect("it was measured")
}

fn is_near(found: f64, expected: f64, near: f64) -> bool {
    (found / expected - 1.0).abs() <= near
}

/// The resolution that it states is one count of the hardware, and the cost is the true one. Where
/// a read takes less than a count, that is the tick and the smallest step. Where it takes several,
/// the smallest step is what a read costs, and the tick is right or unknown.
fn is_found(session: &Session<'_, Simulated>, windows: Windows) {
    let machine = &session.platform().machine;
    let count_ns = 1e9 / windows.frequency_hz as f64;
    let is_fast = (windows.library_ps as f64) < count_ns * 1e3;
    let tick = stepped(session, QPC, DURATION_S).tick_ns;
    let is_right = tick.get().map_or(!is_fast, |ns| is_near(ns, count_ns, NEAR));
    assert!(is_right, "{windows:?}: the tick is {tick:?}");
    let found = measured(session, &[QPC, "system_time"]);
    for record in &found.clocks {
        let spec = machine.spec(&record.identity.label()).expect("it is there");
        let reads = record.cost_ns.known().expect("it was measured").reads_per_batch;
        let true_ns = true_cost_ns(machine, spec, reads);
        assert!(is_near(median_ns(record), true_ns, NEAR_COST), "{}: it costs {true_ns} ns: {record:?}", spec.label());
    }
    let counter = &found.clocks[0];
    assert!(counter.nominal_resolution_ns.get().is_some_and(|ns| is_near(ns, count_ns, 1e-9)), "{counter:?}");
    let step_ns = counter.observed_resolution_ns.get().expect("it was measured");
    let read_ns = windows.library_ps as f64 / 1e3;
    let is_right = if is_fast { is_near(step_ns, count_ns, NEAR) } else { (step_ns - read_ns).abs() <= count_ns };
    assert!(is_right, "{windows:?}: the smallest step is {step_ns} ns");
}

#[test]
fn the_tick_and_the_cost_are_those_of_the_hardware_behind_the_performance_counter() {
    let case = |seed: u64| ALL[(seed % ALL.len() as u64) as usize];
    on_machines(
        "windows::the_tick_and_the_cost",
        |seed| case(seed).machine(seed),
        |session, seed| is_found(session, case(seed)),
    );
}

/// Under a hypervisor or an emulator, a read of the counter of 10 MHz takes several counts: no step
/// is one count, and the tick is.
#[test]
fn the_tick_is_one_count_where_a_read_takes_several() {
    for (seed, library_ps) in [230_000, 300_000, 330_000, 700_000, 1_200_000].into_iter().enumerate() {
        let mut is_found = |session: &Session<'_, Simulated>, _: u64| {
            let tick = stepped(session, QPC, 5.0 * DURATION_S).tick_ns;
            assert!(tick.get().is_some_and(|ns| is_near(ns, 100.0, NEAR)), "{library_ps} ps: {tick:?}");
        };
        let platform = Windows { library_ps, ..SCALED }.machine(seed as u64);
        on_one("windows::the_tick_is_one_count", seed as u64, &platform, &mut is_found);
    }
}

/// The time-stamp counter costs least, and the ACPI timer most. GetSystemTimeAsFileTime is cheaper
/// than each.
#[test]
fn costs_are_in_the_order_of_the_hardware() {
    on_machines(
        "windows::costs_are_in_the_order",
        |seed| TSC.machine(seed),
        |_, seed| {
            let stop = std::sync::atomic::AtomicBool::new(false);
            let costs = ALL.map(|windows| {
                let platform = windows.machine(seed);
                let found = measured(&Session::new(&platform, &stop), &[QPC, "system_time"]);
                [median_ns(&found.clocks[0]), median_ns(&found.clocks[1])]
            });
            assert!(costs.is_sorted_by(|a, b| a[0] < b[0]), "{costs:?}");
            assert!(costs.iter().all(|[counter, system_time]| system_time < counter), "{costs:?}");
        },
    );
}

/// ping took -59 ms where the processors' counters were apart (Akinshin, 2016; Microsoft, KB
/// 895980). A lead of one counter is found where programs read it, and nowhere else.
#[test]
fn a_performance_counter_that_goes_back_between_processors_is_found() {
    const AHEAD_NS: f64 = 59e6;
    for (seed, windows) in [BARE, TSC].into_iter().enumerate() {
        let mut machine = windows.made(seed as u64);
        let ahead = (AHEAD_NS * TSC_HZ / 1e9) as i64;
        machine.at_ms(0.0, Change::SetCounterOffset { cpu: 1, ticks: ahead });
        let platform = Simulated::across(machine, MAX_QUESTION_S);
        let mut is_found = |session: &Session<'_, Simulated>, _: u64| {
            let catalog = Catalog::new(session.platform()).select(&[QPC.to_owned()], Paths::Libc);
            let request = OrderRequest {
                duration_s: DURATION_S,
                cpus: None,
                serial: false,
                handoffs: &[Handoff::Mailbox],
                stores: false,
            };
            let found = order(session, catalog.expect("it is there"), &request, &mut |_| {});
            let sequence =
                found.expect("it can be asked").found.sequences.into_iter().next().expect("one was asked for");
            let (regressions, worst_ns) = (sequence.regressions.get(), sequence.worst_ns.get());
            if windows.is_bare {
                assert!(regressions.is_some_and(|count| count > 0), "{sequence:?}");
                assert!(worst_ns.is_some_and(|ns| is_near(ns.abs(), AHEAD_NS, 0.01)), "{sequence:?}");
            } else {
                assert_eq!(regressions, Some(0), "{sequence:?}");
            }
        };
        on_one("windows::a_performance_counter_that_goes_back", seed as u64, &platform, &mut is_found);
    }
}

/// Without high resolution, .NET's Stopwatch reads GetSystemTimeAsFileTime, which moves each 0.5 to
/// 55 ms, whatever the 100 ns of its unit suggest.
#[test]
fn without_high_resolution_the_tick_is_the_timers_period() {
    // The longest takes four times as long as the others together.
    let timers = if are_many() { &[500_000, 15_625_000, 55_000_000][..] } else { &[500_000, 15_625_000] };
    for (seed, &timer_ns) in timers.iter().enumerate() {
        let mut is_found = |session: &Session<'_, Simulated>, _: u64| {
            // Eight steps are a tick; a fifth of the time is kept for finding it.
            let tick = stepped(session, "system_time", 10.0 * timer_ns as f64 / 1e9).tick_ns;
            assert!(tick.get().is_some_and(|ns| is_near(ns, timer_ns as f64, NEAR)), "{timer_ns} ns: {tick:?}");
        };
        let platform = Windows { timer_ns, ..ACPI_PM }.machine(seed as u64);
        on_one("windows::without_high_resolution", seed as u64, &platform, &mut is_found);
    }
}
