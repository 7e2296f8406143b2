//! Two clocks of a catalog, compared by a bracket: one read between two readings of the other.

use std::hint::black_box;

use clockscope_core::brackets::Bracket;
use clockscope_system::Errno;

use crate::instrument::sampler::Sampler;
use crate::instrument::timer::Timer;
use crate::platform::Platform;

/// Reason why there is no bracket: a clock refused.
pub(crate) enum BracketError {
    Outer(Errno),
    Inner(Errno),
}

impl BracketError {
    pub(crate) fn errno(&self) -> Errno {
        match *self {
            Self::Outer(errno) | Self::Inner(errno) => errno,
        }
    }
}

/// Reads one clock between two readings of another, each in its own unit. `fence` is read between
/// them where one of the two is not ordered. [`narrowest`](clockscope_core::brackets::narrowest) of
/// several is no wider for an interruption.
pub(crate) fn bracket<P: Platform>(
    outer: &dyn Sampler<P>,
    inner: &dyn Sampler<P>,
    fence: Option<&Timer<P>>,
) -> Result<Bracket, BracketError> {
    let between = || fence.map(|timer| black_box(timer.now()));
    let before = outer.now().map_err(BracketError::Outer)?;
    between();
    let inner = inner.now().map_err(BracketError::Inner)?;
    between();
    let after = outer.now().map_err(BracketError::Outer)?;
    Ok(Bracket { before, inner, after })
}
