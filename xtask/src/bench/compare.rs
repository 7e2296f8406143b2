//! Frequency of alarms that `compare` raises of identical runs, and that with which it finds a
//! clock that a preloaded library makes slower.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{CPU, LOOPS, PAIRS, PROGRAM, compile, figure, median};
use crate::run;

/// The clock that is made slower: its name and its number.
const DELAYED: (&str, &str) = ("monotonic", "1");
const DELAY: &str = "libbench-delay.so";
/// Of so many pairs beside load, one on a quiet machine.
const SHARE_OF_QUIET: u32 = 2;
/// By how much the clock costs more, in percent, and in one of how many pairs. The first has a
/// target.
const SLOWER: [(f64, u32); 3] = [(10.0, 2), (15.0, 20), (5.0, 20)];
/// Nothing else runs.
const QUIET: &str = "quiet";
/// Turns of the loop by which its speed is found.
const MANY_TURNS: u32 = 200;

/// Compares so many pairs of default records of the same machine beside changing load, and half as
/// many of a quiet one.
pub(crate) fn measure(pairs: u32) -> Result<()> {
    prepare()?;
    identical(QUIET, pairs.div_ceil(SHARE_OF_QUIET))?;
    let _load = ChangingLoad::start()?;
    identical("beside changing load", pairs)
}

/// Compares pairs of records of which the second has a clock that costs more, beside changing load:
/// half as many as that, and fewer of other changes.
pub(crate) fn measure_slower(pairs: u32) -> Result<()> {
    prepare()?;
    let _load = ChangingLoad::start()?;
    SLOWER.iter().try_for_each(|(percent, share)| slower(*percent, pairs.div_ceil(*share)))
}

/// Builds what is measured.
fn prepare() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    compile("loops.c", LOOPS)?;
    let library = run::built(DELAY);
    run::with(&[], "cc", &["-O2", "-shared", "-fPIC", "-o", &library, "bench/c/delay.c", "-ldl"])
}

/// Compares identical records, and reports how many pairs had any alarm, how many were
/// inconclusive, and how many clocks were.
fn identical(when: &str, pairs: u32) -> Result<()> {
    let mut alarms = Vec::new();
    let (mut open_pairs, mut open_clocks, mut clocks) = (0, 0, 0);
    for _ in 0..pairs {
        let found = compared(0, 0)?;
        let [open, all] = inconclusive(&found);
        (open_clocks, clocks) = (open_clocks + open, clocks + all);
        open_pairs += u32::from(open > 0);
        let of_pair = alarms_of(&found);
        if !of_pair.is_empty() {
            alarms.push(of_pair.join(", "));
        }
    }
    let target = format!("<= {} of {pairs}", pairs / if when == QUIET { 40 } else { 50 });
    figure(&format!("{when}: identical pairs with an alarm"), &target, &format!("{} of {pairs}", alarms.len()));
    let target = format!("<= {} of {pairs}", pairs / if when == QUIET { 20 } else { 10 });
    let what = format!("{when}: identical pairs of which a clock is inconclusive");
    figure(&what, &target, &format!("{open_pairs} of {pairs}; {open_clocks} of {clocks} clocks"));
    alarms.iter().for_each(|alarm| println!("  {alarm}"));
    Ok(())
}

/// Compares runs with a clock that costs more, and reports how often it was found, and what else.
fn slower(percent: f64, pairs: u32) -> Result<()> {
    let (turns, injected) = delay_by(percent)?;
    let (mut found, mut others) = (0, 0);
    for _ in 0..pairs {
        let alarms = alarms_of(&compared(0, turns)?);
        let is_expected = |alarm: &&String| **alarm == format!("{} slower", DELAYED.0);
        found += u32::from(alarms.iter().any(|alarm| is_expected(&alarm)));
        others += u32::from(alarms.iter().any(|alarm| !is_expected(&alarm)));
    }
    let what = format!("{} slower by {percent} %, beside changing load: pairs in which it is found", DELAYED.0);
    let target = if percent == SLOWER[0].0 { format!(">= {} of {pairs}", pairs * 95 / 100) } else { "-".to_owned() };
    figure(&what, &target, &format!("{found} of {pairs}, by {injected:.1} % in C; {others} with others"));
    Ok(())
}

/// A comparison of runs with these delays.
fn compared(base: u32, new: u32) -> Result<Value> {
    let files = [run::built("bench-base.json"), run::built("bench-new.json")];
    for (file, turns) in files.iter().zip([base, new]) {
        delayed(turns, PROGRAM, &["--json", "--quiet", "-o", file])?;
    }
    run::document(&run::built(PROGRAM), &["compare", &files[0], &files[1], "--json"])
}

/// The number of clocks that are inconclusive, and that of all that are compared.
fn inconclusive(found: &Value) -> [usize; 2] {
    let clocks = found["clocks"].as_array().into_iter().flatten();
    let compared: Vec<&Value> = clocks.filter(|clock| !clock["ratio"].is_null()).collect();
    [compared.iter().filter(|clock| clock["change"] == "inconclusive").count(), compared.len()]
}

/// Findings of a comparison that identical runs do not have.
fn alarms_of(found: &Value) -> Vec<String> {
    let mut alarms = Vec::new();
    for clock in found["clocks"].as_array().into_iter().flatten() {
        let name = clock["name"].as_str().unwrap_or_default();
        let change = clock["change"].as_str().unwrap_or_default();
        if matches!(change, "slower" | "faster") {
            alarms.push(format!("{name} {change}"));
        }
        for events in clock["appeared"].as_array().into_iter().flatten() {
            alarms.push(format!("{name} {}", events["event"].as_str().unwrap_or_default()));
        }
    }
    let changes = found["changes"].as_array().into_iter().flatten();
    alarms.extend(changes.filter(|change| change["fact"] == "clocksource").map(|_| "clocksource".to_owned()));
    alarms
}

/// Runs a program in which each read of the clock is delayed by this many turns; returns what it
/// printed.
fn delayed(turns: u32, program: &str, arguments: &[&str]) -> Result<String> {
    let (library, turns) = (run::built(DELAY), turns.to_string());
    let variables =
        [("LD_PRELOAD", &*library), ("CLOCKSCOPE_DELAY_CLOCK", DELAYED.1), ("CLOCKSCOPE_DELAY_TURNS", &turns)];
    run::output_with(&variables, &run::built(program), arguments)
}

/// The cost of the clock in a C loop, in ns.
fn in_c(turns: u32) -> Result<f64> {
    let costs: Value = serde_json::from_str(&delayed(turns, LOOPS, &[&CPU, "1"])?)?;
    costs[DELAYED.0].as_f64().context("no cost from C")
}

/// The least number of turns that makes the clock slower by so much in C, and by how much it does.
/// Few turns take less or more than their share of many: other instructions hide them.
fn delay_by(percent: f64) -> Result<(u32, f64)> {
    let (prompt, delayed) = (in_c(0)?, in_c(MANY_TURNS)?);
    let of_turn = (delayed - prompt) / f64::from(MANY_TURNS);
    let guess = (prompt * percent / 100.0 / of_turn / 2.0) as u32;
    for turns in guess.max(1)..MANY_TURNS {
        let injected = injected_percent(turns)?;
        if injected >= percent {
            return Ok((turns, injected));
        }
    }
    bail!("{MANY_TURNS} turns do not make {} slower by {percent} %: was the library loaded?", DELAYED.0)
}

/// By how much the clock is slower in C, in percent: the median of alternating pairs.
fn injected_percent(turns: u32) -> Result<f64> {
    let share = |_| Ok((in_c(turns)? / in_c(0)? - 1.0) * 100.0);
    let mut shares = (0..PAIRS).map(share).collect::<Result<Vec<f64>>>()?;
    Ok(median(&mut shares))
}

/// A load that comes and goes, until it is dropped.
struct ChangingLoad(Child);

impl ChangingLoad {
    fn start() -> Result<Self> {
        let load = "while :; do timeout 0.6 sh -c 'while :; do :; done'; sleep 0.4; done";
        let child = Command::new("sh").args(["-c", load]).stdout(Stdio::null()).spawn();
        Ok(Self(child.context("cannot start a load")?))
    }
}

impl Drop for ChangingLoad {
    fn drop(&mut self) {
        // What it has started ends by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn alarms_are_changes_faults_and_clocksources() {
        let clock = |name: &str, change: &str| json!({ "name": name, "change": change, "appeared": null });
        let mut found = json!({
            "clocks": [clock("a", "slower"), clock("b", "same"), clock("c", "inconclusive"), clock("d", "faster")],
            "changes": [{ "fact": "kernel" }],
        });
        assert_eq!(alarms_of(&found), ["a slower", "d faster"]);
        found["clocks"][1]["appeared"] = json!([{ "event": "jump" }]);
        found["changes"][0]["fact"] = "clocksource".into();
        assert_eq!(alarms_of(&found), ["a slower", "b jump", "d faster", "clocksource"]);
    }
}
