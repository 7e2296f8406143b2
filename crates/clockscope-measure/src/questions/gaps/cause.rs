//! Causes of a gap, from what the system counted before and after.

use clockscope_records::{CauseKind, GapCounts, InterruptCount};
use clockscope_system::account::{CpuAccount, ThreadAccount};

/// Largest ratio to the gap at which the time that the kernel counted as stolen is its cause: it is
/// counted in steps of 10 ms, which many small thefts fill.
const MAX_STOLEN_RATIO: f64 = 2.0;
/// Most names of a gap.
const MAX_NAMES: usize = 4;

/// The cause of a gap of `ns`, the rarest first that the counts allow, and the counts themselves.
pub(super) fn attributed(thread: [&ThreadAccount; 2], cpu: [&CpuAccount; 2], ns: f64) -> (CauseKind, GapCounts) {
    let [before, after] = thread;
    let switches = before.switches.zip(after.switches);
    let (involuntary, voluntary) = switches.map_or((0, 0), |(before, after)| {
        (after.involuntary.saturating_sub(before.involuntary), after.voluntary.saturating_sub(before.voluntary))
    });
    let [cpu_before, cpu_after] = cpu;
    // Figures of two CPUs say nothing about what happened between.
    let is_same = cpu_before.number == cpu_after.number;
    let [interrupts, softirqs] = if is_same {
        [
            grown_names(&cpu_before.interrupts, &cpu_after.interrupts),
            grown_names(&cpu_before.softirqs, &cpu_after.softirqs),
        ]
    } else {
        [Vec::new(), Vec::new()]
    };
    let stolen_ns = cpu_after
        .steal_ns
        .filter(|_| is_same)
        .zip(cpu_before.steal_ns)
        .map_or(0, |(after, before)| after.saturating_sub(before));
    let moved = before.cpu.zip(after.cpu).filter(|(before, after)| before != after).map(<[u32; 2]>::from);
    let smis = cpu_after
        .smis
        .filter(|_| is_same)
        .zip(cpu_before.smis)
        .map_or(0, |(after, before)| after.saturating_sub(before));
    // A thread that only reads does not wait: it was stopped, and is often switched as well then.
    let cause = if voluntary > 0 {
        CauseKind::VoluntarySwitch
    } else if moved.is_some() {
        CauseKind::Migration
    } else if involuntary > 0 {
        CauseKind::InvoluntarySwitch
    } else if smis > 0 {
        CauseKind::Smi
    } else if stolen_ns > 0 && stolen_ns as f64 <= MAX_STOLEN_RATIO * ns {
        CauseKind::Steal
    } else if !interrupts.is_empty() {
        CauseKind::Interrupt
    } else if !softirqs.is_empty() {
        CauseKind::Softirq
    } else {
        CauseKind::Unknown
    };
    let interrupts = interrupts.into_iter().chain(softirqs).take(MAX_NAMES).collect();
    (cause, GapCounts { moved, involuntary, voluntary, smis, steal_ns: stolen_ns, interrupts, while_asking: false })
}

/// Increases of the counts that grew.
fn grown_names(before: &[(String, u64)], after: &[(String, u64)]) -> Vec<InterruptCount> {
    // Both lists are of one table, whose lines keep their order; a device may come or go.
    let grown = after.iter().enumerate().map(|(index, (name, count))| {
        let same = before.get(index).filter(|(former, _)| former == name);
        let former = same.or_else(|| before.iter().find(|(former, _)| former == name));
        (name, count.saturating_sub(former.map_or(0, |(_, count)| *count)))
    });
    grown.filter(|(_, more)| *more > 0).map(|(name, count)| InterruptCount { name: name.clone(), count }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clockscope_system::account::Switches;

    #[derive(Clone)]
    struct Account {
        thread: ThreadAccount,
        cpu: CpuAccount,
    }

    fn account() -> Account {
        let counts = |names: [&str; 2]| names.map(|name| (name.to_owned(), 5)).to_vec();
        Account {
            thread: ThreadAccount { cpu: Some(1), switches: Some(Switches { voluntary: 3, involuntary: 4 }) },
            cpu: CpuAccount {
                number: 1,
                interrupts: counts(["LOC", "virtio0"]),
                softirqs: counts(["TIMER", "RCU"]),
                steal_ns: Some(10_000_000),
                smis: Some(2),
            },
        }
    }

    fn between(before: &Account, after: &Account, ns: f64) -> (CauseKind, GapCounts) {
        attributed([&before.thread, &after.thread], [&before.cpu, &after.cpu], ns)
    }

    fn counted(name: &str, count: u64) -> InterruptCount {
        InterruptCount { name: name.to_owned(), count }
    }

    #[test]
    fn the_rarest_cause_is_the_cause() {
        let before = account();
        let mut after = account();
        let mut expect = |change: &dyn Fn(&mut Account), cause: CauseKind, steal_ns: u64, names: &[(&str, u64)]| {
            change(&mut after);
            let interrupts = names.iter().map(|(name, count)| counted(name, *count)).collect();
            let counts = GapCounts { steal_ns, interrupts, ..GapCounts::default() };
            assert_eq!(between(&before, &after, 1e6), (cause, counts));
        };
        expect(&|_| {}, CauseKind::Unknown, 0, &[]);
        expect(&|after| after.cpu.softirqs[1].1 += 2, CauseKind::Softirq, 0, &[("RCU", 2)]);
        expect(&|after| after.cpu.interrupts[0].1 += 1, CauseKind::Interrupt, 0, &[("LOC", 1), ("RCU", 2)]);
        // 10 ms in a gap of 1 ms were stolen before, for the most part.
        let steal = |after: &mut Account| after.cpu.steal_ns = Some(20_000_000);
        expect(&steal, CauseKind::Interrupt, 10_000_000, &[("LOC", 1), ("RCU", 2)]);
        assert_eq!(between(&before, &after, 8e6).0, CauseKind::Steal);
        after.cpu.smis = Some(3);
        let (cause, counts) = between(&before, &after, 8e6);
        assert_eq!((cause, counts.smis), (CauseKind::Smi, 1));
        after.thread.switches = Some(Switches { voluntary: 3, involuntary: 6 });
        assert_eq!(between(&before, &after, 1e6).0, CauseKind::InvoluntarySwitch);
        after.thread.cpu = Some(0);
        let (cause, counts) = between(&before, &after, 1e6);
        assert_eq!((cause, counts.steal_ns, counts.interrupts.len()), (CauseKind::Migration, 10_000_000, 2));
        // A thread that is stopped on a busy machine is switched as well.
        after.thread.switches = Some(Switches { voluntary: 4, involuntary: 6 });
        assert_eq!(between(&before, &after, 1e6).0, CauseKind::VoluntarySwitch);
        after.cpu.number = 0;
        let of_thread = GapCounts { moved: Some([1, 0]), involuntary: 2, voluntary: 1, ..GapCounts::default() };
        assert_eq!(between(&before, &after, 1e6).1, of_thread);
    }

    #[test]
    fn what_is_not_counted_is_unknown() {
        let (thread, cpu) = (ThreadAccount::default(), CpuAccount::default());
        assert_eq!(attributed([&thread, &thread], [&cpu, &cpu], 1e6), (CauseKind::Unknown, GapCounts::default()));
        // A device that appears counts from nothing.
        assert_eq!(grown_names(&[], &[("nvme".to_owned(), 2)]), [counted("nvme", 2)]);
    }
}
