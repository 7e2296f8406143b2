//! The figures of order, offsets and rates.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{PROGRAM, figure, median};
use crate::run;

/// Runs that a figure is the median of.
const RUNS: usize = 5;
const LIAR: &str = "bench-liar.so";

/// Measures and prints a line a figure.
pub(crate) fn measure() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    order()?;
    offsets()?;
    rates()?;
    fast_clocks()
}

/// The record of a command.
fn record_of(arguments: &[&str]) -> Result<Value> {
    let arguments = [arguments, &["--quiet", "--format", "json"]].concat();
    run::document(&run::built(PROGRAM), &arguments)
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("{value} is no number"))
}

/// Clocks whose handoffs are compared.
const ORDERED: [&str; 4] = ["rdtscp", "tsc_lfence", "monotonic", "clockscope.now"];

/// Handoffs beside those of two threads that hand a word back and forth, in the same run; and what
/// went back.
fn order() -> Result<()> {
    let (mut unordered, mut ordered) = (Vec::new(), 0.0);
    for (handoff, target) in [("both", ">= 0.5"), ("mailbox", "-"), ("lock", "-")] {
        let (mut ratios, mut bare) = (vec![Vec::new(); ORDERED.len()], Vec::new());
        for _ in 0..RUNS {
            let arguments = ["order", "tsc", "--duration", "2s", "--handoff", handoff];
            let record = record_of(&[&arguments, ORDERED.as_slice()].concat())?;
            let found = |name: &str| {
                let sequences = record["sequences"].as_array().context("no sequences")?;
                sequences.iter().find(|found| found["name"] == name).context("a sequence is missing")
            };
            let hand_to_hand = number(&record["bare_handoffs_per_second"])?;
            bare.push(hand_to_hand);
            for (name, ratios) in ORDERED.iter().zip(&mut ratios) {
                ratios.push(number(&found(name)?["handoffs_per_second"])? / hand_to_hand);
                ordered += number(&found(name)?["regressions"])?;
            }
            unordered.push(number(&found("tsc")?["regressions"])?);
        }
        for (name, ratios) in ORDERED.iter().zip(&mut ratios) {
            let what = format!("handoffs of {name} ({handoff}) / of a bare word");
            figure(&what, target, &format!("{:.2}", median(ratios)));
        }
        figure(
            &format!("handoffs of a bare word beside {handoff}"),
            "-",
            &format!("{:.1} M/s", median(&mut bare) / 1e6),
        );
    }
    figure("regressions of rdtsc in 2 s, fewest of all runs", "> 0", &format!("{:.0}", least(&unordered)));
    figure("regressions of ordered reads, all runs", "0", &format!("{ordered:.0}"));
    Ok(())
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn offsets() -> Result<()> {
    let (mut bounds, mut round_trips) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let record = record_of(&["order", "--offsets", "--duration", "1s"])?;
        bounds.push(number(&record["pairs"][0]["bound_ns"])?);
        round_trips.push(number(&record["pairs"][0]["round_trip_ns"])?);
    }
    let round_trip = median(&mut round_trips);
    let target = if round_trip <= 200.0 { 100.0 } else { 0.6 * round_trip };
    figure("offset of two CPUs: tightest round trip", "-", &format!("{round_trip:.0} ns"));
    let bound = median(&mut bounds);
    figure("offset of two CPUs: bound in 1 s", &format!("<= {target:.0} ns"), &format!("{bound:.0} ns"));
    Ok(())
}

/// Bounds of clocks by the vDSO, and of others beside the width of their brackets.
fn rates() -> Result<()> {
    for (duration, target) in [("1s", "<= 0.1"), ("10s", "<= 0.01")] {
        let mut widest = Vec::new();
        for _ in 0..RUNS {
            let record = record_of(&["rate", "monotonic", "realtime", "tai", "boottime", "--duration", duration])?;
            let clocks = record["clocks"].as_array().context("no clocks")?;
            let bounds: Result<Vec<f64>> = clocks.iter().map(|clock| number(&clock["bound_ppm"])).collect();
            widest.push(bounds?.into_iter().fold(0.0, f64::max));
        }
        figure(
            &format!("rate of vDSO clocks in {duration}: widest bound, ppm"),
            target,
            &format!("{:.4}", median(&mut widest)),
        );
    }
    for name in ["monotonic:syscall", "monotonic_coarse", "gettimeofday", "tsc_cpuid"] {
        let mut ratios = Vec::new();
        for _ in 0..RUNS {
            let record = record_of(&["rate", name, "--duration", "1s"])?;
            let clock = &record["clocks"][0];
            // A reading may be late by the clocks' steps: what is known of the moment is as wide as
            // both.
            let width_ns = number(&clock["bracket_ns"])? + number(&clock["ticks_ns"])?;
            ratios.push(number(&clock["bound_ppm"])? * number(&clock["seconds"])? * 1e3 / width_ns);
        }
        let figures = format!("{:.2}", median(&mut ratios));
        figure(&format!("rate of {name}: bound x duration / width"), "<= 2", &figures);
    }
    Ok(())
}

/// Clocks that a preloaded library makes run fast.
fn fast_clocks() -> Result<()> {
    let source = "crates/clockscope-testing/rigs/liar.c";
    run::with(&[], "cc", &["-O2", "-shared", "-fPIC", "-o", &run::built(LIAR), source, "-ldl"])?;
    let library = run::built(LIAR);
    for (ppb, ppm) in [("10000", 10.0), ("500000", 500.0), ("-100", -0.1)] {
        let variables = [("LD_PRELOAD", library.as_str()), ("CLOCKSCOPE_LIE_CLOCK", "1"), ("CLOCKSCOPE_LIE_PPB", ppb)];
        let arguments = ["rate", "monotonic", "--duration", "2s", "--quiet", "--format", "json"];
        let record = run::document_with(&variables, &run::built(PROGRAM), &arguments)?;
        let clock = &record["clocks"][0];
        let found = format!("{:+.4} +- {:.4} ppm", number(&clock["ppm"])?, number(&clock["bound_ppm"])?);
        figure(&format!("a clock of {ppm:+} ppm, in 2 s"), "sign and size", &found);
    }
    Ok(())
}
