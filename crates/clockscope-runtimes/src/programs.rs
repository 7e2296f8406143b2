//! Which runtimes are to be measured, and where their programs are.

use std::path::{Path, PathBuf};

use crate::registry::{RUNTIMES, Runtime};

/// A runtime that was asked for, and the program that starts it, where the user has named one.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub(crate) runtime: &'static Runtime,
    pub(crate) program: Option<PathBuf>,
}

/// There is no runtime of this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no runtime named \"{name}\"")]
pub struct UnknownRuntime {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

/// The runtimes of these names, all if there are none; those for which programs are named, by these programs, each once a
/// program. In the order of the registry.
///
/// # Errors
/// There is none of such a name.
pub fn select(names: &[String], programs: &[(String, PathBuf)]) -> Result<Vec<Chosen>, UnknownRuntime> {
    let known = |name: &String| RUNTIMES.iter().any(|runtime| runtime.name == name);
    let mut asked = names.iter().chain(programs.iter().map(|(name, _)| name));
    if let Some(name) = asked.find(|name| !known(name)) {
        let known = RUNTIMES.iter().map(|runtime| runtime.name).collect();
        return Err(UnknownRuntime { name: name.clone(), known });
    }
    let is_asked = |runtime: &&Runtime| {
        let is_named = names.iter().any(|name| name == runtime.name);
        names.is_empty() || is_named || programs.iter().any(|(name, _)| name == runtime.name)
    };
    let of = |runtime: &'static Runtime| -> Vec<Chosen> {
        let named = programs.iter().filter(|(name, _)| name == runtime.name);
        let chosen: Vec<Chosen> =
            named.map(|(_, program)| Chosen { runtime, program: Some(program.clone()) }).collect();
        if chosen.is_empty() { vec![Chosen { runtime, program: None }] } else { chosen }
    };
    Ok(RUNTIMES.iter().filter(is_asked).flat_map(of).collect())
}

impl Chosen {
    /// The program that starts it.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub(crate) fn program(&self) -> Result<PathBuf, String> {
        match &self.program {
            Some(named) => found(named).ok_or_else(|| format!("{} is no program", named.display())),
            None => {
                first(self.runtime.programs).ok_or_else(|| format!("{} not on PATH", either(self.runtime.programs)))
            }
        }
    }

    /// The program that compiles for it, where that is another one. One that is missing is no matter where it can be built without.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub(crate) fn compiler(&self) -> Result<Option<PathBuf>, String> {
        let compilers = self.runtime.compilers;
        match first(compilers) {
            None if !compilers.is_empty() && !self.is_buildable_without_compiler() => {
                Err(format!("{} not on PATH, which compiles for it", either(compilers)))
            }
            found => Ok(found),
        }
    }

    /// Whether a program is missing without which it cannot be measured.
    pub(crate) fn is_missing(&self) -> bool {
        self.program().is_err() || self.compiler().is_err()
    }

    fn is_buildable_without_compiler(&self) -> bool {
        self.runtime.builds.iter().any(|build| !build.command.contains(&"{compiler}"))
    }
}

/// A path, or a name on PATH, if it can be executed.
fn found(name: &Path) -> Option<PathBuf> {
    which::which(name).ok()
}

fn first(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| found(Path::new(name)))
}

/// `go is`, `none of cc, gcc, clang is`.
fn either(names: &[&str]) -> String {
    match names {
        [name] => format!("{name} is"),
        _ => format!("none of {} is", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_programs_choose() {
        let name = |name: &str| name.to_owned();
        let shown = |chosen: &Result<Vec<Chosen>, UnknownRuntime>| -> Vec<(&str, bool)> {
            chosen.as_ref().unwrap().iter().map(|one| (one.runtime.name, one.program.is_some())).collect()
        };
        assert_eq!(select(&[], &[]).unwrap().len(), RUNTIMES.len());
        assert_eq!(shown(&select(&[name("go"), name("c")], &[])), [("c", false), ("go", false)]);
        let pythons = [(name("python"), "/a".into()), (name("python"), "/b".into())];
        assert_eq!(shown(&select(&[name("c")], &pythons)), [("c", false), ("python", true), ("python", true)]);
        assert_eq!(select(&[], &pythons).unwrap().len(), RUNTIMES.len() + 1);
        let unknown = select(&[name("pyhton")], &[]).unwrap_err();
        assert!(unknown.to_string().contains("pyhton") && unknown.known.contains(&"python"));
    }

    #[test]
    fn what_is_no_program_is_said_to_be_none() {
        let of = |path: &str| Chosen { runtime: &RUNTIMES[0], program: Some(path.into()) }.program();
        assert!(of("/nowhere/cc").unwrap_err().contains("/nowhere/cc is no program"));
        assert!(of("/").is_err());
        assert_eq!(of("/bin/sh").unwrap(), Path::new("/bin/sh"));
    }
}
