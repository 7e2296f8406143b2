//! The metrics of `check`.

use std::time::SystemTime;

use clockscope_records::{Check, Emulator, Envelope, Environment, EvidenceData, Verdict};

use super::exposition::{Family, PER_NS, PER_PPM, Series};
use super::synchronization;
use crate::verdict::weight;
use crate::words::Text;

/// Returns the metrics of a check, the most important ones first.
pub(super) fn families(check: &Envelope<Check>) -> Vec<Family> {
    let Check { verdicts, synchronization, .. } = &check.found;
    let mut families =
        vec![succeeded(check), verdict(verdicts), clocksource(&check.environment), cpu(&check.environment)];
    families.extend(synchronization::families(verdicts, synchronization.as_ref()));
    families.extend([order(verdicts), offsets(verdicts)]);
    families.extend(rates(verdicts));
    families.extend([system_call(verdicts), cost(verdicts), tick(verdicts)]);
    families
}

/// The start of a check that was not interrupted.
fn succeeded(check: &Envelope<Check>) -> Family {
    let began = check.recorded_at.as_deref().and_then(|text| humantime::parse_rfc3339(text).ok());
    let began = began.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let succeeded = if check.is_interrupted() { None } else { began.map(|time| time.as_secs_f64()) };
    let help = "Start of the last check that was not interrupted, in seconds since 1970-01-01 UTC.";
    Family::of_one("clockscope_last_success_timestamp_seconds", help, succeeded)
}

fn verdict(verdicts: &[Verdict]) -> Family {
    let mut series = Vec::new();
    for found in verdicts {
        // Older records have one verdict, whose use is not known.
        let former = if found.uses.worst().is_none() { Some(found.verdict) } else { None };
        for (verdict, used_for) in
            [(found.uses.interval, "interval"), (found.uses.time_of_day, "time_of_day"), (former, "")]
        {
            if let Some(verdict) = verdict {
                let labels = vec![clock(found), ("use", used_for.into()), ("verdict", verdict.as_str().into())];
                series.push(weighed(found, labels, Some(1.0)));
            }
        }
    }
    let help =
        "1 for the verdict on a clock, which the label verdict names: trusted, limited, unfit or undecided, for a use.";
    Family::new("clockscope_clock_verdict", help, series)
}

/// The clocksource, the hypervisor and the emulator, on which costs depend.
fn clocksource(environment: &Environment) -> Family {
    let name = environment.clocksource.as_deref();
    let hypervisor = environment.hypervisor.known().map(ToString::to_string).unwrap_or_default();
    let labels = vec![
        ("clocksource", name.unwrap_or_default().into()),
        ("hypervisor", hypervisor.into()),
        ("emulation", Emulator::names(&environment.emulation).into()),
    ];
    let help = "1 for the clocksource that the clocks of the kernel are based on, which the label clocksource names.";
    Family::new("clockscope_clocksource_info", help, [Series::new(labels, name.map(|_| 1.0))])
}

/// The processor. Hypervisors may hide its model in the name.
fn cpu(environment: &Environment) -> Family {
    let cpu = &environment.cpu;
    let identity = cpu.identity.known();
    let labels = vec![
        ("vendor", cpu.vendor.as_deref().unwrap_or_default().into()),
        ("name", cpu.model.as_deref().unwrap_or_default().into()),
        ("family", number(identity.and_then(|identity| identity.family)).into()),
        ("model", number(identity.map(|identity| identity.model)).into()),
        ("stepping", number(identity.map(|identity| identity.stepping)).into()),
        ("microcode", cpu.microcode.as_deref().unwrap_or_default().into()),
    ];
    let help = "1 for the processor, which the label name states, with the numbers of its design.";
    Family::new("clockscope_cpu_info", help, [Series::new(labels, cpu.name().map(|_| 1.0))])
}

fn number(number: Option<u32>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// The regressions across CPUs. 0 is unknown if there were too few handoffs.
fn order(verdicts: &[Verdict]) -> Family {
    let counts = of_clocks(verdicts, |check| match check {
        EvidenceData::Order(order) if order.shared_with.is_none() => {
            order.regressions.filter(|count| *count > 0 || order.reason.is_none()).map(|count| count as f64)
        }
        _ => None,
    });
    let help = "Number of readings in the last check that were smaller than an earlier reading on another CPU.";
    Family::new("clockscope_order_regressions", help, counts)
}

fn offsets(verdicts: &[Verdict]) -> Family {
    let bounds = of_clocks(verdicts, |check| match check {
        EvidenceData::Offsets(offsets) => offsets.within_ns.map(|ns| ns / PER_NS),
        _ => None,
    });
    let help = "Largest possible difference between the counters of two CPUs, in seconds.";
    Family::new("clockscope_offset_bound_seconds", help, bounds)
}

/// The rate's error and its bound. Of a clock without a bound, neither is known.
fn rates(verdicts: &[Verdict]) -> [Family; 2] {
    let (mut errors, mut bounds) = (Vec::new(), Vec::new());
    for verdict in verdicts {
        let rate = verdict.evidence.iter().find_map(|evidence| match &evidence.data {
            EvidenceData::Rate(rate) => Some((rate.ppm?, rate.bound_ppm?, rate.reference.as_deref())),
            _ => None,
        });
        if let Some((ppm, bound_ppm, reference)) = rate {
            let labels = vec![clock(verdict), ("reference", reference.unwrap_or_default().into())];
            errors.push(weighed(verdict, labels.clone(), Some(ppm / PER_PPM)));
            bounds.push(weighed(verdict, labels, Some(bound_ppm / PER_PPM)));
        }
    }
    let help =
        "How much faster a clock runs than its reference, as a ratio: 0.000001 is 1 microsecond per second (1 ppm).";
    let help_of_bound = "Largest possible error of clockscope_rate_error_ratio, as a ratio: 0.000001 is 1 ppm.";
    [
        Family::new("clockscope_rate_error_ratio", help, errors),
        Family::new("clockscope_rate_bound_ratio", help_of_bound, bounds),
    ]
}

/// The cost of a system call, unless an emulator's: reads that cost as much enter the kernel.
fn system_call(verdicts: &[Verdict]) -> Family {
    let syscall_ns = verdicts.iter().flat_map(|verdict| &verdict.evidence).find_map(|evidence| match &evidence.data {
        EvidenceData::Cost(cost) if cost.emulators.is_empty() => cost.syscall_ns,
        _ => None,
    });
    let help = "Median time that a system call takes which reads the monotonic clock, in seconds.";
    Family::of_one("clockscope_syscall_seconds", help, syscall_ns.map(|ns| ns / PER_NS))
}

/// The cost of a read, unless an emulator's.
fn cost(verdicts: &[Verdict]) -> Family {
    let mut series = Vec::new();
    for verdict in verdicts {
        let (mut path, mut cost_ns) = ("", None);
        for evidence in &verdict.evidence {
            match &evidence.data {
                EvidenceData::Readable(readable) => path = readable.path.as_str(),
                EvidenceData::Cost(cost) if cost.emulators.is_empty() => cost_ns = cost.cost_ns,
                _ => {}
            }
        }
        series.push(weighed(verdict, vec![clock(verdict), ("path", path.into())], cost_ns.map(|ns| ns / PER_NS)));
    }
    let help = "Median time that one read of a clock takes, in seconds.";
    Family::new("clockscope_read_seconds", help, series)
}

fn tick(verdicts: &[Verdict]) -> Family {
    let ticks = of_clocks(verdicts, |check| match check {
        EvidenceData::Resolution(resolution) => resolution.tick_ns.map(|ns| ns / PER_NS),
        _ => None,
    });
    let help = "Tick of a clock, in seconds: its readings differ by multiples of the tick.";
    Family::new("clockscope_tick_seconds", help, ticks)
}

/// Makes a series of each clock that has the figure.
fn of_clocks(
    verdicts: &[Verdict],
    figure: impl Fn(&EvidenceData) -> Option<f64>,
) -> impl Iterator<Item = Option<Series>> {
    verdicts.iter().map(move |verdict| {
        let value = verdict.evidence.iter().find_map(|evidence| figure(&evidence.data));
        weighed(verdict, vec![clock(verdict)], value)
    })
}

fn clock(verdict: &Verdict) -> (&'static str, Text) {
    ("clock", verdict.clock.as_str().into())
}

/// Makes a series of a clock. Clocks with a worse verdict are left out last.
fn weighed(verdict: &Verdict, labels: Vec<(&'static str, Text)>, value: Option<f64>) -> Option<Series> {
    Series::new(labels, value).map(|series| series.weighing(weight(verdict.verdict)))
}
