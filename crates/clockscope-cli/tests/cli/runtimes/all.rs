//! All runtimes that CI installs, as a user would run them: what each has to show, and that nothing
//! is left behind, also when it is interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clockscope_testing::{Signal, signal, skip, with_default};
use serde_json::Value;
use serial_test::serial;

use crate::support::{clockscope, run};

/// All that have to be measured.
const RUNTIMES: [&str; 13] =
    ["c", "c++", "rust", "go", "java", "dotnet", "mono", "node", "python", "ruby", "php", "perl", "chromium"];
/// Programs by which they are known to be there.
const PROGRAMS: [&str; 13] =
    ["cc", "c++", "rustc", "go", "java", "mono", "mcs", "node", "python3", "ruby", "php", "perl", "chromium"];

/// Clocksources with which hardware shows through, and nothing is coarser than it has to be.
const FINE: [&str; 2] = ["tsc", "kvm-clock"];
/// Ticks that have to be found, in ns, where the hardware is finer.
const TICKS: [(&str, &str, f64); 5] = [
    ("mono", "Stopwatch.GetTimestamp", 100.0),
    ("dotnet", "DateTime.UtcNow", 100.0),
    ("java", "System.currentTimeMillis", 1e6),
    ("chromium", "performance.now", 100_000.0),
    ("chromium", "performance.now (isolated)", 5_000.0),
];
/// Those that are interrupted, how many processes they are with the command itself, and a word in
/// the arguments of one.
const INTERRUPTED: [(&str, usize, &str); 4] = [
    ("java", 2, "Probe.java"),
    ("dotnet", 2, "--runtimeconfig"),
    ("mono", 2, ".exe"),
    ("chromium", 5, "--type=renderer"),
];
/// Longest wait for what has to happen.
const PATIENCE: Duration = Duration::from_secs(120);
/// A variable by which all processes are known that were started.
const MARK: &str = "CLOCKSCOPE_TEST_MARK";

/// `xtask/fetch-runtimes.sh` fetches .NET and a locale with decimal commas.
#[test]
#[serial]
#[ignore = "measures every runtime that CI installs: needs the whole machine"]
fn all_runtimes_are_measured_and_leave_nothing_behind() {
    let folders = Folders::new();
    if let Some(missing) = folders.missing() {
        let get = format!("`cargo xtask missing`, xtask/fetch-runtimes.sh {}", folders.fetched.display());
        assert!(std::env::var_os("CI").is_none(), "{missing} is missing: {get}");
        return skip(&format!("{missing} is missing: {get}"));
    }
    // The first run may have to build probes, the second has them.
    for _ in 0..2 {
        let output = run(folders.command(&RUNTIMES, &[]), 0);
        assert_measured(&serde_json::from_slice(&output.stdout).unwrap());
        folders.assert_tidy();
    }
    for (name, processes, word) in INTERRUPTED {
        folders.interrupt(name, processes, word);
    }
}

/// Folders of this test.
struct Folders {
    /// Runtimes that xtask/fetch-runtimes.sh has fetched. Probes run in folders of their own, so
    /// that it is not relative.
    fetched: PathBuf,
    /// Not in the folder that cargo builds into: browsers put sockets there, whose paths must be
    /// short.
    temporary: tempfile::TempDir,
    /// Files that lay in shared memory before.
    shared: Vec<PathBuf>,
}

impl Folders {
    fn new() -> Self {
        let fetched = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("runtimes");
        Self { fetched, temporary: tempfile::tempdir().unwrap(), shared: files("/dev/shm") }
    }

    /// A program or a file that is not there.
    fn missing(&self) -> Option<String> {
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let is_there = |program: &str| folders.iter().any(|folder| folder.join(program).is_file());
        let program = PROGRAMS.iter().find(|program| !is_there(program)).map(ToString::to_string);
        let file = [self.dotnet(), self.fetched.join("locale/de_DE.UTF-8")].into_iter().find(|file| !file.exists());
        program.or(file.map(|file| file.display().to_string()))
    }

    fn dotnet(&self) -> PathBuf {
        self.fetched.join("dotnet/dotnetcore2/bin/dotnet")
    }

    /// The command where decimals have commas, for Java as well, whose virtual machine says so
    /// before anything else.
    fn command(&self, names: &[&str], arguments: &[&str]) -> Command {
        let mut command = clockscope(&["runtimes", "--format", "json", "--quiet"]);
        command.args(names).args(arguments);
        if names.contains(&"dotnet") {
            command.arg("--runtime").arg(format!("dotnet={}", self.dotnet().display()));
        }
        command.env("TMPDIR", self.temporary.path()).env(MARK, self.temporary.path());
        command.env("LOCPATH", self.fetched.join("locale")).env("LC_ALL", "de_DE.UTF-8");
        command.env("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE");
        command
    }

    /// Starts a runtime's probe for long, interrupts it once `processes` processes run, one of
    /// which has `word` among its arguments, and checks that all are gone.
    fn interrupt(&self, name: &str, processes: usize, word: &str) {
        let command = self.command(&[name], &["--duration", "40s", "--timeout", "10min"]);
        let mut child = with_default(Signal::INT, &command).stdout(Stdio::null()).spawn().unwrap();
        let ours = child.id();
        let mut started = Vec::new();
        let have_started = wait(&mut child, name, || {
            started = family(ours);
            started.len() >= processes && started.iter().any(|pid| arguments(*pid).contains(word))
        });
        signal(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}, interrupted");
        assert!(have_started, "{name}: expected {processes} processes, one with {word}");
        // Some processes of browsers overwrite their environment, others are started at the last
        // moment.
        started.extend(self.marked());
        let left: Vec<String> = started.into_iter().map(arguments).filter(|arguments| !arguments.is_empty()).collect();
        assert_eq!(left, [""; 0], "{name}, interrupted, leaves processes behind");
        self.assert_tidy();
    }

    /// All processes that have the mark.
    fn marked(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.temporary.path().display());
        let environment = |pid: &u32| fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_marked = |pid: &u32| environment(pid).split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
        processes().into_iter().filter(is_marked).collect()
    }

    /// That no file is left.
    fn assert_tidy(&self) {
        let mut left = files(self.temporary.path());
        left.extend(files("/dev/shm").into_iter().filter(|file| !self.shared.contains(file)));
        assert!(left.is_empty(), "files are left behind: {left:?}");
    }
}

fn files(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn processes() -> Vec<u32> {
    let names = files("/proc");
    names.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// A process and all that descend from it.
fn family(head: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let parents: Vec<(u32, u32)> = processes().into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut family = vec![head];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    family
}

/// A process's arguments; empty if it has ended.
fn arguments(pid: u32) -> String {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&arguments).replace('\0', " ")
}

/// Waits until it is so, as long as the child runs; returns false if that takes too long.
fn wait(child: &mut Child, name: &str, mut is_so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "{name} ended before it was interrupted: {ended:?}");
        if start.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// That all was measured, and is what it has to be.
fn assert_measured(found: &Value) {
    let rows = found["runtimes"].as_array().unwrap();
    for runtime in RUNTIMES {
        let all: Vec<&Value> = rows.iter().filter(|row| row["runtime"] == runtime).collect();
        // What a runtime does not have, it says of that API alone.
        let failed = all.iter().find(|row| row["available"] == false && row["api"].is_null());
        assert!(failed.is_none(), "{runtime} was not measured: {failed:?}");
        let measured: Vec<&&Value> = all.iter().filter(|row| row["available"] == true).collect();
        assert!(!measured.is_empty(), "{runtime} has no row: {all:?}");
        for row in measured {
            let is_known = |key: &str| row[key].as_f64().is_some_and(|figure| figure > 0.0);
            let is_complete = is_known("cost_ns") && is_known("observed_resolution_ns") && !row["version"].is_null();
            assert!(is_complete, "{runtime} lacks figures: {row}");
            let moved_by = ["clocksource", "timer_tick", "scheduler"].map(Value::from);
            let is_stated = moved_by.contains(&row["moved_by"]) && row["documented_coarse"].is_boolean();
            assert!(is_stated, "the probe of {runtime} does not state its facts: {row}");
        }
    }
    let is_fine = found["environment"]["clocksource"].as_str().is_some_and(|name| FINE.contains(&name));
    for (runtime, api, expected_ns) in TICKS.iter().filter(|_| is_fine) {
        let row = rows.iter().find(|row| row["runtime"] == *runtime && row["api"] == *api).unwrap();
        let tick_ns = row["tick_ns"].as_f64().unwrap_or(f64::NAN);
        assert!((tick_ns / expected_ns - 1.0).abs() < 1e-3, "{runtime} {api} ticks in {tick_ns} ns: {row}");
    }
}
