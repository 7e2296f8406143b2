//! Interpreters of this machine that the package supports.

use std::path::{Path, PathBuf};

use crate::run;

/// Minor versions of Python 3 that are looked for.
const MINOR_VERSIONS: std::ops::RangeInclusive<u32> = 10..=15;

/// An interpreter that can make environments.
#[derive(Debug)]
pub(super) struct Python {
    pub(super) program: PathBuf,
    pub(super) minor: u32,
}

/// Returns one interpreter of each version that is on PATH or that pyenv has, the oldest first.
pub(super) fn here() -> Vec<Python> {
    let python = |minor| {
        let program = candidates(minor).into_iter().find(|program| is_version(program, minor))?;
        Some(Python { program, minor })
    };
    MINOR_VERSIONS.filter_map(python).collect()
}

fn candidates(minor: u32) -> Vec<PathBuf> {
    let name = format!("python3.{minor}");
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv"));
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(home);
    let versions = pyenv.and_then(|pyenv| pyenv.join("versions").read_dir().ok());
    let of_pyenv = versions.into_iter().flatten().flatten().map(|version| version.path().join("bin").join(&name));
    let mut found: Vec<PathBuf> = of_pyenv.filter(|program| program.is_file()).collect();
    found.sort_unstable();
    found.insert(0, PathBuf::from(name));
    found
}

/// Returns true if it runs, which a name that pyenv has put on PATH need not do.
fn is_version(program: &Path, minor: u32) -> bool {
    let Some(program) = program.to_str() else { return false };
    let printed = run::output(program, &["-c", "import ensurepip, sys, venv; print(sys.version_info[1])"]);
    printed.is_ok_and(|printed| printed.trim() == minor.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_looked_for_on_path_first() {
        assert_eq!(candidates(11)[0], PathBuf::from("python3.11"));
        assert!(!is_version(Path::new("/no/such/python3.11"), 11));
    }
}
