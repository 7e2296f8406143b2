//! Parts of pages that are made: tables and lists of recorded figures (`bench/recorded`), between
//! `<!-- made: WHAT -->` and `<!-- end -->`; references that only the site has; and the outputs of
//! commands.

mod commands;
mod keys;
mod links;
mod outputs;
mod sentences;
pub(crate) mod site;

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::bench::recorded::{self, Figure, Recorded};
use crate::structure::files;

/// The beginning of a part's first line.
const BEGIN: &str = "<!-- made: ";
const END: &str = "<!-- end -->";

/// The cell of a figure that was not recorded on a CPU.
const NOT_RECORDED: &str = "–";

/// The task `docs`.
#[derive(Subcommand)]
pub(crate) enum Docs {
    /// Writes recorded figures into the pages.
    Figures,
    /// Writes the outputs of commands into the pages, or into one page.
    Outputs { page: Option<String> },
    /// Checks links, anchors, the table of contents and recorded figures.
    Check,
    /// Prints every text of the program's sources, for a reading in one go.
    Sentences,
    /// Builds the pages as a site by mdBook and prints its first page.
    Site,
}

impl Docs {
    /// Runs the task.
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Figures => write(),
            Self::Outputs { page } => outputs::write(page.as_deref()),
            Self::Check => check(),
            Self::Sentences => sentences::print(),
            Self::Site => site::build().map(|site| println!("{}", site.join("index.html").display())),
        }
    }
}

/// Writes all parts of all pages anew.
fn write() -> Result<()> {
    let recorded = recorded::all()?;
    for (page, text) in files(".md")?.iter().filter(|(_, text)| has_parts(text)) {
        fs::write(page, made(text, &recorded).with_context(|| format!("in {page}"))?)?;
    }
    Ok(())
}

/// Fails where a link leads nowhere, the table of contents lacks a page, or a part is not what the
/// recorded figures make.
pub(crate) fn check() -> Result<()> {
    let pages = files(".md")?;
    let mut others = Vec::new();
    for ending in [".rs", ".h", ".py", ".yaml", ".yml", ".service", ".timer"] {
        others.extend(files(ending)?.into_iter().filter(|(file, _)| !file.starts_with("xtask/")));
    }
    let mut wrong = links::broken(&pages, &others);
    wrong.extend(site::wrong_pages(&pages)?);
    if !wrong.is_empty() {
        bail!("pages are broken:\n  {}", wrong.join("\n  "));
    }
    let recorded = recorded::all()?;
    for (page, text) in pages.iter().filter(|(_, text)| has_parts(text)) {
        let made = made(text, &recorded).with_context(|| format!("in {page}"))?;
        if recorded::unmarked(&made) != recorded::unmarked(text) {
            bail!("{page} does not have the recorded figures: `cargo xtask docs figures` writes them");
        }
    }
    Ok(())
}

/// Returns true if any line begins a part.
fn has_parts(page: &str) -> bool {
    page.lines().any(|line| line.starts_with(BEGIN))
}

/// The page with its parts made.
fn made(page: &str, recorded: &[Recorded]) -> Result<String> {
    let mut made = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        made += line;
        made += "\n";
        let Some(what) = line.strip_prefix(BEGIN).and_then(|tail| tail.strip_suffix(" -->")) else { continue };
        made += &part(what, recorded)?;
        if !lines.any(|line| line == END) {
            bail!("the part {what:?} has no line {END}");
        }
        made += END;
        made += "\n";
    }
    Ok(made)
}

fn part(what: &str, recorded: &[Recorded]) -> Result<String> {
    match what.split_once(' ') {
        Some(("figures", bench)) => figures(bench, recorded),
        Some(("keys", schema)) => keys::tables(schema),
        None if what == "library" => Ok(library(recorded)),
        None if what == "library-costs" => Ok(library_costs(recorded)),
        _ => bail!("nothing is known of the part {what:?}: figures BENCH, keys SCHEMA, library, library-costs"),
    }
}

/// All figures of a bench, as it printed them, for each CPU.
fn figures(bench: &str, recorded: &[Recorded]) -> Result<String> {
    let mut all = Vec::new();
    for recorded in recorded {
        let Some(figures) = recorded.benches.get(bench) else { continue };
        let lines: Vec<String> = figures.iter().map(Figure::line).collect();
        all.push(format!("{}:\n\n```\n{}\n```\n", recorded.measured_on(bench, figures), lines.join("\n")));
    }
    if all.is_empty() {
        bail!("no figures of {bench} are recorded: `cargo xtask bench --record {bench}`");
    }
    Ok(all.join("\n"))
}

/// Clocks of the library's table, and the name that its bench has for them.
const CLOCKS: [&str; 6] = ["now_unordered", "now", "std", "quanta", "minstant", "fastant"];

/// A row of the library's table, and its figure for a clock.
type Row = (&'static str, fn(&str) -> String);

const ROWS: [Row; 4] = [
    ("cost per read, ns", |clock| format!("cost of {clock}")),
    ("certain error against CLOCK_MONOTONIC in 60 s, µs", |clock| error_figure("quiet", clock)),
    ("the same beside 4 busy loops, µs", |clock| error_figure("4 busy loops", clock)),
    ("readings that went back, of 10^8 by two threads", |clock| {
        format!("regressions in 10^8 readings by 2 threads: {clock}")
    }),
];

fn error_figure(when: &str, clock: &str) -> String {
    match clock {
        "now" | "now_unordered" => format!("{when}, 60 s: largest certain error"),
        peer => format!("{when}, 60 s: error of {peer}"),
    }
}

/// The library beside its peers, for each CPU.
fn library(recorded: &[Recorded]) -> String {
    let mut table = format!("| measure | {} |\n|{}\n", code(&CLOCKS).join(" | "), "---|".repeat(1 + CLOCKS.len()));
    let mut machines = Vec::new();
    for recorded in recorded {
        let Some(figures) = recorded.benches.get("library") else { continue };
        let mut used = Vec::new();
        for (what, name) in ROWS {
            let row = CLOCKS.map(|clock| figures.iter().find(|figure| figure.figure == name(clock)));
            used.extend(row.into_iter().flatten().cloned());
            if row.iter().any(Option::is_some) {
                let cells = row.map(|figure| figure.map_or_else(|| NOT_RECORDED.to_owned(), cell));
                table += &format!("| {}: {what} | {} |\n", recorded.cpu, cells.join(" | "));
            }
        }
        machines.push(recorded.measured_on("library", &used));
    }
    format!("{table}\nMeasured on:\n\n- {}\n", machines.join("\n- "))
}

/// The cell of a figure: costs in ns, errors in µs.
fn cell(figure: &Figure) -> String {
    let measured = &figure.measured;
    if figure.figure.starts_with("cost of ") {
        return measured.trim_end_matches(" ns").to_owned();
    }
    microseconds(measured).unwrap_or_else(|| measured.clone())
}

/// Ratios of the library's costs, by the names that its bench has for them.
const RATIOS: [&str; 20] = [
    "now_unordered / rdtsc",
    "now_unordered / converted rdtsc",
    "serialized now_unordered / rdtsc",
    "serialized now_unordered / converted rdtsc",
    "two now_unordered and a Duration / rdtsc",
    "two now_unordered and a Duration / two converted rdtsc and a Duration",
    "quanta / converted rdtsc",
    "two now and a Duration / now",
    "now / rdtscp",
    "now / std",
    "wall::now / now",
    "wall::now / SystemTime",
    "wall::now_unordered / SystemTime",
    "boot::now / now",
    "bounded::now / now",
    "the first reading of a process: now / std",
    "the first reading after 0.5 s: now / std",
    "the OS clock served, threads: 1: now / clock_gettime",
    "a read every 2 ms, cold: now / std",
    "a read every 10 ms, cold: now / std",
];

/// Costs of the library beside what it is compared with, a column a CPU.
fn library_costs(recorded: &[Recorded]) -> String {
    let known: Vec<(&Recorded, &Vec<Figure>)> =
        recorded.iter().filter_map(|recorded| Some((recorded, recorded.benches.get("library")?))).collect();
    let cpus: Vec<&str> = known.iter().map(|(recorded, _)| recorded.cpu.as_str()).collect();
    let mut table = format!("| ratio of costs | {} |\n|{}\n", cpus.join(" | "), "---|".repeat(1 + cpus.len()));
    for ratio in RATIOS {
        let cells: Vec<&str> = known.iter().map(|(_, figures)| median_of(figures, ratio)).collect();
        table += &format!("| {ratio} | {} |\n", cells.join(" | "));
    }
    table
}

/// The median of a figure, which comes first in what was measured.
fn median_of<'a>(figures: &'a [Figure], name: &str) -> &'a str {
    let figure = figures.iter().find(|figure| figure.figure == name);
    figure.map_or(NOT_RECORDED, |figure| figure.measured.split([',', ' ']).next().unwrap_or_default())
}

fn code(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("`{word}`")).collect()
}

/// `18553 ns` in µs, to three digits; `None` of what is no time in ns.
fn microseconds(ns: &str) -> Option<String> {
    let us = ns.strip_suffix(" ns")?.parse::<f64>().ok()? / 1e3;
    if us == 0.0 {
        return Some("0".to_owned());
    }
    let digits = (2 - us.abs().max(1e-3).log10().floor() as i32).clamp(0, 3) as usize;
    Some(format!("{us:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(figures: &[(&str, &str)]) -> Recorded {
        let figure = |(figure, measured): &(&str, &str)| {
            let [figure, measured] = [figure, measured].map(|text| (*text).to_owned());
            Figure { figure, target: "-".to_owned(), measured, date: "2026-11-25".to_owned(), commit: String::new() }
        };
        let figures = figures.iter().map(figure).collect();
        Recorded {
            cpu: "ACME 1".to_owned(),
            machine: "2 CPUs".to_owned(),
            benches: [("steps".to_owned(), figures)].into_iter().collect(),
        }
    }

    #[test]
    fn parts_are_replaced_and_other_lines_are_unchanged() {
        let page = "a\n<!-- made: figures steps -->\nold\n<!-- end -->\nb\n";
        let new = made(page, &[recorded(&[("reads", "1.24")])]).unwrap();
        assert!(
            new.starts_with("a\n<!-- made: figures steps -->\nACME 1, 2 CPUs, 2026-11-25:\n\n```\nreads "),
            "{new}"
        );
        assert!(new.ends_with(" 1.24\n```\n<!-- end -->\nb\n") && !new.contains("old"), "{new}");
        assert_eq!(made(&new, &[recorded(&[("reads", "1.24")])]).unwrap(), new);
        for (wrong, why) in [
            ("<!-- made: figures steps -->\n", "has no line <!-- end -->"),
            ("<!-- made: figures trust -->\n<!-- end -->\n", "no figures of trust are recorded"),
            ("<!-- made: poem -->\n<!-- end -->\n", "nothing is known"),
        ] {
            let error = format!("{:#}", made(wrong, &[recorded(&[("reads", "1.24")])]).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn times_have_three_digits() {
        let of = |ns: &str| microseconds(ns).unwrap();
        assert_eq!([of("18553 ns"), of("37 ns"), of("115526 ns"), of("0 ns")], ["18.6", "0.037", "116", "0"]);
        assert_eq!(microseconds("some"), None);
    }
}
