//! Facts that a system shows of QueryPerformanceCounter, or why it does not.

use clockscope_records::{Figure, Unknown, texts};

/// Facts that the system shows, or why it does not.
#[derive(Clone, Debug)]
pub(crate) struct CounterFacts {
    pub(crate) frequency_hz: Figure<u64>,
    pub(crate) bypass_flags: Figure<u8>,
    pub(crate) bypass_shift: Figure<u8>,
    pub(crate) enters_kernel: Figure<bool>,
}

/// The reason of what a call that answered with a status would have shown.
pub(crate) fn refused(call: &str, status: i32) -> Unknown {
    format!("{call}: status {:#010x}", status.cast_unsigned()).into()
}

/// Succeeds if a version of Windows, its major and minor number and build, has the bytes of the
/// bypass in the page that it shares with all processes.
pub(crate) fn has_bypass(version: Option<[u32; 3]>) -> Result<(), Unknown> {
    match version {
        Some([major, minor, _]) if (major, minor) >= (6, 2) => Ok(()),
        Some(_) => Err(texts::BEFORE_WINDOWS8.into()),
        None => Err(texts::VERSION_UNKNOWN.into()),
    }
}

/// SYSTEM_QUERY_PERFORMANCE_COUNTER_INFORMATION (Microsoft, NtQuerySystemInformation). Bit 0 of
/// both words of flags is KernelTransition.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct PerformanceCounterInformation {
    pub(crate) version: u32,
    pub(crate) flags: u32,
    pub(crate) valid_flags: u32,
}

impl PerformanceCounterInformation {
    /// Returns true if a read enters the kernel, by what the system filled in when it answered with
    /// a status.
    pub(crate) fn enters_kernel(self, status: i32) -> Figure<bool> {
        if status < 0 {
            return Figure::unknown(refused("NtQuerySystemInformation", status));
        }
        Figure::of((self.valid_flags & 1 != 0).then_some(self.flags & 1 != 0), texts::NOT_REPORTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statuses of ntstatus.h. Wine answers with the second.
    const ACCESS_DENIED: i32 = 0xC000_0022_u32.cast_signed();
    const INVALID_INFO_CLASS: i32 = 0xC000_0003_u32.cast_signed();

    #[test]
    fn what_is_denied_is_unknown_with_the_reason() {
        // Whatever is in the structure then.
        let answer = PerformanceCounterInformation { version: 1, flags: 1, valid_flags: 1 };
        for status in [ACCESS_DENIED, INVALID_INFO_CLASS] {
            let reason = format!("NtQuerySystemInformation: status {:#010x}", status.cast_unsigned());
            assert_eq!(answer.enters_kernel(status), Figure::unknown(reason));
        }
        let with =
            |flags, valid_flags| PerformanceCounterInformation { version: 1, flags, valid_flags }.enters_kernel(0);
        assert_eq!([with(1, 1), with(0, 1)], [true, false].map(Figure::Known));
        assert_eq!(with(1, 2), Figure::unknown(texts::NOT_REPORTED));
    }

    #[test]
    fn the_bypass_is_read_where_it_exists_alone() {
        assert_eq!(has_bypass(Some([10, 0, 22_631])), Ok(()));
        assert_eq!(has_bypass(Some([6, 2, 9200])), Ok(()));
        assert_eq!(has_bypass(Some([6, 1, 7601])), Err(texts::BEFORE_WINDOWS8.into()));
        assert_eq!(has_bypass(None), Err(texts::VERSION_UNKNOWN.into()));
    }
}
