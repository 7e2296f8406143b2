//! The style of documents for readers.

/// The style of tables and of Markdown. It has no effect on the other formats.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// True to mark headers, verdicts and events by ANSI escape sequences.
    pub color: bool,
    /// True to draw a bar beside each cost.
    pub bars: bool,
    /// Width in columns, 80 if `None`: prose is wrapped at it, histograms and clocks side by side
    /// fit into it.
    pub width: Option<u16>,
    /// True to write only ASCII.
    pub ascii: bool,
    /// Most rows of a table that may leave rows out; 40 if `None`.
    pub rows: Option<usize>,
    /// Columns of the table of a measurement; the most important ones if `None`, all in Markdown.
    pub columns: Option<Columns>,
    /// True to show only the conclusion and the main table, in at most 15 lines.
    pub brief: bool,
    /// True to draw curves on a terminal, where a document has any.
    pub plots: bool,
    /// True to show all clocks of a measurement, with the reasons why others cannot be read.
    /// Otherwise a long table leaves out clocks that programs seldom compare. Markdown always shows
    /// all.
    pub all: bool,
    /// True to show all facts about the machine, not a line. Markdown always shows all.
    pub machine: bool,
    /// True to show all evidence of a verdict, not only the decisive part. Markdown always does.
    pub verbose: bool,
}

/// Columns of the table of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// The most important ones, with the costs relative to the cheapest counter read, and bars.
    Relative,
    /// All figures.
    All,
    /// The nine columns of the program clockperf.
    Clockperf,
}

/// Most rows of a table that may leave rows out, by default.
const DEFAULT_MAX_ROWS: usize = 40;

/// The part of a document that is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Columns of a measurement; `None` for the most important ones.
    pub(crate) columns: Option<Columns>,
    pub(crate) is_brief: bool,
    /// True if all clocks of a measurement are shown.
    pub(crate) is_all: bool,
    /// True if all facts about the machine are shown.
    pub(crate) has_machine: bool,
    /// True if all evidence is shown.
    pub(crate) is_verbose: bool,
    /// True if there are charts.
    pub(crate) has_charts: bool,
    /// True if a reader can open and close parts.
    pub(crate) has_folds: bool,
}

impl View {
    /// The view that leaves nothing out, unless it is brief; without charts.
    pub(crate) fn whole(is_brief: bool) -> Self {
        Self {
            columns: None,
            is_brief,
            is_all: true,
            has_machine: true,
            is_verbose: true,
            has_charts: false,
            has_folds: false,
        }
    }
}

impl Style {
    pub(crate) fn max_rows(&self) -> usize {
        self.rows.unwrap_or(DEFAULT_MAX_ROWS)
    }

    /// The view on a terminal.
    pub(crate) fn view(&self) -> View {
        View {
            columns: self.columns,
            is_brief: self.brief,
            is_all: self.all,
            has_machine: self.machine,
            is_verbose: self.verbose,
            has_charts: self.plots,
            has_folds: false,
        }
    }

    /// The view of a page that leaves nothing out, unless it is brief.
    pub(crate) fn whole_view(&self) -> View {
        let columns = if self.brief { self.columns } else { Some(Columns::All) };
        View { columns, ..View::whole(self.brief) }
    }

    /// The view of a page with images.
    pub(crate) fn page_view(&self) -> View {
        View { columns: self.columns, has_charts: !self.brief, has_folds: !self.brief, ..View::whole(self.brief) }
    }
}
