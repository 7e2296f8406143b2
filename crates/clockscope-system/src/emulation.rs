//! Emulators and recorders that this process runs under. With any of them, costs are theirs and not
//! the machine's.

use clockscope_records::Emulator;

use crate::clocksource::{self, Architecture, KnownClocksource};
use crate::os::facts;

/// Returns those that were found. `cpuinfo` is the text of /proc/cpuinfo, `clocksource` the one in
/// use.
pub(crate) fn find(cpuinfo: &str, clocksource: Option<&str>) -> Vec<Emulator> {
    let maps = crate::pseudo_files::file("/proc/self/maps").unwrap_or_default();
    let version = crate::pseudo_files::file("/proc/version").unwrap_or_default();
    let found = [
        (has_signature(*b"TCGTCGTCGTCG"), Emulator::QemuTcg),
        (is_foreign(cpuinfo, std::env::consts::ARCH), Emulator::QemuUser),
        (has_signature(*b"FEXIFEXIEMU\0"), Emulator::Fex),
        (is_rosetta(cpuinfo), Emulator::Rosetta),
        (std::env::var_os("RUNNING_UNDER_RR").is_some(), Emulator::Rr),
        (is_valgrind(&maps), Emulator::Valgrind),
        (is_gvisor(&version), Emulator::Gvisor),
        (facts::is_wine(), Emulator::Wine),
    ];
    let mut emulators: Vec<Emulator> =
        found.into_iter().filter(|(found, _)| *found).map(|(_, emulator)| emulator).collect();
    if has_foreign_clocksource(clocksource) && !emulators.iter().any(Emulator::is_of_program) {
        emulators.push(Emulator::Translator);
    }
    emulators
}

/// Returns whether CPUID leaf 40000000h has this signature: QEMU's translator as a machine and as a
/// user-mode emulator alike, and FEX.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn has_signature(signature: [u8; 12]) -> bool {
    crate::hypervisor::signature() == Some(signature)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn has_signature(_signature: [u8; 12]) -> bool {
    false
}

/// Rosetta names its processor `VirtualApple`, as vendor and as model.
fn is_rosetta(cpuinfo: &str) -> bool {
    let vendor = crate::pseudo_files::field(cpuinfo, "vendor_id");
    vendor.is_some_and(|vendor| vendor.trim() == "VirtualApple")
}

/// Returns whether the kernel's clocksource is the counter of another architecture: the kernel is
/// another one's then, and the program is translated.
fn has_foreign_clocksource(name: Option<&str>) -> bool {
    let architecture = name.and_then(clocksource::known).and_then(KnownClocksource::architecture);
    let here = Architecture::HERE;
    here != Architecture::Other && architecture.is_some_and(|architecture| architecture != here)
}

/// A user-mode emulator passes the host's /proc/cpuinfo through: it describes another architecture
/// than the program's. An emulator of the host's own architecture is not found this way.
fn is_foreign(cpuinfo: &str, architecture: &str) -> bool {
    let host_is_x86 = cpuinfo.lines().any(|line| line.starts_with("flags")) && cpuinfo.contains("vendor_id");
    let program_is_x86 = matches!(architecture, "x86_64" | "x86");
    let host_is_arm = cpuinfo.contains("CPU implementer");
    let program_is_arm = matches!(architecture, "aarch64" | "arm");
    (host_is_x86 && !program_is_x86) || (host_is_arm && !program_is_arm)
}

/// Valgrind maps its preloaded libraries into the process.
fn is_valgrind(maps: &str) -> bool {
    maps.contains("vgpreload_") || maps.contains("/valgrind/")
}

/// gVisor's kernel names no builder and reports a fixed, old release (gvisor.dev, "compatibility").
fn is_gvisor(version: &str) -> bool {
    version.starts_with("Linux version 4.4.0 (") && version.contains("Sun Jan 10 15:06:54 PST 2016")
}

/// Any text is looked through (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(text: &str) {
    let _ = (is_rosetta(text), is_foreign(text, "aarch64"), is_valgrind(text), is_gvisor(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_architectures_cpuinfo_means_emulation() {
        let x86 = "vendor_id\t: GenuineIntel\nflags\t\t: tsc\n";
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\n";
        assert!(is_foreign(x86, "aarch64") && is_foreign(x86, "riscv64") && is_foreign(arm, "x86_64"));
        assert!(!is_foreign(x86, "x86_64") && !is_foreign(arm, "aarch64") && !is_foreign("", "s390x"));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_translated_program_sees_another_processors_clocksource() {
        assert!(has_foreign_clocksource(Some("arch_sys_counter")) && has_foreign_clocksource(Some("timebase")));
        assert!(!["tsc", "kvm-clock", "hpet", "sundial"].iter().any(|name| has_foreign_clocksource(Some(name))));
        assert!(!has_foreign_clocksource(None));
        assert!(find("", Some("arch_sys_counter")).contains(&Emulator::Translator));
        let rosetta = find("vendor_id\t: VirtualApple\nflags\t: tsc\n", Some("arch_sys_counter"));
        assert!(rosetta.contains(&Emulator::Rosetta) && !rosetta.contains(&Emulator::Translator), "{rosetta:?}");
        assert!(!is_rosetta("vendor_id\t: GenuineIntel\nmodel name\t: VirtualApple"));
    }

    #[test]
    fn valgrind_and_gvisor_are_known_by_their_traces() {
        assert!(is_valgrind("7f00 r-xp /usr/libexec/valgrind/vgpreload_core-amd64-linux.so"));
        assert!(!is_valgrind("7f00 r-xp /usr/lib/libc.so.6"));
        assert!(is_gvisor("Linux version 4.4.0 (a@b) #1 SMP Sun Jan 10 15:06:54 PST 2016"));
        assert!(!is_gvisor("Linux version 6.1.0 (a@b)"));
    }
}
