//! The time that threads lose.

use std::collections::BTreeMap;

use clockscope_records::{CauseKind, CpuGaps, GapCounts, Gaps, WorstGap};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::chart::{Axis, Chart, Curve, CurvePlot, Form, Mark, Point, RowPlot, RowSeries, Spacing, Unit};
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{figure, percent, time};
use crate::words::{by_reason, counted, known, total};

/// A CPU that loses less by this factor is quieter: two looks at one CPU differ by less.
const CLEARLY: f64 = 1.5;

const HEAD: [&str; 11] =
    ["CPU", "Watched", "Gaps", "per s", "p50", "p90", "p99", "p99.9", "Longest", "Lost", "Unwatched"];

/// Columns of a spreadsheet.
const COLUMNS: [&str; 15] = [
    "cpu",
    "seconds",
    "unwatched_seconds",
    "count",
    "per_second",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "lost_ns",
    "lost_percent",
    "steal_ns",
    "reason",
    "unknown",
];

impl QuestionPage for Gaps {
    const LINES: &'static [(&'static str, &'static str)] = &[("gaps", "gap"), ("worst", "worst")];

    fn blocks(&self, _: View) -> Vec<Block> {
        blocks(self)
    }

    fn conclusion(&self) -> Vec<String> {
        conclusion(self)
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "gaps", &COLUMNS)
    }
}

fn blocks(gaps: &Gaps) -> Vec<Block> {
    let sampled: Vec<&CpuGaps> = gaps.gaps.iter().filter(|cpu| cpu.seconds > 0.0).collect();
    let lost = gaps.gaps.iter().filter_map(|cpu| Some((name(cpu.cpu.get()), cpu.reason.as_ref()?.to_string())));
    let definition = gaps.loop_ns.get().filter(|_| !sampled.is_empty()).map(|turn| {
        format!(
            "A gap is {} or more between two reads, which usually follow each other by {}.",
            time(gaps.threshold_ns),
            time(turn)
        )
    });
    let causes = sampled.iter().flat_map(|cpu| cpu.causes.iter().map(|cause| (cpu.cpu.get(), cpu.lost_ns, cause)));
    let causes = causes.map(|(cpu, lost_ns, cause)| {
        vec![
            described(cause.cause).into(),
            number(cpu),
            Cell::Count(cause.count),
            Cell::Time(cause.total_ns),
            percent(cause.total_ns / lost_ns * 100.0).into(),
            Cell::Time(cause.max_ns),
        ]
    });
    let steal = sampled.iter().filter_map(|cpu| {
        let stolen = cpu.steal_ns.get().filter(|ns| *ns > 0.0)?;
        Some(format!("{}: by the kernel's account the hypervisor stole {}.", name(cpu.cpu.get()), time(stolen)))
    });
    let worst = gaps.worst.iter().map(|gap| {
        vec![
            cause(gap).into(),
            gap.counted
                .as_ref()
                .map(ToString::to_string)
                .filter(|counted| !counted.is_empty())
                .unwrap_or_else(|| "nothing".to_owned())
                .into(),
            number(gap.cpu),
            Cell::Time(gap.ns),
            format!("{:.6} s", gap.at_s).into(),
        ]
    });
    let by_count = Table::new(["Coincided with", "CPU", "Gaps", "Together", "of all", "Longest"], 1, causes);
    let longest = Table::new(["Cause", "Counted", "CPU", "Length", "At"], 2, worst);
    vec![
        Table::new(HEAD, 0, sampled.iter().map(|cpu| row(cpu))).explained(definition).into(),
        by_count.titled("By the rarest of what the system counted meanwhile:").below(steal).into(),
        causes_chart(&sampled).into(),
        longest_chart(gaps).into(),
        Block::folded("The longest gaps, as a table", [longest.titled("The longest:").into()]),
        Block::notes("Not measured:", by_reason(lost)),
    ]
}

/// Draws the time that each cause took on all CPUs together.
fn causes_chart(sampled: &[&CpuGaps]) -> Chart {
    let mut causes: BTreeMap<CauseKind, (f64, f64)> = BTreeMap::new();
    for cause in sampled.iter().flat_map(|cpu| &cpu.causes) {
        let (total, longest) = causes.entry(cause.cause).or_default();
        (*total, *longest) = (*total + cause.total_ns, longest.max(cause.max_ns));
    }
    let mark = |series, value| Mark { series, value, spread: None };
    let rows = causes
        .into_iter()
        .map(|(cause, (total, longest))| (described(cause).to_owned(), vec![mark(0, total), mark(1, longest)]));
    let axis = Axis::new("Time", Unit::Time, Spacing::FromZero);
    let series = vec![RowSeries::bars("All gaps of the cause together"), RowSeries::points("The longest one", "")];
    Chart::new("causes", "Gaps by cause", RowPlot::new(axis, "causes", series, rows))
}

/// Draws the longest gaps over time, by cause.
fn longest_chart(gaps: &Gaps) -> Chart {
    let mut causes: BTreeMap<CauseKind, Vec<Point>> = BTreeMap::new();
    for gap in &gaps.worst {
        causes.entry(gap.cause).or_default().push(Point::at(gap.at_s * 1e9, gap.ns));
    }
    let curves = causes.into_iter().map(|(cause, points)| Curve::new(described(cause), Form::Points, points));
    let x = Axis::new("Time since the start of the run", Unit::Time, Spacing::FromZero);
    let plot = CurvePlot::new(x, Axis::new("Length of the gap", Unit::Time, Spacing::Log), curves);
    Chart::new("longest", "The longest gaps", plot)
}

fn row(cpu: &CpuGaps) -> Vec<Cell> {
    let if_any = |ns: Option<f64>| if cpu.count == 0 { Cell::Empty } else { Cell::time(ns) };
    vec![
        number(cpu.cpu.get()),
        Cell::Time(cpu.seconds * 1e9),
        Cell::Count(cpu.count),
        Cell::known(cpu.per_second.get(), |rate| figure(rate, 3)),
        if_any(cpu.p50_ns.get()),
        if_any(cpu.p90_ns.get()),
        if_any(cpu.p99_ns.get()),
        if_any(cpu.p999_ns.get()),
        if_any(cpu.max_ns.get()),
        Cell::known(cpu.lost_percent.get(), percent),
        Cell::Time(cpu.unwatched_seconds * 1e9),
    ]
}

fn name(cpu: Option<u32>) -> String {
    cpu.map_or_else(|| "the thread".to_owned(), |cpu| format!("CPU {cpu}"))
}

/// Shows a CPU's number, if the thread was bound to one.
fn number(cpu: Option<u32>) -> Cell {
    cpu.map_or(Cell::Empty, |cpu| cpu.to_string().into())
}

fn described(cause: CauseKind) -> &'static str {
    match cause {
        CauseKind::Migration => "moved to another CPU",
        CauseKind::InvoluntarySwitch => "involuntary switch",
        CauseKind::VoluntarySwitch => "stopped or waited",
        CauseKind::Smi => "SMI (firmware)",
        CauseKind::Steal => "steal",
        CauseKind::Interrupt => "interrupt",
        CauseKind::Softirq => "softirq",
        CauseKind::Unknown => "unknown (SMI or hypervisor)",
    }
}

/// Names the cause of one gap. Of several counts that grew, none is certainly the cause.
fn cause(gap: &WorstGap) -> String {
    let is_several = gap.counted.as_ref().is_some_and(GapCounts::are_several);
    let with = if is_several { "coincided with " } else { "" };
    format!("{with}{}", described(gap.cause))
}

fn conclusion(gaps: &Gaps) -> Vec<String> {
    let sampled: Vec<&CpuGaps> = gaps.gaps.iter().filter(|cpu| cpu.seconds > 0.0).collect();
    let worst = sampled
        .iter()
        .max_by(|a, b| a.lost_percent.get().unwrap_or(0.0).total_cmp(&b.lost_percent.get().unwrap_or(0.0)));
    let Some(worst) = worst else { return vec!["Nothing was measured.".to_owned()] };
    let count = total(sampled.iter().map(|cpu| cpu.count));
    if count == 0 {
        return vec![format!("No gap of {} or more.", time(gaps.threshold_ns))];
    }
    let longest = gaps
        .worst
        .first()
        .map_or_else(String::new, |gap| format!(" The longest took {}: {}.", time(gap.ns), cause(gap)));
    let quietest = quietest(&sampled, worst);
    let (gaps, share) = (counted(count, "gap"), known(worst.lost_percent.get(), percent));
    let first = if sampled.len() > 1 {
        format!(
            "{gaps} on {} CPUs; {} lost the most, {share} of its time.{longest}",
            sampled.len(),
            name(worst.cpu.get())
        )
    } else {
        format!("{gaps} took {share} of the time.{longest}")
    };
    vec![first, quietest]
}

/// Names the CPU that lost the least time, and by how much less than the worst one.
fn quietest(sampled: &[&CpuGaps], worst: &CpuGaps) -> String {
    let lost = |cpu: &&&CpuGaps| cpu.lost_percent.get().map(|share| (share, cpu.cpu.get()));
    let best = sampled.iter().filter_map(|cpu| lost(&cpu)).min_by(|a, b| a.0.total_cmp(&b.0));
    match (best, worst.lost_percent.get()) {
        _ if sampled.len() == 1 => {
            "`clockscope gaps --all-cpus` compares all CPUs, to find the quietest one to pin to.".to_owned()
        }
        (Some((least, Some(cpu))), Some(most)) if most >= least * CLEARLY && most > 0.0 => {
            let times = if least > 0.0 { format!(", {} times less", figure(most / least, 2)) } else { String::new() };
            let share = percent(least);
            format!("CPU {cpu} is the quietest: it lost {share}{times}; `taskset -c {cpu}` pins a program to it.")
        }
        _ => "No CPU is clearly quieter than the others.".to_owned(),
    }
}
