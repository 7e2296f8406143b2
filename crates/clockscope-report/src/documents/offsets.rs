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
/// Most pairs in the table: those with the largest offsets.
const MAX_PAIRS: usize = 28;
/// Numbers of CPUs for which there is a table of each against each.
const MATRIX_CPUS: std::ops::RangeInclusive<usize> = 3..=10;

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    a b offset_ns bound_ns offset_counts exchanges round_trip_ns asymmetry_ns symmetric apart reason \
    unknown";

impl QuestionPage for Offsets {
    const LINES: &'static [(&'static str, &'static str)] = &[("pairs", "pair"), ("vdso", "vdso")];

    fn blocks(&self, _: View) -> Vec<Block> {
        let against = "The counter against the kernel's clock by the vDSO, relative to the first CPU:";
        let measured = self.vdso.iter().filter(|cpu| cpu.reason.is_none());
        let measured = measured.map(|CpuOffset { cpu, offset_ns, bound_ns, .. }| {
            vec![cpu.to_string().into(), Cell::known(*offset_ns, signed), Cell::time(*bound_ns)]
        });
        let mut lost = Vec::new();
        for pair in &self.pairs {
            lost.extend(
                pair.reason.iter().map(|reason| (format!("CPUs {} and {}", pair.a, pair.b), reason.to_string())),
            );
        }
        for cpu in &self.vdso {
            lost.extend(cpu.reason.iter().map(|reason| (format!("CPU {}", cpu.cpu), reason.to_string())));
        }
        vec![
            pairs(self).into(),
            Block::folded("The offset of each CPU against each other", [matrix(self).into()]),
            Table::new(["CPU", "Offset", "±"], 0, measured).titled(against).into(),
            Block::notes("Not tested:", by_reason(lost.into_iter())),
        ]
    }

    fn conclusion(&self) -> Vec<String> {
        if let Some(unknown) = &self.untestable {
            return vec![sentence(format!("The CPUs' counters could not be compared: {}", unknown))];
        }
        let worst = self.worst_pair.get().and_then(|[a, b]| self.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)));
        let mut lines = vec![match (self.apart, &self.within_ns) {
            (0, Figure::Known(within)) => format!(
                "The counters of {} CPUs are synchronized within {}{}.",
                self.cpus.len(),
                time(*within),
                worst.map_or_else(String::new, |pair| format!(" (CPUs {} and {} are the worst known)", pair.a, pair.b))
            ),
            (0, Figure::Unknown(unknown)) => sentence(format!(
                "No counters are known to differ, but not all are known to be synchronized: {}",
                unknown
            )),
            (apart, _) => {
                let furthest = worst.map(|pair| {
                    let offset = match (pair.offset_ns.get(), pair.bound_ns.get()) {
                        (Some(offset), Some(bound)) => format!("{} ± {}", signed(offset), time(bound)),
                        _ => "by an offset that changed during the run".to_owned(),
                    };
                    format!(", the furthest CPUs {} and {}: {offset}", pair.a, pair.b)
                });
                format!(
                    "Of {} of CPUs, {apart} {} certainly apart{}.",
                    counted(self.pairs.len() as u64, "pair"),
                    if apart == 1 { "is" } else { "are" },
                    furthest.unwrap_or_default()
                )
            }
        }];
        if self.pairs.iter().any(|pair| pair.symmetric.get() == Some(false)) {
            lines.push(
                "Offsets depend on which CPU asks: one of them answers late, or something was wrong with a counter during the run."
                    .to_owned(),
            );
        }
        if let Some(closure) = self.closure_ns.get() {
            lines.push(format!("Offsets of three CPUs add up to within {}.", time(closure)));
        }
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "pairs", COLUMNS)
    }
}

/// Returns the table of pairs, those with the largest offsets if there are many.
pub(super) fn pairs(offsets: &Offsets) -> Table {
    let mut compared: Vec<&OffsetPair> = offsets.pairs.iter().filter(|pair| pair.exchanges > 0).collect();
    let left_out = compared.len().saturating_sub(MAX_PAIRS);
    if left_out > 0 {
        compared.sort_by(|a, b| magnitude_ns(b).total_cmp(&magnitude_ns(a)));
        compared.truncate(MAX_PAIRS);
    }
    let rows = compared
        .iter()
        .map(|pair| Row::marked(row(pair), pair.apart.get() == Some(true) || pair.symmetric.get() == Some(false)));
    let table = Table::new(HEAD, 1, rows);
    if left_out == 0 {
        return table;
    }
    table.below([format!("and {} that differ less: --format csv or json", counted(left_out as u64, "pair"))])
}

/// Returns the size of an offset; infinity for an unknown one.
fn magnitude_ns(pair: &OffsetPair) -> f64 {
    pair.offset_ns.get().map_or(f64::INFINITY, f64::abs)
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

/// Makes the table of the offsets of the columns' CPUs against the rows', in ns.
fn matrix(offsets: &Offsets) -> Table {
    if !MATRIX_CPUS.contains(&offsets.cpus.len()) {
        return Table::default();
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for a in &offsets.cpus {
        let cells = offsets.cpus.iter().map(|b| match offset_between(offsets, *a, *b) {
            _ if a == b => Cell::Empty,
            Some(ns) => figure(ns, 3).into(),
            None => Cell::Unknown,
        });
        rows.push(std::iter::once(a.to_string().into()).chain(cells).collect());
    }
    let head = std::iter::once("CPU".to_owned()).chain(offsets.cpus.iter().map(u32::to_string));
    Table::new(head, 1, rows).titled("Counter of the column's CPU less that of the row's, in ns:")
}

fn offset_between(offsets: &Offsets, a: u32, b: u32) -> Option<f64> {
    offsets.pairs.iter().find_map(|pair| match (pair.a, pair.b) {
        cpus if cpus == (a, b) => pair.offset_ns.get(),
        cpus if cpus == (b, a) => pair.offset_ns.get().map(|ns| -ns),
        _ => None,
    })
}

fn signed(ns: f64) -> String {
    if ns > 0.0 { format!("+{}", time(ns)) } else { time(ns) }
}
