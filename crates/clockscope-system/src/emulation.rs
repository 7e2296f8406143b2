//! Emulators and recorders that this process runs under. With any of them, costs are theirs and not
//! the machine's.

use clockscope_records::Emulator;

use crate::os::facts;

/// Returns those that were found. `cpuinfo` is the text of /proc/cpuinfo.
pub(crate) fn find(cpuinfo: &str) -> Vec<Emulator> {
    let maps = crate::pseudo_files::file("/proc/self/maps").unwrap_or_default();
    let version = crate::pseudo_files::file("/proc/version").unwrap_or_default();
    let found = [
        (is_tcg(), Emulator::QemuTcg),
        (is_foreign(cpuinfo, std::env::consts::ARCH), Emulator::QemuUser),
        (std::env::var_os("RUNNING_UNDER_RR").is_some(), Emulator::Rr),
        (is_valgrind(&maps), Emulator::Valgrind),
        (is_gvisor(&version), Emulator::Gvisor),
        (facts::is_wine(), Emulator::Wine),
    ];
    found.into_iter().filter(|(found, _)| *found).map(|(_, emulator)| emulator).collect()
}

/// QEMU's translator signs itself in CPUID, as a machine and as a user-mode emulator alike.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn is_tcg() -> bool {
    crate::hypervisor::signature() == Some(*b"TCGTCGTCGTCG")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn is_tcg() -> bool {
    false
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
    let _ = (is_foreign(text, "aarch64"), is_valgrind(text), is_gvisor(text));
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
    fn valgrind_and_gvisor_are_known_by_their_traces() {
        assert!(is_valgrind("7f00 r-xp /usr/libexec/valgrind/vgpreload_core-amd64-linux.so"));
        assert!(!is_valgrind("7f00 r-xp /usr/lib/libc.so.6"));
        assert!(is_gvisor("Linux version 4.4.0 (a@b) #1 SMP Sun Jan 10 15:06:54 PST 2016"));
        assert!(!is_gvisor("Linux version 6.1.0 (a@b)"));
    }
}
