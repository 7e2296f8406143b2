//! The files of packaging/ for monitors, each by its own tool where there is one.
#![cfg(target_os = "linux")]

mod containers;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use crate::support::{clockscope, is_emulated, run};
use clockscope_records::checks::CostCause;
use clockscope_system::clocksource::KNOWN;
use clockscope_testing::skip;
use serde_json::Value;
use serial_test::serial;

fn packaging(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(file)
}

fn text(file: &str) -> String {
    fs::read_to_string(packaging(file)).unwrap()
}

fn json(file: &str) -> Value {
    serde_json::from_str(&text(file)).unwrap()
}

/// Runs a tool; `None` where it is missing.
fn tool(name: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(name).args(arguments).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip(&format!("there is no {name}"));
            None
        }
        output => Some(output.unwrap()),
    }
}

fn words_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The service of the metrics and that of the records.
const SERVICES: [&str; 2] = ["clockscope-textfile", "clockscope-records"];

/// Each unit's exposure is 3 of 10 at most.
#[test]
fn the_services_are_understood_and_hardened() {
    let folder = tempfile::tempdir().unwrap();
    for name in SERVICES {
        let path_to = |ending: &str| folder.path().join(format!("{name}.{ending}")).to_str().unwrap().to_owned();
        let [service, timer] = ["service", "timer"].map(path_to);
        let unit = text(&format!("systemd/{name}.service"));
        // systemd looks whether the program is there.
        fs::write(&service, unit.replace("/usr/bin/clockscope", env!("CARGO_BIN_EXE_clockscope"))).unwrap();
        fs::write(&timer, text(&format!("systemd/{name}.timer"))).unwrap();
        let Some(verified) = tool("systemd-analyze", &["verify", &service, &timer]) else { return };
        assert!(verified.status.success() && words_of(&verified).is_empty(), "{}", words_of(&verified));
        let security = ["security", "--offline=true", "--threshold=30", &service];
        let Some(analyzed) = tool("systemd-analyze", &security) else { return };
        assert!(analyzed.status.success(), "{}", words_of(&analyzed));
    }
}

/// The services have the same rights, apart from the folder that each writes to.
#[test]
fn the_services_are_hardened_alike() {
    let [metrics, records] = SERVICES.map(|name| {
        let unit = text(&format!("systemd/{name}.service"));
        let (_, settings) = unit.split_once("\nCapabilityBoundingSet=").unwrap();
        let is_setting = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("ReadWrite");
        settings.lines().filter(is_setting).map(str::to_owned).collect::<Vec<String>>()
    });
    assert_eq!(metrics, records);
}

/// The command of the service that keeps records, as systemd hands it to the shell.
fn command_of_records() -> String {
    let service = text("systemd/clockscope-records.service");
    let command = service.lines().find_map(|line| line.strip_prefix("ExecStart=/bin/sh -c '")?.strip_suffix('\''));
    command.unwrap().replace("%%", "%")
}

/// Each start writes a file of its own, whole, and succeeds.
#[test]
#[serial]
fn the_service_of_records_writes_a_file_a_start() {
    if is_emulated() {
        return skip("the shell would start the program without its emulator");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = format!("{} check --duration 200ms ", env!("CARGO_BIN_EXE_clockscope"));
    let command = command_of_records().replace("/usr/bin/clockscope check ", &program);
    let starts = ["0d3c8ee08a4f4b6d9f2f3d0f0f9f4c12", "4f0c8ee08a4f4b6d9f2f3d0f0f9f4c11"];
    for start in starts {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &command]).env("STATE_DIRECTORY", folder.path()).env("INVOCATION_ID", start);
        run(shell, 0);
    }
    let mut names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    for (name, start) in names.iter().zip(starts) {
        let time = name.strip_suffix(&format!("-{start}.ndjson")).unwrap();
        let pattern: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(pattern, "00000000T000000Z", "{name}");
        let record = fs::read_to_string(folder.path().join(name)).unwrap();
        let last: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
        assert_eq!(last["type"], "end", "{last}");
    }
}

/// An old record goes though it was read today, and a new one stays.
#[test]
fn old_records_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let records = root.path().join("var/lib/clockscope/records");
    fs::create_dir_all(&records).unwrap();
    let days = |days: u64| SystemTime::now() - Duration::from_secs(days * 86_400);
    for (name, age) in [("old", 15), ("new", 13)] {
        let file = fs::File::create(records.join(name)).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(days(age)).set_accessed(days(0))).unwrap();
    }
    let Some(version) = tool("systemd-tmpfiles", &["--version"]) else { return };
    let version = words_of(&version).split_whitespace().nth(1).and_then(|number| number.parse::<u32>().ok());
    if version.is_some_and(|version| version < 250) {
        return skip("systemd before 250 does not know the age by the last change");
    }
    let config = packaging("systemd/clockscope-records.tmpfiles").canonicalize().unwrap();
    let root_option = format!("--root={}", root.path().display());
    let Some(cleaned) = tool("systemd-tmpfiles", &["--clean", &root_option, config.to_str().unwrap()]) else { return };
    assert!(cleaned.status.success() && words_of(&cleaned).is_empty(), "{}", words_of(&cleaned));
    assert!(!records.join("old").exists() && records.join("new").exists());
}

/// The command lines of the services and of the plugin are command lines of this program.
#[test]
fn commands_in_files_are_understood() {
    let service = text("systemd/clockscope-textfile.service");
    let line = service.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/clockscope ")).unwrap();
    let plugin = json("node-problem-detector/clockscope-check.json");
    let arguments = plugin["rules"][0]["args"].as_array().unwrap();
    let plugin: Vec<&str> = arguments.iter().map(|word| word.as_str().unwrap()).collect();
    let daemonset = text("kubernetes/daemonset.yaml");
    let shell = daemonset.lines().find_map(|line| line.trim().strip_prefix("clockscope check ")).unwrap();
    let shell: Vec<&str> = ["check"].into_iter().chain(shell.trim_end_matches(" &").split(' ')).collect();
    let records = command_of_records();
    let (_, records) = records.split_once("/usr/bin/clockscope ").unwrap();
    let (records, _) = records.split_once(" \"$").unwrap();
    let records: Vec<&str> = records.split(' ').chain(["FILE"]).collect();
    for mut words in [line.split(' ').collect(), plugin, shell, records] {
        words.extend(["--duration", "x"]);
        // The time is the one word that is wrong.
        let said = String::from_utf8(run(clockscope(&words), 2).stderr).unwrap();
        assert!(said.contains("invalid value 'x' for '--duration"), "{said}");
    }
}

/// Lines that kernels have printed, and the rule that takes each.
#[test]
fn rules_for_the_kernels_log_take_its_lines() {
    let config = json("node-problem-detector/clockscope-kernel-log.json");
    let rules = config["rules"].as_array().unwrap();
    let unstable = "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc-early' as unstable because the skew is too large:";
    for (line, expected) in [
        (unstable, Some("ClocksourceUnstable")),
        ("Clocksource tsc unstable (delta = -131624372 ns)", Some("ClocksourceUnstable")),
        (
            "Clocksource tsc unstable (delta = 131624372 ns).  Enable clocksource failover by adding \
             clocksource_failover kernel parameter.",
            None,
        ),
        (
            "clocksource: timekeeping watchdog: Marking clocksource 'tsc' as unstable because the skew is too large:",
            Some("ClocksourceUnstable"),
        ),
        (
            "timekeeping watchdog: Marking clocksource 'tsc' as unstable, because the skew is too large:",
            Some("ClocksourceUnstable"),
        ),
        (
            "clocksource: timekeeping watchdog: Marking clocksource 'tsc' as unstable, because the skew is too large:",
            Some("ClocksourceUnstable"),
        ),
        ("clocksource: Marking clocksource tsc unstable due to frequency skew", Some("ClocksourceUnstable")),
        (
            "clocksource: Marking clocksource arch_sys_counter unstable due to frequency skew",
            Some("ClocksourceUnstable"),
        ),
        ("clocksource: Marking clocksource tsc unstable due to inter CPU skew", Some("ClocksourceUnstable")),
        (
            "clocksource: timekeeping watchdog on CPU13: hpet read-back delay of 263750ns, attempt 4, marking unstable",
            Some("ClocksourceUnstable"),
        ),
        (
            "clocksource: timekeeping watchdog on CPU5: wd-tsc-wd excessive read-back delay of 316000ns vs. limit of \
             125000ns, wd-wd read-back delay only 5300ns, attempt 3, marking tsc unstable",
            Some("ClocksourceUnstable"),
        ),
        ("clocksource: wd-tsc-wd read-back delay of 89916ns, clock-skew test skipped!", None),
        ("clocksource: Watchdog remote CPU 3 read timed out", Some("ClocksourceWatchdogTimeout")),
        (
            "clocksource: Watchdog hpet read timed out. Readout sequence took: 81042ns",
            Some("ClocksourceWatchdogTimeout"),
        ),
        ("clocksource: Watchdog               kvm-clock interval:        503995129ns", None),
        ("tsc: Marking TSC unstable due to clocksource watchdog", Some("TscUnstable")),
        ("tsc: Marking TSC unstable due to TSCs unsynchronized", Some("TscUnstable")),
        ("Marking TSC unstable due to TSC halts in idle", Some("TscUnstable")),
        // Older kernels print it on each such guest, whose clocks the hypervisor corrects.
        ("tsc: Marking TSC unstable due to running on Hyper-V", None),
        ("tsc: Marking TSC unstable due to TSC halts in idle states deeper than C2", Some("TscUnstable")),
        ("Measured 1234 cycles TSC warp between CPUs, turning off TSC clock.", Some("TscWarp")),
        ("clocksource: Switched to clocksource hpet", Some("SlowClocksource")),
        ("clocksource: Switched to clocksource acpi_pm", Some("SlowClocksource")),
        ("clocksource: Switched to clocksource jiffies", Some("SlowClocksource")),
        ("clocksource: Switched to clocksource hyperv_clocksource_msr", Some("SlowClocksource")),
        ("Switched to clocksource hpet", Some("SlowClocksource")),
        ("Switching to clocksource acpi_pm", Some("SlowClocksource")),
        ("clocksource: Switched to clocksource refined-jiffies", None),
        ("clocksource: Switched to clocksource hyperv_clocksource_tsc_page", None),
        ("clocksource: Switched to clocksource xen", None),
        ("clocksource: Switched to clocksource tsc-early", None),
        ("clocksource: Switched to clocksource tsc", None),
        ("clocksource: Switched to clocksource kvm-clock", None),
        ("[Firmware Bug]: TSC ADJUST differs: CPU15 45960750 --> 78394770. Restoring", Some("TscAdjusted")),
        ("[Firmware Bug]: TSC ADJUST differs: CPU0 -12 --> -991823. Restoring", Some("TscAdjusted")),
        ("tsc: Fast TSC calibration failed", None),
        ("clocksource: Long readout interval, skipping watchdog check: cs_nsec: 3416726025 wd_nsec: 3416726182", None),
        ("tsc: Detected 2596.160 MHz processor", None),
        ("[Firmware Bug]: TSC doesn't count with P0 frequency!", None),
        ("tsc: Unable to calibrate against PIT", None),
    ] {
        let takes = |rule: &&Value| is_match(rule["pattern"].as_str().unwrap(), line);
        let found: Vec<&str> = rules.iter().filter(takes).map(|rule| rule["reason"].as_str().unwrap()).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{line}");
    }
}

/// Returns true if a pattern takes a whole line. These patterns mean the same to grep and to Go.
fn is_match(pattern: &str, line: &str) -> bool {
    let mut grep = Command::new("grep")
        .args(["--extended-regexp", "--line-regexp", "--quiet", "--regexp", pattern])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(grep.stdin.take().unwrap(), "{line}").unwrap();
    match grep.wait().unwrap().code() {
        Some(0) => true,
        Some(1) => false,
        other => panic!("grep ended with {other:?} for {pattern}"),
    }
}

#[test]
fn alerts_fire_when_they_should() {
    let file = packaging("prometheus/clockscope.rules.test.yml");
    let Some(checked) = tool("promtool", &["test", "rules", file.to_str().unwrap()]) else { return };
    assert!(checked.status.success(), "{}", words_of(&checked));
}

/// The rule on slow reads and `check` judge by the same share of a system call's cost.
#[test]
fn alerts_and_checks_agree_on_reads_like_a_system_call() {
    let rule = format!("group_left () {} * clockscope_syscall_seconds\n", CostCause::SYSTEM_CALL_SHARE);
    assert!(text("prometheus/clockscope.rules.yml").contains(&rule), "{rule}");
}

/// Names of a text between two marks, which a regular expression lists.
fn alternatives<'a>(text: &'a str, before: &str, after: char) -> BTreeSet<&'a str> {
    let (_, list) = text.split_once(before).unwrap();
    list.split(after).next().unwrap().split('|').collect()
}

/// The alert takes every slow clocksource that the program knows, and no other. The rule for
/// Linux's log takes some of them.
#[test]
fn alerts_know_slow_clocksources() {
    let rules = text("prometheus/clockscope.rules.yml");
    let alerted = alternatives(&rules, r#"clockscope_clocksource_info{clocksource=~""#, '"');
    // Each read of the others asks a device, a hypervisor or the kernel.
    let slow: BTreeSet<&str> = KNOWN.iter().filter(|known| !known.is_counter_based()).map(|known| known.name).collect();
    assert_eq!(alerted, slow);
    let log = text("node-problem-detector/clockscope-kernel-log.json");
    let logged = alternatives(&log, "Switch(ed|ing) to clocksource (", ')');
    assert!(logged.len() >= 5 && logged.is_subset(&slow), "{:?}", logged.difference(&slow));
}

/// The manual's table has every alert.
#[test]
fn the_manual_lists_the_alerts() {
    let rules = text("prometheus/clockscope.rules.yml");
    let alerts: BTreeSet<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let manual = text("../docs/guides/monitoring.md");
    let rows = manual.lines().skip_while(|line| !line.starts_with("| alert |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let documented: BTreeSet<&str> = rows.map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    assert_eq!(documented, alerts);
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("clockscope_"));
    words.map(str::to_owned).collect()
}

/// Rules ask for metrics that a check has, and the manual names all of these.
#[test]
fn rules_and_the_manual_name_metrics_that_there_are() {
    let fixture = format!("{}/../clockscope-report/tests/fixtures/check.json", env!("CARGO_MANIFEST_DIR"));
    let mut record: Value = serde_json::from_str(&fs::read_to_string(fixture).unwrap()).unwrap();
    record["synchronization"]["chrony"] = serde_json::json!({
        "stratum": 3, "correction_s": 0.0, "error_s": 0.01, "freq_ppm": 0.0, "skew_ppm": 0.0, "update_interval_s": 64.0,
    });
    record["synchronization"]["adjtimex"]["time_of_day_error_s"] = 0.01.into();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("check.json");
    fs::write(&file, record.to_string()).unwrap();
    let metrics = run(clockscope(&["report", file.to_str().unwrap(), "--format", "prometheus"]), 0).stdout;
    let known = names(std::str::from_utf8(&metrics).unwrap());
    let queried = names(&text("prometheus/clockscope.rules.yml"));
    assert!(queried.len() >= 8 && queried.is_subset(&known), "{:?}", queried.difference(&known));
    let manual = ["../docs/guides/monitoring.md", "../docs/reference/metrics.md"].map(text).join("\n");
    let mut documented = names(&manual);
    assert!(documented.remove("clockscope_series_omitted"));
    assert_eq!(known, documented);
}
