//! The string literals of a source file.

/// Lists the string literals of Rust source with the lines, from 1, where they begin. Escapes
/// become spaces: only words matter.
pub(super) fn of(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut remaining = source;
    while let Some(first) = remaining.chars().next() {
        let length = if remaining.starts_with("//") {
            remaining.find('\n').unwrap_or(remaining.len())
        } else if remaining.starts_with("r\"") || remaining.starts_with("r#") {
            raw(remaining).map_or(1, |(inside, length)| {
                found.push((line, inside.to_owned()));
                length
            })
        } else if first == '"' {
            let (inside, length) = escaped(remaining);
            found.push((line, inside));
            length
        } else if first == '\'' {
            character(remaining)
        } else if first.is_alphanumeric() || first == '_' {
            // A word that ends with r, or the letter of b"…" and c"…".
            let word = remaining.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(remaining.len());
            if remaining[..word] == *"br" || remaining[..word] == *"cr" { 1 } else { word }
        } else {
            first.len_utf8()
        };
        line += remaining[..length].matches('\n').count();
        remaining = &remaining[length..];
    }
    found
}

/// Content of a raw literal, and its length in all.
fn raw(text: &str) -> Option<(&str, usize)> {
    let hashes = text[1..].chars().take_while(|c| *c == '#').count();
    let start = 1 + hashes + 1;
    text[1 + hashes..].starts_with('"').then_some(())?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = text[start..].find(&end)?;
    Some((&text[start..start + length], start + length + end.len()))
}

/// Content of a literal with escapes, and its length in all. A continued line is one space.
fn escaped(text: &str) -> (String, usize) {
    let mut inside = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (inside, at + 1),
            '\\' => {
                let next = characters.next();
                inside.push(' ');
                if next.is_some_and(|(_, next)| next == '\n') {
                    while characters.next_if(|(_, blank)| blank.is_whitespace()).is_some() {}
                }
            }
            other => inside.push(other),
        }
    }
    (inside, text.len())
}

/// The length of a character literal, or of the apostrophe of a lifetime.
fn character(text: &str) -> usize {
    let mut inside = text[1..].chars();
    let end = match inside.next() {
        Some('\\') => text[3.min(text.len())..].find('\'').map(|at| 3 + at + 1),
        Some(one) => (inside.next() == Some('\'')).then_some(2 + one.len_utf8()),
        None => None,
    };
    end.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_their_lines() {
        let source =
            "f(\"a \\\"b\\\" \\\n   c\"); // \"no\"\nlet x: &'a str = br#\"one \"two\"\"#; g('\"', '\\'', \"\nd\")";
        assert_eq!(of(source), [(1, "a  b   c".to_owned()), (3, "one \"two\"".to_owned()), (3, "\nd".to_owned())]);
    }
}
