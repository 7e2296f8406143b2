//! What a clock is to a program that reads it.

use alloc::borrow::Cow;
use core::fmt;

/// A clock that can be read.
///
/// Reading and understanding are two steps, because only the first may cost anything while it is being measured:
/// [`RawClock::read`] leaves what the hardware or the call delivered in the caller's place, [`RawClock::value`] turns that
/// into a number later.
///
/// Any thread may read it, several at once.
pub trait RawClock: Send + Sync {
    /// What one read leaves behind: a counter value, a `timespec`, …
    type Raw: Copy + Default + Send + Sync;

    /// Reads the clock once into `raw`.
    ///
    /// Inlined into the caller's loop; the compiler can neither remove nor merge two reads. Ordering against
    /// surrounding instructions is that of the clock and is said by its type.
    ///
    /// # Errors
    /// The error number of the call, when it refused; `raw` is then unspecified. Instructions cannot refuse.
    fn read(&self, raw: &mut Self::Raw) -> Result<(), Errno>;

    /// The reading as a number in the clock's [`Unit`]. Differences are to be taken wrapping, as `i64`.
    fn value(&self, raw: &Self::Raw) -> u64;
}

/// Error number of a system or library call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// What a clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A hardware counter of constant rate.
    Counter,
    /// A counter of work, whose rate follows the core's frequency.
    Cycles,
    /// Time since some start; never set.
    Monotonic,
    /// Civil time; may be set.
    Wall,
    /// Processor time used by the process or thread.
    CpuTime,
}

/// The way by which a reading reaches the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// An instruction of the processor.
    Instruction,
    /// A function of the C library.
    Libc,
    /// A function of the vDSO, resolved by this crate.
    Vdso,
    /// A system call, made by this crate.
    Syscall,
    /// Rust's standard library.
    Std,
    /// A device register, mapped into the process.
    Mmap,
    /// This crate's own clock.
    Library,
}

/// The unit of [`RawClock::value`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Ticks of this frequency, in Hz, where the hardware states it.
    Ticks(Option<f64>),
}

/// What the interface claims as its resolution.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// So many nanoseconds.
    Nanoseconds(f64),
    /// One tick of a counter whose frequency is not stated: 1 / frequency, once that was measured.
    OneTick,
    /// Nothing is claimed, and why.
    Unknown(Cow<'static, str>),
}

/// Who a clock is.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name, in lower case with underscores.
    pub name: Cow<'static, str>,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it counts.
    pub kind: Kind,
    /// How it is read.
    pub path: Path,
    /// Unit of its values.
    pub unit: Unit,
    /// What its interface claims.
    pub resolution: Resolution,
    /// One line: what is read.
    pub summary: &'static str,
    /// Whether its readings come from the kernel's clocksource hardware (`true` for the vDSO's clocks).
    pub on_clocksource: bool,
    /// Whether a read is ordered: it is done after everything that comes before it in the program has been done, so that
    /// two reads, one of which happens before the other, never tell the opposite.
    pub is_ordered: bool,
}

/// A clock, or the reason why there is none, with its description either way.
#[derive(Debug)]
pub struct Entry<C> {
    /// Who it is.
    pub about: About,
    /// The clock itself. That it is here does not promise that it answers: a filter may still deny the call.
    pub clock: Result<C, Unavailable>,
}

/// Receives every clock of a platform with its own type.
pub trait Visitor {
    /// Called once a clock, in the order in which a table should list them.
    fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>);
}

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
