//! Trials of the source: a clone in another folder gives the same program, and cargo installs the
//! command of it for a user whose home is empty.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::origin::Origin;
use super::release::Release;
use super::sources::Sources;
use super::target::TARGETS;
use super::trial::{self, Place, Trial};
use crate::run;

/// Name of the clone in the table of trials.
const ARTIFACT: &str = "a clone";

pub(super) const NEEDS: &str = "x86_64-unknown-linux-musl cmp";

/// Clones this clone's commit into another folder, builds it there, and installs it.
pub(super) fn check(release: &mut Release) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let clone = folder.path().join("another/clone");
    let [from, to] = [run::root(), clone.clone()].map(|path| path.to_string_lossy().into_owned());
    run::with(&[], "git", &["clone", "--quiet", &from, &to])?;
    let commit = run::output("git", &["-C", &to, "rev-parse", "HEAD"])?;
    let (commit, expected) = (commit.trim(), &release.origin.commit);
    ensure!(commit == expected, "the clone's commit is {commit}, expected {expected}");
    compare_builds(&clone, &release.origin, &mut release.trials)?;
    install_and_run(&clone, &folder.path().join("home"), &mut release.trials)
}

/// Builds the static program here and there, and compares the bytes.
fn compare_builds(clone: &Path, origin: &Origin, trials: &mut Vec<Trial>) -> Result<()> {
    let target = &TARGETS[0];
    println!("   {} of two folders", target.triple);
    let here = target.build(&Sources::here()?, origin)?;
    let there = target.build(&Sources::in_folder(clone), origin)?;
    let place = Place { artifact: ARTIFACT, root: "another folder" };
    let words = format!("cmp the two programs for {}", target.triple);
    place.run(Command::new("cmp").args([here, there]), &words, trials).map(drop)
}

/// Installs the command by cargo into a new home, and asks it the usual questions.
fn install_and_run(clone: &Path, home: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    println!("   cargo install");
    std::fs::create_dir(home)?;
    // rustup's compilers are in the present home.
    let rustup = run::output("rustup", &["show", "home"]).ok();
    let place = Place { artifact: ARTIFACT, root: "a new home" };
    let command = |words: &[&str]| {
        // A shell: these are the lines that a user would type.
        let mut command = Command::new("sh");
        command.args(["-ec", &words.join(" ")]).current_dir(clone).env("HOME", home);
        trial::remove_build_variables(command.env_remove("CARGO_HOME"));
        if let Some(rustup) = &rustup {
            command.env("RUSTUP_HOME", rustup.trim());
        }
        command
    };
    let install = "cargo install --locked --path crates/clockscope-cli";
    place.run(&mut command(&[install]), install, trials)?;
    let program = "~/.cargo/bin/clockscope";
    place.ask(program, |question| command(&[&[program], question].concat()), trials)
}
