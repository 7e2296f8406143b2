//! The same measurement with one clocksource after the other.

use clockscope_records::{Envelope, Measurement, Switched};
use serde_json::Value;

use super::contents::DescribeContents;
use super::measurement;
use crate::model::Block;
use crate::report::{Describe, Lines};
use crate::sheet::Sheet;

impl Describe for Envelope<Switched> {
    /// Shows each measurement below the name of its clocksource.
    fn blocks(&self) -> Vec<Block> {
        let named = |found: &Envelope<Measurement>| {
            let name = found.environment.clocksource.as_deref().unwrap_or("unknown");
            let mut blocks = vec![Block::heading(format!("clocksource {name}"))];
            blocks.extend(found.blocks());
            blocks
        };
        self.found.measurements.iter().flat_map(named).collect()
    }

    fn sheet(&self, record: &Value) -> Sheet {
        let parts = record["measurements"].as_array().into_iter().flatten();
        let mut sheet = Sheet::of_list(&Value::Null, "clocks", &measurement::COLUMNS);
        parts.for_each(|part| sheet.append(Sheet::of_list(part, "clocks", &measurement::COLUMNS)));
        sheet
    }

    fn lines(&self) -> Lines {
        Lines::Documents { list: "measurements", schema: "clockscope.measure", entries: Measurement::LINES }
    }
}
