//! A probe's report on an API: one line of JSON, behind whatever else was printed
//! (`probes/README.md`).

use std::collections::BTreeSet;

use clockscope_records::{ClockKind, Work};
use serde::Deserialize;
use serde_json::Value;

use crate::probe_moved_by::ProbeMovedBy;
use crate::shortened::shortened;

/// Beginning of a line that is ours.
const MARK: &str = "{\"clockscope_probe\":";
/// Most durations of batches that a probe keeps.
const MOST_DURATIONS: u64 = 10_000;
/// The version of the protocol that is understood.
const VERSION: u32 = 1;
/// Intervals around one work that a probe measures.
const MOST_INTERVALS: usize = 1000;
/// Steps that a probe keeps.
const MOST_STEPS: usize = 20_000;

/// Report that was printed of an API.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ProbeReport {
    /// It was read.
    Read(ProbeReadings),
    /// The runtime has none, or it is of no use there.
    Unavailable { api: String, reason: String },
}

/// An API's readings, as far as they are kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct ProbeReadings {
    pub(crate) api: String,
    pub(crate) built_on: String,
    /// Absent where the probe does not state it, as the next one.
    #[serde(default)]
    pub(crate) moved_by: Option<ProbeMovedBy>,
    #[serde(default)]
    pub(crate) documented_coarse: Option<bool>,
    pub(crate) units_per_second: u64,
    #[serde(default)]
    pub(crate) nominal_hz: Option<u64>,
    pub(crate) batch_reads: u64,
    /// All that were read.
    pub(crate) batches: u64,
    /// Durations of the first 10,000.
    pub(crate) batch_ns: Vec<u64>,
    /// Differences within batches and how often they were seen, ascending.
    pub(crate) differences: Vec<(i64, u64)>,
    /// Differences other than 0 in the order in which they were seen.
    pub(crate) steps: Vec<i64>,
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// Its kind, where the probe states it.
    #[serde(default)]
    pub(crate) kind: Option<ClockKind>,
    /// True if programs of the language usually measure intervals by it.
    #[serde(default)]
    pub(crate) is_usual: bool,
    /// Errors of intervals around work, where that was asked for.
    #[serde(default)]
    pub(crate) around_work: Vec<ProbeWork>,
}

/// Errors of the intervals that an API measured around work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct ProbeWork {
    pub(crate) work: Work,
    /// Its length, in ns.
    pub(crate) work_ns: u64,
    pub(crate) errors_ns: Vec<u64>,
}

/// Reason why a line that looks like ours cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("it is not what a probe prints: {0}")]
    Malformed(String),
    #[error("the probe speaks version {0} of the protocol, this program {VERSION}")]
    Version(String),
    #[error("its figures contradict each other: {0}")]
    Contradiction(&'static str),
    #[error("it is a second one of {0}")]
    Repeated(String),
}

impl From<serde_json::Error> for LineError {
    fn from(error: serde_json::Error) -> Self {
        // It may quote the line.
        Self::Malformed(shortened(&error.to_string()))
    }
}

/// All lines of a probe's output that are ours, in order. The other lines are nobody's business.
pub(crate) fn parse(output: &str) -> Vec<Result<ProbeReport, LineError>> {
    let mut apis = BTreeSet::new();
    let ours = output.lines().filter_map(|line| Some(one(&line[line.find(MARK)?..])));
    let unrepeated = ours.map(|line| {
        let line = line?;
        let is_first = apis.insert(line.api().to_owned());
        if is_first { Ok(line) } else { Err(LineError::Repeated(line.api().to_owned())) }
    });
    unrepeated.collect()
}

/// Returns true if it is a line of ours.
pub(crate) fn is_ours(line: &str) -> bool {
    line.contains(MARK)
}

fn one(text: &str) -> Result<ProbeReport, LineError> {
    // By a value, as documents are read: code that reads a type from text is several times as
    // large.
    let value: Value = serde_json::from_str(text.trim_end())?;
    if value["clockscope_probe"] != VERSION {
        return Err(LineError::Version(shortened(&value["clockscope_probe"].to_string())));
    }
    if let (Some(api), Some(reason)) = (value["api"].as_str(), value["unavailable"].as_str()) {
        return Ok(ProbeReport::Unavailable { api: shortened(api), reason: shortened(reason) });
    }
    let mut readings = ProbeReadings::deserialize(&value)?;
    readings.api = shortened(&readings.api);
    readings.built_on = shortened(&readings.built_on);
    readings.version = readings.version.as_deref().map(shortened);
    match readings.contradiction() {
        Some(what) => Err(LineError::Contradiction(what)),
        None => Ok(ProbeReport::Read(readings)),
    }
}

impl ProbeReport {
    /// The API that it is about.
    fn api(&self) -> &str {
        match self {
            Self::Read(readings) => &readings.api,
            Self::Unavailable { api, .. } => api,
        }
    }
}

impl ProbeReadings {
    /// Returns what cannot be true, whatever the clock did.
    fn contradiction(&self) -> Option<&'static str> {
        let is_ascending = self.differences.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let is_counted = self.differences.iter().all(|(_, count)| *count > 0);
        let expected = self.batch_reads.checked_sub(1).and_then(|each| each.checked_mul(self.batches));
        let counted = self.differences.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count));
        let durations = self.batches.min(MOST_DURATIONS);
        let has_many_intervals = self.around_work.iter().any(|around| around.errors_ns.len() > MOST_INTERVALS);
        let contradictions = [
            (self.units_per_second == 0 || self.nominal_hz == Some(0), "a frequency of 0"),
            (self.batch_reads < 2 || self.batches == 0, "there is no batch of at least two readings"),
            (self.batch_ns.len() as u64 != durations, "there are not as many durations as batches"),
            (!is_ascending, "its differences are not in ascending order"),
            (!is_counted, "differences were seen 0 times"),
            (counted.is_none() || counted != expected, "there are not as many differences as readings"),
            (self.steps.contains(&0), "a step of 0"),
            (has_many_intervals, "more intervals around a work than 1,000"),
            (self.steps.len() > MOST_STEPS, "more steps than 20,000"),
        ];
        contradictions.into_iter().find(|(is_so, _)| *is_so).map(|(_, words)| words)
    }

    /// Returns the length of the API's unit, in ns.
    pub(crate) fn ns_per_unit(&self) -> f64 {
        1e9 / self.units_per_second as f64
    }

    /// All readings.
    pub(crate) fn reads(&self) -> u64 {
        self.batch_reads.saturating_mul(self.batches)
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::MovedBy;
    use proptest::prelude::*;

    use super::*;
    use crate::probe_moved_by::BySystem;

    const GOOD: &str = r#"{"clockscope_probe":1,"api":"f","built_on":"CLOCK_MONOTONIC","units_per_second":10,"nominal_hz":null,"batch_reads":3,"batches":2,"batch_ns":[7,8],"differences":[[-1,1],[0,2],[5,1]],"steps":[5,-1]}"#;

    fn only(text: &str) -> Result<ProbeReport, LineError> {
        let mut lines = parse(text);
        assert_eq!(lines.len(), 1, "{text}");
        lines.pop().unwrap()
    }

    #[test]
    fn lines_are_found_among_whatever_else_is_printed() {
        let text = format!(
            "Picked up JAVA_TOOL_OPTIONS: x\n\nwarning: {GOOD}\r\n{{\"other\":1}}\n{}\nbye",
            GOOD.replace("\"f\"", "\"g\"")
        );
        let lines = parse(&text);
        assert_eq!(lines.len(), 2);
        for (line, api) in lines.into_iter().zip(["f", "g"]) {
            let ProbeReport::Read(readings) = line.unwrap() else { panic!("it was read") };
            assert_eq!((readings.api.as_str(), readings.reads(), readings.nominal_hz), (api, 6, None));
        }
        assert!(parse("").is_empty());
    }

    #[test]
    fn an_api_has_one_line() {
        let none = r#"{"clockscope_probe":1,"api":"f","unavailable":"gone"}"#;
        let other = GOOD.replace("\"f\"", "\"g\"");
        for second in [GOOD, none, &GOOD.replace("\"f\"", "\"f\\u202e\"")] {
            let lines = parse(&format!("{GOOD}\n{second}\n{other}"));
            assert!(lines.len() == 3 && lines[0].is_ok() && lines[2].is_ok(), "{lines:?}");
            assert_eq!(lines[1].as_ref().unwrap_err().to_string(), "it is a second one of f");
        }
    }

    #[test]
    fn no_text_of_a_line_steers_a_terminal_or_is_endless() {
        let odd = format!("a\\u001b[2J\\u202eb\\u2066c{}", "d".repeat(500));
        let clean = format!("a [2J b c{}…", "d".repeat(190));
        let text = GOOD
            .replace("\"f\"", &format!("\"{odd}\""))
            .replace("CLOCK_MONOTONIC", &odd)
            .replace("\"batch_reads\"", &format!("\"version\":\"{odd}\",\"batch_reads\""));
        let ProbeReport::Read(readings) = only(&text).unwrap() else { panic!("it was read") };
        assert_eq!(clean.chars().count(), 200);
        assert_eq!([&readings.api, &readings.built_on, &readings.version.unwrap()], [&clean; 3]);
        let text = format!(r#"{{"clockscope_probe":1,"api":"{odd}","unavailable":"{odd}"}}"#);
        assert_eq!(only(&text).unwrap(), ProbeReport::Unavailable { api: clean.clone(), reason: clean });
        for text in [
            format!(r#"{{"clockscope_probe":"{odd}"}}"#),
            GOOD.replace("\"batch_reads\":3", &format!("\"batch_reads\":\"{odd}\"")),
        ] {
            let said = only(&text).unwrap_err().to_string();
            assert!(said.chars().count() < 300 && !said.contains(['\u{1b}', '\u{202e}']), "{said}");
        }
    }

    /// Nothing is derived from the words of `built_on`.
    #[test]
    fn facts_that_a_line_does_not_state_are_unknown() {
        let facts = |text: &str| {
            let ProbeReport::Read(readings) = only(text).unwrap() else { panic!("it was read") };
            (readings.moved_by, readings.documented_coarse)
        };
        assert_eq!(facts(GOOD), (None, None));
        for (word, expected) in [
            ("clocksource", MovedBy::Clocksource),
            ("performance_counter", MovedBy::PerformanceCounter),
            ("timer_tick", MovedBy::TimerTick),
            ("scheduler", MovedBy::Scheduler),
            ("other", MovedBy::Other),
            ("a later word", MovedBy::Other),
        ] {
            for coarse in [false, true] {
                let declared = format!(r#""moved_by":"{word}","documented_coarse":{coarse},"units_per_second""#);
                let text = GOOD.replace("\"units_per_second\"", &declared);
                assert_eq!(facts(&text), (Some(ProbeMovedBy::Everywhere(expected)), Some(coarse)), "{word}");
            }
        }
        let each = r#"{"linux":"clocksource","macos":"a later word","windows":"performance_counter","plan9":"x"}"#;
        let text = GOOD.replace("\"units_per_second\"", &format!(r#""moved_by":{each},"units_per_second""#));
        let [linux, macos, windows] =
            [MovedBy::Clocksource, MovedBy::Other, MovedBy::PerformanceCounter].map(Option::Some);
        let expected = BySystem { linux, macos, windows, others: None };
        assert_eq!(facts(&text), (Some(ProbeMovedBy::BySystem(expected)), None));
    }

    #[test]
    fn steps_are_limited_as_the_protocol_says() {
        let with = |count: usize| GOOD.replace("[5,-1]}", &format!("[{}]}}", vec!["5"; count].join(",")));
        assert!(only(&with(MOST_STEPS)).is_ok());
        let said = only(&with(MOST_STEPS + 1)).unwrap_err().to_string();
        assert!(said.ends_with("more steps than 20,000"), "{said}");
    }

    #[test]
    fn an_api_may_be_missing() {
        let line = only(r#"{"clockscope_probe":1,"api":"TickCount64","unavailable":"this runtime has none"}"#).unwrap();
        assert_eq!(
            line,
            ProbeReport::Unavailable { api: "TickCount64".into(), reason: "this runtime has none".into() }
        );
    }

    #[test]
    fn rubbish_is_called_so() {
        for (from, to, complaint) in [
            ("\"clockscope_probe\":1", "\"clockscope_probe\":2", "version 2"),
            ("[5,1]", "[5,1", "not what a probe prints"),
            ("\"units_per_second\":10", "\"units_per_second\":1,5", "not what a probe prints"),
            ("\"units_per_second\":10", "\"units_per_second\":0", "frequency of 0"),
            ("[5,1]", "[5,2]", "not as many differences"),
            ("[5,1]", "[5,18446744073709551615]", "not as many differences"),
            ("[5,1]", "[-5,1]", "ascending"),
            ("[0,2]", "[0,3],[4,0]", "seen 0 times"),
            ("\"batch_reads\":3", "\"batch_reads\":1", "no batch"),
            ("\"batches\":2,", "", "missing field `batches`"),
            ("\"batches\":2,\"batch_ns\":[7,8]", "\"batches\":0,\"batch_ns\":[]", "no batch"),
            ("[7,8]", "[7]", "not as many durations"),
            ("[7,8]", "[7,8,9]", "not as many durations"),
            ("\"batches\":2,\"batch_ns\":[7,8]", "\"batches\":3,\"batch_ns\":[7,8,9]", "not as many differences"),
            ("[5,-1]}", "[5,0]}", "step of 0"),
            ("\"batch_reads\"", "\"moved_by\":7,\"batch_reads\"", "not what a probe prints"),
            ("\"batch_reads\"", "\"moved_by\":{\"linux\":7},\"batch_reads\"", "not what a probe prints"),
            (
                "\"batch_reads\"",
                "\"moved_by\":[\"other\",\"other\",\"other\"],\"batch_reads\"",
                "not what a probe prints",
            ),
            ("\"batch_reads\"", "\"documented_coarse\":\"no\",\"batch_reads\"", "not what a probe prints"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let error = only(&text).unwrap_err().to_string();
            assert!(error.contains(complaint), "{complaint}: {error}");
        }
    }

    #[test]
    fn the_first_ten_thousand_durations_are_there() {
        let of = |batches: usize, durations: usize| {
            let text = GOOD.replacen("\"batches\":2", &format!("\"batches\":{batches}"), 1);
            let text = text.replacen("[7,8]", &format!("[7{}]", ",8".repeat(durations - 1)), 1);
            only(&text.replacen("[0,2]", &format!("[0,{}]", 2 * batches - 2), 1))
        };
        for (batches, durations) in [(9_999, 9_999), (10_000, 10_000), (10_001, 10_000), (1_000_000, 10_000)] {
            let ProbeReport::Read(readings) = of(batches, durations).unwrap() else { panic!("it was read") };
            assert_eq!(readings.reads(), 3 * batches as u64);
        }
        for (batches, durations) in [(10_000, 9_999), (10_001, 10_001), (1_000_000, 6)] {
            let error = of(batches, durations).unwrap_err().to_string();
            assert!(error.contains("not as many durations"), "{error}");
        }
    }

    #[test]
    fn a_work_has_a_thousand_intervals_at_most() {
        let of = |count: usize| {
            let errors = format!("7{}", ",7".repeat(count - 1));
            let works = format!(",\"around_work\":[{{\"work\":\"spin\",\"work_ns\":9,\"errors_ns\":[{errors}]}}]}}");
            only(&format!("{}{works}", GOOD.trim_end_matches('}')))
        };
        let ProbeReport::Read(readings) = of(1000).unwrap() else { panic!("it was read") };
        assert_eq!((readings.around_work[0].work, readings.around_work[0].errors_ns.len()), (Work::Spin, 1000));
        assert!(of(1001).unwrap_err().to_string().contains("more intervals around a work than 1,000"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,200}", at in 0usize..250, cut in 0usize..40) {
            parse(&text);
            // A line of ours with a piece lost or replaced.
            let mut odd = GOOD.to_owned();
            let start = at.min(odd.len());
            odd.replace_range(start..(start + cut).min(odd.len()), &text);
            parse(&odd);
        }

        #[test]
        fn figures_of_any_size_are_taken_or_refused(
            reads in any::<u64>(), unit in any::<u64>(), differences in prop::collection::vec(any::<(i64, u64)>(), 0..5),
            steps in prop::collection::vec(any::<i64>(), 0..5), durations in prop::collection::vec(any::<u64>(), 0..5),
            batches in prop_oneof![0u64..5, any::<u64>()]
        ) {
            let text = serde_json::json!({
                "clockscope_probe": 1, "api": "f", "built_on": "x", "units_per_second": unit, "batch_reads": reads,
                "batches": batches, "batch_ns": durations, "differences": differences, "steps": steps,
            });
            // serde_json orders keys by name: the mark comes behind others, unless it is put in
            // front.
            let text = text.to_string().replacen("{", "{\"clockscope_probe\":1,", 1);
            prop_assert!(parse(&text).len() == 1);
        }
    }
}
