//! Words of other programs, made fit for people.

use clockscope_records::printable;

/// Longest text that is shown.
const MAX_SHOWN_CHARS: usize = 200;

/// A line that may be long, or not meant for people.
pub(crate) fn shortened(line: &str) -> String {
    cut(line, MAX_SHOWN_CHARS)
}

/// The first `most` characters of a line, with spaces in place of those that steer a terminal or
/// turn the direction of writing.
pub(crate) fn cut(line: &str, most: usize) -> String {
    let printable = printable(line);
    let printable = printable.trim();
    if printable.chars().count() <= most {
        printable.to_owned()
    } else {
        printable.chars().take(most.saturating_sub(1)).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_gone_and_what_is_long_is_cut() {
        assert_eq!(shortened(" a\u{1b}[2Jb\tc\u{9b}d\u{7f}\r"), "a [2Jb c d");
        for steering in ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{61c}', '\u{2028}']
        {
            assert_eq!(shortened(&format!("x{steering}y{steering}")), "x y", "{steering:?}");
        }
        assert_eq!(shortened("µs → ümläut"), "µs → ümläut");
        assert_eq!(shortened(&"ä".repeat(200)), "ä".repeat(200));
        let long = shortened(&"ä".repeat(201));
        assert!(long.chars().count() == 200 && long.ends_with("ä…"));
        assert_eq!((cut("", 3).as_str(), cut("abcd", 0).as_str()), ("", "…"));
    }
}
