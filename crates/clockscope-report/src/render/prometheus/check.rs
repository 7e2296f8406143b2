//! The metrics of `check`.

use std::time::SystemTime;

use clockscope_records::{Check, Emulator, Envelope, Environment, EvidenceData, Trustworthiness, Verdict};

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

/// The time of a check that succeeded. One that was interrupted did not.
fn succeeded(check: &Envelope<Check>) -> Family {
    let since_1970 = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let began = check.recorded_at.as_deref().and_then(|text| humantime::parse_rfc3339(text).ok()).and_then(since_1970);
    let succeeded = began.filter(|_| !check.is_interrupted()).map(|time| time.as_secs_f64());
    let help = "Start of the last check that was not interrupted, in seconds since 1970-01-01 UTC.";
    Family::of_one("clockscope_last_success_timestamp_seconds", help, succeeded)
}

fn verdict(verdicts: &[Verdict]) -> Family {
    let of_use = |found: &Verdict, verdict: Option<Trustworthiness>, of: &'static str| {
        let labels = vec![clock(found), ("use", of.into()), ("verdict", verdict?.as_str().into())];
        weighed(found, labels, Some(1.0))
    };
    // Records of before the uses have one verdict, whose use is not known.
    let series = |found: &Verdict| {
        let former = found.uses.worst().is_none().then_some(found.verdict);
        [(found.uses.interval, "interval"), (found.uses.civil, "civil"), (former, "")]
            .map(|(verdict, name)| verdict.and_then(|verdict| of_use(found, Some(verdict), name)))
    };
    let help =
        "1 for the verdict on a clock, which the label verdict names: trusted, limited, unfit or undecided, for a use.";
    Family::new("clockscope_clock_verdict", help, verdicts.iter().flat_map(series))
}

/// The clocksource, and what else the costs depend on.
fn clocksource(environment: &Environment) -> Family {
    let name = environment.clocksource.as_deref();
    let hypervisor = environment.hypervisor.known().map(ToString::to_string).unwrap_or_default();
    let labels = vec![
        ("clocksource", name.unwrap_or_default().into()),
        ("hypervisor", hypervisor.into()),
        ("emulation", Emulator::names(&environment.emulation).into()),
    ];
    let help = "1 for the clocksource that the clocks of the kernel are based on, which the label clocksource names.";
    Family::new("clockscope_clocksource_info", help, [Series::of(labels, name.map(|_| 1.0))])
}

/// The processor, of which hypervisors may hide the model in the name.
fn cpu(environment: &Environment) -> Family {
    let cpu = &environment.cpu;
    let identity = cpu.identity.known();
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let labels = vec![
        ("vendor", cpu.vendor.as_deref().unwrap_or_default().into()),
        ("name", cpu.model.as_deref().unwrap_or_default().into()),
        ("family", number(identity.and_then(|identity| identity.family)).into()),
        ("model", number(identity.map(|identity| identity.model)).into()),
        ("stepping", number(identity.map(|identity| identity.stepping)).into()),
        ("microcode", cpu.microcode.as_deref().unwrap_or_default().into()),
    ];
    let help = "1 for the processor, which the label name states, with the numbers of its design.";
    Family::new("clockscope_cpu_info", help, [Series::of(labels, cpu.name().map(|_| 1.0))])
}

/// Too few handoffs without a regression do not show that there is none.
fn order(verdicts: &[Verdict]) -> Family {
    let count = |check: &EvidenceData| match check {
        EvidenceData::Order(order) if order.shared_with.is_none() => {
            order.regressions.filter(|count| *count > 0 || order.reason.is_none()).map(|count| count as f64)
        }
        _ => None,
    };
    let help = "Number of readings in the last check that were smaller than an earlier reading on another CPU.";
    Family::new("clockscope_order_regressions", help, of_clocks(verdicts, count))
}

fn offsets(verdicts: &[Verdict]) -> Family {
    let bound = |check: &EvidenceData| match check {
        EvidenceData::Offsets(offsets) => offsets.within_ns.map(|ns| ns / PER_NS),
        _ => None,
    };
    let help = "Largest possible difference between the counters of two CPUs, in seconds.";
    Family::new("clockscope_offset_bound_seconds", help, of_clocks(verdicts, bound))
}

/// The rate's error and its bound. Of a clock without a bound, neither is known.
fn rates(verdicts: &[Verdict]) -> [Family; 2] {
    let [errors, bounds] =
        [|ppm: f64, _: f64| ppm / PER_PPM, |_: f64, bound_ppm: f64| bound_ppm / PER_PPM].map(|figure| {
            let series = move |verdict: &Verdict| {
                verdict.evidence.iter().find_map(|evidence| match &evidence.data {
                    EvidenceData::Rate(rate) => {
                        let (ppm, bound_ppm) = rate.ppm.zip(rate.bound_ppm)?;
                        let reference = rate.reference.as_deref().unwrap_or_default();
                        let labels = vec![clock(verdict), ("reference", reference.into())];
                        weighed(verdict, labels, Some(figure(ppm, bound_ppm)))
                    }
                    _ => None,
                })
            };
            verdicts.iter().map(series).collect::<Vec<_>>()
        });
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
    let series = |verdict: &Verdict| {
        let checks = || verdict.evidence.iter().map(|evidence| &evidence.data);
        let path = checks().find_map(|check| match check {
            EvidenceData::Readable(readable) => Some(readable.path.as_str()),
            _ => None,
        });
        let cost_ns = checks().find_map(|check| match check {
            EvidenceData::Cost(cost) if cost.emulators.is_empty() => cost.cost_ns,
            _ => None,
        });
        let labels = vec![clock(verdict), ("path", path.unwrap_or_default().into())];
        weighed(verdict, labels, cost_ns.map(|ns| ns / PER_NS))
    };
    let help = "Median time that one read of a clock takes, in seconds.";
    Family::new("clockscope_read_seconds", help, verdicts.iter().map(series))
}

fn tick(verdicts: &[Verdict]) -> Family {
    let tick = |check: &EvidenceData| match check {
        EvidenceData::Resolution(resolution) => resolution.tick_ns.map(|ns| ns / PER_NS),
        _ => None,
    };
    let help = "Tick of a clock, in seconds: its readings differ by multiples of the tick.";
    Family::new("clockscope_tick_seconds", help, of_clocks(verdicts, tick))
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

/// Clocks with a worse verdict are left out last.
fn weighed(verdict: &Verdict, labels: Vec<(&'static str, Text)>, value: Option<f64>) -> Option<Series> {
    Series::of(labels, value).map(|series| series.weighing(weight(verdict.verdict)))
}
