//! Durations and numbers on the command line: refused with a reason, or within their limits.
#![no_main]
#![allow(dead_code, reason = "modules of the command, which is no library")]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/clockscope-cli/src/duration.rs"]
mod duration;
#[path = "../../crates/clockscope-cli/src/numbers.rs"]
mod numbers;

fuzz_target!(|text: &str| {
    match duration::parse(text) {
        Ok(duration::Seconds(seconds)) => assert!(seconds > 0.0 && seconds <= 86_400.0, "{seconds}"),
        Err(reason) => assert!(!reason.is_empty()),
    }
    match numbers::reads(text) {
        Ok(numbers::Reads(reads)) => assert!((2..=1_000_000_000_000).contains(&reads), "{reads}"),
        Err(reason) => assert!(!reason.is_empty()),
    }
    match numbers::share(text) {
        Ok(numbers::Share(share)) => assert!(share > 0.0 && share <= 1.0, "{share}"),
        Err(reason) => assert!(!reason.is_empty()),
    }
    match numbers::ppm(text) {
        Ok(numbers::Ppm(ppm)) => assert!(ppm > 0.0 && ppm <= 1e6, "{ppm}"),
        Err(reason) => assert!(!reason.is_empty()),
    }
    assert!(numbers::cpus(text).is_ok_and(|numbers::Cpus(cpus)| !cpus.is_empty()) || numbers::cpus(text).is_err());
});
