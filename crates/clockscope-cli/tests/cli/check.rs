//! Verdicts on the machine as it is, and on ones that are broken on purpose: each gets the right
//! one, for the right reason.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;
use std::time::Duration;

use crate::policy::Written;
use crate::support::{assert_valid, clockscope, record, record_beside, record_granted, run, under};
use clockscope_testing::{
    Granted, Signal, TRAP_FAULTS, allowed_cpus, demand, granted, on_cpu, signal, skip, two_cpus, until_it_catches,
    until_it_ran,
};
use serde_json::Value;
use serial_test::{parallel, serial};

/// Arguments of a check. With a factor of 1 it lasts as long as faults need that come after 700 ms.
fn check(factor: u32) -> [String; 5] {
    ["check", "--duration", &format!("{}ms", 2500 * factor), "--format", "json"].map(str::to_owned)
}

fn words(arguments: &[String; 5]) -> [&str; 5] {
    arguments.each_ref().map(String::as_str)
}

fn verdict<'a>(record: &'a Value, clock: &str) -> &'a Value {
    let verdicts = record["verdicts"].as_array().unwrap();
    verdicts.iter().find(|verdict| verdict["clock"] == clock).unwrap_or_else(|| panic!("no {clock} in {record:#}"))
}

fn evidence(verdict: &Value) -> &Vec<Value> {
    verdict["evidence"].as_array().unwrap()
}

/// The checks that decide, each once.
fn decisive(verdict: &Value) -> Vec<&str> {
    let deciding = evidence(verdict).iter().filter(|one| one["decides"] == true);
    let mut checks: Vec<&str> = deciding.map(|one| one["check"].as_str().unwrap()).collect();
    checks.dedup();
    checks
}

/// The finding of this check: for or against the clock.
fn finding<'a>(verdict: &'a Value, check: &str) -> &'a Value {
    let found = evidence(verdict).iter().find(|one| one["check"] == check);
    &found.unwrap_or_else(|| panic!("no {check} in {verdict:#}"))["finding"]
}

fn assert_advised(record: &Value) {
    for verdict in record["verdicts"].as_array().unwrap() {
        for one in evidence(verdict) {
            assert!(one["finding"] != "against" || one["advice"].is_string(), "no advice: {one:#}");
            assert!(one["text"].is_string() && one["source"].is_string(), "{one:#}");
        }
    }
}

/// The counter is trusted where the kernel builds its clocks on it and the processor promises a
/// constant rate; other machines limit it.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_healthy_machine_is_trusted() {
    demand(|factor| {
        let (record, granted) = record_granted(clockscope(&words(&check(factor))));
        assert_advised(&record);
        (granted, move || {
            let environment = &record["environment"];
            // Where only one CPU is allowed the order across CPUs is not tested.
            let is_sound = environment["clocksource"] == "tsc"
                && environment["counter_flags"]["invariant"] == true
                && allowed_cpus().len() > 1;
            let counter = verdict(&record, "tsc");
            assert_eq!(counter["verdict"] == "trusted", is_sound, "{counter:#}");
            for name in
                ["realtime", "monotonic", "monotonic_coarse", "monotonic_raw", "boottime", "tai", "process", "thread"]
            {
                let found = verdict(&record, name);
                let interval = &found["uses"]["interval"];
                assert!(interval == "trusted" || !is_sound && interval != "unfit", "{found:#}");
                // How well the time of day is known depends on the machine's daemon.
                assert_eq!(found["uses"]["time_of_day"].is_null(), !["realtime", "tai"].contains(&name), "{found:#}");
            }
        })
    });
}

#[test]
#[parallel]
fn clocks_are_chosen_by_name_and_the_counter_by_its_office() {
    let record = record(clockscope(&["check", "counter", "rust_instant", "--duration", "500ms", "--format", "json"]));
    let clocks: Vec<&Value> = record["verdicts"].as_array().unwrap().iter().map(|one| &one["clock"]).collect();
    assert_eq!(clocks, ["tsc", "rust_instant"]);
    let output = run(clockscope(&["check", "monotonik"]), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean monotonic"));
}

/// Checks under the trap rig.
fn trapped(factor: u32, fault: &str) -> (Value, Granted) {
    let arguments = check(factor);
    let found = record_granted(under("trap", &[(TRAP_FAULTS, fault)], &words(&arguments)));
    assert_advised(&found.0);
    found
}

/// Actions of the rig, and the evidence that decides against the counter. On a busy machine the
/// fault may come between two looks, where the rate alone shows it.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn every_fault_of_a_counter_makes_it_unfit_for_its_own_reason() {
    // Ticks are of a counter of 1 to 5 GHz.
    let faults = [
        // A jump forward, and one back.
        ("jump:after=700ms,ticks=100000000", "jumps"),
        ("jump:after=700ms,ticks=-100000000", "steps_back"),
        // Its rate changes.
        ("rate:after=1400ms,ppm=900", "constant_rate"),
        // It stands still, for good and for a while.
        ("freeze:after=700ms", "stuck"),
        ("freeze:after=700ms,for=300ms", "stuck"),
        // A suspend, a snapshot that is restored, a process on another host.
        ("reset:after=700ms", "steps_back"),
        ("reset:after=1400ms", "constant_rate"),
        ("host:after=700ms,ticks=900000000,ppm=50", "jumps"),
        ("host:after=700ms,ticks=-900000000,ppm=-50", "steps_back"),
        // Firmware hides time from it.
        ("hide:every=100ms,ticks=3000000", "jumps"),
    ];
    for (fault, reason) in faults {
        demand(|factor| {
            let (record, granted) = trapped(factor, fault);
            (granted, move || {
                let counter = verdict(&record, "tsc");
                assert_eq!(counter["verdict"], "unfit", "{fault}: {counter:#}");
                let decisive = decisive(counter);
                assert!(
                    decisive.contains(&reason) || decisive.contains(&"constant_rate"),
                    "{fault} is decided by {decisive:?}"
                );
                // The kernel's clock is computed from it, in the vDSO and in this process.
                if record["environment"]["clocksource"] == "tsc" {
                    assert_eq!(finding(verdict(&record, "monotonic"), "counter"), "against", "{fault}");
                }
            })
        });
    }
}

/// One CPU's counter is ahead, or drifts away: the order of ordered reads shows it, and so does the
/// offset.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn counters_that_differ_between_cpus_are_unfit() {
    let Some((_, other)) = two_cpus() else { return };
    for fault in [format!("offset:cpu={other},ticks=5000000"), format!("drift:cpu={other},ppm=500")] {
        demand(|factor| {
            let (record, granted) = trapped(factor, &fault);
            let fault = &fault;
            (granted, move || {
                let counter = verdict(&record, "tsc");
                assert_eq!(counter["verdict"], "unfit", "{fault}: {counter:#}");
                assert!(decisive(counter).contains(&"order"), "{fault}: {:?}", decisive(counter));
                assert_eq!(finding(counter, "offsets"), "against", "{fault}: {counter:#}");
                // The vDSO computes it from the same counters.
                assert_eq!(finding(verdict(&record, "monotonic"), "order"), "against", "{fault}");
            })
        });
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_trapped_counter_is_right_and_expensive() {
    demand(|factor| {
        let (record, granted) = trapped(factor, "slow:ns=1000");
        for check in ["steps_back", "jumps", "stuck", "constant_rate", "order"] {
            let counter = verdict(&record, "tsc");
            assert_ne!(finding(counter, check), "against", "{check}: {counter:#}");
        }
        (granted, move || {
            let counter = verdict(&record, "tsc");
            assert_eq!((&counter["verdict"], decisive(counter)), (&"limited".into(), vec!["cost"]), "{counter:#}");
        })
    });
}

#[test]
#[parallel]
fn a_disabled_counter_is_unfit_and_so_is_what_reads_it() {
    let record = record(under("no_tsc", &[], &words(&check(1))));
    assert_advised(&record);
    for clock in ["tsc", "monotonic", "realtime"] {
        let found = verdict(&record, clock);
        assert_eq!((&found["verdict"], decisive(found)), (&"unfit".into(), vec!["readable"]), "{found:#}");
    }
    // The timer tick moves these; no counter is read.
    let coarse = verdict(&record, "monotonic_coarse");
    assert_eq!(finding(coarse, "readable"), "for", "{coarse:#}");
    assert!(coarse["verdict"] == "trusted" || coarse["verdict"] == "undecided", "{coarse:#}");
}

/// The C library lies about one clock; the counter and the others are sound.
#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn a_clock_that_goes_back_or_stops_is_unfit_and_the_counter_is_not() {
    let lies: [(&[(&str, &str)], &str); 2] = [
        (&[("CLOCKSCOPE_LIE_EVERY", "1000"), ("CLOCKSCOPE_LIE_STEP_NS", "-2000000")], "steps_back"),
        (&[("CLOCKSCOPE_LIE_FREEZE_AFTER", "1000")], "stuck"),
    ];
    for (lie, reason) in lies {
        let variables = [lie, &[("CLOCKSCOPE_LIE_CLOCK", "1")]].concat();
        demand(|factor| {
            let arguments = check(factor);
            let command = under("liar", &variables, &words(&arguments));
            let (record, granted) = record_granted(command);
            assert_advised(&record);
            assert_ne!(verdict(&record, "tsc")["verdict"], "unfit", "{lie:?}");
            assert_ne!(verdict(&record, "monotonic_raw")["verdict"], "unfit", "{lie:?}");
            (granted, move || {
                let monotonic = verdict(&record, "monotonic");
                assert_eq!(monotonic["verdict"], "unfit", "{lie:?}: {monotonic:#}");
                assert!(decisive(monotonic).contains(&reason), "{lie:?}: {:?}", decisive(monotonic));
            })
        });
    }
}

/// A CPU-time clock that runs 11 times too fast, and one at half speed, which the other CPU-time
/// clocks show.
#[test]
#[parallel]
fn a_cpu_time_clock_at_a_wrong_rate_is_unfit() {
    for (clock, id, ppb) in [("process", "2", "10000000000"), ("thread", "3", "-500000000")] {
        let variables = [("CLOCKSCOPE_LIE_CLOCK", id), ("CLOCKSCOPE_LIE_PPB", ppb)];
        demand(|factor| {
            let duration = format!("{}ms", 500 * factor);
            let arguments = ["check", "process", "thread", "--duration", &duration, "--format", "json"];
            let (record, granted) = record_granted(under("liar", &variables, &arguments));
            assert_advised(&record);
            let other = if clock == "process" { "thread" } else { "process" };
            assert_ne!(verdict(&record, other)["verdict"], "unfit", "{record:#}");
            (granted, move || {
                let found = verdict(&record, clock);
                assert_eq!(
                    (&found["verdict"], finding(found, "rate")),
                    (&"unfit".into(), &"against".into()),
                    "{found:#}"
                );
            })
        });
    }
}

#[test]
#[parallel]
fn a_denied_clock_is_unfit_with_the_reason() {
    let variables = [("CLOCKSCOPE_DENY_CLOCK", "2"), ("CLOCKSCOPE_DENY_HOW", "errno")];
    let record = record(under("deny", &variables, &["check", "--duration", "500ms", "--format", "json"]));
    let process = verdict(&record, "process");
    assert_eq!((&process["verdict"], decisive(process)), (&"unfit".into(), vec!["readable"]));
    assert!(evidence(process)[0]["text"].as_str().unwrap().contains("seccomp"), "{process:#}");
}

/// Checks with something else in the place of the kernel's folder of clocksources; `None` where
/// that needs more rights.
fn with_sysfs(prepare: &str) -> Option<Value> {
    let program = env!("CARGO_BIN_EXE_clockscope");
    let folder = "/sys/devices/system/clocksource";
    let script =
        format!("mount -t tmpfs none {folder} && {prepare} && exec {program} check --duration 1s --format json");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", &script]).env("F", format!("{folder}/clocksource0"));
    let output = command.output().unwrap();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("unshare") || said.contains("mount"), "{said}");
        skip(&format!("a mount namespace is needed: {}", said.trim()));
        return None;
    }
    let record = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&record);
    Some(record)
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn a_sysfs_that_is_missing_unreadable_or_odd_is_no_reason_to_fail() {
    for prepare in [
        "true",
        "mkdir $F && printf '' >$F/current_clocksource",
        "mkdir -p $F/current_clocksource",
        "mkdir $F && printf '\\377\\0\\n\\n' >$F/current_clocksource && printf '\\0' >$F/available_clocksource",
    ] {
        let Some(record) = with_sysfs(prepare) else { return };
        let counter = verdict(&record, "tsc");
        let expected = if record["environment"]["clocksource"].is_null() { "undecided" } else { "limited" };
        assert_eq!(counter["verdict"], expected, "{prepare}: {counter:#}");
        assert!(decisive(counter).contains(&"clocksource"), "{prepare}: {:?}", decisive(counter));
    }
}

/// docs/reference/evidence.md has a row for each check, with all of its fields.
#[test]
#[parallel]
fn the_documentation_lists_the_figures_of_each_check() {
    let schema: Value = serde_json::from_slice(&run(clockscope(&["schema"]), 0).stdout).unwrap();
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/evidence.md")).unwrap();
    for check in schema["$defs"]["Evidence"]["oneOf"].as_array().unwrap() {
        let fields = check["properties"].as_object().unwrap();
        let begins = format!("| `{}` | ", fields["check"]["const"].as_str().unwrap());
        let row = text.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("no row {begins}"));
        for field in fields.keys().filter(|field| *field != "check") {
            assert!(row.contains(&format!("`{field}`")), "{field}: {row}");
        }
    }
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[serial]
fn findings_decide_the_exit_code() {
    // One CPU alone has nothing to ask another.
    if two_cpus().is_none() {
        return;
    }
    // While clocks are read one by one: later, when they are compared, it is no step back of one.
    demand(|factor| {
        let duration = format!("{}ms", 2500 * factor);
        let codes = ["unfit", "limited", "regression"].map(|finding| {
            let arguments = ["check", "--duration", &duration, "--format", "json", "--fail-on", finding];
            let mut command = under("trap", &[(TRAP_FAULTS, "jump:after=400ms,ticks=-100000000")], &arguments);
            let (output, granted) = granted(&mut command);
            (output.status.code(), granted)
        });
        let least = codes.map(|(_, granted)| granted).into_iter().find(|granted| !granted.is_whole());
        (least.unwrap_or(codes[0].1), move || assert_eq!(codes.map(|(code, _)| code), [Some(1); 3]))
    });
    // Beside busy CPUs nothing may be handed over from one to the other: then something is unknown.
    demand(|factor| {
        let duration = format!("{}s", 5 * factor);
        let sound = ["check", "monotonic", "--duration", &duration, "--fail-on", "unfit,unavailable,regression,jump"];
        let (output, granted) = granted(&mut clockscope(&sound));
        (granted, move || assert_eq!(output.status.code(), Some(0), "{output:?}"))
    });
    run(clockscope(&["check", "--fail-on", "sundial"]), 2);
}

#[test]
#[ignore = "measures real clocks: needs a quiet machine"]
#[parallel]
fn an_interrupted_check_says_what_it_knows() {
    for ran_ms in [100, 1000] {
        let (record, _) =
            record_beside(clockscope(&["check", "--duration", "600s", "--format", "json"]), 130, |child| {
                until_it_catches(child, Signal::INT);
                until_it_ran(child, Duration::from_millis(ran_ms));
                signal(child, Signal::INT);
            });
        assert_eq!(record["run"]["interrupted"], true);
        // Some evidence may be against it on this machine; the missing tests never are for it.
        assert!(!["unfit", "trusted"].map(Value::from).contains(&verdict(&record, "tsc")["verdict"]), "{record:#}");
    }
}

/// A test that could not run is not one that failed.
#[test]
#[parallel]
fn one_cpu_of_several_leaves_the_order_untested_which_decides_nothing() {
    if allowed_cpus().len() == 1 {
        return skip("the test is about one of several CPUs");
    }
    on_cpu(allowed_cpus()[0], || {
        let check = ["check", "monotonic", "--duration", "1s", "--fail-on", "limited", "--format", "json"];
        let output = run(clockscope(&check), 3);
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        let monotonic = verdict(&record, "monotonic");
        assert_eq!((&monotonic["verdict"], finding(monotonic, "order")), (&"undecided".into(), &"unknown".into()));
        // What is undecided was not found to be unfit.
        run(clockscope(&["check", "monotonic", "-d", "500ms", "--fail-on", "unfit"]), 0);
        let demanded = Written::new("[clocks.monotonic]\nverdict = \"trusted\"");
        let policy = demanded.path();
        let by_policy = ["check", "monotonic", "-d", "500ms", "--policy", policy.to_str().unwrap()];
        run(clockscope(&by_policy), 3);
        let nagios = ["check", "monotonic", "-d", "500ms", "--one-line", "--exit-codes", "nagios"];
        let line = String::from_utf8(run(clockscope(&nagios), 3).stdout).unwrap();
        assert!(line.starts_with("clockscope UNKNOWN: monotonic undecided (order across CPUs"), "{line}");
    });
}

#[test]
#[parallel]
fn few_readings_decide_nothing() {
    // A fast machine may take enough of some clocks.
    let record = record(clockscope(&["check", "-d", "1ms", "--format", "json"]));
    for verdict in record["verdicts"].as_array().unwrap() {
        let steps_back = evidence(verdict).iter().find(|one| one["check"] == "steps_back");
        let readings = steps_back.and_then(|one| one["readings"].as_u64()).unwrap_or_default();
        assert!(readings >= 1000 || verdict["uses"]["interval"] != "trusted", "{verdict:#}");
    }
}

/// The time of day and intervals are judged apart.
#[test]
#[parallel]
fn a_clock_is_judged_for_the_requested_use() {
    let uses = |arguments: &[&str]| {
        let record = record(clockscope(&[&["check", "-d", "50ms", "--format", "json"][..], arguments].concat()));
        let verdicts = record["verdicts"].as_array().unwrap().iter();
        verdicts
            .map(|found| {
                let [interval, time_of_day] = ["interval", "time_of_day"].map(|of| !found["uses"][of].is_null());
                (found["clock"].as_str().unwrap().to_owned(), interval, time_of_day)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(uses(&["monotonic", "realtime"]), [("realtime".into(), true, true), ("monotonic".into(), true, false)]);
    assert_eq!(uses(&["realtime", "--for", "interval"]), [("realtime".into(), true, false)]);
    assert_eq!(uses(&["realtime", "--for", "time-of-day"]), [("realtime".into(), false, true)]);
    let all = uses(&["--for", "time-of-day"]);
    assert!(
        all.iter().any(|(clock, ..)| clock == "tai")
            && all.iter().all(|(_, interval, time_of_day)| !interval && *time_of_day)
    );
    let output = run(clockscope(&["check", "monotonic", "--for", "time-of-day"]), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("monotonic does not show the time of day"), "{output:?}");
}

#[test]
#[parallel]
fn clocksources_are_listed_and_an_unknown_one_is_refused_before_anything_is_switched() {
    let record = record(clockscope(&["clocksource", "--format", "json"]));
    let current = record["environment"]["clocksource"].clone();
    let listed = record["clocksources"].as_array().unwrap();
    let used: Vec<&Value> = listed.iter().filter(|one| one["current"] == true).map(|one| &one["name"]).collect();
    assert_eq!(used, [&current], "{record:#}");
    let output = run(clockscope(&["measure", "--clocksource", "sundial"]), 2);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("sundial") && said.contains(current.as_str().unwrap()), "{said}");
    run(clockscope(&["measure", "monotonik", "--clocksource", current.as_str().unwrap()]), 2);
}
