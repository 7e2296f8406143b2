//! Time, memory and disk space of `clockscope-fleet`, on censuses of its own: many days of a fleet,
//! and a day of ever larger ones.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use clockscope_records::grouped;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::figure;
use crate::python::Environment;
use crate::{fleet, folder, run};

const DRIVER: &str = "bench/python/fleet.py";
/// Days that a census has at least.
const CENSUS_DAYS: u64 = 10;
/// Hosts that a census has at least.
const FEWEST_HOSTS: u64 = 12;
/// Hosts of growth, in tenths of those that are asked for.
const TENTHS: [u64; 5] = [1, 3, 10, 30, 100];
/// The hosts and days that targets are for.
const TARGETS_FOR: [u64; 2] = [10_000, 30];

/// Measures so many hosts and days, and a day of fewer and of more hosts.
pub(crate) fn measure(hosts: u64, days: u64) -> Result<()> {
    let bench = Bench { environment: fleet::environment()?, folder: run::built("bench-fleet") };
    let measured = bench.measure(hosts, days);
    folder::remove(&bench.folder)?;
    measured
}

/// An environment that has the package, and a folder for censuses and tables.
struct Bench {
    environment: Environment,
    folder: String,
}

#[derive(Deserialize)]
struct Ingested {
    seconds: f64,
    peak_bytes: u64,
    checks: u64,
    parquet_bytes: u64,
}

#[derive(Deserialize)]
struct Answered {
    seconds: f64,
    peak_bytes: u64,
    /// Seconds of each query.
    queries: BTreeMap<String, f64>,
}

impl Bench {
    fn measure(&self, hosts: u64, days: u64) -> Result<()> {
        for hosts in TENTHS.map(|tenths| hosts * tenths / 10).into_iter().filter(|hosts| *hosts >= FEWEST_HOSTS) {
            self.one_day(hosts)?;
        }
        self.many_days(hosts, days)
    }

    /// Measures the last day of a census.
    fn one_day(&self, hosts: u64) -> Result<()> {
        let target = targets(hosts == TARGETS_FOR[0]);
        let name = |what: &str| format!("one day of {} hosts: {what}", grouped(hosts));
        let ingested = self.ingest(hosts, CENSUS_DAYS, Some(1))?;
        figure(&name("ingest"), target("<= 6.3 s"), &seconds(ingested.seconds));
        figure(&name("peak memory of ingest"), "-", &gib(ingested.peak_bytes));
        figure(&name("Parquet"), "-", &format!("{:.2} MB", ingested.parquet_bytes as f64 / 1e6));
        let answered = self.query("duckdb")?;
        figure(&name("all queries, DuckDB"), "-", &answered.time());
        figure(&name("peak memory of queries, DuckDB"), "-", &gib(answered.peak_bytes));
        Ok(())
    }

    /// Measures a whole census, by both engines.
    fn many_days(&self, hosts: u64, days: u64) -> Result<()> {
        let target = targets([hosts, days] == TARGETS_FOR);
        let name = |what: &str| format!("{days} days of {} hosts: {what}", grouped(hosts));
        let ingested = self.ingest(hosts, days, None)?;
        figure(&name("ingest at once"), "-", &seconds(ingested.seconds));
        figure(&name("peak memory of ingest"), "-", &gib(ingested.peak_bytes));
        let bytes = ingested.parquet_bytes as f64 / ingested.checks as f64;
        figure(&name("Parquet, a host and day"), target("<= 490 B"), &format!("{bytes:.0} B"));
        let duckdb = self.query("duckdb")?;
        figure(&name("all queries, DuckDB"), target("<= 1.2 s"), &duckdb.time());
        figure(&name("peak memory of queries, DuckDB"), target("<= 0.44 GiB"), &gib(duckdb.peak_bytes));
        let spark = self.query("spark")?;
        figure(&name("all queries, Spark"), target("<= 36 s"), &spark.time());
        figure(&name("peak memory of queries, Spark"), target("<= 3 GiB"), &gib(spark.peak_bytes));
        Ok(())
    }

    /// Makes a census with these hosts and days, or its last days, and ingests it at once.
    fn ingest(&self, hosts: u64, days: u64, last: Option<u64>) -> Result<Ingested> {
        folder::empty(&self.folder)?;
        let census = format!("{}/census", self.folder);
        let last = last.unwrap_or(days).to_string();
        let arguments = [&hosts.to_string(), &days.to_string(), &census, "--compact", "--last", &last];
        fleet::census(&self.environment, &arguments)?;
        let ingested: Ingested = self.driver(&["ingest", &format!("{census}/records"), &self.tables()])?;
        if ingested.checks == 0 { bail!("the ingest found no check") } else { Ok(ingested) }
    }

    /// Asks all queries in one process.
    fn query(&self, engine: &str) -> Result<Answered> {
        self.driver(&["queries", engine, &self.tables()])
    }

    fn tables(&self) -> String {
        format!("{}/tables", self.folder)
    }

    fn driver<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T> {
        // A path of modules of the caller's would hide what was installed.
        let printed =
            run::output_with(&[("PYTHONPATH", "")], &self.environment.python, &[&[DRIVER], arguments].concat())?;
        serde_json::from_str(&printed).with_context(|| format!("{DRIVER} printed {printed:?}"))
    }
}

impl Answered {
    /// The time of all queries, and the slowest of them.
    fn time(&self) -> String {
        let slowest = self.queries.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let slowest = slowest.map(|(name, time)| format!(" ({name} {})", seconds(*time)));
        seconds(self.seconds) + &slowest.unwrap_or_default()
    }
}

/// Targets where they apply, and a dash elsewhere.
fn targets(apply: bool) -> impl Fn(&'static str) -> &'static str {
    move |target| if apply { target } else { "-" }
}

fn seconds(time: f64) -> String {
    if time < 10.0 { format!("{time:.2} s") } else { format!("{time:.1} s") }
}

fn gib(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}
