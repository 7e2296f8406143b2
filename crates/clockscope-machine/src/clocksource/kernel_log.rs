//! What the kernel's log says about the processor's counter.

use clockscope_arch::Errno;
use clockscope_records::KernelCause;

/// Longest record of the log; the kernel's own limit is 8 KiB with all that belongs to it.
#[cfg(target_os = "linux")]
const LONGEST: usize = 16 << 10;

/// Phrases by which Linux says that it gives the counter up (`arch/x86/kernel/tsc.c`, `tsc_sync.c`,
/// `kernel/time/clocksource.c`). Others that sound alike are warnings, which sound machines print
/// as well.
const PHRASES: [&str; 4] = [
    "Marking TSC unstable",
    "Marking clocksource 'tsc",
    "Marking clocksource 'arch_sys_counter",
    "TSC warp between CPUs",
];

/// Why the log cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LogError {
    /// The system refused.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux's log is known"))]
    #[error("the kernel's log cannot be read: /dev/kmsg: {0}")]
    Refused(Errno),
    /// It is another system's.
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "this one is known"))]
    #[error("only Linux's log is known")]
    Unsupported,
}

/// The log's lines that are still kept, the oldest first.
///
/// # Errors
/// It cannot be opened or read.
#[cfg(target_os = "linux")]
pub(super) fn read() -> Result<Vec<String>, LogError> {
    use std::io::{ErrorKind, Read};
    use std::os::unix::fs::OpenOptionsExt;

    let refused = |error: std::io::Error| LogError::Refused(Errno::from(&error));
    let mut file =
        std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg").map_err(refused)?;
    let mut record = vec![0; LONGEST];
    let mut lines = Vec::new();
    loop {
        match file.read(&mut record) {
            Ok(0) => return Ok(lines),
            Ok(length) => lines.extend(text(&String::from_utf8_lossy(&record[..length])).map(str::to_owned)),
            // The newest record was read.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(lines),
            // The oldest was overwritten meanwhile: the next read goes on behind it.
            Err(error) if error.kind() == ErrorKind::BrokenPipe || error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(refused(error)),
        }
    }
}

/// Other systems have other logs.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(super) fn read() -> Result<Vec<String>, LogError> {
    Err(LogError::Unsupported)
}

/// The text of a record: `priority,sequence,time,flags;text`, with lines of facts below (Linux,
/// Documentation/ABI/testing/dev-kmsg).
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux's log is known"))]
fn text(record: &str) -> Option<&str> {
    record.split_once(';').map(|(_, text)| text.lines().next().unwrap_or_default())
}

/// Returns the lines that give the counter up, each once.
pub(super) fn faults(lines: &[String]) -> Vec<KernelCause> {
    let mut causes = Vec::new();
    for line in lines.iter().filter(|line| is_fault(line)) {
        let cause = KernelCause::LogLine { line: line.clone(), is_warp: line.contains("warp") };
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

/// Returns whether a line gives the counter up.
fn is_fault(line: &str) -> bool {
    PHRASES.iter().any(|phrase| line.contains(phrase))
}

/// Reads any log (fuzz/): every line that gives the counter up is found once, and no other line is.
#[cfg(fuzzing)]
pub(crate) fn fuzz(log: &str) {
    use std::collections::BTreeSet;

    let lines: Vec<String> = log.lines().filter_map(text).map(str::to_owned).collect();
    let found = faults(&lines);
    let line_of = |cause: &KernelCause| match cause {
        KernelCause::LogLine { line, .. } => Some(line.clone()),
        _ => None,
    };
    let kept: BTreeSet<String> = found.iter().filter_map(line_of).collect();
    let expected: BTreeSet<String> = lines.into_iter().filter(|line| is_fault(line)).collect();
    assert_eq!((kept.len(), kept), (found.len(), expected));
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
        let cause = |line: &String, is_warp| KernelCause::LogLine { line: line.clone(), is_warp };
        let expected = [cause(&lines[4], false), cause(&lines[5], false), cause(&lines[7], true)];
        assert_eq!(faults(&lines), expected);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_record_or_none(record in ".*") {
            let found = text(&record);
            proptest::prop_assert_eq!(found.is_some(), record.contains(';'));
        }
    }
}
