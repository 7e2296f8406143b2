//! Why something cannot be read.

use alloc::borrow::Cow;
use core::fmt;

/// Error number of a system or library call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// Why a clock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// The processor lacks the instruction.
    Instruction(&'static str),
    /// A call refused: which, and its error number.
    Call(Cow<'static, str>, Errno),
    /// The C library has no such function.
    Symbol(&'static str),
    /// The system has no such thing.
    Missing(Cow<'static, str>),
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
        write!(f, "error {}", self.0)
    }
}

#[cfg(feature = "std")]
impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

impl core::error::Error for Unavailable {}
impl core::error::Error for Errno {}
