//! The time that threads lose.

use std::collections::BTreeMap;

use clockscope_records::{CauseKind, CpuGaps, GapCounts, Gaps, WorstGap};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::chart::{Axis, Chart, ChartRow, Curve, CurvePlot, Form, Mark, Point, RowPlot, RowSeries, Spacing, Unit};
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{figure, percent, time};
use crate::words::{by_reason, counted, known, total};

/// Ratio of lost times from which on a CPU is quieter: two runs on one CPU differ by less.
const MIN_QUIETER_RATIO: f64 = 1.5;

const HEAD: [&str; 11] =
    ["CPU", "Watched", "Gaps", "per s", "p50", "p90", "p99", "p99.9", "Longest", "Lost", "Unwatched"];

/// Columns of a spreadsheet.
const COLUMNS: &str = "\
    cpu seconds unwatched_seconds count per_second p50_ns p90_ns p99_ns p999_ns max_ns lost_ns \
    lost_percent steal_ns reason unknown";

impl QuestionPage for Gaps {
    const LINES: &'static [(&'static str, &'static str)] = &[("gaps", "gap"), ("worst", "worst")];

    fn blocks(&self, _: View) -> Vec<Block> {
        let sampled: Vec<&CpuGaps> = self.gaps.iter().filter(|cpu| cpu.seconds > 0.0).collect();
        let lost = self.gaps.iter().filter_map(|cpu| Some((name(cpu.cpu.get()), cpu.reason.as_ref()?.to_string())));
        let definition = match self.loop_ns.get() {
            Some(loop_ns) if !sampled.is_empty() => Some(format!(
                "A gap is {} or more between two reads, which usually follow each other by {}.",
                time(self.threshold_ns),
                time(loop_ns)
            )),
            _ => None,
        };
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
        let worst = self.worst.iter().map(|gap| {
            vec![
                cause(gap).into(),
                counted_during(gap).into(),
                number(gap.cpu),
                Cell::Time(gap.ns),
                format!("{:.6} s", gap.at_s).into(),
            ]
        });
        let by_count = Table::new(["Coincided with", "CPU", "Gaps", "Together", "of all", "Longest"], 1, causes);
        let longest = Table::new(["Cause", "Counted", "CPU", "Length", "At"], 2, worst);
        vec![
            Table::new(HEAD, 0, sampled.iter().map(|cpu| row(cpu))).explained(definition).into(),
            by_count.titled("By the rarest event that the system counted meanwhile:").below(steal).into(),
            causes_chart(&sampled).into(),
            longest_chart(self).into(),
            Block::folded("The longest gaps, as a table", [longest.titled("The longest:").into()]),
            Block::notes("Not measured:", by_reason(lost)),
        ]
    }

    fn conclusion(&self) -> Vec<String> {
        let sampled: Vec<&CpuGaps> = self.gaps.iter().filter(|cpu| cpu.seconds > 0.0).collect();
        let worst = sampled
            .iter()
            .max_by(|a, b| a.lost_percent.get().unwrap_or(0.0).total_cmp(&b.lost_percent.get().unwrap_or(0.0)));
        let Some(worst) = worst else { return vec!["Nothing was measured.".to_owned()] };
        let count = total(sampled.iter().map(|cpu| cpu.count));
        if count == 0 {
            return vec![format!("No gap of {} or more.", time(self.threshold_ns))];
        }
        let longest = self
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

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "gaps", COLUMNS)
    }
}

/// Draws the time that each cause took on all CPUs together.
fn causes_chart(sampled: &[&CpuGaps]) -> Chart {
    let mut causes: BTreeMap<CauseKind, (f64, f64)> = BTreeMap::new();
    for cause in sampled.iter().flat_map(|cpu| &cpu.causes) {
        let (total, longest) = causes.entry(cause.cause).or_default();
        (*total, *longest) = (*total + cause.total_ns, longest.max(cause.max_ns));
    }
    let rows = causes.into_iter().map(|(cause, (total, longest))| {
        ChartRow::new(described(cause), vec![Mark::at(0, total), Mark::at(1, longest)])
    });
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
    let mut cells = vec![
        number(cpu.cpu.get()),
        Cell::Time(cpu.seconds * 1e9),
        Cell::Count(cpu.count),
        Cell::known(cpu.per_second.get(), |rate| figure(rate, 3)),
        Cell::time(cpu.p50_ns.get()),
        Cell::time(cpu.p90_ns.get()),
        Cell::time(cpu.p99_ns.get()),
        Cell::time(cpu.p999_ns.get()),
        Cell::time(cpu.max_ns.get()),
        Cell::known(cpu.lost_percent.get(), percent),
        Cell::Time(cpu.unwatched_seconds * 1e9),
    ];
    if cpu.count == 0 {
        cells[4..9].fill(Cell::Empty);
    }
    cells
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

/// Names the cause of one gap. If several counts grew, the cause is not certain.
fn cause(gap: &WorstGap) -> String {
    let is_several = gap.counted.as_ref().is_some_and(GapCounts::are_several);
    let with = if is_several { "coincided with " } else { "" };
    format!("{with}{}", described(gap.cause))
}

/// Lists the counts that grew during a gap.
fn counted_during(gap: &WorstGap) -> String {
    match gap.counted.as_ref().map(ToString::to_string) {
        Some(counted) if !counted.is_empty() => counted,
        _ => "nothing".to_owned(),
    }
}

/// Names the CPU that lost the least time, and its ratio to the worst one.
fn quietest(sampled: &[&CpuGaps], worst: &CpuGaps) -> String {
    let lost = sampled.iter().filter_map(|cpu| Some((cpu.lost_percent.get()?, cpu.cpu.get())));
    let best = lost.min_by(|a, b| a.0.total_cmp(&b.0));
    match (best, worst.lost_percent.get()) {
        _ if sampled.len() == 1 => {
            "`clockscope gaps --all-cpus` compares all CPUs, to find the quietest one to pin to.".to_owned()
        }
        (Some((least, Some(cpu))), Some(most)) if most >= least * MIN_QUIETER_RATIO && most > 0.0 => {
            let times = if least > 0.0 { format!(", {} times less", figure(most / least, 2)) } else { String::new() };
            let share = percent(least);
            format!("CPU {cpu} is the quietest: it lost {share}{times}; `taskset -c {cpu}` pins a program to it.")
        }
        _ => "No CPU is clearly quieter than the others.".to_owned(),
    }
}
