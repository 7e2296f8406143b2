//! The data of a chart as a table.

use crate::chart::{Chart, ChartRow, CurvePlot, EvidencePlot, Plot, RowPlot, Unit};
use crate::model::{Cell, Table};
use crate::verdict;
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
    let rows = plot.marks().map(|(clock, check, mark)| -> Vec<Cell> {
        let finding = verdict::finding(mark.finding);
        vec![clock.clone().into(), check.clone().into(), finding.into(), yes_no(mark.decides).into()]
    });
    Table::new(["Clock", "Check", "Finding", "Decides"], 4, rows)
}

/// Makes a row of each mark.
fn of_rows(plot: &RowPlot) -> Table {
    let unit = plot.axis.unit;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for ChartRow { label, word, marks } in &plot.rows {
        let word = if word.is_empty() { Cell::Empty } else { word.clone().into() };
        for mark in marks {
            let series = plot.series.get(mark.series).map_or_else(Text::default, |series| series.name.clone());
            let [low, high] = spread_cells(mark.spread, unit);
            let value = unit.show(mark.value).into();
            rows.push(vec![label.clone().into(), series.into(), value, low, high, word.clone()]);
        }
    }
    let head = ["Row".into(), "Figure".into(), plot.axis.title.clone(), "From".into(), "To".into(), plot.words.clone()];
    Table { wraps: !plot.words.is_empty(), ..Table::new(head, 2, rows).without_empty_columns() }
}

/// Makes a row of each point.
fn of_curves(plot: &CurvePlot) -> Table {
    let (x, y) = (&plot.x, &plot.y);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for curve in &plot.series {
        for point in &curve.points {
            let until = point.until.map_or(Cell::Empty, |until| x.unit.show(until).into());
            let [least, most] = spread_cells(point.spread, y.unit);
            let (start, value) = (x.unit.show(point.x).into(), y.unit.show(point.y).into());
            rows.push(vec![curve.name.clone().into(), start, until, value, least, most]);
        }
    }
    let head = ["Series".into(), x.title.clone(), "To".into(), y.title.clone(), "Least".into(), "Most".into()];
    Table::new(head, 1, rows).without_empty_columns()
}

fn spread_cells(spread: Option<[f64; 2]>, unit: Unit) -> [Cell; 2] {
    spread.map_or([Cell::Empty, Cell::Empty], |ends| ends.map(|end| unit.show(end).into()))
}
