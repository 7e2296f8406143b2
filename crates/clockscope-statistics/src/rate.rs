//! Rate of a clock, from brackets: readings of it between two readings of a reference.
//!
//! A bracket bounds where the clock's phase (its reading less the reference's, at one moment) lies,
//! and nothing makes that wrong: an interruption only widens it. Two brackets bound the mean rate
//! between them, whatever the clock did meanwhile. That is the answer; whether one rate explains
//! all brackets is a question of its own (`constancy`).

mod bracket;
mod constancy;

pub use bracket::BracketNs;
pub use constancy::Constancy;

use clockscope_core::brackets::{RateBounds, Ticks};

use crate::{median, quantile};

/// Ratio of a bracket's width to the usual one above which it counts as interrupted.
const INTERRUPTED_WIDTHS: f64 = 3.0;
/// Nobody steers a clock by more than this share of the time that passes: what is more is a step.
const MAX_STEERED_SHARE: f64 = 0.1;

/// A clock's rate as brackets show it. Offsets are relative: 1e-6 is one ppm fast.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRate {
    /// The smallest mean frequency offset that is possible between the two end brackets.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// Slope of the least-squares line through the narrow brackets; `None` for fewer than three of
    /// them.
    pub least_squares: Option<f64>,
    /// Time between the two end brackets, in ns.
    pub between: f64,
    /// Brackets that were not interrupted.
    pub used: usize,
    /// Brackets that were.
    pub dropped: usize,
    /// Median width of the brackets that were used, in ns.
    pub width: f64,
    /// Result of the test for one rate that explains all brackets.
    pub constancy: Constancy,
    /// The largest step beyond the usual rate, if there was one: the reference's reading after it,
    /// and its least size in ns.
    pub step: Option<(f64, f64)>,
}

/// Returns the rate that brackets in ascending order of time show; `None` for fewer than two, or if
/// no time passed between them. For N of them it takes N log N steps.
#[must_use]
pub fn rate(brackets: &[BracketNs], ticks: Ticks) -> Option<MeasuredRate> {
    let (first, last) = ends(brackets)?;
    let [least, most] = mean_rate(first, last, ticks)?;
    let narrow = narrow(brackets);
    let widths: Vec<f64> = narrow.iter().map(BracketNs::span).collect();
    let constancy = constancy::constancy(brackets, ticks);
    Some(MeasuredRate {
        least,
        most,
        least_squares: least_squares(&narrow),
        between: last.moment() - first.moment(),
        used: narrow.len(),
        dropped: brackets.len() - narrow.len(),
        width: median(widths)?,
        step: if constancy == Constancy::Constant { None } else { step(brackets, ticks) },
        constancy,
    })
}

/// The smallest and largest mean frequency offset that are possible between the two end brackets,
/// as in [`rate`]; takes N steps.
#[must_use]
pub fn rate_bounds(brackets: &[BracketNs], ticks: Ticks) -> Option<[f64; 2]> {
    let (first, last) = ends(brackets)?;
    mean_rate(first, last, ticks)
}

/// Every mean frequency offset from one bracket to another that both allow.
fn mean_rate(first: &BracketNs, last: &BracketNs, ticks: Ticks) -> Option<[f64; 2]> {
    let shortest = last.before - first.after - ticks.outer;
    let longest = last.after - first.before + ticks.outer;
    let rate = RateBounds::from_count(last.inner - first.inner, ticks.inner, shortest, longest)?;
    Some([rate.low - 1.0, rate.high - 1.0])
}

/// The brackets near both ends that bound the rate best: narrow, and far from each other.
fn ends(brackets: &[BracketNs]) -> Option<(&BracketNs, &BracketNs)> {
    let quarter = brackets.len().div_ceil(4);
    let first = narrower_and_narrower(brackets.iter().take(quarter));
    let last = narrower_and_narrower(brackets.iter().rev().take(quarter));
    let pairs = first.iter().flat_map(|first| last.iter().map(move |last| (*first, *last)));
    let apart = pairs.filter(|(first, last)| last.before > first.after);
    apart.min_by(|(a, b), (c, d)| bound(a, b).total_cmp(&bound(c, d)))
}

/// Bound of the rate between two brackets, as a share.
fn bound(first: &BracketNs, last: &BracketNs) -> f64 {
    (first.span() + last.span()) / (last.moment() - first.moment())
}

/// Each bracket that is narrower than all before it.
fn narrower_and_narrower<'a>(brackets: impl Iterator<Item = &'a BracketNs>) -> Vec<&'a BracketNs> {
    let mut selected: Vec<&BracketNs> = Vec::new();
    for bracket in brackets {
        if selected.last().is_none_or(|last| bracket.span() < last.span()) {
            selected.push(bracket);
        }
    }
    selected
}

/// Those that were not interrupted. The usual width is that of the narrower half, of which an
/// interruption has no part unless most brackets were interrupted.
fn narrow(brackets: &[BracketNs]) -> Vec<BracketNs> {
    let mut widths: Vec<f64> = brackets.iter().map(BracketNs::span).collect();
    widths.sort_by(f64::total_cmp);
    let usual = quantile(&widths, 0.25).unwrap_or(0.0);
    brackets.iter().filter(|bracket| bracket.span() <= INTERRUPTED_WIDTHS * usual).copied().collect()
}

fn least_squares(brackets: &[BracketNs]) -> Option<f64> {
    if brackets.len() < 3 {
        return None;
    }
    let count = brackets.len() as f64;
    let time = brackets.iter().map(BracketNs::moment).sum::<f64>() / count;
    let phase = brackets.iter().map(BracketNs::middle).sum::<f64>() / count;
    let spread: f64 = brackets.iter().map(|bracket| (bracket.moment() - time).powi(2)).sum();
    let together: f64 = brackets.iter().map(|bracket| (bracket.moment() - time) * (bracket.middle() - phase)).sum();
    (spread > 0.0).then(|| together / spread)
}

/// Finds the largest step between two brackets in a row: a gain that neither the usual rate nor
/// steering explains.
fn step(brackets: &[BracketNs], ticks: Ticks) -> Option<(f64, f64)> {
    let usual = usual_rate(brackets)?;
    let steps = brackets.windows(2).filter_map(|pair| {
        let gain = gain(pair, 0.0, ticks).and(gain(pair, usual, ticks))?;
        Some((pair[1].before, gain))
    });
    steps.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

/// Returns what the clock gained at least between two brackets, or lost, beyond this rate; `None`
/// if steering explains that.
fn gain(pair: &[BracketNs], rate: f64, ticks: Ticks) -> Option<f64> {
    let ((least_before, most_before), (least_after, most_after)) = (pair[0].phase(ticks), pair[1].phase(ticks));
    let longest = (pair[1].after - pair[0].before).abs();
    let gained = rate * (pair[1].moment() - pair[0].moment());
    let unsure = (rate * (pair[0].span() + pair[1].span()) / 2.0).abs();
    let (least, most) = (least_after - most_before - gained - unsure, most_after - least_before - gained + unsure);
    let gain = if least > 0.0 { least } else { most.min(0.0) };
    (gain.abs() > MAX_STEERED_SHARE * longest).then_some(gain)
}

/// Returns the median of the rates between brackets in a row: of two in the middle the smaller,
/// since none runs at a rate in between.
fn usual_rate(brackets: &[BracketNs]) -> Option<f64> {
    let rates = brackets.windows(2).filter_map(|pair| {
        let time = pair[1].moment() - pair[0].moment();
        (time > 0.0).then(|| (pair[1].middle() - pair[0].middle()) / time)
    });
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_by(f64::total_cmp);
    let (lower, upper) = (rates.get(rates.len().saturating_sub(1) / 2)?, rates.get(rates.len() / 2)?);
    Some(if lower.abs() < upper.abs() { *lower } else { *upper })
}

/// Phases at equal distances in time, interpolated between the brackets that were not interrupted,
/// for
/// [`crate::allan_deviation`]: the distance, and the phases, in ns. `None` where these are too few.
#[must_use]
pub fn even_phases(brackets: &[BracketNs]) -> Option<(f64, Vec<f64>)> {
    let mut narrow = narrow(brackets);
    // A coarse reference shows the same moment twice.
    narrow.dedup_by(|later, earlier| later.moment() <= earlier.moment());
    let (first, last) = (narrow.first()?.moment(), narrow.last()?.moment());
    let count = brackets.len();
    if narrow.len() * 2 < count || count < 7 || last <= first {
        return None;
    }
    let spacing = (last - first) / (count - 1) as f64;
    let mut next = 1;
    let phases = (0..count).map(|index| {
        let moment = first + spacing * index as f64;
        while next + 1 < narrow.len() && narrow[next].moment() < moment {
            next += 1;
        }
        let (left, right) = (&narrow[next - 1], &narrow[next]);
        let share = (moment - left.moment()) / (right.moment() - left.moment());
        left.middle() + (right.middle() - left.middle()) * share
    });
    Some((spacing, phases.collect()))
}

#[cfg(test)]
mod tests;
