//! Headers of stamp files: what is read is written as the same, and converts counts in their order.
#![no_main]

use clockscope::stamps::{Header, Stamp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok((header, counts)) = Header::split(input) else { return };
    let again = header.to_string();
    assert_eq!(again.parse(), Ok(header.clone()), "{again}");
    let mut counts: Vec<u64> = counts.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    counts.sort_unstable();
    // Order is that of counts which are less than half of 2^64 apart.
    counts.retain(|count| *count < 1 << 62);
    let times: Vec<_> = counts.iter().filter_map(|count| header.convert(Stamp::from_count(*count)).ok()).collect();
    assert!(times.is_sorted_by_key(|converted| converted.instant), "{counts:?} {times:?}");
    let mut intervals = times.iter().filter_map(|converted| converted.interval);
    assert!(intervals.all(|interval| interval.earliest <= interval.latest), "{times:?}");
});
