//! Trials of wheels and of the sdist, each in a root of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::emulated;
use super::platform::{Libc, Platform};
use super::pythons::{self, Python};
use crate::dist::archive::file_name;
use crate::dist::trial::{self, Place, QUESTIONS, Trial};
use crate::python::Environment;

/// The Python of this project's machines. A newer one shows that the stable ABI holds.
const USUAL: u32 = 11;

const NOW: &str = "import clockscope; print(clockscope.now_ns())";

/// The extension module's place in an installation.
const MODULE: &str = "clockscope/_native.abi3.so";

/// Installs a wheel where its platform is, or into a folder, and runs what is in it.
pub(super) fn wheel(tools: &Environment, platform: &Platform, wheel: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    let artifact = file_name(wheel)?;
    stable_abi(tools, wheel, artifact, trials)?;
    if platform.libc == Libc::Gnu && platform.runner.is_none() {
        let pythons = pythons::here();
        ensure!(!pythons.is_empty(), "no Python that can make environments: apt-get install python3-venv");
        for python in &pythons {
            in_environment(tools, python, wheel, artifact, trials)?;
        }
        if pythons.iter().all(|python| python.minor <= USUAL) {
            println!("   skipped: no Python newer than 3.{USUAL} is here, so abi3audit alone checked the stable ABI");
        }
        by_uvx(tools, wheel, artifact, trials)?;
    }
    in_target_folder(tools, platform, wheel, artifact, trials)
}

/// Builds and installs the sdist in a clean environment, in a folder without the workspace.
pub(super) fn sdist(tools: &Environment, sdist: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    let artifact = file_name(sdist)?;
    let root = Root::new(tools, "sdist")?;
    let python = root.environment(Path::new(&tools.python))?;
    let place = Place { artifact, root: "clean environment, with Rust" };
    let mut install = root.command(&python);
    trial::remove_build_variables(&mut install);
    place.run(install.args(["-m", "pip", "install"]).arg(sdist), "pip install SDIST", trials)?;
    now(&place, &mut root.command(&python), trials)
}

/// Checks that a wheel uses nothing but the stable ABI of its tag.
fn stable_abi(tools: &Environment, wheel: &Path, artifact: &str, trials: &mut Vec<Trial>) -> Result<()> {
    let place = Place { artifact, root: "abi3audit" };
    let mut audit = Command::new(&tools.python);
    place.run(audit.args(["-m", "abi3audit", "--strict"]).arg(wheel), "abi3audit --strict WHEEL", trials).map(drop)
}

fn in_environment(
    tools: &Environment,
    python: &Python,
    wheel: &Path,
    artifact: &str,
    trials: &mut Vec<Trial>,
) -> Result<()> {
    println!("   {}", python.root);
    let root = Root::new(tools, &format!("python3.{}", python.minor))?;
    let python_here = root.environment(&python.program)?;
    let place = Place { artifact, root: python.root };
    let mut install = root.command(&python_here);
    place.run(
        install.args(["-m", "pip", "install", "--no-index"]).arg(wheel),
        "pip install --no-index WHEEL",
        trials,
    )?;
    now(&place, &mut root.command(&python_here), trials)?;
    let mut check = root.command(&python_here);
    let question = QUESTIONS[1];
    let words = format!("python -m clockscope {}", question.join(" "));
    let printed = place.run(check.args(["-m", "clockscope"]).args(question), &words, trials)?;
    trial::judge(question, &printed)?;
    let command = python_here.with_file_name("clockscope");
    ask(&place, "clockscope", || root.command(&command), trials)
}

/// Runs the command as users of uv do who have installed nothing.
fn by_uvx(tools: &Environment, wheel: &Path, artifact: &str, trials: &mut Vec<Trial>) -> Result<()> {
    println!("   uvx");
    let root = Root::new(tools, "uvx")?;
    let place = Place { artifact, root: "uv's own environment" };
    let uvx = Path::new(&tools.python).with_file_name("uvx");
    let command = || {
        let mut command = root.command(&uvx);
        // Neither what an earlier run left, nor anything from an index.
        command.env("UV_CACHE_DIR", root.folder.join("cache")).env("UV_OFFLINE", "1").env("UV_NO_CONFIG", "1");
        command.arg("--from").arg(wheel).arg("clockscope");
        command
    };
    ask(&place, "uvx --from WHEEL clockscope", command, trials)
}

/// Installs a wheel of any platform into a folder, checks its module, and runs its command, which
/// needs no Python.
fn in_target_folder(
    tools: &Environment,
    platform: &Platform,
    wheel: &Path,
    artifact: &str,
    trials: &mut Vec<Trial>,
) -> Result<()> {
    let name = format!("{}_{}", platform.baseline(), platform.processor);
    println!("   {name}: {}", platform.root);
    let root = Root::new(tools, &name)?;
    let place = Place { artifact, root: platform.root };
    let mut install = root.command(Path::new(&tools.python));
    let how = ["--no-index", "--only-binary", ":all:", "--platform", &name, "--python-version", "3.13"];
    install.args(["-m", "pip", "install"]).args(how).args(["--target", "T"]).arg(wheel);
    place.run(&mut install, &format!("pip install {} --target T WHEEL", how.join(" ")), trials)?;
    let folder = root.folder.join("T");
    let module = folder.join(MODULE);
    let mut headers = Command::new("readelf");
    headers.args(["--wide", "--file-header", "--dynamic"]).arg(&module).env("LC_ALL", "C");
    let words = format!("readelf --file-header --dynamic T/{MODULE}");
    platform.judge(&place.run(&mut headers, &words, trials)?).with_context(|| format!("{artifact}: {MODULE}"))?;
    let program = folder.join("bin/clockscope");
    let Some(runner) = platform.runner else {
        return ask(&place, "T/bin/clockscope", || root.command(&program), trials);
    };
    let command = || {
        let mut command = root.command(Path::new(runner));
        command.arg(&program);
        command
    };
    ask(&place, &format!("{runner} T/bin/clockscope"), command, trials)?;
    if platform.libc == Libc::Gnu {
        let debian = emulated::root(&tools.folder)?;
        let place = Place { artifact, root: "Debian 12 for arm64, emulated" };
        let mut python = root.command(Path::new(runner));
        python.arg("-L").arg(&debian).arg(debian.join(emulated::PROGRAM)).env("PYTHONPATH", &folder);
        now(&place, &mut python, trials)?;
    }
    Ok(())
}

/// Asks what every root is asked.
fn ask(place: &Place<'_>, words: &str, command: impl Fn() -> Command, trials: &mut Vec<Trial>) -> Result<()> {
    for question in QUESTIONS {
        let printed = place.run(command().args(question), &format!("{words} {}", question.join(" ")), trials)?;
        trial::judge(question, &printed).with_context(|| format!("{words}, of {}", place.artifact))?;
    }
    Ok(())
}

/// Reads the time by the extension module.
fn now(place: &Place<'_>, python: &mut Command, trials: &mut Vec<Trial>) -> Result<()> {
    let printed = place.run(python.args(["-c", NOW]), &format!("python -c \"{NOW}\""), trials)?;
    ensure!(is_time(&printed), "now_ns() of {} returned {printed:?}, expected a positive integer", place.artifact);
    Ok(())
}

fn is_time(printed: &str) -> bool {
    printed.trim().parse::<u64>().is_ok_and(|ns| ns > 0)
}

/// A folder that nothing was installed into; removed afterward.
struct Root {
    folder: PathBuf,
}

impl Root {
    fn new(tools: &Environment, name: &str) -> Result<Self> {
        let folder = tools.folder.join("roots").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder })
    }

    /// A command that runs in the folder, without the caller's paths of modules.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_remove("PYTHONPATH").env_remove("PYTHONHOME");
        command
    }

    /// Makes an environment of Python; returns its interpreter.
    fn environment(&self, python: &Path) -> Result<PathBuf> {
        let output = self.command(python).args(["-m", "venv", "environment"]).output();
        let output = output.with_context(|| format!("cannot run {}", python.display()))?;
        ensure!(output.status.success(), "{} -m venv: {}", python.display(), output.status);
        Ok(self.folder.join("environment/bin/python"))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // The next run removes what is left.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_positive_integer() {
        assert!(is_time("123456789\n"));
        for other in ["", "0\n", "-1\n", "1.5\n", "None\n"] {
            assert!(!is_time(other), "{other:?}");
        }
    }
}
