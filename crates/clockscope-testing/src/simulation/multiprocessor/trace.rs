//! A list of what the machine did, bounded, for tests that fail.

use std::collections::VecDeque;
use std::fmt::Write;

use crate::simulation::scheduler::Taken;

/// Lines that are kept of the beginning, and of the end.
const TRACE_ENDS: usize = 200;
/// Lost times that are listed.
const MAX_LISTED_LOSSES: usize = 10;

/// A time in which a simulated thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The thread's number: 0 is the thread that calls `together`.
    pub thread: u32,
    /// The CPU that it lost.
    pub cpu: u32,
    /// Time, length and taker of the loss, and the CPU on which the thread goes on.
    pub taken: Taken,
}

/// The list.
#[derive(Debug, Default)]
pub(super) struct Trace {
    first: Vec<(u128, String)>,
    last: VecDeque<(u128, String)>,
    left_out: u64,
}

impl Trace {
    /// Adds a line.
    pub(super) fn add(&mut self, now_ps: u128, text: &str) {
        let line = (now_ps, text.to_owned());
        if self.first.len() < TRACE_ENDS {
            self.first.push(line);
            return;
        }
        if self.last.len() == TRACE_ENDS {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(line);
    }

    /// Returns the lines, and the longest of the lost times.
    pub(super) fn text(&self, lost: &[Lost]) -> String {
        let mut text = String::new();
        if self.left_out > 0 {
            _ = writeln!(text, "{} lines are left out", self.left_out);
        }
        // Threads that were ahead added theirs first.
        let mut lines: Vec<&(u128, String)> = self.first.iter().chain(&self.last).collect();
        lines.sort_by_key(|(at_ps, _)| *at_ps);
        lines.iter().for_each(|(at_ps, line)| _ = writeln!(text, "{} {line}", at(*at_ps)));
        let mut longest: Vec<&Lost> = lost.iter().collect();
        longest.sort_by_key(|lost| std::cmp::Reverse(lost.taken.ps));
        for Lost { thread, cpu, taken } in longest.iter().take(MAX_LISTED_LOSSES) {
            let (at, us) = (at(taken.at_ps), taken.ps as f64 / 1e6);
            _ = writeln!(text, "{at} thread {thread} lost CPU {cpu} for {us:.3} us: {:?}", taken.by);
        }
        text
    }
}

/// Returns a true time in µs, as it is printed.
fn at(ps: u128) -> String {
    format!("{:>10}.{:06} us", ps / 1_000_000, ps % 1_000_000)
}
