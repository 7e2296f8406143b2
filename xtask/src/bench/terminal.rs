//! Costs that a terminal shows at the end, beside those of `--quiet` runs, and the time until
//! provisional rows appear.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{PROGRAM, figure, median};
use crate::run;

/// The start of provisional rows.
const PROVISIONAL: &str = "So far, ";
/// Columns of the terminal.
const WIDTH: &str = "100";

/// Measures so many pairs of runs, alternating.
pub(crate) fn measure(pairs: &str) -> Result<()> {
    let pairs: u32 = pairs.parse().with_context(|| format!("{pairs} is not a number of pairs"))?;
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut first_s = Vec::new();
    for pair in 0..pairs {
        // The machine's speed drifts: each is the first in half of the pairs.
        let before = (pair % 2 == 1).then(|| on_terminal(" --quiet")).transpose()?;
        let (shown, provisional) = on_terminal("")?;
        let (quiet, _) = before.map_or_else(|| on_terminal(" --quiet"), Ok)?;
        first_s.push(provisional.context("a terminal shows no provisional rows")?.as_secs_f64());
        let quiet = costs(&quiet);
        for (clock, cost) in costs(&shown) {
            let quiet = quiet.get(&clock).with_context(|| format!("{clock} has no cost with --quiet"))?;
            ratios.entry(clock).or_default().push(cost / quiet);
        }
    }
    let medians: Vec<(String, f64)> =
        ratios.into_iter().map(|(clock, mut ratios)| (clock, median(&mut ratios))).collect();
    let (clock, farthest) =
        medians.iter().max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs())).context("a terminal shows no costs")?;
    let mut all: Vec<f64> = medians.iter().map(|(_, ratio)| *ratio).collect();
    figure(
        "costs on a terminal over those with --quiet: median clock",
        "0.99 to 1.01",
        &format!("{:.3}", median(&mut all)),
    );
    let what = format!("the same: farthest of {} clocks, medians of {pairs} pairs", medians.len());
    figure(&what, "0.97 to 1.03", &format!("{farthest:.3} ({clock})"));
    figure("provisional rows on a terminal", "<= 0.3 s", &format!("{:.2} s", median(&mut first_s)));
    Ok(())
}

/// Runs the command on a terminal of its own (script(1)). Returns its output, and the time until
/// provisional rows.
fn on_terminal(option: &str) -> Result<(String, Option<Duration>)> {
    let command = format!("COLUMNS={WIDTH} {}{option}", run::built(PROGRAM));
    let started = Instant::now();
    let mut child = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run script")?;
    let mut pipe = child.stdout.take().context("no output of script")?;
    let (mut shown, mut buffer, mut provisional) = (Vec::new(), [0; 4096], None);
    loop {
        let read = pipe.read(&mut buffer)?;
        shown.extend(buffer.iter().take(read));
        if provisional.is_none() && shown.windows(PROVISIONAL.len()).any(|text| text == PROVISIONAL.as_bytes()) {
            provisional = Some(started.elapsed());
        }
        if read == 0 {
            break;
        }
    }
    if !child.wait()?.success() {
        bail!("the command failed on a terminal: {}", String::from_utf8_lossy(&shown));
    }
    Ok((String::from_utf8_lossy(&shown).into_owned(), provisional))
}

/// Returns the cost of each clock in the last table, in ns.
fn costs(shown: &str) -> BTreeMap<String, f64> {
    let cost = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, cost) = (words.next()?, words.next()?);
        Some((name.to_owned(), cost.parse().ok()?))
    };
    let last = shown.rfind("Cost (ns)").map_or("", |at| &shown[at..]);
    last.lines().skip(1).filter(|line| line.starts_with("  ")).filter_map(cost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_the_last_table_are_read() {
        let shown = "So far, 1 of 12 runs:\n  Name  Cost (ns)\n  tsc  9.0  1.0\n\u{1b}[2K  Name  Cost (ns)  \u{d7}\n\
                     Counters\n  tsc  10.03 \u{1b}[2m#\u{1b}[0m  1.00  ok\n  ptp0  ?\n\nNot shown: 10 clocks\n";
        assert_eq!(costs(shown), BTreeMap::from([("tsc".to_owned(), 10.03)]));
    }
}
