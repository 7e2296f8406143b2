//! The meaning of a system's error numbers, as records have it.

use std::io::{Error, ErrorKind};

use clockscope_core::Errno;
use clockscope_records::{ErrorCause, SystemError};

/// POSIX's ENXIO and ENODEV, of which std has no kind: 6 and 19 on Linux, macOS and the BSDs.
#[cfg(unix)]
const NO_DEVICE: [i32; 2] = [6, 19];
#[cfg(not(unix))]
const NO_DEVICE: [i32; 0] = [];

/// Returns the meaning of an error for a clock that is read, or a file that is opened. The system
/// has no clock of a number that it calls invalid (clock_gettime(2), EINVAL).
#[must_use]
pub fn cause(errno: Errno) -> ErrorCause {
    match Error::from(errno).kind() {
        ErrorKind::PermissionDenied => ErrorCause::Denied,
        ErrorKind::Unsupported => ErrorCause::Unsupported,
        ErrorKind::NotFound | ErrorKind::InvalidInput => ErrorCause::Missing,
        _ if NO_DEVICE.contains(&errno.code()) => ErrorCause::Missing,
        _ => ErrorCause::Other,
    }
}

/// Returns an error number as records have it.
#[must_use]
pub fn system_error(errno: Errno) -> SystemError {
    let words = errno.to_string();
    // std adds the number, which has a key of its own.
    let words = words.strip_suffix(&format!(" (os error {})", errno.code())).unwrap_or(&words).to_owned();
    SystemError { number: errno.code(), cause: cause(errno), words }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// EPERM, ENOENT, ENXIO, ENODEV, EINVAL, EIO: the same numbers on all of these systems.
    #[test]
    fn a_clock_that_the_system_does_not_know_is_missing() {
        let causes = [1, 2, 6, 19, 22, 5].map(|code| system_error(Errno::new(code)).cause);
        let missing = ErrorCause::Missing;
        assert_eq!(causes, [ErrorCause::Denied, missing, missing, missing, missing, ErrorCause::Other]);
        assert_eq!(cause(Errno::UNSUPPORTED), ErrorCause::Unsupported);
        assert!(!system_error(Errno::new(1)).words.contains("error 1"));
    }
}
