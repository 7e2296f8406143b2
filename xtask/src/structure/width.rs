//! Comments and Markdown are at most 100 columns wide, so that they are read beside a difference.

/// The widest line, in characters.
const WIDEST: usize = 100;

/// Comments of a source file that are too wide. Examples are code, which rustfmt lays out.
pub(super) fn wide_comments(file: &str, text: &str) -> Vec<String> {
    let comments = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//"));
    let prose = comments.map(|(at, line)| (at, line, line.trim_start().trim_start_matches(['/', '!']).trim_start()));
    too_wide(file, prose)
}

/// Lines of a Markdown file that are too wide. Examples show what a program prints.
pub(super) fn wide_markdown(file: &str, text: &str) -> Vec<String> {
    too_wide(file, text.lines().enumerate().map(|(at, line)| (at, line, line.trim_start())))
}

/// Lines that are too wide, of those with their numbers and their prose. A table's row and a link
/// cannot be wrapped.
fn too_wide<'a>(file: &str, lines: impl Iterator<Item = (usize, &'a str, &'a str)>) -> Vec<String> {
    let mut is_example = false;
    let mut wrong = Vec::new();
    for (at, line, prose) in lines {
        if prose.starts_with("```") {
            is_example = !is_example;
        }
        let is_fixed = is_example || prose.starts_with('|') || prose.contains("](http") || prose.contains("<http");
        if !is_fixed && line.chars().count() > WIDEST {
            wrong.push(format!("{file}:{} is wider than {WIDEST} columns", at + 1));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lines_are_found_and_what_cannot_be_wrapped_is_not() {
        let wide = "word ".repeat(21);
        let comment =
            format!("    /// {wide}\nlet x = \"{wide}\";\n/// ```\n/// {wide}\n/// ```\n/// | {wide} |\n// {wide}\n");
        assert_eq!(
            wide_comments("a.rs", &comment),
            ["a.rs:1 is wider than 100 columns", "a.rs:7 is wider than 100 columns"]
        );
        let page = format!("{wide}\n```\n{wide}\n```\n| {wide} |\n[{wide}](https://x.example)\n");
        assert_eq!(wide_markdown("a.md", &page), ["a.md:1 is wider than 100 columns"]);
        // Characters count, not bytes.
        assert_eq!(wide_markdown("a.md", &"µ".repeat(100)), [""; 0]);
    }
}
