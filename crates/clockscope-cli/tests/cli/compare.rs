//! Records compared with earlier ones, as users name and misname them.

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use crate::support::under;
use crate::support::{COUNTER, assert_valid, clock, clockscope, fixture, is_emulated, record, run};
use clockscope_testing::{project, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A measurement of an example machine, with rounds of each cost.
fn healthy() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../clockscope-report/tests/fixtures/healthy.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Changes the costs of the clocks of this name.
fn scale(record: &mut Value, name: &str, factor: f64) {
    for clock in record["clocks"].as_array_mut().unwrap() {
        if clock["name"] == name && clock["cost_ns"].is_object() {
            let median = clock["cost_ns"]["median"].as_f64().unwrap() * factor;
            clock["cost_ns"]["median"] = median.into();
            clock["cost_ns"]["rounds"] = vec![median; 8].into();
        }
    }
}

/// A run of the example machine: runs differ by some per mille.
fn example(number: usize) -> Value {
    let mut record = healthy();
    record["recorded_at"] = format!("2026-11-21T03:{number:02}:00Z").into();
    for name in ["tsc", "rdtscp", "realtime_coarse", "monotonic", "process"] {
        scale(&mut record, name, 1.0 + 0.001 * ((number * 7 + name.len()) % 5) as f64);
    }
    record
}

fn write(folder: &Path, name: &str, record: &Value) -> String {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, record.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Five runs in the folder `base` and five in `new`, in which `monotonic` costs 20 % more.
fn both() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..5 {
        write(folder.path(), &format!("base/{number}.json"), &example(number));
        let mut slower = example(number + 5);
        scale(&mut slower, "monotonic", 1.2);
        write(folder.path(), &format!("new/{number}.json"), &slower);
    }
    let path = folder.path().to_owned();
    (folder, path)
}

fn text(path: &Path, name: &str) -> String {
    path.join(name).to_str().unwrap().to_owned()
}

/// Returns what it says that is wrong, with this exit code.
fn refused(arguments: &[&str], code: i32) -> String {
    let output = run(clockscope(&[&["compare"], arguments].concat()), code);
    assert!(output.stdout.is_empty(), "data on stdout in spite of an error");
    String::from_utf8(output.stderr).unwrap()
}

/// Records are files under names, in the folder for the user's data; a file of that name wins.
#[test]
fn baselines_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let baselines = folder.path().join("data/clockscope/baselines");
    let texts = |words: &[&str], code: i32| {
        let mut command = clockscope(words);
        command.current_dir(folder.path()).env("XDG_DATA_HOME", folder.path().join("data"));
        let output = run(command, code);
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [listed, said] = texts(&["compare", "--list"], 0);
    assert!(listed.is_empty() && said.contains("there are no baselines"), "{said}");
    let [measured, checked] = ["healthy", "check"].map(fixture);
    fs::create_dir_all(&baselines).unwrap();
    fs::copy(&checked, baselines.join("before-1.2.json")).unwrap();
    fs::copy(&measured, baselines.join("other.json")).unwrap();
    let [listed, _] = texts(&["compare", "--list"], 0);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("before-1.2  ") && lines[1].starts_with("other       "),
        "{listed}"
    );
    assert!(lines[0].contains("  check  Example CPU") && lines[1].contains("  measure  "), "{listed}");
    assert!(lines[1].ends_with("other.json"), "{listed}");

    // It stands for its file wherever a record is expected.
    let json = texts(&["compare", "other", &measured, "--json"], 2);
    assert!(json[1].contains("are the same record"), "{}", json[1]);
    let [_, said] = texts(&["compare", "other2"], 4);
    assert!(said.contains("did you mean other?"), "{said}");
    // On this machine: the record is one of another.
    let [_, said] = texts(&["compare", "other"], 3);
    assert!(said.contains("are of different machines"), "{said}");
    fs::write(folder.path().join("other"), "x").unwrap();
    let [_, said] = texts(&["compare", "other"], 4);
    assert!(said.contains("cannot compare other: "), "a file wins: {said}");

    for name in ["", "a/b", "../x", ".x", "-", "a b", "é", &"x".repeat(65)] {
        let [_, said] = texts(&["measure", "-d", "1h", "--save", name], 2);
        assert!(said.contains("is not a name of a baseline"), "{name}: {said}");
    }
    let [_, said] = texts(&["check", "-d", "1h", "--save", "other"], 2);
    assert!(said.contains("other.json exists: --replace"), "{said}");
    let new = baselines.join("new.json");
    for command in ["measure", "check"] {
        let [_, said] = texts(&[command, "-d", "1h", "--save", "new", "-o", new.to_str().unwrap()], 2);
        assert!(said.contains("--save and --output name the same file") && !new.exists(), "{said}");
    }
    fs::write(baselines.join("before-1.2.json"), "{").unwrap();
    assert!(texts(&["compare", "--list"], 0)[0].contains("damaged: "));
}

/// A measurement of now is compared with a former one.
#[test]
fn a_baseline_is_measured_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let command = |words: &[&str]| {
        let mut command = clockscope(words);
        command.env("XDG_DATA_HOME", folder.path());
        command
    };
    let output = run(command(&["measure", COUNTER[0], "monotonic", "--save", "now", "--json"]), 0);
    assert!(String::from_utf8(output.stderr).unwrap().contains("`clockscope compare now`"));
    let saved = fs::read(folder.path().join("clockscope/baselines/now.json"));
    assert!(cfg!(windows) || saved.unwrap() == output.stdout);
    let found = record(command(&["compare", "now", "--json"]));
    let names: Vec<&str> =
        found["clocks"].as_array().unwrap().iter().map(|clock| clock["name"].as_str().unwrap()).collect();
    assert_eq!(names, [COUNTER[0], "monotonic"]);
    assert_eq!(found["new"]["files"], json!([]));
    let [save, replace] = [&["check", "monotonic", "-d", "50ms", "--save", "now"][..], &["--replace"]];
    let output = run(command(&[save, replace].concat()), 0);
    assert!(String::from_utf8(output.stderr).unwrap().contains("`clockscope check --baseline now`"));
    let output = run(command(&[save, replace, &["--quiet"]].concat()), 0);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// A usual record has several runs, so that two of them show what has changed.
#[test]
fn usual_records_can_be_compared() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.json", "b.json"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    for file in &files {
        let output = run(clockscope(&[COUNTER[0], "monotonic", "-d", "1.6s", "-q", "--json", "-o", file]), 0);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let found: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        // An emulator's program cannot start itself.
        let runs = if is_emulated() { Value::Null } else { 16.into() };
        assert_eq!(found["run"]["runs"], runs);
        assert!(found["run"]["duration_s"].as_f64().unwrap() > 0.5, "{}", found["run"]);
    }
    let found = record(clockscope(&["compare", &files[0], &files[1], "--json"]));
    for clock in found["clocks"].as_array().unwrap().iter().filter(|_| !is_emulated()) {
        assert_eq!((&clock["basis"], &clock["runs"]), (&"runs".into(), &json!([16, 16])), "{clock}");
    }
}

#[test]
fn a_slower_clock_is_named_and_decides_the_exit_code() {
    let (_folder, path) = both();
    let [base, new] = [text(&path, "base"), text(&path, "new")];
    let found = record(clockscope(&["compare", &base, &new, "--json"]));
    assert_eq!(found["schema"], "clockscope.compare");
    assert_eq!((&found["base"]["runs"], &found["new"]["runs"]), (&json!(5), &json!(5)));
    let changes: Vec<&Value> =
        found["clocks"].as_array().unwrap().iter().filter(|clock| clock["change"] == "slower").collect();
    assert!(changes.len() == 2 && changes.iter().all(|clock| clock["name"].as_str().unwrap().starts_with("monotonic")));
    assert_eq!(found["changes"], json!([]));
    let code = |change: &str, code: i32| run(clockscope(&["compare", &base, &new, "--fail-on", change]), code);
    code("slower", 1);
    code("clocksource,events", 0);
    // Records of `measure` have no verdicts.
    code("verdict", 3);
    run(clockscope(&["compare", &new, &base, "--fail-on", "slower"]), 0);
    run(clockscope(&["compare", &base, &new, "--fail-on", "slower", "--margin", "40%"]), 0);
    run(clockscope(&["compare", &base, &new, "--fail-on", "slower", "--clock", "process"]), 0);
}

/// A folder, a pattern, and files with commas name the same records.
#[test]
fn records_are_named_in_several_ways() {
    let (_folder, path) = both();
    let new = text(&path, "new");
    let files: Vec<String> = (0..5).map(|number| text(&path, &format!("base/{number}.json"))).collect();
    let ways = [text(&path, "base"), text(&path, "base/[0-9].js*"), files.join(",")];
    let found = ways.map(|base| record(clockscope(&["compare", &base, &new, "--json"])));
    assert!(found[0] == found[1] && found[1] == found[2]);
    // A file may have a comma in its name.
    let comma = write(&path, "a,b.json", &example(40));
    let found = record(clockscope(&["compare", &comma, &new, "--json"]));
    assert_eq!(found["base"]["files"], json!([comma]));
}

#[test]
fn facts_and_faults_that_are_new_are_found() {
    let (_folder, path) = both();
    let [base, new] = [text(&path, "base"), text(&path, "new")];
    let mut changed = example(41);
    changed["environment"]["clocksource"] = "hpet".into();
    changed["clocks"][3]["events"]["regression"] = 2.into();
    let changed = write(&path, "changed.json", &changed);
    for change in ["clocksource", "events"] {
        run(clockscope(&["compare", &base, &changed, "--fail-on", change]), 1);
        run(clockscope(&["compare", &base, &new, "--fail-on", change]), 0);
    }
    let mut unknown = example(42);
    unknown["environment"]["clocksource"] = Value::Null;
    let unknown = write(&path, "unknown.json", &unknown);
    run(clockscope(&["compare", &base, &unknown, "--fail-on", "clocksource"]), 3);
}

/// The kernel went from tsc to hpet: reads of the clocks that it builds cost a hundred times as
/// much, those of the counter what they did. One run a side is enough for that.
#[test]
fn a_switched_clocksource_is_named_with_what_it_costs() {
    let folder = tempfile::tempdir().unwrap();
    let base = write(folder.path(), "base.json", &example(0));
    let mut switched = example(1);
    switched["environment"]["clocksource"] = "hpet".into();
    scale(&mut switched, "monotonic", 100.0);
    let new = write(folder.path(), "new.json", &switched);
    let found = record(clockscope(&["compare", &base, &new, "--json"]));
    let change = &found["changes"][0];
    assert_eq!((&change["fact"], &change["new"]), (&json!("clocksource"), &json!(["hpet"])), "{found:#}");
    assert_eq!(clock(&found, "monotonic")["change"], "slower");
    assert_ne!(clock(&found, "tsc")["change"], "slower");
    run(clockscope(&["compare", &base, &new, "--fail-on", "clocksource"]), 1);
    let page = run(clockscope(&["compare", &base, &new, "--format", "html"]), 0).stdout;
    let page = String::from_utf8(page).unwrap();
    // The ratios, and the costs of both sides.
    assert_eq!(page.matches("<figure id=").count(), 2);
    assert!(page.contains("<figure id=\"chart-ratios\">") && page.contains("hpet"));
    let (_, data) = page.split_once("Data of the chart: ").unwrap();
    assert!(data.split_once("</table>").unwrap().0.contains("slower"), "the data of the chart");
}

#[test]
fn records_that_cannot_be_compared_are_refused() {
    let (_folder, path) = both();
    let [base, new, first] = ["base", "new", "base/0.json"].map(|name| text(&path, name));
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/../clockscope-report/tests/fixtures/steps.json");
    let check = steps.replace("steps.json", "check.json");
    let whole = healthy().to_string();
    let bad = |name: &str, text: &str| {
        fs::write(path.join(name), text).unwrap();
        path.join(name).to_str().unwrap().to_owned()
    };
    let newer = bad("newer.json", &whole.replace("\"schema_version\":1", "\"schema_version\":2"));
    let empty = bad("empty.json", "");
    let cut = bad("cut.json", &whole[..whole.len() / 2]);
    let binary = bad("binary.json", "not a record");
    let mut all = Vec::new();
    for (file, hint) in [
        (&newer, "the record has schema_version 2, this program reads 1"),
        (&empty, "the file is empty"),
        (&cut, "the file is cut off"),
        (&binary, "not a clockscope record"),
        (&text(&path, "missing.json"), "missing.json"),
    ] {
        let said = refused(&[&base, file], 4);
        assert!(said.contains(hint) && said.contains("cannot compare"), "{file}: {said}");
        all.push((4, said));
    }
    fs::create_dir(path.join("none")).unwrap();
    let copy = write(&path, "copy.json", &example(0));
    for (arguments, hint) in [
        ([base.as_str(), steps], "its schema is \"clockscope.steps\""),
        ([&base, &check], "records of one command"),
        ([&base, &first], "are the same file"),
        ([&first, &format!("{}/../base/0.json", text(&path, "new"))], "are the same file"),
        ([&base, &copy], "are the same record"),
        ([&text(&path, "none"), &new], "is a folder without a file *.json"),
        ([&text(&path, "*.none"), &new], "no file matches"),
        ([&text(&path, "[.json"), &new], "is not a pattern"),
    ] {
        let said = refused(&arguments, 2);
        assert!(said.contains(hint), "{arguments:?}: {said}");
        all.push((2, said));
    }
    assert!(refused(&[&base, &new, "--clock", "sundial"], 2).contains("unknown clock: sundial"));
    let mut other_cpu = example(43);
    other_cpu["environment"]["cpu"]["model"] = "Other CPU".into();
    let other_cpu = write(&path, "other_cpu.json", &other_cpu);
    all.push((3, refused(&[&base, &other_cpu], 3)));
    all.push((2, refused(&[&base, &format!("{new},{other_cpu}")], 2)));
    all.push((2, refused(&[&base, &new, "-o", &first], 2)));
    let unsaid: Vec<_> = documented_errors()
        .into_iter()
        .filter(|(code, message)| !all.iter().any(|(said_with, said)| said_with == code && said.contains(message)))
        .collect();
    assert!(unsaid.is_empty(), "docs/guides/compare.md: {unsaid:#?}");
}

/// The exit codes and messages of the table of refusals in docs/guides/compare.md.
fn documented_errors() -> Vec<(i32, String)> {
    let page = fs::read_to_string(project().join("docs/guides/compare.md")).unwrap();
    let table = page.split("## Records that are refused").nth(1).unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rejections: Vec<_> = rows
        .take_while(|line| line.starts_with('|'))
        .flat_map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            let messages = cells[2].split('`').skip(1).step_by(2);
            messages.map(|message| (cells[1].parse().unwrap(), message.to_owned())).collect::<Vec<_>>()
        })
        .collect();
    assert!(rejections.len() > 8, "the table is gone: {rejections:?}");
    rejections
}

/// A run of the example machine, of family 6 and this model. Without a model it is a record of an
/// earlier version, which has no identity.
fn example_of(number: usize, model: Option<u32>, microcode: &str) -> Value {
    let mut record = example(number);
    let cpu = record["environment"]["cpu"].as_object_mut().unwrap();
    cpu.remove("identity");
    cpu.remove("microcode");
    if let Some(model) = model {
        cpu.insert("identity".to_owned(), json!({ "family": 6, "model": model, "stepping": 1 }));
        cpu.insert("microcode".to_owned(), microcode.into());
    }
    record
}

/// Hypervisors give processors of several models one name.
#[test]
fn processors_of_one_name_are_other_machines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let of_167 = write(path, "167.json", &example_of(51, Some(167), "0x1"));
    let of_207 = write(path, "207.json", &example_of(52, Some(207), "0x1"));
    let said = refused(&[&of_167, &of_207], 3);
    for model in [167, 207] {
        assert!(said.contains(&format!("\"Example CPU 9000 (family 6, model {model}, stepping 1)\"")), "{said}");
    }
    let found = record(clockscope(&["compare", &of_167, &of_207, "--across-machines", "--json"]));
    assert_eq!(
        (&found["is_other_machine"], &found["changes"][0]["fact"]),
        (&true.into(), &"processor_identity".into())
    );
    // A record of an earlier version may be of either.
    let former = write(path, "former.json", &example_of(53, None, ""));
    let found = record(clockscope(&["compare", &former, &of_207, "--json"]));
    assert_eq!((&found["is_other_machine"], &found["changes"]), (&false.into(), &json!([])));
    // Other microcode is a change of the same machine.
    let updated = write(path, "updated.json", &example_of(54, Some(207), "0x2"));
    let found = record(clockscope(&["compare", &of_207, &updated, "--json"]));
    let change = json!({ "fact": "microcode", "clock": null, "base": ["0x1"], "new": ["0x2"] });
    assert_eq!((&found["is_other_machine"], &found["changes"]), (&false.into(), &json!([change])));
}

#[test]
fn other_machines_are_compared_only_on_request() {
    let (_folder, path) = both();
    let [base, new] = [text(&path, "base"), text(&path, "new")];
    let mut other = example(43);
    other["environment"]["cpu"]["model"] = "Other CPU".into();
    let other = write(&path, "other.json", &other);
    let said = refused(&[&base, &other], 3);
    assert!(said.contains("processor \"Example CPU 9000\" and \"Other CPU\"") && said.contains("--across-machines"));
    let found = record(clockscope(&["compare", &base, &other, "--across-machines", "--json"]));
    assert_eq!(found["is_other_machine"], true);
    // A side of several machines is refused even so.
    let mixed = format!("{new},{other}");
    for arguments in [&[base.as_str(), &mixed][..], &[&base, &mixed, "--across-machines"]] {
        assert!(refused(arguments, 2).contains("expected records of one machine on each side"));
    }
}

/// A measurement that was made now is compared with a file, by itself and in several runs.
#[test]
fn a_measurement_is_compared_with_its_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let base = text(folder.path(), "base.json");
    let measure = ["measure", "monotonic", "--duration", "30ms", "--quiet"];
    run(clockscope(&[&measure[..], &["--repeat", "2", "--json", "-o", &base]].concat()), 0);
    for repeat in [&[][..], &["--repeat", "2"]] {
        let found = record(clockscope(&[&measure[..], repeat, &["--baseline", &base, "--json"]].concat()));
        assert_eq!(found["schema"], "clockscope.compare");
        assert_eq!((&found["base"]["files"], &found["new"]["files"]), (&json!([base]), &json!([])));
        assert_eq!(found["clocks"].as_array().unwrap().len(), 1);
        assert_eq!(clock(&found, "monotonic")["runs"][0], 2);
    }
    let said = run(clockscope(&[&measure[..], &["--fail-on", "slower"]].concat()), 2).stderr;
    assert!(String::from_utf8(said).unwrap().contains("--baseline"));
    // Its own findings count as well.
    run(clockscope(&[&measure[..], &["--baseline", &base, "--fail-on", "unavailable,clocksource"]].concat()), 0);
}

/// Records that this machine's answer cannot be compared with are refused at once: these runs would
/// take an hour.
#[test]
fn a_baseline_is_refused_before_anything_is_measured() {
    let fixture =
        |name: &str| format!("{}/../clockscope-report/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let [measured, checked, steps] = ["healthy", "check", "steps"].map(fixture);
    for (command, base, code, hint) in [
        ("measure", &checked, 2, "records of one command"),
        ("check", &measured, 2, "records of one command"),
        ("measure", &steps, 2, "its schema is \"clockscope.steps\""),
        ("measure", &format!("{measured},{measured}"), 2, "are the same file"),
        ("measure", &fixture("nowhere"), 4, "cannot compare"),
        ("measure", &measured, 3, "and the new run are of different machines"),
        ("check", &checked, 3, "--across-machines compares them"),
    ] {
        let output = run(clockscope(&[command, "--duration", "1h", "--quiet", "--baseline", base]), code);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(hint) && output.stdout.is_empty(), "{command} {base}: {said}");
    }
    for words in [&["--across-machines"][..], &["--clocksource", "hpet", "--baseline", &measured]] {
        run(clockscope(&[&["measure", "--duration", "1h"], words].concat()), 2);
    }
    // Changes have to be since something.
    run(clockscope(&["measure", "--clocksource", "hpet", "--fail-on", "slower"]), 2);
}

#[test]
fn a_baseline_may_be_of_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let base = write(folder.path(), "base.json", &healthy());
    let measure = ["measure", "monotonic", "--duration", "30ms", "--quiet", "--across-machines", "--json"];
    let found = record(clockscope(&[&measure[..], &["--baseline", &base]].concat()));
    assert_eq!(found["is_other_machine"], true);
}

/// A finding of the run decides, and an open comparison does not hide it.
#[test]
#[cfg(target_os = "linux")]
fn findings_of_the_run_hold_beside_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let base = text(folder.path(), "base.json");
    let measure = ["measure", "process", "--duration", "30ms", "--quiet"];
    run(clockscope(&[&measure[..], &["--json", "-o", &base]].concat()), 0);
    let denied = |fail_on: &str, code: i32| {
        let variables = [("CLOCKSCOPE_DENY_CLOCK", "2"), ("CLOCKSCOPE_DENY_HOW", "errno")];
        run(under("deny", &variables, &[&measure[..], &["--baseline", &base, "--fail-on", fail_on]].concat()), code);
    };
    denied("unavailable,slower", 1);
    denied("slower", 3);
}

#[test]
fn a_check_is_compared_with_its_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let base = text(folder.path(), "base.json");
    let check = ["check", "monotonic", "--duration", "1s", "--quiet"];
    run(clockscope(&[&check[..], &["--json", "-o", &base]].concat()), 0);
    let mut trusted: Value = serde_json::from_str(&fs::read_to_string(&base).unwrap()).unwrap();
    let verdict = trusted["verdicts"][0]["verdict"].clone();
    let found = record(clockscope(&[&check[..], &["--baseline", &base, "--json"]].concat()));
    assert_valid(&found);
    let verdicts = found["verdicts"].as_array().unwrap();
    assert!(verdicts.len() == 1 && verdicts[0]["base"] == verdict && found["machine"].is_null(), "{found:#}");
    assert_eq!(found["clocks"], json!([]));
    // A busy machine may leave the verdict undecided, which cannot be compared.
    if verdict == "undecided" {
        skip("the machine did not grant the time that a verdict takes");
        return;
    }
    // Whatever the verdict is, it is better than this one.
    trusted["verdicts"][0]["verdict"] = "unfit".into();
    let unfit = write(folder.path(), "unfit.json", &trusted);
    run(clockscope(&["compare", &base, &unfit, "--fail-on", "verdict"]), i32::from(verdict != "unfit"));
    run(clockscope(&[&check[..], &["--baseline", &unfit, "--fail-on", "verdict"]].concat()), 0);
}
