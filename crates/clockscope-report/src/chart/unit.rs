//! Units of axes, and how values are written beside them.

use crate::units::{figure, time, time_unit};
use crate::words::grouped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Values are in ns.
    Time,
    Count,
    /// A number without a unit.
    Number,
    /// A unit that is written after the number.
    Named(&'static str),
}

impl Unit {
    /// Shows a value to readers.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Time if value == 0.0 || (1e-6..1e18).contains(&value.abs()) => time(value),
            Self::Time => format!("{} ns", number(value)),
            Self::Count if value.abs() < 1e18 && value.fract() == 0.0 && value >= 0.0 => grouped(value as u64),
            Self::Count | Self::Number => number(value),
            Self::Named(unit) => format!("{} {unit}", number(value)),
        }
    }

    /// Labels values that are multiples of `step`, with digits enough to distinguish them.
    pub(crate) fn labels(self, values: &[f64], step: f64) -> Vec<String> {
        let most = values.iter().fold(0f64, |most, value| most.max(value.abs()));
        let (scale, unit) = match self {
            Self::Time => time_unit(most),
            Self::Count | Self::Number => (1.0, ""),
            Self::Named(unit) => (1.0, unit),
        };
        let separator = if unit.is_empty() { "" } else { " " };
        let label = |value: &f64| format!("{}{separator}{unit}", fixed(value / scale, step / scale, most / scale));
        values.iter().map(label).collect()
    }

    /// Labels values that are ratios apart, none of which has more than two digits.
    pub(crate) fn log_labels(self, values: &[f64]) -> Vec<String> {
        values.iter().map(|value| self.show(*value)).collect()
    }
}

/// Shows a number with four digits, very large and very small ones by their exponent.
fn number(value: f64) -> String {
    let is_decimal = value == 0.0 || (1e-3..1e6).contains(&value.abs());
    if is_decimal { figure(value, 4) } else { format!("{value:.3e}").replace(".000e", "e") }
}

/// Shows a multiple of `step` with the decimals that the step needs.
fn fixed(value: f64, step: f64, most: f64) -> String {
    let decimals = -step.log10().floor();
    // No label is -0.
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    if most >= 1e15 || decimals > 12.0 {
        let digits = (most / step).log10().max(0.0).ceil() as usize;
        return format!("{value:.digits$e}");
    }
    format!("{value:.*}", decimals.max(0.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_digits_of_their_step() {
        assert_eq!(Unit::Time.labels(&[0.0, 500.0, 1000.0], 500.0), ["0.0 µs", "0.5 µs", "1.0 µs"]);
        assert_eq!(Unit::Named("ppm").labels(&[-0.02, 0.0, 0.02], 0.02), ["-0.02 ppm", "0.00 ppm", "0.02 ppm"]);
        assert_eq!(Unit::Count.labels(&[1e20, 2e20], 1e20), ["1.0e20", "2.0e20"]);
        assert_eq!(Unit::Number.log_labels(&[1e-7, 2e-7, 0.01]), ["1e-7", "2e-7", "0.01"]);
        assert_eq!(Unit::Count.log_labels(&[1.0, 1e6]), ["1", "1,000,000"]);
    }
}
