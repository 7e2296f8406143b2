//! A recording, with a checksum that fits: refused with a reason, or replayed.
#![no_main]

use clockscope_measure::replay;
use clockscope_records::Recording;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(recording) = Recording::from_json(text) else { return };
    // Mutated as it is, its checksum is another one.
    let recording = Recording::new(recording.recorded);
    if let Err(error) = replay(recording) {
        assert!(!error.to_string().is_empty());
    }
});
