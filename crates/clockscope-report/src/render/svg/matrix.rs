//! Heat maps: a cell for each pair, the darker the larger its value.

use std::fmt::Write;

use maud::html;

use super::parts::{Anchor, Elements, LINE, Px, Sign, legend, text};
use crate::chart::MatrixPlot;

/// Steps of darkness.
pub(in crate::render) const SHADES: usize = 6;
/// Most of an image's width that cells take.
const ROOM: f64 = 620.0;
/// Largest and smallest side of a cell.
const LARGEST: f64 = 48.0;
const SMALLEST: f64 = 1.0;
/// Side of a cell that has room for its value.
const LEGIBLE: f64 = 38.0;
/// The left edge of the cells.
const LEFT: f64 = 60.0;

/// Draws the plot from `top` on, and returns the height of the image.
pub(super) fn draw(svg: &mut Elements, plot: &MatrixPlot, top: f64, id: &str) -> f64 {
    let shades = Shades::of(plot);
    hatching(svg, id);
    let top = keys(svg, plot, &shades, top, id);
    let side = (ROOM / plot.names.len().max(1) as f64).clamp(SMALLEST, LARGEST);
    // Whole units keep the edges of cells sharp.
    let side = if side > 2.0 { side.floor() } else { side };
    let grid = Grid { left: LEFT, top: top + 2.0 * LINE + 6.0, side };
    grid.labels(svg, plot);
    for shade in 0..SHADES {
        grid.cells(svg, plot, &format!("cell h{shade}"), None, |cell| {
            cell.map(|value| shades.of_value(value)) == Some(shade)
        });
    }
    grid.cells(svg, plot, "unknown", Some(format!("url(#{id}-hatch)")), |cell| cell.is_none());
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
}

impl Shades {
    /// Divides the values into steps of equal ratio, or of equal width where they differ little.
    /// There is one step where all are 0.
    fn of(plot: &MatrixPlot) -> Self {
        let values = || plot.cells.iter().flatten().filter_map(|cell| cell.value);
        let positive = values().filter(|value| *value > 0.0);
        let low = positive.clone().fold(f64::INFINITY, f64::min);
        let high = positive.fold(0.0, f64::max);
        if high == 0.0 {
            return Self { edges: Vec::new() };
        }
        let ratio = high / low;
        let edge = |index: usize| {
            let share = index as f64 / SHADES as f64;
            if ratio > 4.0 { low * ratio.powf(share) } else { high * share }
        };
        Self { edges: (1..SHADES).map(edge).collect() }
    }

    fn of_value(&self, value: f64) -> usize {
        self.edges.iter().filter(|edge| value >= **edge).count()
    }

    /// Names the values of a shade.
    fn name(&self, shade: usize, plot: &MatrixPlot) -> String {
        let show = |edge: f64| plot.unit.show(edge);
        match (shade.checked_sub(1).and_then(|below| self.edges.get(below)), self.edges.get(shade)) {
            (None, Some(until)) => format!("below {}", show(*until)),
            (Some(from), Some(until)) => format!("{} to {}", show(*from), show(*until)),
            (Some(from), None) => format!("{} or more", show(*from)),
            (None, None) => show(0.0),
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
        is: impl Fn(Option<f64>) -> bool,
    ) {
        let mut path = String::new();
        for (row, cells) in plot.cells.iter().enumerate() {
            let mut column = 0;
            while column < cells.len() {
                let belongs = |column: &usize| *column != row && is(cells[*column].value);
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
            for (column, value) in cells.iter().enumerate().filter_map(|(column, cell)| Some((column, cell.value?))) {
                let middle = self.side / 2.0;
                let (x, y) = (Px(self.x(column) + middle), Px(self.y(row) + middle + 4.0));
                let class = format!("value i{}", shades.of_value(value));
                let text = plot.unit.show(value);
                svg.add(html! { text class=(class) x=(x) y=(y) text-anchor="middle" { (text) } });
            }
        }
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
    let has = |shade: usize| {
        plot.cells.iter().flatten().any(|cell| cell.value.map(|value| shades.of_value(value)) == Some(shade))
    };
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
