//! What time threads lose.

use clockscope_records::{CauseKind, CpuGaps, Gaps};

use super::{Block, by_reason, counted, grouped};
use crate::cells::{known, significant, time, trimmed};

const HEAD: [&str; 11] =
    ["CPU", "Looked", "Gaps", "per s", "p50", "p90", "p99", "p99.9", "Longest", "Stolen", "Not looked"];

pub(super) fn blocks(gaps: &Gaps) -> Vec<Block> {
    let looked: Vec<&CpuGaps> = gaps.gaps.iter().filter(|cpu| cpu.seconds > 0.0).collect();
    let lost = gaps.gaps.iter().filter_map(|cpu| Some((name(cpu.cpu), cpu.reason.as_deref()?)));
    let mut table = Block::table("", &HEAD, 0, looked.iter().map(|cpu| row(cpu)).collect());
    if let Some(turn) = gaps.loop_ns.filter(|_| !looked.is_empty()) {
        table.lines.push(format!(
            "A gap is {} or more between two reads, which usually follow each other by {}.",
            time(gaps.threshold_ns),
            time(turn)
        ));
    }
    let causes = looked.iter().flat_map(|cpu| cpu.causes.iter().map(|cause| (cpu.cpu, cpu.stolen_ns, cause)));
    let causes = causes.map(|(cpu, stolen_ns, cause)| {
        vec![
            described(cause.cause).to_owned(),
            cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()),
            grouped(cause.count),
            time(cause.total_ns),
            percent(cause.total_ns / stolen_ns * 100.0),
            time(cause.max_ns),
        ]
    });
    let steal = looked.iter().filter_map(|cpu| {
        let stolen = cpu.steal_ns.filter(|ns| *ns > 0.0)?;
        Some(format!("{}: by the kernel's account the hypervisor stole {}.", name(cpu.cpu), time(stolen)))
    });
    let worst = gaps.worst.iter().map(|gap| {
        vec![
            described(gap.cause).to_owned(),
            if gap.detail.is_empty() { "nothing".to_owned() } else { gap.detail.clone() },
            gap.cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()),
            time(gap.ns),
            format!("{:.6} s", gap.at_s),
        ]
    });
    let mut by_cause =
        Block::table("By cause:", &["Cause", "CPU", "Gaps", "Together", "of all", "Longest"], 1, causes.collect());
    by_cause.lines = steal.collect();
    vec![
        table,
        by_cause,
        Block::table("The longest:", &["Cause", "Counted meanwhile", "CPU", "Length", "At"], 2, worst.collect()),
        Block::lines("Not looked at:", by_reason(lost)),
    ]
}

fn row(cpu: &CpuGaps) -> Vec<String> {
    let if_any = |ns: Option<f64>| if cpu.count == 0 { "-".to_owned() } else { known(ns, time) };
    vec![
        cpu.cpu.map_or_else(|| "-".to_owned(), |cpu| cpu.to_string()),
        time(cpu.seconds * 1e9),
        grouped(cpu.count),
        known(cpu.per_second, |rate| trimmed(&significant(rate, 3)).to_owned()),
        if_any(cpu.p50_ns),
        if_any(cpu.p90_ns),
        if_any(cpu.p99_ns),
        if_any(cpu.p999_ns),
        if_any(cpu.max_ns),
        known(cpu.stolen_percent, percent),
        time(cpu.blind_seconds * 1e9),
    ]
}

fn name(cpu: Option<u32>) -> String {
    cpu.map_or_else(|| "the thread".to_owned(), |cpu| format!("CPU {cpu}"))
}

fn percent(percent: f64) -> String {
    format!("{}%", trimmed(&significant(percent, 3)))
}

fn described(cause: CauseKind) -> &'static str {
    match cause {
        CauseKind::Migration => "moved to another CPU",
        CauseKind::InvoluntarySwitch => "involuntary switch",
        CauseKind::VoluntarySwitch => "stopped or waited",
        CauseKind::Steal => "steal",
        CauseKind::Interrupt => "interrupt",
        CauseKind::Softirq => "softirq",
        CauseKind::Unknown => "unknown (SMI or hypervisor)",
    }
}

pub(super) fn conclusion(gaps: &Gaps) -> Vec<String> {
    let looked: Vec<&CpuGaps> = gaps.gaps.iter().filter(|cpu| cpu.seconds > 0.0).collect();
    let worst =
        looked.iter().max_by(|a, b| a.stolen_percent.unwrap_or(0.0).total_cmp(&b.stolen_percent.unwrap_or(0.0)));
    let Some(worst) = worst else { return vec!["Nothing was looked at.".to_owned()] };
    let count: u64 = looked.iter().map(|cpu| cpu.count).sum();
    if count == 0 {
        return vec![format!("No gap of {} or more.", time(gaps.threshold_ns))];
    }
    let longest = gaps
        .worst
        .first()
        .map_or_else(String::new, |gap| format!(" The longest took {}: {}.", time(gap.ns), described(gap.cause)));
    let (gaps, share) = (counted(count, "gap"), known(worst.stolen_percent, percent));
    vec![if looked.len() > 1 {
        format!("{gaps} on {} CPUs; {} lost the most, {share} of its time.{longest}", looked.len(), name(worst.cpu))
    } else {
        format!("{gaps} took {share} of the time.{longest}")
    }]
}
