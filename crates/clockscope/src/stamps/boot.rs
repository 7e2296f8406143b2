//! The identifier of the machine's boot. It is learned where the history begins, because a process
//! that has confined itself may open no file.

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicU64, Ordering};

/// Halves of the identifier; zero while it is not known.
static BOOT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Asks the system, unless it has answered.
pub(super) fn learn() {
    if known().is_some() {
        return;
    }
    if let Some(number) = stated().and_then(number) {
        BOOT[0].store((number >> 64) as u64, Ordering::Relaxed);
        BOOT[1].store(number as u64, Ordering::Relaxed);
    }
}

/// Returns the system's statement. Wine shows Linux's file to programs for Windows, too.
fn stated() -> Option<String> {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        return std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    }
    None
}

/// Returns it as it is usually written, in five groups; `None` if the system states none.
pub(super) fn known() -> Option<String> {
    let [high, low] = BOOT.each_ref().map(|half| half.load(Ordering::Relaxed));
    if high == 0 || low == 0 {
        return None;
    }
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    let (fourth, fifth) = (low >> 48, low & 0xffff_ffff_ffff);
    Some(format!("{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{fifth:012x}"))
}

/// Reads the 32 digits.
fn number(text: String) -> Option<u128> {
    let digits = text.trim().replace('-', "");
    if digits.len() == 32 { u128::from_str_radix(&digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identifier_is_shown_as_the_system_writes_it() {
        learn();
        assert_eq!(known().as_deref(), stated().as_deref().map(str::trim));
        assert_eq!(number("5c1dd3a7-6a0c".to_owned()), None);
        assert_eq!(number("not hexadecimal, but 32 letters.".to_owned()), None);
    }
}
