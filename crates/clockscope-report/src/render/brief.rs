//! The parts of a brief page: the conclusion and as much of the main table as fits.

/// Most lines of a brief page.
pub(super) const MAX_LINES: usize = 15;
/// Most lines of a brief page's conclusion, so that a table has room for its head and some rows.
pub(super) const MAX_CONCLUSION_LINES: usize = 9;

/// Returns the line that states the number of rows left out.
pub(super) fn left_out(rows: usize) -> String {
    format!("and {rows} more without --brief")
}

/// Cuts a text to `max_lines` lines, and marks it as cut.
pub(super) fn cut(lines: &mut Vec<String>, max_lines: usize) {
    if lines.len() <= max_lines {
        return;
    }
    lines.truncate(max_lines);
    if let Some(last) = lines.last_mut() {
        // A mark for a word, so that the line becomes no longer.
        let retained = last.rsplit_once(' ').map_or(0, |(retained, _)| retained.len());
        last.truncate(retained);
        last.push_str(" …");
    }
}
