use super::*;
use clockscope_testing::until;

static NEVER: AtomicBool = AtomicBool::new(false);

fn shell(script: &str, seconds: f64, stop: &AtomicBool) -> (FinishedProgram, Option<String>) {
    let limits = Limits { seconds, stop };
    let outcome = run(Command::new("/bin/sh").args(["-c", script]), limits, &mut NoTask).unwrap();
    let fault = outcome.ended.fault(limits);
    (outcome, fault)
}

/// Returns true if any process has this word among its arguments.
fn is_there(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    entries.map(of).any(|line| String::from_utf8_lossy(&line).split('\0').any(|argument| argument == word))
}

#[test]
fn what_is_printed_is_taken_and_faults_are_reported() {
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

/// Returns those of the sleeps `{long}.1` to `{long}.5` that run.
fn running_sleeps(long: &str) -> Vec<String> {
    (1..=5).map(|end| format!("{long}.{end}")).filter(|duration| is_there(duration)).collect()
}

#[test]
fn nothing_is_left_behind() {
    // A child in the group, one in a session of its own whose parent has gone, and one that ignores
    // what it may.
    let long = format!("12{:07}", std::process::id());
    let script = format!(
        "sleep {long}.1 & setsid sh -c 'sleep {long}.2 & exec sleep {long}.3' & \
         setsid sh -c 'trap \"\" TERM INT HUP; sleep {long}.4; sleep {long}.4' & echo started"
    );
    let (outcome, fault) = shell(&script, 60.0, &NEVER);
    assert_eq!((outcome.stdout.as_str(), fault), ("started\n", None));
    assert_eq!(running_sleeps(&long), [""; 0]);
    // Ended once all of them run.
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            until("all processes run", || running_sleeps(&long).len() == 5);
            stop.store(true, Ordering::Relaxed);
        });
        let (_, fault) = shell(&format!("{script}; exec sleep {long}.5"), 60.0, &stop);
        assert_eq!(fault.as_deref(), Some("was interrupted"));
    });
    assert_eq!(running_sleeps(&long), [""; 0]);
    // By its time limit, with those that run by then.
    let (_, fault) = shell(&format!("{script}; exec sleep {long}.5"), 0.5, &NEVER);
    assert!(fault.is_some_and(|fault| fault.contains("0.5 s")), "it did not end by its limit");
    assert_eq!(running_sleeps(&long), [""; 0]);
}

#[test]
fn a_child_that_holds_the_output_is_not_waited_for() {
    let before = seconds();
    let (outcome, fault) = shell("sleep 12346 & echo done", 60.0, &NEVER);
    assert_eq!((outcome.stdout.as_str(), fault), ("done\n", None));
    assert!(seconds() - before < 30.0, "it waited for the child");
}

#[test]
fn what_was_there_before_is_spared() {
    // Not while another test's program runs, whose child it would seem to be.
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut before = Command::new("sleep").arg("1000").spawn().unwrap();
    drop(alone);
    let (_, fault) = shell("sleep 1000 & exit 0", 30.0, &NEVER);
    assert_eq!(fault, None);
    assert!(before.try_wait().unwrap().is_none(), "it was ended");
    before.kill().unwrap();
    before.wait().unwrap();
}

/// A child in our own group would get a terminal's Ctrl-C, and a stop by Ctrl-Z, beside us.
#[test]
fn a_program_is_in_a_group_of_its_own() {
    let (outcome, _) = shell("echo $$; cut -d ' ' -f 5 /proc/$$/stat", 30.0, &NEVER);
    let numbers: Vec<&str> = outcome.stdout.lines().collect();
    assert!(numbers.len() == 2 && numbers[0] == numbers[1], "{numbers:?}");
}

#[test]
fn errors_without_end_are_ended_too() {
    let (_, fault) = shell("exec yes >&2", 30.0, &NEVER);
    assert_eq!(fault.as_deref(), Some("printed more than 16 MB"));
}
