//! `clockscope runtimes` with all runtimes that CI installs, as a user would run it: what each has
//! to show, and that nothing is left behind, also when it is interrupted.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::plan::NotInstalled;
use crate::run;

/// All that have to be measured.
pub(crate) const RUNTIMES: [&str; 13] =
    ["c", "c++", "rust", "go", "java", "dotnet", "mono", "node", "python", "ruby", "php", "perl", "chromium"];
/// Programs by which they are known to be there.
const PROGRAMS: [&str; 13] =
    ["cc", "c++", "rustc", "go", "java", "mono", "mcs", "node", "python3", "ruby", "php", "perl", "chromium"];
/// Instructions for getting all of them on Debian.
const GET: &str = "apt-get install gcc g++ libc6-dev golang-go openjdk-17-jdk-headless mono-runtime mono-mcs nodejs python3 \
                   python3-pip ruby php-cli perl chromium locales, and xtask/fetch-runtimes.sh FOLDER";

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
const MARK: &str = "CLOCKSCOPE_XTASK_MARK";

/// Checks all of them.
pub(crate) fn check() -> Result<()> {
    require()?;
    let folders = Folders::new()?;
    run::debug_command()?;
    // The first run may have to build probes, the second has them.
    for turn in ["built and measured", "measured"] {
        let start = Instant::now();
        let found = folders.measured()?;
        println!("   {turn} in {:.1} s: {}", start.elapsed().as_secs_f64(), judged(&found)?);
        folders.is_tidy()?;
    }
    for (name, processes, word) in INTERRUPTED {
        folders.interrupted(name, processes, word)?;
    }
    println!("   interrupted during the run, nothing is left of {}", INTERRUPTED.map(|(name, ..)| name).join(", "));
    Ok(())
}

/// Path to which xtask/fetch-runtimes.sh has fetched something. Probes run in folders of their own,
/// so that it must not be relative.
fn fetched(what: &str) -> Result<PathBuf> {
    Ok(std::path::absolute(run::built("runtimes"))?.join(what))
}

/// .NET, where it was fetched to.
pub(crate) fn dotnet() -> Result<PathBuf> {
    fetched("dotnet/dotnetcore2/bin/dotnet")
}

/// Fails if something is missing, and says how to get it.
fn require() -> Result<()> {
    let program = PROGRAMS.iter().find(|program| !run::exists(program)).map(ToString::to_string);
    let fetched = [dotnet()?, fetched("locale/de_DE.UTF-8")?];
    let file = fetched.iter().find(|file| !file.exists()).map(|file| file.display().to_string());
    program.or(file).map_or(Ok(()), |what| bail!(NotInstalled(format!("{what} is missing: {GET}"))))
}

/// Gets what is no package of Debian.
pub(crate) fn fetch() -> Result<()> {
    run::with(&[], "xtask/fetch-runtimes.sh", &[&run::built("runtimes")])
}

/// Folders of this check.
struct Folders {
    locales: PathBuf,
    dotnet: PathBuf,
    temporary: PathBuf,
    /// Files that lay in shared memory before.
    shared: Vec<PathBuf>,
}

impl Drop for Folders {
    fn drop(&mut self) {
        // Nothing sensible is left to be done if it cannot be removed.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

impl Folders {
    fn new() -> Result<Self> {
        // Not in the folder that cargo builds into: browsers put sockets there, whose paths must be
        // short.
        let temporary = std::env::temp_dir().join(format!("xtask-{}", std::process::id()));
        fs::create_dir_all(&temporary)?;
        Ok(Self { locales: fetched("locale")?, dotnet: dotnet()?, temporary, shared: shared() })
    }

    /// The command where decimals have commas, for Java as well, whose virtual machine says so
    /// before anything else.
    fn command(&self, names: &[&str], arguments: &[&str]) -> Command {
        let mut command = Command::new(run::built("debug/clockscope"));
        command.arg("runtimes").args(names);
        if names.contains(&"dotnet") {
            command.arg("--runtime").arg(format!("dotnet={}", self.dotnet.display()));
        }
        command.args(["--format", "json", "--quiet"]).args(arguments);
        command.env("TMPDIR", &self.temporary).env(MARK, &self.temporary);
        command.env("LOCPATH", &self.locales).env("LC_ALL", "de_DE.UTF-8");
        command.env("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE");
        command.stdout(Stdio::piped());
        command
    }

    fn measured(&self) -> Result<Value> {
        let output = self.command(&RUNTIMES, &[]).output().context("cannot run clockscope")?;
        if !output.status.success() {
            bail!("clockscope runtimes: {}", output.status);
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Starts a runtime's probe for long, interrupts it when so many processes run, one of which
    /// has this word among its arguments, and looks whether all are gone.
    fn interrupted(&self, name: &str, processes: usize, word: &str) -> Result<()> {
        let mut child = self.command(&[name], &["--duration", "40s", "--timeout", "10min"]).spawn()?;
        let ours = child.id();
        let mut started = Vec::new();
        let has_spread = within(PATIENCE, &mut child, || {
            started = family(ours);
            started.len() >= processes && started.iter().any(|pid| arguments(*pid).contains(word))
        });
        let status = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status()?;
        let output = child.wait_with_output()?;
        has_spread.with_context(|| format!("{name}: {processes} processes, one with {word}"))?;
        if !status.success() || output.status.code() != Some(130) {
            bail!("{name}, interrupted, ended with {} instead of 130", output.status);
        }
        // Some processes of browsers overwrite their environment, others are started at the last
        // moment.
        started.extend(self.marked());
        let left: Vec<String> = started.into_iter().map(arguments).filter(|arguments| !arguments.is_empty()).collect();
        if !left.is_empty() {
            bail!("{name}, interrupted, leaves processes behind: {left:?}");
        }
        self.is_tidy()
    }

    /// All processes that have the mark.
    fn marked(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.temporary.display());
        let environment = |pid: &u32| fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_marked = |pid: &u32| environment(pid).split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
        processes().into_iter().filter(is_marked).collect()
    }

    fn is_tidy(&self) -> Result<()> {
        let shared = shared().into_iter().filter(|file| !self.shared.contains(file));
        let left: Vec<PathBuf> =
            fs::read_dir(&self.temporary)?.flatten().map(|entry| entry.path()).chain(shared).collect();
        if left.is_empty() { Ok(()) } else { bail!("files are left behind: {left:?}") }
    }
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
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

/// Files in shared memory.
fn shared() -> Vec<PathBuf> {
    fs::read_dir("/dev/shm").into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// A process's arguments; empty if it has ended.
fn arguments(pid: u32) -> String {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&arguments).replace('\0', " ")
}

/// Waits until it is so, as long as the child runs.
fn within(patience: Duration, child: &mut Child, mut is_so: impl FnMut() -> bool) -> Result<()> {
    let start = Instant::now();
    while !is_so() {
        if let Some(status) = child.try_wait()? {
            bail!("it ended before: {status}");
        }
        if start.elapsed() > patience {
            bail!("not within {} s", patience.as_secs());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Checks that all was measured, and is what it has to be; returns a few figures for people.
fn judged(found: &Value) -> Result<String> {
    let rows = found["runtimes"].as_array().cloned().unwrap_or_default();
    let of = |runtime: &str| rows.iter().filter(|row| row["runtime"] == runtime).collect::<Vec<_>>();
    for runtime in RUNTIMES {
        let all = of(runtime);
        // What a runtime does not have, it says of that API alone.
        let failed = all.iter().find(|row| row["available"] == false && row["api"].is_null());
        if let Some(row) = failed {
            bail!("{runtime} was not measured: {}", row["reason"]);
        }
        let measured: Vec<&&Value> = all.iter().filter(|row| row["available"] == true).collect();
        if measured.is_empty() {
            bail!("{runtime} has no row: {all:?}");
        }
        for row in measured {
            let is_known = |key: &str| row[key].as_f64().is_some_and(|figure| figure > 0.0);
            if !is_known("cost_ns") || !is_known("observed_resolution_ns") || row["version"].is_null() {
                bail!("{runtime} lacks figures: {row}");
            }
            let moved_by = ["clocksource", "timer_tick", "scheduler"].map(Value::from);
            if !moved_by.contains(&row["moved_by"]) || !row["documented_coarse"].is_boolean() {
                bail!("the probe of {runtime} does not state its facts: {row}");
            }
        }
    }
    let is_fine = found["environment"]["clocksource"].as_str().is_some_and(|name| FINE.contains(&name));
    for (runtime, api, tick_ns) in TICKS.iter().filter(|_| is_fine) {
        let row = of(runtime).into_iter().find(|row| row["api"] == *api).cloned().unwrap_or_default();
        let found = row["tick_ns"].as_f64().unwrap_or(f64::NAN);
        if (found / tick_ns - 1.0).abs() > 1e-3 || found.is_nan() {
            bail!("{runtime} {api} steps by {found} ns instead of {tick_ns}: {row}");
        }
    }
    let measured = rows.iter().filter(|row| row["available"] == true).count();
    Ok(format!("{measured} APIs of {} runtimes", RUNTIMES.len()))
}
