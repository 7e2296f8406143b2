//! Machines of public reports, by what their kernels show: each gets the right answer. What a file
//! of the kernel has is laid over it in a mount namespace.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use clockscope_testing::{rig, skip};
use rustix::fs::OFlags;
use serde_json::Value;
use serial_test::parallel;

use crate::support::{clockscope, record, run, under};

/// The folder in which the kernel lists its clocksources.
const CLOCKSOURCES: &str = "/sys/devices/system/clocksource/clocksource0";

/// The files of a kernel.
struct Kernel<'a> {
    current: &'a str,
    available: &'a str,
    command_line: &'a str,
    log: &'a [&'a str],
}

impl Kernel<'_> {
    /// Runs the command where the kernel shows this; returns what it printed, or `None` where that
    /// needs more rights.
    fn run(&self, arguments: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("current"), format!("{}\n", self.current)).unwrap();
        fs::write(file("available"), format!("{}\n", self.available)).unwrap();
        fs::write(file("cmdline"), format!("{}\n", self.command_line)).unwrap();
        let made = Command::new("mkfifo").arg(file("kmsg")).status().unwrap();
        assert!(made.success());
        let mut log = fs::OpenOptions::new().read(true).write(true).open(file("kmsg")).unwrap();
        // It keeps records apart, as the kernel's log does.
        rustix::fs::fcntl_setfl(&log, OFlags::DIRECT | OFlags::NONBLOCK).unwrap();
        for (number, line) in self.log.iter().enumerate() {
            log.write_all(format!("4,{},{},-;{line}\n", number + 1, 1_000_000 + 1000 * number).as_bytes()).unwrap();
        }
        let laid_over = [
            ("current", format!("{CLOCKSOURCES}/current_clocksource")),
            ("available", format!("{CLOCKSOURCES}/available_clocksource")),
            ("cmdline", "/proc/cmdline".to_owned()),
            ("kmsg", "/dev/kmsg".to_owned()),
        ];
        let mounts = laid_over.iter().filter(|(_, target)| Path::new(target).exists());
        let mounts: Vec<String> =
            mounts.map(|(name, target)| format!("mount --bind {} {target}", file(name).display())).collect();
        let script = format!("{} && exec \"$@\"", mounts.join(" && "));
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_clockscope")]);
        let output = command.args(arguments).env("LC_ALL", "C.UTF-8").output().unwrap();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("unshare") || said.contains("mount"), "{said}");
            skip(&format!("a mount namespace is needed: {}", said.trim()));
            return None;
        }
        let text = String::from_utf8(output.stdout).unwrap();
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Remedies that make a host slower.
const SLOWER: [&str; 2] = ["clocksource=hpet", "clocksource=acpi_pm"];

/// A guest whose hypervisor corrects the clocksource: what its kernel says of the counter concerns
/// the counter alone.
#[test]
#[parallel]
fn a_clock_that_the_hypervisor_corrects_keeps_its_verdict() {
    let guest = Kernel {
        current: "hyperv_clocksource_tsc_page",
        available: "hyperv_clocksource_tsc_page hyperv_clocksource_msr acpi_pm",
        command_line: "ro quiet",
        log: &[
            "tsc: Marking TSC unstable due to running on Hyper-V",
            "clocksource: Switched to clocksource hyperv_clocksource_tsc_page",
        ],
    };
    let Some(text) = guest.run(&["check", "counter", "monotonic", "-d", "600ms", "--json", "-q"]) else { return };
    let found: Value = serde_json::from_str(&text).unwrap();
    let verdicts: Vec<(&str, &str)> = found["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|verdict| (verdict["clock"].as_str().unwrap(), verdict["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(verdicts[0], ("tsc", "limited"), "{verdicts:?}");
    assert!(matches!(verdicts[1], ("monotonic", "trusted" | "undecided")), "{verdicts:?}");
    assert!(SLOWER.iter().all(|remedy| !text.contains(remedy)), "{text}");
}

/// `tsc=reliable` is a remedy only where it changes something, and skips no test that failed.
#[test]
#[parallel]
fn a_remedy_fits_the_kernels_reason() {
    const OFFER: &str = "tsc=reliable";
    const WATCHDOG: &str = "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is \
                            too large:";
    for (line, command_line, is_offered) in [
        (WATCHDOG, "ro", true),
        (WATCHDOG, "ro tsc=reliable", false),
        ("tsc: Marking TSC unstable due to TSC halts in idle", "ro", false),
        ("tsc: Marking TSC unstable due to cpufreq changes", "ro", false),
        ("tsc: Marking TSC unstable due to check_tsc_sync_source failed", "ro", false),
        ("tsc: Marking TSC unstable due to boot parameter", "ro tsc=unstable", false),
        ("tsc: Marking TSC unstable due to KVM discovered backwards TSC", "ro", false),
    ] {
        let kernel = Kernel {
            current: "acpi_pm",
            available: "acpi_pm",
            command_line,
            log: &[line, "clocksource: Switched to clocksource acpi_pm"],
        };
        let Some(text) = kernel.run(&["clocksource"]) else { return };
        let offers = |advice: &str| advice.contains(OFFER) && !advice.contains("command line already");
        let advice = text.split("->").skip(1).any(offers);
        assert_eq!(advice, is_offered, "{line} with {command_line}: {text}");
    }
}

/// A clocksource in use is explained, or it is said that nothing explains it.
#[test]
#[parallel]
fn a_clocksource_that_nothing_explains_is_said_to_be_so() {
    for (command_line, log) in [
        ("ro quiet", &["clocksource: Switched to clocksource tsc"][..]),
        ("ro clocksource=hpet quiet clocksource=tsc", &[]),
    ] {
        let kernel = Kernel { current: "hpet", available: "tsc hpet acpi_pm", command_line, log };
        let Some(text) = kernel.run(&["clocksource"]) else { return };
        assert!(text.contains("nothing that can be seen rejects it"), "{command_line}: {text}");
    }
    // What explains it is said instead; the last of two counts.
    let (command_line, available) = ("ro clocksource=tsc clocksource=hpet", "tsc hpet acpi_pm");
    let kernel = Kernel { current: "hpet", available, command_line, log: &["x"] };
    let Some(text) = kernel.run(&["clocksource"]) else { return };
    assert!(!text.contains("nothing that can be seen") && text.contains("clocksource=hpet"), "{text}");
}

/// A program for x86 on a kernel for Arm is translated.
#[test]
#[parallel]
fn a_translated_program_is_said_to_be_emulated() {
    let kernel = Kernel {
        current: "arch_sys_counter",
        available: "arch_sys_counter",
        command_line: "ro",
        log: &["clocksource: Switched to clocksource arch_sys_counter"],
    };
    let Some(text) = kernel.run(&["check", "counter", "monotonic", "-d", "600ms", "-q"]) else { return };
    assert!(text.contains("the costs are the emulator's"), "{text}");
    assert!(!text.contains("Unfit") && !text.contains("Limited: tsc"), "{text}");
}

/// The C library shows another time than the kernel: the time of day that the kernel vouches for is
/// not what it shows, and a scale is not the kernel's.
#[test]
#[parallel]
fn a_library_that_lies_is_named() {
    let (ten_s, twice) = ("10000000000", "1000000000");
    for (clock, name, how) in
        [("0", "realtime", ("CLOCKSCOPE_LIE_BLIP_NS", ten_s)), ("1", "monotonic", ("CLOCKSCOPE_LIE_PPB", twice))]
    {
        let lie = [("CLOCKSCOPE_LIE_CLOCK", clock), ("CLOCKSCOPE_LIE_EVERY", "1"), how];
        let found = record(under("liar", &lie, &["check", "realtime", "monotonic", "-d", "600ms", "--json", "-q"]));
        for verdict in found["verdicts"].as_array().unwrap() {
            let is_lying = verdict["clock"] == name;
            assert_eq!(verdict["verdict"] == "unfit", is_lying, "{verdict:#}");
            let paths = verdict["evidence"].as_array().unwrap().iter().find(|one| one["check"] == "paths").unwrap();
            assert_eq!(paths["finding"] == "against", is_lying, "{paths:#}");
            assert_eq!(paths["fault"] == "libc", is_lying, "{paths:#}");
            let preloaded: Vec<&str> = paths["preloaded"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
            assert_eq!(preloaded.iter().any(|name| name.ends_with("liar.so")), is_lying, "{paths:#}");
            let blames_kernel = |one: &Value| one["finding"] == "against" && one["suspect"] == "kernel";
            assert!(!verdict["evidence"].as_array().unwrap().iter().any(blames_kernel), "{verdict:#}");
        }
    }
}

/// Calls that show CLOCK_REALTIME by another name are compared with it, and a clock whose system
/// call is refused with the vDSO.
#[test]
#[parallel]
fn other_ways_to_a_clock_are_compared() {
    let lie = |clock: &str, arguments: &[&str], preloaded: &str| {
        let ten_s = [("CLOCKSCOPE_LIE_EVERY", "1"), ("CLOCKSCOPE_LIE_BLIP_NS", "10000000000")];
        let mut command = clockscope(&[arguments, &["-d", "600ms", "--json", "-q"]].concat());
        command.env("LD_PRELOAD", preloaded).env("CLOCKSCOPE_LIE_CLOCK", clock).envs(ten_s);
        command.env("CLOCKSCOPE_DENY_CLOCK", "all").env("CLOCKSCOPE_DENY_HOW", "errno");
        let paths = |verdict: &Value| {
            let paths = verdict["evidence"].as_array().unwrap().iter().find(|one| one["check"] == "paths").unwrap();
            let words = [&verdict["clock"], &paths["finding"], &paths["fault"], &paths["reference"]];
            words.map(|word| word.as_str().unwrap_or("-").to_owned()).join(" ")
        };
        record(command)["verdicts"].as_array().unwrap().iter().map(paths).collect::<Vec<String>>()
    };
    let (liar, deny) = (rig("liar").display().to_string(), rig("deny").display().to_string());
    assert_eq!(
        lie("0", &["check", "rust_system_time", "gettimeofday", "time", "timespec_get"], &liar),
        [
            "gettimeofday for - syscall",
            "time for - syscall",
            "timespec_get for - syscall",
            "rust_system_time against std syscall"
        ]
    );
    assert_eq!(
        lie("1", &["check", "monotonic", "realtime"], &format!("{liar}:{deny}")),
        ["realtime for - vdso", "monotonic against libc vdso"]
    );
}

/// The verdict on a clock, but for the order across CPUs: a busy machine may not run two threads at
/// once in the time of a check.
fn but_for_order(verdict: &Value) -> &str {
    let mut decisive = verdict["evidence"].as_array().unwrap().iter().filter(|one| one["decides"] == true);
    let is_order = |one: &Value| one["check"] == "order" && one["finding"] == "unknown";
    if verdict["verdict"] == "undecided" && decisive.all(is_order) {
        "trusted"
    } else {
        verdict["verdict"].as_str().unwrap()
    }
}

/// Statements of chronyd are believed: on a frequency that it corrects for good, and on the time of
/// day where the kernel's flag is stale.
#[test]
#[parallel]
fn what_chronyd_states_is_used() {
    let of_clocks = |variables: &[(&str, &str)]| {
        let arguments = ["check", "counter", "realtime", "monotonic", "monotonic_raw", "-d", "900ms", "--json", "-q"];
        let variables = [&[("CLOCKSCOPE_CORRECTED_PPM", "1065.248")], variables].concat();
        let found = record(under("corrected", &variables, &arguments));
        let verdicts = found["verdicts"].as_array().unwrap().iter();
        let words: Vec<String> = verdicts
            .map(|verdict| format!("{} {}", verdict["clock"].as_str().unwrap(), but_for_order(verdict)))
            .collect();
        (words, found)
    };
    for stale in ["0", "1"] {
        let (verdicts, found) = of_clocks(&[("CLOCKSCOPE_CORRECTED_STALE", stale)]);
        assert_eq!(
            verdicts,
            ["tsc limited", "realtime trusted", "monotonic trusted", "monotonic_raw limited"],
            "{found:#}"
        );
        let time_of_day = found.to_string();
        assert!(time_of_day.contains("right within 0.011000 s, as chronyd states"), "{found:#}");
        assert!(!time_of_day.contains("until it has caught up"), "{found:#}");
    }
    // Costs and events are measured beside the same statement, and advice is from them.
    let arguments = ["measure", "monotonic", "monotonic_raw", "-d", "400ms", "--json", "-q"];
    let found = record(under("corrected", &[("CLOCKSCOPE_CORRECTED_PPM", "1065.248")], &arguments));
    for clock in found["clocks"].as_array().unwrap() {
        assert_eq!(clock["events"]["jump"], 0, "{clock:#}");
    }
    // Without its statement, or while it works off a second, nobody vouches for the library.
    for unstated in [("CLOCKSCOPE_CORRECTED_LEFT_NS", "1e9"), ("CLOCKSCOPE_CORRECTED_SILENT", "1")] {
        let (verdicts, found) = of_clocks(&[unstated]);
        assert_eq!(verdicts[2..], ["monotonic unfit", "monotonic_raw trusted"], "{unstated:?}: {found:#}");
        assert!(found.to_string().contains("by the C library it is"), "{found:#}");
    }
}

/// The interval is chronyd's where it answers, else the kernel's, which holds while no offset is
/// corrected.
#[test]
#[parallel]
fn bounds_are_those_of_chronyd_or_of_the_kernel() {
    let answers_of = |variables: &[(&str, &str)]| {
        let variables = [&[("CLOCKSCOPE_CORRECTED_PPM", "5")], variables].concat();
        let answers = record(under("corrected", &variables, &["bounds", "--json"]))["answers"].take();
        let of_call = |call: usize, key: &str| answers[call][key].clone();
        let width_ns = |call: usize| of_call(call, "interval")["width_ns"].as_u64().unwrap();
        assert_eq!((of_call(1, "state"), of_call(1, "basis")), ("while_not_slewing".into(), Value::Null));
        (of_call(0, "state"), of_call(0, "basis"), width_ns(0), width_ns(1))
    };
    // chronyd states an error of 11 ms.
    let (state, basis, width_ns, kernels_ns) = answers_of(&[]);
    assert_eq!((state, basis), ("synchronized".into(), "chronyd".into()));
    assert!((22_000_000..kernels_ns).contains(&width_ns), "{width_ns} {kernels_ns}");
    let (state, basis, ..) = answers_of(&[("CLOCKSCOPE_CORRECTED_SILENT", "1")]);
    assert_eq!((state, basis), ("while_not_slewing".into(), "steered_rate".into()));
}

/// One text for one absence, in every command, and no verdict.
#[test]
#[parallel]
fn a_device_that_is_missing_is_unavailable() {
    if Path::new("/dev/hpet").exists() {
        return skip("this machine has a HPET");
    }
    let mut texts = Vec::new();
    for words in [
        &["check", "hpet", "-d", "500ms"][..],
        &["measure", "hpet"],
        &["steps", "hpet", "-d", "50ms"],
        &["rate", "hpet", "-d", "200ms"],
        &["order", "hpet", "-d", "50ms"],
        &["compare", "--clock", "hpet,monotonic", "-d", "200ms"],
    ] {
        let found = run(clockscope(words), 3);
        let text = String::from_utf8(found.stdout).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let from = text.find("open of /dev/hpet").unwrap_or_else(|| panic!("{words:?}: {text}"));
        let until = text[from..].find("clocks on it.").unwrap_or_else(|| panic!("{words:?}: {text}"));
        texts.push(text[from..from + until].to_owned());
        assert!(!text.contains("unfit") && !text.contains("seccomp"), "{words:?}: {text}");
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:#?}");
    let line = run(clockscope(&["check", "hpet", "--one-line", "-d", "300ms"]), 3).stdout;
    let line = String::from_utf8(line).unwrap();
    assert!(line.starts_with("clockscope UNKNOWN: hpet not available"), "{line}");
    run(clockscope(&["check", "hpet", "monotonic", "-d", "500ms"]), 3);
    run(clockscope(&["check", "hpet", "monotonic", "-d", "500ms", "--fail-on", "unavailable"]), 1);
}
