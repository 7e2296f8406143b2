//! The library's own readings as clocks that the instrument measures beside all others.

use std::borrow::Cow;

use clockscope::Instant;

use crate::{About, Entry, Errno, Kind, Path, RawClock, Resolution, Unit, Visitor};

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
    visitor.visit(Entry { about: about("clockscope.now", true, "clockscope::now, ordered"), clock: Ok(Now(())) });
    visitor.visit(Entry {
        about: about("clockscope.now_unordered", false, "clockscope::now_unordered"),
        clock: Ok(NowUnordered(())),
    });
}

fn about(name: &'static str, is_ordered: bool, summary: &'static str) -> About {
    About {
        name: Cow::Borrowed(name),
        aliases: &[],
        kind: Kind::Monotonic,
        path: Path::Library,
        unit: Unit::Nanoseconds,
        resolution: Resolution::Unknown("the step of whichever clock it is served by: clockscope::resolution()".into()),
        summary,
        on_clocksource: true,
        is_ordered,
    }
}
