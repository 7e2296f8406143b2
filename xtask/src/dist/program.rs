//! A program before it is packed: its size, what it needs, and what it says of itself.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::origin::Origin;
use super::target::{System, Target};
use crate::run;

/// Shells, and where their completion scripts are.
pub(super) const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "clockscope.bash"),
    ("zsh", "_clockscope"),
    ("fish", "clockscope.fish"),
    ("elvish", "clockscope.elv"),
    ("powershell", "_clockscope.ps1"),
];

/// The largest program, in bytes. The budget is 8 MB, which the program with musl exceeds by 1 %
/// (docs/decisions/project.md).
const LARGEST: u64 = 8_150_000;

/// Beginnings of the names of compilers' libraries, which no Windows has.
const OF_COMPILERS: [&str; 4] = ["libgcc", "libstdc++", "libwinpthread", "libssp"];

/// A program that was built for a target.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) runner: &'static [&'static str],
}

impl Program {
    /// Refuses a program that does not run, or is not what the archive's name says.
    pub(super) fn check(&self, target: &Target, origin: &Origin) -> Result<()> {
        let size = fs::metadata(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?.len();
        ensure!(size <= LARGEST, "the program has {size} bytes, expected {LARGEST} at most");
        let headers = run::output("objdump", &["-p", &self.path.to_string_lossy()]);
        match (target.system, headers) {
            (System::Linux, Ok(headers)) => {
                ensure!(is_static(&headers), "the program needs a loader or libraries, expected a static one");
            }
            (System::Windows, Ok(headers)) => {
                let foreign = foreign_libraries(&headers);
                ensure!(foreign.is_empty(), "the program needs {foreign:?}, which no Windows has");
            }
            // objdump knows this machine's processor, and perhaps no other.
            (_, Err(error)) if self.runner.is_empty() => return Err(error),
            (_, Err(_)) => {}
        }
        let version = self.output(&["--version", "--verbose"])?;
        check_version(&version, target.triple, origin)?;
        println!("   {size} bytes; it states its commit and target");
        Ok(())
    }

    /// A command of it, in an empty environment.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut words = self.runner.iter().map(PathBuf::from).chain([self.path.clone()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        let kept = ["PATH", "HOME", "WINEPREFIX"].map(|name| (name, std::env::var_os(name).unwrap_or_default()));
        let kept = kept.into_iter().filter(|(_, value)| !value.is_empty());
        command.args(words).args(arguments).env_clear().envs(kept).env("WINEDEBUG", "-all");
        command
    }

    /// Returns what it prints.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output();
        let output = output.with_context(|| format!("cannot run {}", self.path.display()))?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            bail!("clockscope {}: {}\n{error}", arguments.join(" "), output.status);
        }
        String::from_utf8(output.stdout).with_context(|| format!("clockscope {} prints no text", arguments.join(" ")))
    }
}

/// Returns true if `objdump -p` shows neither a loader nor libraries.
fn is_static(headers: &str) -> bool {
    let lines = || headers.lines().map(str::trim_start);
    lines().any(|line| line.starts_with("LOAD"))
        && !lines().any(|line| line.starts_with("INTERP") || line.starts_with("NEEDED"))
}

/// Libraries that `objdump -p` shows and that come with a compiler, not with Windows.
fn foreign_libraries(headers: &str) -> Vec<&str> {
    let names = headers.lines().filter_map(|line| line.trim().strip_prefix("DLL Name: "));
    names.filter(|name| OF_COMPILERS.iter().any(|beginning| name.starts_with(beginning))).collect()
}

/// Checks what the program says of itself.
fn check_version(printed: &str, triple: &str, origin: &Origin) -> Result<()> {
    let Origin { version, commit, .. } = origin;
    let expected = format!("clockscope {version}\ncommit: {commit}\ntarget: {triple}\n");
    let printed = printed.replace("\r\n", "\n");
    ensure!(printed == expected, "--version --verbose prints\n{printed}expected\n{expected}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_a_loader_or_libraries_is_not_static() {
        let sound = "Program Header:\n    LOAD off    0x0\n   STACK off    0x0\n";
        assert!(is_static(sound));
        assert!(!is_static(&sound.replace("STACK", "INTERP")));
        assert!(!is_static(&format!("{sound}\nDynamic Section:\n  NEEDED               libc.so.6\n")));
        assert!(!is_static("not a program"));
        let sound = "\tDLL Name: KERNEL32.dll\n\tDLL Name: ntdll.dll\n";
        assert_eq!(foreign_libraries(sound), [""; 0]);
        assert_eq!(foreign_libraries(&format!("{sound}\tDLL Name: libgcc_s_dw2-1.dll\n")), ["libgcc_s_dw2-1.dll"]);
    }

    #[test]
    fn a_program_of_another_commit_or_target_is_refused() {
        let origin = Origin {
            version: "1.2.3".to_owned(),
            commit: "c0ffee".to_owned(),
            epoch: "0".to_owned(),
            time: String::new(),
        };
        let sound = "clockscope 1.2.3\ncommit: c0ffee\ntarget: x\n";
        assert!(check_version(sound, "x", &origin).is_ok());
        assert!(check_version(sound, "y", &origin).is_err());
        assert!(check_version(&sound.replace("c0ffee", "c0ffee-changed"), "x", &origin).is_err());
    }
}
