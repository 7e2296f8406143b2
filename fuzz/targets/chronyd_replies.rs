//! The reply of chronyd to the request *tracking*.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| clockscope::fuzz_chronyd_reply(input));
