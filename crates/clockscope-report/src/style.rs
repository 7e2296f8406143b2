//! How documents for people look.

/// How a table looks, and a table in Markdown. The other formats always look the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Whether to mark headers and faults by ANSI escape sequences.
    pub color: bool,
    /// Width in columns, 100 if `None`: prose is wrapped at it, histograms and clocks side by side
    /// fit into it. Other tables are never wrapped.
    pub width: Option<u16>,
    /// Whether to draw in ASCII alone.
    pub ascii: bool,
    /// Most rows of a table of distinct differences; 40 if `None`.
    pub rows: Option<usize>,
}

/// Most rows of a table of distinct differences by default.
const ROWS: usize = 40;

impl Style {
    pub(crate) fn most_rows(&self) -> usize {
        self.rows.unwrap_or(ROWS)
    }
}
