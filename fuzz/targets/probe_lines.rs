//! Lines that a language's probe prints.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| clockscope_runtimes::fuzzing::probe_lines(input));
