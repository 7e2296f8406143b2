use std::collections::{BTreeMap, BTreeSet};

use serde_json::Deserializer;
use tempfile::TempDir;

use super::*;

/// Arguments of the task, as they are typed.
#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    plan: Plan,
}

fn make(arguments: &[&str]) -> Result<()> {
    let words = ["census"].iter().chain(arguments);
    <Line as clap::Parser>::try_parse_from(words)?.plan.make()
}

const HOSTS: &str = "12";
const DAYS: &str = "11";

/// A census, as a program reads it that does not know how it was made.
struct Made {
    folder: TempDir,
    truth: Value,
}

impl Made {
    fn of(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        make(&[&[HOSTS, DAYS, path], options].concat()).unwrap();
        let truth = serde_json::from_slice(&fs::read(folder.path().join("truth.json")).unwrap()).unwrap();
        Self { folder, truth }
    }

    /// All files by their paths below the folder.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(path).unwrap());
                }
            }
        }
        found
    }

    /// The host of the only fault of this name, and the number of its first day.
    fn fault(&self, name: &str) -> (String, usize) {
        let [fault] = self.truth["faults"][name].as_array().unwrap().as_slice() else { panic!("{name}: one host") };
        let first = fault["day"].as_str().unwrap();
        let day = self.days().iter().position(|day| day == first).unwrap();
        (fault["host"].as_str().unwrap().to_owned(), day)
    }

    fn days(&self) -> Vec<String> {
        let mut days: Vec<String> =
            self.files().into_keys().filter_map(|name| Some(name.split('/').nth(1)?.to_owned())).collect();
        days.dedup();
        days
    }

    fn rejects(&self) -> BTreeMap<String, String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        self.truth["rejects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reject| (text(&reject["file"]), text(&reject["why"])))
            .collect()
    }

    /// The lines of each good check, by its host and the number of its day; of two, the later one.
    fn checks(&self) -> BTreeMap<(String, usize), Vec<Value>> {
        let (days, rejects) = (self.days(), self.rejects());
        let mut checks: BTreeMap<(String, usize), Vec<Value>> = BTreeMap::new();
        for (name, content) in self.files() {
            let Some(file) = name.strip_prefix("records/").filter(|file| !rejects.contains_key(*file)) else {
                continue;
            };
            let text = String::from_utf8(content).unwrap();
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let (day, _) = file.split_once('/').unwrap();
            assert!(lines[0]["recorded_at"].as_str().unwrap().starts_with(day), "{file}");
            assert_eq!(lines.last().unwrap()["lines"], lines.len() - 1, "{file}");
            assert!(lines.iter().all(|line| line["check_id"] == lines[0]["check_id"]), "{file}");
            let key =
                (lines[0]["host"].as_str().unwrap().to_owned(), days.iter().position(|other| other == day).unwrap());
            let is_later = |former: &Vec<Value>| lines[0]["recorded_at"].as_str() > former[0]["recorded_at"].as_str();
            if checks.get(&key).is_none_or(is_later) {
                checks.insert(key, lines);
            }
        }
        checks
    }
}

/// The line of a clock's verdict.
fn verdict<'a>(lines: &'a [Value], clock: &str) -> &'a Value {
    lines.iter().find(|line| line["type"] == "verdict" && line["clock"] == clock).unwrap()
}

/// The clock that reads the counter.
fn counter(lines: &[Value]) -> &'static str {
    if lines[0]["environment"]["cpu"]["architecture"] == "aarch64" { "cntvct" } else { "tsc" }
}

/// A piece of a verdict's evidence.
fn evidence<'a>(lines: &'a [Value], clock: &str, check: &str) -> &'a Value {
    let found = verdict(lines, clock)["evidence"].as_array().unwrap();
    found.iter().find(|found| found["check"] == check).unwrap_or(&Value::Null)
}

fn cost_ns(lines: &[Value], clock: &str) -> f64 {
    evidence(lines, clock, "cost")["cost_ns"].as_f64().unwrap()
}

#[test]
fn the_planted_faults_are_in_the_records() {
    let census = Made::of(&[]);
    let (checks, days) = (census.checks(), DAYS.parse::<usize>().unwrap());
    let of = |name: &str| {
        let (host, first) = census.fault(name);
        let on = |day: usize| checks[&(host.clone(), day)].as_slice();
        (first, (0..days).map(on).collect::<Vec<_>>())
    };
    let ratio = |records: &[&[Value]], first: usize, clock: &str| {
        let mean = |part: &[&[Value]]| part.iter().map(|lines| cost_ns(lines, clock)).sum::<f64>() / part.len() as f64;
        mean(&records[first..]) / mean(&records[..first])
    };
    assert_eq!(census.truth["last_day"], "2026-10-31");
    assert_eq!(census.days().len(), days);

    let (first, records) = of("hpet");
    assert_eq!(first, 8);
    let clocksource = |lines: &[Value]| lines[0]["environment"]["clocksource"].as_str().unwrap().to_owned();
    assert!(
        records[..8].iter().all(|lines| clocksource(lines) == "tsc" && verdict(lines, "tsc")["verdict"] == "trusted")
    );
    assert!(
        records[8..].iter().all(|lines| clocksource(lines) == "hpet" && verdict(lines, "tsc")["verdict"] == "limited")
    );
    assert_ne!(records[7][0]["environment"]["kernel"]["release"], records[8][0]["environment"]["kernel"]["release"]);
    assert!(records[8..].iter().all(|lines| (950.0..1_600.0).contains(&cost_ns(lines, "monotonic"))));
    assert!(records[8..].iter().all(|lines| evidence(lines, "monotonic", "cost")["cause"] == "clocksource"));
    assert_eq!(evidence(records[8], "tsc", "kernel_verdict")["cause"]["cause"], "clocksource_option");

    let (first, records) = of("unstable_tsc");
    assert_eq!(verdict(records[first - 1], "tsc")["verdict"], "trusted");
    assert!(records[first..].iter().all(|lines| verdict(lines, "tsc")["verdict"] == "unfit"));
    assert!(records[first..].iter().all(|lines| evidence(lines, "tsc", "offsets")["apart"].as_u64() > Some(0)));
    assert!(evidence(records[first], "tsc", "kernel_verdict")["decides"].as_bool().unwrap());

    let (first, records) = of("slower_kernel");
    assert_eq!(first, days - 4);
    let [slow, same] = ["monotonic", "monotonic_raw"].map(|clock| ratio(&records, first, clock));
    assert!((1.08..1.16).contains(&slow) && (0.96..1.04).contains(&same), "{slow} {same}");

    let (first, records) = of("unsynchronized");
    let civil = |lines: &[Value]| verdict(lines, "realtime")["uses"]["civil"].as_str().unwrap().to_owned();
    // Not every base record has TAI.
    let is_wall = |line: &&Value| line["clock"] == "realtime" || line["clock"] == "tai";
    let are_limited = |lines: &[Value]| lines.iter().filter(is_wall).all(|line| line["verdict"] == "limited");
    assert!(records[first..].iter().all(|lines| civil(lines) == "limited" && are_limited(lines)));
    assert!(records[..first].iter().all(|lines| civil(lines) != "limited"));
    assert_eq!(records[first][0]["synchronization"]["adjtimex"]["state"], "unsynchronized");

    let (first, records) = of("civil_off");
    let behind_s = |lines: &[Value]| lines[0]["synchronization"]["chrony"]["correction_s"].as_f64().unwrap().abs();
    assert!(behind_s(records[first - 1]) < 0.001 && behind_s(records[first]) > 0.03);

    let (first, records) = of("outlier");
    let above = |lines: &&[Value]| cost_ns(lines, "monotonic") > 2.0 * cost_ns(lines, "boottime");
    assert!(first == 0 && records.iter().all(above));

    let (first, records) = of("rate_off");
    let off = |lines: &[Value]| evidence(lines, counter(lines), "nominal_frequency")["ppm"].as_f64().unwrap().abs();
    assert!(off(records[first - 1]) < 20.0 && off(records[first]) > 380.0);
    assert_eq!(evidence(records[first], "monotonic", "rate")["finding"], "against");

    let last_of = |name: &str| {
        let (host, first) = census.fault(name);
        (first, checks.keys().filter(|(other, _)| *other == host).map(|(_, day)| *day).max())
    };
    let (first, last) = last_of("silent");
    assert!(last == Some(first - 1) && first < days - 3, "{first}");
    assert_eq!(last_of("never").1, None);
    assert_eq!(last_of("clock_wrong").1, None);
    let inventory = String::from_utf8(census.files()["inventory.txt"].clone()).unwrap();
    assert_eq!(inventory.lines().count(), 12);
    assert!(inventory.lines().any(|line| line == census.fault("never").0));
    assert_eq!(census.rejects().values().filter(|why| *why == "clock_wrong").count(), days);

    let (_, records) = of("twice");
    assert!(records.iter().all(|lines| clocksource(lines) == "tsc"));
    assert_eq!(census.truth["superseded"].as_array().unwrap().len(), days);
}

#[test]
fn each_base_record_has_hosts_with_its_clocks() {
    let folder = tempfile::tempdir().unwrap();
    make(&["40", DAYS, folder.path().to_str().unwrap(), "--last", "1"]).unwrap();
    let truth = serde_json::from_slice(&fs::read(folder.path().join("truth.json")).unwrap()).unwrap();
    let census = Made { folder, truth };
    let strings = |value: &Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let (checks, mut clocksources) = (census.checks(), BTreeSet::new());
    for base in census.truth["bases"].as_array().unwrap() {
        let (hosts, clocks) = (strings(&base["hosts"]), strings(&base["clocks"]));
        let of_base = checks.iter().filter(|((host, _), _)| hosts.contains(host));
        let healthy = of_base.filter(|(_, lines)| lines[0]["environment"]["clocksource"] == base["clocksource"]);
        let mut count = 0;
        for (_, lines) in healthy {
            count += 1;
            assert!(clocks.iter().all(|clock| cost_ns(lines, clock) > 1.0));
            assert_eq!(verdict(lines, counter(lines))["verdict"], "trusted");
            assert!(evidence(lines, counter(lines), "nominal_frequency")["ppm"].as_f64().is_some());
        }
        assert!(count >= 3, "{base}");
        clocksources.insert(base["clocksource"].as_str().unwrap());
    }
    assert_eq!(Vec::from_iter(clocksources), ["arch_sys_counter", "tsc"]);
}

#[test]
fn bad_files_are_bad_in_their_way() {
    let census = Made::of(&[]);
    let (files, mut kinds) = (census.files(), Vec::new());
    for reject in census.truth["rejects"].as_array().unwrap() {
        let (kind, why) = (reject["kind"].as_str().unwrap(), reject["why"].as_str().unwrap());
        let content = &files[&format!("records/{}", reject["file"].as_str().unwrap())];
        let text = str::from_utf8(content);
        let objects =
            || Deserializer::from_str(text.unwrap()).into_iter::<Value>().map_while(Result::ok).collect::<Vec<_>>();
        let is_whole = || objects().last().is_some_and(|last| last["type"] == "end");
        match kind {
            "corrupt" | "png" => assert!(text.is_err()),
            "empty" => assert!(content.is_empty()),
            "cut_between_lines" => assert!(content.ends_with(b"}\n") && !is_whole()),
            "cut_within_line" => assert!(!content.ends_with(b"}\n") && !is_whole() && objects().len() > 1),
            "foreign_lines" => assert!(objects().len() == 8 && objects()[0].get("schema").is_none()),
            "schema_zero" => assert!(objects().iter().all(|line| line["schema_version"] == 0)),
            "schema_newer" => assert!(objects().iter().all(|line| line["schema_version"] == 99)),
            "joined_lines" => assert!(text.unwrap().lines().count() == objects().len() - 1),
            "duplicate_key" => assert!(text.unwrap().lines().next().unwrap().matches("\"host\":\"").count() > 2),
            "wrong_year" => assert!(is_whole() && why == "clock_wrong"),
            other => panic!("{other}"),
        }
        kinds.push(kind);
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), Kind::STRAY.len() + 1);
}

#[test]
fn the_seed_decides_and_a_fault_can_be_left_out() {
    let [one, same, without] =
        [&["--seed", "7"][..], &["--seed", "7"], &["--seed", "7", "--without", "hpet"]].map(Made::of);
    let files = one.files();
    assert_eq!(files, same.files());
    let (host, _) = one.fault("hpet");
    assert_eq!(without.truth["faults"].get("hpet"), None);
    let healthy = |lines: &Vec<Value>| lines[0]["environment"]["clocksource"] == "tsc";
    assert!(without.checks().iter().filter(|((name, _), _)| *name == host).all(|(_, lines)| healthy(lines)));
    let changed = without.files().into_iter().filter(|(name, content)| files[name] != *content);
    let of_another = |content: &[u8]| !String::from_utf8_lossy(content).contains(&host);
    let changed: Vec<String> =
        changed.filter(|(name, content)| name != "truth.json" && of_another(content)).map(|(name, _)| name).collect();
    assert_eq!(changed, [""; 0]);
}

#[test]
fn the_last_days_are_those_of_the_whole_census() {
    let [whole, last] = [&[][..], &["--last", "2"]].map(Made::of);
    let days = whole.days();
    assert_eq!(last.days(), days[days.len() - 2..]);
    let records = |census: &Made| census.files().into_iter().filter(|(name, _)| name.starts_with("records/"));
    let is_last = |(name, _): &(String, Vec<u8>)| last.days().iter().any(|day| name.contains(day));
    assert!(records(&whole).filter(is_last).eq(records(&last)));
    assert_eq!(last.truth["faults"], whole.truth["faults"]);
    assert!(last.rejects().keys().all(|file| last.files().contains_key(&format!("records/{file}"))));
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let refused = |arguments: &[&str]| format!("{:#}", make(arguments).unwrap_err());
    let unknown = refused(&[HOSTS, DAYS, path, "--without", "gremlins"]);
    assert!(unknown.contains("\"gremlins\"") && unknown.contains("hpet, unstable_tsc, slower_kernel"), "{unknown}");
    assert!(refused(&["3", DAYS, path]).contains("expected 12 or more"));
    assert!(refused(&[HOSTS, "2", path]).contains("expected 10 to 3650"));
    for days in ["0", "12"] {
        assert!(refused(&[HOSTS, DAYS, path, "--last", days]).contains("expected 1 to 11"));
    }
    assert!(refused(&[HOSTS, DAYS, path, "--seed"]).contains("--seed"));
    fs::write(folder.path().join("notes"), "").unwrap();
    assert!(refused(&[HOSTS, DAYS, path]).contains("not an empty folder"));
}
