//! Functions that `fuzz/` feeds with texts that no kernel writes. Each function asserts what holds
//! of any answer.

use crate::{account, child_read, clocksource, cpu, emulation, pseudo_files, timecounters};

/// Texts of /proc and /sys.
pub fn proc_texts(content: &str) {
    for cpu in [0, 1, 7] {
        let counts = account::counts_of(content, cpu);
        assert!(counts.len() <= content.lines().count());
        let _ = account::steal_ns(content, cpu);
    }
    emulation::fuzz(content);
    child_read::fuzz_thread_count(content);
    for key in ["flags", "model name", "vendor_id", "CPU part"] {
        let _ = pseudo_files::field(content, key).map(|value| pseudo_files::has_word(value, "tsc"));
    }
    assert!(cpu::microcode(content).is_none_or(|text| !text.contains(char::is_whitespace)));
    assert!(
        cpu::arm_identity(Some(content), content).is_none_or(|found| found.model <= 0xfff && found.stepping <= 0xff)
    );
    clocksource::fuzz_marker(content);
    timecounters::fuzz(content);
    assert!(!pseudo_files::is_name(content) || !content.contains(char::is_whitespace));
}

/// Records of the kernel's log, one a line.
pub fn kernel_log(log: &str) {
    clocksource::fuzz_log(log);
}

/// A list of CPUs is read as it is shown.
pub fn cpu_lists(list: &str) {
    if let Some(cpus) = pseudo_files::cpu_list(list) {
        // A list may name a CPU twice, or out of order.
        let displayed = clockscope_records::show_cpus(&cpus);
        assert_eq!(pseudo_files::cpu_list(&displayed).unwrap_or_default(), cpus);
    }
}
