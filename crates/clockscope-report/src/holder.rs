//! What holds the clocksource switched, in words.

use clockscope_records::{Clocksources, ClocksourcesProse};

/// Puts the words beside the run that has the clocksource switched.
pub(crate) fn explain(found: &mut Clocksources) {
    found.prose = Some(ClocksourcesProse { held: found.holder.as_ref().map(ToString::to_string) });
}
