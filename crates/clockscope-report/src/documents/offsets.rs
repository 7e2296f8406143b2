//! Offsets of the CPUs' counters.

use clockscope_records::{CpuOffset, Figure, OffsetPair, Offsets};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{figure, time};
use crate::words::{by_reason, counted, sentence};

const HEAD: [&str; 7] = ["CPUs", "Offset", "±", "Tightest round trip", "Exchanges", "Asymmetry", "Symmetric"];
/// Pairs that are listed: the furthest apart of more.
const LISTED: usize = 28;
/// CPUs whose matrix fits on a page.
const MATRIX: std::ops::RangeInclusive<usize> = 3..=10;

/// Columns of a spreadsheet.
const COLUMNS: [&str; 12] = [
    "a",
    "b",
    "offset_ns",
    "bound_ns",
    "offset_counts",
    "exchanges",
    "round_trip_ns",
    "asymmetry_ns",
    "symmetric",
    "apart",
    "reason",
    "unknown",
];

impl QuestionPage for Offsets {
    const LINES: &'static [(&'static str, &'static str)] = &[("pairs", "pair"), ("vdso", "vdso")];

    fn blocks(&self, _: View) -> Vec<Block> {
        blocks(self)
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "pairs", &COLUMNS)
    }
}

fn blocks(offsets: &Offsets) -> Vec<Block> {
    let against = "The counter against the kernel's clock by the vDSO, relative to the first CPU:";
    let of_cpu = |cpu: &CpuOffset| {
        vec![cpu.cpu.to_string().into(), Cell::known(cpu.offset_ns, signed), Cell::time(cpu.bound_ns)]
    };
    let measured = offsets.vdso.iter().filter(|cpu| cpu.reason.is_none());
    let lost = offsets
        .pairs
        .iter()
        .filter_map(|pair| Some((format!("CPUs {} and {}", pair.a, pair.b), pair.reason.as_ref()?.to_string())));
    let lost_cpus =
        offsets.vdso.iter().filter_map(|cpu| Some((format!("CPU {}", cpu.cpu), cpu.reason.as_ref()?.to_string())));
    vec![
        pairs(offsets).into(),
        Block::folded("The offset of each CPU against each other", [matrix(offsets).into()]),
        Table::new(["CPU", "Offset", "±"], 0, measured.map(of_cpu)).titled(against).into(),
        Block::notes("Not tested:", by_reason(lost.chain(lost_cpus))),
    ]
}

/// Returns the table of pairs, the furthest apart of many.
pub(super) fn pairs(offsets: &Offsets) -> Table {
    let mut compared: Vec<&OffsetPair> = offsets.pairs.iter().filter(|pair| pair.exchanges > 0).collect();
    let left_out = compared.len().saturating_sub(LISTED);
    if left_out > 0 {
        let furthest = |pair: &&OffsetPair| pair.offset_ns.get().map_or(f64::INFINITY, f64::abs);
        compared.sort_by(|a, b| furthest(b).total_cmp(&furthest(a)));
        compared.truncate(LISTED);
    }
    let is_faulty = |pair: &OffsetPair| pair.apart.get() == Some(true) || pair.symmetric.get() == Some(false);
    let rows = compared.iter().map(|pair| Row::marked(row(pair), is_faulty(pair)));
    let left_out = (left_out > 0)
        .then(|| format!("and {} that are less apart: --format csv or json", counted(left_out as u64, "pair")));
    Table::new(HEAD, 1, rows).below(left_out)
}

fn row(pair: &OffsetPair) -> Vec<Cell> {
    vec![
        format!("{} to {}", pair.a, pair.b).into(),
        Cell::known(pair.offset_ns.get(), signed),
        Cell::time(pair.bound_ns.get()),
        Cell::time(pair.round_trip_ns.get()),
        Cell::Count(pair.exchanges),
        Cell::time(pair.asymmetry_ns.get()),
        Cell::yes_no(pair.symmetric.get()),
    ]
}

/// Offsets of the columns' CPUs against the rows', in ns.
fn matrix(offsets: &Offsets) -> Table {
    if !MATRIX.contains(&offsets.cpus.len()) {
        return Table::default();
    }
    let offset = |a: u32, b: u32| {
        let pair =
            |a, b| offsets.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)).and_then(|pair| pair.offset_ns.get());
        if a == b { None } else { pair(a, b).or_else(|| pair(b, a).map(|ns| -ns)) }
    };
    let cell = |a: u32, b: u32| match offset(a, b) {
        Some(ns) => figure(ns, 3).into(),
        None if a == b => Cell::Empty,
        None => Cell::Unknown,
    };
    let row = |a: &u32| -> Vec<Cell> {
        std::iter::once(a.to_string().into()).chain(offsets.cpus.iter().map(|b| cell(*a, *b))).collect()
    };
    let head = std::iter::once("CPU".to_owned()).chain(offsets.cpus.iter().map(u32::to_string));
    Table::new(head, 1, offsets.cpus.iter().map(row))
        .titled("Counter of the column's CPU less that of the row's, in ns:")
}

fn signed(ns: f64) -> String {
    if ns > 0.0 { format!("+{}", time(ns)) } else { time(ns) }
}

fn conclusion(offsets: &Offsets) -> Vec<String> {
    if let Some(unknown) = &offsets.untestable {
        return vec![sentence(format!("The CPUs' counters could not be compared: {}", unknown))];
    }
    let worst =
        offsets.worst_pair.get().and_then(|[a, b]| offsets.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)));
    let mut lines = vec![match (offsets.apart, &offsets.within_ns) {
        (0, Figure::Known(within)) => format!(
            "The counters of {} CPUs are synchronized within {}{}.",
            offsets.cpus.len(),
            time(*within),
            worst.map_or_else(String::new, |pair| format!(" (CPUs {} and {} are the worst known)", pair.a, pair.b))
        ),
        (0, Figure::Unknown(unknown)) => sentence(format!(
            "No counters are known to be apart, but not all are known to be synchronized: {}",
            unknown
        )),
        (apart, _) => {
            let by = worst.map(|pair| {
                let by = match (pair.offset_ns.get(), pair.bound_ns.get()) {
                    (Some(offset), Some(bound)) => format!("{} ± {}", signed(offset), time(bound)),
                    _ => "by an offset that changed during the run".to_owned(),
                };
                format!(", the furthest CPUs {} and {}: {by}", pair.a, pair.b)
            });
            format!(
                "Of {} of CPUs, {apart} {} certainly apart{}.",
                counted(offsets.pairs.len() as u64, "pair"),
                if apart == 1 { "is" } else { "are" },
                by.unwrap_or_default()
            )
        }
    }];
    if offsets.pairs.iter().any(|pair| pair.symmetric.get() == Some(false)) {
        lines.push(
            "Offsets depend on which CPU asks: one of them answers late, or something was wrong with a counter during the run."
                .to_owned(),
        );
    }
    if let Some(closure) = offsets.closure_ns.get() {
        lines.push(format!("Offsets of three CPUs add up to within {}.", time(closure)));
    }
    lines
}
