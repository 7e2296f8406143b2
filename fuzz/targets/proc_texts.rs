//! A file of /proc or /sys.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| clockscope_system::fuzzing::proc_texts(input));
