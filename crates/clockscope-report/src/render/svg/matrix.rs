//! Heat maps: a cell for each pair, the darker the larger its value.

use std::fmt::Write;

use maud::html;

use super::parts::{Anchor, Elements, LINE, Px, Sign, legend, text};
use crate::chart::{MatrixCell, MatrixPlot};

/// Steps of darkness.
pub(in crate::render) const SHADES: usize = 6;
/// Most of an image's width that cells take.
const ROOM: f64 = 620.0;
/// Largest and smallest side of a cell.
const LARGEST: f64 = 48.0;
const SMALLEST: f64 = 1.0;
/// Side of a cell that has room for its value.
const LEGIBLE: f64 = 38.0;
/// The largest side of a cell whose value has a bound, and the least that has room for both.
const LARGEST_WITH_BOUND: f64 = 96.0;
const LEGIBLE_WITH_BOUND: f64 = 84.0;
/// The left edge of the cells.
const LEFT: f64 = 60.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &MatrixPlot, top: f64, id: &str) -> f64 {
    let shades = Shades::of(plot);
    hatching(svg, id);
    let top = keys(svg, plot, &shades, top, id);
    let has_bounds = plot.cells.iter().flatten().any(|cell| cell.bound.is_some());
    let largest = if has_bounds { LARGEST_WITH_BOUND } else { LARGEST };
    let side = (ROOM / plot.names.len().max(1) as f64).clamp(SMALLEST, largest);
    // Whole units keep the edges of cells sharp.
    let side = if side > 2.0 { side.floor() } else { side };
    let grid = Grid { left: LEFT, top: top + 2.0 * LINE + 6.0, side };
    grid.labels(svg, plot);
    for shade in 0..SHADES {
        grid.cells(svg, plot, &format!("cell h{shade}"), None, |cell| shades.of_cell(cell) == Some(shade));
    }
    grid.cells(svg, plot, "unknown", Some(format!("url(#{id}-hatch)")), |cell| cell.value.is_none());
    grid.frame(svg, plot.names.len());
    grid.marks(svg, plot);
    if side >= LEGIBLE {
        grid.values(svg, plot, &shades);
    }
    grid.top + side * plot.names.len() as f64 + 12.0
}

/// The values of each shade.
struct Shades {
    edges: Vec<f64>,
    /// The least and the largest value.
    extent: [f64; 2],
    /// True if a cell is of the lightest shade because of its bound.
    has_bounded: bool,
    /// True if one is of it because of its value alone.
    has_small: bool,
}

impl Shades {
    /// Divides the values and their bounds into steps of equal ratio, or of equal width where they
    /// differ little. There is one step where they hardly differ.
    fn of(plot: &MatrixPlot) -> Self {
        /// Values that differ by a smaller factor are of one shade.
        const SAME: f64 = 1.25;
        let cells = || plot.cells.iter().flatten();
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold([f64::INFINITY, 0.0], |[low, high], value| [low.min(value), high.max(value)])
        };
        let extent = ends(&mut cells().filter_map(|cell| cell.value));
        let mut positive = cells().flat_map(|cell| [cell.value, cell.bound]).flatten().filter(|value| *value > 0.0);
        let [low, high] = ends(&mut positive);
        let has_bounded = cells().any(MatrixCell::is_within_bound);
        let ratio = high / low;
        let edge = |index: usize| {
            let share = index as f64 / SHADES as f64;
            if ratio > 4.0 { low * ratio.powf(share) } else { high * share }
        };
        let edges = if ratio > SAME { (1..SHADES).map(edge).collect() } else { Vec::new() };
        let is_small = |cell: &MatrixCell| {
            !cell.is_within_bound() && cell.value.is_some_and(|value| edges.first().is_none_or(|edge| value < *edge))
        };
        let has_small = cells().any(is_small);
        Self { edges, extent, has_bounded, has_small }
    }

    /// Returns the shade of a cell with a value: the lightest where that is within its bound.
    fn of_cell(&self, cell: &MatrixCell) -> Option<usize> {
        let of_value = |value: f64| self.edges.iter().filter(|edge| value >= **edge).count();
        cell.value.map(|value| if cell.is_within_bound() { 0 } else { of_value(value) })
    }

    /// Names the values of a shade.
    fn name(&self, shade: usize, plot: &MatrixPlot) -> String {
        let show = |edge: f64| plot.unit.show(edge);
        let is_bounded = shade == 0 && self.has_bounded;
        let bounded = if is_bounded { ", or within its bound" } else { "" };
        match (shade.checked_sub(1).and_then(|below| self.edges.get(below)), self.edges.get(shade)) {
            (None, Some(_)) if is_bounded && !self.has_small => "within its bound".to_owned(),
            (None, Some(until)) => format!("below {}{bounded}", show(*until)),
            (Some(from), Some(until)) => format!("{} to {}", show(*from), show(*until)),
            (Some(from), None) => format!("{} or more", show(*from)),
            (None, None) if self.has_bounded => "within its bound".to_owned(),
            (None, None) if self.extent[0] == self.extent[1] => show(self.extent[0]),
            (None, None) => format!("{} to {}", show(self.extent[0]), show(self.extent[1])),
        }
    }
}

/// The places of the cells.
struct Grid {
    left: f64,
    top: f64,
    side: f64,
}

impl Grid {
    fn x(&self, column: usize) -> f64 {
        self.left + self.side * column as f64
    }

    fn y(&self, row: usize) -> f64 {
        self.top + self.side * row as f64
    }

    /// Writes as many names beside rows and columns as there is room for.
    fn labels(&self, svg: &mut Elements, plot: &MatrixPlot) {
        let stride = (LINE / self.side).ceil().max(1.0) as usize;
        let stride = [1, 2, 4, 8, 16, 32, 64].into_iter().find(|nice| *nice >= stride).unwrap_or(128);
        let stride_of_columns = if self.side >= 28.0 { 1 } else { stride.max(2) };
        text(svg, self.left, self.top - LINE - 6.0, Anchor::Start, "name", plot.thing);
        for (index, name) in plot.names.iter().enumerate() {
            let middle = self.side / 2.0;
            if index % stride_of_columns == 0 {
                text(svg, self.x(index) + middle, self.top - 6.0, Anchor::Middle, "tick", name);
            }
            if index % stride == 0 {
                text(svg, self.left - 8.0, self.y(index) + middle + 4.0, Anchor::End, "tick", name);
            }
        }
    }

    /// Draws the cells for which it is so, as one path: neighbors in a row are one rectangle.
    fn cells(
        &self,
        svg: &mut Elements,
        plot: &MatrixPlot,
        class: &str,
        fill: Option<String>,
        is: impl Fn(&MatrixCell) -> bool,
    ) {
        let mut path = String::new();
        for (row, cells) in plot.cells.iter().enumerate() {
            let mut column = 0;
            while column < cells.len() {
                let belongs = |column: &usize| *column != row && is(&cells[*column]);
                let count = (column..cells.len()).take_while(belongs).count();
                if count > 0 {
                    let (x, y, width, side) =
                        (Px(self.x(column)), Px(self.y(row)), Px(self.side * count as f64), Px(self.side));
                    // A string takes whatever is written to it.
                    let _ = write!(path, "M{x} {y}h{width}v{side}h-{width}z");
                }
                column += count.max(1);
            }
        }
        if !path.is_empty() {
            svg.add(html! { path class=(class) fill=[fill] d=(path) {} });
        }
    }

    /// Draws a line around all cells: the lightest shades differ little from the page.
    fn frame(&self, svg: &mut Elements, count: usize) {
        const OUTSIDE: f64 = 0.5;
        let (x, y) = (Px(self.left - OUTSIDE), Px(self.top - OUTSIDE));
        let side = Px(self.side * count as f64 + 2.0 * OUTSIDE);
        svg.add(html! { path class="frame" d=(format_args!("M{x} {y}h{side}v{side}h-{side}z")) {} });
    }

    /// Marks cells by two colors, one in the other: one of the two differs from each shade.
    fn marks(&self, svg: &mut Elements, plot: &MatrixPlot) {
        /// Cells that have room for two outlines and their own shade.
        const ROOMY: f64 = 14.0;
        let is_marked = || plot.cells.iter().flatten().any(|cell| cell.is_marked);
        if !is_marked() {
            return;
        }
        let (halo, mark, insets) = if self.side >= ROOMY {
            ("halo", "marked", [2.0, 2.0])
        } else {
            ("halo small", "marked small", [0.0, self.side / 4.0])
        };
        for (class, inset) in [halo, mark].into_iter().zip(insets) {
            svg.add(html! { path class=(class) d=(self.squares(plot, inset)) {} });
        }
    }

    /// Returns a square in each marked cell, so far from its sides.
    fn squares(&self, plot: &MatrixPlot, inset: f64) -> String {
        let mut path = String::new();
        let side = Px(self.side - 2.0 * inset);
        for (row, cells) in plot.cells.iter().enumerate() {
            for (column, _) in cells.iter().enumerate().filter(|(_, cell)| cell.is_marked) {
                let (x, y) = (Px(self.x(column) + inset), Px(self.y(row) + inset));
                let _ = write!(path, "M{x} {y}h{side}v{side}h-{side}z");
            }
        }
        path
    }

    fn values(&self, svg: &mut Elements, plot: &MatrixPlot, shades: &Shades) {
        for (row, cells) in plot.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let Some((shade, text)) = shades.of_cell(cell).zip(self.value(plot, cell)) else { continue };
                let middle = self.side / 2.0;
                let (x, y) = (Px(self.x(column) + middle), Px(self.y(row) + middle + 4.0));
                svg.add(html! { text class={ "value i" (shade) } x=(x) y=(y) text-anchor="middle" { (text) } });
            }
        }
    }

    /// Returns the text of a cell: its value, and its bound where there is room.
    fn value(&self, plot: &MatrixPlot, cell: &MatrixCell) -> Option<String> {
        let value = plot.unit.show(cell.value?);
        Some(match cell.bound.filter(|_| self.side >= LEGIBLE_WITH_BOUND) {
            Some(bound) => with_bound(&value, &plot.unit.show(bound)),
            None => value,
        })
    }
}

/// `27 ± 71 ns`, or `900 ns ± 1.2 µs`.
fn with_bound(value: &str, bound: &str) -> String {
    match (value.split_once(' '), bound.split_once(' ')) {
        (Some((figure, unit)), Some((_, of_bound))) if unit == of_bound => format!("{figure} ± {bound}"),
        _ => format!("{value} ± {bound}"),
    }
}

/// Defines the pattern of unknown cells.
fn hatching(svg: &mut Elements, id: &str) {
    let pattern = html! {
        pattern id={ (id) "-hatch" } width="6" height="6" patternUnits="userSpaceOnUse" {
            path class="hatch" d="M0 6L6 0" {}
        }
    };
    svg.add(pattern);
}

/// Draws what the shades mean.
fn keys(svg: &mut Elements, plot: &MatrixPlot, shades: &Shades, top: f64, id: &str) -> f64 {
    let rectangle = |class: String, fill: Option<String>| -> Sign {
        Box::new(move |svg, x, y| {
            let path = format!("M{} {}h24v14h-24z", Px(x + 4.0), Px(y - 7.0));
            svg.add(html! { path class=(class) fill=[&fill] d=(path) {} });
        })
    };
    let has_cell = |cell: fn(Option<f64>, bool) -> bool| {
        let cells = plot.cells.iter().enumerate();
        cells
            .flat_map(|(row, cells)| {
                cells.iter().enumerate().filter(move |(column, _)| *column != row).map(|(_, cell)| cell)
            })
            .any(|found| cell(found.value, found.is_marked))
    };
    let has = |shade: usize| plot.cells.iter().flatten().any(|cell| shades.of_cell(cell) == Some(shade));
    let shade = |shade: usize| (shades.name(shade, plot), rectangle(format!("cell h{shade}"), None));
    let mut entries: Vec<(String, Sign)> = (0..SHADES).filter(|shade| has(*shade)).map(shade).collect();
    if has_cell(|value, _| value.is_none()) {
        entries.push(("unknown".to_owned(), rectangle("unknown".to_owned(), Some(format!("url(#{id}-hatch)")))));
    }
    if has_cell(|_, is_marked| is_marked) {
        let [halo, mark] = ["halo", "marked"].map(|class| rectangle(class.to_owned(), None));
        let sign: Sign = Box::new(move |svg, x, y| {
            halo(svg, x, y);
            mark(svg, x, y);
        });
        entries.push((plot.mark.to_string(), sign));
    }
    legend(svg, top, &entries)
}
