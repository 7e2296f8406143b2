//! Outputs of a machine, as the checks ask for them, and what they found.

use serde_json::Value;

use crate::frames::Frames;

/// A machine's outputs, the words for its line, and what is wrong with it. Checks go on after the
/// first wrong thing, since a boot is expensive.
pub(super) struct Seen {
    frames: Frames,
    found: Vec<String>,
    wrong: Vec<String>,
}

impl Seen {
    pub(super) fn new(frames: Frames) -> Self {
        Self { frames, found: Vec::new(), wrong: Vec::new() }
    }

    /// Something to say in the machine's line.
    pub(super) fn found(&mut self, what: String) {
        self.found.push(what);
    }

    /// Remembers what is wrong, unless it holds.
    pub(super) fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(what());
        }
    }

    /// Output of a command, and its exit code.
    pub(super) fn output(&mut self, command: &str) -> Option<(i32, String)> {
        let frame = self.frames.get(command).map(|frame| (frame.code, frame.text.clone()));
        self.expect(frame.is_some(), || format!("{command} was not run"));
        frame
    }

    /// The document that a command printed, which ended with 0; null if not.
    pub(super) fn json(&mut self, command: &str) -> Value {
        self.json_with(command, 0)
    }

    /// The same of a command that ends with another code.
    pub(super) fn json_with(&mut self, command: &str, code: i32) -> Value {
        let Some((ended, text)) = self.output(command) else { return Value::Null };
        let error = self.error(command);
        self.expect(ended == code, || format!("{command} ended with {ended} instead of {code}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|problem| {
            self.wrong.push(format!("{command} printed no document ({problem}): {error}"));
            Value::Null
        })
    }

    /// One clock of a document of `measure`, `steps` or `rate`, read without trouble; null if not.
    pub(super) fn clock(&mut self, command: &str, name: &str) -> Value {
        let document = self.json(command);
        let clock = named(&document["clocks"], name);
        let reason = &clock["reason"];
        self.expect(clock["available"] == true, || format!("{command}: {name} cannot be read: {reason}"));
        clock
    }

    /// Output of a command on standard error, in one line.
    pub(super) fn error(&self, command: &str) -> String {
        let text = self.frames.get(&format!("{command}.stderr")).map(|frame| frame.text.trim().replace('\n', " | "));
        text.unwrap_or_default()
    }

    /// The line, and what is wrong.
    pub(super) fn end(self) -> (String, Vec<String>) {
        (self.found.join(", "), self.wrong)
    }
}

/// The object of this name in a list; null if there is none.
pub(super) fn named(list: &Value, name: &str) -> Value {
    let found = list.as_array().and_then(|list| list.iter().find(|one| one["name"] == name).cloned());
    found.unwrap_or(Value::Null)
}

/// A number; NaN, of which nothing holds, if there is none.
pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A frequency to the seven figures that ticks are known to.
pub(super) fn frequency(hz: f64) -> String {
    if hz < 1e6 { format!("{hz:.1} Hz") } else { format!("{:.6} MHz", hz / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([250.0, 3_579_545.0].map(frequency), ["250.0 Hz", "3.579545 MHz"]);
    }
}
