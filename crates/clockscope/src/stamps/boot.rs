//! The identifier of the machine's boot. It is learned where the history begins, because a process
//! that has confined itself may open no file.

use alloc::format;
use alloc::string::String;
use core::sync::atomic::{AtomicU64, Ordering};

/// Its halves; zero where it is not known.
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
    let has_file = cfg!(any(target_os = "linux", target_os = "android"));
    has_file.then(|| std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok())?
}

/// Returns it as it is usually written, in five groups; `None` where the system states none.
pub(super) fn known() -> Option<String> {
    let [high, low] = BOOT.each_ref().map(|half| half.load(Ordering::Relaxed));
    (high != 0 && low != 0).then(|| {
        let groups = (high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & 0xffff_ffff_ffff);
        format!("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", groups.0, groups.1, groups.2, groups.3, groups.4)
    })
}

/// Reads the 32 digits.
fn number(text: String) -> Option<u128> {
    let digits: String = text.trim().chars().filter(|letter| *letter != '-').collect();
    (digits.len() == 32).then(|| u128::from_str_radix(&digits, 16).ok())?
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
