//! The kernel's log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| clockscope_system::fuzzing::kernel_log(input));
