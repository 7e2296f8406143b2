//! Figures that a bench printed, kept as data: one file a CPU, from which `cargo xtask docs
//! figures` makes the tables of the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::{folder, run};

/// The folder of the files.
const FOLDER: &str = "bench/recorded";

/// The figures that were printed since the program began: name, target, measured.
static ROWS: Mutex<Vec<[String; 3]>> = Mutex::new(Vec::new());

/// A figure as it was printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) figure: String,
    pub(crate) target: String,
    pub(crate) measured: String,
    /// The day, as 2026-11-25.
    pub(crate) date: String,
    /// The commit, short.
    pub(crate) commit: String,
}

impl Figure {
    /// The line that was printed.
    pub(crate) fn line(&self) -> String {
        line(&self.figure, &self.target, &self.measured)
    }
}

pub(super) fn line(figure: &str, target: &str, measured: &str) -> String {
    format!("{figure:<58} {target:<14} {measured}")
}

/// The figures of a CPU, by the bench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) cpu: String,
    /// Further facts that a figure depends on: hypervisor, CPUs, kernel.
    pub(crate) machine: String,
    pub(crate) benches: BTreeMap<String, Vec<Figure>>,
}

impl Recorded {
    /// Returns `AMD EPYC, guest, 2 CPUs, Linux 6.18, 2026-11-25`, with the days of these figures of
    /// a bench, and whether its code has changed since.
    pub(crate) fn measured_on(&self, bench: &str, figures: &[Figure]) -> String {
        let dates = || figures.iter().map(|figure| figure.date.as_str());
        let (first, last) = (dates().min().unwrap_or_default(), dates().max().unwrap_or_default());
        let days = if first == last { first.to_owned() } else { format!("{first} to {last}") };
        let commits: BTreeSet<&str> = figures.iter().map(|figure| figure.commit.as_str()).collect();
        let older = if commits.iter().any(|commit| has_changed(bench, commit)) { OLDER } else { "" };
        format!("{}, {}, {days}{older}", self.cpu, self.machine)
    }
}

/// Mark of figures whose code has changed since they were measured.
const OLDER: &str = ", outdated";

/// Returns a page without these marks, which every commit may move.
pub(crate) fn unmarked(page: &str) -> String {
    page.replace(OLDER, "")
}

/// Returns whether the code that a bench measures has changed since a commit, or that commit is not
/// known.
fn has_changed(bench: &str, commit: &str) -> bool {
    let since = format!("{commit}..HEAD");
    let arguments = [&["rev-list", "--count", &since, "--"], measured_code(bench)].concat();
    run::output("git", &arguments).map_or(true, |count| count.trim() != "0")
}

/// The code that a bench measures, from the top of the repository.
fn measured_code(bench: &str) -> &'static [&'static str] {
    match bench {
        "library" => &[
            ":/crates/clockscope/src",
            ":/crates/clockscope-core/src",
            ":/crates/clockscope-capi/src",
            ":/crates/clockscope-python/src",
        ],
        "runtimes" => &[":/crates/clockscope-runtimes/src"],
        "fleet" => &[":/crates/clockscope-python/python"],
        _ => {
            &[":/crates/clockscope-measure/src", ":/crates/clockscope-statistics/src", ":/crates/clockscope-system/src"]
        }
    }
}

/// Notes a figure that was printed.
pub(super) fn note(figure: &str, target: &str, measured: &str) {
    let row = [figure, target, measured].map(str::to_owned);
    ROWS.lock().unwrap_or_else(PoisonError::into_inner).push(row);
}

/// Writes what was printed into the file of this CPU, in place of the same bench's figures of the
/// same names; nothing if nothing was printed.
pub(crate) fn write(bench: &str) -> Result<()> {
    let rows = std::mem::take(&mut *ROWS.lock().unwrap_or_else(PoisonError::into_inner));
    if rows.is_empty() {
        return Ok(());
    }
    let [date, commit] = [("date", &["--utc", "+%F"][..]), ("git", &["rev-parse", "--short=8", "HEAD"][..])]
        .map(|(program, arguments)| run::output(program, arguments).map(|said| said.trim().to_owned()));
    let (date, commit) = (date?, commit?);
    let dated = |[figure, target, measured]: [String; 3]| Figure {
        figure,
        target,
        measured,
        date: date.clone(),
        commit: commit.clone(),
    };
    let (cpu, machine) = machine()?;
    let path = path(&cpu);
    let mut recorded = match fs::read(&path) {
        Ok(file) => serde_json::from_slice(&file).with_context(|| format!("{} is broken", path.display()))?,
        Err(_) => Recorded { cpu, machine: String::new(), benches: BTreeMap::new() },
    };
    recorded.machine = machine;
    merge(recorded.benches.entry(bench.to_owned()).or_default(), rows.into_iter().map(dated));
    fs::create_dir_all(FOLDER)?;
    fs::write(&path, serde_json::to_string_pretty(&recorded)? + "\n")
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("recorded in {}", path.display());
    Ok(())
}

/// Puts new figures in the places of those of the same names, the others at the end.
fn merge(known: &mut Vec<Figure>, new: impl Iterator<Item = Figure>) {
    for figure in new {
        match known.iter_mut().find(|known| known.figure == figure.figure) {
            Some(known) => *known = figure,
            None => known.push(figure),
        }
    }
}

/// The files of all CPUs, by their names.
pub(crate) fn all() -> Result<Vec<Recorded>> {
    let mut all = Vec::new();
    for path in folder::files(Path::new(FOLDER), |_| false)? {
        all.push(serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("{} is broken", path.display()))?);
    }
    Ok(all)
}

/// The name of this machine's CPU, and the rest of it.
fn machine() -> Result<(String, String)> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    let cpu = cpu(&cpuinfo).context("/proc/cpuinfo names no model: figures of several CPUs would share a file")?;
    let is_guest = field(&cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let cpus = std::thread::available_parallelism()?;
    let kernel = run::output("uname", &["-r"])?;
    let version: Vec<&str> = kernel.trim().split('.').take(2).collect();
    let guest = if is_guest { "guest, " } else { "" };
    Ok((cpu, format!("{guest}{cpus} CPUs, Linux {}", version.join("."))))
}

/// Returns the first CPU's name with the numbers of its model: a hypervisor may hide the model in
/// the name. `None` without them.
fn cpu(cpuinfo: &str) -> Option<String> {
    let numbers = ["cpu family", "model"].map(|name| field(cpuinfo, name));
    if let [Some(family), Some(model)] = numbers {
        return Some(format!("{} (family {family}, model {model})", field(cpuinfo, "model name").unwrap_or("x86")));
    }
    let [implementer, part] = ["CPU implementer", "CPU part"].map(|name| field(cpuinfo, name));
    Some(format!("Arm (implementer {}, part {})", implementer?, part?))
}

fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
}

/// The file of a CPU: its name in lower case, words joined by hyphens.
fn path(cpu: &str) -> PathBuf {
    let words = cpu.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    Path::new(FOLDER).join(name.join("-") + ".json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, measured: &str) -> Figure {
        let [figure, measured] = [name, measured].map(str::to_owned);
        Figure { figure, target: "-".to_owned(), measured, date: String::new(), commit: String::new() }
    }

    #[test]
    fn figures_of_a_part_keep_their_order() {
        let mut known = vec![figure("a", "1"), figure("b", "2")];
        merge(&mut known, [figure("c", "3"), figure("a", "4")].into_iter());
        assert_eq!(known, [figure("a", "4"), figure("b", "2"), figure("c", "3")]);
    }

    /// Figures without a commit, and those of a commit since which the code has changed.
    #[test]
    fn figures_of_older_code_are_marked() {
        let recorded = Recorded { cpu: "ACME 1".to_owned(), machine: "2 CPUs".to_owned(), benches: BTreeMap::new() };
        let measured_on = |commit: &str| {
            let figure = Figure { commit: commit.to_owned(), date: "2026-11-25".to_owned(), ..figure("a", "1") };
            recorded.measured_on("steps", &[figure])
        };
        assert_eq!(measured_on("HEAD"), "ACME 1, 2 CPUs, 2026-11-25");
        for commit in ["-", "85c88d8d"] {
            assert_eq!(measured_on(commit), "ACME 1, 2 CPUs, 2026-11-25, outdated");
            assert_eq!(unmarked(&measured_on(commit)), measured_on("HEAD"));
        }
    }

    #[test]
    fn cpus_of_one_name_have_files_of_their_own() {
        let of_model = |model: u32| {
            let name = "Intel(R) Xeon(R) Processor";
            format!("processor\t: 0\ncpu family\t: 6\nmodel\t\t: {model}\nmodel name\t: {name}\nstepping\t: 1\n")
        };
        let [former, latter] = [167, 207].map(|model| cpu(&of_model(model)).unwrap());
        assert_eq!(former, "Intel(R) Xeon(R) Processor (family 6, model 167)");
        assert_eq!(path(&latter), Path::new("bench/recorded/intel-r-xeon-r-processor-family-6-model-207.json"));
        assert_ne!(path(&former), path(&latter));
        let arm = "CPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu(arm).as_deref(), Some("Arm (implementer 0x41, part 0xd0c)"));
        assert_eq!(cpu("model name\t: Intel(R) Xeon(R) Processor\n"), None);
    }

    #[test]
    fn a_file_is_named_by_its_cpu() {
        assert_eq!(path("Intel(R) Xeon(R) CPU @ 2.80GHz"), Path::new("bench/recorded/intel-r-xeon-r-cpu-2-80ghz.json"));
    }
}
