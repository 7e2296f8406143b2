//! The kernel's clocksources: what each is (Linux, `drivers/clocksource` and `arch/*/kernel`).

use crate::counter;

/// What a clocksource counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// The processor's counter and nothing else.
    Counter,
    /// The processor's counter, scaled by what a hypervisor states for each CPU.
    ScaledCounter,
    /// The High Precision Event Timer.
    Hpet,
    /// The ACPI power-management timer.
    AcpiPm,
    /// The timer tick.
    TimerTick,
}

/// What is known of a clocksource by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownClocksource {
    /// Its name.
    pub name: &'static str,
    /// What it counts by.
    pub hardware: Hardware,
    /// What it is, for people.
    pub description: &'static str,
    /// Its frequency where that is the same on every machine, in Hz.
    pub frequency_hz: Option<f64>,
    /// Bits that count, where that is the same on every machine.
    pub bits: Option<u32>,
    /// Whether programs read the time without entering the kernel; `None` where that depends on the
    /// hypervisor.
    pub vdso: Option<bool>,
    /// What reading the time usually costs, for people.
    pub usual_cost: &'static str,
}

impl KnownClocksource {
    /// Returns whether the kernel computes it from the processor's counter.
    #[must_use]
    pub const fn is_counter_based(&self) -> bool {
        matches!(self.hardware, Hardware::Counter | Hardware::ScaledCounter)
    }
}

/// A row; the frequency and the bits are those of every machine.
const fn row(
    name: &'static str,
    hardware: Hardware,
    [frequency_hz, bits]: [Option<u32>; 2],
    vdso: Option<bool>,
    usual_cost: &'static str,
    description: &'static str,
) -> KnownClocksource {
    let frequency_hz = match frequency_hz {
        Some(hz) => Some(hz as f64),
        None => None,
    };
    KnownClocksource { name, hardware, description, frequency_hz, bits, vdso, usual_cost }
}

/// Where the frequency differs from machine to machine.
const VARIES: Option<u32> = None;
const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// All that are known. Another one is another row.
#[rustfmt::skip]
pub const KNOWN: &[KnownClocksource] = &[
    row("tsc", Hardware::Counter, [VARIES, Some(64)], YES, "20 to 50 ns",
        "the processor's time-stamp counter"),
    row("tsc-early", Hardware::Counter, [VARIES, Some(64)], YES, "20 to 50 ns",
        "the processor's time-stamp counter, before its frequency is refined"),
    row("kvm-clock", Hardware::ScaledCounter, [Some(1_000_000_000), Some(64)], YES, "25 to 60 ns",
        "the time-stamp counter, scaled by what KVM states to each CPU"),
    row("hyperv_clocksource_tsc_page", Hardware::ScaledCounter, [Some(10_000_000), Some(64)], YES, "25 to 60 ns",
        "the time-stamp counter, scaled by what Hyper-V states in a page"),
    row("xen", Hardware::ScaledCounter, [Some(1_000_000_000), Some(64)], None, "30 to 1000 ns",
        "the time-stamp counter, scaled by what Xen states to each CPU"),
    row("hpet", Hardware::Hpet, [VARIES, Some(32)], NO, "500 to 2000 ns",
        "the High Precision Event Timer, a register of the chipset"),
    row("acpi_pm", Hardware::AcpiPm, [Some(3_579_545), Some(24)], NO, "700 to 4000 ns",
        "the ACPI power-management timer, a port of the chipset"),
    row("refined-jiffies", Hardware::TimerTick, [VARIES, Some(32)], NO, "100 to 500 ns, in steps of a timer tick",
        "the timer tick, calibrated at boot"),
    row("jiffies", Hardware::TimerTick, [VARIES, Some(32)], NO, "100 to 500 ns, in steps of a timer tick",
        "the timer tick"),
    row("arch_sys_counter", Hardware::Counter, [VARIES, None], YES, "10 to 50 ns",
        "the Arm generic timer's counter, CNTVCT_EL0"),
    row("riscv_clocksource", Hardware::Counter, [VARIES, Some(64)], YES, "20 to 200 ns",
        "the time counter of RISC-V"),
    row("timebase", Hardware::Counter, [VARIES, Some(64)], YES, "10 to 50 ns",
        "the time base of POWER"),
    row("tod", Hardware::Counter, [Some(4_096_000_000), Some(64)], YES, "10 to 50 ns",
        "the time-of-day clock of z/Architecture"),
];

/// Returns what is known of a clocksource; `None` for one that is not in [`KNOWN`].
#[must_use]
pub fn known(name: &[u8]) -> Option<&'static KnownClocksource> {
    KNOWN.iter().find(|known| known.name.as_bytes() == name)
}

/// Returns whether a clocksource is this architecture's counter and nothing else.
#[must_use]
pub fn is_counter(name: &[u8]) -> bool {
    counter::EXISTS && known(name).is_some_and(|known| known.hardware == Hardware::Counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (place, one) in KNOWN.iter().enumerate() {
            assert_eq!(KNOWN.iter().position(|other| other.name == one.name), Some(place), "{}", one.name);
        }
    }

    /// The library trusts a counter that the kernel itself uses, so that both have to mean the
    /// same.
    #[test]
    fn the_counter_of_this_architecture_is_in_the_table() {
        assert_eq!(counter::CLOCKSOURCE.is_some(), counter::EXISTS);
        if let Some(name) = counter::CLOCKSOURCE {
            assert_eq!(known(name.as_bytes()).map(|known| known.hardware), Some(Hardware::Counter));
        }
        assert_eq!(known(b"kvm-clock").map(KnownClocksource::is_counter_based), Some(true));
        assert_eq!(known(b"hpet").map(KnownClocksource::is_counter_based), Some(false));
        assert_eq!(known(b"sundial"), None);
    }
}
