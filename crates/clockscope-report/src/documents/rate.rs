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
use crate::words::{UNKNOWN, by_reason, grouped, known, total};

const HEAD: [&str; 9] = ["Clock", "ppm", "±", "Least sq.", "Frequency", "Over", "Brackets", "Width", "Constant"];
/// The columns that say how long and how often clocks were compared. A screen has a sentence.
const EFFORT_COLUMNS: std::ops::Range<usize> = 5..7;

/// Most clocks of a run whose missing ones have their reasons on a screen: they were named.
const MAX_EXPLAINED: usize = 6;
/// The end of a screen.
const MORE: &str = "Each clock against each other, Allan deviation, MTIE: --all";

/// Most clocks whose columns fit on a page side by side.
const MAX_COLUMNS: usize = 7;
/// Seconds that a clock gains in a day at a rate of 1 ppm.
const DAILY_S_PER_PPM: f64 = 0.0864;

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    name reference available reason code=reason.code ppm bound_ppm estimate_ppm frequency_hz \
    frequency_bound_hz nominal_hz seconds brackets_used brackets_dropped bracket_ns ticks_ns \
    constant changed.from_s changed.until_s step.at_s step.ns unknown";

impl QuestionPage for Rate {
    const LINES: &'static [(&'static str, &'static str)] = &[("clocks", "clock"), ("pairs", "pair")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let compared = compared(self);
        let rows = compared.iter().map(|clock| Row::marked(row(clock), clock.step.is_known()));
        let without_ppm = compared.iter().filter(|clock| !clock.ppm.is_known());
        let without_ppm = without_ppm.filter_map(|clock| Some((format!("? ppm of {}", clock.name), clock.ppm.why()?)));
        let table = Table::new(HEAD, 1, rows).below(by_reason(without_ppm));
        let disturbed =
            compared.iter().filter_map(|clock| Some((clock.name.clone(), clock.reason.as_ref()?.to_string())));
        let disturbed = Block::notes("Disturbed:", by_reason(disturbed));
        let is_short = !view.is_all && !compared.is_empty();
        let table = if is_short { table.without(EFFORT_COLUMNS).below([effort(&compared)]) } else { table };
        let mut blocks = vec![table.into(), charts::rates(&self.reference, &compared).into()];
        blocks.extend(charts::stability(&compared).into_iter().map(Block::from));
        if is_short {
            let is_few = self.clocks.len() <= MAX_EXPLAINED;
            let steered = self.adjtimex.known().filter(|kernel| kernel.freq_ppm != 0.0 || kernel.offset_ns != 0);
            blocks.extend([
                Block::prose(steered.map(kernel_verdict)),
                disturbed,
                missing_block(self, is_few),
                Block::context(MORE),
            ]);
            return blocks;
        }
        blocks.push(Block::folded("The rate of each clock against each other", [matrix(self, &compared).into()]));
        let stability = compared.chunks(MAX_COLUMNS).flat_map(stability_tables);
        blocks.push(Block::folded("Allan deviation and maximum time interval error, as tables", stability));
        blocks.push(Block::prose(self.adjtimex.known().into_iter().map(kernel_verdict)));
        blocks.push(disturbed);
        blocks.push(Block::folded("Clocks that were not compared", [missing_block(self, true)]));
        blocks
    }

    fn conclusion(&self) -> Vec<String> {
        let compared = compared(self);
        let mut first = off(self, &compared);
        if let Some((clock, hz, bound)) =
            compared.iter().find_map(|clock| Some((clock, clock.frequency_hz.get()?, clock.bound_ppm.get()?)))
        {
            first += &format!(" {} counts at {} ± {} ppm.", clock.name, megahertz(hz), bound_ppm(bound));
        }
        let mut lines = vec![first];
        if self.reference_suspected {
            lines.push(format!(
                "Every clock changed against {}, and none against another: it is {0} that changed.",
                self.reference
            ));
        }
        let changed = if self.reference_suspected { &[] } else { compared.as_slice() };
        for clock in changed {
            if let Some(step) = clock.step.known() {
                lines.push(format!(
                    "{} stepped by {} against {} at {:.3} s.",
                    clock.name,
                    time(step.ns),
                    self.reference,
                    step.at_s
                ));
            } else if let Some(changed) = clock.changed.known() {
                lines.push(format!(
                    "The rate of {} changed between {:.3} s and {:.3} s: its figures are means.",
                    clock.name, changed.from_s, changed.until_s
                ));
            }
        }
        if let Some(until_ppm) = self.until_ppm.get()
            && !compared.is_empty()
        {
            lines.push(needed(until_ppm, &compared));
        }
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "clocks", COLUMNS)
    }
}

/// Returns the clocks whose rate has a bound.
fn compared(rates: &Rate) -> Vec<&RateRecord> {
    rates.clocks.iter().filter(|clock| clock.bound_ppm.is_known()).collect()
}

/// Returns the clocks whose rate has no bound.
fn missing(rates: &Rate) -> impl Iterator<Item = &RateRecord> {
    rates.clocks.iter().filter(|clock| !clock.bound_ppm.is_known())
}

/// Says how long and how often the clocks were compared.
fn effort(compared: &[&RateRecord]) -> String {
    let seconds = range(compared.iter().filter_map(|clock| clock.seconds.get()), |seconds| time(seconds * 1e9));
    let used = range(compared.iter().map(|clock| clock.brackets_used as f64), |used| grouped(used as u64));
    let dropped = total(compared.iter().map(|clock| clock.brackets_dropped));
    let dropped = if dropped > 0 { format!(", {} dropped of all clocks", grouped(dropped)) } else { String::new() };
    format!("Compared over {seconds} with {used} brackets{dropped}.")
}

/// Shows the smallest and the largest of some figures; one of them where they look alike.
fn range(figures: impl Iterator<Item = f64>, text: fn(f64) -> String) -> String {
    let figures: Vec<f64> = figures.collect();
    let least = figures.iter().copied().reduce(f64::min).map(text);
    let most = figures.iter().copied().reduce(f64::max).map(text);
    match (least, most) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (least, _) => least.unwrap_or_else(|| UNKNOWN.to_owned()),
    }
}

/// Names the clocks that were not compared, with the reasons or in a line.
fn missing_block(rates: &Rate, has_reasons: bool) -> Block {
    let missing = missing(rates).map(|clock| {
        let unavailable = clock.reason.as_ref().map(|reason| unavailable_because(&clock.name, reason));
        (clock.name.clone(), unavailable.or_else(|| clock.bound_ppm.why()).unwrap_or_default())
    });
    if has_reasons {
        return Block::notes("Not compared:", by_reason(missing));
    }
    let names: Vec<String> = missing.map(|(name, _)| name).collect();
    if names.is_empty() {
        return Block::prose([""; 0]);
    }
    Block::context(format!("Not compared: {} (reasons: --all)", names.join(", ")))
}

/// Draws the rates and the stability of all clocks.
pub(super) fn charts(rates: &Rate) -> Vec<Chart> {
    let compared = compared(rates);
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

/// Makes the table of the rates of all clocks against each other, in ppm.
fn matrix(rates: &Rate, compared: &[&RateRecord]) -> Table {
    if !(2..=MAX_COLUMNS).contains(&compared.len()) {
        return Table::default();
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for clock in compared {
        let cells = compared.iter().map(|other| match rate_between(rates, &clock.name, &other.name) {
            _ if clock.name == other.name => Cell::Empty,
            Some((rate, bound)) => format!("{}±{}", signed(rate), bound_ppm(bound)).into(),
            None => Cell::Unknown,
        });
        rows.push(std::iter::once(clock.name.as_str().into()).chain(cells).collect());
    }
    let head = std::iter::once("ppm").chain(compared.iter().map(|clock| clock.name.as_str()));
    Table::new(head, 1, rows).titled("The row's clock against the column's:")
}

/// Makes the tables of the stability of a few clocks.
fn stability_tables(clocks: &[&RateRecord]) -> [Block; 2] {
    let deviations = over_tau(clocks, |clock| {
        clock.allan.iter().map(|allan| (allan.tau_s, format!("{:.1e}", allan.adev).into())).collect()
    });
    let errors = over_tau(clocks, |clock| clock.mtie.iter().map(|mtie| (mtie.tau_s, Cell::Time(mtie.ns))).collect());
    [deviations.titled("Allan deviation:").into(), errors.titled("Maximum time interval error:").into()]
}

/// Returns the rate of clock `a` against `b` in ppm, with its bound.
fn rate_between(rates: &Rate, a: &str, b: &str) -> Option<(f64, f64)> {
    let pair = rates.pairs.iter().find(|pair| [a, b] == [&*pair.a, &*pair.b] || [b, a] == [&*pair.a, &*pair.b])?;
    let ppm = pair.ppm.get()?;
    Some((if pair.a == a { ppm } else { -ppm }, pair.bound_ppm.get()?))
}

/// Makes a table over τ of a figure of each clock. All clocks were read together.
fn over_tau(clocks: &[&RateRecord], series: impl Fn(&RateRecord) -> Vec<(f64, Cell)>) -> Table {
    let all: Vec<Vec<(f64, Cell)>> = clocks.iter().map(|clock| series(clock)).collect();
    let Some(longest) = all.iter().max_by_key(|values| values.len()) else { return Table::default() };
    let rows = longest.iter().enumerate().map(|(index, (tau_s, _))| -> Vec<Cell> {
        let cells = all.iter().map(|values| values.get(index).map_or(Cell::Empty, |(_, cell)| cell.clone()));
        std::iter::once(Cell::Time(tau_s * 1e9)).chain(cells).collect()
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

/// Shows a bound in ppm, which is never rounded to 0.
fn bound_ppm(bound: f64) -> String {
    if bound > 0.0 && bound < 5e-7 { format!("{bound:.1e}") } else { ppm(bound) }
}

/// States the clock with the largest rate difference from the reference, if any is certain.
fn off(rates: &Rate, compared: &[&RateRecord]) -> String {
    let with_rate: Vec<_> =
        compared.iter().filter_map(|clock| Some((clock, clock.ppm.get()?, clock.bound_ppm.get()?))).collect();
    let certainly = with_rate.iter().filter(|(_, rate, bound)| rate.abs() > *bound);
    if let Some((clock, rate, bound)) = certainly.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
        let day = format!("{:.3} s a day", rate.abs() * DAILY_S_PER_PPM);
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

/// States how long a run has to be for the bounds that the user wants.
fn needed(until_ppm: f64, compared: &[&RateRecord]) -> String {
    let short: Vec<String> = compared
        .iter()
        .filter(|clock| clock.bound_ppm.get().is_some_and(|bound| bound > until_ppm))
        .map(|clock| format!("{} {}", clock.name, known(clock.needed_s.get(), |seconds| time(seconds * 1e9))))
        .collect();
    if short.is_empty() {
        format!("Every bound is ± {} ppm or less.", ppm(until_ppm))
    } else {
        format!("For ± {} ppm the run has to be longer: {}.", ppm(until_ppm), short.join(", "))
    }
}
