//! Help: topics, and symptoms by a pasted line.

use crate::support::{clockscope, run, stderr};

/// Runs `clockscope help` with these words and returns what it prints.
fn help(words: &[&str], code: i32) -> String {
    let output = run(clockscope(&[&["help"], words].concat()), code);
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_pasted_line_leads_to_its_page() {
    let line = "Oct 30 13:00:58 host7 ntpd[3517]: frequency error 41699 PPM exceeds tolerance 500 PPM";
    let words: Vec<&str> = line.split(' ').collect();
    let quoted = help(&[line], 0);
    for words in [&words[..], &["search", line]] {
        assert_eq!(help(words, 0), quoted);
    }
    assert!(quoted.starts_with("The clock runs fast or slow"), "{quoted}");
    assert!(quoted.contains("More: `clockscope help wrong-rate`"), "{quoted}");
    assert!(quoted.lines().count() < 15, "{quoted}");
    assert!(help(&["-8960 PPM"], 0).contains("wrong-rate"));
    assert!(help(&["0x2041"], 0).contains("unsynchronized-host"));
}

#[test]
fn a_normal_line_is_called_normal() {
    for line in ["clocksource: Switched to clocksource refined-jiffies", "tsc: Fast TSC calibration failed"] {
        let found = help(&[line], 0);
        assert!(found.contains("Normal at boot") || found.contains("Mostly harmless"), "{found}");
    }
}

#[test]
fn a_text_without_a_symptom_is_undecided() {
    for words in [&["the quick brown fox"][..], &["search", "usb", "1-1:", "new", "high-speed", "USB", "device"]] {
        let list = help(words, 3);
        assert!(list.starts_with("No symptom has such a line."), "{list}");
        assert!(list.contains("tsc-unstable") && !list.contains("glossary"), "{list}");
    }
    assert!(stderr(&["help", "search"], 2).contains("paste a line"));
    assert!(stderr(&["help", "glosary"], 2).contains("did you mean glossary?"));
}

/// Commands and topics are shown as they are, also where a line has the same word.
#[test]
fn commands_and_topics_come_first() {
    assert!(help(&["sleep"], 0).contains("Usage: clockscope sleep"));
    assert!(help(&["containers"], 0).starts_with("# Clocks in a container"));
    assert!(help(&["sleep", "of", "1", "ms", "took", "4", "ms"], 0).contains("late-sleeps"));
    assert!(help(&["topics"], 0).contains("glossary"));
}
