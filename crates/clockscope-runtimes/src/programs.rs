//! Runtimes that are to be measured, and the places of their programs.

use std::path::{Path, PathBuf};

use clockscope_records::RuntimeFailure;

use crate::registry::{RUNTIMES, Runtime};
use crate::unmeasured::Unmeasured;

/// A runtime that was asked for, and the program that starts it, where the user has named one.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub(crate) runtime: &'static Runtime,
    pub(crate) program: Option<PathBuf>,
}

/// Other names that people give to a runtime, beside its name and its title.
const ALIASES: &[(&str, &str)] = &[
    ("cpp", "c++"),
    ("cxx", "c++"),
    ("golang", "go"),
    (".net", "dotnet"),
    ("nodejs", "node"),
    ("python3", "python"),
    ("pypy3", "pypy"),
    ("chrome", "chromium"),
    ("google-chrome", "chromium"),
];

/// There is no runtime of this name.
#[derive(Debug, thiserror::Error)]
#[error("{}", said(name))]
pub struct UnknownRuntime {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

/// Returns what is wrong with a name.
fn said(name: &str) -> String {
    if name.trim().is_empty() { "a runtime's name is empty".to_owned() } else { format!("unknown runtime: {name}") }
}

/// Returns the names of all runtimes, in the order of the registry.
pub fn names() -> impl Iterator<Item = &'static str> {
    RUNTIMES.iter().map(|runtime| runtime.name)
}

/// The runtimes of these names, all that this system may have if there are none; those for which
/// programs are named, by these programs, each once a program. A name may be a runtime's own, its
/// title or an alias, in capitals or not. In the order of the registry.
///
/// # Errors
/// There is none of such a name.
pub fn select(names: &[String], programs: &[(String, PathBuf)]) -> Result<Vec<Chosen>, UnknownRuntime> {
    let names: Vec<&str> = names.iter().map(|name| canonical(name)).collect::<Result<_, _>>()?;
    let mut programs_of: Vec<(&str, &PathBuf)> = Vec::new();
    for (name, program) in programs {
        let one = (canonical(name)?, program);
        if !programs_of.contains(&one) {
            programs_of.push(one);
        }
    }
    let mut selected = Vec::new();
    for runtime in RUNTIMES {
        let is_meant = names.is_empty() && runtime.is_of_this_system();
        if programs_of.iter().any(|(name, _)| *name == runtime.name) {
            let named = programs_of.iter().filter(|(name, _)| *name == runtime.name);
            selected.extend(named.map(|(_, program)| Chosen { runtime, program: Some((*program).clone()) }));
        } else if is_meant || names.contains(&runtime.name) {
            selected.push(Chosen { runtime, program: None });
        }
    }
    Ok(selected)
}

/// The name in the registry of a runtime that users call so.
fn canonical(requested: &str) -> Result<&'static str, UnknownRuntime> {
    let wanted = requested.trim().to_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == wanted).map(|(_, name)| *name);
    let runtime = RUNTIMES.iter().find(|runtime| match alias {
        Some(name) => runtime.name == name,
        None => runtime.name == wanted || runtime.title.to_lowercase() == wanted,
    });
    runtime.map(|runtime| runtime.name).ok_or_else(|| UnknownRuntime {
        name: requested.to_owned(),
        known: RUNTIMES.iter().map(|runtime| runtime.name).collect(),
    })
}

impl Chosen {
    /// The program that starts it.
    ///
    /// # Errors
    /// There is none, or it is not measured on this system.
    pub(crate) fn program(&self) -> Result<PathBuf, Unmeasured> {
        if let Some(reason) = self.runtime.unsupported() {
            return Err(not_found(reason.to_owned()));
        }
        match &self.program {
            Some(named) => found(named).ok_or_else(|| not_found(format!("{} is not a program", named.display()))),
            None => first(self.runtime.programs).ok_or_else(|| not_found(missing(self.runtime.programs))),
        }
    }

    /// The program that compiles for it, where that is another one. One that is missing is no
    /// matter where it can be built without.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn compiler(&self) -> Result<Option<PathBuf>, Unmeasured> {
        let compilers = self.runtime.compilers;
        match first(compilers) {
            None if !compilers.is_empty() && !self.is_buildable_without_compiler() => {
                Err(not_found(format!("{}, to compile for it", missing(compilers))))
            }
            found => Ok(found),
        }
    }

    fn is_buildable_without_compiler(&self) -> bool {
        self.runtime.builds.iter().any(|build| !build.command.contains(&"{compiler}"))
    }
}

fn not_found(reason: String) -> Unmeasured {
    Unmeasured::new(RuntimeFailure::NotFound, reason)
}

/// A path, or a name on PATH, if it can be executed.
fn found(name: &Path) -> Option<PathBuf> {
    which::which(name).ok()
}

fn first(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| found(Path::new(&expanded(name, std::env::var("windir").ok().as_deref()))))
}

/// A program's name or path, with the folder of Windows.
fn expanded(name: &str, windir: Option<&str>) -> String {
    name.replace("{windir}", windir.unwrap_or("{windir}"))
}

/// `go is not on PATH`, `none of cc, gcc, clang is on PATH`, `%windir%\csc.exe is not there`.
fn missing(names: &[&str]) -> String {
    let location = if names.iter().all(|name| name.contains("{windir}")) { "there" } else { "on PATH" };
    let names: Vec<String> = names.iter().map(|name| expanded(name, Some("%windir%"))).collect();
    match names.as_slice() {
        [name] => format!("{name} is not {location}"),
        _ => format!("none of {} is {location}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_programs_choose() {
        let name = |name: &str| name.to_owned();
        let summary = |chosen: &Result<Vec<Chosen>, UnknownRuntime>| -> Vec<(&str, bool)> {
            chosen.as_ref().unwrap().iter().map(|one| (one.runtime.name, one.program.is_some())).collect()
        };
        let all = RUNTIMES.iter().filter(|runtime| runtime.is_of_this_system()).count();
        assert_eq!(select(&[], &[]).unwrap().len(), all);
        assert_eq!(summary(&select(&[name("go"), name("c")], &[])), [("c", false), ("go", false)]);
        let pythons = [(name("python"), "/a".into()), (name("python"), "/b".into())];
        assert_eq!(summary(&select(&[name("c")], &pythons)), [("c", false), ("python", true), ("python", true)]);
        assert_eq!(select(&[], &pythons).unwrap().len(), all + 1);
        let unknown = select(&[name("pyhton")], &[]).unwrap_err();
        assert!(unknown.to_string().contains("pyhton") && unknown.known.contains(&"python"));
    }

    /// A runtime that is measured on Windows alone is left out elsewhere, and named with the
    /// reason.
    #[test]
    fn a_runtime_of_another_system_is_named_with_the_reason() {
        let reason = |name: &str| {
            let chosen = select(&[name.to_owned()], &[]).unwrap();
            assert_eq!(chosen.len(), 1, "{name}");
            let of_all = select(&[], &[]).unwrap().iter().any(|one| one.runtime.name == name);
            (of_all, chosen[0].program().err().map(|unmeasured| unmeasured.reason))
        };
        let (is_there, framework) = reason("dotnet-framework");
        assert_eq!(is_there, cfg!(windows));
        let (go_is_there, go) = reason("go");
        assert!(go_is_there);
        if cfg!(windows) {
            assert_eq!(go.as_deref(), Some("its probe does not know the clocks of Windows yet"));
        } else {
            assert_eq!(framework.as_deref(), Some("it runs on Windows alone"));
        }
    }

    #[test]
    fn programs_of_windows_lie_in_its_folder() {
        assert_eq!(expanded(r"{windir}\a\csc.exe", Some(r"D:\W")), r"D:\W\a\csc.exe");
        assert_eq!(expanded("go", Some(r"D:\W")), "go");
        assert_eq!(missing(&[r"{windir}\csc.exe"]), r"%windir%\csc.exe is not there");
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_program_is_said_to_be_none() {
        let of = |path: &str| Chosen { runtime: &RUNTIMES[0], program: Some(path.into()) }.program();
        assert!(of("/nowhere/cc").unwrap_err().reason.contains("/nowhere/cc is not a program"));
        assert!(of("/").is_err());
        assert_eq!(of("/bin/sh").unwrap(), Path::new("/bin/sh"));
    }

    #[test]
    fn what_is_missing_is_said_in_a_sentence() {
        assert_eq!(missing(&["go"]), "go is not on PATH");
        assert_eq!(missing(&["cc", "gcc", "clang"]), "none of cc, gcc, clang is on PATH");
    }

    #[test]
    fn a_program_that_is_named_twice_is_measured_once() {
        let ruby = |name: &str| (name.to_owned(), PathBuf::from("/a"));
        let chosen = select(&["ruby".into()], &[ruby("ruby"), ruby("Ruby"), ("ruby".into(), "/b".into())]).unwrap();
        let programs: Vec<_> = chosen.iter().map(|one| one.program.clone().unwrap()).collect();
        assert_eq!(programs, [Path::new("/a"), Path::new("/b")]);
    }

    #[test]
    fn names_are_taken_as_people_write_them() {
        for (requested, expected) in [
            ("C", "c"),
            ("Python", "python"),
            (".NET", "dotnet"),
            ("Node.js", "node"),
            ("CPP", "c++"),
            ("cxx", "c++"),
            ("nodejs", "node"),
            ("golang", "go"),
            ("python3", "python"),
            ("Google-Chrome", "chromium"),
            (".net", "dotnet"),
            (" go ", "go"),
        ] {
            let chosen = select(&[requested.to_owned()], &[]).unwrap();
            assert_eq!(chosen.iter().map(|one| one.runtime.name).collect::<Vec<_>>(), [expected], "{requested}");
            let chosen = select(&["c".to_owned()], &[(requested.to_owned(), "/a".into())]).unwrap();
            assert!(chosen.iter().any(|one| one.runtime.name == expected && one.program.is_some()), "{requested}");
        }
        for runtime in RUNTIMES {
            assert_eq!(canonical(runtime.title).unwrap(), runtime.name);
        }
        assert!(ALIASES.iter().all(|(alias, name)| canonical(alias).unwrap() == *name));
        for empty in ["", " "] {
            assert_eq!(select(&[empty.to_owned()], &[]).unwrap_err().to_string(), "a runtime's name is empty");
        }
    }
}
