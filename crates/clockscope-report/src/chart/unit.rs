//! Units of axes, and how values are written beside them.

use std::time::{Duration, SystemTime};

use crate::units::{figure, ppm, time, time_unit};
use crate::words::grouped;

const SECONDS_PER_DAY: f64 = 86_400.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Values are in ns.
    Time,
    Count,
    /// A number without a unit.
    Number,
    /// A unit that is written after the number.
    Named(&'static str),
    /// Days since 1970-01-01, shown as dates.
    Date,
}

/// Returns the days from 1970-01-01 to a date such as 2026-11-28; `None` for other texts.
pub(crate) fn day_number(date: &str) -> Option<f64> {
    let start = humantime::parse_rfc3339(&format!("{date}T00:00:00Z")).ok()?;
    Some(start.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs_f64() / SECONDS_PER_DAY)
}

/// Shows the date of a day; the number of a day that has no date in RFC 3339.
fn date(day: f64) -> String {
    /// The first day of the year 10000.
    const END_DAY: f64 = 2_932_897.0;
    if !(0.0..END_DAY).contains(&day) {
        return format!("{} days", number(day));
    }
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(day * SECONDS_PER_DAY);
    humantime::format_rfc3339_seconds(start).to_string().chars().take(10).collect()
}

impl Unit {
    /// Shows a value to readers.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Time if value == 0.0 || (1e-6..1e18).contains(&value.abs()) => time(value),
            Self::Time => format!("{} ns", number(value)),
            Self::Count if value.abs() < 1e18 && value.fract() == 0.0 && value >= 0.0 => grouped(value as u64),
            Self::Count | Self::Number => number(value),
            Self::Named("ppm") if value == 0.0 || (1e-5..1e6).contains(&value.abs()) => format!("{} ppm", ppm(value)),
            Self::Named(unit) => format!("{} {unit}", number(value)),
            Self::Date => date(value),
        }
    }

    /// Returns the least distance of two labels that differ.
    pub(crate) fn least_step(self) -> f64 {
        if matches!(self, Self::Date | Self::Count) { 1.0 } else { 0.0 }
    }

    /// Labels values that are multiples of `step`, with digits enough to distinguish them.
    pub(crate) fn labels(self, values: &[f64], step: f64) -> Vec<String> {
        if self == Self::Date {
            return self.log_labels(values);
        }
        let most = values.iter().fold(0f64, |most, value| most.max(value.abs()));
        let (scale, unit) = match self {
            Self::Time => time_unit(most),
            Self::Count | Self::Number | Self::Date => (1.0, ""),
            Self::Named(unit) => (1.0, unit),
        };
        let separator = if unit.is_empty() { "" } else { " " };
        let figures = values.iter().map(|value| fixed(value / scale, step / scale, most / scale));
        figures.map(|figure| format!("{figure}{separator}{unit}")).collect()
    }

    /// Labels the ticks of a logarithmic axis, which have at most two digits.
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

    #[test]
    fn rates_have_no_exponent() {
        let rates = [-9.766e-4, 12.5, 0.0].map(|value| Unit::Named("ppm").show(value));
        assert_eq!(rates, ["-0.000977 ppm", "12.5 ppm", "0 ppm"]);
    }

    #[test]
    fn days_are_dates_as_far_as_the_calendar_goes() {
        assert_eq!(Unit::Date.labels(&[0.0, 20_785.0], 1.0), ["1970-01-01", "2026-11-28"]);
        assert_eq!(Unit::Date.show(2_932_896.0), "9999-12-31");
        assert_eq!([Unit::Date.show(-1.0), Unit::Date.show(2_932_897.0)], ["-1 days", "2.933e6 days"]);
        assert_eq!([day_number("2026-11-28"), day_number("2026-11-31")], [Some(20_785.0), None]);
        assert_eq!([day_number("1969-12-31"), day_number(""), day_number("2026-11-28T00:00:00Z")], [None; 3]);
    }
}
