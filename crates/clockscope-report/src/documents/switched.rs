//! Measurements with one clocksource after the other.

use clockscope_records::{Envelope, Environment, Measurement, Switched};
use serde_json::Value;

use super::environment::DocumentHead;
use super::measure;
use super::question_page::QuestionPage;
use crate::chart::Chart;
use crate::model::Block;
use crate::report::{Lines, Page};
use crate::sheet::Sheet;
use crate::style::View;

impl Page for Envelope<Switched> {
    /// Shows each measurement below the name of its clocksource; the machine where there is none.
    /// In brief, the clocks of all clocksources are one table.
    fn blocks(&self, view: View) -> Vec<Block> {
        let Some(first) = self.found.measurements.first() else {
            return DocumentHead::new(self).page(
                view,
                vec!["Nothing was measured.".to_owned()],
                Vec::new(),
                Vec::new(),
            );
        };
        if view.is_brief {
            return brief(&self.found.measurements, first, view);
        }
        let mut blocks = Vec::new();
        for found in &self.found.measurements {
            let source = clocksource(&found.environment);
            blocks.push(Block::heading(format!("clocksource {source}")));
            blocks.extend(found.blocks(view).into_iter().map(|block| named(block, source)));
        }
        blocks
    }

    fn sheet(&self, record: &Value) -> Sheet {
        let parts = record["measurements"].as_array().into_iter().flatten();
        let mut sheet = Sheet::of_list(&Value::Null, "clocks", measure::COLUMNS);
        parts.for_each(|part| sheet.append(Sheet::of_list(part, "clocks", measure::COLUMNS)));
        sheet
    }

    fn lines(&self) -> Lines {
        Lines::Documents { list: "measurements", schema: "clockscope.measure", entries: Measurement::LINES }
    }
}

/// Adds the clocksource to the name of a chart.
fn named(block: Block, source: &str) -> Block {
    match block {
        Block::Chart(chart) => Block::Chart(Chart { name: format!("{}:{source}", chart.name).into(), ..chart }),
        other => other,
    }
}

fn clocksource(environment: &Environment) -> &str {
    environment.clocksource.as_deref().unwrap_or("unknown")
}

/// One table of all measurements, with the clocksource before each clock.
fn brief(all: &[Envelope<Measurement>], first: &Envelope<Measurement>, view: View) -> Vec<Block> {
    let conclusions = all.iter().map(|found| {
        let lines = found.found.conclusion();
        format!("{}: {}", clocksource(&found.environment), lines.first().map_or("", String::as_str))
    });
    let parts: Vec<_> = all.iter().map(|found| (clocksource(&found.environment), &found.found)).collect();
    let table = measure::table_of_all(&parts, view);
    DocumentHead::new(first).page(view, conclusions.collect(), Vec::new(), vec![table.into()])
}
