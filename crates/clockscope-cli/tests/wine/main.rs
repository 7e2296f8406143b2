//! Answers of the command under Wine. `cargo xtask platforms x86_64-pc-windows-gnu` builds it and
//! runs this test.

#![cfg(unix)]

mod console;
mod program;
mod runtimes;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use program::{PERIOD_CALLS, Wine, period_calls};

#[test]
#[ignore = "needs Wine and a program for it: cargo xtask platforms x86_64-pc-windows-gnu"]
fn the_command_answers_under_wine() -> Result<()> {
    let wine = Wine::new()?;
    let info = wine.document(&["info"])?;
    ensure!(info["environment"]["kernel"]["name"] == "Windows", "the system: {}", info["environment"]["kernel"]);
    let periods = ["shortest_timer_period_ns", "timer_period_ns", "longest_timer_period_ns"];
    let periods = periods.map(|name| info["windows"][name].as_u64());
    ensure!(periods.is_sorted() && periods[0].is_some_and(|ns| ns > 0), "info: periods of the timer: {periods:?}");
    has_10_mhz(&wine.document(&["clocksource"])?["performance_counter"])?;
    listed(&wine.document(&["list", "--path", "all"])?)?;
    for question in ["measure", "steps"] {
        let Some(tick) = wine.tick_of_counter(question)? else { continue };
        ensure!(is_100_ns(&tick), "{question}: the tick of QueryPerformanceCounter is {tick}: expected 100");
    }
    let verdicts = wine.document(&["check", "query_performance_counter", "--duration", "2s"])?;
    ensure!(verdicts["verdicts"][0]["verdict"].is_string(), "check: there is no verdict: {verdicts}");
    in_order(&wine.document(&["order", "query_performance_counter", "--duration", "300ms"])?)?;
    let sleeps = wine.document(&["sleep", "--duration", "1s"])?;
    let slept = |row: &Value| row["sleeps"].as_u64().is_some_and(|times| times > 0);
    ensure!(sleeps["rows"].as_array().is_some_and(|rows| rows.iter().any(slept)), "nothing slept: {sleeps}");
    wine.timer_periods()?;
    console::check(&wine)?;
    runtimes::check(&wine)?;
    wine.ends_with(2, &["measure", "querry_performance_counter"])
}

/// Checks the frequency of Wine's counter, 10 MHz.
fn has_10_mhz(counter: &Value) -> Result<()> {
    ensure!(counter["frequency_hz"] == 10_000_000, "clocksource: {counter}");
    ensure!(counter["commands"].as_array().is_some_and(|commands| commands.len() == 3), "clocksource: {counter}");
    Ok(())
}

/// One count of 10 MHz, which is what Wine's counter has: the tick is found exactly.
fn is_100_ns(tick: &Value) -> bool {
    tick.as_f64().is_some_and(|ns| (ns - 100.0).abs() < 1e-6)
}

/// The clock by each of its paths, all readable.
fn listed(list: &Value) -> Result<()> {
    let clocks = list["clocks"].as_array().context("list: there are no clocks")?;
    for path in ["system_library", "user", "syscall"] {
        let is_it = |clock: &&Value| clock["name"] == "query_performance_counter" && clock["path"] == path;
        let clock = clocks.iter().find(is_it).with_context(|| format!("list: QueryPerformanceCounter lacks {path}"))?;
        ensure!(clock["available"] == true && is_100_ns(&clock["nominal_resolution_ns"]), "list: {clock}");
    }
    Ok(())
}

/// No reading is behind one that another CPU took before; where there are two CPUs.
fn in_order(order: &Value) -> Result<()> {
    if order["environment"]["cpu"]["allowed"].as_array().is_some_and(|cpus| cpus.len() < 2) {
        return Ok(());
    }
    let sequences = order["sequences"].as_array().context("order: there are no sequences")?;
    let went_back = |sequence: &Value| sequence["regressions"] != 0;
    ensure!(sequences.len() == 1 && !sequences.iter().any(went_back), "order: {order}");
    Ok(())
}

/// Questions with an answer of their own.
impl Wine {
    /// The tick that a question finds. A run may be too short for it beside other programs: then it
    /// is unknown, and a longer one finds it. `None` if it stays unknown where each read takes
    /// longer than a tick, so that no reading repeats: that is half of the proof of a tick.
    fn tick_of_counter(&self, question: &str) -> Result<Option<Value>> {
        let mut clock = Value::Null;
        for duration in ["500ms", "2s", "8s"] {
            let found = self.document(&[question, "query_performance_counter", "--duration", duration])?;
            clock = found["clocks"][0].clone();
            if !clock["tick_ns"].is_null() {
                break;
            }
        }
        let never_repeats = clock["summary"]["min"].as_f64().is_some_and(|ns| ns >= 100.0);
        let tick = clock["tick_ns"].clone();
        Ok((!tick.is_null() || !never_repeats).then_some(tick))
    }

    /// A period of the timer is requested once and withdrawn once: on a normal end and on an error.
    fn timer_periods(&self) -> Result<()> {
        let measured = ["measure", "query_performance_counter", "--duration", "100ms"];
        let no_such_cpu = ["sleep", "--cpu", "4095"];
        for (question, code) in [(&measured[..], 0), (&no_such_cpu[..], 2)] {
            let calls = self.period_calls(code, &[question, &["--timer-period", "2ms"]].concat())?;
            ensure!(calls == (1, 1), "{question:?}: the period was requested and withdrawn {calls:?} times");
        }
        for wrong in ["1500us", "1h"] {
            let calls = self.period_calls(2, &[&measured[..], &["--timer-period", wrong]].concat())?;
            ensure!(calls == (0, 0), "--timer-period {wrong}: it was requested and withdrawn {calls:?} times");
        }
        let record = self.document(&[&measured[..], &["--timer-period", "2ms"]].concat())?;
        ensure!(record["run"]["timer_period_ns"] == 2_000_000, "the period is not in the record: {}", record["run"]);
        Ok(())
    }

    /// Number of times that the command requests a period, and that it withdraws it.
    fn period_calls(&self, code: i32, arguments: &[&str]) -> Result<(usize, usize)> {
        let output = self.command(arguments).envs([PERIOD_CALLS]).output().context("cannot run wine")?;
        let log = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(code), "{arguments:?}: {}: expected {code}\n{log}", output.status);
        Ok(period_calls(&log))
    }

    fn ends_with(&self, code: i32, arguments: &[&str]) -> Result<()> {
        let status = self.command(arguments).output().context("cannot run wine")?.status;
        ensure!(status.code() == Some(code), "clockscope {}: {status}: expected {code}", arguments.join(" "));
        Ok(())
    }
}
