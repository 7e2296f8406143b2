//! Differences between readings, and events, as charts.

use clockscope_records::{Bin, StepsRecord, WorstEvent};

use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, MAX_SERIES, Point, Spacing, Unit, part_name};
use crate::words::total;

/// Most points of a distribution, about as many as a page has columns of pixels.
const MAX_POINTS: usize = 500;
/// Most ticks that a staircase climbs.
const MAX_STAIRCASE_TICKS: f64 = 40.0;
/// Readings that a staircase has however far they climb.
const MIN_STAIRCASE_READINGS: usize = 8;
/// Fewest distinct steps of a clock whose differences are drawn.
const MIN_STEPS: usize = 3;
/// Largest share of repeated readings of a clock whose differences are drawn.
const MAX_REPEAT_SHARE: f64 = 0.999;

/// Returns whether the clock stepped often enough for a chart of its differences.
fn has_steps(clock: &StepsRecord) -> bool {
    let steps = clock.differences.iter().filter(|entry| entry.ns.is_some_and(|ns| ns != 0.0)).count();
    let zeros = clock.differences.iter().filter(|entry| entry.ns == Some(0.0)).map(|entry| entry.count);
    let all = total(clock.histogram.iter().map(|bin| bin.count));
    steps >= MIN_STEPS && total(zeros) as f64 <= all as f64 * MAX_REPEAT_SHARE
}

/// Draws the distributions of all clocks that stepped.
pub(super) fn distributions(clocks: &[&StepsRecord]) -> Vec<Chart> {
    let all: Vec<&&StepsRecord> = clocks.iter().filter(|clock| has_steps(clock)).collect();
    let mut charts = Vec::new();
    for (part, clocks) in all.chunks(MAX_SERIES).enumerate() {
        let points: Vec<Vec<Point>> = clocks.iter().map(|clock| distribution(clock)).collect();
        let least = points.iter().flatten().map(|point| point.x).fold(f64::INFINITY, f64::min);
        let curves = clocks.iter().zip(points).map(|(clock, points)| {
            // The share of the differences of 0, which have no place on the axis.
            let zeros = points.first().filter(|first| first.y > 0.0 && first.x > least);
            let start = zeros.map(|first| Point::at(least, first.y));
            Curve::new(clock.identity.label(), Form::Stairs, start.into_iter().chain(points))
        });
        let x = Axis::new("Difference of two successive readings", Unit::Time, Spacing::Log);
        let y = Axis::new("Share of differences up to this one", Unit::Named("%"), Spacing::FromZero);
        let plot = CurvePlot::new(x, y, curves);
        charts.push(Chart::new(part_name("ecdf", part), "Distribution of the differences", plot).in_characters());
    }
    charts
}

/// Returns the share of differences up to each one: of the distinct differences that are listed,
/// and beyond them of the bins of the histogram.
fn distribution(clock: &StepsRecord) -> Vec<Point> {
    let all = total(clock.histogram.iter().map(|bin| bin.count));
    let mut counts: Vec<(f64, u64)> =
        clock.differences.iter().filter_map(|entry| Some((entry.ns?, entry.count))).collect();
    let last = counts.last().map_or(f64::NEG_INFINITY, |(ns, _)| *ns);
    let beyond = clock.histogram.iter().filter(|bin| bin.from_ns.is_some_and(|from_ns| from_ns > last));
    counts.extend(beyond.map(|bin| (bin.to_ns, bin.count)));
    let mut cumulative = 0;
    let (mut zeros, mut points) = (0.0, Vec::new());
    for (ns, count) in counts {
        cumulative = total([cumulative, count]);
        let percent = (cumulative as f64 / all as f64 * 100.0).min(100.0);
        // The differences of 0 have no place on a logarithmic axis, but their share does.
        if ns <= 0.0 {
            zeros = percent;
        } else {
            points.push(Point::at(ns, percent));
        }
    }
    let start = points.first().map(|first| Point::at(first.x, zeros));
    start.into_iter().chain(thinned(points)).collect()
}

/// Keeps the last of the points in each column of pixels.
fn thinned(mut points: Vec<Point>) -> Vec<Point> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return points };
    let (low, high) = (first.x.ln(), last.x.ln());
    // Of equal keys, the first is retained.
    points.reverse();
    points.dedup_by_key(|point| ((point.x.ln() - low) / (high - low).max(f64::EPSILON) * MAX_POINTS as f64) as usize);
    points.reverse();
    points
}

/// Draws the histogram and the worst events of a clock.
pub(super) fn of_clock(clock: &StepsRecord) -> Vec<Chart> {
    let label = clock.identity.label();
    let mut charts = Vec::from_iter(staircase(&label, clock));
    if has_steps(clock) {
        charts.push(histogram(&label, &clock.histogram));
    }
    charts.extend([sizes(&label, clock), repeats(&label, clock)]);
    charts
}

/// Draws the first readings, with lines a tick apart. Readings that are all equal have no chart.
fn staircase(label: &str, clock: &StepsRecord) -> Option<Chart> {
    let unit_ns = clock.unit_ns.get().unwrap_or(f64::NAN);
    let readings = clock.first_readings.iter().enumerate();
    let mut points: Vec<Point> =
        readings.map(|(index, reading)| Point::at(index as f64, *reading as f64 * unit_ns)).collect();
    let highest = clock.tick_ns.get().map_or(f64::INFINITY, |tick| tick * MAX_STAIRCASE_TICKS);
    points.truncate(points.iter().take_while(|point| point.y <= highest).count().max(MIN_STAIRCASE_READINGS));
    points.iter().find(|point| point.y != 0.0)?;
    let curve = Curve::new(label, Form::Stairs, points);
    let x = Axis::new("Reading", Unit::Count, Spacing::FromZero);
    let y = Axis::new("Time since the first reading", Unit::Time, Spacing::FromZero);
    let plot = CurvePlot::new(x, y, [curve]).with_lattice(clock.tick_ns.get());
    let lines = if plot.lattice.is_some() { ", and lines a tick apart" } else { "" };
    Some(Chart::new(format!("staircase:{label}"), format!("The first readings of {label}{lines}"), plot))
}

/// Draws a histogram. Bins at 0 and below have no place on the axis.
fn histogram(label: &str, bins: &[Bin]) -> Chart {
    let bars = bins.iter().map(|bin| {
        let start = Point::at(bin.from_ns.unwrap_or(0.0), bin.count as f64);
        Point { until: Some(bin.to_ns), ..start }
    });
    let x = Axis::new("Difference of two successive readings", Unit::Time, Spacing::Log);
    let y = Axis::new("Number of differences", Unit::Count, Spacing::LogCounts);
    let plot = CurvePlot::new(x, y, [Curve::new(label, Form::Bins, bars)]);
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
    let curves = kinds.iter().map(|(kind, events)| {
        let points = events.iter().filter_map(|event| Some(Point::at(event.at_s * 1e9, size(event)?)));
        Curve::new(*kind, Form::Points, points)
    });
    let x = Axis::new("Time since the start of the run", Unit::Time, Spacing::FromZero);
    CurvePlot::new(x, y, curves)
}
