//! The question *bounds*: the time of day as an interval, by the library's functions.

use clockscope::{Interval, Unbounded, WallState};
use clockscope_records::{Envelope, Figure, TimeBounds, TimeInterval, TimeOfDay};

use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::platform::Platform;

/// Asks the daemon that keeps the time of day, where it answers, and the kernel: of this machine,
/// whatever the platform.
///
/// # Errors
/// The process has more than one thread: the clock that stamps the record is tried in a forked
/// child.
pub fn bounds<P: Platform>(session: &Session<'_, P>) -> Result<Envelope<TimeBounds>, MeasureError> {
    let answers = vec![utc_answer(clockscope::utc_now()), bounded_answer(clockscope::bounded::now())];
    Ok(Envelope::of_facts(session.recorded_at()?, session.environment.clone(), TimeBounds { answers }))
}

/// The answer of `utc_now`.
fn utc_answer(answer: Result<Interval, Unbounded>) -> TimeOfDay {
    let call = "clockscope::utc_now".to_owned();
    match answer {
        Ok(interval) => TimeOfDay {
            call,
            state: interval.state,
            basis: interval.basis,
            interval: Figure::Known(time_interval(&interval)),
            stated: None,
        },
        Err(reason) => TimeOfDay {
            call,
            state: state(&reason),
            basis: reason.interval().and_then(|interval| interval.basis),
            interval: Figure::unknown(reason.to_string()),
            stated: reason.interval().map(time_interval),
        },
    }
}

/// The answer of `bounded::now`.
fn bounded_answer(answer: Interval) -> TimeOfDay {
    let interval = if answer.state.is_bounded() {
        Figure::Known(time_interval(&answer))
    } else {
        Figure::unknown(answer.state.to_string())
    };
    TimeOfDay { call: "clockscope::bounded::now".to_owned(), state: answer.state, basis: None, interval, stated: None }
}

fn state(reason: &Unbounded) -> WallState {
    match reason {
        Unbounded::Unsynchronized(_) => WallState::Unsynchronized,
        Unbounded::Slewing { .. } => WallState::Slewing,
        Unbounded::Worthless(_) => WallState::Worthless,
        _ => WallState::Unavailable,
    }
}

fn time_interval(interval: &Interval) -> TimeInterval {
    TimeInterval {
        earliest: interval.earliest.to_string(),
        latest: interval.latest.to_string(),
        earliest_unix_ns: interval.earliest.as_unix_ns(),
        latest_unix_ns: interval.latest.as_unix_ns(),
        width_ns: u64::try_from(interval.width().as_nanos()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use clockscope::WallTime;

    use super::*;

    fn interval(state: WallState) -> Interval {
        let [earliest, latest] = [1_000_000_000, 1_010_000_000].map(WallTime::from_unix_ns);
        Interval::new(earliest, latest, state).expect("in order")
    }

    #[test]
    fn an_interval_keeps_its_ends_and_its_width() {
        let found = utc_answer(Ok(interval(WallState::WhileNotSlewing)));
        let known = found.interval.known().expect("it is bounded");
        assert_eq!(
            (known.earliest_unix_ns, known.latest_unix_ns, known.width_ns),
            (1_000_000_000, 1_010_000_000, 10_000_000)
        );
        assert_eq!(known.earliest, "1970-01-01T00:00:01.000000000Z");
        assert_eq!((found.state, found.stated), (WallState::WhileNotSlewing, None));
    }

    /// An interval that is worth nothing is not shown as one that contains the true time.
    #[test]
    fn a_statement_that_is_not_reliable_is_no_interval() {
        let found = utc_answer(Err(Unbounded::Worthless(interval(WallState::Worthless))));
        assert_eq!(found.state, WallState::Worthless);
        assert!(!found.interval.is_known() && found.stated.is_some_and(|stated| stated.width_ns == 10_000_000));
        for state in [WallState::Slewing, WallState::Worthless, WallState::Unsynchronized, WallState::Unavailable] {
            let found = bounded_answer(interval(state));
            assert_eq!((found.state, found.interval.why()), (state, Some(state.to_string())));
        }
    }
}
