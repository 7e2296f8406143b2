//! Suggestions for words that name no clock: what was probably meant.

use crate::usage::nearest;

/// Paths of clocks that have several.
const PATHS: [&str; 3] = ["libc", "vdso", "syscall"];

/// Words that users try, and commands that answer them.
const SYNONYMS: &[(&str, &str)] = &[
    ("accuracy", "compare --clock or rate"),
    ("baseline", "measure --save"),
    ("bench", "measure"),
    ("benchmark", "measure"),
    ("cost", "measure"),
    ("diff", "compare"),
    ("interrupts", "gaps"),
    ("latency", "measure or sleep"),
    ("offsets", "order --offsets"),
    ("replay", "report"),
    ("resolution", "steps"),
    ("run", "measure"),
    ("shootout", "compare --clock"),
    ("show", "report or list"),
    ("skew", "order --offsets"),
    ("sync", "order --offsets"),
    ("test", "check"),
    ("trust", "check"),
    ("usleep", "sleep"),
    ("verify", "check"),
    ("version", "--version"),
];

/// Calls that read several clocks, which have names of their own.
const CALLS: &[&str] = &["clock_gettime", "clock_getres", "clock_nanosleep"];

/// Returns the commands that are meant by a word that is none.
pub(crate) fn synonym(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    SYNONYMS.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant)
}

/// Returns the error of a word that cannot be a clock's name, with what to write instead; `None`
/// for a word that may be one.
pub(crate) fn not_a_name(word: &str, known: &[String]) -> Option<String> {
    if word.trim().is_empty() {
        return Some("the clock's name is empty: name one, or leave it out".to_owned());
    }
    joined(word).or_else(|| missing_path(word, known)).or_else(|| call(word))
}

/// Names with commas between them.
fn joined(word: &str) -> Option<String> {
    let names: Vec<&str> = word.split(',').filter(|name| !name.is_empty()).collect();
    word.contains(',').then(|| format!("{word}: separate clocks by blanks: {}", names.join(" ")))
}

/// A path that a known clock does not have.
fn missing_path(word: &str, known: &[String]) -> Option<String> {
    let (name, path) = word.split_once(':')?;
    let lower = name.to_lowercase();
    if !known.contains(&lower) {
        return None;
    }
    let hint = nearest(path, PATHS.iter().map(|path| (*path).to_owned()));
    let path = if path.is_empty() { "without a name".to_owned() } else { path.to_owned() };
    Some(format!("{lower} has no path {path}; {hint}`clockscope list {lower} --via all` shows its paths"))
}

/// A call that reads several clocks.
fn call(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    CALLS.contains(&lower.as_str()).then(|| {
        format!(
            "{lower} reads several clocks: name one, such as monotonic or realtime; `clockscope list` shows all clocks"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_no_names_are_explained() {
        let known = ["tsc".to_owned(), "monotonic".to_owned()];
        let of = |word: &str| not_a_name(word, &known);
        assert_eq!(of(" ").as_deref(), Some("the clock's name is empty: name one, or leave it out"));
        assert_eq!(of("tsc,monotonic").as_deref(), Some("tsc,monotonic: separate clocks by blanks: tsc monotonic"));
        assert!(of("TSC:vdso").is_some_and(|text| text.starts_with("tsc has no path vdso; ")));
        assert!(of("monotonic:sycall").is_some_and(|text| text.contains("no path sycall; did you mean syscall? ")));
        assert!(of("clock_gettime").is_some() && of("sundial:vdso").is_none() && of("s").is_none());
        assert_eq!([synonym("Trust"), synonym("tsc")], [Some("check"), None]);
    }
}
