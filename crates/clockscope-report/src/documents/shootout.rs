//! Two clocks by four metrics.

use clockscope_records::{Shootout, Winner};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units;
use crate::words::by_reason;

/// Columns of a spreadsheet.
const COLUMNS: &str = "metric figure unit a a_bound b b_bound winner note unknown";

impl QuestionPage for Shootout {
    const LINES: &'static [(&'static str, &'static str)] = &[("metrics", "metric")];

    fn blocks(&self, _: View) -> Vec<Block> {
        let [a, b] = [self.a.as_str(), self.b.as_str()];
        if self.unreadable.is_some() {
            return Vec::new();
        }
        let rows = self.metrics.iter().map(|metric| {
            let unit = metric.metric.unit();
            let winner = metric.winner.get().map(|winner| match winner {
                Winner::A => a,
                Winner::B => b,
                Winner::Tie => "neither",
            });
            vec![
                metric.metric.as_str().into(),
                figure(metric.a.get(), metric.a_bound),
                figure(metric.b.get(), metric.b_bound),
                if unit.is_empty() { Cell::Empty } else { unit.into() },
                Cell::text(winner),
            ]
        });
        let table = Table::new(["Metric", a, b, "Unit", "Winner"], 1, rows);
        let missing = self.metrics.iter().flat_map(|metric| {
            let reasons = [
                (format!("? {} of {a}", metric.metric), metric.a.why()),
                (format!("? {} of {b}", metric.metric), metric.b.why()),
                (format!("? winner of {}", metric.metric), metric.winner.why()),
            ];
            reasons.into_iter().filter_map(|(what, reason)| Some((what, reason?)))
        });
        let notes = self
            .metrics
            .iter()
            .map(|metric| format!("{}: {}, {}.", metric.metric, metric.metric.figure(), metric.metric.note()));
        let agreement = self.agreement.iter().map(|one| {
            let [interval, difference, within] =
                [one.interval_ns as f64, one.difference_ns, one.within_ns].map(Cell::Time);
            vec![interval, Cell::Count(one.intervals), difference, within]
        });
        let head = ["Interval".to_owned(), "Measured".to_owned(), format!("{a} - {b}"), "95% within".to_owned()];
        vec![
            table.below(by_reason(missing)).into(),
            Table::new(head, 0, agreement).titled("On the same intervals, by both:").into(),
            Block::notes("What the figures are; less is better:", notes),
        ]
    }

    fn conclusion(&self) -> Vec<String> {
        vec![self.conclusion()]
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "metrics", COLUMNS)
    }
}

/// Shows a figure, with its error if that is larger than 5% of it.
fn figure(figure: Option<f64>, bound: Option<f64>) -> Cell {
    Cell::known(figure, |figure| match bound {
        // No digits beyond the error.
        Some(bound) if bound > figure * 0.05 => {
            let decimals = units::decimals(bound, 2);
            format!("{figure:.decimals$} ± {bound:.decimals$}")
        }
        _ if figure.fract() == 0.0 => format!("{figure:.0}"),
        _ => units::figure(figure, 4),
    })
}
