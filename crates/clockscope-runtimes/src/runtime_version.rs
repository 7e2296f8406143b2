//! A version out of what a program says of itself.

use std::path::{Path, PathBuf};

use crate::shortened::cut;

/// Longest line that stands for a version in which no number is found.
const MAX_VERSION_CHARS: usize = 40;

/// The version that is quoted, or else the first number with a point in it, of the lines that speak
/// of a version or of the program by its title, or of all others if none does; lines that warn are
/// left out. Of .NET, which lists all that it has, the newest.
pub(crate) fn version(text: &str, title: &str) -> String {
    if let Some((newest, _)) = newest(text) {
        return cut(newest, MAX_VERSION_CHARS);
    }
    let title = title.to_lowercase();
    let lines = text.lines().map(str::to_lowercase);
    let lines: Vec<String> =
        lines.filter(|line| !["warning", "picked up", "deprecat"].iter().any(|word| line.contains(word))).collect();
    let speaking = lines.iter().filter(|line| line.contains("version") || line.contains(&title));
    let numbered = speaking.chain(&lines).find_map(|line| quoted(line).or_else(|| number(line)));
    numbered.map(str::to_owned).unwrap_or_else(|| {
        cut(text.lines().find(|line| !line.trim().is_empty()).unwrap_or("unknown"), MAX_VERSION_CHARS)
    })
}

/// The folder of .NET's own assemblies, of the newest runtime that `dotnet --list-runtimes` shows.
pub(crate) fn framework(text: &str) -> Option<PathBuf> {
    let (version, folder) = newest(text)?;
    Some(Path::new(folder).join(version))
}

/// The newest runtime that `dotnet --list-runtimes` shows, and the folder of all versions.
fn newest(text: &str) -> Option<(&str, &str)> {
    let runtimes = text.lines().filter_map(|line| {
        let (version, folder) = line.strip_prefix("Microsoft.NETCore.App ")?.split_once(' ')?;
        Some((version, folder.trim().strip_prefix('[')?.strip_suffix(']')?))
    });
    runtimes.max_by_key(|(version, _)| {
        let (numbers, preview) = version.split_once('-').map_or((*version, false), |(numbers, _)| (numbers, true));
        let numbers: Vec<u64> = numbers.split('.').map(|number| number.parse().unwrap_or(0)).collect();
        (numbers, !preview)
    })
}

/// The version in quotes behind the word: `openjdk version "25-ea"`, which may have no point in it.
fn quoted(line: &str) -> Option<&str> {
    let (_, quoted) = line.split_once("version \"")?;
    let (version, _) = quoted.split_once('"')?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.len() <= MAX_VERSION_CHARS
        && version.chars().all(|c| c.is_ascii_alphanumeric() || ".+-_".contains(c));
    is_version.then_some(version)
}

/// The first run of digits with points between them.
fn number(line: &str) -> Option<&str> {
    let runs = line.split(|c: char| !c.is_ascii_digit() && c != '.').map(|run| run.trim_matches('.'));
    runs.into_iter().find(|run| run.contains('.') && run.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_framework_is_found() {
        let text = "Microsoft.AspNetCore.App 8.0.1 [/a]\nMicrosoft.NETCore.App 3.1.23 [/opt/dot net/shared/App]\nMicrosoft.NETCore.App 8.0.1 [/opt/dot net/shared/App]\nX 9 [/b]\n";
        assert_eq!(framework(text).as_deref(), Some(Path::new("/opt/dot net/shared/App/8.0.1")));
        assert_eq!(version(text, ".NET"), "8.0.1");
        assert_eq!(framework("Python 3.11"), None);
        let text = "Microsoft.NETCore.App 10.0.0-rc.1 [/a]\nMicrosoft.NETCore.App 10.0.0 [/b]\nMicrosoft.NETCore.App 9.0.4 [/b]\n";
        assert_eq!((version(text, ".NET").as_str(), framework(text)), ("10.0.0", Some("/b/10.0.0".into())));
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (text, title, expected) in [
            (
                "cc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n",
                "C",
                "12.2.0",
            ),
            ("go version go1.26.8 linux/amd64\n", "Go", "1.26.8"),
            (
                "Picked up JAVA_TOOL_OPTIONS: -Dx=1.5\nopenjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime",
                "Java",
                "17.0.15",
            ),
            ("openjdk version \"21\" 2023-09-19\nOpenJDK Runtime Environment (build 21+35-2513)\n", "Java", "21"),
            ("openjdk version \"25-ea\" 2025-09-16\nOpenJDK 64-Bit Server VM 1.5\n", "Java", "25-ea"),
            ("java version \"1.8.0_392\"\n", "Java", "1.8.0_392"),
            ("version \"best\" of 1.2\n", "X", "1.2"),
            ("\u{1b}[2Jodd\u{202e}one\n", "X", "[2Jodd one"),
            ("v20.20.2\n", "Node.js", "20.20.2"),
            ("Python 3.11.7\n", "Python", "3.11.7"),
            ("Mono JIT compiler version 6.8.0.105 (Debian 6.8.0.105+dfsg-3.3)\n", "Mono", "6.8.0.105"),
            ("ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]\n", "Ruby", "3.1.2"),
            ("\nThis is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64\n", "Perl", "5.36.0"),
            ("PHP 8.2.29 (cli) (built: Jul  3 2025 16:16:05) (NTS)\n", "PHP", "8.2.29"),
            (
                "warning: 9.9 is old\nChromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)\n",
                "Chromium",
                "156.0.8078.79",
            ),
            ("something else\n", "X", "something else"),
            ("", "X", "unknown"),
        ] {
            assert_eq!(version(text, title), expected);
        }
    }
}
