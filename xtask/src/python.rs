//! The Python package: its wheel, its types and its tests.
//!
//! Everything that Python needs is installed into an environment below the folder that cargo builds
//! into. A wheel holds the extension module and the command; maturin, which builds it, takes the
//! command from a folder that git ignores.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::plan::NotInstalled;
use crate::tally::Tally;
use crate::{folder, needs, run};

const CRATE: &str = "crates/clockscope-python";
/// Folder in which maturin looks for programs of a wheel, by the module's name.
const SCRIPTS: &str = "crates/clockscope-python/clockscope._native.data/scripts";
/// Packages of the tests, with their versions.
const REQUIREMENTS: &str = "crates/clockscope-python/tests/requirements.txt";
/// The oldest Python 3 that the package supports.
const OLDEST: &str = "3.10";

/// Builds this machine's wheel into a folder.
pub(crate) fn wheel(folder: &Path) -> Result<()> {
    let command = run::release_program()?;
    let wheel = tests()?.local_wheel(&command, &["--release"], folder)?;
    println!("{}", wheel.display());
    Ok(())
}

/// The environment of the tests.
fn tests() -> Result<Environment> {
    Environment::new("environment", REQUIREMENTS)
}

/// Installs the wheel of a debug build, and checks its types and its tests.
pub(crate) fn check(tally: &mut Tally) -> Result<()> {
    let environment = installed("environment", REQUIREMENTS)?;
    // Not from the crate's folder: `clockscope` is what was installed.
    let configuration = format!("{CRATE}/pyproject.toml");
    environment.run(&["-m", "mypy", "--config-file", &configuration, "-p", "clockscope"])?;
    environment.run(&["-m", "mypy", "--config-file", &configuration, &format!("{CRATE}/tests")])?;
    environment.run(&["-m", "mypy.stubtest", "--mypy-config-file", &configuration, "clockscope"])?;
    // Those of a census are a step of their own.
    let (tests, census) = (format!("{CRATE}/tests"), format!("--ignore={CRATE}/tests/census"));
    tally.pytest(&environment.python, &[&tests, &census], &[])
}

/// The environment of this name with the packages of a file, and with the wheel of a debug build.
pub(crate) fn installed(name: &str, requirements: &str) -> Result<Environment> {
    let environment = Environment::new(name, requirements)?;
    environment.install(&stripped(run::debug_command()?, &environment.folder)?, &[])?;
    Ok(environment)
}

/// Returns a copy of a program without symbols: a debug build is mostly symbols, which take longer
/// to pack than all else takes to test.
fn stripped(command: String, folder: &str) -> Result<String> {
    if !run::exists("strip") {
        return Ok(command);
    }
    let copy = format!("{folder}/clockscope");
    run::with(&[], "strip", &["-o", &copy, &command])?;
    Ok(copy)
}

/// A virtual environment with what is needed.
#[derive(Debug)]
pub(crate) struct Environment {
    /// It holds the environment, and what is built for it.
    pub(crate) folder: String,
    /// The environment's interpreter.
    pub(crate) python: String,
}

impl Environment {
    /// Makes the environment of this name with the packages of a file, unless it is there.
    ///
    /// # Errors
    /// [`NotInstalled`] names what is missing.
    pub(crate) fn new(name: &str, requirements: &str) -> Result<Self> {
        needs::require("environments of Python", "python3 ensurepip venv")?;
        let is_new = format!("import sys; sys.exit(sys.version_info < ({}))", OLDEST.replace('.', ","));
        if run::output("python3", &["-c", &is_new]).is_err() {
            bail!(NotInstalled(format!("python3 is older than {OLDEST}, the oldest that the package supports")));
        }
        let folder = folder::text(&std::path::absolute(run::built("python"))?)?.to_owned();
        let environment = format!("{folder}/{name}");
        let python = format!("{environment}/bin/python");
        let wanted = fs::read_to_string(requirements).with_context(|| format!("cannot read {requirements}"))?;
        let installed = format!("{environment}/requirements.txt");
        if fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
            run::with(&[], "python3", &["-m", "venv", "--clear", &environment])?;
            let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements];
            if let Err(error) = run::output(&python, &arguments) {
                bail!(NotInstalled(format!("the packages of {requirements} cannot be installed: {error:#}")));
            }
            // Written last: an environment that lacks something has no list.
            fs::write(&installed, wanted)?;
        }
        Ok(Self { folder, python })
    }

    /// The environment of the tests, with a wheel of a build for release.
    pub(crate) fn with_release() -> Result<Self> {
        let environment = tests()?;
        environment.install(&run::release_program()?, &["--release"])?;
        Ok(environment)
    }

    /// Builds a wheel with this command, and installs it in place of the former.
    fn install(&self, command: &str, profile: &[&str]) -> Result<()> {
        let wheel = self.local_wheel(command, profile, &Path::new(&self.folder).join("wheels"))?;
        let arguments = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
        self.run(&[&["-m", "pip"], &arguments[..], &[folder::text(&wheel)?]].concat())
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        self.run_with(&[("MYPYPATH", ""), ("MYPY_CACHE_DIR", &format!("{}/mypy", self.folder))], arguments)
    }

    fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Result<()> {
        // A path of modules, or of types, of the caller's would hide what was installed.
        run::with(&[variables, &[("PYTHONPATH", "")]].concat(), &self.python, arguments)
    }

    /// Builds a wheel that only this machine takes.
    fn local_wheel(&self, command: &str, profile: &[&str], into: &Path) -> Result<PathBuf> {
        let how = ["--compatibility", "linux", "--interpreter", &self.python];
        self.wheel(command, &[], &[&how[..], profile].concat(), into)
    }

    /// Builds a wheel with this command into a folder, by maturin with these arguments; returns its
    /// path.
    pub(crate) fn wheel(
        &self,
        command: &str,
        variables: &[(&str, &str)],
        how: &[&str],
        into: &Path,
    ) -> Result<PathBuf> {
        let staged = Staged::new(command)?;
        let built = self.maturin("build", variables, &[&["--quiet", "--locked"], how].concat(), into);
        drop(staged);
        built
    }

    /// Has maturin make one file into a folder; returns its path.
    pub(crate) fn maturin(&self, task: &str, variables: &[(&str, &str)], how: &[&str], into: &Path) -> Result<PathBuf> {
        let fresh = format!("{}/fresh", self.folder);
        // What an earlier build has left there is not this file.
        folder::remove(&fresh)?;
        let manifest = format!("{CRATE}/Cargo.toml");
        let arguments = ["-m", "maturin", task, "--out", &fresh, "--manifest-path", &manifest];
        self.run_with(variables, &[&arguments[..], how].concat())?;
        let built = fs::read_dir(&fresh)?.flatten().map(|entry| entry.path()).next();
        let built = built.with_context(|| format!("maturin {task} made no file"))?;
        fs::create_dir_all(into).with_context(|| format!("cannot make {}", into.display()))?;
        let target = into.join(built.file_name().context("the file has no name")?);
        fs::copy(&built, &target).with_context(|| format!("cannot write {}", target.display()))?;
        Ok(target)
    }
}

/// The command where maturin takes it from; removed afterward, so that a build without this chore
/// takes along no old one.
struct Staged;

impl Staged {
    fn new(command: &str) -> Result<Self> {
        fs::create_dir_all(SCRIPTS).with_context(|| format!("cannot make {SCRIPTS}"))?;
        let staged = Self;
        let target = format!("{SCRIPTS}/clockscope");
        fs::copy(command, &target).with_context(|| format!("cannot copy {command} to {target}"))?;
        Ok(staged)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Nothing sensible is left to be done if it cannot be removed.
        let _ = Path::new(SCRIPTS).parent().map(fs::remove_dir_all);
    }
}
