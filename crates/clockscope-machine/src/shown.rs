//! What a system shows of QueryPerformanceCounter.

use clockscope_records::Figure;

/// What the system shows, or why it does not.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) frequency_hz: Figure<u64>,
    pub(crate) bypass_flags: Figure<u8>,
    pub(crate) bypass_shift: Figure<u8>,
    pub(crate) enters_kernel: Figure<bool>,
    pub(crate) is_wine: bool,
}
