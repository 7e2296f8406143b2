//! Clocks as programs in a language read them: the figures that advice is based on.

use clockscope_records::{
    AfterWork, ClockBasis, ClockIdentity, ClockKind, Figure, LanguageClock, MovedBy, ReadPath, RuntimeRecord, Summary,
    texts,
};
use clockscope_statistics::{Difference, summary};

use crate::probe_line::ProbeReadings;

/// APIs that begin so are the library's.
const LIBRARY: &str = "clockscope.";

/// Returns the clock of an API's row; `readings` are what its figures were computed from.
pub(crate) fn clock(row: RuntimeRecord, api: &str, readings: Option<&ProbeReadings>) -> LanguageClock {
    LanguageClock {
        identity: identity(api, &row, readings),
        differences: readings.and_then(differences),
        after_work: readings.map(after_work).unwrap_or_default(),
        row,
    }
}

fn identity(api: &str, row: &RuntimeRecord, readings: Option<&ProbeReadings>) -> ClockIdentity {
    // A counter of something else stands for a clock whose kind the probe does not state.
    let kind = readings.map_or(ClockKind::Monotonic, |readings| readings.kind.unwrap_or(ClockKind::Counter));
    ClockIdentity {
        name: format!("{api}()"),
        aliases: vec![api.to_owned()],
        interfaces: Vec::new(),
        kind,
        path: if api.starts_with(LIBRARY) { ReadPath::Library } else { ReadPath::Libc },
        description: row.built_on.clone().unwrap_or_default(),
        basis: match row.moved_by.get() {
            Some(MovedBy::Clocksource) => ClockBasis::Clocksource,
            Some(MovedBy::Scheduler) => ClockBasis::Scheduler,
            _ => ClockBasis::Other,
        },
        counter_based: Figure::unknown(texts::NOT_REPORTED_BY_PROBE),
        is_ordered: true,
        is_coarse: row.documented_coarse.get() == Some(true),
        is_wall: kind == ClockKind::Wall,
        is_cpu_time: kind == ClockKind::CpuTime,
        is_steered: kind == ClockKind::Monotonic,
        counts_suspend: kind == ClockKind::Wall,
        is_device: false,
        is_usual: readings.is_some_and(|readings| readings.is_usual),
        is_wrapper: true,
    }
}

/// Summarizes the differences within batches; `None` without any.
fn differences(readings: &ProbeReadings) -> Option<Summary> {
    let entries: Vec<Difference> =
        readings.differences.iter().map(|(value, count)| Difference { value: *value, count: *count }).collect();
    Some(summary(&entries)?.scaled(readings.ns_per_unit()))
}

fn after_work(readings: &ProbeReadings) -> Vec<AfterWork> {
    let found = readings.around_work.iter().filter_map(|around| {
        let errors_ns = around.errors_ns.iter().map(|ns| *ns as f64).collect();
        clockscope_statistics::after_work(around.work, around.work_ns as f64, errors_ns)
    });
    found.collect()
}
