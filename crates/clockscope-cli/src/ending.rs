//! Ends of commands' help: examples, remarks, exit codes.

/// End of a command's `--help`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// Command lines without the program's name, and what they do.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// Further remarks.
    pub(crate) more: &'static str,
    /// Its exit codes 1 and 3; all commands have 0, 2, 4 and 130.
    pub(crate) exits: Exits,
}

/// The cases in which a command exits with 1 and with 3; empty if it never does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exits {
    pub(crate) finding: &'static str,
    pub(crate) undecided: &'static str,
}

/// Of a command that always determines its answer.
pub(crate) const ALWAYS: Exits = Exits { finding: "", undecided: "" };

/// Nothing but exit codes.
pub(crate) const NO_MORE: Ending = Ending { examples: &[], more: "", exits: ALWAYS };

/// Of an option `--fail-on`.
pub(crate) const FINDINGS: Exits = Exits {
    finding: "a finding that --fail-on names",
    undecided: "it could not be determined, or nothing could be read",
};

impl Ending {
    /// The text.
    pub(crate) fn text(&self) -> String {
        let mut parts = Vec::new();
        if !self.examples.is_empty() {
            let lines = self.examples.iter().map(|(line, what)| {
                let call = format!("clockscope {line}");
                format!("\n  {}\n      {what}", call.trim_end())
            });
            parts.push(format!("Examples:{}", lines.collect::<String>()));
        }
        if !self.more.is_empty() {
            parts.push(self.more.to_owned());
        }
        parts.push(self.exits.text());
        parts.join("\n\n")
    }
}

impl Exits {
    /// Lists the exit codes in ascending order.
    fn text(self) -> String {
        let codes = [
            (0, "success"),
            (1, self.finding),
            (2, "wrong arguments"),
            (3, self.undecided),
            (4, "failure"),
            (130, "interrupted; what was measured is reported"),
        ];
        let lines = codes.into_iter().filter(|(_, when)| !when.is_empty());
        let lines = lines.map(|(code, when)| format!("\n  {code:<3}  {when}"));
        format!("Exit codes:{}", lines.collect::<String>())
    }
}
