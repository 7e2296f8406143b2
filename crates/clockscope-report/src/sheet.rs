//! Rows for spreadsheets, taken from a document's JSON by the names of its fields.

use serde_json::Value;

use crate::model::Cell;
use crate::words::{Text, texts};

/// Columns at the end of every row, which distinguish rows of several machines.
const CONTEXT: [&str; 9] = [
    "recorded_at",
    "cpu_model=environment.cpu.model",
    "cpu_family=environment.cpu.identity.family",
    "cpu_model_number=environment.cpu.identity.model",
    "cpu_stepping=environment.cpu.identity.stepping",
    "cpu_microcode=environment.cpu.microcode",
    "kernel_release=environment.kernel.release",
    "clocksource=environment.clocksource",
    "hypervisor=environment.hypervisor",
];

/// The key of reasons in JSON, and the name of the column that collects them.
const UNKNOWN: &str = "unknown";

/// A head, and rows of as many cells.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) head: Vec<Text>,
    pub(crate) rows: Vec<Vec<Cell>>,
    context: Vec<Cell>,
}

impl Sheet {
    /// Makes a sheet without rows, with columns of these names and those of the record's context.
    pub(crate) fn new(record: &Value, columns: &str) -> Self {
        let context = CONTEXT.map(SheetColumn::parse);
        let head = columns.split(' ').map(SheetColumn::parse).chain(context).map(|column| column.name);
        Self { head: texts(head), rows: Vec::new(), context: context.map(|column| column.cell(record)).to_vec() }
    }

    /// Makes a sheet without context.
    pub(crate) fn bare(columns: &str) -> Self {
        Self { head: texts(columns.split(' ')), rows: Vec::new(), context: Vec::new() }
    }

    /// Makes a sheet with a row for each entry of a list of the record. A column is the path of a
    /// field, or a name and the path: `cost_ns_low=cost_ns.ci95.0`.
    pub(crate) fn of_list(record: &Value, list: &str, columns: &str) -> Self {
        let mut sheet = Self::new(record, columns);
        let columns: Vec<SheetColumn<'_>> = columns.split(' ').map(SheetColumn::parse).collect();
        for entry in record[list].as_array().into_iter().flatten() {
            sheet.push(columns.iter().map(|column| column.cell(entry)).collect());
        }
        sheet
    }

    /// Adds a row and appends the context to it.
    pub(crate) fn push(&mut self, mut row: Vec<Cell>) {
        row.extend(self.context.iter().cloned());
        self.rows.push(row);
    }

    /// Replaces a column's cell in a row.
    pub(crate) fn set(&mut self, row: usize, column: &str, cell: Cell) {
        if let Some(index) = self.head.iter().position(|name| **name == *column) {
            self.rows[row][index] = cell;
        }
    }

    /// Adds the rows of a sheet with the same columns.
    pub(crate) fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }
}

/// A column's name, and the path of its field.
#[derive(Clone, Copy, Debug)]
struct SheetColumn<'a> {
    name: &'a str,
    path: &'a str,
}

impl<'a> SheetColumn<'a> {
    fn parse(column: &'a str) -> Self {
        let (name, path) = column.split_once('=').unwrap_or((column, column));
        Self { name, path }
    }

    /// Returns the field of a record or of an entry.
    fn cell(self, record: &Value) -> Cell {
        if self.path == UNKNOWN {
            let mut reasons = Vec::new();
            collect_reasons(record, "", &mut reasons);
            reasons.sort_unstable();
            return reasons.join("; ").into();
        }
        match self.path.split('.').fold(record, part) {
            Value::Null => Cell::Empty,
            field => json_cell(field).into(),
        }
    }
}

/// Collects the reasons why fields are unknown, by their paths: `events.jump: reason`.
fn collect_reasons(value: &Value, path: &str, reasons: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        if key == UNKNOWN {
            let fields = value.as_object().into_iter().flatten();
            reasons.extend(fields.map(|(field, reason)| format!("{path}{field}: {}", json_cell(reason))));
        } else {
            collect_reasons(value, &format!("{path}{key}."), reasons);
        }
    }
}

/// Returns a field of an object, or an entry of a list by its number.
fn part<'a>(value: &'a Value, name: &str) -> &'a Value {
    match name.parse::<usize>() {
        Ok(index) => &value[index],
        Err(_) => &value[name],
    }
}

/// Shows lists with spaces between entries, reasons as `field: reason` in words.
fn json_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(json_cell).collect::<Vec<_>>().join(" "),
        Value::Object(reason) if reason.get("code").is_some_and(Value::is_string) => {
            reason.get("text").or(reason.get("code")).map(json_cell).unwrap_or_default()
        }
        Value::Object(reasons) => reasons
            .iter()
            .map(|(field, reason)| format!("{field}: {}", json_cell(reason)))
            .collect::<Vec<_>>()
            .join("; "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(sheet: &Sheet) -> Vec<Vec<String>> {
        sheet.rows.iter().map(|row| row.iter().map(Cell::data).collect()).collect()
    }

    #[test]
    fn fields_are_found_by_their_paths() {
        let record = json!({
            "recorded_at": "now",
            "environment": { "clocksource": "tsc", "cpu": { "identity": { "family": 26, "model": 2, "stepping": 1 } } },
            "clocks": [{ "name": "a", "cost": { "ci95": [1.0, 2.5] }, "aliases": ["x", "y"], "unknown": { "b": "c", "d": { "code": "e", "text": "f" }, "g": { "code": "h" } } }],
        });
        let sheet = Sheet::of_list(&record, "clocks", "name low=cost.ci95.0 aliases unknown missing");
        assert_eq!(
            data(&sheet),
            [["a", "1.0", "x y", "b: c; d: f; g: h", "", "now", "", "26", "2", "1", "", "", "tsc", ""]]
        );
        assert_eq!(*sheet.head[1], *"low");
        assert_eq!(*sheet.head[13], *"hypervisor");
    }

    #[test]
    fn a_cell_is_replaced_by_its_column() {
        let mut sheet = Sheet::new(&json!({}), "clock n");
        sheet.push(vec!["a".into(), "1".into()]);
        sheet.set(0, "clock", "b".into());
        assert_eq!(data(&sheet)[0][..2], ["b", "1"]);
    }
}
