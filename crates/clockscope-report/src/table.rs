//! Documents for reading on a terminal.

use clockscope_records::{Document, Info, Listing, Measurement};
use comfy_table::{CellAlignment, Table, TableStyle};

use crate::environment::{self, Fact};
use crate::{Style, cells, notes};

/// Prose is wrapped here if nothing else is said.
const WIDTH: u16 = 100;

pub(crate) fn render(document: &Document, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    let facts = environment::of_document(document);
    match document {
        Document::Measurement(measurement) => page.measurement(measurement, &facts),
        Document::Listing(listing) => page.listing(listing, &facts),
        Document::Info(info) => page.info(info, &facts),
    }
    page.text
}

/// The text so far.
struct Page {
    text: String,
    style: Style,
}

/// How a line is marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Plain,
    Head,
    Fault,
}

impl Page {
    fn measurement(&mut self, measurement: &Measurement, facts: &[Fact]) {
        let measured: Vec<_> = measurement.clocks.iter().filter(|clock| clock.available).collect();
        let rows = measured.iter().map(|clock| cells::measured(clock).to_vec()).collect();
        let faults: Vec<bool> = measured.iter().map(|clock| cells::is_faulty(clock)).collect();
        if !measured.is_empty() {
            self.table(&cells::MEASURED, rows, &faults, 1);
        }
        self.paragraphs(&notes::of_measured(&measurement.clocks));
        self.section("Not available:", &notes::of_unavailable(&measurement.clocks));
        self.line("", Mark::Plain);
        self.facts(facts);
        self.line("", Mark::Plain);
        if measurement.run.interrupted {
            self.wrapped(&["Interrupted: these are the figures until then.".to_owned()], "");
        }
        if let Some(reservation) = environment::reservation(&measurement.environment) {
            self.wrapped(&[reservation], "");
        }
        self.wrapped(std::slice::from_ref(&measurement.advice.sentence), "");
    }

    fn listing(&mut self, listing: &Listing, facts: &[Fact]) {
        let rows = listing.clocks.iter().map(|clock| cells::listed(clock).to_vec()).collect();
        self.table(&cells::LISTED, rows, &[], cells::LISTED.len());
        let notes = notes::of_listed(&listing.clocks);
        self.paragraphs(&notes.iter().map(|note| format!("? Nominal of {note}")).collect::<Vec<_>>());
        self.section("Not available:", &notes::of_unavailable_listed(&listing.clocks));
        self.line("", Mark::Plain);
        self.facts(facts);
    }

    fn info(&mut self, info: &Info, facts: &[Fact]) {
        self.facts(facts);
        if let Some(flags) = &info.environment.counter_flags {
            self.line("", Mark::Plain);
            self.line("TSC flags: * present, - absent, ? unknown", Mark::Head);
            for (name, flag, meaning) in environment::flags(flags) {
                self.line(&format!("{name:<20} {}  {meaning}", environment::mark(flag)), Mark::Plain);
            }
        }
        let reasons: Vec<String> =
            info.environment.unknown.iter().map(|(field, reason)| format!("{field}: {reason}")).collect();
        self.section("Unknown:", &reasons);
    }

    /// Columns without lines; the first `left` ones to the left, the others to the right.
    fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>, faults: &[bool], left: usize) {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        table.set_header(head.to_vec());
        table.add_rows(rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            column.set_cell_alignment(if index < left { CellAlignment::Left } else { CellAlignment::Right });
        }
        // One line a row: no cell holds a line break, and nothing asks for a width.
        for (index, line) in table.lines().enumerate() {
            let fault = index.checked_sub(1).and_then(|row| faults.get(row)).copied().unwrap_or(false);
            let mark = if index == 0 {
                Mark::Head
            } else if fault {
                Mark::Fault
            } else {
                Mark::Plain
            };
            self.line(line.trim_end(), mark);
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        for (key, value) in facts {
            self.wrapped_after(&format!("{key:<18} "), value);
        }
    }

    /// Indented lines under a head, if there are any.
    fn section(&mut self, head: &str, lines: &[String]) {
        if !lines.is_empty() {
            self.line("", Mark::Plain);
            self.line(head, Mark::Head);
            self.wrapped(lines, "  ");
        }
    }

    /// Lines of prose after an empty one.
    fn paragraphs(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.line("", Mark::Plain);
            self.wrapped(lines, "");
        }
    }

    fn wrapped(&mut self, lines: &[String], indent: &str) {
        for line in lines {
            self.wrapped_after(indent, line);
        }
    }

    fn wrapped_after(&mut self, head: &str, text: &str) {
        // A list's items hang by two columns; facts hang below their value; plain prose does not hang.
        let indent = " ".repeat(if head.trim().is_empty() && !head.is_empty() { head.len() + 2 } else { head.len() });
        let options = textwrap::Options::new(self.style.width.unwrap_or(WIDTH).max(40).into())
            .initial_indent(head)
            .subsequent_indent(&indent);
        for line in textwrap::wrap(text, options) {
            self.line(&line, Mark::Plain);
        }
    }

    fn line(&mut self, line: &str, mark: Mark) {
        let sequence = match mark {
            _ if !self.style.color => "",
            Mark::Plain => "",
            Mark::Head => "\x1b[1m",
            Mark::Fault => "\x1b[31m",
        };
        self.text.push_str(sequence);
        // A record may come from anywhere: what it says must not steer the terminal.
        self.text.extend(line.chars().map(|c| if c.is_control() { ' ' } else { c }));
        self.text.push_str(if sequence.is_empty() { "\n" } else { "\x1b[0m\n" });
    }
}
