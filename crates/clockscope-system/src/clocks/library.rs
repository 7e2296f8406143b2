//! The library's own readings as clocks that the instrument measures beside all others.

use clockscope::Instant;

use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// [`clockscope::now`].
#[derive(Clone, Copy, Debug)]
pub struct Now(());

/// [`clockscope::now_unordered`].
#[derive(Clone, Copy, Debug)]
pub struct NowUnordered(());

impl RawClock for Now {
    type Raw = Instant;

    #[inline(always)]
    fn read(&self, raw: &mut Instant) -> Result<(), Errno> {
        *raw = clockscope::now();
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &Instant) -> u64 {
        raw.as_ns()
    }
}

impl RawClock for NowUnordered {
    type Raw = Instant;

    #[inline(always)]
    fn read(&self, raw: &mut Instant) -> Result<(), Errno> {
        *raw = clockscope::now_unordered();
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &Instant) -> u64 {
        raw.as_ns()
    }
}

/// Hands both to `visitor`. Reads no clock.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry { info: cataloged!("clockscope.now"), clock: Ok(Now(())) });
    visitor.visit(Entry { info: cataloged!("clockscope.now_unordered"), clock: Ok(NowUnordered(())) });
}
