//! Documents for a page or an issue on a forge (GitHub's tables).

use clockscope_records::{Document, Environment, StepsRecord, plain};

use crate::{Style, answers, cells, environment, histogram, notes, plan, steps, table as terminal};

pub(crate) fn render(document: &Document, style: Style) -> String {
    let facts = environment::of_document(document);
    let facts = titled("Environment", &facts.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>());
    if let Some(answer) = answers::page(document) {
        return answered(&answer)
            + &facts
            + &reservations(answer.interrupted, document.environment())
            + &bold(&answer.conclusion);
    }
    match document {
        Document::Measurement(measurement) => {
            let measured = measurement.clocks.iter().filter(|clock| clock.available);
            let mut text = table(&cells::MEASURED, measured.map(|clock| cells::measured(clock).to_vec()), 1);
            text += &list(&notes::of_measured(&measurement.clocks));
            text += &titled("Not available", &notes::of_unavailable(notes::measured(&measurement.clocks)));
            text += &facts;
            text += &reservations(measurement.run.interrupted, &measurement.environment);
            text += &list(&answers::thorough(measurement));
            text + &bold(std::slice::from_ref(&measurement.advice.sentence))
        }
        Document::Steps(found) => {
            let clocks = steps::readable(found);
            let (head, rows) = steps::side_by_side(&clocks);
            let mut text = table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows.into_iter(), 1);
            text += &format!("\n{}\n", steps::ABOUT);
            text += &clocks.iter().map(|clock| steps_of(clock, style)).collect::<String>();
            let all = found.clocks.iter().map(|clock| (&clock.identity, clock.available, clock.reason.as_deref()));
            text += &titled("Not available", &notes::of_unavailable(all));
            text + &facts + &reservations(found.run.interrupted, &found.environment)
        }
        Document::Plan(found) => {
            let mut text = table(&plan::ROWS, found.rows.iter().map(|row| plan::row(row).to_vec()), 0);
            text += "\n";
            text += &table(&plan::CLOCKS, plan::clocks(found).into_iter(), 1);
            text += &titled("Not weighed", &plan::unfit(found));
            text += &facts;
            text += &reservations(false, &found.environment);
            text + &bold(&plan::sentences(found))
        }
        Document::Listing(listing) => {
            let rows = listing.clocks.iter().map(|clock| cells::listed(clock).to_vec());
            let missing = titled("Not available", &notes::of_unavailable(notes::listed(&listing.clocks)));
            table(&cells::LISTED, rows, cells::LISTED.len()) + &missing + &facts
        }
        Document::Info(_) => facts.trim_start_matches('\n').to_owned(),
        // Laid out above, or one by one.
        _ => String::new(),
    }
}

/// The parts of an answer.
fn answered(answer: &answers::Page) -> String {
    let mut text = String::new();
    for block in &answer.blocks {
        if block.rows.is_empty() && !block.title.is_empty() {
            text += &titled(block.title.trim_end_matches(':'), &block.lines);
            continue;
        }
        if !block.title.is_empty() {
            text += &format!("\n{}\n\n", plain(&block.title));
        }
        if !block.rows.is_empty() {
            let head: Vec<&str> = block.head.iter().map(String::as_str).collect();
            text += &table(&head, block.rows.iter().cloned(), block.left);
        }
        text += &block.lines.iter().map(|line| format!("\n{}\n", plain(line))).collect::<String>();
    }
    text.trim_start_matches('\n').to_owned()
}

fn bold(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n**{}**\n", plain(line))).collect()
}

/// One clock's differences.
fn steps_of(clock: &StepsRecord, style: Style) -> String {
    let mut text = format!("\n### {}\n", escaped(&clock.identity.label()));
    text += &list(&steps::sentences(clock));
    let (rows, left_out) = steps::differences(clock, style.rows.unwrap_or(terminal::ROWS));
    if clock.differences.is_empty() {
        return text;
    }
    text += "\n";
    text += &table(&steps::DIFFERENCES, rows.into_iter(), 0);
    if left_out > 0 {
        text += &format!("\nand {left_out} rarer ones\n");
    }
    text += "\nThe largest:\n\n";
    text += &table(&steps::DIFFERENCES[..4], steps::largest(clock).into_iter(), 0);
    let drawn = histogram::draw(&clock.histogram, 100, style.ascii);
    text +=
        &format!("\n```\n{}\n```\n", drawn.iter().map(|line| plain(line.trim_end())).collect::<Vec<_>>().join("\n"));
    text + &titled("The worst, by size and time", &steps::worst(clock))
}

/// What has to be said before any conclusion.
fn reservations(interrupted: bool, environment: &Environment) -> String {
    let mut text = String::new();
    if interrupted {
        text += "\nInterrupted: these are the figures until then.\n";
    }
    if let Some(reservation) = environment::reservation(environment) {
        text += &format!("\n{}\n", plain(&reservation));
    }
    text
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>, left: usize) -> String {
    let rule = (0..head.len()).map(|index| if index < left { ":--" } else { "--:" });
    let mut text = row(head.iter().copied()) + &row(rule);
    for cells in rows {
        text += &row(cells.iter().map(String::as_str));
    }
    text
}

fn row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    format!("| {} |\n", cells.map(escaped).collect::<Vec<_>>().join(" | "))
}

/// A bar would end the cell, a line break the row.
fn escaped(cell: &str) -> String {
    plain(cell).replace('|', "\\|")
}

/// A list, each of whose entries is one line.
fn list(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| plain(line)).collect();
    if lines.is_empty() { String::new() } else { format!("\n- {}\n", lines.join("\n- ")) }
}

/// A list under a title, if there is any.
fn titled(title: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n{}:\n{}", plain(title), list(lines)) }
}
