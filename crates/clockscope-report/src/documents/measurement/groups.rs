//! What clocks have in common, by their facts.

use clockscope_records::{ClockIdentity, ReadPath};

/// A group of clocks, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Counter,
    Posix,
    System,
    CLibrary,
    Runtime,
    Library,
    Device,
}

impl Group {
    pub(super) fn of(identity: &ClockIdentity) -> Self {
        let is_guise = identity.is_guise == Some(true);
        match identity.path {
            _ if identity.is_device => Self::Device,
            ReadPath::Instruction => Self::Counter,
            ReadPath::Libc if is_guise => Self::CLibrary,
            ReadPath::Libc | ReadPath::Vdso | ReadPath::Syscall => Self::Posix,
            ReadPath::SystemLibrary | ReadPath::User => Self::System,
            ReadPath::Std => Self::Runtime,
            ReadPath::Library => Self::Library,
            ReadPath::Mmap => Self::Device,
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Counter => "Counter sequences",
            Self::Posix => "POSIX",
            Self::System => "System library",
            Self::CLibrary => "C library",
            Self::Runtime => "Language runtime",
            Self::Library => "clockscope",
            Self::Device => "Devices",
        }
    }
}
