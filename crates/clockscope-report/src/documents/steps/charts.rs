//! Differences between readings, and events, as charts.

use clockscope_records::{Bin, StepsRecord, WorstEvent};

use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MOST_SERIES, Point, Spacing, Unit};
use crate::words::total;

/// Most points of a distribution: a page is not wider.
const POINTS: usize = 500;

/// Ticks that a staircase climbs, and its fewest readings.
const CLIMBED: f64 = 40.0;
const FEWEST: usize = 8;

/// Fewest distinct steps of a clock whose differences are drawn, and the largest share of readings
/// that repeat the one before.
const FEWEST_STEPS: usize = 3;
const MOST_REPEATS: f64 = 0.999;

/// Returns whether the clock stepped often enough for a chart of its differences to show anything.
fn has_steps(clock: &StepsRecord) -> bool {
    let steps = clock.differences.iter().filter(|entry| entry.ns.is_some_and(|ns| ns != 0.0)).count();
    let zeros = clock.differences.iter().filter(|entry| entry.ns == Some(0.0)).map(|entry| entry.count);
    let all = total(clock.histogram.iter().map(|bin| bin.count));
    steps >= FEWEST_STEPS && total(zeros) as f64 <= all as f64 * MOST_REPEATS
}

/// Draws the distributions of all clocks that stepped.
pub(super) fn distributions(clocks: &[&StepsRecord]) -> Vec<Chart> {
    let all: Vec<&&StepsRecord> = clocks.iter().filter(|clock| has_steps(clock)).collect();
    let parts = all.chunks(MOST_SERIES).enumerate();
    parts
        .map(|(part, clocks)| {
            let points: Vec<Vec<Point>> = clocks.iter().map(|clock| distribution(clock)).collect();
            let least = points.iter().flatten().map(|point| point.x).fold(f64::INFINITY, f64::min);
            let curve = |(clock, points): (&&&StepsRecord, Vec<Point>)| {
                // The share of the differences of 0, which have no place on the axis.
                let zeros = points.first().filter(|first| first.y > 0.0 && first.x > least);
                let start = zeros.map(|first| Point::at(least, first.y));
                Curve::new(clock.identity.label(), Form::Stairs, start.into_iter().chain(points))
            };
            let x = Axis::new("Difference of two successive readings", Unit::Time, Spacing::Log);
            let y = Axis::new("Share of differences up to this one", Unit::Named("%"), Spacing::FromZero);
            let plot = CurvePlot::new(x, y, clocks.iter().zip(points).map(curve));
            let name = if part == 0 { "ecdf".to_owned() } else { format!("ecdf:{}", part + 1) };
            Chart::new(name, "Distribution of the differences", plot).in_characters()
        })
        .collect()
}

/// Returns the share of differences that are no larger than each one: of the distinct differences
/// that are listed, and beyond them of the bins of the histogram.
fn distribution(clock: &StepsRecord) -> Vec<Point> {
    let all = total(clock.histogram.iter().map(|bin| bin.count));
    let listed: Vec<(f64, u64)> = clock.differences.iter().filter_map(|entry| Some((entry.ns?, entry.count))).collect();
    let last = listed.last().map_or(f64::NEG_INFINITY, |(ns, _)| *ns);
    let is_beyond = |bin: &&Bin| bin.from_ns.is_some_and(|from_ns| from_ns > last);
    let beyond = clock.histogram.iter().filter(is_beyond).map(|bin| (bin.to_ns, bin.count));
    let mut seen = 0;
    let share = |(ns, count): (f64, u64)| {
        seen = total([seen, count]);
        Point::at(ns, (seen as f64 / all as f64 * 100.0).min(100.0))
    };
    let points: Vec<Point> = listed.iter().copied().chain(beyond).map(share).collect();
    // The differences of 0 have no place on a logarithmic axis, but their share does.
    let (below, above): (Vec<Point>, Vec<Point>) = points.into_iter().partition(|point| point.x <= 0.0);
    let below = below.last().map_or(0.0, |last| last.y);
    let start = above.first().map(|first| Point::at(first.x, below));
    start.into_iter().chain(thinned(above)).collect()
}

/// Keeps the last of points that are closer than anyone sees.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return points };
    let (low, high) = (first.x.ln(), last.x.ln());
    let column = |point: &Point| ((point.x.ln() - low) / (high - low).max(f64::EPSILON) * POINTS as f64) as usize;
    let mut retained: Vec<Point> = Vec::new();
    for point in points {
        match retained.last_mut() {
            Some(before) if column(before) == column(&point) => *before = point,
            _ => retained.push(point),
        }
    }
    retained
}

/// Draws the histogram and the worst events of a clock.
pub(super) fn of_clock(clock: &StepsRecord) -> Vec<Chart> {
    let label = clock.identity.label();
    let histogram = has_steps(clock).then(|| histogram(&label, &clock.histogram));
    let readings = staircase(&label, clock).into_iter().chain(histogram);
    readings.chain([sizes(&label, clock), repeats(&label, clock)]).collect()
}

/// Draws the first readings on the lattice of the tick: as many as climb a few ticks. Readings that
/// are all the same have no chart.
fn staircase(label: &str, clock: &StepsRecord) -> Option<Chart> {
    let unit_ns = clock.unit_ns.get().unwrap_or(f64::NAN);
    let readings = clock.first_readings.iter().map(|reading| *reading as f64 * unit_ns);
    let highest = clock.tick_ns.get().map_or(f64::INFINITY, |tick| tick * CLIMBED);
    let point = |(index, ns): (usize, f64)| Point::at(index as f64, ns);
    let points: Vec<Point> = readings.enumerate().map(point).collect();
    let low = points.iter().take_while(|point| point.y <= highest).count().max(FEWEST);
    let points = &points[..low.min(points.len())];
    points.iter().find(|point| point.y != 0.0)?;
    let curve = Curve::new(label, Form::Stairs, points.iter().copied());
    let x = Axis::new("Reading", Unit::Count, Spacing::FromZero);
    let y = Axis::new("Time since the first reading", Unit::Time, Spacing::FromZero);
    let plot = CurvePlot::new(x, y, [curve]).with_lattice(clock.tick_ns.get());
    let lines = if plot.lattice.is_some() { ", and lines a tick apart" } else { "" };
    Some(Chart::new(format!("staircase:{label}"), format!("The first readings of {label}{lines}"), plot))
}

/// Bins at 0 and below have no place on the axis; the words count them.
fn histogram(label: &str, bins: &[Bin]) -> Chart {
    let bar = |bin: &Bin| Point { until: Some(bin.to_ns), ..Point::at(bin.from_ns.unwrap_or(0.0), bin.count as f64) };
    let x = Axis::new("Difference of two successive readings", Unit::Time, Spacing::Log);
    let y = Axis::new("Number of differences", Unit::Count, Spacing::LogCounts);
    let plot = CurvePlot::new(x, y, [Curve::new(label, Form::Bins, bins.iter().map(bar))]);
    Chart::new(format!("histogram:{label}"), format!("Differences of {label}"), plot)
}

/// Draws the worst events that have a size.
fn sizes(label: &str, clock: &StepsRecord) -> Chart {
    let worst = &clock.worst;
    let kinds: [(&str, &[WorstEvent]); 5] = [
        ("gap", &worst.gap),
        ("jump", &worst.jump),
        ("warp", &worst.warp),
        ("regression", &worst.regression),
        ("hidden regression", &worst.hidden_regression),
    ];
    let y = Axis::new("Size of the event", Unit::Time, Spacing::Log);
    let plot = over_time(y, &kinds, |event| event.size_ns.map(f64::abs));
    Chart::new(format!("events:{label}"), format!("The worst events of {label}"), plot)
}

/// Draws the longest runs of one value.
fn repeats(label: &str, clock: &StepsRecord) -> Chart {
    let worst = &clock.worst;
    let kinds: [(&str, &[WorstEvent]); 2] = [("stuck", &worst.stuck), ("stall", &worst.stall)];
    let y = Axis::new("Repeats of one value", Unit::Count, Spacing::LogCounts);
    let plot = over_time(y, &kinds, |event| event.repeats.map(|count| count as f64));
    Chart::new(format!("repeats:{label}"), format!("The longest repeats of {label}"), plot)
}

fn over_time(y: Axis, kinds: &[(&str, &[WorstEvent])], size: impl Fn(&WorstEvent) -> Option<f64>) -> CurvePlot {
    let point = |event: &WorstEvent| Some(Point::at(event.at_s * 1e9, size(event)?));
    let curve =
        |(kind, events): &(&str, &[WorstEvent])| Curve::new(*kind, Form::Points, events.iter().filter_map(point));
    let x = Axis::new("Time since the start of the run", Unit::Time, Spacing::FromZero);
    CurvePlot::new(x, y, kinds.iter().map(curve))
}
