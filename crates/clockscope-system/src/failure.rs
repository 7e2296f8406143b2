//! The meaning of a system's error numbers, as records have it.

use std::io::{Error, ErrorKind};

use clockscope_core::Errno;
use clockscope_records::{ErrorCause, Failure, SystemError};

/// POSIX's ENXIO and ENODEV, of which std has no kind: 6 and 19 on Linux, macOS and the BSDs.
#[cfg(unix)]
const NO_DEVICE: [i32; 2] = [6, 19];
#[cfg(not(unix))]
const NO_DEVICE: [i32; 0] = [];

/// Returns the meaning of an error for a clock that is read, or a file that is opened. The system
/// has no clock of a number that it calls invalid (clock_gettime(2), EINVAL).
#[must_use]
pub fn failure(errno: Errno) -> Failure {
    match Error::from(errno).kind() {
        ErrorKind::PermissionDenied => Failure::Denied,
        ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::InvalidInput => Failure::Missing,
        _ if NO_DEVICE.contains(&errno.code()) => Failure::Missing,
        _ => Failure::Refused,
    }
}

/// Returns an error number as records have it.
#[must_use]
pub fn system_error(errno: Errno) -> SystemError {
    let cause = match failure(errno) {
        Failure::Denied => ErrorCause::Denied,
        _ if Error::from(errno).kind() == ErrorKind::Unsupported => ErrorCause::Unsupported,
        _ => ErrorCause::Other,
    };
    let words = errno.to_string();
    // std adds the number, which has a key of its own.
    let words = words.strip_suffix(&format!(" (os error {})", errno.code())).unwrap_or(&words).to_owned();
    SystemError { number: errno.code(), cause, words }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// EPERM, ENOENT, ENXIO, ENODEV, EINVAL, EIO: the same numbers on all of these systems.
    #[test]
    fn a_clock_that_the_system_does_not_know_is_missing() {
        let failures = [1, 2, 6, 19, 22, 5].map(|code| failure(Errno::new(code)));
        let missing = Failure::Missing;
        assert_eq!(failures, [Failure::Denied, missing, missing, missing, missing, Failure::Refused]);
        assert_eq!(failure(Errno::UNSUPPORTED), missing);
        let causes = [Errno::new(1), Errno::UNSUPPORTED, Errno::new(5)].map(|errno| system_error(errno).cause);
        assert!(!system_error(Errno::new(1)).words.contains("error 1"));
        assert_eq!(causes, [ErrorCause::Denied, ErrorCause::Unsupported, ErrorCause::Other]);
    }
}
