//! Commands of the registry, with what is known only when they are started.

use std::path::Path;
use std::process::Command;

/// A path as a word.
fn text(path: Option<&Path>) -> Option<String> {
    Some(path?.display().to_string())
}

/// Values for the words of a command (see [`crate::registry::Runtime`]). A word without a value
/// leaves out the arguments and variables that name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Substitutions<'a> {
    pub(crate) program: Option<&'a Path>,
    pub(crate) compiler: Option<&'a Path>,
    /// The folder of .NET's own assemblies.
    pub(crate) framework: Option<&'a Path>,
    pub(crate) source: Option<&'a Path>,
    pub(crate) built: Option<&'a Path>,
    /// The probe's own.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) cache: Option<&'a Path>,
    pub(crate) url: Option<&'a str>,
    pub(crate) milliseconds: u64,
}

impl Substitutions<'_> {
    /// The command, in the probe's folder, into which go temporary files. `None` if there is no
    /// such program.
    pub(crate) fn command(&self, words: &[&str], variables: &[(&str, &str)]) -> Option<Command> {
        let (program, arguments) = words.split_first()?;
        let mut command = Command::new(self.filled(program)?);
        command.args(arguments.iter().filter_map(|word| self.filled(word)));
        if let Some(folder) = self.folder {
            // Unix's name, and both of Windows.
            command.current_dir(folder).envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, folder)));
        }
        command.envs(variables.iter().filter_map(|(name, value)| Some((name, self.filled(value)?))));
        Some(command)
    }

    fn filled(&self, word: &str) -> Option<String> {
        let mut filled = word.to_owned();
        for (name, value) in [
            ("{program}", text(self.program)),
            ("{compiler}", text(self.compiler)),
            ("{framework}", text(self.framework)),
            ("{source}", text(self.source)),
            ("{built}", text(self.built)),
            ("{folder}", text(self.folder)),
            ("{cache}", text(self.cache)),
            ("{url}", self.url.map(str::to_owned)),
            ("{milliseconds}", Some(self.milliseconds.to_string())),
            ("{unsandboxed}", is_root().then(|| "--no-sandbox".to_owned())),
        ] {
            if filled.contains(name) {
                filled = filled.replace(name, &value?);
            }
        }
        Some(filled)
    }
}

/// Returns true if browsers refuse to run in their sandbox.
#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(windows)]
fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::RUNTIMES;

    #[test]
    fn words_are_filled_or_left_out() {
        let words = Substitutions { program: Some(Path::new("/bin/x")), milliseconds: 7, ..Substitutions::default() };
        let command = words.command(&["{program}", "-lib:{framework}", "{milliseconds}", "plain"], &[]).unwrap();
        assert_eq!(command.get_program(), "/bin/x");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["7", "plain"]);
        assert!(words.command(&["{compiler}"], &[]).is_none());
        let go = RUNTIMES.iter().find(|runtime| runtime.name == "go").unwrap();
        let cache = |words: &Substitutions<'_>| {
            let command = words.command(&["{program}"], go.variables).unwrap();
            command.get_envs().find(|(name, _)| *name == "GOCACHE").and_then(|(_, value)| value.map(ToOwned::to_owned))
        };
        assert_eq!(cache(&words), None);
        assert_eq!(cache(&Substitutions { cache: Some(Path::new("/y")), ..words }).unwrap(), "/y/go");
    }
}
