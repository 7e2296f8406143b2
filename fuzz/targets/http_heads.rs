//! A request of a browser, or of anything else on this machine.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| clockscope_runtimes::fuzzing::http_heads(input));
