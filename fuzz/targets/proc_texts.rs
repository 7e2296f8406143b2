//! A file of /proc or /sys.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| clockscope_machine::fuzzing::proc_texts(input));
