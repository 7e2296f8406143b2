//! Order across CPUs.

use clockscope_records::{Order, Sequence, StoreRoundCounts, Stores, unavailable_because};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Row, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{figure, time};
use crate::words::{by_reason, counted, grouped, known, sentence, total, yes_no};

const HEAD: [&str; 6] = ["Clock", "Ordered", "Handoffs", "Regr", "Worst, CPUs", "Handoffs/s"];

const PAIRS_HEAD: [&str; 3] = ["CPUs", "Handoff", "Regr, ordered"];

const STORES_HEAD: [&str; 7] =
    ["Clock", "Rounds", "Violations", "Worst", "Rounds, fence", "Violations, fence", "Worst, fence"];

const STORES_MEANING: &str = "In a violation, the other CPU read a later time and then loaded the value from before the \
                              store. Ordered readings wait for earlier loads, but not for the thread's own stores. The \
                              library's `now_after_stores()` waits for both, by a fence before the reading.";

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    name ordered available reason code=reason.code handoffs handoffs_per_second regressions \
    regressions_per_million worst_ns worst_pair mailbox.handoffs mailbox.regressions lock.handoffs \
    lock.regressions stores.writer stores.reader stores.reason stores.bare.rounds \
    stores.bare.violations stores.bare.worst_ns stores.fenced.rounds stores.fenced.violations \
    stores.fenced.worst_ns unknown";

impl QuestionPage for Order {
    const LINES: &'static [(&'static str, &'static str)] =
        &[("sequences", "sequence"), ("pairs", "pair"), ("lost", "lost")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let checked: Vec<&Sequence> = self.sequences.iter().filter(|sequence| sequence.handoffs > 0).collect();
        let rows = checked.iter().map(|sequence| Row::marked(row(sequence), is_faulty(sequence)));
        let mut table = Table::new(HEAD, 1, rows);
        if let Some(bare) = self.bare_handoffs_per_second.get()
            && !checked.is_empty()
        {
            table = table.below([format!(
                "Baseline without a clock read: two threads pass a word back and forth {} times a second.",
                million(bare)
            )]);
        }
        let lost = if checked.is_empty() { &[] } else { self.lost.as_slice() };
        let lost = lost.iter().map(|lost| (format!("CPUs {} and {}", lost.a, lost.b), lost.reason.to_string()));
        let disturbed =
            checked.iter().filter_map(|sequence| Some((sequence.name.clone(), sequence.reason.as_ref()?.to_string())));
        let disturbed = by_reason(disturbed);
        let uncounted = checked
            .iter()
            .filter(|sequence| sequence.reason.is_none())
            .filter_map(|sequence| Some((sequence.name.clone(), sequence.regressions.reason()?.to_string())));
        let untested = by_reason(lost.chain(uncounted));
        let missing = self.sequences.iter().filter(|sequence| sequence.handoffs == 0);
        let missing = missing.filter_map(|sequence| {
            Some((sequence.name.clone(), unavailable_because(&sequence.name, sequence.reason.as_ref()?)))
        });
        let mut blocks = vec![table.into()];
        blocks.extend(self.stores.iter().flat_map(store_blocks));
        if view.has_folds {
            blocks.push(Block::folded("Handoffs between CPUs", [pairs(self).into()]));
        }
        blocks.extend([
            Block::notes("Not tested, or not to the end:", untested),
            Block::notes("Disturbed:", disturbed),
            Block::folded("Clocks that are not available", [Block::notes("Not available:", by_reason(missing))]),
        ]);
        blocks
    }

    fn conclusion(&self) -> Vec<String> {
        if let Some(unknown) = &self.untestable {
            return vec![sentence(format!("Order across CPUs could not be tested: {}", unknown))];
        }
        let ordered = self.sequences.iter().filter(|sequence| sequence.ordered && sequence.regressions.is_known());
        let handoffs = total(ordered.clone().map(|sequence| sequence.handoffs));
        let across = format!("across {} CPUs ({})", self.cpus.len(), counted(self.pairs_checked, "pair"));
        let faulty = went_back(self, true);
        let mut lines = vec![if handoffs == 0 {
            format!("No ordered clock was tested {across}.")
        } else if faulty.is_empty() {
            format!("Of {} ordered readings handed over {across}, none went back.", grouped(handoffs))
        } else {
            format!("Ordered readings WENT BACK {across}: {}.", faulty.join("; "))
        }];
        if !faulty.is_empty() {
            lines.push(
                "Times of different CPUs cannot be compared by these clocks: `clockscope order --offsets` shows how far the CPUs' counters \
                 are apart."
                    .to_owned(),
            );
        }
        let unordered = went_back(self, false);
        if !unordered.is_empty() {
            lines.push(format!(
                "Unordered reads went back, as they may: {}. An unordered read can execute before earlier instructions. To \
                 compare times of several threads, use an ordered clock.",
                unordered.join("; ")
            ));
        }
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(&with_stores(record), "sequences", COLUMNS)
    }
}

/// Returns the record, with the rounds of a clock and the CPUs of all rounds as `stores` of its
/// sequence.
fn with_stores(record: &Value) -> Value {
    let mut record = record.clone();
    let stores = record["stores"].take();
    for sequence in record["sequences"].as_array_mut().into_iter().flatten() {
        let clocks = stores["clocks"].as_array().into_iter().flatten();
        if let Some(rounds) = clocks.into_iter().find(|clock| clock["name"] == sequence["name"]) {
            sequence["stores"] = rounds.clone();
            for cpu in ["writer", "reader"] {
                sequence["stores"][cpu] = stores[cpu].clone();
            }
        }
    }
    record
}

/// Shows the order of a thread's own stores and its readings.
fn store_blocks(stores: &Stores) -> [Block; 2] {
    let tested = stores.clocks.iter().filter(|clock| clock.bare.rounds > 0 || clock.fenced.rounds > 0);
    let rows = tested.map(|clock| -> Vec<Cell> {
        let counts = [&clock.bare, &clock.fenced].into_iter().flat_map(store_cells);
        std::iter::once(clock.name.as_str().into()).chain(counts).collect()
    });
    let title = format!("Stores before a reading: CPU {} stores, CPU {} loads", stores.writer, stores.reader);
    let table = Table::new(STORES_HEAD, 1, rows).without_empty_columns().titled(title).below([STORES_MEANING]);
    let failed =
        stores.clocks.iter().filter_map(|clock| Some((clock.name.clone(), clock.reason.as_ref()?.to_string())));
    [table.into(), Block::notes("Stores not tested, or not to the end:", by_reason(failed))]
}

fn store_cells(counts: &StoreRoundCounts) -> [Cell; 3] {
    let worst = if counts.violations > 0 { Cell::time(counts.worst_ns) } else { Cell::Empty };
    [Cell::Count(counts.rounds), Cell::Count(counts.violations), worst]
}

/// Returns a table of pairs of CPUs: the time of a message, and ordered readings that went back.
pub(super) fn pairs(order: &Order) -> Table {
    let rows = order.pairs.iter().map(|pair| {
        let cpus = format!("{} and {}", pair.a, pair.b);
        let cells = vec![cpus.into(), Cell::time(pair.handoff_ns.get()), Cell::Count(pair.ordered_regressions)];
        Row::marked(cells, pair.ordered_regressions > 0)
    });
    Table::new(PAIRS_HEAD, 1, rows)
}

fn row(sequence: &Sequence) -> Vec<Cell> {
    vec![
        sequence.name.as_str().into(),
        yes_no(sequence.ordered).into(),
        Cell::Count(sequence.handoffs),
        Cell::count(sequence.regressions.get()),
        worst(sequence),
        Cell::known(sequence.handoffs_per_second.get(), million),
    ]
}

/// Shows the worst regression, and between which CPUs it was.
fn worst(sequence: &Sequence) -> Cell {
    if sequence.regressions.get() == Some(0) {
        return Cell::Empty;
    }
    let between = sequence.worst_pair.get().map_or_else(String::new, |[from, to]| format!(", {from} to {to}"));
    Cell::known(sequence.worst_ns.get(), |ns| time(ns) + &between)
}

fn is_faulty(sequence: &Sequence) -> bool {
    sequence.ordered && sequence.regressions.get().is_some_and(|count| count > 0)
}

fn million(count: f64) -> String {
    format!("{} M", figure(count / 1e6, 3))
}

/// Describes the ordered sequences with regressions, or the others.
fn went_back(order: &Order, ordered: bool) -> Vec<String> {
    let sequences = order.sequences.iter().filter(|sequence| sequence.ordered == ordered);
    sequences.filter(|sequence| sequence.regressions.get().is_some_and(|count| count > 0)).map(described).collect()
}

/// Describes the regressions of a sequence: `tsc 12 of 3,000, by up to 5 ns`.
fn described(sequence: &Sequence) -> String {
    let worst = sequence.worst_ns.get().map_or_else(String::new, |ns| format!(", by up to {}", time(ns)));
    format!("{} {} of {}{worst}", sequence.name, known(sequence.regressions.get(), grouped), grouped(sequence.handoffs))
}
