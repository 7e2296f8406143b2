//! Durations on the command line.

use clockscope_records::units::TIME_UNITS;

/// Longest duration that is accepted, in seconds: a day. What runs longer is a service, not a
/// measurement.
const MAX_DURATION_S: f64 = 86_400.0;

/// A duration in seconds, positive and finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seconds(pub(crate) f64);

/// Parses a number with its unit. A bare number is refused: it would be nanoseconds to one reader
/// and seconds to another.
pub(crate) fn parse(text: &str) -> Result<Seconds, String> {
    let trimmed = text.trim();
    let unit_at = trimmed.find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..unit_at].trim(), trimmed[unit_at..].trim());
    if number.is_empty() {
        return Err("expected a number and a unit, such as 500ms or 2.5s".to_owned());
    }
    let scale = match unit {
        "" => 1.0,
        "m" => return Err("\"m\" may be minutes or milliseconds: expected min or ms".to_owned()),
        unit => {
            let known = TIME_UNITS.iter().find(|(_, names)| names.contains(&unit));
            known.ok_or_else(|| format!("unknown time unit \"{unit}\": expected ns, us, ms, s, min, h or d"))?.0 / 1e9
        }
    };
    let number: f64 = number.parse().map_err(|_| "expected a number and a unit, such as 500ms or 2.5s".to_owned())?;
    let seconds = number * scale;
    if seconds.is_nan() || seconds <= 0.0 {
        return Err("expected a time longer than 0".to_owned());
    }
    if unit.is_empty() {
        return Err(format!("expected a unit in the same word, such as {trimmed}ms or {trimmed}s"));
    }
    if seconds > MAX_DURATION_S {
        return Err("expected at most a day (24h)".to_owned());
    }
    Ok(Seconds(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units() {
        for (text, seconds) in [
            ("2.5s", 2.5),
            ("300ms", 0.3),
            ("1e-3 s", 1e-3),
            ("10us", 10e-6),
            ("5 min", 300.0),
            ("24h", 86_400.0),
            ("1d", 86_400.0),
            ("7ns", 7e-9),
        ] {
            let Seconds(found) = parse(text).unwrap();
            assert!((found - seconds).abs() <= seconds * 1e-12, "{text}: {found}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in
            ["0", "-1", "1e99", "inf", "nan", "", "s", "3 fortnights", "1..2", "-0", "25h", "2d", "1e999", "0x10", "5é"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn minutes_and_milliseconds_are_told_apart() {
        assert!(parse("10m").is_err_and(|text| text.contains("min or ms")));
    }

    #[test]
    fn a_bare_number_is_refused() {
        assert_eq!(parse("100").unwrap_err(), "expected a unit in the same word, such as 100ms or 100s");
        assert!(parse("1e-7").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "[0-9.eE+-]{0,6} ?.{0,4}") {
            proptest::prop_assert!(parse(&text).is_ok_and(|Seconds(seconds)| seconds > 0.0) || parse(&text).is_err());
        }
    }
}
