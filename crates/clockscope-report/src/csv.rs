//! One row a clock (RFC 4180). What is unknown is an empty field; the reasons stand in the column `unknown`.

use clockscope_records::{
    Demand, Document, Environment, Finding, Prose, RuntimeRecord, Runtimes, StepsRecord, Switched, Trustworthiness,
    Verdict, plain,
};

use serde_json::Value;

use crate::{cells, evidence, json};

/// Columns that every row has at its end, so that rows of many machines can be put together.
const CONTEXT: [&str; 5] = ["recorded_at", "cpu_model", "kernel_release", "clocksource", "hypervisor"];

pub(crate) fn render(document: &Document) -> String {
    let environment = document.environment();
    match document {
        Document::Measurement(_) => by_name(document, "clocks", &MEASURED),
        Document::Steps(steps) => {
            let rows = steps.clocks.iter().flat_map(differences);
            sheet(rows, environment, steps.recorded_at.as_deref(), &DIFFERENCES)
        }
        Document::Plan(_) => by_name(document, "rows", &PLANNED),
        Document::Order(_) => by_name(document, "sequences", &SEQUENCES),
        Document::Offsets(_) => by_name(document, "pairs", &PAIRS),
        Document::Rates(_) => by_name(document, "clocks", &RATES),
        Document::Gaps(_) => by_name(document, "gaps", &GAPS),
        Document::Sleep(_) => by_name(document, "rows", &SLEEPS),
        Document::Check(answer) => {
            let rows = answer.found.verdicts.iter().flat_map(verdict_rows);
            sheet(rows, environment, answer.recorded_at.as_deref(), &VERDICTS)
                + &demands(document, &answer.found.demands)
        }
        Document::Shootout(_) => by_name(document, "metrics", &METRICS),
        Document::Clocksources(_) => by_name(document, "clocksources", &CLOCKSOURCES),
        Document::Switched(found) => switched(found),
        Document::Runtimes(found) => runtimes(found),
        Document::RuntimesFound(_) => by_name(document, "runtimes", &RUNTIMES_FOUND),
        Document::Listing(_) => by_name(document, "clocks", &LISTED),
        Document::Info(_) => facts(document),
    }
}

// Columns bear the names of the records' fields, a dot leads into one; or names of their own, before the field's.
const MEASURED: [&str; 30] = [
    "name",
    "kind",
    "path",
    "available",
    "reason",
    "cost_ns_median=cost_ns.median",
    "cost_ns_ci95_low=cost_ns.ci95.0",
    "cost_ns_ci95_high=cost_ns.ci95.1",
    "cost_ns_min=cost_ns.min",
    "cost_ns_p99=cost_ns.p99",
    "ratio_to_fastest",
    "nominal_resolution_ns",
    "observed_resolution_ns",
    "tick_ns",
    "tick_at_most_ns=tick_evidence.at_most_ns",
    "monotonic_strict=monotonic.strict",
    "monotonic_weak=monotonic.weak",
    "reads=events.reads",
    "errors=events.errors",
    "fail=events.fail",
    "stall=events.stall",
    "warp=events.warp",
    "jump=events.jump",
    "gap=events.gap",
    "regression=events.regression",
    "hidden_regression=events.hidden_regression",
    "threshold_ns=events.threshold_ns",
    "reference=events.reference",
    "reference_shares_hardware=events.reference_shares_hardware",
    "unknown",
];

const LISTED: [&str; 9] =
    ["name", "aliases", "kind", "path", "available", "reason", "nominal_resolution_ns", "description", "unknown"];

const DIFFERENCES: [&str; 11] = [
    "name",
    "kind",
    "path",
    "available",
    "reason",
    "tick_ns",
    "tick_at_most_ns",
    "difference_ticks",
    "difference_ns",
    "count",
    "cumulative_count",
];

/// A row a distinct difference; one for a clock without any.
fn differences(clock: &StepsRecord) -> Vec<Vec<String>> {
    let start = [
        clock.identity.name.clone(),
        cells::kind(clock.identity.kind).to_owned(),
        cells::path(clock.identity.path).to_owned(),
        clock.available.to_string(),
        text(clock.reason.as_ref()),
        text(clock.tick_ns),
        text(clock.tick_evidence.as_ref().and_then(|evidence| evidence.at_most_ns)),
    ];
    let row = |end: [String; 4]| start.iter().cloned().chain(end).collect::<Vec<_>>();
    let mut seen = 0;
    let rows = clock.differences.iter().map(|entry| {
        seen += entry.count;
        row([entry.ticks.to_string(), text(entry.ns), entry.count.to_string(), seen.to_string()])
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() { vec![row(Default::default())] } else { rows }
}

const PLANNED: [&str; 5] = ["interval_ns", "clock", "single_error", "repetitions", "cheapest_sufficient"];

const SEQUENCES: [&str; 15] = [
    "name",
    "ordered",
    "available",
    "reason",
    "handoffs",
    "handoffs_per_second",
    "regressions",
    "regressions_per_million",
    "worst_ns",
    "worst_pair",
    "mailbox.handoffs",
    "mailbox.regressions",
    "lock.handoffs",
    "lock.regressions",
    "unknown",
];
const PAIRS: [&str; 12] = [
    "a",
    "b",
    "offset_ns",
    "bound_ns",
    "offset_ticks",
    "exchanges",
    "round_trip_ns",
    "asymmetry_ns",
    "symmetric",
    "apart",
    "reason",
    "unknown",
];
const RATES: [&str; 21] = [
    "name",
    "reference",
    "available",
    "reason",
    "ppm",
    "bound_ppm",
    "estimate_ppm",
    "frequency_hz",
    "frequency_bound_hz",
    "nominal_hz",
    "seconds",
    "brackets_kept",
    "brackets_dropped",
    "bracket_ns",
    "ticks_ns",
    "constant",
    "changed.from_s",
    "changed.until_s",
    "step.at_s",
    "step.ns",
    "unknown",
];
const GAPS: [&str; 15] = [
    "cpu",
    "seconds",
    "blind_seconds",
    "count",
    "per_second",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "stolen_ns",
    "stolen_percent",
    "steal_ns",
    "reason",
    "unknown",
];
const SLEEPS: [&str; 10] =
    ["call", "asked_ns", "sleeps", "early", "min_ns", "p50_ns", "p99_ns", "max_ns", "reason", "unknown"];

/// Each piece of a verdict's evidence has a row.
const VERDICTS: [&str; 10] =
    ["clock", "verdict", "name", "finding", "decides", "value", "unit", "seen", "source", "advice"];
const METRICS: [&str; 10] = ["metric", "figure", "unit", "a", "a_bound", "b", "b_bound", "winner", "note", "unknown"];
const CLOCKSOURCES: [&str; 9] =
    ["name", "current", "description", "frequency_hz", "bits", "wraps_after_s", "vdso", "usual_cost", "unknown"];

/// The row's `clocksource` is the context's.
const RUNTIMES: [&str; 34] = [
    "runtime",
    "title",
    "version",
    "program",
    "api",
    "available",
    "reason",
    "built_on",
    "hardware_timer",
    "nominal_tick_ns",
    "cost_ns",
    "cost_ci95_low=cost.ci95.0",
    "cost_ci95_high=cost.ci95.1",
    "cost_min=cost.min",
    "cost_p99=cost.p99",
    "cost_batches=cost.batches",
    "cost_reads_per_batch=cost.reads_per_batch",
    "cost_batches_dropped=cost.batches_dropped",
    "observed_resolution_ns",
    "tick_ns",
    "tick_at_most_ns=tick_evidence.at_most_ns",
    "tick_strength=tick_evidence.strength",
    "tick_steps=tick_evidence.steps",
    "tick_frequency_hz=tick_evidence.frequency_hz",
    "tick_error_ppm=tick_evidence.error_ppm",
    "tick_spread_ns=tick_evidence.spread_ns",
    "tick_agreement=tick_evidence.agreement",
    "tick_period=tick_evidence.period",
    "tick_recognised=tick_evidence.recognised",
    "zeros_percent",
    "regressions",
    "largest_step_ns",
    "reads",
    "unknown",
];
const RUNTIMES_FOUND: [&str; 7] = ["runtime", "title", "version", "program", "available", "reason", "get"];

/// The rows of a verdict.
fn verdict_rows(verdict: &Verdict) -> impl Iterator<Item = Vec<String>> {
    let judged = match verdict.verdict {
        Trustworthiness::Trusted => "trusted",
        Trustworthiness::Limited => "limited",
        Trustworthiness::Unfit => "unfit",
    };
    verdict.evidence.iter().map(move |evidence| {
        let finding = match evidence.finding {
            Finding::For => "for",
            Finding::Against => "against",
            Finding::Unknown => "unknown",
        };
        let (value, unit) = evidence::figure(evidence);
        let Prose { name, text, source, advice } = evidence::prose(evidence);
        let words = [judged, &name, finding, if evidence.decides { "true" } else { "false" }, &value, unit];
        let words = [verdict.clock.as_str()].into_iter().chain(words).map(str::to_owned);
        words.chain([text, source, advice.unwrap_or_default()]).collect()
    })
}

/// What a policy demands, as rows below the evidence: of a clock named `policy`, whose verdict is whether it is met.
fn demands(document: &Document, demands: &[Demand]) -> String {
    let value = |value: Option<&clockscope_records::Value>| match value {
        Some(clockscope_records::Value::Number(number)) => number.to_string(),
        Some(clockscope_records::Value::Word(word)) => word.clone(),
        None => String::new(),
    };
    let row = |demand: &Demand| {
        let (verdict, finding) = match demand.met {
            Some(true) => ("met", "for"),
            Some(false) => ("unmet", "against"),
            None => ("unknown", "unknown"),
        };
        let (found, required) = (value(demand.found.as_ref()), value(Some(&demand.required)));
        let words =
            ["policy", verdict, &demand.demand, finding, if demand.met == Some(false) { "true" } else { "false" }];
        let rest = [
            found,
            String::new(),
            format!("required: {required}"),
            "the policy".to_owned(),
            text(demand.advice.as_ref()),
        ];
        words.map(str::to_owned).into_iter().chain(rest).collect()
    };
    let recorded_at = match document {
        Document::Check(answer) => answer.recorded_at.as_deref(),
        _ => None,
    };
    let rows: Vec<Vec<String>> = demands.iter().map(row).collect();
    body(rows.into_iter(), document.environment(), recorded_at)
}

/// The rows of all measurements below one head.
fn switched(found: &Switched) -> String {
    let sheets = found.measurements.iter().map(|measurement| render(&Document::Measurement(measurement.clone())));
    below_one_head(sheets).unwrap_or_default()
}

/// Sheets of the same columns, one below the other; `None` of none.
fn below_one_head(sheets: impl Iterator<Item = String>) -> Option<String> {
    sheets.reduce(|all, sheet| all + sheet.split_once("\r\n").map_or("", |(_, body)| body))
}

/// Rows with the clocksource that each was measured with, below one head.
fn runtimes(found: &Runtimes) -> String {
    let part = |rows: &[RuntimeRecord]| {
        let mut part = Runtimes { runtimes: rows.to_vec(), ..found.clone() };
        // Where none was switched, the machine's is that of all rows.
        if let Some(row) = rows.first().filter(|row| found.was.is_some() || row.clocksource.is_some()) {
            part.environment.clocksource.clone_from(&row.clocksource);
        }
        by_name(&Document::Runtimes(part), "runtimes", &RUNTIMES)
    };
    let parts = found.runtimes.chunk_by(|a, b| a.clocksource == b.clocksource);
    below_one_head(parts.map(part)).unwrap_or_else(|| part(&[]))
}

/// One row an entry of the document's list of this name, with these columns.
fn by_name(document: &Document, list: &str, columns: &[&str]) -> String {
    let value = json::value(document).unwrap_or_default();
    let columns: Vec<(&str, &str)> = columns.iter().map(|name| name.split_once('=').unwrap_or((name, name))).collect();
    let row = |record: &Value| columns.iter().map(|(_, path)| cell(path.split('.').fold(record, part))).collect();
    let rows: Vec<Vec<String>> = value[list].as_array().into_iter().flatten().map(row).collect();
    let head: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    sheet(rows.into_iter(), document.environment(), value["recorded_at"].as_str(), &head)
}

/// A field of a value, or an entry of a list by its number.
fn part<'a>(value: &'a Value, name: &str) -> &'a Value {
    match name.parse::<usize>() {
        Ok(place) => &value[place],
        Err(_) => &value[name],
    }
}

/// A value as a field: lists by spaces, reasons as everywhere.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(" "),
        Value::Object(reasons) => {
            reasons.iter().map(|(field, reason)| format!("{field}: {}", cell(reason))).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// A head, and rows with the context at their ends.
fn sheet(
    rows: impl Iterator<Item = Vec<String>>,
    environment: &Environment,
    recorded_at: Option<&str>,
    head: &[&str],
) -> String {
    line(head.iter().chain(&CONTEXT).copied()) + &body(rows, environment, recorded_at)
}

/// The rows alone.
fn body(rows: impl Iterator<Item = Vec<String>>, environment: &Environment, recorded_at: Option<&str>) -> String {
    let context = [
        recorded_at.unwrap_or_default(),
        environment.cpu.model.as_deref().unwrap_or_default(),
        environment.kernel.release.as_deref().unwrap_or_default(),
        environment.clocksource.as_deref().unwrap_or_default(),
        environment.hypervisor.as_deref().unwrap_or_default(),
    ];
    rows.map(|row| line(row.iter().map(String::as_str).chain(context))).collect()
}

/// The facts of a machine, a row each.
fn facts(document: &Document) -> String {
    let facts = crate::environment::of_document(document);
    let rows = facts.iter().map(|(fact, value)| line([*fact, value.as_str()].into_iter()));
    line(["fact", "value"].into_iter()) + &rows.collect::<String>()
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

/// A field with a comma or a quote is quoted, its quotes doubled. A row is one line, whatever a record says.
fn quoted(field: &str) -> String {
    let field = plain(field);
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(line(["a", "b,c", "say \"x\"", ""].into_iter()), "a,\"b,c\",\"say \"\"x\"\"\",\r\n");
    }
}
