//! Kinds of clocks, and the ways to read them: what the instrument, its records and the library
//! call by one name.

/// Quantity that a clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClockKind {
    /// A hardware counter of constant rate.
    Counter,
    /// A counter of work (core cycles): its rate is not constant.
    Cycles,
    /// Time since some start; never set.
    Monotonic,
    /// The time of day; may be set and stepped.
    Wall,
    /// Processor time that the process or thread has used.
    CpuTime,
}

/// The way by which a reading reaches the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReadPath {
    /// An instruction of the processor.
    Instruction,
    /// A function of the C library.
    Libc,
    /// A function of the vDSO, resolved by clockscope.
    Vdso,
    /// A system call, made without the C library.
    Syscall,
    /// Rust's standard library.
    Std,
    /// A device register, mapped into the process.
    Mmap,
    /// The library clockscope.
    Library,
    /// A function of the system's library, as programs call it (Windows: kernel32 and winmm).
    SystemLibrary,
    /// A function of the system's lowest library that runs in user mode (Windows: ntdll's `Rtl`).
    User,
}

impl ReadPath {
    /// Returns its name in JSON and in the names of clocks (`monotonic:vdso`).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Libc => "libc",
            Self::Vdso => "vdso",
            Self::Syscall => "syscall",
            Self::Std => "std",
            Self::Mmap => "mmap",
            Self::Library => "library",
            Self::SystemLibrary => "system_library",
            Self::User => "user",
        }
    }

    /// Returns true if most programs read the system's clocks by it: the C library, or the
    /// system's own where that has the call.
    #[must_use]
    pub const fn is_usual(self) -> bool {
        matches!(self, Self::Libc | Self::SystemLibrary)
    }
}

/// The hardware that a clock's readings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClockBasis {
    /// The processor's counter.
    Counter,
    /// Whatever the kernel's clocksource is: the counter on most machines.
    Clocksource,
    /// The scheduler's clock, by which processor time is charged. The kernel does not show what it
    /// is based on: the counter, where that is stable.
    Scheduler,
    /// Something else: a device, a performance counter.
    Other,
}

/// Meaning of a finding for a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Finding {
    /// It supports the clock.
    For,
    /// It contradicts the clock.
    Against,
    /// It is unknown, or says nothing.
    Unknown,
}
