//! The kernel's word on the rate and the error of its own clock: adjtimex(2), asked and not
//! changed.

use clockscope_core::Errno;
use clockscope_records::Adjtimex;

/// Reason why the kernel's figures are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjtimexError {
    /// The call failed.
    #[error("adjtimex: {0}")]
    Refused(Errno),
    /// There is no such call.
    #[error("this system has no adjtimex")]
    Unsupported,
}

/// Reads the kernel's figures. What they are worth is not judged here.
///
/// # Errors
/// The call fails, or the system has none.
pub fn read() -> Result<Adjtimex, AdjtimexError> {
    crate::os::facts::adjtimex().ok_or(AdjtimexError::Unsupported)?.map_err(AdjtimexError::Refused)
}
