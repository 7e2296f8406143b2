//! Reasons why something cannot be read.

#[cfg(feature = "std")]
use alloc::borrow::Cow;
use core::fmt;

/// Text of a reason: without std there is no memory to write one into.
#[cfg(feature = "std")]
type ReasonText = Cow<'static, str>;
#[cfg(not(feature = "std"))]
type ReasonText = &'static str;

/// Error number of a system or library call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(i32);

impl Errno {
    /// Says that the system has no such call, or that an error has no number.
    pub const UNSUPPORTED: Self = Self(0);

    /// Makes one of the system's number.
    #[must_use]
    pub const fn new(code: i32) -> Self {
        Self(code)
    }

    /// Returns the error that the C library's last call on this thread left.
    #[cfg(feature = "std")]
    #[cold]
    #[must_use]
    pub fn last() -> Self {
        Self::from(&std::io::Error::last_os_error())
    }

    /// Returns the system's number; 0 for [`Errno::UNSUPPORTED`].
    #[must_use]
    pub const fn code(self) -> i32 {
        self.0
    }
}

/// Reason why a clock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// The processor lacks the instruction.
    Instruction(&'static str),
    /// A call refused: which, and its error number.
    Call(ReasonText, Errno),
    /// The C library has no such function.
    Symbol(&'static str),
    /// The system has no such thing.
    Missing(ReasonText),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instruction(name) => write!(f, "this processor has no {name} instruction"),
            Self::Call(call, errno) => write!(f, "{call}: {errno}"),
            Self::Symbol(name) => write!(f, "the C library has no {name}"),
            Self::Missing(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Errno {
    #[cfg(feature = "std")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", std::io::Error::from(*self))
    }

    #[cfg(not(feature = "std"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNSUPPORTED { f.write_str("unsupported") } else { write!(f, "error {}", self.0) }
    }
}

#[cfg(feature = "std")]
impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::UNSUPPORTED => std::io::ErrorKind::Unsupported.into(),
            Errno(code) => Self::from_raw_os_error(code),
        }
    }
}

/// [`Errno::UNSUPPORTED`] for an error that is not the system's.
#[cfg(feature = "std")]
impl From<&std::io::Error> for Errno {
    fn from(error: &std::io::Error) -> Self {
        error.raw_os_error().map_or(Self::UNSUPPORTED, Self)
    }
}

impl core::error::Error for Unavailable {}
impl core::error::Error for Errno {}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_number_is_stored_and_its_lack_is_said() {
        for code in [1, 22, 38] {
            assert_eq!(Errno::from(&io::Error::from(Errno::new(code))).code(), code);
        }
        let none = io::Error::from(Errno::UNSUPPORTED);
        assert_eq!((none.kind(), none.raw_os_error()), (io::ErrorKind::Unsupported, None));
        assert_eq!(Errno::from(&none), Errno::UNSUPPORTED);
        assert_eq!(Errno::UNSUPPORTED.to_string(), "unsupported");
    }
}
