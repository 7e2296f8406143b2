//! Statements of the kernel's log on the processor's counter.

mod intervals;

use clockscope_core::Errno;
use clockscope_records::{KernelCause, LogFault};

use crate::os::facts;

/// Phrases by which Linux says that it gives the counter up (`arch/x86/kernel/tsc.c` and
/// `tsc_sync.c`). Others that sound alike are warnings, which sound machines print as well.
const PHRASES: [&str; 2] = ["Marking TSC unstable", "TSC warp between CPUs"];

/// Lines below a verdict of the watchdog that may have the intervals.
const BELOW_LINES: usize = 5;

/// The end of a line that only repeats a verdict of the watchdog.
const REPEATED: &str = "due to clocksource watchdog";

/// The lowest priority of a record that a program wrote (`LOG_USER`, syslog(3)).
const USERS_PRIORITY: u32 = 8;

/// Phrases by which Linux says that it works around an erratum of an Arm processor's counter
/// (`drivers/clocksource/arm_arch_timer.c`, `arch/arm64/kernel/traps.c`).
const ERRATUM_PHRASES: [&str; 3] =
    ["Enabling global workaround for", "Enabling local workaround for", "Trapping CNTVCT access"];

/// The erratum whose workaround concerns the vDSO of 32-bit programs alone.
const OF_32_BITS: &str = "erratum 1418040";

/// Clocksources that are the counter, with `tsc-early`.
const COUNTERS: [&str; 3] = ["tsc", "tsc-early", "arch_sys_counter"];

/// Reason why the log cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LogError {
    /// The system refused.
    #[error("the kernel's log cannot be read: /dev/kmsg: {0}")]
    Refused(Errno),
    /// It is another system's.
    #[error("only Linux's log is known")]
    Unsupported,
}

/// The log's lines that are still kept, the oldest first.
///
/// # Errors
/// It cannot be opened or read.
pub(super) fn read() -> Result<Vec<String>, LogError> {
    let records = facts::kernel_log().ok_or(LogError::Unsupported)?.map_err(LogError::Refused)?;
    Ok(records.iter().filter_map(|record| text(record)).map(str::to_owned).collect())
}

/// The text of a record of the kernel's own: `priority,sequence,time,flags;text`, with lines of
/// facts below (Linux, Documentation/ABI/testing/dev-kmsg). Programs may write others, whose
/// priority is 8 or more: it holds a facility.
fn text(record: &str) -> Option<&str> {
    let (prefix, text) = record.split_once(';')?;
    let priority: u32 = prefix.split(',').next()?.parse().ok()?;
    (priority < USERS_PRIORITY).then(|| text.lines().next().unwrap_or_default())
}

/// Returns the lines that give the counter up, each once, and without those that only say that the
/// watchdog did so, if its own line is there.
pub(super) fn faults(lines: &[String]) -> Vec<KernelCause> {
    let has_its_own = lines.iter().any(|line| is_fault(line) && is_the_watchdogs(line));
    let mut seen: Vec<&str> = Vec::new();
    let mut causes = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_fault(line)) {
        let only_repeats = has_its_own && !is_the_watchdogs(line) && line.contains(REPEATED);
        if !only_repeats && !seen.contains(&line.as_str()) {
            seen.push(line);
            // Those of another verdict are not of this one.
            let below = lines[index + 1..].iter().take(BELOW_LINES).take_while(|line| marked(line).is_none());
            let mut intervals = intervals::find(&below.collect::<Vec<_>>(), lines);
            if let Some(intervals) = &mut intervals {
                intervals.in_use = intervals.in_use.take().or_else(|| switched_to(&lines[..index]));
            }
            let fault = fault(line);
            causes.push(KernelCause::LogLine {
                line: line.clone(),
                fault,
                intervals,
                corrected: None,
                unwatched: None,
            });
        }
    }
    causes
}

/// Returns the clocksource that the kernel switched to last, by these lines.
fn switched_to(lines: &[String]) -> Option<String> {
    let (_, name) = lines.iter().rev().find_map(|line| line.split_once("Switched to clocksource "))?;
    Some(name.trim().to_owned())
}

/// Returns whether the watchdog itself says what it found.
fn is_the_watchdogs(line: &str) -> bool {
    marked(line).is_some()
}

/// Returns whether a line gives the counter up.
fn is_fault(line: &str) -> bool {
    match marked(line) {
        Some(name) => name.is_empty() || COUNTERS.contains(&name),
        None => PHRASES.iter().any(|phrase| line.contains(phrase)),
    }
}

/// Returns the clocksource that a line of the watchdog marks as unstable
/// (`kernel/time/clocksource.c`): quoted until Linux 6, and empty where a line about a slow read
/// names the watchdog alone.
fn marked(line: &str) -> Option<&str> {
    let name = match line.split_once("Marking clocksource ") {
        Some((_, after)) => after.split_whitespace().next()?,
        None => slowly_read(line).or_else(|| differing(line))?,
    };
    Some(name.trim_matches('\''))
}

/// Returns the clocksource that the watchdog marks because it could not be read in time; empty as
/// above. Without the verdict, such a line is a warning.
fn slowly_read(line: &str) -> Option<&str> {
    let (_, verdict) = line.split_once(" read-back delay of ")?.1.split_once(", marking ")?;
    Some(verdict.trim_end().strip_suffix("unstable")?.trim_end())
}

/// Returns the clocksource that the watchdog of Linux until 4.0 marks:
/// `Clocksource tsc unstable (delta = -131624372 ns)`. Kernels that ask for clocksource_failover in
/// the same line keep it in use.
fn differing(line: &str) -> Option<&str> {
    let (name, verdict) = line.strip_prefix("Clocksource ")?.split_once(' ')?;
    let is_kept = verdict.contains("clocksource_failover");
    (verdict.starts_with("unstable (delta = ") && !is_kept).then_some(name)
}

/// Returns the fault that a line reports which gives the counter up.
fn fault(line: &str) -> LogFault {
    let reported = LogFault::ALL.into_iter().find(|fault| fault.phrases().iter().any(|phrase| line.contains(phrase)));
    reported.unwrap_or(LogFault::Unstated)
}

/// Returns the first line that says that an Arm processor's counter has an erratum, for the sake of
/// which reads are trapped or repeated.
pub(super) fn erratum(lines: &[String]) -> Option<KernelCause> {
    let mut of_reads = lines.iter().filter(|line| line.contains("arch_timer") && !line.contains(OF_32_BITS));
    let line = of_reads.find(|line| ERRATUM_PHRASES.iter().any(|phrase| line.contains(phrase)))?;
    Some(KernelCause::Erratum { line: line.clone() })
}

/// Reads any log (fuzz/): lines that give the counter up are found once, and no other line is.
#[cfg(fuzzing)]
pub(crate) fn fuzz(log: &str) {
    use std::collections::BTreeSet;

    let lines: Vec<String> = log.lines().filter_map(text).map(str::to_owned).collect();
    let found = faults(&lines);
    let reported = found.iter().filter_map(|cause| match cause {
        KernelCause::LogLine { line, .. } => Some(line.clone()),
        _ => None,
    });
    let reported: BTreeSet<String> = reported.collect();
    let expected: BTreeSet<String> = lines.into_iter().filter(|line| is_fault(line)).collect();
    assert!(
        reported.len() == found.len() && reported.is_subset(&expected) && reported.is_empty() == expected.is_empty()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_record_is_found() {
        assert_eq!(text("6,339,5140900,-;NET: Registered\n SUBSYSTEM=net\n"), Some("NET: Registered"));
        assert_eq!(text("6,1,2,-;a;b"), Some("a;b"));
        assert_eq!(text("no record"), None);
        assert_eq!(text("1,2;"), Some(""));
        // A program wrote it.
        assert_eq!(text("12,339,5140900,-;tsc: Marking TSC unstable due to running on Hyper-V"), None);
        assert_eq!(text("x;y"), None);
    }

    fn cause(line: &str, fault: LogFault) -> KernelCause {
        KernelCause::log_line(line, fault)
    }

    #[test]
    fn a_verdict_in_the_log_is_found_once() {
        let lines = [
            "tsc: Detected 2596.160 MHz processor",
            "clocksource: Switched to clocksource tsc-early",
            "[Firmware Bug]: TSC doesn't count with P0 frequency!",
            "tsc: Unable to calibrate against PIT",
            "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc-early' as unstable because the skew is too large:",
            "tsc: Marking TSC unstable due to clocksource watchdog",
            "tsc: Marking TSC unstable due to clocksource watchdog",
            "Measured 1234 cycles TSC warp between CPUs, turning off TSC clock.",
        ]
        .map(str::to_owned);
        let expected = [cause(&lines[4], LogFault::FrequencySkew), cause(&lines[7], LogFault::CpuSkew)];
        assert_eq!(faults(&lines), expected);
        // The log keeps the newest lines only.
        assert_eq!(faults(&lines[5..])[0], cause(&lines[5], LogFault::Repeated));
        // One that says both is the watchdog's own.
        let both = lines[4].clone() + " " + &lines[5];
        assert_eq!(faults(&[both.clone(), both.clone()]), [cause(&both, LogFault::FrequencySkew)]);
    }

    #[test]
    fn an_erratum_of_reads_is_found() {
        let found = |line: &str| erratum(&[line.to_owned()]).is_some();
        assert!(found("arch_timer: CPU0: Trapping CNTVCT access"));
        assert!(found("arch_timer: Enabling local workaround for ARM erratum 858921"));
        assert!(!found("arch_timer: Enabling local workaround for ARM erratum 1418040"));
        assert!(
            !found("CPU0: Trapping CNTVCT access") && !found("arch_timer: cp15 timer(s) running at 24.00MHz (virt).")
        );
    }

    /// Linux 7 quotes no names; another clocksource's fault is none of the counter's.
    #[test]
    fn each_wording_has_its_fault() {
        for (line, expected) in [
            ("Clocksource tsc unstable (delta = -131624372 ns)", Some(LogFault::FrequencySkew)),
            ("Clocksource acpi_pm unstable (delta = 131624372 ns)", None),
            (
                "Clocksource tsc unstable (delta = 131624372 ns).  Enable clocksource failover by adding \
                 clocksource_failover kernel parameter.",
                None,
            ),
            (
                "clocksource: timekeeping watchdog: Marking clocksource 'tsc' as unstable because the skew is too large:",
                Some(LogFault::FrequencySkew),
            ),
            ("clocksource: Marking clocksource tsc unstable due to frequency skew", Some(LogFault::FrequencySkew)),
            ("clocksource: Marking clocksource tsc unstable due to inter CPU skew", Some(LogFault::CpuSkew)),
            (
                "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is \
                 too large:",
                Some(LogFault::FrequencySkew),
            ),
            (
                "clocksource: timekeeping watchdog on CPU53: hpet read-back delay of 89916ns, attempt 4, marking unstable",
                Some(LogFault::SlowRead),
            ),
            (
                "clocksource: timekeeping watchdog on CPU5: wd-tsc-wd excessive read-back delay of 316000ns vs. limit of \
                 125000ns, wd-wd read-back delay only 5300ns, attempt 3, marking tsc unstable",
                Some(LogFault::SlowRead),
            ),
            (
                "clocksource: timekeeping watchdog on CPU5: wd-acpi_pm-wd excessive read-back delay of 316000ns vs. \
                 limit of 125000ns, wd-wd read-back delay only 5300ns, attempt 3, marking acpi_pm unstable",
                None,
            ),
            ("tsc: Marking TSC unstable due to TSCs unsynchronized", Some(LogFault::PresumedApart)),
            ("tsc: Marking TSC unstable due to check_tsc_sync_source failed", Some(LogFault::CpuSkew)),
            ("tsc: Marking TSC unstable due to running on Hyper-V", Some(LogFault::NotInvariant)),
            ("Marking TSC unstable due to TSC halts in idle", Some(LogFault::HaltsInIdle)),
            ("tsc: Marking TSC unstable due to TSC halts in idle states deeper than C2", Some(LogFault::HaltsInIdle)),
            ("tsc: Marking TSC unstable due to cpufreq changes", Some(LogFault::FollowsCore)),
            ("tsc: Marking TSC unstable due to could not calculate TSC khz", Some(LogFault::NoFrequency)),
            ("tsc: Marking TSC unstable due to boot parameter", Some(LogFault::BootParameter)),
            ("tsc: Marking TSC unstable due to boot parameter notsc", Some(LogFault::BootParameter)),
            ("tsc: Marking TSC unstable due to KVM discovered backwards TSC", Some(LogFault::Backward)),
            ("tsc: Marking TSC unstable due to cyrix 5510/5520 detected", Some(LogFault::Unstated)),
            ("clocksource: wd-tsc-wd read-back delay of 89916ns, clock-skew test skipped!", None),
            ("clocksource: Marking clocksource hpet unstable due to frequency skew", None),
            ("clocksource: Watchdog remote CPU 3 read timed out", None),
            ("clocksource: Watchdog hpet read timed out. Readout sequence took: 81042ns", None),
        ] {
            let expected: Vec<_> = expected.map(|fault| cause(line, fault)).into_iter().collect();
            assert_eq!(faults(&[line.to_owned()]), expected, "{line}");
        }
    }

    /// Lines of Linux 7.2 whose hypervisor was stopped, and of Linux 6.
    #[test]
    fn intervals_below_a_verdict_accuse_a_clock() {
        const SKEW: &str = "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is \
                            too large:";
        let (watchdog, counter) = (
            "clocksource:                       'hpet' wd_nsec: 431216003 wd_now: 5f2d wd_last: 51aa mask: ffffffff",
            "clocksource:                       'tsc' cs_nsec: 503998211 cs_now: 2e1f cs_last: 2c0d mask: ffffffffffffffff",
        );
        let skewed = "clocksource:                       Clocksource 'tsc' skewed 72782208 ns (72 ms) over watchdog 'hpet' \
                      interval of 431216003 ns (431 ms)";
        for (lines, accused, in_use) in [
            (
                vec![
                    "clocksource: Marking clocksource tsc unstable due to frequency skew",
                    "clocksource: Watchdog               kvm-clock interval:        503995129ns",
                    "clocksource: Clocksource                  tsc interval:       1894661885ns",
                ],
                Some("tsc"),
                None,
            ),
            (
                vec![
                    SKEW,
                    watchdog,
                    counter,
                    skewed,
                    "clocksource:                       'acpi_pm' (not 'tsc') is current clocksource.",
                ],
                Some("hpet"),
                Some("acpi_pm"),
            ),
            (
                vec![SKEW, watchdog, counter, "clocksource:                       No current clocksource."],
                Some("hpet"),
                Some(""),
            ),
            // The timer that it drives waits as long as it counts, however wrong it is.
            (
                vec![SKEW, watchdog, counter, "clocksource:                       'tsc' is current clocksource."],
                None,
                Some("tsc"),
            ),
            (vec![SKEW, watchdog, counter], Some("hpet"), None),
            (vec!["clocksource: Switched to clocksource tsc", SKEW, watchdog, counter], None, Some("tsc")),
        ] {
            let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
            let found = faults(&lines);
            let [cause @ KernelCause::LogLine { intervals: Some(intervals), .. }] = &found[..] else {
                panic!("{found:?}")
            };
            assert_eq!((intervals.accused(), intervals.in_use.as_deref()), (accused, in_use), "{intervals:?}");
            assert_eq!(cause.is_fault(), accused != Some("hpet"), "{intervals:?}");
            // Below another verdict they are that one's.
            let verdict = lines.iter().position(|line| marked(line).is_some()).unwrap();
            lines.insert(verdict + 1, lines[verdict].replace("tsc", "hpet"));
            assert!(matches!(&faults(&lines)[..], [KernelCause::LogLine { intervals: None, .. }]));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_record_or_none(record in ".*") {
            let found = text(&record);
            proptest::prop_assert!(found.is_none() || record.contains(';'));
        }
    }
}
