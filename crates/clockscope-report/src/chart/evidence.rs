//! Findings of checks on clocks, as a table of marks.

use clockscope_records::Finding;

use crate::words::Text;

/// Most columns of a plot.
const MAX_COLUMNS: usize = 24;

/// A row of findings for each clock, a column for each check.
#[derive(Clone, Debug)]
pub(crate) struct EvidencePlot {
    pub(crate) columns: Vec<Text>,
    pub(crate) rows: Vec<(Text, Vec<Option<FindingMark>>)>,
}

/// A finding, and whether it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FindingMark {
    pub(crate) finding: Finding,
    pub(crate) decides: bool,
}

impl EvidencePlot {
    /// Makes the plot of each clock's findings by check. Checks have the order of their first
    /// mention.
    pub(crate) fn new<'a>(clocks: &[(&'a str, Vec<(&'a str, FindingMark)>)]) -> Self {
        let mut columns: Vec<&str> = Vec::new();
        for (check, _) in clocks.iter().flat_map(|(_, findings)| findings) {
            if !columns.contains(check) && columns.len() < MAX_COLUMNS {
                columns.push(check);
            }
        }
        let mut rows = Vec::new();
        for (clock, findings) in clocks {
            let findings = columns.iter().map(|column| findings.iter().find(|(check, _)| check == column));
            rows.push((Text::from(*clock), findings.map(|finding| finding.map(|(_, mark)| *mark)).collect()));
        }
        Self { columns: columns.into_iter().map(Text::from).collect(), rows }
    }

    /// Returns all findings with their clock and check.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (&Text, &Text, FindingMark)> {
        self.rows.iter().flat_map(|(clock, marks)| {
            marks.iter().zip(&self.columns).filter_map(move |(mark, check)| Some((clock, check, (*mark)?)))
        })
    }
}
