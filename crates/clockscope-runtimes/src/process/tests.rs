use super::*;

static NEVER: AtomicBool = AtomicBool::new(false);

fn shell(script: &str, seconds: f64, stop: &AtomicBool) -> (Outcome, Option<String>) {
    let limits = Limits { seconds, stop };
    let outcome = run(Command::new("/bin/sh").args(["-c", script]), limits, &mut Alone).unwrap();
    let fault = outcome.ended.fault(limits);
    (outcome, fault)
}

/// Whether any process has this word among its arguments.
fn is_there(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    entries.map(of).any(|line| String::from_utf8_lossy(&line).split('\0').any(|argument| argument == word))
}

#[test]
fn what_is_printed_is_taken_and_faults_are_told() {
    let (outcome, fault) = shell("echo out; echo err >&2", 30.0, &NEVER);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str(), fault), ("out\n", "err\n", None));
    for (script, expected) in [
        ("exit 3", "ended with status 3"),
        ("kill -SEGV $$", "was killed by signal 11 (SEGV)"),
        ("exec sleep 1001", "did not end within 0.2 s"),
        ("exec yes", "printed more than 16 MB"),
    ] {
        let (_, fault) = shell(script, if script.contains("sleep") { 0.2 } else { 30.0 }, &NEVER);
        assert_eq!(fault.as_deref(), Some(expected));
    }
    let (_, fault) = shell("exec sleep 1001", 30.0, &AtomicBool::new(true));
    assert_eq!(fault.as_deref(), Some("was interrupted"));
}

#[test]
fn nothing_is_left_behind() {
    // A child in the group, one in a session of its own whose parent has gone, and one that ignores what it may.
    let script = "sleep 12345.1 & setsid sh -c 'sleep 12345.2 & exec sleep 12345.3' & \
                  setsid sh -c 'trap \"\" TERM INT HUP; sleep 12345.4; sleep 12345.4' & echo started";
    for wait in ["", "; exec sleep 12345.5"] {
        let (outcome, _) = shell(&format!("{script}{wait}"), 0.5, &NEVER);
        assert_eq!(outcome.stdout, "started\n");
        for word in ["12345.1", "12345.2", "12345.3", "12345.4", "12345.5"] {
            assert!(!is_there(word), "{word} is left behind");
        }
    }
}

#[test]
fn a_child_that_holds_the_output_is_not_waited_for() {
    let before = seconds();
    let (outcome, fault) = shell("sleep 12346 & echo done", 60.0, &NEVER);
    assert_eq!((outcome.stdout.as_str(), fault), ("done\n", None));
    assert!(seconds() - before < 30.0, "it waited for the child");
}
