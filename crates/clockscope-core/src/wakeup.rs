//! Ends of a wait for the wall clock to be set.

/// Event that ended a wait ([`ClockSet::wait`](crate::os::ClockSet::wait)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// The time was over.
    InTime,
    /// The wall clock was set.
    ByClock,
    /// Another thread called [`ClockSet::wake`](crate::os::ClockSet::wake).
    ByThread,
}
