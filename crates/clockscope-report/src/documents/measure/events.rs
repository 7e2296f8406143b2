//! Events that a clock should not show, in a few words.

use clockscope_records::{ClockRecord, Events};

use crate::model::{Cell, Tone};
use crate::words::{grouped, total};

/// Repeats of the shortest run that counts as a stall.
const MIN_STALL_REPEATS: f64 = 2.0;

/// Names the events of a clock, the worst first; `ok` if there was none.
pub(super) fn cell(clock: &ClockRecord) -> Cell {
    let Some(events) = &clock.events else { return Cell::Unknown };
    let seen = [
        (events.errors, "error", "errors", Tone::Bad),
        (regressions(events), "regression", "regressions", Tone::Bad),
        (events.jump.get().unwrap_or(0), "jump", "jumps", Tone::Bad),
        (events.stuck, "stuck", "stuck", Tone::Warning),
        (unexplained_stalls(clock, events), "stall", "stalls", Tone::Warning),
    ];
    let seen: Vec<_> = seen.into_iter().filter(|(count, ..)| *count > 0).collect();
    let Some((.., tone)) = seen.first() else {
        return if reason(clock).is_some() { "jumps ?".into() } else { Cell::word("ok", Tone::Good) };
    };
    let named = seen
        .iter()
        .map(|(count, one, several, _)| format!("{} {}", grouped(*count), if *count == 1 { one } else { several }));
    Cell::word(named.collect::<Vec<_>>().join(", "), *tone)
}

/// Returns why it is unknown whether the clock jumped. A CPU-time clock rightly stands still while
/// its thread does not run, so that nothing is missing.
pub(super) fn reason(clock: &ClockRecord) -> Option<String> {
    let events = clock.events.as_ref().filter(|_| !clock.identity.is_cpu_time)?;
    events.jump.why()
}

/// Returns whether the clock did something that a clock must not do.
pub(super) fn is_faulty(clock: &ClockRecord) -> bool {
    let wrong = |events: &Events| total([regressions(events), events.jump.get().unwrap_or(0), events.errors]);
    clock.events.as_ref().is_some_and(|events| wrong(events) > 0)
}

/// Steps back, and losses of time that no reading shows as such.
fn regressions(events: &Events) -> u64 {
    total([events.regression, events.hidden_regression.get().unwrap_or(0)])
}

/// Returns the stalls that the clock's own tick does not explain: none if the reads of a stall fit
/// into one tick, and it shows one value to all of them. Where no tick was found, the nominal
/// resolution counts, if the clock moved as that promises.
fn unexplained_stalls(clock: &ClockRecord, events: &Events) -> u64 {
    let Some(cost) = clock.cost_ns.known() else { return events.stall };
    let span_ns = events.span_ns.get();
    let moved = |ns: &f64| clock.observed_resolution_ns.is_known() || span_ns.is_some_and(|span_ns| span_ns < 2.0 * ns);
    let nominal_ns = || clock.nominal_resolution_ns.get().filter(moved);
    let tick_ns = clock.tick_ns.get().or_else(nominal_ns).unwrap_or(0.0);
    if tick_ns >= MIN_STALL_REPEATS * cost.min { 0 } else { events.stall }
}

#[cfg(test)]
mod tests {
    use clockscope_records::texts;
    use clockscope_records::{Document, Figure, Measurement, TickReason};

    use super::*;

    fn recorded() -> Measurement {
        match Document::from_json(include_str!("../../../tests/fixtures/healthy.json")) {
            Ok(Document::Measurement(envelope)) => envelope.found,
            other => panic!("a measurement: {other:?}"),
        }
    }

    /// A clock of the fixture, and what its cell says after a change.
    fn said(name: &str, change: impl FnOnce(&mut ClockRecord)) -> (String, Tone) {
        let mut clock =
            recorded().clocks.into_iter().find(|clock| clock.identity.label() == name).expect("it is there");
        change(&mut clock);
        match cell(&clock) {
            Cell::Word(line) => (line.to_string(), line.tone),
            other => (other.to_string(), Tone::Normal),
        }
    }

    fn with(clock: &mut ClockRecord, change: impl FnOnce(&mut Events)) {
        change(clock.events.as_mut().expect("it was read"));
    }

    fn words(text: &str, tone: Tone) -> (String, Tone) {
        (text.to_owned(), tone)
    }

    #[test]
    fn events_are_named_the_worst_first() {
        assert_eq!(said("monotonic", |_| ()), words("ok", Tone::Good));
        let stuck = |clock: &mut ClockRecord| with(clock, |events| events.stuck = 2498);
        assert_eq!(said("monotonic", stuck), words("2,498 stuck", Tone::Warning));
        let all = |clock: &mut ClockRecord| {
            with(clock, |events| {
                (events.errors, events.regression, events.stall) = (1, 80, 1);
                (events.hidden_regression, events.jump) = (Figure::Known(3), Figure::Known(41));
            });
        };
        assert_eq!(said("monotonic", all), words("1 error, 83 regressions, 41 jumps, 1 stall", Tone::Bad));
        assert_eq!(said("monotonic", |clock| clock.events = None), words("?", Tone::Normal));
    }

    /// Runs of reads of 22 ns within a tick of 1 µs; one of 10 ns explains none of them. Stuck
    /// readings are those that no tick explains.
    #[test]
    fn repeats_within_a_tick_do_not_count() {
        assert_eq!(said("realtime_coarse", |_| ()), words("ok", Tone::Good));
        let frozen = |clock: &mut ClockRecord| with(clock, |events| events.stuck = 1);
        assert_eq!(said("realtime_coarse", frozen), words("1 stuck", Tone::Warning));
        let stalls = |clock: &mut ClockRecord| with(clock, |events| events.stall = 96_880);
        assert_eq!(said("monotonic", stalls), words("96,880 stalls", Tone::Warning));
        let microsecond = |clock: &mut ClockRecord| {
            stalls(clock);
            clock.tick_ns = Figure::Known(1000.0);
        };
        assert_eq!(said("monotonic", microsecond), words("ok", Tone::Good));
    }

    /// A clock of whole seconds changes too seldom for its tick to be found.
    #[test]
    fn the_nominal_resolution_explains_repeats_of_a_clock_that_moves() {
        let seconds = |clock: &mut ClockRecord| {
            (clock.tick_ns, clock.nominal_resolution_ns) = (Figure::unknown(TickReason::FewSteps), Figure::Known(1e9));
            with(clock, |events| (events.span_ns, events.stall) = (Figure::Known(2.5e9), 1));
        };
        assert_eq!(said("realtime_coarse", seconds), words("ok", Tone::Good));
        let unmoved = |clock: &mut ClockRecord| {
            seconds(clock);
            clock.observed_resolution_ns = Figure::unknown(texts::NO_FORWARD_STEP);
        };
        assert_eq!(said("realtime_coarse", unmoved), words("1 stall", Tone::Warning));
        let too_short = |clock: &mut ClockRecord| {
            unmoved(clock);
            with(clock, |events| events.span_ns = Figure::Known(1e9));
        };
        assert_eq!(said("realtime_coarse", too_short), words("ok", Tone::Good));
    }

    #[test]
    fn unknown_jumps_are_not_ok_but_of_cpu_time() {
        assert_eq!(said("process", |_| ()), words("ok", Tone::Good));
        let unknown = |clock: &mut ClockRecord| with(clock, |events| events.jump = Figure::unknown(texts::COUNTS_WORK));
        assert_eq!(said("monotonic", unknown), words("jumps ?", Tone::Normal));
    }
}
