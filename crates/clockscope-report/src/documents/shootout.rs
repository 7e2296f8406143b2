//! Two clocks by four metrics.

use clockscope_records::{Metric, Shootout, Winner};
use serde_json::Value;

use super::contents::DescribeContents;
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::text::by_reason;
use crate::units;

/// Columns of a spreadsheet.
const COLUMNS: [&str; 10] = ["metric", "figure", "unit", "a", "a_bound", "b", "b_bound", "winner", "note", "unknown"];

impl DescribeContents for Shootout {
    const LINES: &'static [(&'static str, &'static str)] = &[("metrics", "metric")];

    fn blocks(&self) -> Vec<Block> {
        blocks(self)
    }

    fn conclusion(&self) -> Vec<String> {
        vec![self.conclusion.clone()]
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "metrics", &COLUMNS)
    }
}

fn blocks(shootout: &Shootout) -> Vec<Block> {
    let head = ["Metric", shootout.a.as_str(), shootout.b.as_str(), "Unit", "Winner"];
    let row = |metric: &Metric| {
        let winner = |winner: Winner| match winner {
            Winner::A => shootout.a.as_str(),
            Winner::B => shootout.b.as_str(),
            Winner::Tie => "neither",
        };
        vec![
            metric.metric.as_str().into(),
            figure(metric.a.get(), metric.a_bound),
            figure(metric.b.get(), metric.b_bound),
            if metric.unit.is_empty() { Cell::Absent } else { metric.unit.as_str().into() },
            Cell::known(metric.winner.get(), winner),
        ]
    };
    let table = Table::new(head, 1, shootout.metrics.iter().map(row));
    let lacking = shootout.metrics.iter().flat_map(|metric| {
        let reasons = [
            (format!("? {} of {}", metric.metric, shootout.a), metric.a.reason()),
            (format!("? {} of {}", metric.metric, shootout.b), metric.b.reason()),
            (format!("? winner of {}", metric.metric), metric.winner.reason()),
        ];
        reasons.into_iter().filter_map(|(what, reason)| Some((what, reason?)))
    });
    let notes = shootout.metrics.iter().map(|metric| format!("{}: {}, {}.", metric.metric, metric.figure, metric.note));
    vec![table.below(by_reason(lacking)).into(), Block::notes("What the figures are; less is better:", notes)]
}

/// A figure with its error, where that is worth telling.
fn figure(figure: Option<f64>, bound: Option<f64>) -> Cell {
    Cell::known(figure, |figure| match bound {
        // No digits beyond the error.
        Some(bound) if bound > figure * 0.05 => {
            let shown = units::significant(bound, 2);
            let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            format!("{figure:.decimals$} ± {shown}")
        }
        _ if figure.fract() == 0.0 => format!("{figure:.0}"),
        _ => units::figure(figure, 4),
    })
}
