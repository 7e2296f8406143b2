//! Symptoms by a line of a log, or by a number.
//!
//! Pages name the lines that they are about: in the example below the title, and in the first cells
//! of tables. A pasted line is close to one of these if the two share a run of rare words.
//! Timestamps, numbers and names of hosts do not matter.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{INDEX, TOPICS, Topic};
use super::page::{self, Part};

/// Most pages of an answer.
const MAX_PAGES: usize = 3;
/// The share of the best page's score that another page needs.
const MIN_SCORE_SHARE: f64 = 0.75;
/// The weight that a shared run of words needs.
const MIN_RUN_WEIGHT: f64 = 9.0;
/// The share of the lighter of two texts that a run needs.
const MIN_RUN_SHARE: f64 = 0.35;
/// The share that a run of one or two words needs.
const MIN_PAIR_SHARE: f64 = 0.6;
/// The factor of the score of a row that explains its line.
const EXPLAINED_FACTOR: f64 = 1.25;
/// Most words of a short text: `0x2041`, `15.6 ms`, `TSC warp`.
const MAX_SHORT_WORDS: usize = 3;
/// The weight that the words of a short text need.
const MIN_SHORT_WEIGHT: f64 = 3.0;
/// The factor of the score of a line that a short text is found in, relative to other text.
const PASTED_FACTOR: f64 = 2.0;

/// A line, a paragraph or a cell of a page.
struct Line {
    text: String,
    words: Vec<String>,
    /// The other cells of the row.
    explanation: String,
    /// The symptoms that it is about.
    topics: Vec<&'static Topic>,
    kind: LineKind,
}

/// The way in which users look for a line.
#[derive(Clone, Copy, PartialEq)]
enum LineKind {
    /// They paste such lines.
    Pasted,
    /// They look for its words.
    Prose,
}

impl Line {
    fn is_explained(&self) -> bool {
        !self.explanation.is_empty()
    }
}

/// The lines of all pages.
#[derive(Default)]
struct Index {
    lines: Vec<Line>,
    /// The number of lines with each word.
    counts: BTreeMap<String, usize>,
}

/// A page, by its closest line.
struct Found<'a> {
    topic: &'static Topic,
    line: &'a Line,
    score: f64,
    close_lines: usize,
}

/// Returns the closest symptoms in so many columns; `None` if no symptom is close.
pub(super) fn found(text: &str, width: usize) -> Option<String> {
    Index::of_topics().page(text, width)
}

impl Found<'_> {
    /// Returns the title, the line, its meaning, what to do, and where to read on.
    fn page(&self, width: usize) -> String {
        let title = page::title(self.topic.text);
        let line = self.line.text.replace('`', "");
        let more = format!("More: `clockscope help {}`", self.topic.name);
        let texts = [&self.line.explanation, &answer(self.topic), &more];
        let texts = texts.iter().filter(|text| !text.is_empty()).map(|text| page::paragraph(text, width));
        format!("{title}\n\n    {line}\n\n{}", texts.collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the first paragraph of a page, which states what to do.
fn answer(topic: &Topic) -> String {
    let text = page::parts(topic.text).into_iter().find_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    text.unwrap_or_default()
}

impl Index {
    fn of_topics() -> Self {
        let mut index = Self::default();
        for topic in TOPICS {
            index.add_page(topic);
        }
        index
    }

    fn page(&self, text: &str, width: usize) -> Option<String> {
        let mut found = self.found(text);
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.close_lines.cmp(&a.close_lines)));
        let best = found.first()?.score;
        let close = found.iter().take(MAX_PAGES).take_while(|found| found.score >= MIN_SCORE_SHARE * best);
        Some(close.map(|found| found.page(width)).collect::<Vec<_>>().join("\n"))
    }

    fn add_page(&mut self, topic: &'static Topic) {
        let is_index = topic.name == INDEX;
        let is_symptom = topic.is_symptom();
        let own = if is_symptom { vec![topic] } else { Vec::new() };
        let mut headings = 0;
        for part in page::parts(topic.text) {
            headings += usize::from(matches!(part, Part::Heading(_)));
            match part {
                Part::Heading(text) | Part::ExampleLine(text) => {
                    let kind = if is_symptom && headings == 1 { LineKind::Pasted } else { LineKind::Prose };
                    self.add(&text, "", &own, kind);
                }
                Part::Text(text) => self.add(&text, "", &own, LineKind::Prose),
                Part::Row(cells) => {
                    let (texts, addresses): (Vec<String>, Vec<Vec<String>>) = cells.into_iter().unzip();
                    let linked = addresses.iter().flatten().filter_map(|address| topic.linked_topic(address));
                    let topics = if is_index { linked.collect() } else { own.clone() };
                    let first = texts.first().map(String::as_str).unwrap_or_default();
                    let others = texts.get(1..).unwrap_or_default().join("; ");
                    self.add(&others, "", &topics, LineKind::Prose);
                    let kind = if topics.is_empty() { LineKind::Prose } else { LineKind::Pasted };
                    self.add(first, if is_index { "" } else { &others }, &topics, kind);
                }
            }
        }
    }

    fn add(&mut self, text: &str, explanation: &str, topics: &[&'static Topic], kind: LineKind) {
        let words = words(text);
        if words.is_empty() {
            return;
        }
        for word in words.iter().collect::<BTreeSet<_>>() {
            *self.counts.entry(word.clone()).or_default() += 1;
        }
        let [text, explanation] = [text.trim(), explanation].map(str::to_owned);
        self.lines.push(Line { text, words, explanation, topics: topics.to_vec(), kind });
    }

    /// Returns the pages that are close to one of the lines of a text.
    fn found(&self, text: &str) -> Vec<Found<'_>> {
        let queries: Vec<Vec<String>> = text.lines().map(words).filter(|words| !words.is_empty()).collect();
        let mut found: Vec<Found<'_>> = Vec::new();
        for line in self.lines.iter().filter(|line| !line.topics.is_empty()) {
            let mut score: f64 = queries.iter().map(|query| self.score(query, line)).fold(0.0, f64::max);
            if let [query] = queries.as_slice() {
                score = score.max(self.short_score(query, line));
            }
            for topic in line.topics.iter().filter(|_| score > 0.0) {
                match found.iter_mut().find(|found| found.topic.name == topic.name) {
                    None => found.push(Found { topic, line, score, close_lines: 1 }),
                    Some(page) if (page.score, page.line.is_explained()) < (score, line.is_explained()) => {
                        (page.line, page.score) = (line, score);
                    }
                    Some(page) => page.close_lines += 1,
                }
            }
        }
        found
    }

    /// Returns the weight of the run of words that a pasted line shares with another; 0 if the two
    /// are not close.
    fn score(&self, query: &[String], line: &Line) -> f64 {
        let [query, words]: [Vec<&String>; 2] =
            [query, &line.words].map(|words| words.iter().filter(|word| !is_number(word)).collect());
        let [whole_query, whole_line]: [f64; 2] =
            [&query, &words].map(|words| words.iter().map(|word| self.weight(word)).sum());
        let (weight, length) = self.heaviest_run(&query, &words);
        let min_share = if length <= 2 { MIN_PAIR_SHARE } else { MIN_RUN_SHARE };
        let is_close = weight >= MIN_RUN_WEIGHT && weight >= min_share * whole_query.min(whole_line);
        if line.kind != LineKind::Pasted || !is_close {
            0.0
        } else if line.is_explained() {
            EXPLAINED_FACTOR * weight
        } else {
            weight
        }
    }

    /// Returns the weight of a short text all of whose words a line has; 0 for other texts.
    /// Decimal numbers that are on no page do not count.
    fn short_score(&self, query: &[String], line: &Line) -> f64 {
        let known: Vec<&String> =
            query.iter().filter(|word| !is_number(word) || self.counts.contains_key(*word)).collect();
        let weight: f64 = known.iter().map(|word| self.weight(word)).sum();
        let is_short = query.iter().filter(|word| !is_number(word)).count() <= MAX_SHORT_WORDS;
        let is_found = is_short && weight >= MIN_SHORT_WEIGHT && known.iter().all(|word| line.words.contains(word));
        if !is_found {
            0.0
        } else if line.kind == LineKind::Pasted {
            PASTED_FACTOR * weight
        } else {
            weight
        }
    }

    /// Returns the weight and the length of the heaviest run of words that two texts share.
    fn heaviest_run(&self, one: &[&String], other: &[&String]) -> (f64, usize) {
        let mut heaviest = (0.0, 0);
        let mut runs = vec![(0.0, 0); other.len()];
        for word in one {
            let mut before = (0.0, 0);
            for (run, candidate) in runs.iter_mut().zip(other) {
                let (weight, length) = std::mem::replace(&mut before, *run);
                *run = if candidate == word { (weight + self.weight(word), length + 1) } else { (0.0, 0) };
                if run.0 > heaviest.0 {
                    heaviest = *run;
                }
            }
        }
        heaviest
    }

    /// Returns the weight of a word: the rarer, the heavier.
    #[allow(clippy::cast_precision_loss, reason = "thousands of lines")]
    fn weight(&self, word: &str) -> f64 {
        let count = self.counts.get(word).copied().unwrap_or(1);
        (self.lines.len() as f64 / count as f64).ln()
    }
}

/// Returns true for a decimal number. A hexadecimal one is a name.
fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit()) && !word.starts_with("0x")
}

/// Returns the words and numbers of a text in lower case. Units and parts of identifiers are words:
/// `15.6ms`, `TIME_ERROR`, `NodeClock`. Numbers at the end of a word are left out, and so are words
/// with a number inside, such as addresses.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for piece in text.split(|letter: char| !letter.is_alphanumeric() && letter != '.' && letter != ',') {
        let is_value = piece.starts_with(|letter: char| letter.is_ascii_digit());
        let parts = piece.split(|letter: char| !is_value && (letter == '.' || letter == ','));
        parts.for_each(|part| add_words(part.trim_matches(['.', ',']), &mut words));
    }
    words
}

fn add_words(piece: &str, words: &mut Vec<String>) {
    if piece.starts_with("0x") && piece.chars().skip(2).all(|digit| digit.is_ascii_hexdigit()) {
        words.push(piece.to_ascii_lowercase());
        return;
    }
    let unit = piece.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',');
    let (number, word) = match piece.strip_suffix(unit) {
        Some("") | None => ("", unit.trim_end_matches(|letter: char| letter.is_ascii_digit())),
        Some(number) => (number, unit),
    };
    if word.contains(|letter: char| letter.is_ascii_digit()) {
        return;
    }
    if !number.is_empty() {
        words.push(number.replace(',', ""));
    }
    let mut part = String::new();
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        part.extend(letter.to_lowercase());
        if letters.peek().is_none_or(|next| next.is_uppercase() && letter.is_lowercase()) {
            words.push(std::mem::take(&mut part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line of tests/cli/help/pasted.txt has the page that it leads to, and a line.
    const PASTED: &str = include_str!("../../tests/cli/help/pasted.txt");
    /// Lines of logs that are not about clocks.
    const UNRELATED: &str = include_str!("../../tests/cli/help/unrelated.txt");

    static INDEX_OF_TOPICS: std::sync::LazyLock<Index> = std::sync::LazyLock::new(Index::of_topics);

    /// Returns the first topic that a text leads to.
    fn first(text: &str) -> Option<String> {
        let page = INDEX_OF_TOPICS.page(text, 80)?;
        let (_, more) = page.split_once("More: `clockscope help ").unwrap();
        more.split('`').next().map(str::to_owned)
    }

    fn pasted() -> impl Iterator<Item = (&'static str, &'static str)> {
        PASTED.lines().map(|line| line.split_once('|').unwrap())
    }

    /// Returns a line with other decimal digits.
    fn renumbered(line: &str) -> String {
        let other = |letter: char| match letter.to_digit(10) {
            Some(digit @ 1..) => char::from_digit(digit * 7 % 9 + 1, 10).unwrap(),
            _ => letter,
        };
        line.chars().map(other).collect()
    }

    #[test]
    fn pasted_lines_lead_to_their_pages() {
        assert!(pasted().count() > 60);
        for (topic, line) in pasted() {
            let of_host = format!("Nov 28 03:12:44 web-17 kernel: [335323.813890] {}", renumbered(line));
            let of_container = format!("2026-11-28T03:12:44.522403Z web_1 | {line}\r\n");
            for text in [line, &of_host, &of_container] {
                assert_eq!(first(text).as_deref(), Some(topic), "{text}");
            }
        }
    }

    #[test]
    fn one_of_several_lines_is_enough() {
        let text = "[    1.000000] usb 1-1: new high-speed USB device\n[    2.0] arch_timer: CPU3: Trapping CNTVCT access\n}\n";
        assert_eq!(first(text).as_deref(), Some("cntvct-trapped"));
    }

    #[test]
    fn short_texts_and_numbers_lead_to_pages() {
        for (text, topic) in [
            ("0x2041", "unsynchronized-host"),
            ("0x41", "unsynchronized-host"),
            ("TIME_ERROR", "unsynchronized-host"),
            ("NodeClockNotSynchronising", "unsynchronized-host"),
            ("-8960 PPM", "wrong-rate"),
            ("exceeds tolerance", "wrong-rate"),
            ("15.6 ms", "windows-timer-period"),
            ("41.7ns", "zero-ns-benchmark"),
            ("took zero time", "zero-ns-benchmark"),
            ("TSC ADJUST differs", "tsc-adjust"),
            ("Trapping CNTVCT", "cntvct-trapped"),
            ("refined-jiffies", "boot-lines"),
            ("TSC warp", "tsc-unstable"),
            ("clock goes backwards", "negative-durations"),
        ] {
            assert_eq!(first(text).as_deref(), Some(topic), "{text}");
        }
    }

    #[test]
    fn unrelated_text_leads_to_no_page() {
        assert!(UNRELATED.lines().count() > 30);
        for text in UNRELATED.lines().chain([UNRELATED, "", " ", "\n", "0x", "12345", "[]"]) {
            assert_eq!(first(text), None, "{text}");
        }
    }

    #[test]
    fn every_symptom_has_lines_and_an_answer() {
        for topic in TOPICS.iter().filter(|topic| topic.is_symptom()) {
            let lines = INDEX_OF_TOPICS
                .lines
                .iter()
                .filter(|line| line.kind == LineKind::Pasted && line.topics.iter().any(|own| own.name == topic.name));
            assert!(lines.count() > 2, "{}", topic.name);
            let answer = answer(topic);
            assert!(answer.ends_with('.') && answer.len() < 400, "{}: {answer}", topic.name);
            let parts = page::parts(topic.text);
            assert!(matches!(parts[..2], [Part::Heading(_), Part::ExampleLine(_)]), "{}", topic.name);
        }
    }

    #[test]
    fn words_of_texts() {
        let of = |text: &str| words(text).join(" ");
        assert_eq!(of("CPU15: 83,333 --> 1.5ms, TIME_ERROR: 0x2F;"), "cpu 83333 1.5 ms time error 0x2f");
        assert_eq!(
            of("NodeClock of server.go:12, TSCs x86_64 \u{b5}s"),
            "node clock of server go 12 tscs x 64 \u{b5}s"
        );
        assert_eq!(of("at 74ca94f19b5 ffffd4a5c 1h2m [1.9s/11968ms]"), "at 1.9 s 11968 ms");
        assert_eq!(of("\u{1b}[0m .,. 0x 0xg"), "0 m 0x 0 xg");
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_an_answer_or_none(text in r"([a-zA-Z0-9 _.,:\n-]|\PC){0,80}") {
            words(&text);
            INDEX_OF_TOPICS.page(&text, 80);
        }
    }
}
