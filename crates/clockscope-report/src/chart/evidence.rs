//! Findings of checks on things, as a matrix.

use clockscope_records::Finding;

use crate::words::Text;

/// Most columns that have room.
const MOST_COLUMNS: usize = 24;

/// A row of findings for each thing, a column for each check.
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
    /// Makes the plot of each thing's findings by check. Checks have the order of their first
    /// mention.
    pub(crate) fn new<'a>(things: &[(&'a str, Vec<(&'a str, FindingMark)>)]) -> Self {
        let mut columns: Vec<&str> = Vec::new();
        for (check, _) in things.iter().flat_map(|(_, findings)| findings) {
            if !columns.contains(check) && columns.len() < MOST_COLUMNS {
                columns.push(check);
            }
        }
        let row = |(thing, findings): &(&str, Vec<(&str, FindingMark)>)| {
            let mark = |column: &&str| findings.iter().find(|(check, _)| check == column).map(|(_, mark)| *mark);
            (Text::from(*thing), columns.iter().map(mark).collect())
        };
        let rows = things.iter().map(row).collect();
        Self { columns: columns.into_iter().map(Text::from).collect(), rows }
    }

    /// Returns all findings with their thing and check.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (&Text, &Text, FindingMark)> {
        let of_row = |(thing, marks)| {
            let marks: std::slice::Iter<'_, Option<FindingMark>> = <[_]>::iter(marks);
            marks.zip(&self.columns).filter_map(move |(mark, check)| Some((thing, check, (*mark)?)))
        };
        self.rows.iter().map(|(thing, marks)| (thing, &marks[..])).flat_map(of_row)
    }
}
