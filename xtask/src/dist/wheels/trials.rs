//! Trials of wheels and of the sdist, each in a root of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::emulated;
use super::platform::{Libc, Platform};
use super::pythons::{self, Python};
use crate::dist::archive::file_name;
use crate::dist::trial::{self, Place, QUESTIONS, Trial};
use crate::folder;
use crate::python::Environment;

/// The Python of this project's machines. A newer one shows that the stable ABI holds.
const USUAL: u32 = 11;

const NOW: &str = "import clockscope; print(clockscope.now_ns())";

/// The extension module's place in an installation.
const MODULE: &str = "clockscope/_native.abi3.so";

/// Installs a wheel where its platform is, or into a folder, and runs what is in it.
pub(super) fn wheel(tools: &Environment, platform: &Platform, wheel: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    let mut wheel = Wheel { tools, file: wheel, artifact: file_name(wheel)?, trials };
    wheel.stable_abi()?;
    if platform.libc == Libc::Gnu && platform.runner.is_none() {
        let pythons = pythons::here();
        ensure!(!pythons.is_empty(), "no Python that can make environments: apt-get install python3-venv");
        for python in &pythons {
            wheel.in_environment(python)?;
        }
        if pythons.iter().all(|python| python.minor <= USUAL) {
            println!("   skipped: no Python newer than 3.{USUAL} is here, so abi3audit alone checked the stable ABI");
        }
        wheel.by_uvx()?;
    }
    wheel.in_target_folder(platform)
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

/// A wheel, and the trials so far.
struct Wheel<'a> {
    tools: &'a Environment,
    file: &'a Path,
    artifact: &'a str,
    trials: &'a mut Vec<Trial>,
}

impl<'a> Wheel<'a> {
    fn place(&self, root: &'a str) -> Place<'a> {
        Place { artifact: self.artifact, root }
    }

    /// Checks that it uses nothing but the stable ABI of its tag.
    fn stable_abi(&mut self) -> Result<()> {
        let mut audit = Command::new(&self.tools.python);
        audit.args(["-m", "abi3audit", "--strict"]).arg(self.file);
        self.place("abi3audit").run(&mut audit, "abi3audit --strict WHEEL", self.trials).map(drop)
    }

    fn in_environment(&mut self, python: &Python) -> Result<()> {
        let name = format!("clean environment of Python 3.{}", python.minor);
        println!("   {name}");
        let root = Root::new(self.tools, &format!("python3.{}", python.minor))?;
        let python_here = root.environment(&python.program)?;
        let place = Place { artifact: self.artifact, root: &name };
        let mut install = root.command(&python_here);
        install.args(["-m", "pip", "install", "--no-index"]).arg(self.file);
        place.run(&mut install, "pip install --no-index WHEEL", self.trials)?;
        now(&place, &mut root.command(&python_here), self.trials)?;
        let question = QUESTIONS[1];
        let words = format!("python -m clockscope {}", question.join(" "));
        let mut check = root.command(&python_here);
        let printed = place.run(check.args(["-m", "clockscope"]).args(question), &words, self.trials)?;
        trial::judge(question, &printed)?;
        let command = python_here.with_file_name("clockscope");
        place.ask("clockscope", |question| root.asked(&command, question), self.trials)
    }

    /// Runs the command as users of uv do who have installed nothing.
    fn by_uvx(&mut self) -> Result<()> {
        println!("   uvx");
        let root = Root::new(self.tools, "uvx")?;
        let uvx = Path::new(&self.tools.python).with_file_name("uvx");
        let words = ["--from", folder::text(self.file)?, "clockscope"];
        let place = self.place("uv's own environment");
        place.ask(
            "uvx --from WHEEL clockscope",
            |question| root.asked(&uvx, &[&words[..], question].concat()),
            self.trials,
        )
    }

    /// Installs it into a folder, whatever its platform, checks its module, and runs its command,
    /// which needs no Python.
    fn in_target_folder(&mut self, platform: &Platform) -> Result<()> {
        let name = format!("{}_{}", platform.baseline(), platform.processor);
        println!("   {name}: {}", platform.root);
        let root = Root::new(self.tools, &name)?;
        let place = self.place(platform.root);
        let mut install = root.command(Path::new(&self.tools.python));
        let how = ["--no-index", "--only-binary", ":all:", "--platform", &name, "--python-version", "3.13"];
        install.args(["-m", "pip", "install"]).args(how).args(["--target", "T"]).arg(self.file);
        place.run(&mut install, &format!("pip install {} --target T WHEEL", how.join(" ")), self.trials)?;
        let folder = root.folder.join("T");
        let module = folder.join(MODULE);
        let mut headers = Command::new("readelf");
        headers.args(["--wide", "--file-header", "--dynamic"]).arg(&module).env("LC_ALL", "C");
        let words = format!("readelf --file-header --dynamic T/{MODULE}");
        let printed = place.run(&mut headers, &words, self.trials)?;
        platform.judge(&printed).with_context(|| format!("{}: {MODULE}", self.artifact))?;
        let program = folder.join("bin/clockscope");
        let Some(runner) = platform.runner else {
            return place.ask("T/bin/clockscope", |question| root.asked(&program, question), self.trials);
        };
        let emulated = [folder::text(&program)?];
        let words = format!("{runner} T/bin/clockscope");
        place.ask(
            &words,
            |question| root.asked(Path::new(runner), &[&emulated[..], question].concat()),
            self.trials,
        )?;
        if platform.libc == Libc::Gnu {
            let debian = emulated::root(Path::new(&self.tools.folder))?;
            let mut python = root.command(Path::new(runner));
            python.arg("-L").arg(&debian).arg(debian.join(emulated::PROGRAM)).env("PYTHONPATH", &folder);
            now(&self.place("Debian 12 for arm64, emulated"), &mut python, self.trials)?;
        }
        Ok(())
    }
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
        let folder = Path::new(&tools.folder).join("roots").join(name);
        folder::empty(&folder)?;
        Ok(Self { folder })
    }

    /// A command that runs in the folder, without the caller's paths of modules. uv finds neither
    /// what an earlier run left, nor anything from an index.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_remove("PYTHONPATH").env_remove("PYTHONHOME");
        command.env("UV_CACHE_DIR", self.folder.join("cache")).env("UV_OFFLINE", "1").env("UV_NO_CONFIG", "1");
        command
    }

    /// A command that runs in the folder, with these arguments.
    fn asked(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = self.command(program);
        command.args(arguments);
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
        let _ = folder::remove(&self.folder);
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
