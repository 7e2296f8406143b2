//! The kernel's clocksources: what each is (Linux, `drivers/clocksource` and `arch/*/kernel`), and
//! the timecounters of the BSDs (FreeBSD, `sys/x86/x86/tsc.c` and `sys/dev/acpica`; NetBSD,
//! `sys/arch/x86/x86/tsc.c`; OpenBSD, `sys/arch/amd64/amd64/tsc.c`). Library and instrument share
//! this table: the hardware, its width, and whether it is computed from the counter.

use core::fmt;

use crate::counter;

/// The name of a clocksource, stored without an allocation. Longer names are cut; Linux's own limit
/// is 31 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClocksourceName {
    bytes: [u8; Self::MAX_BYTES],
    length: u8,
}

impl ClocksourceName {
    /// Bytes that are kept.
    pub const MAX_BYTES: usize = 64;

    /// Returns the name that these bytes begin with, without the spaces at its end; `None` if
    /// nothing is left, or if it is not a text.
    #[must_use]
    pub fn new(name: &[u8]) -> Option<Self> {
        let name = name.trim_ascii_end();
        let name = name.get(..Self::MAX_BYTES).unwrap_or(name);
        if name.is_empty() || core::str::from_utf8(name).is_err() {
            return None;
        }
        let mut bytes = [0; Self::MAX_BYTES];
        bytes.get_mut(..name.len())?.copy_from_slice(name);
        Some(Self { bytes, length: name.len() as u8 })
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Returns the name's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

impl fmt::Debug for ClocksourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// An architecture, by the counter that kernels build a clocksource on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// x86 of 32 and 64 bits.
    X86,
    /// Arm of 32 and 64 bits.
    Arm,
    /// RISC-V.
    RiscV,
    /// POWER of 32 and 64 bits.
    Power,
    /// z/Architecture.
    Z,
    /// LoongArch.
    LoongArch,
    /// Any other: no clocksource is known to be its counter.
    Other,
}

impl Architecture {
    /// The one that this program is compiled for.
    pub const HERE: Self = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        Self::X86
    } else if cfg!(any(target_arch = "arm", target_arch = "aarch64")) {
        Self::Arm
    } else if cfg!(any(target_arch = "riscv32", target_arch = "riscv64")) {
        Self::RiscV
    } else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
        Self::Power
    } else if cfg!(target_arch = "s390x") {
        Self::Z
    } else if cfg!(target_arch = "loongarch64") {
        Self::LoongArch
    } else {
        Self::Other
    };

    /// Returns the one that Rust calls so (`std::env::consts::ARCH`).
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "x86" | "x86_64" => Self::X86,
            "arm" | "aarch64" => Self::Arm,
            "riscv32" | "riscv64" => Self::RiscV,
            "powerpc" | "powerpc64" => Self::Power,
            "s390x" => Self::Z,
            "loongarch64" => Self::LoongArch,
            _ => Self::Other,
        }
    }
}

/// Hardware that a clocksource counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// The counter of this architecture's processors and nothing else.
    Counter(Architecture),
    /// The counter of this architecture's processors, scaled by what a hypervisor states for each
    /// CPU.
    ScaledCounter(Architecture),
    /// The High Precision Event Timer.
    Hpet,
    /// The ACPI power-management timer.
    AcpiPm,
    /// The 8254 programmable interval timer.
    Pit,
    /// The timer tick.
    TimerTick,
    /// A counter of the hypervisor's: each read of it leaves the virtual machine.
    Hypervisor,
    /// Nothing but its own reads: a placeholder of the kernel's.
    Reads,
}

/// Facts about a clocksource that are known by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownClocksource {
    /// Its name.
    pub name: &'static str,
    /// The hardware that it counts by.
    pub hardware: Hardware,
    /// Description of it, for people.
    pub description: &'static str,
    /// Its frequency where that is the same on every machine, in Hz.
    pub frequency_hz: Option<f64>,
    /// Bits that count, where that is the same on every machine.
    pub bits: Option<u32>,
    /// True if programs read the time without entering the kernel; `None` where that depends on the
    /// hypervisor.
    pub vdso: Option<bool>,
}

impl KnownClocksource {
    /// Returns whether the kernel computes it from the processor's counter.
    #[must_use]
    pub const fn is_counter_based(&self) -> bool {
        self.architecture().is_some()
    }

    /// Returns whether it is the processor's counter and nothing else, on whatever machine has it.
    #[must_use]
    pub const fn is_bare_counter(&self) -> bool {
        matches!(self.hardware, Hardware::Counter(_))
    }

    /// Returns the only architecture whose kernels have it; `None` for one that is not computed
    /// from a counter.
    #[must_use]
    pub const fn architecture(&self) -> Option<Architecture> {
        match self.hardware {
            Hardware::Counter(architecture) | Hardware::ScaledCounter(architecture) => Some(architecture),
            Hardware::Hpet
            | Hardware::AcpiPm
            | Hardware::Pit
            | Hardware::TimerTick
            | Hardware::Hypervisor
            | Hardware::Reads => None,
        }
    }
}

/// A row; the frequency and the bits are those of every machine.
const fn row(
    name: &'static str,
    hardware: Hardware,
    [frequency_hz, bits]: [Option<u32>; 2],
    vdso: Option<bool>,
    description: &'static str,
) -> KnownClocksource {
    let frequency_hz = match frequency_hz {
        Some(hz) => Some(hz as f64),
        None => None,
    };
    KnownClocksource { name, hardware, description, frequency_hz, bits, vdso }
}

/// A frequency that differs from machine to machine.
const VARIES: Option<u32> = None;
const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// All that are known. Another one is another row.
#[rustfmt::skip]
pub const KNOWN: &[KnownClocksource] = &[
    row("tsc", Hardware::Counter(Architecture::X86), [VARIES, Some(64)], YES,
        "the processor's time-stamp counter"),
    row("tsc-early", Hardware::Counter(Architecture::X86), [VARIES, Some(64)], YES,
        "the processor's time-stamp counter, before its frequency is refined"),
    row("kvm-clock", Hardware::ScaledCounter(Architecture::X86), [Some(1_000_000_000), Some(64)], YES,
        "the time-stamp counter, scaled by what KVM states to each CPU"),
    row("hyperv_clocksource_tsc_page", Hardware::ScaledCounter(Architecture::X86), [Some(10_000_000), Some(64)], YES,
        "the time-stamp counter, scaled by what Hyper-V states in a page"),
    row("hyperv_clocksource_msr", Hardware::Hypervisor, [Some(10_000_000), Some(64)], NO,
        "Hyper-V's reference counter, whose reads the hypervisor traps"),
    row("xen", Hardware::ScaledCounter(Architecture::X86), [Some(1_000_000_000), Some(64)], None,
        "the time-stamp counter, scaled by what Xen states to each CPU"),
    row("hpet", Hardware::Hpet, [VARIES, Some(32)], NO, HPET),
    row("acpi_pm", Hardware::AcpiPm, [Some(3_579_545), Some(24)], NO, ACPI),
    row("refined-jiffies", Hardware::TimerTick, [VARIES, Some(32)], NO,
        "the timer tick, calibrated at boot"),
    row("pit", Hardware::Pit, [Some(1_193_182), Some(32)], NO, PIT),
    row("jiffies", Hardware::TimerTick, [VARIES, Some(32)], NO,
        "the timer tick"),
    row("arch_sys_counter", Hardware::Counter(Architecture::Arm), [VARIES, None], YES,
        "the Arm generic timer's counter, CNTVCT_EL0"),
    row("riscv_clocksource", Hardware::Counter(Architecture::RiscV), [VARIES, Some(64)], YES,
        "the time counter of RISC-V"),
    row("timebase", Hardware::Counter(Architecture::Power), [VARIES, Some(64)], YES,
        "the time base of POWER"),
    row("tod", Hardware::Counter(Architecture::Z), [Some(4_096_000_000), Some(64)], YES,
        "the time-of-day clock of z/Architecture"),
    row("Constant", Hardware::Counter(Architecture::LoongArch), [VARIES, Some(64)], YES,
        "the stable counter of LoongArch"),
    row("TSC", Hardware::Counter(Architecture::X86), [VARIES, Some(32)], None,
        "the processor's time-stamp counter"),
    row("TSC-low", Hardware::Counter(Architecture::X86), [VARIES, Some(32)], None,
        "the processor's time-stamp counter, without its lowest bits"),
    row("kvmclock", Hardware::ScaledCounter(Architecture::X86), [VARIES, Some(32)], None,
        "the time-stamp counter, scaled by what KVM states to each CPU"),
    row("Hyper-V-TSC", Hardware::ScaledCounter(Architecture::X86), [VARIES, Some(32)], None,
        "the time-stamp counter, scaled by what Hyper-V states in a page"),
    row("ARM MPCore Timecounter", Hardware::Counter(Architecture::Arm), [VARIES, Some(32)], None,
        "the Arm generic timer's counter, CNTVCT_EL0"),
    row("HPET", Hardware::Hpet, [VARIES, Some(32)], None, HPET),
    row("hpet0", Hardware::Hpet, [VARIES, Some(32)], None, HPET),
    row("acpihpet0", Hardware::Hpet, [VARIES, Some(32)], None, HPET),
    row("ACPI-fast", Hardware::AcpiPm, [Some(3_579_545), None], NO, ACPI),
    row("ACPI-safe", Hardware::AcpiPm, [Some(3_579_545), None], NO, ACPI_SAFE),
    row("ACPI-Fast", Hardware::AcpiPm, [Some(3_579_545), None], NO, ACPI),
    row("ACPI-Safe", Hardware::AcpiPm, [Some(3_579_545), None], NO, ACPI_SAFE),
    row("acpitimer0", Hardware::AcpiPm, [Some(3_579_545), None], NO, ACPI),
    row("i8254", Hardware::Pit, [Some(1_193_182), Some(16)], NO, PIT),
    row("clockinterrupt", Hardware::TimerTick, [VARIES, Some(32)], NO,
        "the timer tick"),
    row("dummy", Hardware::Reads, [VARIES, None], NO,
        "a placeholder of the kernel's, which counts its own reads"),
];

const HPET: &str = "the High Precision Event Timer, a register of the chipset";
const ACPI: &str = "the ACPI power-management timer, a port of the chipset";
const ACPI_SAFE: &str = "the ACPI power-management timer, a port of the chipset that is read three times";
const PIT: &str = "the 8254 programmable interval timer, a port of the chipset";

/// Returns what is known of a clocksource; `None` for one that is not in [`KNOWN`].
#[must_use]
pub fn known(name: &[u8]) -> Option<&'static KnownClocksource> {
    KNOWN.iter().find(|known| known.name.as_bytes() == name)
}

/// Names of the clocksources that are this architecture's counter and nothing else, as their
/// letters in one array, each after its length. Without the other facts, of which a program that
/// only reads the time has no need, and without pointers, each of which is relocated.
const COUNTER_NAMES: [u8; counter_names::<0>().1] = counter_names().0;

/// Returns the first `N` bytes of the names, and the number of all.
const fn counter_names<const N: usize>() -> ([u8; N], usize) {
    let (mut bytes, mut length, mut row) = ([0; N], 0, 0);
    while row < KNOWN.len() {
        if matches!(KNOWN[row].hardware, Hardware::Counter(architecture) if architecture as u8 == Architecture::HERE as u8)
        {
            let name = KNOWN[row].name.as_bytes();
            let mut index = 0;
            while index <= name.len() {
                if length < N {
                    bytes[length] = if index == 0 { name.len() as u8 } else { name[index - 1] };
                }
                (index, length) = (index + 1, length + 1);
            }
        }
        row += 1;
    }
    (bytes, length)
}

/// Returns whether a clocksource is this architecture's counter and nothing else.
///
/// Another architecture's clocksource is not. An emulated program sees the files of the kernel that
/// runs the emulator, whose clocks are based on a counter that the program cannot read.
#[must_use]
pub fn is_counter(name: &[u8]) -> bool {
    static NAMES: [u8; COUNTER_NAMES.len()] = COUNTER_NAMES;
    let mut rest = &NAMES[..];
    while let Some((length, after)) = rest.split_first() {
        let Some((counter, next)) = after.split_at_checked(usize::from(*length)) else { break };
        if counter == name {
            return counter::EXISTS;
        }
        rest = next;
    }
    false
}

/// Returns whether a clocksource is the counter of an architecture's processors and nothing else.
#[must_use]
pub fn is_counter_of(architecture: Architecture, name: &[u8]) -> bool {
    known(name).is_some_and(|known| known.hardware == Hardware::Counter(architecture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stored_up_to_its_longest() {
        let parsed = |name: &[u8]| ClocksourceName::new(name);
        assert_eq!(parsed(b"tsc\n").unwrap().as_str(), "tsc");
        assert_eq!(parsed(b"tsc\n"), parsed(b"tsc"));
        assert_eq!(parsed(&[b'x'; 100]).unwrap().as_bytes(), [b'x'; ClocksourceName::MAX_BYTES]);
        assert_eq!([parsed(b""), parsed(b" \n"), parsed(b"\xff")], [None; 3]);
    }

    #[test]
    fn names_are_unique() {
        for (index, one) in KNOWN.iter().enumerate() {
            assert_eq!(KNOWN.iter().position(|other| other.name == one.name), Some(index), "{}", one.name);
        }
    }

    /// The library trusts a counter that the kernel itself uses, so that both have to mean the
    /// same.
    #[test]
    fn the_counter_of_this_architecture_is_in_the_table() {
        assert_eq!(counter::CLOCKSOURCE.is_some(), counter::EXISTS);
        if let Some(name) = counter::CLOCKSOURCE {
            assert_eq!(known(name.as_bytes()).map(|known| known.hardware), Some(Hardware::Counter(Architecture::HERE)));
            assert!(is_counter(name.as_bytes()));
        }
        assert_eq!(known(b"kvm-clock").map(KnownClocksource::is_counter_based), Some(true));
        assert_eq!(known(b"hpet").map(KnownClocksource::is_counter_based), Some(false));
        assert_eq!(known(b"sundial"), None);
    }

    /// A riscv64 program under qemu-user reads `tsc` in the host's sysfs. Taken for its own
    /// counter, readings went back.
    #[test]
    fn each_architecture_has_its_own_counter_and_no_other() {
        let own: [(Architecture, &[&str]); 7] = [
            (Architecture::X86, &["tsc", "tsc-early", "TSC", "TSC-low"]),
            (Architecture::Arm, &["arch_sys_counter", "ARM MPCore Timecounter"]),
            (Architecture::RiscV, &["riscv_clocksource"]),
            (Architecture::Power, &["timebase"]),
            (Architecture::Z, &["tod"]),
            (Architecture::LoongArch, &["Constant"]),
            (Architecture::Other, &[]),
        ];
        for (architecture, names) in own {
            for known in KNOWN {
                let is_own = names.contains(&known.name);
                assert_eq!(
                    is_counter_of(architecture, known.name.as_bytes()),
                    is_own,
                    "{architecture:?} {}",
                    known.name
                );
            }
            assert!(names.iter().all(|name| known(name.as_bytes()).is_some()), "{architecture:?}");
        }
        #[cfg(feature = "std")]
        assert_eq!(Architecture::named(std::env::consts::ARCH), Architecture::HERE);
        // What this program accepts is what its architecture does, or nothing.
        for known in KNOWN {
            let is_own = known.hardware == Hardware::Counter(Architecture::HERE);
            assert_eq!(is_counter(known.name.as_bytes()), counter::EXISTS && is_own, "{}", known.name);
        }
    }
}
