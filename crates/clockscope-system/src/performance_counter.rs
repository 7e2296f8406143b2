//! The hardware behind QueryPerformanceCounter of Windows: from its frequency, and from what the
//! system shows of the way by which programs read it.
//!
//! Sources: Microsoft, "Acquiring high-resolution time stamps" (the hardware, by version of
//! Windows) and NtQuerySystemInformation; ntddk.h, KUSER_SHARED_DATA and
//! SHARED_GLOBAL_FLAGS_QPC_BYPASS; ACPI 6.0, 4.8.2.1 (3.579545 MHz); IA-PC HPET 1.0a, 2.2 (14.31818
//! MHz, and 10 MHz at least); Linux, `arch/x86/kernel/hpet.c` and QEMU, `hw/timer/hpet.c` (24, 25
//! and 100 MHz).
//!
//! [`hardware`] is a pure function of what the system shows. `os/windows/facts.rs` has the calls.

use clockscope_core::clocksource::Architecture;
use clockscope_records::{
    Environment, Figure, Hypervisor, PerformanceCounter, PerformanceHardware, PerformanceReason, Unknown, texts,
};

use crate::counter_facts::CounterFacts;
use crate::os::facts;

/// Flags of the byte QpcBypassEnabled (ntddk.h, SHARED_GLOBAL_FLAGS_QPC_BYPASS).
mod bypass {
    /// Programs read the processor's counter without the kernel.
    pub(super) const ENABLED: u8 = 0x01;
    /// They scale it by the hypervisor's page.
    pub(super) const HYPERVISOR_PAGE: u8 = 0x02;
}

/// Facts that Windows shows of its performance counter, and the machine of itself.
#[derive(Clone, Copy, Debug)]
pub struct PerformanceFacts {
    /// QueryPerformanceFrequency.
    pub frequency_hz: u64,
    /// The processor.
    pub architecture: Architecture,
    /// Frequency of the processor's counter, in Hz, measured or stated.
    pub counter_hz: Option<f64>,
    /// The byte QpcBypassEnabled of KUSER_SHARED_DATA.
    pub bypass_flags: Option<u8>,
    /// True if the system says that a read enters the kernel.
    pub enters_kernel: Option<bool>,
    /// True if there is a hypervisor.
    pub has_hypervisor: Option<bool>,
    /// True if the system is Wine.
    pub is_wine: bool,
}

/// Returns what is behind QueryPerformanceCounter; `None` on other systems than Windows.
/// `counter_hz` is the frequency of the processor's counter, measured, or why it is unknown.
#[must_use]
pub fn read(environment: &Environment, counter_hz: &Figure<f64>) -> Option<PerformanceCounter> {
    facts::performance_counter().map(|counter_facts| recorded(counter_facts, environment, counter_hz))
}

/// Record of what the system shows, and of what follows from it.
#[cfg_attr(not(any(windows, test)), allow(dead_code, reason = "only Windows has this counter"))]
fn recorded(counter_facts: CounterFacts, environment: &Environment, counter_hz: &Figure<f64>) -> PerformanceCounter {
    let CounterFacts { frequency_hz, bypass_flags, bypass_shift, enters_kernel, is_wine } = counter_facts;
    let found = frequency_hz.clone().result().and_then(|frequency_hz| {
        let facts = PerformanceFacts {
            frequency_hz,
            architecture: Architecture::named(&environment.cpu.architecture),
            counter_hz: counter_hz.get(),
            bypass_flags: bypass_flags.get(),
            enters_kernel: enters_kernel.get(),
            has_hypervisor: environment.hypervisor.known().map(|hypervisor| *hypervisor != Hypervisor::None),
            is_wine,
        };
        hardware(&facts)
    });
    let counts = |hz: u64| {
        let counter = counter_hz.clone().result()?;
        if hz == 0 { Err(texts::ZERO_FREQUENCY.into()) } else { Ok(counter / hz as f64) }
    };
    let (hardware, reasons) = match found {
        Ok((hardware, reasons)) => (Figure::Known(hardware), reasons),
        Err(unknown) => (Figure::unknown(unknown), Vec::new()),
    };
    PerformanceCounter {
        counter_counts: frequency_hz.clone().result().and_then(counts).into(),
        frequency_hz,
        bypass_flags,
        bypass_shift,
        enters_kernel,
        hardware,
        reasons,
    }
}

/// Frequency that Windows 10 scales the processor's counter to, and hypervisors count by.
const SCALED_HZ: u64 = 10_000_000;

/// Hardware outside of an x86 processor, by its frequencies. Fractions of a Hz are rounded up or
/// down.
const OUTSIDE: [(PerformanceHardware, &[u64]); 3] = [
    (PerformanceHardware::AcpiPm, &[3_579_545]),
    (PerformanceHardware::Hpet, &[14_318_179, 14_318_180, 14_318_181, 14_318_182, 24_000_000, 25_000_000, 100_000_000]),
    (PerformanceHardware::Pit, &[1_193_180, 1_193_181, 1_193_182]),
];

/// Shifts that Windows uses: none on XP, otherwise so that some counts per µs are left.
const SHIFTS: [u8; 6] = [0, 8, 9, 10, 11, 12];

/// A frequency that was measured or stated may be wrong by so much.
const TOLERANCE: f64 = 1e-3;

/// Returns the hardware behind the performance counter, and what shows that.
///
/// # Errors
/// The facts fit no hardware that is known, or more than one.
pub fn hardware(facts: &PerformanceFacts) -> Result<(PerformanceHardware, Vec<PerformanceReason>), Unknown> {
    let hz = facts.frequency_hz;
    match facts.architecture {
        _ if hz == 0 => Err(texts::NO_PERFORMANCE_COUNTER.into()),
        _ if facts.is_wine => Err(texts::OF_WINE.into()),
        Architecture::Arm => of_arm(facts),
        _ if hz == SCALED_HZ => scaled(facts),
        _ => outside(facts).or_else(|| shifted(facts)).unwrap_or(Err(unfamiliar(hz))),
    }
}

type Found = Result<(PerformanceHardware, Vec<PerformanceReason>), Unknown>;

/// Windows on Arm has the system counter, unscaled or scaled to 10 MHz.
fn of_arm(facts: &PerformanceFacts) -> Found {
    let hz = facts.frequency_hz;
    if facts.counter_hz.is_some_and(|counter| is_close(counter, hz as f64)) {
        return Ok((PerformanceHardware::ArmCounter, vec![PerformanceReason::ReportedByProcessor]));
    }
    let flags = facts.bypass_flags.filter(|flags| flags & bypass::ENABLED != 0);
    match (hz, flags.map(|flags| flags & bypass::HYPERVISOR_PAGE != 0)) {
        (SCALED_HZ, Some(true)) => Ok((PerformanceHardware::HypervisorPage, vec![PerformanceReason::HypervisorPage])),
        (SCALED_HZ, Some(false)) => Ok((PerformanceHardware::ArmCounter, vec![PerformanceReason::Bypass])),
        (SCALED_HZ, None) => Err(ambiguous(hz)),
        _ => Err(unfamiliar(hz)),
    }
}

/// 10 MHz: the time-stamp counter, scaled by Windows or by the hypervisor's page.
fn scaled(facts: &PerformanceFacts) -> Found {
    use PerformanceReason::{Bypass, Frequency, HypervisorPage, NoHypervisor};
    let by_page = |flags: u8| flags & bypass::HYPERVISOR_PAGE != 0;
    match (facts.bypass_flags.filter(|flags| flags & bypass::ENABLED != 0), facts.has_hypervisor) {
        (Some(flags), _) if by_page(flags) => {
            Ok((PerformanceHardware::HypervisorPage, vec![Frequency, HypervisorPage]))
        }
        (Some(_), _) => Ok((PerformanceHardware::TscScaled, vec![Frequency, Bypass])),
        (None, Some(false)) => Ok((PerformanceHardware::TscScaled, vec![Frequency, NoHypervisor])),
        (None, _) => Err(ambiguous(facts.frequency_hz)),
    }
}

/// Hardware outside of the processor, whose frequency is exact. A time-stamp counter may have the
/// same one by chance: the way by which it is read decides.
fn outside(facts: &PerformanceFacts) -> Option<Found> {
    let hz = facts.frequency_hz;
    let (hardware, _) = OUTSIDE.iter().find(|(_, frequencies)| frequencies.contains(&hz))?;
    Some(match reads_inside(facts) {
        Some(true) => shifted(facts).unwrap_or(Err(contradictory(hz))),
        Some(false) => Ok((*hardware, vec![PerformanceReason::Frequency, PerformanceReason::NoBypass])),
        None => Ok((*hardware, vec![PerformanceReason::Frequency])),
    })
}

/// Returns true if programs read the processor's counter without the kernel.
fn reads_inside(facts: &PerformanceFacts) -> Option<bool> {
    let by_flags = facts.bypass_flags.map(|flags| flags & bypass::ENABLED != 0);
    by_flags.or(facts.enters_kernel.map(|enters| !enters))
}

/// The time-stamp counter without some of its lower bits.
fn shifted(facts: &PerformanceFacts) -> Option<Found> {
    let counts = facts.counter_hz? / facts.frequency_hz as f64;
    let bits = SHIFTS.into_iter().find(|bits| is_close(counts, 2f64.powi((*bits).into())))?;
    let by_way = (reads_inside(facts) == Some(true)).then_some(PerformanceReason::Bypass);
    let reasons = std::iter::once(PerformanceReason::PowerOfTwo).chain(by_way).collect();
    Some(Ok((PerformanceHardware::TscShifted { bits }, reasons)))
}

fn is_close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < TOLERANCE
}

fn unfamiliar(hz: u64) -> Unknown {
    format!("no hardware is known to count at {hz} Hz").into()
}

fn ambiguous(hz: u64) -> Unknown {
    format!("{hz} Hz is both the processor's counter's and the hypervisor's, and nothing shows which one is read")
        .into()
}

fn contradictory(hz: u64) -> Unknown {
    format!("{hz} Hz is a frequency of hardware outside of the processor, but programs read the processor's counter")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use PerformanceHardware::{AcpiPm, ArmCounter, Hpet, HypervisorPage, Pit, TscScaled, TscShifted};

    const UNKNOWN: PerformanceFacts = PerformanceFacts {
        frequency_hz: 0,
        architecture: Architecture::X86,
        counter_hz: None,
        bypass_flags: None,
        enters_kernel: None,
        has_hypervisor: None,
        is_wine: false,
    };

    fn of(frequency_hz: u64, facts: PerformanceFacts) -> Result<PerformanceHardware, Unknown> {
        hardware(&PerformanceFacts { frequency_hz, ..facts }).map(|(hardware, _)| hardware)
    }

    /// The machines of an article on .NET's Stopwatch (Akinshin, 2016): an i7-4702MQ of 2.2 GHz
    /// whose frequency is 2,143,473 Hz, another of 2,728,068 Hz, and the same with HPET.
    #[test]
    fn frequencies_of_real_machines_are_explained() {
        let tsc = |hz: f64| PerformanceFacts { counter_hz: Some(hz), ..UNKNOWN };
        assert_eq!(of(2_143_473, tsc(2_194_916_352.0)), Ok(TscShifted { bits: 10 }));
        assert_eq!(of(2_728_068, tsc(2_793_541_632.0)), Ok(TscShifted { bits: 10 }));
        assert_eq!(of(14_318_180, tsc(2_194_916_352.0)), Ok(Hpet));
        assert_eq!(of(3_579_545, tsc(2_194_916_352.0)), Ok(AcpiPm));
        assert_eq!(of(1_193_182, tsc(2_194_916_352.0)), Ok(Pit));
        // Windows XP reads the counter itself.
        assert_eq!(of(2_194_916_352, tsc(2_194_916_352.0)), Ok(TscShifted { bits: 0 }));
        assert_eq!(of(24_000_000, UNKNOWN), Ok(Hpet));
        assert_eq!(of(0, tsc(2.2e9)), Err(texts::NO_PERFORMANCE_COUNTER.into()));
        assert_eq!(of(7_777_777, tsc(2.2e9)), Err(unfamiliar(7_777_777)));
        assert_eq!(of(2_143_473, UNKNOWN), Err(unfamiliar(2_143_473)));
    }

    #[test]
    fn ten_megahertz_is_the_counters_or_the_hypervisors() {
        let flags = |flags: u8| PerformanceFacts { bypass_flags: Some(flags), ..UNKNOWN };
        let hypervisor = |is: bool| PerformanceFacts { has_hypervisor: Some(is), ..UNKNOWN };
        assert_eq!(of(SCALED_HZ, flags(0x83)), Ok(HypervisorPage));
        assert_eq!(of(SCALED_HZ, flags(0x81)), Ok(TscScaled));
        assert_eq!(of(SCALED_HZ, hypervisor(false)), Ok(TscScaled));
        let ambiguous = Err(ambiguous(SCALED_HZ));
        assert_eq!(of(SCALED_HZ, hypervisor(true)), ambiguous);
        // No flag counts while the first one is missing.
        assert_eq!(of(SCALED_HZ, flags(0x02)), ambiguous);
        assert_eq!(of(SCALED_HZ, UNKNOWN), ambiguous);
        assert_eq!(of(SCALED_HZ, PerformanceFacts { is_wine: true, ..flags(0x81) }), Err(texts::OF_WINE.into()));
    }

    /// A processor of 3.665 GHz has the power management timer's frequency after a shift.
    #[test]
    fn a_frequency_that_fits_two_is_decided_by_the_way_of_reading() {
        let both = PerformanceFacts { counter_hz: Some(3_579_545.0 * 1024.0), ..UNKNOWN };
        let flags = |flags: u8| PerformanceFacts { bypass_flags: Some(flags), ..both };
        assert_eq!(of(3_579_545, flags(0x01)), Ok(TscShifted { bits: 10 }));
        assert_eq!(of(3_579_545, flags(0)), Ok(AcpiPm));
        assert_eq!(of(3_579_545, both), Ok(AcpiPm));
        let kernel = |enters: bool| PerformanceFacts { enters_kernel: Some(enters), ..both };
        assert_eq!(of(3_579_545, kernel(true)), Ok(AcpiPm));
        assert_eq!(of(3_579_545, kernel(false)), Ok(TscShifted { bits: 10 }));
        let other = PerformanceFacts { counter_hz: Some(2.2e9), ..flags(0x01) };
        assert_eq!(of(3_579_545, other), Err(contradictory(3_579_545)));
    }

    #[test]
    fn arm_has_one_counter() {
        let arm = PerformanceFacts { architecture: Architecture::Arm, counter_hz: Some(24e6), ..UNKNOWN };
        assert_eq!(of(24_000_000, arm), Ok(ArmCounter));
        assert_eq!(of(SCALED_HZ, PerformanceFacts { bypass_flags: Some(0x01), ..arm }), Ok(ArmCounter));
        assert_eq!(of(SCALED_HZ, PerformanceFacts { bypass_flags: Some(0x03), ..arm }), Ok(HypervisorPage));
        assert_eq!(of(3_579_545, arm), Err(unfamiliar(3_579_545)));
    }

    /// Every figure is known or has its reason, and a frequency of 0 divides nothing.
    #[test]
    fn counter_facts_become_a_record() {
        use clockscope_records::Figures;
        let counter_facts = |hz| CounterFacts {
            frequency_hz: Figure::Known(hz),
            bypass_flags: Figure::Known(1),
            bypass_shift: Figure::Known(10),
            enters_kernel: Figure::unknown(texts::NOT_REPORTED),
            is_wine: false,
        };
        let mut environment = Environment::default();
        "x86_64".clone_into(&mut environment.cpu.architecture);
        let found = recorded(counter_facts(2_143_473), &environment, &Figure::Known(2_194_916_352.0));
        assert_eq!(found.hardware, Figure::Known(TscShifted { bits: 10 }));
        assert!(found.counter_counts.get().is_some_and(|counts| (counts - 1024.0).abs() < 0.01));
        assert_eq!(found.reasons().keys().collect::<Vec<_>>(), ["enters_kernel"]);
        let none = recorded(counter_facts(0), &environment, &Figure::Known(2.2e9));
        assert_eq!(none.hardware, Figure::unknown(texts::NO_PERFORMANCE_COUNTER));
        assert!(none.reasons.is_empty());
        assert_eq!(none.counter_counts, Figure::unknown(texts::ZERO_FREQUENCY));
    }

    /// A guest of which nothing but the frequency is shown.
    #[test]
    fn denied_facts_leave_the_hardware_unknown_with_the_reason() {
        use clockscope_records::Figures;
        let denied = || "NtQuerySystemInformation: status 0xc0000022";
        let counter_facts = CounterFacts {
            frequency_hz: Figure::Known(SCALED_HZ),
            bypass_flags: Figure::unknown(texts::VERSION_UNKNOWN),
            bypass_shift: Figure::unknown(texts::VERSION_UNKNOWN),
            enters_kernel: Figure::unknown(denied()),
            is_wine: false,
        };
        let mut environment = Environment::default();
        "x86_64".clone_into(&mut environment.cpu.architecture);
        environment.hypervisor = Figure::Known(Hypervisor::Named("KVM".to_owned()));
        let found = recorded(counter_facts, &environment, &Figure::Known(2.6e9));
        let ambiguous = ambiguous(SCALED_HZ);
        assert_eq!(found.hardware, Figure::unknown(ambiguous));
        assert_eq!(found.enters_kernel, Figure::unknown(denied()));
        let unknown: Vec<String> = found.reasons().keys().map(ToString::to_string).collect();
        assert_eq!(unknown, ["bypass_flags", "bypass_shift", "enters_kernel", "hardware"]);
    }

    #[test]
    fn reasons_name_what_decided() {
        use PerformanceReason::{Bypass, Frequency, NoBypass, PowerOfTwo};
        let reasons = |hz, facts| hardware(&PerformanceFacts { frequency_hz: hz, ..facts }).map(|(_, reasons)| reasons);
        let tsc = PerformanceFacts { counter_hz: Some(2_194_916_352.0), bypass_flags: Some(1), ..UNKNOWN };
        assert_eq!(reasons(2_143_473, tsc), Ok(vec![PowerOfTwo, Bypass]));
        assert_eq!(reasons(SCALED_HZ, tsc), Ok(vec![Frequency, Bypass]));
        assert_eq!(
            reasons(14_318_180, PerformanceFacts { bypass_flags: Some(0), ..UNKNOWN }),
            Ok(vec![Frequency, NoBypass])
        );
    }
}
