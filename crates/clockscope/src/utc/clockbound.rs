//! Reads the bounds that the daemon ClockBound publishes in shared memory.
//!
//! Layout and rules: docs/PROTOCOL.md and clock-bound-shm of ClockBound 2.0. That crate is not used
//! here: it panics at numbers that it does not expect, and reads an enum and a bool that any writer
//! of the file may have set to anything.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use clockscope_core::kernel_clock::KernelClockState;

use crate::native::CLOCK;
use crate::wall_bounds::WallInterval;
use crate::wall_bounds::kernel::KernelBounds;
use clockscope_core::Basis;
use clockscope_core::WallState;

/// Path at which the daemon publishes them, since ClockBound 2.
const PATH: &str = "/var/run/clockbound/shm0";

const LENGTH: usize = 80;
const MAGIC: [u32; 2] = [0x414d_5a4e, 0x4342_0200];
const VERSION: u16 = 2;
/// Offset and length of the generation, which is odd while the daemon writes.
const GENERATION: (u64, usize) = (14, 2);

const SYNCHRONIZED: u32 = 1;
const FREE_RUNNING: u32 = 2;

const SECOND_NS: i128 = 1_000_000_000;
/// Largest bound, and largest age of one.
const DAY_NS: i128 = 86_400 * SECOND_NS;
/// Largest lead of the daemon's clock.
const MAX_LEAD_NS: i128 = 1_000;

/// Contents of the segment. Moments are CLOCK_MONOTONIC's, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SharedSegment {
    as_of_ns: i128,
    void_after_ns: i128,
    bound_ns: i128,
    drift_ppb: i128,
    /// Of VMClock, where the daemon heeds that.
    disruption_marker: Option<u64>,
}

/// The interval of the true time, around the kernel's clock that was read just before; `None` where
/// the daemon does not run, or does not know.
pub(super) fn ask(kernel: &KernelClockState) -> Option<WallInterval> {
    let segment = read(PATH)?;
    if kernel.has_no_error() || !monotonic_is_the_daemons() {
        return None;
    }
    let disruptions = crate::disciplined::OsClock::disruptions(CLOCK.os());
    let monotonic_ns = CLOCK.os().now_ns().ok()?;
    let error_ns = segment.error_ns(monotonic_ns.into(), disruptions)?;
    Some(WallInterval::around(
        kernel.unix_ns,
        error_ns + kernel.unit_ns,
        (Basis::ClockBound, WallState::Synchronized),
        kernel.leap,
    ))
}

/// Reads the segment; `None` if there is none of a known layout, or it is being written.
fn read(path: &str) -> Option<SharedSegment> {
    const TRIES: u32 = 4;
    // Opening it never waits, whatever kind of file it is.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    (0..TRIES).find_map(|_| read_once(&file))
}

fn read_once(file: &File) -> Option<SharedSegment> {
    let mut bytes = [0; LENGTH];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (at, length) = GENERATION;
    let mut generation = [0; GENERATION.1];
    file.read_exact_at(&mut generation, at).ok()?;
    let before = &bytes[at as usize..at as usize + length];
    if before == generation { decode(&bytes) } else { None }
}

/// Decodes a segment. All numbers are in the machine's byte order.
fn decode(bytes: &[u8; LENGTH]) -> Option<SharedSegment> {
    let [magic, number, drift_ppb, status] = [0, 4, 64, 68].map(|at| u32::from_ne_bytes(field(bytes, at)));
    let [version, generation] = [12, 14].map(|at| u16::from_ne_bytes(field(bytes, at)));
    let [as_of_ns, void_after_ns] = [16, 32].map(|at| {
        let [seconds, ns] = [at, at + 8].map(|at| i128::from(i64::from_ne_bytes(field(bytes, at))));
        if (0..SECOND_NS).contains(&ns) { Some(seconds * SECOND_NS + ns) } else { None }
    });
    let is_known = [magic, number] == MAGIC && version == VERSION && generation != 0 && generation & 1 == 0;
    let bound_ns = i64::from_ne_bytes(field(bytes, 48)).into();
    let is_plausible = (0..=DAY_NS).contains(&bound_ns) && drift_ppb < 1_000_000_000;
    if !is_known || !is_plausible || !matches!(status, SYNCHRONIZED | FREE_RUNNING) {
        return None;
    }
    let marker = u64::from_ne_bytes(field(bytes, 56));
    Some(SharedSegment {
        as_of_ns: as_of_ns?,
        void_after_ns: void_after_ns?,
        bound_ns,
        drift_ppb: drift_ppb.into(),
        disruption_marker: if bytes[72] != 0 { Some(marker) } else { None },
    })
}

/// Returns the bytes of a number.
fn field<const N: usize>(bytes: &[u8; LENGTH], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

impl SharedSegment {
    /// The bound now: it grows by the oscillator's drift since the daemon stated it. `None` if it
    /// is void, or another machine's.
    fn error_ns(&self, monotonic_ns: i128, disruptions: Option<u64>) -> Option<u64> {
        let age_ns = monotonic_ns - self.as_of_ns;
        let is_void = monotonic_ns >= self.void_after_ns || !(-MAX_LEAD_NS..=DAY_NS).contains(&age_ns);
        if is_void || self.disruption_marker.is_some() && self.disruption_marker != disruptions {
            return None;
        }
        u64::try_from(self.bound_ns + (age_ns.max(0) * self.drift_ppb).div_euclid(SECOND_NS) + 1).ok()
    }
}

/// Returns true if CLOCK_MONOTONIC is the daemon's: in another time namespace its moments mean
/// nothing.
fn monotonic_is_the_daemons() -> bool {
    match std::fs::read_to_string("/proc/self/timens_offsets") {
        Ok(offsets) => is_zero(&offsets),
        // A kernel without such namespaces, unless /proc is missing.
        Err(_) => std::path::Path::new("/proc/self").exists(),
    }
}

/// Returns true if CLOCK_MONOTONIC has no offset (time_namespaces(7)).
fn is_zero(offsets: &str) -> bool {
    let monotonic = offsets.lines().find(|line| line.starts_with("monotonic"));
    monotonic.is_some_and(|line| line.split_whitespace().skip(1).all(|number| number == "0"))
}

/// Decodes any bytes, and a text of /proc in their place (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(input: &[u8]) {
    if let Some(segment) = <&[u8; LENGTH]>::try_from(input).ok().and_then(decode) {
        assert!((0..=DAY_NS).contains(&segment.bound_ns));
        for monotonic_ns in [segment.as_of_ns, segment.as_of_ns.saturating_add(DAY_NS), segment.void_after_ns - 1] {
            let error_ns = segment.error_ns(monotonic_ns, segment.disruption_marker);
            // It never states less than the daemon did.
            assert!(error_ns.is_none_or(|error_ns| i128::from(error_ns) > segment.bound_ns));
        }
        assert_eq!(segment.error_ns(segment.void_after_ns, segment.disruption_marker), None);
    }
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = is_zero(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The segment as the daemon writes it.
    fn bytes(as_of: [i64; 2], void_after: [i64; 2], bound_ns: i64, status: u32, marker: Option<u64>) -> [u8; LENGTH] {
        let mut bytes = Vec::new();
        bytes.extend([MAGIC[0], MAGIC[1], LENGTH as u32].iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend([VERSION, 4].iter().flat_map(|half| half.to_ne_bytes()));
        let numbers = [as_of, void_after, [bound_ns, marker.unwrap_or(0) as i64]].concat();
        bytes.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        bytes.extend([1000, status].iter().flat_map(|word: &u32| word.to_ne_bytes()));
        bytes.extend([u8::from(marker.is_some()), 0, 0, 0, 0, 0, 0, 0]);
        bytes.try_into().unwrap()
    }

    fn sound() -> [u8; LENGTH] {
        bytes([100, 5], [1100, 5], 250_000, SYNCHRONIZED, None)
    }

    fn error_ns(bytes: [u8; LENGTH], monotonic_s: i128, disruptions: Option<u64>) -> Option<u64> {
        decode(&bytes)?.error_ns(monotonic_s * SECOND_NS, disruptions)
    }

    #[test]
    fn published_bounds_are_used_while_they_hold() {
        // 1 ppm of drift.
        assert_eq!(error_ns(sound(), 101, None), Some(250_000 + 999 + 1));
        assert_eq!(error_ns(sound(), 1100, None), Some(250_000 + 999_999 + 1));
        assert_eq!(error_ns(sound(), 1101, None), None, "void");
        assert_eq!(error_ns(sound(), 99, None), None, "of the future");
        let free = bytes([100, 0], [1100, 0], 250_000, FREE_RUNNING, None);
        assert!(error_ns(free, 101, None).is_some());
        let marked = bytes([100, 0], [1100, 0], 250_000, SYNCHRONIZED, Some(7));
        for (disruptions, holds) in [(Some(7), true), (Some(8), false), (None, false)] {
            assert_eq!(error_ns(marked, 101, disruptions).is_some(), holds, "{disruptions:?}");
        }
    }

    #[test]
    fn what_is_no_such_segment_is_rejected() {
        for at in [0, 4, 12, 14] {
            // Whichever of the two bytes is the lower one here.
            let mut other = sound();
            other[at..at + 2].iter_mut().for_each(|byte| *byte ^= 1);
            assert_eq!(decode(&other), None, "byte {at}");
        }
        for (as_of, void_after, bound_ns, status) in [
            ([100, -1], [1100, 0], 250_000, SYNCHRONIZED),
            ([100, i64::MAX], [1100, 0], 250_000, SYNCHRONIZED),
            ([100, 0], [1100, 1_000_000_000], 250_000, SYNCHRONIZED),
            ([100, 0], [1100, 0], -250_000, SYNCHRONIZED),
            ([100, 0], [1100, 0], i64::MIN, SYNCHRONIZED),
            ([100, 0], [1100, 0], i64::MAX, SYNCHRONIZED),
            ([100, 0], [1100, 0], 250_000, 0),
            ([100, 0], [1100, 0], 250_000, 3),
            ([100, 0], [1100, 0], 250_000, 77),
        ] {
            assert_eq!(decode(&bytes(as_of, void_after, bound_ns, status, None)), None, "{bound_ns} {status}");
        }
        assert_eq!(read("/nonexistent/shm0"), None);
        assert_eq!(read("/dev/null"), None);
    }

    #[test]
    fn a_file_is_read() {
        let path = std::env::temp_dir().join(format!("clockscope-clockbound-{}", std::process::id()));
        for (content, is_known) in [(&sound()[..], true), (&sound()[..79], false), (&[], false)] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(read(path.to_str().unwrap()).is_some(), is_known);
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn another_time_namespace_is_noticed() {
        assert!(is_zero("monotonic           0         0\nboottime            0         0\n"));
        assert!(!is_zero("monotonic       -4999         0\nboottime            0         0\n"));
        assert!(!is_zero(""));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(numbers in prop::array::uniform7(any::<i64>()), status in 0u32..5, drift: u32, now: i64) {
            let [a, b, c, d, bound, marker, _] = numbers;
            let mut bytes = bytes([a, b % 2_000_000_000], [c, d % 2_000_000_000], bound, status, Some(marker as u64));
            bytes[64..68].copy_from_slice(&drift.to_ne_bytes());
            if let Some(segment) = decode(&bytes) {
                let _ = segment.error_ns(now.into(), Some(marker as u64));
            }
        }
    }
}
