//! Reads of one clock by two threads at once: loops that are compiled for its type.

use clockscope_system::{Errno, RawClock};

use super::handoff::{HandoffState, Received};
use super::store_rounds::{StoreCounts, StoreRounds};
use super::{Deadline, Side};
use crate::instrument::sampler::Probe;
use crate::platform::Platform;

/// A clock whose type was forgotten, as two threads read it.
pub(crate) trait PairSampler<P: Platform>: Send + Sync {
    /// [`HandoffState::start_at`] for this clock.
    fn start_handoff(&self, handoff: &HandoffState<P>) -> Result<(), Errno>;

    /// [`HandoffState::mailbox`] for this clock.
    fn mailbox(&self, handoff: &HandoffState<P>, side: Side, keeper: Option<Deadline<'_, P>>) -> Received;

    /// [`HandoffState::lock`] for this clock.
    fn lock(&self, handoff: &HandoffState<P>, side: Side, keeper: Option<Deadline<'_, P>>) -> Received;

    /// [`StoreRounds::run`] for this clock.
    fn store_rounds(&self, rounds: &StoreRounds<P>, keeper: Option<Deadline<'_, P>>) -> StoreCounts;
}

impl<C: RawClock, P: Platform> PairSampler<P> for Probe<C> {
    fn start_handoff(&self, handoff: &HandoffState<P>) -> Result<(), Errno> {
        handoff.start_at(&self.clock)
    }

    fn mailbox(&self, handoff: &HandoffState<P>, side: Side, keeper: Option<Deadline<'_, P>>) -> Received {
        handoff.mailbox(&self.clock, side, keeper)
    }

    fn lock(&self, handoff: &HandoffState<P>, side: Side, keeper: Option<Deadline<'_, P>>) -> Received {
        handoff.lock(&self.clock, side, keeper)
    }

    fn store_rounds(&self, rounds: &StoreRounds<P>, keeper: Option<Deadline<'_, P>>) -> StoreCounts {
        rounds.run(&self.clock, keeper)
    }
}
