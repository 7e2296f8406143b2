//! Numbers on the command line: how many reads, shares, bounds of rates, lists of CPUs.

use clockscope_records::show_cpus;
use clockscope_system::affinity;

const WHOLE: &str = "expected a whole number, such as 10000 or 1e6";

/// Fewest and most runs that are accepted.
const RUNS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Most reads that are accepted: with the cheapest clock these take three hours.
const MAX_READS: f64 = 1e12;

/// Smallest share that is accepted: no clock is steered better.
const MIN_SHARE: f64 = 1e-6;

/// A number of reads, two or more: a single reading differs from nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reads(pub(crate) u64);

/// A share, above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

/// Smallest and largest bound of a rate that is accepted, in ppm.
const MIN_BOUND_PPM: f64 = 1e-6;
const MAX_BOUND_PPM: f64 = 1e6;

/// A bound of a rate, in parts per million.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ppm(pub(crate) f64);

/// CPUs by their numbers; one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cpus(pub(crate) Vec<u32>);

impl Cpus {
    /// Returns their numbers.
    pub(crate) fn list(&self) -> Vec<u32> {
        self.0.clone()
    }
}

/// Parses a number of runs.
pub(crate) fn runs(text: &str) -> Result<u32, String> {
    let runs = text.trim().parse().ok().filter(|runs| RUNS.contains(runs));
    runs.ok_or_else(|| format!("expected {} to {} runs", RUNS.start(), RUNS.end()))
}

/// Parses the number of a CPU.
pub(crate) fn cpu(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| match affinity::allowed() {
        Ok(cpus) => format!("expected a CPU's number, one of {}", show_cpus(&cpus)),
        Err(_) => "expected a CPU's number, such as 0".to_owned(),
    })
}

/// Parses the number of rows of a table.
pub(crate) fn rows(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "expected a whole number of rows, such as 40".to_owned())
}

/// Parses a list of CPUs, as 0-3,8.
pub(crate) fn cpus(text: &str) -> Result<Cpus, String> {
    let bounds = text.split(',').filter_map(|part| part.trim().split_once('-'));
    let bounds = bounds.filter_map(|(first, last)| Some((first.parse::<u32>().ok()?, last.parse::<u32>().ok()?)));
    if let Some((first, last)) = bounds.into_iter().find(|(first, last)| first > last) {
        return Err(format!("{first}-{last} runs backward: expected {last}-{first}"));
    }
    let cpus = affinity::cpu_list(text).filter(|cpus| !cpus.is_empty());
    cpus.map(Cpus).ok_or_else(|| "expected CPU numbers up to 1048576, such as 0-3,8".to_owned())
}

/// Parses a bound, as 0.1ppm or 20ppb.
pub(crate) fn ppm(text: &str) -> Result<Ppm, String> {
    let trimmed = text.trim();
    let (number, scale) = match (trimmed.strip_suffix("ppm"), trimmed.strip_suffix("ppb")) {
        (Some(number), _) => (number, 1.0),
        (_, Some(number)) => (number, 1e-3),
        _ if trimmed.parse::<f64>().is_ok() => return Err(format!("expected a unit: {trimmed}ppm or {trimmed}ppb")),
        _ => (trimmed, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| "expected a bound such as 0.1ppm or 20ppb".to_owned())?;
    let ppm = number * scale;
    if ppm.is_nan() || ppm < MIN_BOUND_PPM {
        return Err("expected at least 0.001ppb: no clock is known better".to_owned());
    }
    if ppm > MAX_BOUND_PPM {
        return Err("expected at most 1000000ppm".to_owned());
    }
    Ok(Ppm(ppm))
}

/// Parses a number of reads, as 10000, 10_000 or 1e4.
pub(crate) fn reads(text: &str) -> Result<Reads, String> {
    let number: f64 = text.trim().replace('_', "").parse().map_err(|_| WHOLE.to_owned())?;
    if number.is_nan() || number.fract() != 0.0 && number.is_finite() {
        return Err(WHOLE.to_owned());
    }
    if number < 2.0 {
        return Err("expected at least 2 reads: a single reading has no difference".to_owned());
    }
    if number > MAX_READS {
        return Err("expected at most 1e12".to_owned());
    }
    Ok(Reads(number as u64))
}

/// Parses a share, as 1% or 0.01.
pub(crate) fn share(text: &str) -> Result<Share, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| "expected a share such as 1% or 0.01".to_owned())?;
    let share = number * scale;
    if share.is_nan() || share <= 0.0 {
        return Err("expected more than 0: no measurement is exact".to_owned());
    }
    if share < MIN_SHARE {
        return Err("expected at least 0.0001%".to_owned());
    }
    if share > 1.0 && scale != 1.0 {
        return Err("expected at most 100%".to_owned());
    }
    if share >= 1.0 && scale == 1.0 {
        let hint = if share <= 100.0 { format!(": did you mean {share}%?") } else { String::new() };
        return Err(format!("expected a share below 1, or a percentage{hint}"));
    }
    Ok(Share(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_reads() {
        for (text, number) in [("2", 2), ("10000", 10_000), ("1e6", 1_000_000), ("10_000", 10_000), (" 7 ", 7)] {
            assert_eq!(reads(text), Ok(Reads(number)), "{text}");
        }
        for text in ["0", "1", "-5", "1e20", "inf", "nan", "", "1.5", "many", "1e-3"] {
            assert!(reads(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_of_runs() {
        assert_eq!([runs("1"), runs(" 1000 ")], [Ok(1), Ok(1000)]);
        for text in ["0", "1001", "-2", "2.5", "", "many"] {
            assert_eq!(runs(text), Err("expected 1 to 1000 runs".to_owned()), "{text}");
        }
    }

    #[test]
    fn shares() {
        for (text, share_of_one) in [("1%", 0.01), ("0.01", 0.01), ("5 %", 0.05), ("100%", 1.0)] {
            let Share(found) = share(text).unwrap();
            assert!((found - share_of_one).abs() < 1e-12, "{text}: {found}");
        }
        for text in ["0", "0%", "-1%", "1e-300", "nan", "inf", "101%", "1", "2", "", "%", "1 percent"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_and_lists() {
        for (text, bound) in [("0.1ppm", 0.1), ("20 ppb", 0.02), ("1e-3ppm", 1e-3)] {
            let Ppm(found) = ppm(text).unwrap();
            assert!((found - bound).abs() < 1e-12, "{text}: {found}");
        }
        for text in ["0", "-1ppm", "nan", "inf", "ppm", "", "1ppt", "1e-9ppm", "2e6ppm", "5"] {
            assert!(ppm(text).is_err(), "{text}");
        }
        assert_eq!(cpus("0-2,70"), Ok(Cpus(vec![0, 1, 2, 70])));
        for text in ["", "a", "3-1", ","] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in ".*") {
            proptest::prop_assert!(ppm(&text).is_ok_and(|Ppm(ppm)| ppm > 0.0) || ppm(&text).is_err());
            proptest::prop_assert!(cpus(&text).is_ok_and(|Cpus(cpus)| !cpus.is_empty()) || cpus(&text).is_err());
            proptest::prop_assert!(reads(&text).is_ok_and(|Reads(number)| number >= 2) || reads(&text).is_err());
            proptest::prop_assert!(share(&text).is_ok_and(|Share(share)| share > 0.0) || share(&text).is_err());
        }
    }
}
