//! The test of a constant rate: for one straight line through the phases of all brackets.

use clockscope_core::brackets::Ticks;

use super::bracket::BracketNs;

/// Result of the test for one rate that explains all brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constancy {
    /// One does.
    Constant,
    /// None does. It changed between these two readings of the reference, in ns: one rate explains
    /// all until the later, and one all from the earlier on. Where there were several changes, they
    /// are those of the first and the last.
    Changed {
        /// Not before.
        from: f64,
        /// Not after.
        until: f64,
    },
    /// Fewer than three brackets: any two lie on a line.
    Untested,
}

/// Rounding of what is computed here, in ns.
const ROUNDING_ERROR_NS: f64 = 1e-3;

pub(super) fn constancy(brackets: &[BracketNs], ticks: Ticks) -> Constancy {
    if brackets.len() < 3 {
        return Constancy::Untested;
    }
    let phases: Vec<PhaseBounds> = brackets.iter().map(|bracket| PhaseBounds::from_bracket(bracket, ticks)).collect();
    if fits(&phases) {
        return Constancy::Constant;
    }
    let count = phases.len();
    // Any two fit, all do not; what fits still fits when some is left out.
    let until = first_failing(2, count, |length| fits(&phases[..length]));
    let from = count - first_failing(2, count, |length| fits(&phases[count - length..]));
    let (from, until) = (phases[from].most.0, phases[until - 1].least.0);
    Constancy::Changed { from: from.min(until), until: from.max(until) }
}

/// The smallest length that does not fit: that at `fitting` does, that at `unfit` does not.
fn first_failing(mut fitting: usize, mut unfit: usize, fits: impl Fn(usize) -> bool) -> usize {
    while fitting + 1 < unfit {
        let middle = usize::midpoint(fitting, unfit);
        if fits(middle) { fitting = middle } else { unfit = middle }
    }
    unfit
}

/// Demands of a bracket on a line that gives the phase when the reference shows some moment. The
/// clock was read no earlier than the reference before and no later than the one after; so when the
/// reference showed the former, the phase was at most what it would have been had the clock been
/// read then, and likewise after.
#[derive(Clone, Copy, Debug)]
struct PhaseBounds {
    /// (moment, phase): the line is not above this.
    most: (f64, f64),
    /// Nor below this.
    least: (f64, f64),
}

impl PhaseBounds {
    fn from_bracket(bracket: &BracketNs, ticks: Ticks) -> Self {
        let (least, most) = bracket.phase(ticks);
        Self {
            most: (bracket.before, most + ROUNDING_ERROR_NS),
            least: (bracket.after + ticks.outer, least - ROUNDING_ERROR_NS),
        }
    }
}

/// Returns true if a line passes between all lower and all upper bounds: the convex hull below the
/// upper ones must nowhere be under that above the lower ones (two convex sets without a common
/// point are separated by a line). Takes N steps.
fn fits(phases: &[PhaseBounds]) -> bool {
    let ceiling = hull_below(in_order(phases.iter().map(|phase| phase.most).collect()).into_iter());
    let floor = hull_below(in_order(phases.iter().map(|phase| (phase.least.0, -phase.least.1)).collect()).into_iter());
    // Their difference is convex, and straight between corners: it is smallest at one of them.
    is_nowhere_under(&ceiling, &floor) && is_nowhere_under(&floor, &ceiling)
}

/// Sorts points by moment, where a reference that went back has them in another order.
fn in_order(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if !points.is_sorted_by(|a, b| a.0 <= b.0) {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    points
}

/// Returns true if, at the corners of `one` that `other` extends over, `one` + `other` (which is
/// negated) is nowhere below zero.
fn is_nowhere_under(one: &[(f64, f64)], other: &[(f64, f64)]) -> bool {
    let ([first, ..], [.., last]) = (other, other) else { return true };
    if other.len() == 1 {
        return one.iter().all(|(moment, value)| *moment != first.0 || value + first.1 >= 0.0);
    }
    let mut next = 1;
    one.iter().filter(|(moment, _)| (first.0..=last.0).contains(moment)).all(|(moment, value)| {
        while next + 1 < other.len() && other[next].0 < *moment {
            next += 1;
        }
        let (left, right) = (other[next - 1], other[next]);
        let share = (moment - left.0) / (right.0 - left.0);
        value + left.1 + (right.1 - left.1) * share >= 0.0
    })
}

/// The corners of the lower convex hull of points in ascending order (Andrew 1979). Points of one
/// moment count as one.
fn hull_below(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if let Some(last) = hull.last_mut().filter(|last| point.0 <= last.0) {
            last.1 = last.1.min(point.1);
            continue;
        }
        while let [.., a, b] = hull[..] {
            let turns_left = (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0) > 0.0;
            if turns_left {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn phases(bounds: &[(f64, f64, f64)]) -> Vec<PhaseBounds> {
        bounds
            .iter()
            .map(|(moment, least, most)| PhaseBounds { most: (*moment, *most), least: (*moment, *least) })
            .collect()
    }

    /// A clock that went back together with its reference seemed to change its rate.
    #[test]
    fn a_line_has_no_order() {
        let line = |moments: [f64; 4]| {
            let bounds = moments.map(|moment| (moment, 0.01 * moment, 0.01 * moment + 1.0));
            fits(&phases(&bounds))
        };
        assert!(line([0.0, 1e6, 2e6, 3e6]) && line([0.0, 1e6, -9e6, -8e6]) && line([0.0, 1e6, 5e5, 15e5]));
    }

    #[test]
    fn three_bounds_in_a_bow_have_no_line() {
        assert!(fits(&phases(&[(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (2.0, 0.0, 1.0)])));
        assert!(fits(&phases(&[(0.0, 0.0, 1.0), (1.0, 1.0, 3.0), (2.0, 0.0, 1.0)])));
        assert!(!fits(&phases(&[(0.0, 0.0, 1.0), (1.0, 1.1, 3.0), (2.0, 0.0, 1.0)])));
        assert!(!fits(&phases(&[(0.0, 0.0, 1.0), (1.0, -3.0, -0.1), (2.0, 0.0, 1.0)])));
    }

    proptest! {
        /// Against all lines through two bounds: if any line fits, one of those does.
        #[test]
        fn agrees_with_trying_all_lines(
            bounds in prop::collection::vec((1u32..9, -20i32..20, 0i32..12), 3..12)
        ) {
            let mut moment = 0;
            let bounds: Vec<_> = bounds
                .into_iter()
                .map(|(pause, least, width)| {
                    moment += pause;
                    (f64::from(moment), f64::from(least), f64::from(least + width))
                })
                .collect();
            let corners: Vec<(f64, f64)> = bounds.iter().flat_map(|(t, a, b)| [(*t, *a), (*t, *b)]).collect();
            let is_passed = |p: &(f64, f64), q: &(f64, f64)| {
                let at = |t: f64| p.1 + (q.1 - p.1) * (t - p.0) / (q.0 - p.0);
                p.0 < q.0 && bounds.iter().all(|(t, a, b)| (a - 1e-9..=b + 1e-9).contains(&at(*t)))
            };
            let any = corners.iter().any(|p| corners.iter().any(|q| is_passed(p, q)));
            let widened: Vec<_> = bounds.iter().map(|(t, a, b)| (*t, a - 1e-9, b + 1e-9)).collect();
            prop_assert_eq!(fits(&phases(&widened)), any);
        }
    }
}
