//! Two clocks by four metrics.

use clockscope_records::{Metric, Shootout, Winner};

use super::{Block, by_reason};
use crate::cells::{UNKNOWN, significant, trimmed};

pub(super) fn blocks(shootout: &Shootout) -> Vec<Block> {
    let head = ["Metric", &shootout.a, &shootout.b, "Unit", "Winner"];
    let row = |metric: &Metric| {
        vec![
            metric.metric.clone(),
            figure(metric.a, metric.a_bound),
            figure(metric.b, metric.b_bound),
            if metric.unit.is_empty() { "-".to_owned() } else { metric.unit.clone() },
            match metric.winner {
                Some(Winner::A) => shootout.a.clone(),
                Some(Winner::B) => shootout.b.clone(),
                Some(Winner::Tie) => "neither".to_owned(),
                None => UNKNOWN.to_owned(),
            },
        ]
    };
    let mut table = Block::table("", &head, 1, shootout.metrics.iter().map(row).collect());
    let lacking = shootout.metrics.iter().flat_map(|metric| {
        let whose = |field: &str| match field {
            "a" => format!("? {} of {}", metric.metric, shootout.a),
            "b" => format!("? {} of {}", metric.metric, shootout.b),
            _ => format!("? winner of {}", metric.metric),
        };
        metric.unknown.iter().map(move |(field, reason)| (whose(field), reason.as_str()))
    });
    table.lines = by_reason(lacking);
    let notes = shootout.metrics.iter().map(|metric| format!("{}: {}, {}.", metric.metric, metric.figure, metric.note));
    vec![table, Block::lines("What the figures are; less is better:", notes.collect())]
}

/// A figure with its error, where that is worth telling.
fn figure(figure: Option<f64>, bound: Option<f64>) -> String {
    let show = |number: f64| trimmed(&significant(number, 4)).to_owned();
    match (figure, bound) {
        // No digits beyond the error.
        (Some(figure), Some(bound)) if bound > figure * 0.05 => {
            let shown = significant(bound, 2);
            let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            format!("{figure:.decimals$} ± {shown}")
        }
        (Some(figure), _) if figure.fract() == 0.0 => format!("{figure:.0}"),
        (Some(figure), _) => show(figure),
        (None, _) => UNKNOWN.to_owned(),
    }
}

pub(super) fn conclusion(shootout: &Shootout) -> Vec<String> {
    vec![shootout.conclusion.clone()]
}
