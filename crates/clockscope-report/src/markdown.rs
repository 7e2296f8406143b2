//! Documents for a page or an issue on a forge (GitHub's tables).

use clockscope_records::Document;

use crate::{cells, environment, notes};

pub(crate) fn render(document: &Document) -> String {
    let mut text = String::new();
    match document {
        Document::Measurement(measurement) => {
            let measured = measurement.clocks.iter().filter(|clock| clock.available);
            text += &table(&cells::MEASURED, measured.map(|clock| cells::measured(clock).to_vec()), 1);
            text += &list(&notes::of_measured(&measurement.clocks));
            text += &missing(&notes::of_unavailable(&measurement.clocks));
            text += &facts(environment::of_machine(&measurement.environment));
            text += facts(environment::of_run(measurement)).trim_start_matches('\n');
            if measurement.run.interrupted {
                text += "\nInterrupted: these are the figures until then.\n";
            }
            if let Some(reservation) = environment::reservation(&measurement.environment) {
                text += &format!("\n{reservation}\n");
            }
            text += &format!("\n**{}**\n", measurement.advice.sentence);
        }
        Document::Listing(listing) => {
            text += &table(
                &cells::LISTED,
                listing.clocks.iter().map(|clock| cells::listed(clock).to_vec()),
                cells::LISTED.len(),
            );
        }
        Document::Info(info) => text += facts(environment::of_machine(&info.environment)).trim_start_matches('\n'),
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
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
}

fn list(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n- {}\n", lines.join("\n- ")) }
}

fn missing(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\nNot available:\n{}", list(lines)) }
}

fn facts(facts: Vec<environment::Fact>) -> String {
    list(&facts.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>())
}
