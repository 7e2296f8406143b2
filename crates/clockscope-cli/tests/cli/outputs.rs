//! The outputs in the documentation have the shape of what the command prints today: it runs each
//! documented command for a short time, and compares the columns of tables, and whether the answer
//! comes first. Figures, rows and sentences are the machine's own.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::{clockscope, is_emulated, run};
use clockscope_testing::{DocumentedCommand, allowed_cpus, documented_commands, project, skip};
use serde_json::Value;

/// The columns that tables have, by the name of their first one.
type Columns = BTreeMap<String, BTreeSet<String>>;

#[test]
fn documented_outputs_have_the_shape_of_real_ones() {
    if is_emulated() {
        return skip("an emulated command is too slow to run every documented one");
    }
    let clocks = names_of_clocks();
    let stored = columns_of_stored_records(&clocks);
    let mut stale = Vec::new();
    let documented = documented_commands();
    let with_output: Vec<_> = documented.iter().filter(|command| !command.output.is_empty()).collect();
    for (command, text) in with_output.iter().zip(answers(&with_output)) {
        let mut columns = stored.clone();
        let lines: Vec<&str> = text.as_deref().unwrap_or_default().lines().collect();
        add(&mut columns, headers(&lines, &clocks));
        let printed: Vec<&str> = command.output.iter().map(String::as_str).collect();
        stale.extend(unknown_columns(&columns, &headers(&printed, &clocks)).map(|what| (command.location(), what)));
        if let Some(first) = lines.first()
            && !printed[0].starts_with('…')
            && is_header(first) != is_header(printed[0])
        {
            stale.push((command.location(), format!("begins with {:?}, the command with {first:?}", printed[0])));
        }
    }
    assert!(stale.is_empty(), "outputs of an earlier shape; show what the command prints today: {stale:#?}");
}

/// Returns today's answer of each command, if that can be known here. Four parts of them run at
/// once: none is busy for as long as it runs.
fn answers(commands: &[&DocumentedCommand]) -> Vec<Option<String>> {
    const AT_ONCE: usize = 4;
    let answer = |command: &&DocumentedCommand| match stored_answer(command) {
        Some(record) => Some(report_of(record, command)),
        None if runs_anywhere(command) => output(command),
        None => None,
    };
    std::thread::scope(|scope| {
        let parts = commands.chunks(commands.len().div_ceil(AT_ONCE).max(1));
        let running: Vec<_> = parts.map(|part| scope.spawn(|| part.iter().map(answer).collect::<Vec<_>>())).collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

/// The stored record that stands for what the command answers: one of `runtimes`, which programs of
/// other languages answer, the answers of another clocksource and those on Windows, and a
/// measurement with the columns of all systems.
fn stored_answer(command: &DocumentedCommand) -> Option<&'static str> {
    let has = |word: &str| command.arguments.iter().any(|argument| argument == word);
    let is_of_windows = WINDOWS.contains(&command.page.as_str());
    if is_of_windows && has("clocksource") {
        Some("clocksource_windows")
    } else if is_of_windows && has("measure") {
        Some("healthy")
    } else if !has("runtimes") {
        None
    } else if has("--clocksource") {
        Some("runtimes_switched")
    } else if has("--list") {
        Some("runtimes_found")
    } else {
        Some("runtimes")
    }
}

/// The record as the command prints its answer.
fn report_of(record: &str, command: &DocumentedCommand) -> String {
    let file = project().join(format!("crates/clockscope-report/tests/fixtures/{record}.json"));
    let mut arguments = vec!["report", file.to_str().unwrap()];
    let words: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
    arguments.extend(words.iter().copied().filter(|word| ["--all", "--brief"].contains(word)));
    arguments.extend(words.windows(2).filter(|two| two[0] == "--columns").flatten());
    String::from_utf8(run(clockscope(&arguments), 0).stdout).unwrap()
}

/// Columns of the terminal that outputs in the documentation are of.
const WIDTH: &str = "100";
/// Pages of outputs of another system.
const WINDOWS: [&str; 2] = ["docs/guides/windows.md", "docs/reference/qpc.md"];

/// Returns true if the command can run on any machine, in a moment: without another clocksource,
/// another system's clocks and a file (`stamps` has a test of its own).
fn runs_anywhere(command: &DocumentedCommand) -> bool {
    !WINDOWS.contains(&command.page.as_str())
        && !command.arguments.iter().any(|word| word == "--clocksource" || word == "stamps")
}

/// Returns its output, asked for a moment only, on CPUs that this process may use; `None` if this
/// machine could not answer.
fn output(command: &DocumentedCommand) -> Option<String> {
    let cpu = allowed_cpus()[0].to_string();
    let mut arguments = Vec::new();
    let mut words = command.arguments.iter();
    let mut bounded = false;
    while let Some(word) = words.next() {
        arguments.push(word.as_str());
        let short = match word.as_str() {
            "--duration" | "-d" => "100ms",
            "--reads" => "1e4",
            "--cpus" => &cpu,
            _ => continue,
        };
        words.next();
        arguments.push(short);
        bounded |= word != "--cpus";
    }
    let untimed = ["list", "info", "report", "compare", "schema", "clocksource"];
    if !bounded && !arguments.iter().any(|word| untimed.contains(word)) {
        arguments.extend(["--duration", "100ms"]);
    }
    let output = clockscope(&arguments).current_dir(project()).env("COLUMNS", WIDTH).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{}: {}", command.location(), String::from_utf8_lossy(&output.stderr));
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// Cells of a line: what two spaces or more part.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// Returns true if a line names the columns of a table: three names or more, no figure.
fn is_header(line: &str) -> bool {
    let cells = cells(line);
    let figure =
        |cell: &&str| !cell.starts_with(|first: char| first.is_alphabetic() || matches!(first, '×' | '±' | '%'));
    cells.len() >= 3 && cells[0].starts_with(char::is_uppercase) && !cells.iter().any(figure)
}

/// The columns of each table in an output. A clock's name is no name of a column.
fn headers(lines: &[&str], clocks: &BTreeSet<String>) -> Vec<Vec<String>> {
    let headers = lines.iter().filter(|line| is_header(line));
    headers.map(|line| cells(line).into_iter().filter(|cell| !clocks.contains(*cell)).map(unitless).collect()).collect()
}

/// A unit that all rows share stands in the header, so that it depends on the figures.
fn unitless(cell: &str) -> String {
    cell.split_once(" (").map_or(cell, |(name, _)| name).to_owned()
}

fn add(columns: &mut Columns, headers: Vec<Vec<String>>) {
    for header in headers {
        columns.entry(header[0].clone()).or_default().extend(header);
    }
}

/// Columns of the shown headers that no table of today has.
fn unknown_columns<'a>(columns: &'a Columns, printed: &'a [Vec<String>]) -> impl Iterator<Item = String> + 'a {
    printed.iter().flat_map(|header| {
        let today = columns.get(&header[0]);
        header
            .iter()
            .filter(move |name| !today.is_some_and(|today| today.contains(*name)))
            .map(|name| format!("no table that begins with {:?} has a column {name:?}", header[0]))
    })
}

/// Columns that come with what a machine at hand may lack, by the stored records.
fn columns_of_stored_records(clocks: &BTreeSet<String>) -> Columns {
    let mut columns = Columns::new();
    for entry in fs::read_dir(project().join("crates/clockscope-report/tests/fixtures")).unwrap() {
        let file = entry.unwrap().path();
        let document: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        if document["schema"].is_null() {
            continue;
        }
        let is_measured = document["schema"] == "clockscope.measure";
        for options in [&[][..], &["--columns", "all"]].into_iter().take(1 + usize::from(is_measured)) {
            let output =
                run(clockscope(&[&["report", file.to_str().unwrap()], options].concat()).env("COLUMNS", WIDTH), 0);
            let text = String::from_utf8(output.stdout).unwrap();
            add(&mut columns, headers(&text.lines().collect::<Vec<_>>(), clocks));
        }
    }
    columns
}

/// The names of all clocks of all systems, with their paths.
fn names_of_clocks() -> BTreeSet<String> {
    let output = run(clockscope(&["list", "--all-platforms", "--json"]), 0);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = list["clocks"].as_array().unwrap().iter().filter_map(|clock| clock["name"].as_str());
    names
        .flat_map(|name| ["", ":vdso", ":syscall"].map(|path| format!("{name}{path}")))
        .chain(["tsc_lfence", "rdtscp", "rdtscp_lfence"].map(str::to_owned))
        .collect()
}

/// The answers of programs and systems that are not at hand have stored records.
#[test]
fn runtimes_and_clocksources_have_answers() {
    let documented = documented_commands();
    let with_output: Vec<&DocumentedCommand> = documented.iter().filter(|command| !command.output.is_empty()).collect();
    let outputs = |word: &str| {
        with_output
            .iter()
            .filter(|command| command.arguments.first().is_some_and(|first| first == word))
            .collect::<Vec<_>>()
    };
    assert!(
        outputs("runtimes").len() >= 4 && outputs("runtimes").iter().all(|command| stored_answer(command).is_some())
    );
    assert!(outputs("clocksource").iter().any(|command| runs_anywhere(command)));
    assert!(outputs("clocksource").iter().any(|command| stored_answer(command).is_some()));
}

/// Outputs of earlier shapes are found.
#[test]
fn planted_changes_are_found() {
    let clocks = BTreeSet::from(["tsc".to_owned()]);
    let mut columns = Columns::new();
    add(&mut columns, headers(&["  Name   Cost (ns)     ×  tsc  Events", "tsc  8  1  ok"], &clocks));
    let unknown = |line: &str| unknown_columns(&columns, &headers(&[line], &clocks)).collect::<Vec<_>>();
    assert!(unknown("Name  Cost  Events").is_empty());
    assert_eq!(unknown("Name  Cost(ns)  ×"), ["no table that begins with \"Name\" has a column \"Cost(ns)\""]);
    assert_eq!(unknown("Clock  Cost  ×").len(), 3);
    assert!(!is_header("tsc  trusted  -") && !is_header("CPU  Intel") && is_header("Name  Cost  ×"));
}
