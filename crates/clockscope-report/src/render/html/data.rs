//! The data of a chart as a table.

use clockscope_records::Finding;

use crate::chart::{Chart, CurvePlot, EvidencePlot, Plot, RowPlot};
use crate::model::{Cell, Table};
use crate::words::{Text, yes_no};

pub(super) fn table(chart: &Chart) -> Table {
    match &chart.plot {
        Plot::Rows(plot) => of_rows(plot),
        Plot::Curves(plot) => of_curves(plot),
        Plot::Evidence(plot) => of_evidence(plot),
    }
}

/// Makes a row of each finding.
fn of_evidence(plot: &EvidencePlot) -> Table {
    let rows = plot.marks().map(|(thing, check, mark)| -> Vec<Cell> {
        let finding = match mark.finding {
            Finding::For => "for",
            Finding::Against => "against",
            Finding::Unknown => "unknown",
        };
        vec![thing.clone().into(), check.clone().into(), finding.into(), yes_no(mark.decides).into()]
    });
    Table::new(["Clock", "Check", "Finding", "Decides"], 4, rows)
}

/// Makes a row of each mark.
fn of_rows(plot: &RowPlot) -> Table {
    let show = |value: f64| Cell::from(plot.axis.unit.show(value));
    let has_spread = plot.rows.iter().flat_map(|row| &row.marks).any(|mark| mark.spread.is_some());
    let has_words = plot.rows.iter().any(|row| !row.word.is_empty());
    let rows = plot.rows.iter().flat_map(|row| row.marks.iter().map(move |mark| (row, mark)));
    let rows = rows.map(|(row, mark)| {
        let series = plot.series.get(mark.series).map_or_else(Text::default, |series| series.name.clone());
        let mut cells: Vec<Cell> = vec![row.label.clone().into(), series.into(), show(mark.value)];
        if has_spread {
            cells.extend(ends(mark.spread, show));
        }
        if has_words {
            cells.push(row.word.clone().into());
        }
        cells
    });
    let head: Vec<Text> = vec!["Row".into(), "Figure".into(), plot.axis.title.clone()];
    let spread = ["From", "To"].map(Text::from).into_iter().filter(|_| has_spread);
    let words = has_words.then(|| plot.words.clone());
    Table { wraps: has_words, ..Table::new(head.into_iter().chain(spread).chain(words), 2, rows) }
}

/// Makes a row of each point.
fn of_curves(plot: &CurvePlot) -> Table {
    let points = || plot.series.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, point)));
    let has_until = points().any(|(_, point)| point.until.is_some());
    let has_spread = points().any(|(_, point)| point.spread.is_some());
    let rows = points().map(|(curve, point)| {
        let mut cells: Vec<Cell> = vec![curve.name.clone().into(), plot.x.unit.show(point.x).into()];
        if has_until {
            cells.push(point.until.map_or(Cell::Empty, |until| plot.x.unit.show(until).into()));
        }
        cells.push(plot.y.unit.show(point.y).into());
        if has_spread {
            cells.extend(ends(point.spread, |end| plot.y.unit.show(end).into()));
        }
        cells
    });
    let until = has_until.then(|| Text::from("To")).into_iter();
    let spread = ["Least", "Most"].map(Text::from).into_iter().filter(|_| has_spread);
    let head = ["Series".into(), plot.x.title.clone()].into_iter().chain(until).chain([plot.y.title.clone()]);
    Table::new(head.chain(spread), 1, rows)
}

fn ends(spread: Option<[f64; 2]>, show: impl Fn(f64) -> Cell) -> [Cell; 2] {
    spread.map_or([Cell::Empty, Cell::Empty], |ends| ends.map(show))
}
