//! Makes a census: the records that a fleet's hosts would have left in some days, by
//! `clockscope check --format ndjson`, with faults that are planted in some of them.
//!
//! `records/` has the records, `inventory.txt` the names of all hosts, a line each. `truth.json`
//! lists the planted faults, and the hosts that are derived from each base record: no query reads
//! it. A seed decides all of it. A fault that is left out changes no other host's records.

mod architecture;
mod base;
mod calendar;
mod cost;
mod fault;
mod host;
mod judgment;
mod record;
mod reject;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use clockscope_records::Document;
use clockscope_report::{Format, Style};
use clockscope_testing::simulation::Random;
use serde_json::{Value, json};

use base::Base;
use calendar::{Day, LAST};
use fault::Fault;
use host::Host;
use record::State;
use reject::{Kind, Reject};
use write::{DayFolder, put};

/// The fewest hosts and days that have room for every fault.
const FEWEST_HOSTS: usize = 12;
const FEWEST_DAYS: u64 = 10;
/// Seconds of a day, but for the last hour: a second check of the day comes up to an hour later.
const FIRST_CHECK_S: u64 = 23 * 3600;
/// Years by which a wrong clock is ahead, and the day that another one shows.
const AHEAD_DAYS: i64 = 40 * 365 + 10;
const FIRST_DAY: Day = Day(0);

/// The task `census`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Census {
    #[command(subcommand)]
    bases: Option<Bases>,
    #[command(flatten)]
    plan: Option<Plan>,
}

#[derive(Subcommand)]
enum Bases {
    /// Renews the kept checks of an emulated and of a simulated machine.
    Bases,
}

/// A census that is to be made.
#[derive(Args)]
pub(crate) struct Plan {
    #[arg(value_name = "HOSTS")]
    hosts: usize,
    #[arg(value_name = "DAYS")]
    days: u64,
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Writes the records of the last days alone.
    #[arg(long, value_name = "DAYS")]
    last: Option<u64>,
    /// Seed of all that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leaves a fault out.
    #[arg(long, value_name = "FAULT", value_parser = Fault::named)]
    without: Vec<Fault>,
    /// Writes a file a day, compressed by zstd.
    #[arg(long = "compact")]
    is_compact: bool,
    /// Derives some hosts from a check of this machine.
    #[arg(long = "here")]
    is_here: bool,
}

/// A fleet, and everything that is planted in it.
struct Fleet {
    seed: u64,
    hosts: Vec<Host>,
    bases: Vec<Base>,
    /// Bad files: the day, counted from 1, the host and the kind.
    strays: Vec<(u64, usize, Kind)>,
}

/// Records of a day that do not count.
#[derive(Default)]
struct NotCounted {
    rejects: Vec<Reject>,
    /// Checks that a later one of the same host and day replaces.
    superseded: Vec<Value>,
}

impl Census {
    /// Makes a census, or renews the kept checks.
    pub(crate) fn run(self) -> Result<()> {
        match (self.bases, self.plan) {
            (None, Some(plan)) => plan.make(),
            _ => base::renew(),
        }
    }
}

impl Plan {
    /// Returns a census with all faults.
    pub(crate) fn new(hosts: usize, days: u64, folder: PathBuf) -> Self {
        Self { hosts, days, folder, last: None, seed: 1, without: Vec::new(), is_compact: false, is_here: false }
    }

    /// Returns the same census without any fault.
    pub(crate) fn healthy(self) -> Self {
        Self { without: Fault::ALL.to_vec(), ..self }
    }

    /// Returns the same census with a file a day, of the last days alone if their number is given.
    pub(crate) fn compact(self, last: Option<u64>) -> Self {
        Self { is_compact: true, last, ..self }
    }

    /// Makes the census.
    pub(crate) fn make(&self) -> Result<()> {
        let written = self.written();
        ensure!(self.hosts >= FEWEST_HOSTS, "a census of {} hosts: expected {FEWEST_HOSTS} or more", self.hosts);
        ensure!((FEWEST_DAYS..=3_650).contains(&self.days), "a census of {} days: expected 10 to 3650", self.days);
        let is_part = (1..=self.days).contains(&written);
        ensure!(is_part, "the last {written} days of a census: expected 1 to {}", self.days);
        let mut bases = base::kept()?;
        if self.is_here {
            bases.push(base::of_this_machine()?);
        }
        self.write(bases)
    }

    /// Returns the number of days whose records are written, the last ones.
    fn written(&self) -> u64 {
        self.last.unwrap_or(self.days)
    }

    /// Writes the census into its folder, which has to be empty.
    fn write(&self, bases: Vec<Base>) -> Result<()> {
        let folder = &self.folder;
        let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
        ensure!(is_empty, "{} is not an empty folder: name another one", folder.display());
        let records = folder.join("records");
        fs::create_dir_all(&records).with_context(|| format!("cannot create {}", records.display()))?;
        let fleet = self.fleet(bases);
        let inventory: String = fleet.hosts.iter().map(|host| format!("{}\n", host.name())).collect();
        put(&folder.join("inventory.txt"), inventory.as_bytes())?;
        let not_counted = self.days(&fleet, &records)?;
        let mut truth = serde_json::to_string_pretty(&self.truth(&fleet, not_counted))?;
        truth.push('\n');
        put(&folder.join("truth.json"), truth.as_bytes())
    }

    /// Draws the fleet.
    fn fleet(&self, bases: Vec<Base>) -> Fleet {
        let mut random = Random::new(self.seed);
        let planted = fault::draw(self.hosts, self.days, &mut random);
        let draw = |(number, planted)| {
            Host::draw(number, planted, self.days, &bases, &mut mixed(&[self.seed, 1, number as u64]))
        };
        let mut hosts: Vec<Host> = planted.into_iter().enumerate().map(draw).collect();
        host::label_hostile(&mut hosts);
        let healthy: Vec<usize> = hosts.iter().filter(|host| host.planted.is_none()).map(|host| host.number).collect();
        let each = (self.hosts / 200).max(1);
        let kinds = Kind::STRAY.into_iter().flat_map(|kind| std::iter::repeat_n(kind, each));
        let stray =
            |kind| (random.between(1, self.days + 1), healthy[random.below(healthy.len() as u64) as usize], kind);
        let strays = kinds.map(stray).collect();
        for host in &mut hosts {
            host.planted = host.planted.filter(|planted| !self.without.contains(&planted.fault));
        }
        Fleet { seed: self.seed, hosts, bases, strays }
    }

    /// Writes the days that are wanted, on all CPUs.
    fn days(&self, fleet: &Fleet, records: &Path) -> Result<Vec<NotCounted>> {
        let first = usize::try_from(self.days - self.written() + 1)?;
        let (next, done) = (AtomicUsize::new(first), AtomicUsize::new(0));
        let work = || {
            let mut found = Vec::new();
            loop {
                let day = next.fetch_add(1, Ordering::Relaxed) as u64;
                if day > self.days {
                    return Ok(found);
                }
                found.push((day, fleet.day(day, self.date(day), DayFolder::new(records, self.is_compact))?));
                if std::io::stderr().is_terminal() {
                    eprint!("\r{} of {} days", done.fetch_add(1, Ordering::Relaxed) + 1, self.written());
                }
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let found: Result<Vec<Vec<_>>> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| worker.join().expect("a worker panicked");
            started.into_iter().map(join).collect()
        });
        if std::io::stderr().is_terminal() {
            eprintln!();
        }
        let mut found: Vec<_> = found?.into_iter().flatten().collect();
        found.sort_by_key(|(day, _)| *day);
        Ok(found.into_iter().map(|(_, not_counted)| not_counted).collect())
    }

    /// Returns the date of a day that is counted from 1.
    fn date(&self, day: u64) -> Day {
        Day(LAST.0 + day as i64 - self.days as i64)
    }

    /// Returns everything that was planted.
    fn truth(&self, fleet: &Fleet, not_counted: Vec<NotCounted>) -> Value {
        let mut faults: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for fault in Fault::ALL.into_iter().filter(|fault| !self.without.contains(fault)) {
            let planted = fleet.hosts.iter().filter_map(|host| host.planted.map(|planted| (host, planted)));
            let entries = planted.filter(|(_, planted)| planted.fault == fault).map(|(host, planted)| {
                let mut entry = json!({ "host": host.name(), "day": self.date(planted.day).date() });
                if let Some(clock) = fault.clock() {
                    entry["clock"] = clock.into();
                }
                entry
            });
            faults.insert(fault.name(), entries.collect());
        }
        let controls = fleet.hosts.iter().filter_map(|host| {
            let day = host.harmless_upgrade()?;
            Some(json!({ "host": host.name(), "day": self.date(day).date(), "kernel": host.release_on(day) }))
        });
        let controls: Vec<Value> = controls.collect();
        let (mut rejects, mut superseded) = (Vec::new(), Vec::new());
        for day in not_counted {
            rejects.extend(day.rejects);
            superseded.extend(day.superseded);
        }
        rejects.sort();
        let bases = fleet.bases.iter().enumerate().map(|(at, base)| {
            let hosts: Vec<&str> = fleet.hosts.iter().filter(|host| host.base == at).map(Host::name).collect();
            let clocks: Vec<&str> = base.clocks().collect();
            json!({ "clocksource": base.clocksource(), "clocks": clocks, "hosts": hosts })
        });
        let bases: Vec<Value> = bases.collect();
        json!({
            "first_day": self.date(1).date(),
            "last_day": LAST.date(),
            "hosts": fleet.hosts.len(),
            "bases": bases,
            "seed": self.seed,
            "faults": faults,
            "rejects": rejects,
            "superseded": superseded,
            "harmless_upgrades": controls,
        })
    }
}

impl Fleet {
    /// Writes the records of a day.
    fn day(&self, day: u64, date: Day, folder: DayFolder<'_>) -> Result<NotCounted> {
        let mut out = folder.open(&date.date())?;
        let mut not_counted = NotCounted::default();
        for host in &self.hosts {
            let fault = host.fault_on(day);
            if matches!(fault, Some(Fault::Silent | Fault::Never)) {
                continue;
            }
            let mut random = mixed(&[self.seed, 2, host.number as u64, day]);
            let second = random.below(FIRST_CHECK_S);
            let state = State::of(host, day);
            let shown = match fault {
                Some(Fault::ClockWrong) if host.number.is_multiple_of(2) => Day(date.0 + AHEAD_DAYS),
                Some(Fault::ClockWrong) => FIRST_DAY,
                _ => date,
            };
            if fault == Some(Fault::Twice) {
                // The later file sorts before the earlier one on every other day.
                let (earlier, later) = if day.is_multiple_of(2) { (1, 0) } else { (0, 1) };
                let (id, text) = self.check(host, &state.clone().superseded(), date.at(second), &mut random)?;
                let file = out.put(host.number, earlier, text.as_bytes())?;
                let (_, text) = self.check(host, &state, date.at(second + 1 + random.below(3_599)), &mut random)?;
                out.put(host.number, later, text.as_bytes())?;
                not_counted.superseded.push(json!({ "host": host.name(), "file": file, "check_id": id }));
                continue;
            }
            let (id, text) = self.check(host, &state, shown.at(second), &mut random)?;
            let file = out.put(host.number, 0, text.as_bytes())?;
            if fault == Some(Fault::ClockWrong) {
                not_counted.rejects.push(reject(host, Kind::WrongYear, file, Some(id))?);
            }
            let kinds = self.strays.iter().filter(|(of_day, of_host, _)| (*of_day, *of_host) == (day, host.number));
            for (turn, (_, _, kind)) in kinds.enumerate() {
                let later = second + 1 + random.below(3_599);
                let (_, text) = self.check(host, &state, date.at(later), &mut random)?;
                let file = out.stray(host.number, turn + 1, &kind.spoil(text, &mut random))?;
                not_counted.rejects.push(reject(host, *kind, file, None)?);
            }
        }
        out.close()?;
        Ok(not_counted)
    }

    /// Makes a check, and returns its number and its lines.
    fn check(&self, host: &Host, state: &State, at: String, random: &mut Random) -> Result<(String, String)> {
        let Base(base) = &self.bases[host.base];
        let mut habits = mixed(&[self.seed, 3, host.number as u64]);
        let record = record::record(base, host, state, at, &mut habits, random);
        let id = record.found.check_id.clone();
        Ok((id, clockscope_report::render(&Document::Check(record), Format::Ndjson, Style::default())?))
    }
}

fn reject(host: &Host, kind: Kind, file: String, check_id: Option<String>) -> Result<Reject> {
    let name = serde_json::to_value(kind)?.as_str().unwrap_or_default().to_owned();
    Ok(Reject { file, why: kind.why(), host: host.name().to_owned(), kind: name, check_id })
}

/// Returns random numbers that these numbers decide.
fn mixed(parts: &[u64]) -> Random {
    parts.iter().fold(Random::new(0), |mut random, part| Random::new(random.any() ^ part))
}
