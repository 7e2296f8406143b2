//! Places of values on an axis, and its labeled ticks.

use super::plots::{Axis, Spacing};

/// An axis with its two ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    is_log: bool,
    /// Distance between two ticks of a linear axis.
    step: f64,
}

/// A labeled place of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

impl Scale {
    /// Makes the scale that has room for all values and about `ticks` ticks.
    pub(crate) fn new(axis: &Axis, values: impl Iterator<Item = f64>, ticks: usize) -> Self {
        let extent = values.filter(|value| axis.shows(*value)).fold(None, |extent, value| {
            let (low, high) = extent.unwrap_or((value, value));
            Some((f64::min(low, value), f64::max(high, value)))
        });
        let least = axis.unit.least_step();
        match axis.spacing {
            Spacing::Linear => Self::linear(extent.unwrap_or((0.0, 1.0)), ticks, least),
            Spacing::FromZero => {
                let (low, high) = extent.unwrap_or((0.0, 1.0));
                Self::linear((low.min(0.0), high.max(0.0)), ticks, least)
            }
            Spacing::Log => {
                let (low, high) = rounded(extent.unwrap_or((1.0, 10.0)));
                Self { low, high, is_log: true, step: 0.0 }
            }
            Spacing::LogCounts => {
                let (_, high) = rounded(extent.unwrap_or((1.0, 10.0)));
                Self { low: 0.6, high: high.max(10.0), is_log: true, step: 0.0 }
            }
        }
    }

    /// Makes a scale that begins and ends at a tick. Ticks are no closer than `least`.
    fn linear((low, high): (f64, f64), ticks: usize, least: f64) -> Self {
        let magnitude = low.abs().max(high.abs());
        let (low, high) = match high - low {
            _ if magnitude == 0.0 => (0.0, 1.0),
            // The difference may be rounding.
            span if span < magnitude * 1e-9 => (low - magnitude * 0.05, high + magnitude * 0.05),
            span if span < least => (low, low + least),
            _ => (low, high),
        };
        let step = nice((high - low) / ticks.max(1) as f64).max(least);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, is_log: false, step }
    }

    /// Returns the place of a value, from 0 to 1.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// Returns about `max_ticks` ticks in ascending order, with their labels.
    pub(crate) fn ticks(&self, axis: &Axis, max_ticks: usize) -> Vec<Tick> {
        let (values, labels) = if self.is_log {
            let values = self.log_ticks(max_ticks.max(2));
            let labels = axis.unit.log_labels(&values);
            (values, labels)
        } else {
            let first = (self.low / self.step).round();
            let count = ((self.high - self.low) / self.step).round() as usize;
            let values: Vec<f64> = (0..=count).map(|index| (first + index as f64) * self.step).collect();
            let labels = axis.unit.labels(&values, self.step);
            (values, labels)
        };
        values.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect()
    }

    /// Returns 1, 2 and 5 times powers of ten if there is room for these, otherwise powers of ten;
    /// more digits if these would be fewer than three ticks.
    fn log_ticks(&self, max_ticks: usize) -> Vec<f64> {
        let fine = self.multiples(&[1.0, 2.0, 5.0]);
        if fine.len() < 3 {
            return self.multiples(&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        }
        if fine.len() <= max_ticks {
            return fine;
        }
        let powers = self.multiples(&[1.0]);
        let stride = powers.len().div_ceil(max_ticks);
        powers.into_iter().step_by(stride.max(1)).collect()
    }

    /// Returns the values on the axis that are one of these digits times a power of ten.
    fn multiples(&self, digits: &[f64]) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let values = (first..=last).flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        let ends = self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9);
        values.filter(|value| ends.contains(value)).collect()
    }
}

/// Widens an extent to 1, 2 or 5 times a power of ten; to powers of ten from a factor of 100 on.
fn rounded((low, high): (f64, f64)) -> (f64, f64) {
    let (below, above) = (power_of_ten(low), power_of_ten(high));
    if high >= low * 100.0 {
        return (below, if above >= high { above } else { above * 10.0 });
    }
    let below = [5.0, 2.0, 1.0].map(|digit| digit * below).into_iter().find(|end| *end <= low);
    let above = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * above).into_iter().find(|end| *end >= high);
    let (below, above) = (below.unwrap_or(low), above.unwrap_or(high));
    // A single value is in the middle.
    if above > below { (below, above) } else { (below / 2.0, above * 2.0) }
}

/// Returns the largest power of ten that is not larger than a value.
fn power_of_ten(value: f64) -> f64 {
    10f64.powi(value.log10().floor() as i32)
}

/// Returns the smallest of 1, 2 and 5 times powers of ten that is not smaller than a step.
fn nice(step: f64) -> f64 {
    let power = power_of_ten(step);
    [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|nice| *nice >= step).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::unit::Unit;
    use super::*;

    fn labels(spacing: Spacing, values: &[f64]) -> Vec<String> {
        let axis = Axis::new("x", Unit::Time, spacing);
        Scale::new(&axis, values.iter().copied(), 5).ticks(&axis, 8).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Spacing::FromZero, &[22.25]), ["0 ns", "5 ns", "10 ns", "15 ns", "20 ns", "25 ns"]);
        assert_eq!(labels(Spacing::Log, &[4.6, 540.0]), ["1 ns", "10 ns", "100 ns", "1 µs"]);
        assert_eq!(labels(Spacing::Log, &[4.6, 54.0]), ["2 ns", "5 ns", "10 ns", "20 ns", "50 ns", "100 ns"]);
        assert_eq!(labels(Spacing::Linear, &[172.11, 172.19])[..2], ["172.10 ns", "172.12 ns"]);
        assert_eq!(labels(Spacing::Log, &[10.0]), ["5 ns", "10 ns", "20 ns"]);
        assert_eq!(labels(Spacing::Log, &[25.0, 45.0]), ["20 ns", "30 ns", "40 ns", "50 ns"]);
        assert_eq!(labels(Spacing::Log, &[11.0, 19.0]), ["10 ns", "15 ns", "20 ns"]);
        assert_eq!(labels(Spacing::Linear, &[]).len(), 6);
    }

    /// Values of all magnitudes that a chart shows, and both signs.
    fn value() -> impl Strategy<Value = f64> {
        (1.0..10f64, -299..299i32, any::<bool>(), 0..20u8).prop_map(|(digits, power, is_negative, zero)| {
            let value = if zero == 0 { 0.0 } else { digits * 10f64.powi(power) };
            if is_negative { -value } else { value }
        })
    }

    proptest! {
        #[test]
        fn ticks_are_few_ascending_distinct_and_on_the_axis(
            values in prop::collection::vec(value(), 0..6),
            shift in prop_oneof![Just(0.0), 1.0..1e12f64],
            spacing in prop_oneof![
                Just(Spacing::Linear), Just(Spacing::FromZero), Just(Spacing::Log), Just(Spacing::LogCounts)
            ],
            unit in prop_oneof![Just(Unit::Time), Just(Unit::Count), Just(Unit::Number), Just(Unit::Named("ppm"))],
            most in 4..10usize,
        ) {
            let axis = Axis::new("x", unit, spacing);
            let values: Vec<f64> = values.into_iter().map(|value| value + shift).filter(|value| axis.shows(*value)).collect();
            let values: Vec<f64> = values.into_iter().filter(|value| spacing != Spacing::LogCounts || *value >= 1.0).collect();
            let scale = Scale::new(&axis, values.iter().copied(), most);
            let ticks = scale.ticks(&axis, most);
            prop_assert!(scale.low < scale.high && (2..=most + 3).contains(&ticks.len()), "{scale:?} {ticks:?}");
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value), "{ticks:?}");
            let rounding = |end: f64| end.abs() * 1e-9 + (scale.high - scale.low) * 1e-9;
            for tick in &ticks {
                let is_inside = tick.value >= scale.low - rounding(scale.low) && tick.value <= scale.high + rounding(scale.high);
                prop_assert!(is_inside, "{scale:?} {tick:?}");
            }
            let labels: BTreeSet<&str> = ticks.iter().map(|tick| tick.label.as_str()).collect();
            prop_assert_eq!(labels.len(), ticks.len(), "{:?}", ticks);
            for value in &values {
                let is_inside = *value >= scale.low - rounding(scale.low) && *value <= scale.high + rounding(scale.high);
                prop_assert!(is_inside, "{value} {scale:?}");
            }
            // Larger values are farther right.
            let mut ordered = values.clone();
            ordered.sort_by(f64::total_cmp);
            prop_assert!(ordered.windows(2).all(|pair| scale.position(pair[0]) <= scale.position(pair[1])));
        }
    }
}
