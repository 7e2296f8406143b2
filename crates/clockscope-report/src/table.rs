//! Documents for reading on a terminal.

use clockscope_records::{Document, Environment, Info, Listing, Measurement, Plan, Steps, StepsRecord, plain};
use comfy_table::{CellAlignment, Table, TableStyle};

use crate::environment::{self, Fact};
use crate::{Style, answers, cells, histogram, notes, plan, steps};

/// Prose is wrapped here if nothing else is said.
const WIDTH: u16 = 100;
/// Of figures below their name.
const INDENT: &str = "  ";
/// Rows of a table of distinct differences if nothing else is said.
pub(crate) const ROWS: usize = 40;

pub(crate) fn render(document: &Document, style: Style) -> String {
    let mut page = Page { text: String::new(), style };
    let facts = environment::of_document(document);
    if let Some(answer) = answers::page(document) {
        page.answer(&answer, &facts, document.environment());
        return page.text;
    }
    match document {
        Document::Measurement(measurement) => page.measurement(measurement, &facts),
        Document::Steps(steps) => page.steps(steps, &facts),
        Document::Plan(plan) => page.plan(plan, &facts),
        Document::Listing(listing) => page.listing(listing, &facts),
        Document::Info(info) => page.info(info, &facts),
        // Laid out above, or one by one.
        _ => {}
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
        self.section("Not available:", &notes::of_unavailable(notes::measured(&measurement.clocks)));
        self.line("", Mark::Plain);
        self.facts(facts);
        self.ending(measurement.run.interrupted, &measurement.environment);
        self.wrapped(&answers::thorough(measurement), "");
        self.wrapped(std::slice::from_ref(&measurement.advice.sentence), "");
    }

    fn answer(&mut self, answer: &answers::Page, facts: &[Fact], environment: &Environment) {
        for block in &answer.blocks {
            self.block(block);
            self.line("", Mark::Plain);
        }
        self.facts(facts);
        self.ending(answer.interrupted, environment);
        self.wrapped(&answer.conclusion, "");
    }

    fn block(&mut self, block: &answers::Block) {
        if !block.title.is_empty() {
            self.line(&block.title, Mark::Head);
        }
        let keys = block.keys.max(1);
        let mut parts = self.that_fit(block, keys, 0);
        // Long names would leave room for few columns: rather than in many parts, each name stands above its figures.
        let above: Vec<String> = if keys > 1 && parts.len() > 1 {
            parts = self.that_fit(block, 0, keys);
            block.rows.iter().map(|row| row[..keys].join(" ")).collect()
        } else {
            Vec::new()
        };
        for (part, columns) in parts.into_iter().enumerate() {
            if part > 0 {
                self.line("", Mark::Plain);
            }
            let of_row = |row: &Vec<String>| columns.iter().map(|column| row[*column].clone()).collect::<Vec<String>>();
            let rows = block.rows.iter().map(of_row).collect();
            let left = columns.iter().filter(|column| **column < block.left).count();
            self.table_below(&above, &of_row(&block.head), rows, &block.faults, left);
        }
        self.wrapped(&block.lines, if block.rows.is_empty() && !block.title.is_empty() { "  " } else { "" });
    }

    /// The columns of a table, but for the first `without`, in as many parts as the width makes necessary. The first `keys` columns
    /// begin each; where there are none, an indent does.
    fn that_fit(&self, block: &answers::Block, keys: usize, without: usize) -> Vec<Vec<usize>> {
        if block.rows.is_empty() {
            return Vec::new();
        }
        let width = |column: usize| {
            let cells = block.rows.iter().map(|row| row[column].chars().count());
            cells.chain([block.head[column].chars().count()]).max().unwrap_or(0) + 2
        };
        let mut parts: Vec<Vec<usize>> = Vec::new();
        // Columns that are left of the line; two more for the last, which has nothing after it.
        let mut left = 0;
        let begin: usize = if keys == 0 { INDENT.len() } else { (0..keys).map(width).sum() };
        for column in keys.max(without)..block.head.len() {
            match parts.last_mut().filter(|_| width(column) <= left + 2) {
                Some(part) => {
                    part.push(column);
                    left = left.saturating_sub(width(column));
                }
                None => {
                    parts.push((0..keys).chain([column]).collect());
                    left = usize::from(self.width()).saturating_sub(begin + width(column));
                }
            }
        }
        parts
    }

    fn steps(&mut self, found: &Steps, facts: &[Fact]) {
        let clocks = steps::readable(found);
        let mut rest = clocks.as_slice();
        while !rest.is_empty() {
            let (together, further) = rest.split_at(self.side_by_side(rest));
            let (head, rows) = steps::side_by_side(together);
            self.table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows, &[], 1);
            self.line("", Mark::Plain);
            rest = further;
        }
        self.wrapped(&[steps::ABOUT.to_owned()], "");
        for clock in clocks {
            self.steps_of(clock);
        }
        let unavailable = found.clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_deref()));
        self.section("Not available:", &notes::of_unavailable(unavailable));
        self.line("", Mark::Plain);
        self.facts(facts);
        self.ending(found.run.interrupted, &found.environment);
    }

    /// How many of these clocks fit side by side; at least one.
    fn side_by_side(&self, clocks: &[&StepsRecord]) -> usize {
        let fits = |count: &usize| {
            let (head, rows) = steps::side_by_side(&clocks[..*count]);
            let widths = (0..head.len()).map(|column| {
                let cells = rows.iter().map(|row| row[column].chars().count());
                cells.chain([head[column].chars().count()]).max().unwrap_or(0) + 2
            });
            widths.sum::<usize>() <= usize::from(self.width())
        };
        (1..=clocks.len()).take_while(fits).last().unwrap_or(1)
    }

    fn steps_of(&mut self, clock: &StepsRecord) {
        self.line("", Mark::Plain);
        self.line(&clock.identity.label(), Mark::Head);
        self.wrapped(&steps::sentences(clock), "");
        let (rows, left_out) = steps::differences(clock, self.style.rows.unwrap_or(ROWS));
        if clock.differences.is_empty() {
            return;
        }
        self.line("", Mark::Plain);
        self.table(&steps::DIFFERENCES, rows, &[], 0);
        if left_out > 0 {
            self.line(&format!("and {left_out} rarer ones: --rows, or --format json"), Mark::Plain);
        }
        self.line("", Mark::Plain);
        self.line("The largest:", Mark::Plain);
        self.table(&steps::DIFFERENCES[..4], steps::largest(clock), &[], 0);
        self.line("", Mark::Plain);
        for line in histogram::draw(&clock.histogram, self.width().into(), self.style.ascii) {
            self.line(line.trim_end(), Mark::Plain);
        }
        self.section("The worst, by size and time:", &steps::worst(clock));
    }

    fn plan(&mut self, found: &Plan, facts: &[Fact]) {
        if !found.rows.is_empty() {
            let rows = found.rows.iter().map(|row| plan::row(row).to_vec()).collect();
            self.table(&plan::ROWS, rows, &[], 0);
            self.line("", Mark::Plain);
            self.clocks_of_plan(plan::clocks(found));
        }
        self.section("Not weighed:", &plan::unfit(found));
        self.line("", Mark::Plain);
        self.facts(facts);
        self.ending(false, &found.environment);
        self.wrapped(&plan::sentences(found), "");
    }

    /// What was weighed; in two tables where the terminal is too narrow for one.
    fn clocks_of_plan(&mut self, rows: Vec<Vec<String>>) {
        if self.width() >= plan::CLOCKS_WIDTH {
            return self.table(&plan::CLOCKS, rows, &[], 1);
        }
        let (costs, reads) = plan::CLOCKS.split_at(5);
        self.table(costs, rows.iter().map(|row| row[..5].to_vec()).collect(), &[], 1);
        self.line("", Mark::Plain);
        let name = |row: &Vec<String>| std::iter::once(row[0].clone()).chain(row[5..].iter().cloned()).collect();
        self.table(&[&plan::CLOCKS[..1], reads].concat(), rows.iter().map(name).collect(), &[], 1);
    }

    /// What has to be said before any conclusion.
    fn ending(&mut self, interrupted: bool, environment: &Environment) {
        self.line("", Mark::Plain);
        if interrupted {
            self.wrapped(&["Interrupted: these are the figures until then.".to_owned()], "");
        }
        if let Some(reservation) = environment::reservation(environment) {
            self.wrapped(&[reservation], "");
        }
    }

    fn width(&self) -> u16 {
        self.style.width.unwrap_or(WIDTH).max(40)
    }

    fn listing(&mut self, listing: &Listing, facts: &[Fact]) {
        let rows = listing.clocks.iter().map(|clock| cells::listed(clock).to_vec()).collect();
        self.table(&cells::LISTED, rows, &[], cells::LISTED.len());
        let notes = notes::of_listed(&listing.clocks);
        self.paragraphs(&notes.iter().map(|note| format!("? Nominal of {note}")).collect::<Vec<_>>());
        self.section("Not available:", &notes::of_unavailable(notes::listed(&listing.clocks)));
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
        let head: Vec<String> = head.iter().map(ToString::to_string).collect();
        self.table_below(&[], &head, rows, faults, left);
    }

    /// The same, with a line above each row where there are any, below which the table is indented.
    fn table_below(&mut self, above: &[String], head: &[String], rows: Vec<Vec<String>>, faults: &[bool], left: usize) {
        let indent = if above.is_empty() { "" } else { INDENT };
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        table.set_header(head);
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
            let name = index.checked_sub(1).and_then(|row| above.get(row));
            let width = usize::from(self.width());
            for line in name.iter().flat_map(|name| textwrap::wrap(name, width)) {
                self.line(&line, mark);
            }
            self.line(format!("{indent}{line}").trim_end(), mark);
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
        let options = textwrap::Options::new(self.width().into()).initial_indent(head).subsequent_indent(&indent);
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
        self.text.push_str(&plain(line));
        self.text.push_str(if sequence.is_empty() { "\n" } else { "\x1b[0m\n" });
    }
}
