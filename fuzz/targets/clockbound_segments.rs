//! ClockBound's shared memory, and the offsets of a time namespace.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| clockscope::fuzz_clockbound_segment(input));
