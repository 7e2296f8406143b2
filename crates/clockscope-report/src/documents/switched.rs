//! The same measurement with one clocksource after the other.

use clockscope_records::{Envelope, Measurement, Switched};
use serde_json::Value;

use super::contents::DescribeContents;
use super::environment::DocumentHead;
use super::measurement;
use crate::model::Block;
use crate::report::{Blocks, Describe, Lines};
use crate::sheet::Sheet;

impl Describe for Envelope<Switched> {
    /// Shows each measurement below the name of its clocksource; the machine where there is none.
    fn blocks(&self) -> Blocks {
        let heading = |found: &Envelope<Measurement>| {
            let name = found.environment.clocksource.as_deref().unwrap_or("unknown");
            Block::heading(format!("clocksource {name}"))
        };
        let Some((first, others)) = self.found.measurements.split_first() else {
            let head = DocumentHead::of(self);
            let conclusion = head.conclusion(vec!["Nothing was measured.".to_owned()]);
            return Blocks::around(head.block(), Vec::new(), vec![conclusion]);
        };
        let mut below: Vec<Block> = first.blocks().into_iter().collect();
        for found in others {
            below.push(heading(found));
            below.extend(found.blocks());
        }
        Blocks::around(heading(first), Vec::new(), below)
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
