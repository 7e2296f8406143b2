//! The rates of clocks.

mod charts;

use clockscope_records::{Adjtimex, Rate, RateRecord, unavailable_because};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::chart::Chart;
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{megahertz, ppm, time};
use crate::words::{by_reason, known};

const HEAD: [&str; 9] = ["Clock", "ppm", "±", "Least sq.", "Frequency", "Over", "Brackets", "Width", "Constant"];
/// Clocks whose matrix, or whose stability, fits on a page side by side.
const SIDE_BY_SIDE: usize = 7;
/// Seconds a day, in millions: what one ppm makes of it.
const DAY: f64 = 0.0864;

/// Columns of a spreadsheet.
const COLUMNS: [&str; 22] = [
    "name",
    "reference",
    "available",
    "reason",
    "code=reason.code",
    "ppm",
    "bound_ppm",
    "estimate_ppm",
    "frequency_hz",
    "frequency_bound_hz",
    "nominal_hz",
    "seconds",
    "brackets_used",
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

impl QuestionPage for Rate {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock"), ("pairs", "pair")];

    fn blocks(&self, _: View) -> Vec<Block> {
        blocks(self)
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", &COLUMNS)
    }
}

fn blocks(rates: &Rate) -> Vec<Block> {
    let compared: Vec<&RateRecord> = rates.clocks.iter().filter(|clock| clock.bound_ppm.is_known()).collect();
    let rows = compared.iter().map(|clock| Row::marked(row(clock), clock.step.is_known()));
    let without_ppm = compared.iter().filter(|clock| !clock.ppm.is_known());
    let without_ppm = without_ppm.filter_map(|clock| Some((format!("? ppm of {}", clock.name), clock.ppm.why()?)));
    let table = Table::new(HEAD, 1, rows).below(by_reason(without_ppm));
    let disturbed = compared.iter().filter_map(|clock| Some((clock.name.clone(), clock.reason.as_ref()?.to_string())));
    let disturbed = by_reason(disturbed);
    let missing = rates.clocks.iter().filter(|clock| !clock.bound_ppm.is_known());
    let reason = |clock: &RateRecord| {
        let unavailable = clock.reason.as_ref().map(|reason| unavailable_because(&clock.name, reason));
        unavailable.or_else(|| clock.bound_ppm.why()).unwrap_or_default()
    };
    let missing: Vec<(String, String)> = missing.map(|clock| (clock.name.clone(), reason(clock))).collect();
    let adev = |clock: &RateRecord| clock.allan.iter().map(|allan| (allan.tau_s, allan.adev)).collect();
    let mtie = |clock: &RateRecord| clock.mtie.iter().map(|mtie| (mtie.tau_s, mtie.ns)).collect();
    let mut blocks = vec![table.into(), charts::rates(&rates.reference, &compared).into()];
    blocks.extend(charts::stability(&compared).into_iter().map(Block::from));
    blocks.push(Block::folded("The rate of each clock against each other", [matrix(rates, &compared).into()]));
    let stability = compared.chunks(SIDE_BY_SIDE).flat_map(|part| {
        let (allan, error) = ("Allan deviation:", "Maximum time interval error:");
        let deviations = over_tau(part, adev, |value| format!("{value:.1e}").into());
        [deviations.titled(allan).into(), over_tau(part, mtie, Cell::Time).titled(error).into()]
    });
    blocks.push(Block::folded("Allan deviation and maximum time interval error, as tables", stability));
    blocks.push(Block::prose(rates.adjtimex.known().into_iter().map(kernel_verdict)));
    blocks.push(Block::notes("Disturbed:", disturbed));
    let missing = Block::notes("Not compared:", by_reason(missing.into_iter()));
    blocks.push(Block::folded("Clocks that were not compared", [missing]));
    blocks
}

/// Draws the rates and the stability of all clocks.
pub(super) fn charts(rates: &Rate) -> Vec<Chart> {
    let compared: Vec<&RateRecord> = rates.clocks.iter().filter(|clock| clock.bound_ppm.is_known()).collect();
    std::iter::once(charts::rates(&rates.reference, &compared)).chain(charts::stability(&compared)).collect()
}

fn row(clock: &RateRecord) -> Vec<Cell> {
    vec![
        clock.name.as_str().into(),
        Cell::known(clock.ppm.get(), signed),
        Cell::known(clock.bound_ppm.get(), bound_ppm),
        Cell::known(clock.estimate_ppm.get(), signed),
        clock.frequency_hz.get().map_or(Cell::Empty, |hz| megahertz(hz).into()),
        Cell::time(clock.seconds.get().map(|seconds| seconds * 1e9)),
        format!("{} of {}", clock.brackets_used, clock.brackets_used.saturating_add(clock.brackets_dropped)).into(),
        Cell::time(clock.bracket_ns.get()),
        Cell::yes_no(clock.constant.get()),
    ]
}

/// Every clock against every other, in ppm.
fn matrix(rates: &Rate, compared: &[&RateRecord]) -> Table {
    if !(2..=SIDE_BY_SIDE).contains(&compared.len()) {
        return Table::default();
    }
    let between = |a: &str, b: &str| {
        let pair = |a, b| rates.pairs.iter().find(|pair| (pair.a.as_str(), pair.b.as_str()) == (a, b));
        let found = pair(a, b).map(|pair| (1.0, pair)).or_else(|| pair(b, a).map(|pair| (-1.0, pair)));
        found.and_then(|(sign, pair)| Some((sign * pair.ppm.get()?, pair.bound_ppm.get()?)))
    };
    let cell = |a: &RateRecord, b: &RateRecord| match between(&a.name, &b.name) {
        _ if a.name == b.name => Cell::Empty,
        Some((rate, bound)) => format!("{}±{}", signed(rate), bound_ppm(bound)).into(),
        None => Cell::Unknown,
    };
    let row = |a: &&RateRecord| -> Vec<Cell> {
        std::iter::once(a.name.as_str().into()).chain(compared.iter().map(|b| cell(a, b))).collect()
    };
    let head = std::iter::once("ppm").chain(compared.iter().map(|clock| clock.name.as_str()));
    Table::new(head, 1, compared.iter().map(row)).titled("The row's clock against the column's:")
}

/// A table over τ of what each clock shows at it. All were taken at nearly the same moments.
fn over_tau(
    clocks: &[&RateRecord],
    series: impl Fn(&RateRecord) -> Vec<(f64, f64)>,
    show: impl Fn(f64) -> Cell,
) -> Table {
    let all: Vec<Vec<(f64, f64)>> = clocks.iter().map(|clock| series(clock)).collect();
    let Some(longest) = all.iter().max_by_key(|values| values.len()) else { return Table::default() };
    let rows = longest.iter().enumerate().map(|(index, (tau, _))| -> Vec<Cell> {
        let cells = all.iter().map(|values| values.get(index).map_or(Cell::Empty, |(_, value)| show(*value)));
        std::iter::once(Cell::Time(tau * 1e9)).chain(cells).collect()
    });
    let head = std::iter::once("τ").chain(clocks.iter().map(|clock| clock.name.as_str()));
    Table::new(head, 0, rows)
}

fn kernel_verdict(kernel: &Adjtimex) -> String {
    format!(
        "adjtimex: freq {} ppm, tick {} µs, offset {} ns, maxerror {} µs, esterror {} µs, status {}",
        signed(kernel.freq_ppm),
        kernel.tick_us,
        kernel.offset_ns,
        kernel.maxerror_us,
        kernel.esterror_us,
        if kernel.status.is_empty() { "none".to_owned() } else { kernel.status.join(" ") }
    )
}

fn signed(value: f64) -> String {
    let text = ppm(value);
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

/// Writes a bound of ppm, which is never 0 if it is above.
fn bound_ppm(bound: f64) -> String {
    if bound > 0.0 && bound < 5e-7 { format!("{bound:.1e}") } else { ppm(bound) }
}

fn conclusion(rates: &Rate) -> Vec<String> {
    let compared: Vec<&RateRecord> = rates.clocks.iter().filter(|clock| clock.bound_ppm.is_known()).collect();
    let mut first = off(rates, &compared);
    if let Some((clock, hz, bound)) =
        compared.iter().find_map(|clock| Some((clock, clock.frequency_hz.get()?, clock.bound_ppm.get()?)))
    {
        first += &format!(" {} counts at {} ± {} ppm.", clock.name, megahertz(hz), bound_ppm(bound));
    }
    let mut lines = vec![first];
    if rates.reference_suspected {
        lines.push(format!(
            "Every clock changed against {}, and none against another: it is {0} that changed.",
            rates.reference
        ));
    }
    for clock in compared.iter().filter(|_| !rates.reference_suspected) {
        if let Some(step) = clock.step.known() {
            lines.push(format!(
                "{} stepped by {} against {} at {:.3} s.",
                clock.name,
                time(step.ns),
                rates.reference,
                step.at_s
            ));
        } else if let Some(changed) = clock.changed.known() {
            lines.push(format!(
                "The rate of {} changed between {:.3} s and {:.3} s: its figures are means.",
                clock.name, changed.from_s, changed.until_s
            ));
        }
    }
    lines.extend(rates.until_ppm.get().filter(|_| !compared.is_empty()).map(|until| needed(until, &compared)));
    lines
}

/// The clock that is the furthest from the reference, if any is known to be.
fn off(rates: &Rate, compared: &[&RateRecord]) -> String {
    let with_rate: Vec<_> =
        compared.iter().filter_map(|clock| Some((clock, clock.ppm.get()?, clock.bound_ppm.get()?))).collect();
    let certainly = with_rate.iter().filter(|(_, rate, bound)| rate.abs() > *bound);
    if let Some((clock, rate, bound)) = certainly.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
        let day = format!("{:.3} s a day", rate.abs() * DAY);
        let way = if *rate > 0.0 { "fast" } else { "slow" };
        return format!(
            "Against {}, {} is the furthest off: {} ± {} ppm, {day} {way}.",
            rates.reference,
            clock.name,
            signed(*rate),
            bound_ppm(*bound)
        );
    }
    match with_rate.iter().map(|(_, rate, bound)| rate.abs() + bound).max_by(f64::total_cmp) {
        Some(most) => {
            format!("No detectable rate difference from {}: all are within {} ppm of it.", rates.reference, ppm(most))
        }
        None => format!("No clock's rate against {} is known.", rates.reference),
    }
}

/// The time until the bound is as small as was asked for.
fn needed(until: f64, compared: &[&RateRecord]) -> String {
    let short: Vec<String> = compared
        .iter()
        .filter(|clock| clock.bound_ppm.get().is_some_and(|bound| bound > until))
        .map(|clock| format!("{} {}", clock.name, known(clock.needed_s.get(), |seconds| time(seconds * 1e9))))
        .collect();
    if short.is_empty() {
        format!("Every bound is ± {} ppm or less.", ppm(until))
    } else {
        format!("For ± {} ppm the run has to be longer: {}.", ppm(until), short.join(", "))
    }
}
