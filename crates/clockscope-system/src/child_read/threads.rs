//! Number of threads of this process, by the kernel's count.

/// Number of further looks for threads that are ending, each after a millisecond.
const RECOUNTS: u32 = 100;

/// The number of threads; `None` where it is unknown. Joined threads do not count, although the
/// kernel counts them for a moment: so several of them take a tenth of a second.
pub(super) fn count() -> Option<u64> {
    let mut count = count_threads()?;
    for _ in 0..RECOUNTS {
        if count == 1 {
            break;
        }
        pause();
        count = count_threads()?;
    }
    Some(count)
}

fn count_threads() -> Option<u64> {
    parse_num_threads(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// The field `num_threads` of proc(5). The name before the rest, in brackets, may hold anything. A
/// user-mode emulator that makes this file up (QEMU) may say 0; /proc/self/task would be worse
/// there: it shows the emulator's own threads.
fn parse_num_threads(stat: &str) -> Option<u64> {
    /// Place behind the name: the state is the first.
    const THREADS: usize = 17;
    let field = stat.rsplit_once(')')?.1.split_whitespace().nth(THREADS)?;
    field.parse().ok().filter(|threads| *threads > 0)
}

/// Looks for the count in any text (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(stat: &str) {
    assert_ne!(parse_num_threads(stat), Some(0));
}

/// A millisecond, without reading a clock, and whatever a filter makes of the call.
#[cfg(unix)]
fn pause() {
    // SAFETY: no descriptor is given.
    unsafe { libc::poll(std::ptr::null_mut(), 0, 1) };
}

#[cfg(not(unix))]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_count_is_found_behind_any_name() {
        let stat = |threads: &str| format!("7 (a) 9 (b c) R 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 {threads} 0 100 0 0");
        assert_eq!(parse_num_threads(&stat("3")), Some(3));
        assert_eq!(parse_num_threads(&stat("0")), None);
        assert_eq!(parse_num_threads(&stat("many")), None);
        assert_eq!([parse_num_threads(""), parse_num_threads("7 (a) R 1 1")], [None, None]);
    }
}
