//! The parts of a brief page: the conclusion and as much of the main table as fits.

/// Most lines of a brief page.
pub(super) const LINES: usize = 15;
/// Most lines of its conclusion: the table has a head, a row and a line of what is left out.
pub(super) const CONCLUSION: usize = 9;

/// Says how many rows are left out.
pub(super) fn left_out(rows: usize) -> String {
    format!("and {rows} more without --brief")
}

/// Cuts a text to so many lines, and marks it as cut.
pub(super) fn cut(lines: &mut Vec<String>, most: usize) {
    if lines.len() <= most {
        return;
    }
    lines.truncate(most);
    if let Some(last) = lines.last_mut() {
        // A mark for a word, so that the line becomes no longer.
        let retained = last.rsplit_once(' ').map_or(0, |(retained, _)| retained.len());
        last.truncate(retained);
        last.push_str(" …");
    }
}

/// Returns the drawing with the most rows that fits: with all parts of a table if these hold some
/// rows, otherwise with its first part.
pub(super) fn most_that_fit<D>(rows: usize, drawn: impl Fn(usize, usize) -> D, fits: impl Fn(&D) -> bool) -> Option<D> {
    let fewest = |parts: usize| if parts == 1 { 1 } else { rows.min(3) };
    let sizes = [usize::MAX, 1].into_iter().flat_map(|parts| {
        let fewest = fewest(parts);
        (fewest..=rows).rev().map(move |most| (parts, most))
    });
    sizes.map(|(parts, most)| drawn(parts, most)).find(|drawing| fits(drawing))
}
