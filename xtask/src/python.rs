//! The Python package: its wheel, its types and its tests.
//!
//! Everything that Python needs is installed into an environment below the folder that cargo builds
//! into. A wheel holds the extension module and the command; maturin, which builds it, takes the
//! command from a folder that git ignores.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::outcome::{Outcome, missing_tool};
use crate::run;
use crate::tally::Tally;

const CRATE: &str = "crates/clockscope-python";
/// Folder in which maturin looks for programs of a wheel, by the module's name.
const SCRIPTS: &str = "crates/clockscope-python/clockscope._native.data/scripts";
/// Packages with their versions.
const REQUIREMENTS: &str = "crates/clockscope-python/tests/requirements.txt";
/// The oldest Python 3 that the package supports.
const OLDEST: &str = "3.10";

/// Profile of the wheel's programs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Debug,
    Release,
}

/// Builds this machine's wheel into a folder.
pub(crate) fn wheel(folder: &str) -> Result<()> {
    let wheel = match Environment::new()? {
        Ok(environment) => environment.wheel(Path::new(folder), Profile::Release)?,
        Err(missing) => bail!("{missing}"),
    };
    println!("{}", wheel.display());
    Ok(())
}

/// Installs the wheel of a debug build, and checks its types and its tests; or says what is
/// missing.
pub(crate) fn check(tally: &Tally) -> Result<Outcome> {
    let environment = match Environment::new()? {
        Ok(environment) => environment,
        Err(missing) => return missing_tool(missing),
    };
    let wheel = environment.wheel(&environment.folder.join("wheels"), Profile::Debug)?;
    let arguments = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
    let wheel = wheel.to_str().context("the wheel's path is not text")?;
    environment.run(&[&["-m", "pip"], &arguments[..], &[wheel]].concat())?;
    // Not from the crate's folder: `clockscope` is what was installed.
    let configuration = format!("{CRATE}/pyproject.toml");
    environment.run(&["-m", "mypy", "--config-file", &configuration, "-p", "clockscope"])?;
    environment.run(&["-m", "mypy", "--config-file", &configuration, &format!("{CRATE}/tests")])?;
    environment.run(&["-m", "mypy.stubtest", "--mypy-config-file", &configuration, "clockscope"])?;
    tally.pytest(&environment.python, &format!("{CRATE}/tests"))?;
    Ok(Outcome::Passed)
}

/// A virtual environment with what is needed.
struct Environment {
    /// It holds the environment, and what is built for it.
    folder: PathBuf,
    python: String,
}

impl Environment {
    /// Makes the environment, unless it is there; or says what is missing.
    fn new() -> Result<std::result::Result<Self, String>> {
        if !run::exists("python3") {
            return Ok(Err("python3 is missing: apt-get install python3 python3-venv".to_owned()));
        }
        if run::output("python3", &["-c", "import ensurepip, venv"]).is_err() {
            return Ok(Err("python3 cannot make environments: apt-get install python3-venv".to_owned()));
        }
        let is_new = format!("import sys; sys.exit(sys.version_info < ({}))", OLDEST.replace('.', ","));
        if run::output("python3", &["-c", &is_new]).is_err() {
            return Ok(Err(format!("python3 is older than {OLDEST}, the oldest that the package supports")));
        }
        let folder = std::path::absolute(run::built("python"))?;
        let environment = folder.join("environment");
        let python = environment.join("bin/python").to_str().context("the folder's path is not text")?.to_owned();
        let wanted = fs::read_to_string(REQUIREMENTS).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
        let installed = environment.join("requirements.txt");
        if fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
            let path = environment.to_str().context("the folder's path is not text")?;
            run::with(&[], "python3", &["-m", "venv", "--clear", path])?;
            let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
            if let Err(error) = run::output(&python, &arguments) {
                return Ok(Err(format!("the packages of {REQUIREMENTS} cannot be installed: {error:#}")));
            }
            // Written last: an environment that lacks something has no list.
            fs::write(&installed, wanted)?;
        }
        Ok(Ok(Self { folder, python }))
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        // A path of modules, or of types, of the caller's would hide what was installed.
        run::with(
            &[("PYTHONPATH", ""), ("MYPYPATH", ""), ("MYPY_CACHE_DIR", &self.subfolder("mypy")?)],
            &self.python,
            arguments,
        )
    }

    /// A folder for this purpose.
    fn subfolder(&self, name: &str) -> Result<String> {
        Ok(self.folder.join(name).to_str().context("the folder's path is not text")?.to_owned())
    }

    /// Builds the wheel into a folder, and returns its path.
    fn wheel(&self, into: &Path, profile: Profile) -> Result<PathBuf> {
        let release: &[&str] = if profile == Profile::Release { &["--release"] } else { &[] };
        let command = if profile == Profile::Release {
            run::cargo(&["build", "--quiet", "--package", "clockscope-cli", "--release"])?;
            run::built("release/clockscope")
        } else {
            run::debug_command()?
        };
        let staged = Staged::new(&command, profile)?;
        let fresh = self.folder.join("fresh");
        // What an earlier build has left there is not this wheel.
        let _ = fs::remove_dir_all(&fresh);
        let out = fresh.to_str().context("the folder's path is not text")?;
        let manifest = format!("{CRATE}/Cargo.toml");
        let arguments = ["-m", "maturin", "build", "--quiet", "--locked", "--compatibility", "linux", "--out", out];
        let which = ["--manifest-path", &manifest, "--interpreter", &self.python];
        self.run(&[&arguments[..], &which[..], release].concat())?;
        drop(staged);
        let built = fs::read_dir(&fresh)?.flatten().map(|entry| entry.path()).next();
        let built = built.context("maturin built no wheel")?;
        fs::create_dir_all(into).with_context(|| format!("cannot make {}", into.display()))?;
        let target = into.join(built.file_name().context("the wheel has no name")?);
        fs::copy(&built, &target).with_context(|| format!("cannot write {}", target.display()))?;
        Ok(target)
    }
}

/// The command where maturin takes it from; removed afterward, so that a build without this chore
/// takes along no old one.
struct Staged;

impl Staged {
    fn new(command: &str, profile: Profile) -> Result<Self> {
        fs::create_dir_all(SCRIPTS).with_context(|| format!("cannot make {SCRIPTS}"))?;
        let staged = Self;
        let target = format!("{SCRIPTS}/clockscope");
        // A debug build is mostly symbols, which take longer to pack than all else takes to test.
        if profile == Profile::Debug && run::exists("strip") {
            run::with(&[], "strip", &["-o", &target, command])?;
        } else {
            fs::copy(command, &target).with_context(|| format!("cannot copy {command} to {target}"))?;
        }
        Ok(staged)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Nothing sensible is left to be done if it cannot be removed.
        let _ = Path::new(SCRIPTS).parent().map(fs::remove_dir_all);
    }
}
