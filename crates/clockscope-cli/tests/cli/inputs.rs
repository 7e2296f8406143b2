//! Outputs that are inputs, and answers with no result: neither replaces a file.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{clockscope, fixture, run};
use clockscope_testing::{allowed_cpus, skip};
use serde_json::Value;
use tempfile::TempDir;

/// A header of stamps, and a count that its history converts.
const STAMPS: &str = "clockscope stamps 1
clock counter
boot -
process 4711
generation 1
tail 0 0
piece 1000 1000 5000 9223372036854775808 62 20 1000000 30 synchronized 1000000 500
end
1500
";
/// A count after the end of that history.
const COUNT_WITHOUT_TIME: &str = "6000\n";

/// A folder with an input of every kind.
fn inputs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for folder in ["x", "runs"] {
        fs::create_dir(path.join(folder)).unwrap();
    }
    let mut record: Value = serde_json::from_str(&fs::read_to_string(fixture("healthy")).unwrap()).unwrap();
    for (number, name) in ["base.json", "new.json", "page", "runs/1.json", "runs/2.json"].into_iter().enumerate() {
        record["recorded_at"] = format!("2026-11-21T03:0{number}:00Z").into();
        fs::write(path.join(name), record.to_string()).unwrap();
    }
    record["clocks"] = Vec::<Value>::new().into();
    fs::write(path.join("empty.json"), record.to_string()).unwrap();
    fs::copy(fixture("check"), path.join("check.json")).unwrap();
    fs::write(path.join("policy.toml"), "[counter]\ninvariant = true\n").unwrap();
    fs::write(path.join("run.stamps"), STAMPS).unwrap();
    let (header, counts) = STAMPS.split_at(STAMPS.len() - "1500\n".len());
    fs::write(path.join("header"), header).unwrap();
    fs::write(path.join("counts"), counts).unwrap();
    fs::write(path.join("late.stamps"), format!("{header}{COUNT_WITHOUT_TIME}")).unwrap();
    run(inside(path, "steps monotonic --reads 50 --raw run.json"), 0);
    folder
}

/// The command, run in this folder.
fn inside(folder: &Path, words: &str) -> Command {
    let words: Vec<&str> = words.split(' ').collect();
    let mut command = clockscope(&words);
    command.current_dir(folder).env("XDG_DATA_HOME", folder.join("data"));
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// Asserts that the command refuses an output, and that the input and the folder stay as they are.
fn assert_refused(folder: &Path, words: &str, output: &str, input: &str) {
    let before = (names(folder), fs::read(folder.join(input)).unwrap());
    let said = stderr(&run(inside(folder, &format!("{words} {output}")), 2));
    assert!(said.starts_with(&format!("error: --output {output} would replace ")), "{words} {output}: {said}");
    assert!(said.contains(input) && said.trim_end().ends_with(": name another file"), "{words} {output}: {said}");
    assert_eq!((names(folder), fs::read(folder.join(input)).unwrap()), before, "{words} {output}");
}

/// Those that measure would take an hour.
#[test]
fn no_command_replaces_its_input() {
    let folder = inputs();
    let path = folder.path();
    for (words, input) in [
        ("compare base.json new.json -o", "base.json"),
        ("compare base.json new.json -o", "new.json"),
        ("compare base.json,empty.json new.json -o", "empty.json"),
        ("compare runs new.json -o", "runs/2.json"),
        ("compare base.json runs/*.json -o", "runs/1.json"),
        ("compare base.json --across-machines -o", "base.json"),
        ("measure -d 1h --across-machines --baseline base.json -o", "base.json"),
        ("measure -d 1h --across-machines --baseline runs -o", "runs/1.json"),
        ("-d 1h --across-machines --baseline base.json --output", "base.json"),
        ("check -d 1h --across-machines --baseline check.json -o", "check.json"),
        ("check -d 1h --policy policy.toml --json -o", "policy.toml"),
        ("check -d 1h --policy policy.toml --one-line -o", "policy.toml"),
        ("check -d 1h --policy policy.toml --across-machines --baseline check.json -f json -o", "policy.toml"),
        ("advise --from base.json -o", "base.json"),
        ("advise --from empty.json -o", "empty.json"),
        ("report run.json -o", "run.json"),
        ("report base.json -o", "base.json"),
        ("report base.json page -f html -o", "page"),
        ("report page -f svg --chart cost -o", "page"),
        ("stamps run.stamps -o", "run.stamps"),
        ("stamps counts --header header -o", "counts"),
        ("stamps counts --header header -o", "header"),
        ("runtimes ruby -d 1min --json --runtime ruby=header -o", "header"),
    ] {
        assert_refused(path, words, input, input);
    }
}

#[test]
fn an_input_is_recognized_by_any_name() {
    let folder = inputs();
    let path = folder.path();
    let absolute = path.join("base.json").to_str().unwrap().to_owned();
    for output in ["./base.json", "./x/../base.json", &absolute] {
        assert_refused(path, "compare base.json new.json -o", output, "base.json");
        assert_refused(path, "advise --from base.json -o", output, "base.json");
        assert_refused(path, &format!("report {output} -o"), "base.json", "base.json");
    }
    assert_refused(path, "compare runs new.json -o", "x/../runs/1.json", "runs/1.json");
}

#[cfg(unix)]
#[test]
fn an_input_is_recognized_through_links() {
    use std::os::unix::fs::symlink;

    let folder = inputs();
    let path = folder.path();
    symlink("base.json", path.join("symbolic.json")).unwrap();
    symlink("../symbolic.json", path.join("x/twice.json")).unwrap();
    fs::hard_link(path.join("base.json"), path.join("hard.json")).unwrap();
    symlink("runs", path.join("linked")).unwrap();
    for link in ["symbolic.json", "x/twice.json", "hard.json"] {
        assert_refused(path, "compare base.json new.json -o", link, "base.json");
        assert_refused(path, "measure -d 1h --across-machines --baseline base.json -o", link, "base.json");
        assert_refused(path, "advise --from base.json -o", link, "base.json");
        // The input is the link.
        let said = stderr(&run(inside(path, &format!("report {link} -o base.json")), 2));
        assert!(said.contains(&format!("would replace {link}, an input")), "{said}");
    }
    assert_refused(path, "compare runs new.json -o", "linked/1.json", "runs/1.json");
    fs::hard_link(path.join("runs/2.json"), path.join("entry.json")).unwrap();
    assert_refused(path, "compare runs new.json -o", "entry.json", "runs/2.json");
}

#[cfg(unix)]
#[test]
fn standard_input_is_an_input() {
    let folder = inputs();
    let path = folder.path();
    let before = fs::read(path.join("run.json")).unwrap();
    for words in ["report - -o run.json", "report /dev/stdin -o run.json"] {
        let mut command = inside(path, words);
        command.stdin(fs::File::open(path.join("run.json")).unwrap());
        // `run` gives its programs no input.
        let output = command.output().unwrap();
        let said = stderr(&output);
        assert!(said.contains("--output run.json would replace "), "{words}: {said}");
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert_eq!(fs::read(path.join("run.json")).unwrap(), before, "{words}");
    }
}

/// A device is not replaced, and a new file in a folder of records is not an input.
#[test]
fn other_outputs_are_written() {
    let folder = inputs();
    let path = folder.path();
    run(inside(path, "compare runs new.json -o runs/changes.json"), 0);
    run(inside(path, "compare base.json new.json -o runs/1.json"), 0);
    let written = fs::read_to_string(path.join("runs/1.json")).unwrap();
    assert!(written.contains("clockscope.compare"), "{written}");
    if cfg!(unix) {
        run(inside(path, "check monotonic -d 50ms --policy /dev/null -o /dev/null"), 0);
    }
}

#[test]
fn a_baseline_does_not_replace_what_it_is_compared_with() {
    let folder = inputs();
    let path = folder.path();
    if cfg!(windows) {
        return skip("the folder of baselines is not in XDG_DATA_HOME");
    }
    fs::create_dir_all(path.join("data/clockscope/baselines")).unwrap();
    fs::copy(path.join("base.json"), path.join("data/clockscope/baselines/old.json")).unwrap();
    let words = "measure -d 1h --across-machines --baseline old --save old --replace";
    let said = stderr(&run(inside(path, words), 2));
    assert!(said.contains("--save ") && said.contains(" would replace "), "{said}");
}

#[cfg(unix)]
#[test]
fn two_outputs_are_two_files() {
    let folder = inputs();
    let path = folder.path();
    fs::write(path.join("one.json"), "before").unwrap();
    fs::hard_link(path.join("one.json"), path.join("hard.json")).unwrap();
    let said = stderr(&run(inside(path, "steps monotonic --reads 50 --raw one.json -o hard.json"), 2));
    assert!(said.contains("--raw and --output name the same file"), "{said}");
    assert_eq!(fs::read(path.join("one.json")).unwrap(), b"before");
}

/// The document of a run that exits with 3 becomes a new file; an existing one is replaced only by
/// a document with some result.
#[test]
fn an_answer_with_no_result_replaces_nothing() {
    let folder = inputs();
    let path = folder.path();
    let mut rows = vec![
        ("advise --from empty.json", "out.json"),
        ("stamps late.stamps", "out.csv"),
        ("runtimes ruby --runtime ruby=/nowhere/ruby", "out.json"),
        ("runtimes ruby --runtime ruby=/nowhere/ruby --fail-on regression", "out.json"),
        ("runtimes ruby --runtime ruby=/nowhere/ruby --list", "out.json"),
    ];
    let one_cpu = format!("order --offsets -d 50ms --cpus {}", allowed_cpus()[0]);
    if allowed_cpus().len() > 1 {
        rows.push((&one_cpu, "out.json"));
    }
    for (words, output) in rows {
        let file = path.join(output);
        let words = format!("{words} -o {output}");
        fs::write(&file, "before").unwrap();
        let entries = names(path);
        let said = stderr(&run(inside(path, &words), 3));
        let warning = format!("{output}: the answer has no result: the file is left as it was");
        assert!(said.contains(&warning), "{words}: {said}");
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), names(path)), ("before", entries), "{words}");
        fs::remove_file(&file).unwrap();
        assert!(!stderr(&run(inside(path, &words), 3)).contains("left as it was"), "{words}");
        assert!(fs::metadata(&file).unwrap().len() > 0, "{words}");
        fs::remove_file(&file).unwrap();
    }
    fs::write(path.join("out.json"), "before").unwrap();
    run(inside(path, "compare base.json new.json --fail-on verdict -o out.json"), 3);
    assert!(fs::read_to_string(path.join("out.json")).unwrap().contains("clockscope.compare"));
    fs::write(path.join("late.stamps"), format!("{STAMPS}{COUNT_WITHOUT_TIME}")).unwrap();
    fs::write(path.join("out.csv"), "before").unwrap();
    run(inside(path, "stamps late.stamps -o out.csv"), 3);
    assert!(fs::read_to_string(path.join("out.csv")).unwrap().contains("\n1500,"));
}
