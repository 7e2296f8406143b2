//! A policy: refused with a reason, or accepted.
#![no_main]

use clockscope_records::Policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match toml::from_str::<Policy>(text) {
        Ok(policy) => {
            if let Err(error) = clockscope_measure::accepted(&clockscope_measure::ThisMachine, &policy) {
                assert!(!error.to_string().is_empty());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
