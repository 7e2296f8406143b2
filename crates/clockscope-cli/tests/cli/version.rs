//! The command's statement of what it was built of.

use std::fs;
use std::path::Path;
use std::process::Command;

#[path = "../../build/commit.rs"]
mod commit;
use crate::support::clockscope;

fn printed(arguments: &[&str]) -> String {
    let output = clockscope(arguments).output().expect("the command");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_version_is_one_line_and_verbose_adds_what_was_built() {
    let short = format!("clockscope {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(printed(&["--version"]), short);
    assert_eq!(printed(&["-V"]), short);
    let verbose = printed(&["--version", "--verbose"]);
    let lines: Vec<&str> = verbose.strip_prefix(&short).unwrap().lines().collect();
    let [commit, target] = lines[..] else { panic!("{verbose}") };
    assert!(commit.starts_with("commit: "), "{verbose}");
    let architecture = target.strip_prefix("target: ").and_then(|triple| triple.split('-').next());
    assert_eq!(architecture, Some(std::env::consts::ARCH), "{verbose}");
}

/// Without `--version`, the option shows everything of a measurement.
#[test]
fn verbose_alone_measures() {
    let shown = printed(&["monotonic", "--verbose", "--duration", "10ms"]);
    assert!(shown.contains("monotonic") && shown.contains("empty loop"), "{shown}");
}

/// Runs git in a folder; a clone of its own, without this machine's settings.
fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// A repository with one commit, and this crate at `path` in it.
fn repository(root: &Path, path: &str) -> std::path::PathBuf {
    let folder = root.join(path);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("Cargo.toml"), "one\n").expect("a file");
    git(root, &["init", "--quiet"]);
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--message", "x"]);
    folder
}

#[test]
fn the_commit_is_that_of_the_clone_and_marks_changes() {
    let root = tempfile::tempdir().unwrap();
    let folder = repository(root.path(), "crates/clockscope-cli");
    let commit = commit::of(&folder).unwrap();
    assert!(commit.len() == 40 && commit.chars().all(|digit| digit.is_ascii_hexdigit()), "{commit}");
    assert!(commit::changes_with(&folder).iter().any(|path| path.ends_with("logs/HEAD")));
    fs::write(folder.join("new"), "not tracked\n").unwrap();
    assert_eq!(commit::of(&folder), Some(commit.clone()));
    fs::write(folder.join("Cargo.toml"), "two\n").unwrap();
    assert_eq!(commit::of(&folder), Some(format!("{commit}-changed")));
}

#[test]
fn an_archive_inside_of_another_repository_has_no_commit() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(commit::of(&repository(root.path(), "vendor/clockscope-cli")), None);
    let nowhere = tempfile::tempdir().unwrap();
    assert_eq!(commit::of(nowhere.path()), None);
}

#[test]
fn a_package_states_its_commit() {
    let folder = tempfile::tempdir().unwrap();
    let hash = "0123456789abcdef0123456789abcdef01234567";
    for (note, expected) in [
        (
            format!("{{\n  \"git\": {{\n    \"sha1\": \"{hash}\"\n  }},\n  \"path_in_vcs\": \"x\"\n}}"),
            Some(hash.to_owned()),
        ),
        (format!("{{\"git\": {{\"sha1\": \"{hash}\", \"dirty\": true}}}}"), Some(format!("{hash}-changed"))),
        ("{\"git\": {\"sha1\": \"no hash\"}}".to_owned(), None),
        ("{}".to_owned(), None),
    ] {
        fs::write(folder.path().join(".cargo_vcs_info.json"), &note).unwrap();
        assert_eq!(commit::of(folder.path()), expected, "{note}");
    }
}

#[test]
fn the_manual_states_the_version() {
    let manual = printed(&["man"]);
    let title = format!("\"clockscope {}\"", env!("CARGO_PKG_VERSION"));
    assert!(manual.lines().any(|line| line.starts_with(".TH ") && line.contains(&title)), "{manual}");
}
