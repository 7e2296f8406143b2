//! A check in one short line, for monitors that show or keep no more.

use std::collections::BTreeMap;

use clockscope_records::{Check, Envelope, Trustworthiness, Verdict, printable};

use crate::words::shortened;

/// Most characters of the line: node-problem-detector cuts longer ones by default.
pub const LINE_WIDTH: usize = 80;

/// The health of a machine's clocks, by the four states of Nagios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockHealth {
    /// All clocks are trusted.
    Ok,
    /// A clock is limited.
    Warning,
    /// A clock is unfit, or a demand is not met.
    Critical,
    /// The clocks could not be judged.
    Unknown,
}

impl ClockHealth {
    /// Returns the health that the worst verdict implies; `Unknown` where there is none, and where
    /// clocks are trusted but one is not available.
    #[must_use]
    pub fn from_check(check: &Check) -> Self {
        match check.verdicts.iter().map(|verdict| verdict.verdict).min() {
            None => Self::Unknown,
            Some(Trustworthiness::Trusted) if !check.unavailable.is_empty() => Self::Unknown,
            Some(Trustworthiness::Unfit) => Self::Critical,
            Some(Trustworthiness::Limited) => Self::Warning,
            Some(Trustworthiness::Undecided) => Self::Unknown,
            Some(Trustworthiness::Trusted) => Self::Ok,
        }
    }

    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// Returns a check in one line of [`LINE_WIDTH`] characters at most, without a line break.
///
/// It begins with the state and the remark, if there is any, and has as many facts as fit.
#[must_use]
pub fn one_line(check: &Envelope<Check>, health: ClockHealth, remark: Option<&str>) -> String {
    let clocksource = check.environment.clocksource.as_deref().map(|name| format!("clocksource {name}"));
    let missing = check.found.unavailable.iter().map(|missing| missing.clock.as_str()).collect::<Vec<_>>().join(" ");
    let missing = if missing.is_empty() { missing } else { format!("{missing} not available") };
    let mut line = String::new();
    for wording in wordings(&check.found.verdicts) {
        for clocksource in [clocksource.as_deref().unwrap_or_default(), ""] {
            line = state_line(health, &[remark.unwrap_or_default(), &missing, &wording, clocksource]);
            if line.chars().count() <= LINE_WIDTH {
                return line;
            }
        }
    }
    cut(&line)
}

/// Returns an error in one line of [`LINE_WIDTH`] characters at most, for a check that failed.
#[must_use]
pub fn one_line_of_error(error: &str) -> String {
    cut(&state_line(ClockHealth::Unknown, &[error]))
}

fn state_line(health: ClockHealth, parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    // Nagios takes the text after a bar for figures.
    printable(&format!("clockscope {}: {}", health.as_str(), parts.join("; "))).replace('|', "/")
}

/// Shortens a line, marked in ASCII: some monitors show nothing else.
fn cut(line: &str) -> String {
    shortened(line, LINE_WIDTH, "...")
}

/// Words the verdicts in several ways, the longest first.
fn wordings(verdicts: &[Verdict]) -> Vec<String> {
    let Some(worst) = verdicts.iter().map(|found| found.verdict).min() else {
        return vec!["no clock was judged".to_owned()];
    };
    let brief = counts(verdicts.iter()).join(", ");
    let found: Vec<&Verdict> = verdicts.iter().filter(|found| found.verdict == worst).collect();
    let names = found.iter().map(|found| found.clock.as_str()).collect::<Vec<_>>().join(" ");
    if worst == Trustworthiness::Trusted {
        return vec![format!("{brief} ({names})"), brief];
    }
    let others = counts(verdicts.iter().filter(|found| found.verdict > worst));
    let reasons = reasons(found[0]);
    let (all_reasons, main_reason) = (in_brackets(&reasons), in_brackets(reasons.get(..1).unwrap_or_default()));
    // The uses, if all clocks share them.
    let use_verdict = found[0].brief();
    let is_shared = found.iter().all(|found| found.brief() == use_verdict);
    let judged = if is_shared { use_verdict } else { worst.to_string() };
    let first = match found.len() {
        1 => found[0].clock.clone(),
        count => format!("{} and {} more", found[0].clock, count - 1),
    };
    let heads = [(&names, &*all_reasons), (&first, &all_reasons), (&first, &main_reason), (&first, "")];
    let heads = heads.map(|(clocks, reasons)| format!("{clocks} {judged}{reasons}"));
    let wordings = heads.into_iter().map(|head| [vec![head], others.clone()].concat().join(", "));
    wordings.chain([brief]).collect()
}

/// Counts verdicts, the worst first: `1 limited`, `2 trusted`.
fn counts<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for found in verdicts {
        *counts.entry(found.verdict).or_insert(0) += 1;
    }
    counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect()
}

fn in_brackets(reasons: &[&str]) -> String {
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) }
}

/// Names the checks that decide a verdict.
fn reasons(verdict: &Verdict) -> Vec<&str> {
    let mut because: Vec<&str> = Vec::new();
    for evidence in verdict.evidence.iter().filter(|evidence| evidence.decides) {
        let name = evidence.data.name();
        if !because.contains(&name) {
            because.push(name);
        }
    }
    because
}

#[cfg(test)]
mod tests {
    use clockscope_records::checks::{self, Suspect};
    use clockscope_records::{CheckEvidence, Environment, EvidenceData, Figure, Finding, UnreadableClock, Uses};

    use super::*;

    fn verdict(clock: &str, verdict: Trustworthiness, decides: bool) -> Verdict {
        let check = EvidenceData::Counter(checks::Counter { faults: Vec::new() });
        let evidence = CheckEvidence { data: check, finding: Finding::Against, decides };
        Verdict { clock: clock.to_owned(), verdict, uses: Uses::default(), evidence: vec![evidence] }
    }

    fn line(verdicts: &[(&str, Trustworthiness)], remark: Option<&str>) -> String {
        let of = |(clock, found): &(&str, Trustworthiness)| verdict(clock, *found, *found != Trustworthiness::Trusted);
        let check = Check { verdicts: verdicts.iter().map(of).collect(), ..Check::default() };
        let environment = Environment { clocksource: Figure::Known("tsc".to_owned()), ..Environment::default() };
        let health = ClockHealth::from_check(&check);
        let check = Envelope { schema_version: 1, recorded_at: None, environment, run: None, found: check };
        one_line(&check, health, remark)
    }

    #[test]
    fn the_line_has_as_much_as_fits() {
        use Trustworthiness::{Limited, Trusted, Unfit};
        let many = [("monotonic", Trusted); 12];
        for (verdicts, remark, expected) in [
            (&[("tsc", Trusted), ("tai", Trusted)][..], None, "clockscope OK: 2 trusted (tsc tai); clocksource tsc"),
            (&many, None, "clockscope OK: 12 trusted; clocksource tsc"),
            (
                &[("tsc", Unfit), ("tai", Limited), ("raw", Trusted)],
                None,
                "clockscope CRITICAL: tsc unfit (counter), 1 limited, 1 trusted; clocksource tsc",
            ),
            (
                &[("tsc", Limited), ("tai", Limited)],
                None,
                "clockscope WARNING: tsc tai limited (counter); clocksource tsc",
            ),
            (
                &[("a_clock_with_a_long_name", Limited), ("another_clock_with_a_long_name", Limited)],
                None,
                "clockscope WARNING: a_clock_with_a_long_name and 1 more limited (counter)",
            ),
            (&[], None, "clockscope UNKNOWN: no clock was judged; clocksource tsc"),
            (
                &[("tsc", Unfit)],
                Some("interrupted"),
                "clockscope CRITICAL: interrupted; tsc unfit (counter); clocksource tsc",
            ),
            (&[("a|b\nc\u{1b}[2J", Unfit)], None, "clockscope CRITICAL: a/b c [2J unfit (counter); clocksource tsc"),
        ] {
            let line = line(verdicts, remark);
            assert_eq!(line, expected);
            assert!(line.chars().count() <= LINE_WIDTH, "{line}");
        }
    }

    /// A clock that was not tested has the first of its reasons wherever that fits.
    #[test]
    fn a_line_names_what_was_cut_short() {
        let untested = |check| CheckEvidence { data: check, finding: Finding::Unknown, decides: true };
        let order = EvidenceData::Order(checks::Order {
            regressions: None,
            handoffs: 0,
            pairs: 0,
            shared_with: None,
            worst_ns: None,
            suspect: Suspect::Counter,
            reason: None,
        });
        let rate = EvidenceData::NominalFrequency(checks::NominalFrequency {
            nominal_hz: None,
            reported_by: None,
            measured_hz: None,
            ppm: None,
            lasting_ppm: None,
            bound_ppm: None,
        });
        let evidence = vec![untested(order), untested(rate)];
        let tsc = Verdict { evidence, ..verdict("tsc", Trustworthiness::Undecided, true) };
        let others = ["realtime", "monotonic", "boottime", "tai"];
        let others = others.map(|name| verdict(name, Trustworthiness::Undecided, true));
        let verdicts = [vec![tsc], others.to_vec(), vec![verdict("thread", Trustworthiness::Trusted, false)]].concat();
        let lines = wordings(&verdicts);
        assert!(lines.contains(&"tsc and 4 more undecided (order across CPUs), 1 trusted".to_owned()), "{lines:?}");
    }

    #[test]
    fn a_clock_that_is_not_available_is_no_good_news() {
        let reason = "open of /dev/hpet: No such file or directory".into();
        let hpet = UnreadableClock { clock: "hpet".to_owned(), reason };
        let none = Check { unavailable: vec![hpet], ..Check::default() };
        let of = |verdicts: Vec<Verdict>| Check { verdicts, ..none.clone() };
        let line = |found: Check| {
            let health = ClockHealth::from_check(&found);
            let environment = Environment::default();
            one_line(&Envelope { schema_version: 1, recorded_at: None, environment, run: None, found }, health, None)
        };
        assert_eq!(line(none.clone()), "clockscope UNKNOWN: hpet not available; no clock was judged");
        let beside = line(of(vec![verdict("tsc", Trustworthiness::Trusted, false)]));
        assert_eq!(beside, "clockscope UNKNOWN: hpet not available; 1 trusted (tsc)");
        for (worst, expected) in
            [(Trustworthiness::Trusted, ClockHealth::Unknown), (Trustworthiness::Limited, ClockHealth::Warning)]
        {
            assert_eq!(ClockHealth::from_check(&of(vec![verdict("tsc", worst, true)])), expected);
        }
    }

    #[test]
    fn no_line_is_longer() {
        let long = "x".repeat(100);
        for line in [
            line(&[(&long, Trustworthiness::Limited)], None),
            line(&[("tsc", Trustworthiness::Trusted)], Some(&long)),
            one_line_of_error(&format!("{long}\n{long}")),
        ] {
            assert!(line.chars().count() <= LINE_WIDTH && !line.contains('\n'), "{line}");
        }
        assert_eq!(one_line_of_error("a|b\nc"), "clockscope UNKNOWN: a/b c");
        assert!(one_line_of_error(&long).ends_with("..."));
    }
}
