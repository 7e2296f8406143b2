//! Figures with their units, for sentences and tables.

use std::fmt;

pub use clockscope_core::evidence::PpmBound;
use serde::{Deserialize, Serialize};

/// Shows a time in ns with three digits and the unit that fits it.
#[must_use]
pub fn time(ns: f64) -> String {
    time_with(ns, 3)
}

/// Shows a time in ns with at most so many significant digits and the unit that fits it.
#[must_use]
pub fn time_with(ns: f64, digits: i32) -> String {
    let (figure, unit) = time_parts(ns, digits);
    format!("{figure} {unit}")
}

/// The digits of a tick.
const TICK_DIGITS: i32 = 6;

/// Shows a tick in ns: with six digits, and none of them a zero at the end.
#[must_use]
pub fn tick_time(ns: f64) -> String {
    time_with(ns, TICK_DIGITS)
}

/// Returns a tick as [`tick_time`] shows it: the figure, and the unit.
#[must_use]
pub fn tick_parts(ns: f64) -> (String, &'static str) {
    time_parts(ns, TICK_DIGITS)
}

/// Returns a time as [`time_with`] shows it: the figure, and the unit.
#[must_use]
pub fn time_parts(ns: f64, digits: i32) -> (String, &'static str) {
    // What is rounded to 1000 of a unit is 1 of the next.
    let (scale, unit) = time_unit(ns.abs() * (1.0 + 0.5 * 10f64.powi(-digits)));
    (figure(ns / scale, digits), unit)
}

/// Units of time, from the shortest: their length in ns, and their names, of which the first is
/// shown. `µ` is the micro sign or the Greek letter.
pub const TIME_UNITS: [(f64, &[&str]); 7] = [
    (1.0, &["ns"]),
    (1e3, &["µs", "μs", "us"]),
    (1e6, &["ms"]),
    (1e9, &["s"]),
    (60e9, &["min", "m"]),
    (3600e9, &["h"]),
    (86_400e9, &["d"]),
];
/// Number of the units that times are shown in: up to the second.
const DISPLAYED: usize = 4;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// Returns its length in ns.
    #[must_use]
    pub fn ns(self) -> f64 {
        self.row().0
    }

    fn row(self) -> &'static (f64, &'static [&'static str]) {
        &TIME_UNITS[match self {
            Self::Ns => 0,
            Self::Ms => 2,
            Self::S => 3,
        }]
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().1[0])
    }
}

/// Returns the unit that fits a time: its length in ns, and its name.
#[must_use]
pub fn time_unit(ns: f64) -> (f64, &'static str) {
    let fits = TIME_UNITS[1..DISPLAYED].iter().rfind(|(length, _)| ns >= *length);
    let (length, names) = fits.unwrap_or(&TIME_UNITS[0]);
    (*length, names[0])
}

/// Shows a number with at most so many significant digits.
#[must_use]
pub fn figure(value: f64, digits: i32) -> String {
    trimmed(&significant(value, digits)).to_owned()
}

/// Removes the zeros that end a fraction.
#[must_use]
pub fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Shows a number with so many significant digits, never in scientific notation.
#[must_use]
pub fn significant(value: f64, digits: i32) -> String {
    fixed(value, decimals(value, digits))
}

/// Shows a number with so many digits behind the point. A number that arithmetic has made too large
/// is shown as `∞`, and one that it could not make as `?`.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    match value {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        value if value.is_nan() => "?".to_owned(),
        value => format!("{value:.decimals$}"),
    }
}

/// Rounds a positive number up to so many significant digits, so that as shown it is no smaller.
#[must_use]
pub fn rounded_up(value: f64, digits: i32) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return value;
    }
    let unit = 10f64.powi(value.log10().floor() as i32 + 1 - digits);
    // A number that has so few digits may be a bit off by its binary form.
    let up = (value / unit - 1e-9).ceil() * unit;
    up.max(value)
}

/// Returns how many digits are behind the point of a number that is shown with so many significant
/// ones.
#[must_use]
pub fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let before_point = value.abs().log10().floor() as i32 + 1;
    (digits - before_point).max(0) as usize
}
/// Shows a number of percent with three digits; one below 0.0001 with its power of ten.
#[must_use]
pub fn percent(percent: f64) -> String {
    if percent > 0.0 && percent < 1e-4 { format!("{percent:.2e}%") } else { format!("{}%", figure(percent, 3)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_up_is_no_smaller() {
        for (value, expected) in [(4224.0, "4.23 µs"), (4230.0, "4.23 µs"), (999.5, "1 µs"), (0.0301, "0.0301 ns")] {
            let up = rounded_up(value, 3);
            assert!(up >= value && time(up) == expected, "{value}: {up}");
        }
        assert_eq!(rounded_up(0.0, 3).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn times_have_fitting_units() {
        for (ns, expected) in [
            (1.0, "1 ns"),
            (0.385_19, "0.385 ns"),
            (10.01, "10 ns"),
            (1000.0, "1 µs"),
            (4e6, "4 ms"),
            (1e9, "1 s"),
            (69.841, "69.8 ns"),
            (100.0, "100 ns"),
            (999.6, "1 µs"),
            (999.4, "999 ns"),
            (999_999.9, "1 ms"),
        ] {
            assert_eq!(time(ns), expected);
        }
        assert_eq!([999.999_6, 999.99].map(|ns| time_with(ns, 6)), ["1 µs", "999.99 ns"]);
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(
            [significant(9.4949, 4), significant(247.12, 4), significant(12_345.6, 4)],
            ["9.495", "247.1", "12346"]
        );
        assert_eq!([9.4949, 0.012, 12_345.6, 0.0, f64::INFINITY].map(|value| decimals(value, 4)), [3, 5, 0, 0, 0]);
        let formatted = [0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(|value| significant(value, 4));
        assert_eq!(formatted, ["0", "∞", "-∞", "?"]);
    }
}
