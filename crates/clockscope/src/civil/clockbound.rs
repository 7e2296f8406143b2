//! Reads the bounds that the daemon ClockBound publishes in shared memory.

use std::os::unix::ffi::OsStrExt;

use clock_bound_shm::{ClockStatus, ShmReader};

use super::claim::{Basis, Claim, Worth};
use crate::leap::Leap;

/// Where the daemon publishes them, since ClockBound 2.
const PATH: &core::ffi::CStr = c"/var/run/clockbound/shm0";

/// The interval of the true time; `None` where the daemon does not run, or does not know.
pub(super) fn ask(leap: Leap) -> Option<Claim> {
    ask_at(PATH, leap)
}

fn ask_at(path: &core::ffi::CStr, leap: Leap) -> Option<Claim> {
    // Anything else might keep whoever opens it waiting.
    let is_file = std::fs::metadata(std::ffi::OsStr::from_bytes(path.to_bytes())).is_ok_and(|found| found.is_file());
    if !is_file {
        return None;
    }
    let mut reader = ShmReader::new(path).ok()?;
    let (earliest, latest, status) = reader.snapshot().ok()?.now().ok()?;
    // A free-running clock's bounds grow, and still hold.
    if !matches!(status, ClockStatus::Synchronized | ClockStatus::FreeRunning) {
        return None;
    }
    let unix_ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
    let (earliest_ns, latest_ns) =
        (unix_ns(earliest.tv_sec(), earliest.tv_nsec()), unix_ns(latest.tv_sec(), latest.tv_nsec()));
    Some(Claim { earliest_ns, latest_ns, basis: Basis::ClockBound, worth: Worth::Trusted, leap })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{SystemTime, UNIX_EPOCH};

    /// The segment of ClockBound's protocol 2, as its daemon writes it: bounds of `bound_ns` around the
    /// clock, of the monotonic moment `as_of_s`.
    fn segment(as_of_s: i64, bound_ns: i64, status: i32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [0x414d_5a4e_u32, 0x4342_0200, 80] {
            bytes.extend(word.to_ne_bytes());
        }
        for half in [2u16, 4] {
            bytes.extend(half.to_ne_bytes());
        }
        for word in [as_of_s, 0, as_of_s + 1000, 0, bound_ns, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(1000u32.to_ne_bytes());
        bytes.extend(status.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes
    }

    fn asked(name: &str, segment: &[u8]) -> Option<Claim> {
        let path = std::env::temp_dir().join(format!("clockscope-clockbound-{name}-{}", std::process::id()));
        std::fs::write(&path, segment).unwrap();
        let claim = ask_at(&std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap(), Leap::None);
        std::fs::remove_file(&path).unwrap();
        claim
    }

    #[test]
    fn published_bounds_are_used_while_they_hold() {
        let monotonic_s = (crate::os::Timeline::new().now_ns().unwrap() / 1_000_000_000) as i64;
        let unix_ns = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128;
        let before = unix_ns(SystemTime::now());
        let claim = asked("synchronized", &segment(monotonic_s, 250_000, 1)).unwrap();
        let after = unix_ns(SystemTime::now());
        let error = (claim.latest_ns - claim.earliest_ns) / 2;
        // The bound, and what it grew by in a second or more: 1 ppm.
        assert!(error >= 250_000, "{claim:?}");
        assert!(claim.earliest_ns <= after && before <= claim.latest_ns, "{claim:?}");
        assert_eq!((claim.basis, claim.worth), (Basis::ClockBound, Worth::Trusted));
        assert!(asked("free", &segment(monotonic_s, 250_000, 2)).is_some());
        for (name, segment) in [
            ("unknown", segment(monotonic_s, 250_000, 0)),
            ("disrupted", segment(monotonic_s, 250_000, 3)),
            ("outdated", segment(monotonic_s - 5000, 250_000, 1)),
            ("short", segment(monotonic_s, 250_000, 1)[..40].to_vec()),
            ("empty", Vec::new()),
        ] {
            assert_eq!(asked(name, &segment), None, "{name}");
        }
        assert_eq!(ask_at(c"/nonexistent/shm0", Leap::None), None);
    }
}
