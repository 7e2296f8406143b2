//! Faults that new runs show and none of the former ones.

use clockscope_records::{AppearedEvents, Envelope, Events, FaultKind, Measurement};

/// Number of events of a kind; `None` if that is not known.
type Count = fn(&Events) -> Option<u64>;

/// The kinds of events that are compared.
const KINDS: [(FaultKind, Count); 5] = [
    (FaultKind::Regression, |events| Some(events.regression)),
    (FaultKind::HiddenRegression, |events| events.hidden_regression.get()),
    (FaultKind::Jump, |events| events.jump.get()),
    (FaultKind::Stuck, |events| Some(events.stuck)),
    (FaultKind::Error, |events| Some(events.errors)),
];

/// Returns the faults that a clock shows in new records and in none of the others; `None` where a
/// side has not judged its readings.
pub(super) fn appeared(measured: &[Vec<&Envelope<Measurement>>; 2], label: &str) -> Option<Vec<AppearedEvents>> {
    let judged = measured.each_ref().map(|side| {
        let clocks = side.iter().flat_map(|measurement| &measurement.found.clocks);
        let same = clocks.filter(|clock| clock.identity.label() == label);
        same.filter_map(|clock| clock.events.as_ref()).filter(|events| events.reads > 0).collect::<Vec<&Events>>()
    });
    let [base, new] = &judged;
    if base.is_empty() || new.is_empty() {
        return None;
    }
    let [base_reads, reads]: [u64; 2] = judged.each_ref().map(|side| side.iter().map(|events| events.reads).sum());
    let appeared = KINDS.iter().filter_map(|(event, count)| {
        // A kind that any former run could not count may have been there.
        let former: Option<u64> = base.iter().map(|events| count(events)).sum();
        let count: u64 = new.iter().filter_map(|events| count(events)).sum();
        let is_new = former == Some(0) && count > 0;
        is_new.then_some(AppearedEvents { event: *event, count, reads, base_reads })
    });
    Some(appeared.collect())
}
