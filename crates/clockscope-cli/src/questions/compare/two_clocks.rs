//! Two clocks that are measured now and compared with each other.

use anyhow::Result;
use clockscope_measure::ShootoutRequest;
use clockscope_records::Shootout;

use super::CompareArgs;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::run::{Run, warn_of_switched_clocksource};
use crate::usage::UsageError;

/// Compares the first clock with the second, or with the system's monotonic clock.
pub(super) fn compare(args: &CompareArgs) -> Result<Exit> {
    let (a, b) = match args.clocks.as_slice() {
        [a] => (a.clone(), None),
        [a, b] => (a.clone(), Some(b.clone())),
        more => {
            let wrong = format!("--clock {}: expected a record to compare with, or two clocks", more.join(","));
            return Err(UsageError(wrong).into());
        }
    };
    let request = ShootoutRequest { a: Some(a), b, duration_s: args.duration.0, cpu: args.cpu };
    let run = Run::open("clockscope.shootout", &args.output, &Inputs::default())?;
    warn_of_switched_clocksource();
    let found = run.ask("--cpu", |session, progress| clockscope_measure::shootout(session, &request, progress))?;
    run.finish(found, completeness)
}

/// A clock that cannot be read leaves nothing to be compared.
fn completeness(found: &Shootout) -> Exit {
    let is_compared = found.metrics.iter().any(|metric| metric.a.is_known() && metric.b.is_known());
    if is_compared { Exit::Success } else { Exit::Unanswered }
}
