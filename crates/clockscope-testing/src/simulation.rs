//! A machine that is not there: a counter, operating-system clocks, a CPU and its scheduler, on one
//! true time that tests know.
//!
//! Everything is deterministic: the same seed and the same calls give the same readings. Time
//! passes only when a clock is read, when [`Uniprocessor::pass_ps`] or [`Uniprocessor::run_ps`]
//! says so, and while another thread, an interrupt or the hypervisor has the CPU.
//!
//! [`Uniprocessor`] has one thread, whose reads can be interrupted at will. [`Multiprocessor`] has
//! several CPUs and several threads, which share words.
//!
//! This crate knows nothing of the clocks' users: each crate's tests adapt it to their own traits.

mod clock;
mod counter;
mod linear;
mod machine;
mod multiprocessor;
mod random;
mod scheduler;

pub use clock::{ClockId, Counted, Refused, SimulatedClock};
pub use counter::SimulatedCounter;
pub use linear::Linear;
pub use machine::{Moment, Uniprocessor};
pub use multiprocessor::{
    Change, Lost, Multiprocessor, Offline, Panicked, ReadCost, SimulatedCpuAccount, SimulatedThreadAccount, Word,
};
pub use random::Random;
pub use scheduler::{Load, Scheduler, Taken, Taker};

/// Picoseconds in a nanosecond.
pub const PS: u64 = 1000;
