//! The kernel's counts of the things that take time from a thread: context switches, interrupts,
//! software interrupts, time stolen by the hypervisor. Two accounts, before and after, show what
//! happened between.

use crate::os::facts;

/// Counts of the calling thread until some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadAccount {
    /// The CPU that it was on; `None` where the system does not report it.
    pub cpu: Option<u32>,
    /// Its context switches; `None` where they are not counted.
    pub switches: Option<Switches>,
}

/// Counts of one CPU until some moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuAccount {
    /// Its number.
    pub number: u32,
    /// Interrupts, by name.
    pub interrupts: Vec<(String, u64)>,
    /// Software interrupts, by name.
    pub softirqs: Vec<(String, u64)>,
    /// Time stolen from it, in ns, in steps of a tick of USER_HZ; `None` where it is not counted.
    pub steal_ns: Option<u64>,
    /// System management interrupts; `None` where their count may not be read.
    pub smis: Option<u64>,
}

/// Context switches of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// It waited, or was stopped.
    pub voluntary: u64,
    /// Something else was run.
    pub involuntary: u64,
}

/// Length of a tick in which /proc/stat counts on every architecture of Linux: USER_HZ is 100.
const USER_TICK_NS: u64 = 10_000_000;

/// The account of the calling thread now. Two system calls.
#[must_use]
pub fn of_thread() -> ThreadAccount {
    ThreadAccount {
        cpu: crate::affinity::current_cpu(),
        switches: facts::switches().map(|(voluntary, involuntary)| Switches { voluntary, involuntary }),
    }
}

/// Returns for how long the calling thread has waited for a CPU, in ns: others had it, or a quota
/// was used up. It is the second figure of its `schedstat` (Linux,
/// Documentation/scheduler/sched-stats.rst). `None` where the kernel does not count it. Reads one
/// file of /proc.
#[must_use]
pub fn thread_wait_ns() -> Option<u64> {
    wait_ns(&crate::pseudo_files::file("/proc/thread-self/schedstat")?)
}

fn wait_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

/// The account of a CPU now. Reads three files of /proc, and one of /dev where it may: 50 to 500
/// µs, more with more CPUs. What cannot be read is empty.
#[must_use]
pub fn of_cpu(number: u32) -> CpuAccount {
    let [interrupts, softirqs, stat] = ["/proc/interrupts", "/proc/softirqs", "/proc/stat"]
        .map(|path| crate::pseudo_files::file(path).unwrap_or_default());
    CpuAccount {
        number,
        interrupts: counts_of(&interrupts, number),
        softirqs: counts_of(&softirqs, number),
        steal_ns: steal_ns(&stat, number),
        smis: smis(number),
    }
}

/// Returns how many system management interrupts a CPU has had: MSR_SMI_COUNT of Intel's Software
/// Developer's Manual, volume 4. It takes the kernel's module `msr` and the right to read its file;
/// other vendors' CPUs refuse it. On a guest, it is the hypervisor's count for the guest.
#[cfg(target_os = "linux")]
fn smis(cpu: u32) -> Option<u64> {
    use std::os::unix::fs::FileExt;

    /// The register, which is the offset in the file.
    const MSR_SMI_COUNT: u64 = 0x34;
    let mut value = [0; 8];
    let file = std::fs::File::open(format!("/dev/cpu/{cpu}/msr")).ok()?;
    file.read_exact_at(&mut value, MSR_SMI_COUNT).ok()?;
    // The count has 32 bits; the rest is reserved.
    Some(u64::from_ne_bytes(value) & u64::from(u32::MAX))
}

#[cfg(not(target_os = "linux"))]
fn smis(_: u32) -> Option<u64> {
    None
}

/// The counts of one CPU in a table whose head names the CPUs: `CPU0 CPU1 …`, then
/// `NAME: count count … description`.
pub(crate) fn counts_of(table: &str, cpu: u32) -> Vec<(String, u64)> {
    let mut lines = table.lines();
    let wanted = format!("CPU{cpu}");
    let Some(column) = lines.next().and_then(|head| head.split_whitespace().position(|name| name == wanted)) else {
        return Vec::new();
    };
    lines
        .filter_map(|line| {
            let (name, counts) = line.split_once(':')?;
            // Lines such as `ERR: 0` count for the whole machine and have no column of this CPU
            // unless it is the first.
            let count = counts.split_whitespace().nth(column)?.parse().ok()?;
            // A number does not identify the source; the device at the end of the line does.
            let is_number = name.trim().parse::<u32>().is_ok();
            let device = counts.split_whitespace().last().filter(|_| is_number);
            Some((device.unwrap_or(name.trim()).to_owned(), count))
        })
        .collect()
}

/// Time stolen from one CPU: the eighth figure of its line (proc(5)).
pub(crate) fn steal_ns(stat: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(name.as_str()))?;
    line.split_whitespace().nth(8)?.parse::<u64>().ok()?.checked_mul(USER_TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INTERRUPTS: &str = "\
            CPU0       CPU2       CPU7
  0:         10          0          3  IR-IO-APIC    2-edge      timer
LOC:        100        200        300   Local timer interrupts
ERR:          5
";

    #[test]
    fn columns_are_found_by_name() {
        let counts = |cpu| counts_of(INTERRUPTS, cpu).into_iter().map(|(_, count)| count).collect::<Vec<_>>();
        assert_eq!((counts(2), counts(7), counts(1)), (vec![0, 200], vec![3, 300], vec![]));
        let names: Vec<String> = counts_of(INTERRUPTS, 7).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["timer", "LOC"]);
    }

    #[test]
    fn steal_is_found_by_name() {
        let stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 0 0 0 0 0 0 3 0 0\ncpu10 1 0 0 0 0 0 0 4 0 0\ncpu2 1 2\nintr 5\n";
        let steal = |cpu| steal_ns(stat, cpu);
        assert_eq!((steal(0), steal(10), steal(1), steal(2)), (Some(30_000_000), Some(40_000_000), None, None));
    }

    #[test]
    fn a_threads_wait_is_the_second_figure() {
        assert_eq!(["4093 3040058 12\n", "1 x 2", "1", ""].map(wait_ns), [Some(3_040_058), None, None, None]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_counts() {
        let cpu = crate::affinity::allowed().unwrap()[0];
        let before = of_thread();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let after = of_thread();
        assert!(after.switches.unwrap().voluntary > before.switches.unwrap().voluntary);
        assert!(!of_cpu(cpu).softirqs.is_empty() || !std::path::Path::new("/proc/softirqs").exists());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[A-Z0-9: \n]{0,300}", anything in ".*", cpu in 0u32..20) {
            for text in [text, anything] {
                let _ = (counts_of(&text, cpu), steal_ns(&text, cpu));
            }
        }
    }
}
