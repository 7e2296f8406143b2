//! The text format, version 0.0.4: families of series, and the limit of their number.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::words::Text;

/// Units of records in those of metrics, which are seconds and ratios.
pub(super) const PER_NS: f64 = 1e9;
pub(super) const PER_US: f64 = 1e6;
pub(super) const PER_PPM: f64 = 1e6;

/// Series of one name. All are gauges: each run counts anew.
#[derive(Clone, Debug)]
pub(super) struct Family {
    name: &'static str,
    /// The meaning: a line without characters to escape.
    help: &'static str,
    series: Vec<Series>,
}

/// One series and its value.
#[derive(Clone, Debug)]
pub(super) struct Series {
    labels: Vec<(&'static str, Text)>,
    value: f64,
    /// Series of less weight are left out first.
    weight: u8,
}

impl Series {
    /// Makes a series; `None` if the value is unknown or not finite.
    pub(super) fn new(labels: Vec<(&'static str, Text)>, value: Option<f64>) -> Option<Self> {
        value.filter(|value| value.is_finite()).map(|value| Self { labels, value, weight: 0 })
    }

    pub(super) fn weighing(self, weight: u8) -> Self {
        Self { weight, ..self }
    }

    /// Writes its labels: `{clock="tsc"}`; nothing if there is none. Prometheus takes an empty
    /// value for a missing label.
    fn labels(&self) -> String {
        let labels: Vec<String> = self
            .labels
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) }
    }
}

/// Escapes a label's value.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

impl Family {
    /// Makes a family. Of several series with the same labels, only the first is kept: Prometheus
    /// rejects a file with two.
    pub(super) fn new(
        name: &'static str,
        help: &'static str,
        series: impl IntoIterator<Item = Option<Series>>,
    ) -> Self {
        let mut seen = BTreeSet::new();
        let series = series.into_iter().flatten().filter(|series| seen.insert(series.labels())).collect();
        Self { name, help, series }
    }

    /// Makes a family of one series without labels.
    pub(super) fn of_one(name: &'static str, help: &'static str, value: Option<f64>) -> Self {
        Self::new(name, help, [Series::new(Vec::new(), value)])
    }

    /// Keeps the `count` series of most weight, in their order.
    fn keep(&mut self, count: usize) {
        let mut indices: Vec<usize> = (0..self.series.len()).collect();
        indices.sort_by_key(|index| std::cmp::Reverse(self.series[*index].weight));
        indices.truncate(count);
        let mut index = 0..;
        self.series.retain(|_| index.next().is_some_and(|index| indices.contains(&index)));
    }
}

/// Leaves series out if there are more than `max_series`, those of the last families first, and
/// adds the number left out.
pub(super) fn limit(families: &mut Vec<Family>, max_series: usize) {
    let all: usize = families.iter().map(|family| family.series.len()).sum();
    if all <= max_series {
        return;
    }
    // The number itself is a series.
    let left_out = all + 1 - max_series;
    let mut excess = left_out;
    for family in families.iter_mut().rev() {
        let fewer = excess.min(family.series.len());
        family.keep(family.series.len() - fewer);
        excess -= fewer;
    }
    families.push(Family::of_one(
        "clockscope_series_omitted",
        "Number of series that were left out; --verbose writes all.",
        Some(left_out as f64),
    ));
}

/// Writes all families that have series.
pub(super) fn text(families: &[Family]) -> String {
    let mut text = String::new();
    for Family { name, help, series } in families.iter().filter(|family| !family.series.is_empty()) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for series in series {
            let _ = writeln!(text, "{name}{} {}", series.labels(), number(series.value));
        }
    }
    text
}

/// Writes a number: integers without a fraction, small numbers with an exponent.
fn number(value: f64) -> String {
    /// The largest magnitude up to which all integers are exact.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT { value.to_string() } else { format!("{value:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &'static str, weights: &[u8]) -> Family {
        let series = |(index, weight): (usize, &u8)| {
            Series::new(vec![("place", index.to_string().into())], Some(1.0)).map(|series| series.weighing(*weight))
        };
        Family::new(name, "Test.", weights.iter().enumerate().map(series))
    }

    #[test]
    fn series_of_the_last_families_and_of_least_weight_are_left_out() {
        let limited = |most| {
            let mut families = vec![family("a", &[0, 2, 1]), family("b", &[0, 0])];
            limit(&mut families, most);
            text(&families).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        let a = [r#"a{place="0"} 1"#, r#"a{place="1"} 1"#, r#"a{place="2"} 1"#];
        assert_eq!(limited(5), [a[0], a[1], a[2], r#"b{place="0"} 1"#, r#"b{place="1"} 1"#]);
        assert_eq!(limited(4), [a[0], a[1], a[2], "clockscope_series_omitted 2"]);
        assert_eq!(limited(3), [a[1], a[2], "clockscope_series_omitted 3"]);
        assert_eq!(limited(2), [a[1], "clockscope_series_omitted 4"]);
    }

    #[test]
    fn numbers_are_short_and_whole() {
        let formatted = [0.0, -1.0, 1_795_487_400.0, 16.9e-9, 0.25, 1e300, -9.2e-7].map(number);
        assert_eq!(formatted, ["0", "-1", "1795487400", "1.69e-8", "0.25", "1e300", "-9.2e-7"]);
    }

    #[test]
    fn what_is_unknown_or_no_number_has_no_series() {
        for value in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            assert_eq!(text(&[Family::of_one("a", "Test.", value)]), "", "{value:?}");
        }
        assert_eq!(text(&[Family::of_one("a", "Test.", Some(0.0))]), "# HELP a Test.\n# TYPE a gauge\na 0\n");
    }

    #[test]
    fn labels_are_escaped_and_series_are_unique() {
        let series = |name: &str, value| Series::new(vec![("name", name.into()), ("none", "".into())], Some(value));
        let family = Family::new("a", "Test.", [series("x\"\\y\nz", 1.5), series("x\"\\y z", 2.0), series("", 3e-9)]);
        let expected = "# HELP a Test.\n# TYPE a gauge\na{name=\"x\\\"\\\\y z\"} 1.5\na 3e-9\n";
        assert_eq!(text(&[family]), expected);
    }
}
