//! A list of CPUs, by the kernel or on the command line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| clockscope_system::fuzzing::cpu_lists(input));
