//! Texts that come from outside: other programs, files of the system, records of other machines.

use std::borrow::Cow;

/// Returns true if a character steers a terminal, turns the direction of writing, or cannot be
/// seen: control characters; marks, embeddings, overrides and isolates of direction; separators and
/// spaces of no width; and the two that XML has no place for. Line breaks are among them.
///
/// Escapes and C1 controls are ECMA-48's; the others are of the Unicode Standard, annex 9 and
/// chapter 23.
#[must_use]
pub fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns the text with a space in place of each character that is steering: one line, as it
/// reads.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.contains(is_steering) { Cow::Owned(text.replace(is_steering, " ")) } else { Cow::Borrowed(text) }
}

/// Shows CPUs, in ascending order, as a list such as `0-3,8`.
#[must_use]
pub fn show_cpus(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus.iter().copied() {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let show = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(show).collect::<Vec<_>>().join(",")
}

/// Groups the digits of a count: 12,345,678.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(",")
}

/// Counts things: `1 pair`, `2 pairs`.
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let formatted = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(formatted, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "pair"), counted(0, "pair")], ["1 pair", "0 pairs"]);
    }

    #[test]
    fn cpus_are_listed_in_ranges() {
        assert_eq!(show_cpus(&[0, 1, 2, 8]), "0-2,8");
        assert_eq!(show_cpus(&[0, 2, 3, 5, u32::MAX]), "0,2-3,5,4294967295");
        assert_eq!(show_cpus(&[]), "");
    }

    #[test]
    fn what_steers_is_gone_and_what_is_read_stays() {
        assert_eq!(printable("a\u{1b}[2Jb\tc\u{9b}d\u{7f}\r\n"), "a [2Jb c d   ");
        for steering in ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{61c}', '\u{2028}']
        {
            assert_eq!(printable(&format!("x{steering}y")), "x y", "{steering:?}");
        }
        assert!(matches!(printable("µs → ümläut ±0.1 %"), Cow::Borrowed("µs → ümläut ±0.1 %")));
    }
}
