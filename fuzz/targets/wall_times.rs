//! Moments of RFC 3339: what is read is shown as the same moment.
#![no_main]

use clockscope::WallTime;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(moment) = text.parse::<WallTime>() {
        assert_eq!(moment.to_string().parse(), Ok(moment), "{text}");
    }
});
