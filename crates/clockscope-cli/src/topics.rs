//! Documentation topics, shown by `clockscope help TOPIC`, and symptoms by a pasted line.
//!
//! # Add a topic
//!
//! 1. Add a link to the page to `topics/`, and a row to `src/topics/catalog.rs`.
//! 2. A page of a symptom begins with its lines in an example, then a paragraph that states what to
//!    do. `clockscope help LINE` searches these lines and the first cells of tables.
//! 3. Add lines that users paste to the page, and to `tests/cli/help/pasted.txt`.

mod catalog;
mod page;
mod search;

use std::borrow::Cow;
use std::ffi::OsString;

use anyhow::Result;

use crate::exit::Exit;
use crate::help;
use crate::output::Destination;
use crate::questions::{COMMANDS, Row};
use crate::terminal;
use crate::usage::{self, UsageError};
use catalog::{TOPICS, Topic};

/// The topic that lists all others.
const LIST: &str = "topics";
/// The word before a text that is looked up, whatever else it may be.
const SEARCH: &str = "search";
/// Columns by default.
const WIDTH: usize = 80;

/// Returns whether there is such a topic, or a symptom that the words are close to.
#[cfg(test)]
pub(crate) fn is_answered(words: &[String]) -> bool {
    let text = words.strip_prefix(&[SEARCH.to_owned()]).unwrap_or(words).join(" ");
    text == LIST || TOPICS.iter().any(|topic| topic.name == text) || search::found(&text, WIDTH).is_some()
}

/// Returns the names of all topics.
pub(crate) fn names() -> impl Iterator<Item = String> {
    std::iter::once(LIST).chain(TOPICS.iter().map(|topic| topic.name)).map(str::to_owned)
}

/// Shows what the words of the command line ask for by `help TOPIC`, `help LINE` or `help search
/// TEXT`. `None` if they ask for anything else.
pub(crate) fn answer(words: &[OsString]) -> Option<Result<Exit>> {
    let (help, words) = words.split_first()?;
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    if help == "help" && matches!(words.as_slice(), [word] if word == "-h" || word == "--help") {
        return Some(Destination::Stdout.write(&in_locale(about_help())).map(|()| Exit::Success));
    }
    let first = words.first().filter(|word| help == "help" && !is_option(word))?;
    let is_command = first == "help" || help::command().find_subcommand(first.as_ref()).is_some();
    if is_command && words.iter().skip(1).all(|word| is_option(word)) {
        return None;
    }
    let is_search = first == SEARCH;
    let text = words.iter().skip(usize::from(is_search)).map(AsRef::as_ref).collect::<Vec<&str>>().join(" ");
    let shown = match topic(&text).filter(|_| !is_search) {
        Some(topic) => Ok((topic, Exit::Success)),
        None => found(&text),
    };
    Some(shown.and_then(|(text, exit)| Destination::Stdout.write(&text).map(|()| exit)))
}

/// Explains `help` itself.
fn about_help() -> String {
    format!(
        "Explain a command, a topic or a pasted log line\n\n\
         Usage: clockscope help COMMAND       all options, with examples\n       \
         clockscope help TOPIC         a page of the documentation\n       \
         clockscope help LINE          the symptom that a line of a log shows\n       \
         clockscope help {SEARCH} TEXT   the same for any text\n\n\
         Commands: `clockscope -h`. Topics:\n\n{}",
        list(TOPICS.iter())
    )
}

/// Returns true for a word that is an option and not a negative number.
fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Returns the columns of the terminal.
fn width() -> usize {
    terminal::width().map_or(WIDTH, usize::from)
}

/// Returns the topic of a name.
fn topic(name: &str) -> Option<String> {
    let text = match TOPICS.iter().find(|topic| topic.name == name) {
        Some(topic) => shown(topic),
        None if name == LIST => format!("Topics of `clockscope help TOPIC`:\n\n{}", list(TOPICS.iter())),
        None => return None,
    };
    Some(in_locale(text))
}

/// Returns the symptoms that a text is close to, or all symptoms if there is none.
///
/// # Errors
///
/// The text is empty, or a single word that stands in no topic and in no symptom.
fn found(text: &str) -> Result<(String, Exit)> {
    if text.trim().is_empty() {
        return Err(UsageError(format!("help {SEARCH}: no text: paste a line of a log, or a number")).into());
    }
    if let Some(page) = search::found(text, width()) {
        return Ok((in_locale(page), Exit::Success));
    }
    if !text.trim().contains(char::is_whitespace) {
        return Err(UsageError(unknown(text)).into());
    }
    let list = list(TOPICS.iter().filter(|topic| topic.is_symptom()));
    let text = format!("No symptom has such a line. All symptoms, for `clockscope help TOPIC`:\n\n{list}");
    Ok((in_locale(text), Exit::Undetermined))
}

/// Returns a text in the letters that the terminal shows.
fn in_locale(text: String) -> String {
    if terminal::shows_unicode() { text } else { clockscope_report::ascii(&text) }
}

/// Returns the page. Links to other topics name the command that shows them, links to other sites
/// their address; others are their words alone.
fn shown(topic: &Topic) -> String {
    page::with_links(&page::without_comments(topic.text), |address| match topic.linked(address) {
        Some(name) => format!(" (`clockscope help {name}`)"),
        None if address.starts_with("http") => format!(" ({address})"),
        None => String::new(),
    })
}

/// Topics, each with its title.
fn list(topics: impl Iterator<Item = &'static Topic>) -> String {
    let longest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    topics.map(|topic| page::entry(topic.name, longest, &page::title(topic.text), width())).collect()
}

fn unknown(name: &str) -> String {
    let hint = usage::command_or_nearest(name, names().chain(COMMANDS.iter().map(Row::name)));
    format!("unknown topic: {name}; {hint}`clockscope help {LIST}` lists all topics, `clockscope -h` all commands")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symptom_is_a_topic() {
        let folder = clockscope_testing::project().join("docs/symptoms");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(name == "README" || TOPICS.iter().any(|topic| topic.name == name), "{name}");
        }
    }

    /// The files are links, which not every checkout has.
    #[test]
    fn topics_are_pages_of_the_documentation() {
        for topic in TOPICS {
            let project = clockscope_testing::project();
            let file = project.join("crates/clockscope-cli/topics").join(format!("{}.md", topic.name));
            let markdown = std::fs::read_to_string(project.join("docs").join(topic.page)).unwrap();
            assert_eq!(std::fs::read_to_string(file).unwrap(), markdown, "{}", topic.name);
            assert_eq!(topic.text, markdown, "{}", topic.name);
        }
    }

    /// Nothing is lost where only ASCII is shown.
    #[test]
    fn topics_have_words_in_ascii() {
        for topic in TOPICS {
            let text = shown(topic);
            let questions = |text: &str| text.matches('?').count();
            assert_eq!(questions(&clockscope_report::ascii(&text)), questions(&text), "{}", topic.name);
        }
    }

    /// A page for users of the program names no file that they lack.
    #[test]
    fn topics_name_no_file_of_the_documentation() {
        for topic in TOPICS {
            let text = shown(topic);
            assert!(text.lines().count() > 5, "{}", topic.name);
            let is_file = |word: &str| {
                word.starts_with("docs/") || TOPICS.iter().any(|topic| topic.page.rsplit('/').next() == Some(word))
            };
            let link = text
                .split_whitespace()
                .find(|word| word.contains("](") || is_file(word.trim_matches(['.', ',', ';', '(', ')', '`'])));
            assert_eq!(link, None, "{}", topic.name);
            assert!(!text.contains("<!--"), "{}", topic.name);
        }
    }

    #[test]
    fn no_topic_is_named_like_a_command() {
        let names = TOPICS.iter().map(|topic| topic.name).chain([LIST, SEARCH]);
        let command = help::command();
        let both: Vec<&str> = names.filter(|name| command.find_subcommand(name).is_some()).collect();
        assert!(both.is_empty(), "{both:?}");
    }

    #[test]
    fn words_that_are_no_topic() {
        let of = |words: &[&str]| answer(&words.iter().map(OsString::from).collect::<Vec<_>>()).is_some();
        assert!(!of(&["help"]) && !of(&["help", "measure"]) && !of(&["help", "jitter"]) && !of(&["tsc", "glossary"]));
        assert!(unknown("glosary").contains("did you mean glossary?"), "{}", unknown("glosary"));
        assert!(unknown("chek").contains("did you mean check?"), "{}", unknown("chek"));
    }

    #[test]
    fn links_lead_to_topics_by_their_files() {
        let topic = |name| TOPICS.iter().find(|topic| topic.name == name).unwrap();
        let of = |from: &'static str, target| topic(from).linked(target);
        assert_eq!(of("symptoms", "containers.md"), Some("containers"));
        assert_eq!(of("containers", "../guides/containers.md"), None);
        assert_eq!(of("containers", "README.md#numbers"), Some("symptoms"));
        assert_eq!([of("glossary", "records/README.md"), of("glossary", "method/cost.md")], [Some("records"), None]);
        assert_eq!([of("glossary", "#clocks"), of("glossary", "../reference/glossary.md")], [None; 2]);
    }
}
