//! A picture of the fleet's growth: time and memory of a day over the number of hosts, from the
//! recorded figures.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::bench::fleet::{INGEST, INGEST_PEAK, QUERIES, QUERIES_PEAK, of_one_day};
use crate::bench::recorded::{self, Figure, Recorded};

const FILE: &str = "docs/pictures/fleet-growth.svg";
/// The bench that records the figures.
const BENCH: &str = "fleet";
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 346.0;
const PANEL_WIDTH: f64 = 280.0;
const PANEL_TOP: f64 = 74.0;
const PANEL_HEIGHT: f64 = 196.0;

/// A frame with two curves.
struct Panel {
    title: &'static str,
    left: f64,
    /// Name and figure of each.
    curves: [(&'static str, &'static str); 2],
}

const PANELS: [Panel; 2] = [
    Panel { title: "seconds", left: 70.0, curves: [("ingest", INGEST), (BY_DUCKDB, QUERIES)] },
    Panel { title: "peak memory, GiB", left: 450.0, curves: [("ingest", INGEST_PEAK), (BY_DUCKDB, QUERIES_PEAK)] },
];
const BY_DUCKDB: &str = "all queries, DuckDB";

/// Colors of light and of dark pages.
const STYLE: &str = "\
text { font: 13px sans-serif; fill: #1f2328 }
.page { fill: #ffffff } .grid { stroke: #d0d7de } .title { font-weight: bold } .note { font-size: 11px }
.curve { fill: none; stroke-width: 2 }
.c0 { stroke: #0969da } .c1 { stroke: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117 } .grid { stroke: #30363d }
.c0 { stroke: #58a6ff } .c1 { stroke: #f0883e }
}";

/// Hosts, and a value of theirs.
type Point = (f64, f64);
/// A name, and points in the order of hosts.
type Curve = (&'static str, Vec<Point>);

/// Writes the picture, if there are figures.
pub(super) fn write(recorded: &[Recorded]) -> Result<()> {
    let Some(picture) = picture(recorded) else { return Ok(()) };
    fs::write(FILE, picture).with_context(|| format!("cannot write {FILE}"))
}

/// Fails if the picture is not of the recorded figures.
pub(super) fn check(recorded: &[Recorded]) -> Result<()> {
    let Some(picture) = picture(recorded) else { return Ok(()) };
    let known = fs::read_to_string(FILE).unwrap_or_default();
    if recorded::unmarked(&known) == recorded::unmarked(&picture) {
        return Ok(());
    }
    bail!("{FILE} does not have the recorded figures: `cargo xtask docs figures` draws it")
}

/// Draws the figures of the CPU that was measured last; `None` without figures of two fleets.
fn picture(recorded: &[Recorded]) -> Option<String> {
    let of_cpus = recorded.iter().filter_map(|recorded| Some((recorded, recorded.benches.get(BENCH)?)));
    let date = |figures: &[Figure]| figures.iter().map(|figure| figure.date.clone()).max();
    let (recorded, figures) = of_cpus.max_by_key(|(_, figures)| date(figures))?;
    let curves = PANELS.map(|panel| panel.curves.map(|(name, what)| (name, points(figures, what))));
    if curves.iter().flatten().any(|(_, points)| points.len() < 2) {
        return None;
    }
    let panels = || PANELS.iter().zip(&curves);
    let measured = escaped(&recorded.measured_on("fleet", figures));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">A day of a fleet, by its hosts</title>\n\
         <desc id=\"desc\">{} Measured on {measured}.</desc>\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
        panels().map(|(panel, curves)| description(panel.title, curves)).collect::<Vec<_>>().join(" ")
    );
    for (panel, curves) in panels() {
        svg += &panel.draw(curves);
    }
    // Smaller: names of CPUs are long.
    svg += &text(WIDTH / 2.0, HEIGHT - 12.0, "middle", &format!("<tspan class=\"note\">{measured}</tspan>"));
    Some(svg + "</svg>\n")
}

/// The points of a figure, by the hosts. A value that is not positive has no logarithm.
fn points(figures: &[Figure], wanted: &str) -> Vec<Point> {
    let point = |figure: &Figure| {
        let (hosts, _) = of_one_day(&figure.figure).filter(|(_, what)| *what == wanted)?;
        let value: f64 = figure.measured.split(' ').next()?.parse().ok()?;
        (hosts > 0 && value > 0.0).then_some((hosts as f64, value))
    };
    let mut points: Vec<Point> = figures.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// A sentence with the ends of each curve.
fn description(title: &str, curves: &[Curve]) -> String {
    let ends = curves.iter().filter_map(|(name, points)| {
        let ((first, low), (last, high)) = (points.first()?, points.last()?);
        Some(format!("{name} {low} for {first} hosts, {high} for {last} hosts"))
    });
    format!("In {title}: {}.", ends.collect::<Vec<_>>().join("; "))
}

impl Panel {
    /// Draws the frame with logarithmic axes and its curves.
    fn draw(&self, curves: &[Curve]) -> String {
        let (title, left) = (self.title, self.left);
        let all = || curves.iter().flat_map(|(_, points)| points);
        let (x, y) = (decades(all().map(|point| point.0)), decades(all().map(|point| point.1)));
        let bottom = PANEL_TOP + PANEL_HEIGHT;
        let to_x = |value: f64| left + PANEL_WIDTH * (value.log10() - f64::from(x.0)) / f64::from(x.1 - x.0);
        let to_y = |value: f64| bottom - PANEL_HEIGHT * (value.log10() - f64::from(y.0)) / f64::from(y.1 - y.0);
        let mut svg = text(left, 22.0, "start", &format!("<tspan class=\"title\">{title}</tspan>"));
        for (value, label) in ticks(y) {
            svg += &line("grid", [left, to_y(value), left + PANEL_WIDTH, to_y(value)]);
            svg += &text(left - 8.0, to_y(value) + 4.0, "end", &label);
        }
        for decade in x.0..=x.1 {
            let at = to_x(10_f64.powi(decade));
            svg += &line("grid", [at, PANEL_TOP, at, bottom]);
            svg += &text(at, bottom + 18.0, "middle", &clockscope_records::grouped(10_u64.pow(decade.unsigned_abs())));
        }
        svg += &text(left + PANEL_WIDTH / 2.0, bottom + 38.0, "middle", "hosts");
        for (index, (name, points)) in curves.iter().enumerate() {
            let at = 42.0 + 17.0 * index as f64;
            svg += &line(&format!("curve c{index}"), [left, at - 4.0, left + 24.0, at - 4.0]);
            svg += &text(left + 30.0, at, "start", name);
            let places: Vec<(f64, f64)> = points.iter().map(|(hosts, value)| (to_x(*hosts), to_y(*value))).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            svg += &format!("<polyline class=\"curve c{index}\" points=\"{}\"/>\n", path.join(" "));
            let marker = |(x, y): &(f64, f64)| {
                format!("<circle class=\"curve c{index}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>\n")
            };
            svg.extend(places.iter().map(marker));
        }
        svg
    }
}

/// The powers of ten below and above all values; never the same.
fn decades(values: impl Iterator<Item = f64> + Clone) -> (i32, i32) {
    let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor() as i32;
    let high = values.fold(0.0, f64::max).log10().ceil() as i32;
    (low, high.max(low + 1))
}

/// The values 1, 2 and 5 of each decade, with their labels.
fn ticks((low, high): (i32, i32)) -> Vec<(f64, String)> {
    let of_decade = |decade: i32| {
        let digits = decade.min(0).unsigned_abs() as usize;
        [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(decade)).map(|value| (value, format!("{value:.digits$}")))
    };
    let all = (low..=high).flat_map(of_decade);
    all.take(3 * (high - low).unsigned_abs() as usize + 1).collect()
}

fn line(class: &str, [x1, y1, x2, y2]: [f64; 4]) -> String {
    format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n")
}

fn text(x: f64, y: f64, anchor: &str, content: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(figures: &[(String, String)]) -> Recorded {
        let figure = |(figure, measured): &(String, String)| {
            let (figure, measured, target) = (figure.clone(), measured.clone(), "-".to_owned());
            Figure { figure, target, measured, date: "2026-11-25".to_owned(), commit: String::new() }
        };
        let figures = figures.iter().map(figure).collect();
        let benches = [(BENCH.to_owned(), figures)].into_iter().collect();
        Recorded { cpu: "ACME <1>".to_owned(), machine: "2 CPUs".to_owned(), benches }
    }

    /// Figures of fleets of these hosts, which grow as the hosts do.
    fn growth(hosts: &[u64]) -> Vec<(String, String)> {
        let of = |hosts: &u64| {
            let of = |what: &str| {
                (format!("one day of {hosts} hosts: {what}"), format!("{} s (a 1 s)", *hosts as f64 / 1e3))
            };
            [INGEST, INGEST_PEAK, QUERIES, QUERIES_PEAK].map(of)
        };
        hosts.iter().flat_map(of).collect()
    }

    #[test]
    fn a_curve_runs_from_corner_to_corner() {
        // The order of the figures is that of their records.
        let svg = picture(&[recorded(&growth(&[10_000, 1_000, 100_000]))]).unwrap();
        assert!(svg.contains("<polyline class=\"curve c0\" points=\"70.0,270.0 210.0,172.0 350.0,74.0\"/>"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 4, "{svg}");
        for part in
            [">100,000</text>", "ACME &lt;1>, 2 CPUs, 2026-11-25", "ingest 1 for 1000 hosts, 100 for 100000 hosts"]
        {
            assert!(svg.contains(part), "no {part}: {svg}");
        }
        assert!(svg.contains("prefers-color-scheme: dark") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn an_axis_has_three_ticks_a_decade_and_its_end() {
        let labels: Vec<String> = ticks((-2, 1)).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"]);
        assert_eq!(decades([0.02, 3.0].into_iter()), (-2, 1));
        assert_eq!(decades([10.0].into_iter()), (1, 2));
    }

    #[test]
    fn fewer_than_two_fleets_make_no_picture() {
        assert_eq!(picture(&[]), None);
        assert_eq!(picture(&[recorded(&growth(&[1_000]))]), None);
        let mut broken = growth(&[1_000, 3_000]);
        broken[0].1 = "0.00 s".to_owned();
        assert_eq!(picture(&[recorded(&broken)]), None);
    }
}
