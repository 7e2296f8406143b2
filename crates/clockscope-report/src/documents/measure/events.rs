//! Events that a clock should not show, in a few words.

use clockscope_records::{ClockIdentity, ClockRecord, Events};

use crate::model::{Cell, Tone};
use crate::words::{grouped, total};

/// Repeats of the shortest run that counts as a stall.
const MIN_STALL_REPEATS: f64 = 2.0;

/// Names the events of a clock, the worst first; `ok` if there was none, with what programs have to
/// know about it.
pub(super) fn cell(clock: &ClockRecord) -> Cell {
    let Some(events) = &clock.events else { return Cell::Unknown };
    match named(events, unexplained_stalls(clock, events)) {
        Some(cell) => cell,
        None if reason(clock).is_some() => "jumps ?".into(),
        None => Cell::word(ok(&clock.identity), Tone::Good),
    }
}

/// Names the events of a run of reads, the worst first; `None` if there was none.
pub(in crate::documents) fn named(events: &Events, stalls: u64) -> Option<Cell> {
    let mut events_by_kind = vec![
        (events.errors, "error", "errors", Tone::Bad),
        (regressions(events), "regression", "regressions", Tone::Bad),
        (events.jump.get().unwrap_or(0), "jump", "jumps", Tone::Bad),
        (events.stuck, "stuck", "stuck", Tone::Warning),
        (stalls, "stall", "stalls", Tone::Warning),
    ];
    events_by_kind.retain(|(count, ..)| *count > 0);
    let (.., tone) = events_by_kind.first()?;
    let named = events_by_kind
        .iter()
        .map(|(count, one, several, _)| format!("{} {}", grouped(*count), if *count == 1 { one } else { several }));
    Some(Cell::word(named.collect::<Vec<_>>().join(", "), *tone))
}

/// States that a clock had no event, and what limits its use.
fn ok(identity: &ClockIdentity) -> &'static str {
    if identity.is_wall {
        "ok, can be set"
    } else if identity.is_cpu_time {
        "ok, processor time"
    } else if identity.is_ordered {
        "ok"
    } else {
        "ok, not ordered"
    }
}

/// Returns the reason why jumps are unknown. They are expected to be unknown for a CPU-time clock,
/// which stands still while its thread does not run.
pub(super) fn reason(clock: &ClockRecord) -> Option<String> {
    if clock.identity.is_cpu_time { None } else { clock.events.as_ref()?.jump.why() }
}

/// Returns whether it is known that the clock had no event.
pub(super) fn is_clean(clock: &ClockRecord) -> bool {
    matches!(cell(clock), Cell::Word(line) if line.tone == Tone::Good)
}

/// Returns whether the clock had an error, a regression or a jump.
pub(super) fn is_faulty(clock: &ClockRecord) -> bool {
    clock
        .events
        .as_ref()
        .is_some_and(|events| regressions(events) > 0 || events.jump.get().unwrap_or(0) > 0 || events.errors > 0)
}

/// Counts the regressions and the hidden regressions.
fn regressions(events: &Events) -> u64 {
    total([events.regression, events.hidden_regression.get().unwrap_or(0)])
}

/// Returns the stalls that the clock's tick does not explain: none if the reads of a stall take no
/// longer than a tick. An unknown tick is replaced by the nominal resolution, if the clock moved or
/// was read for less than two of these.
fn unexplained_stalls(clock: &ClockRecord, events: &Events) -> u64 {
    let Some(cost) = clock.cost_ns.known() else { return events.stall };
    let nominal_ns = clock.nominal_resolution_ns.get().unwrap_or(0.0);
    let is_short = events.span_ns.get().is_some_and(|span_ns| span_ns < 2.0 * nominal_ns);
    let tick_ns = match clock.tick_ns.get() {
        Some(tick_ns) => tick_ns,
        None if clock.observed_resolution_ns.is_known() || is_short => nominal_ns,
        None => 0.0,
    };
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

    /// The text and the tone of a clock of the fixture after a change.
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
        assert_eq!(said("realtime_coarse", |_| ()), words("ok, can be set", Tone::Good));
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

    /// A clock that changes every second has no known tick.
    #[test]
    fn the_nominal_resolution_explains_repeats_of_a_clock_that_moves() {
        let seconds = |clock: &mut ClockRecord| {
            (clock.tick_ns, clock.nominal_resolution_ns) = (Figure::unknown(TickReason::FewSteps), Figure::Known(1e9));
            with(clock, |events| (events.span_ns, events.stall) = (Figure::Known(2.5e9), 1));
        };
        assert_eq!(said("realtime_coarse", seconds), words("ok, can be set", Tone::Good));
        let unmoved = |clock: &mut ClockRecord| {
            seconds(clock);
            clock.observed_resolution_ns = Figure::unknown(texts::NO_FORWARD_STEP);
        };
        assert_eq!(said("realtime_coarse", unmoved), words("1 stall", Tone::Warning));
        let too_short = |clock: &mut ClockRecord| {
            unmoved(clock);
            with(clock, |events| events.span_ns = Figure::Known(1e9));
        };
        assert_eq!(said("realtime_coarse", too_short), words("ok, can be set", Tone::Good));
    }

    #[test]
    fn unknown_jumps_are_not_ok_but_of_cpu_time() {
        assert_eq!(said("process", |_| ()), words("ok, processor time", Tone::Good));
        let unknown = |clock: &mut ClockRecord| with(clock, |events| events.jump = Figure::unknown(texts::COUNTS_WORK));
        assert_eq!(said("monotonic", unknown), words("jumps ?", Tone::Normal));
    }
}
