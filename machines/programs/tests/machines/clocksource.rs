//! Checks for machines in which the instrument switches the kernel's clocksource itself: it
//! measures with each, and puts back what was there, however it ends.

use serde_json::{Value, json};

use crate::checks::{Served, watch_record};
use crate::seen::{Seen, named, number};

/// All endings: by itself, by a signal, beside another run, and killed.
pub(super) fn clocksource(seen: &mut Seen) {
    listed(seen);
    switched(seen);
    compared(seen);
    refused_beforehand(seen);
    runtimes(seen);
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let found = seen.json_with(&format!("ended_{signal}"), 130);
        let first = &found["measurements"][0];
        let is_reported = first["run"]["interrupted"] == true && first["environment"]["clocksource"] == "hpet";
        seen.expect(is_reported, || format!("what was measured until {signal}: {first}"));
        is(seen, &format!("after_{signal}"), "tsc");
    }
    expect_locked(seen);
    killed(seen);
    seen.found("switched and put back, by itself, INT, TERM, HUP, QUIT, and after KILL".into());
    watch_record(seen, "watch", Served::Counter, 1);
}

/// The clocksource at that moment.
fn is(seen: &mut Seen, command: &str, expected: &str) {
    let Some((_, text)) = seen.output(command) else { return };
    seen.expect(text.trim() == expected, || {
        format!("{command}: the clocksource is {} instead of {expected}", text.trim())
    });
}

/// Checks that a command ended with this code, and said all of this.
fn expect_ended(seen: &mut Seen, command: &str, code: i32, words: &[&str]) {
    let Some((ended, _)) = seen.output(command) else { return };
    let said = seen.error(command);
    seen.expect(ended == code, || format!("{command} ended with {ended} instead of {code}: {said}"));
    for word in words {
        seen.expect(said.contains(word), || format!("{command} does not say {word}: {said}"));
    }
}

/// All that the kernel offers, with what is known of each.
fn listed(seen: &mut Seen) {
    let found = seen.json("sources");
    let sources = &found["clocksources"];
    for (name, current, hz) in [("tsc", true, f64::NAN), ("hpet", false, 1e8), ("acpi_pm", false, 3_579_545.0)] {
        let source = named(sources, name);
        seen.expect(source["current"] == current, || format!("{name} is listed as {source}"));
        let frequency = number(&source["frequency_hz"]);
        let is_right = if hz.is_nan() { frequency > 1e8 } else { (frequency / hz - 1.0).abs() < 1e-9 };
        seen.expect(is_right, || format!("the frequency of {name} is shown as {frequency}"));
    }
    let wraps_s = number(&named(sources, "acpi_pm")["wraps_after_s"]);
    seen.expect((wraps_s - 4.687).abs() < 0.001, || format!("acpi_pm is shown to wrap after {wraps_s} s"));
    seen.expect(found["left_behind"].is_null(), || format!("left behind: {}", found["left_behind"]));
}

/// Each was in use while it was measured with, and the first again after the last.
fn switched(seen: &mut Seen) {
    let found = seen.json("switched");
    let measurements = found["measurements"].as_array().cloned().unwrap_or_default();
    let used: Vec<&Value> = measurements.iter().map(|one| &one["environment"]["clocksource"]).collect();
    seen.expect(used == ["hpet", "acpi_pm", "tsc"], || format!("measured with {used:?}"));
    let step =
        |at: usize| measurements.get(at).map_or(f64::NAN, |one| number(&named(&one["clocks"], "monotonic")["tick_ns"]));
    let (hpet, acpi_pm) = (step(0), step(1));
    seen.expect((hpet - 10.0).abs() < 0.01 && (acpi_pm - 279.365).abs() < 0.1, || {
        format!("monotonic steps by {hpet} ns with the HPET and {acpi_pm} ns with the ACPI timer")
    });
    seen.expect(found["was"] == "tsc", || format!("it was {}", found["was"]));
    is(seen, "after_switched", "tsc");
}

/// Five runs before and after a switch: the clocksource has changed. Of costs under an emulator
/// nothing is concluded.
fn compared(seen: &mut Seen) {
    let found = seen.json_with("compared", 1);
    let changes = found["changes"].as_array().cloned().unwrap_or_default();
    let clocksource = changes.iter().find(|change| change["fact"] == "clocksource").unwrap_or(&Value::Null);
    let is_named = clocksource["base"] == json!(["tsc"]) && clocksource["new"] == json!(["hpet"]);
    seen.expect(is_named, || format!("compared clocksources: {clocksource}"));
    let monotonic = named(&found["clocks"], "monotonic");
    let is_left_open = monotonic["change"] == "inconclusive" && monotonic["undecided"] == "emulated";
    seen.expect(is_left_open, || format!("with the HPET monotonic is {monotonic}"));
    let said = seen.error("compared");
    let is_said = said.contains("found: clocksource") && !said.contains("slower");
    seen.expect(is_said, || format!("compare said: {said}"));
}

/// The C probe with each, and one that is missing with each; all in one table.
fn runtimes(seen: &mut Seen) {
    let found = seen.json("runtimes");
    let rows = found["runtimes"].as_array().cloned().unwrap_or_default();
    let used: Vec<&Value> =
        rows.iter().filter(|row| row["available"] == false).map(|row| &row["clocksource"]).collect();
    seen.expect(used == ["hpet", "acpi_pm", "tsc"], || format!("Perl is missing with {used:?}"));
    for (source, tick_ns) in [("hpet", 10.0), ("acpi_pm", 279.365)] {
        let is_wanted = |row: &&Value| row["clocksource"] == source && row["api"] == "clock_gettime(CLOCK_MONOTONIC)";
        let row = rows.iter().find(is_wanted).unwrap_or(&Value::Null);
        let found = number(&row["tick_ns"]);
        seen.expect((found / tick_ns - 1.0).abs() < 1e-3, || format!("C steps by {found} ns with {source}: {row}"));
        seen.expect(row["hardware_timer"] == source, || format!("C stands on {} with {source}", row["hardware_timer"]));
    }
    seen.expect(found["was"] == "tsc", || format!("it was {}", found["was"]));
    is(seen, "after_runtimes", "tsc");
    expect_ended(seen, "runtimes_denied", 4, &["root", "current_clocksource"]);
}

/// A switch that cannot be done is refused before anything is done.
fn refused_beforehand(seen: &mut Seen) {
    expect_ended(seen, "missing", 2, &["sundial", "acpi_pm"]);
    expect_ended(seen, "denied", 4, &["root", "current_clocksource"]);
}

/// The second of two runs says who holds the switch; one that does not switch warns.
fn expect_locked(seen: &mut Seen) {
    expect_ended(seen, "second", 4, &["has switched the clocksource and will restore it", "process"]);
    expect_ended(seen, "beside", 0, &["warning", "has switched the clocksource and will restore it"]);
    is(seen, "after_busy", "tsc");
}

/// After SIGKILL the clocksource stays switched; every run says so, and one command puts it back.
fn killed(seen: &mut Seen) {
    is(seen, "after_killed", "hpet");
    let restore = "clockscope clocksource --restore";
    expect_ended(seen, "warned", 0, &["warning", "ended without", "tsc", restore]);
    expect_ended(seen, "refused", 4, &["ended without", restore]);
    let left = seen.json("left")["left_behind"].clone();
    seen.expect(left["was"] == "tsc" && left["is"] == "hpet", || format!("left behind is shown as {left}"));
    let restored = seen.json("restored");
    seen.expect(restored["left_behind"].is_null(), || format!("left behind: {}", restored["left_behind"]));
    is(seen, "after_restored", "tsc");
    let marker = seen.output("marker").map(|(_, text)| text).unwrap_or_default();
    seen.expect(marker.trim().is_empty(), || format!("the marker is still there: {marker}"));
}
