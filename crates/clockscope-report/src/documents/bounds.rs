//! The time of day as an interval.

use clockscope_records::{TimeBounds, TimeOfDay, WallState};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::time;
use crate::words::{capitalized, sentence};

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    call state basis earliest=interval.earliest latest=interval.latest \
    earliest_unix_ns=interval.earliest_unix_ns latest_unix_ns=interval.latest_unix_ns \
    width_ns=interval.width_ns unknown";

impl QuestionPage for TimeBounds {
    const LINES: &'static [(&'static str, &'static str)] = &[("answers", "answer")];

    fn blocks(&self, _: View) -> Vec<Block> {
        let table = Table::new(["Function", "Width", "State", "Source"], 4, self.answers.iter().map(row));
        vec![Block::key_value("", ends(self)), Table { wraps: true, ..table }.without_empty_columns().into()]
    }

    fn conclusion(&self) -> Vec<String> {
        let Some(best) = best(self) else { return vec!["The record has no interval.".to_owned()] };
        let Some(interval) = best.interval.known() else {
            let reason = best.interval.why().unwrap_or_else(|| best.state.to_string());
            return vec![format!("Nothing bounds the time of day. {}", sentence(capitalized(&reason)))];
        };
        let width = time(interval.width_ns as f64);
        let mut lines = vec![format!(
            "When this was asked, the true time was within an interval of {width}, {}.",
            condition(best.state)
        )];
        lines.extend(self.answers.last().and_then(commit_wait));
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "answers", COLUMNS)
    }
}

/// The first answer that has an interval, or the first one.
fn best(bounds: &TimeBounds) -> Option<&TimeOfDay> {
    bounds.answers.iter().find(|answer| answer.interval.is_known()).or(bounds.answers.first())
}

/// The ends of the best interval, or of one that is stated and not reliable.
fn ends(bounds: &TimeBounds) -> Vec<(&'static str, String)> {
    let Some(best) = best(bounds) else { return Vec::new() };
    match (best.interval.known(), &best.stated) {
        (Some(interval), _) => vec![("earliest", interval.earliest.clone()), ("latest", interval.latest.clone())],
        (None, Some(stated)) => vec![
            ("stated, not reliable: earliest", stated.earliest.clone()),
            ("stated, not reliable: latest", stated.latest.clone()),
        ],
        (None, None) => Vec::new(),
    }
}

fn row(answer: &TimeOfDay) -> Vec<Cell> {
    vec![
        answer.call.as_str().into(),
        Cell::time(answer.interval.known().map(|interval| interval.width_ns as f64)),
        answer.state.as_str().replace('_', " ").into(),
        source(answer),
    ]
}

/// Names the source of the interval. `bounded::now` carries on what the kernel states, and returns
/// no basis.
fn source(answer: &TimeOfDay) -> Cell {
    match answer.basis {
        Some(basis) => basis.to_string().into(),
        None if answer.interval.is_known() => "the kernel".into(),
        None => Cell::Empty,
    }
}

/// The time for which a program waits that calls `bounded::commit_wait`, which uses the interval of
/// `bounded::now`; `None` where that has none, and the call returns an error at once.
fn commit_wait(answer: &TimeOfDay) -> Option<String> {
    let width = time(answer.interval.known()?.width_ns as f64);
    Some(format!("A commit that begins now waits for {width}, until its timestamp is past on every machine."))
}

/// Condition under which the interval contains the true time.
fn condition(state: WallState) -> &'static str {
    match state {
        WallState::WhileNotSlewing => {
            "if the daemon and its source of time are right, and while the daemon corrects no offset"
        }
        WallState::LeapSecond => {
            "if the daemon and its source of time are right; a leap second is near, which makes it two seconds wider"
        }
        _ => "if the daemon and its source of time are right",
    }
}
