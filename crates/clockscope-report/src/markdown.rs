//! Documents for a page or an issue on a forge (GitHub's tables).

use clockscope_records::Document;

use crate::{cells, environment, notes};

pub(crate) fn render(document: &Document) -> String {
    let facts = environment::of_document(document);
    let facts = titled("Environment", &facts.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>());
    match document {
        Document::Measurement(measurement) => {
            let measured = measurement.clocks.iter().filter(|clock| clock.available);
            let mut text = table(&cells::MEASURED, measured.map(|clock| cells::measured(clock).to_vec()), 1);
            text += &list(&notes::of_measured(&measurement.clocks));
            text += &titled("Not available", &notes::of_unavailable(&measurement.clocks));
            text += &facts;
            if measurement.run.interrupted {
                text += "\nInterrupted: these are the figures until then.\n";
            }
            if let Some(reservation) = environment::reservation(&measurement.environment) {
                text += &format!("\n{reservation}\n");
            }
            text + &format!("\n**{}**\n", measurement.advice.sentence)
        }
        Document::Listing(listing) => {
            let rows = listing.clocks.iter().map(|clock| cells::listed(clock).to_vec());
            let missing = titled("Not available", &notes::of_unavailable_listed(&listing.clocks));
            table(&cells::LISTED, rows, cells::LISTED.len()) + &missing + &facts
        }
        Document::Info(_) => facts.trim_start_matches('\n').to_owned(),
    }
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
    cell.replace(char::is_control, " ").replace('|', "\\|")
}

fn list(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n- {}\n", lines.join("\n- ")) }
}

/// A list under a title, if there is any.
fn titled(title: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n{title}:\n{}", list(lines)) }
}
