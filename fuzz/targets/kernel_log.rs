//! The kernel's log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| clockscope_machine::fuzzing::kernel_log(input));
