//! Work whose true length two stamps show: it lies between two readings of a clock of Python's,
//! whose error is then known.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clockscope::stamps::Stamps;

/// Bytes from one touched byte to the next: a line of the caches.
const LINE_BYTES: usize = 64;
/// The most bytes that are touched.
const MAX_BYTES: usize = 64 << 20;

/// Memory that is touched. It stays, so that the kernel maps it once.
static MEMORY: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Returns the counts from before the work until after it.
fn timed(source: Stamps, work: impl FnOnce()) -> u64 {
    let start = source.now().count();
    work();
    source.now().count().wrapping_sub(start)
}

/// Reads stamps until the counter has advanced by `counts`, and returns its advance. A counter that
/// stands still ends it, too.
pub(crate) fn spin(source: Stamps, counts: usize) -> u64 {
    let start = source.now().count();
    for _ in 0..counts {
        let passed = source.now().count().wrapping_sub(start);
        if passed >= counts as u64 {
            return passed;
        }
    }
    source.now().count().wrapping_sub(start)
}

/// Touches `bytes` bytes of memory, each line once, and returns the counts that this took.
pub(crate) fn touch(source: Stamps, bytes: usize) -> u64 {
    let bytes = bytes.min(MAX_BYTES);
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    if memory.len() < bytes {
        memory.resize(bytes, 0);
    }
    timed(source, || {
        for line in memory[..bytes].chunks_mut(LINE_BYTES) {
            line[0] = line[0].wrapping_add(1);
        }
        black_box(&mut *memory);
    })
}

/// Sleeps for `ns` nanoseconds, and returns the counts that this took.
pub(crate) fn sleep(source: Stamps, ns: usize) -> u64 {
    timed(source, || std::thread::sleep(Duration::from_nanos(ns as u64)))
}
