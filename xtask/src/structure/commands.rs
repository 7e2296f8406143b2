//! Commands in the documentation run as printed: no other program cuts what clockscope prints.

/// Programs that cut or search text.
const CUTTERS: [&str; 5] = ["awk", "grep", "head", "sed", "tail"];

/// Documented commands of a Markdown file whose output such a program cuts.
pub(super) fn cut(file: &str, text: &str) -> Vec<String> {
    let commands = text.lines().enumerate().filter(|(_, line)| {
        let words = line.trim_start().trim_start_matches("$ ").trim_start_matches("sudo ");
        words.starts_with("clockscope ") || words.starts_with("cargo ")
    });
    commands
        .filter_map(|(at, line)| {
            let mut programs = line.split('|').skip(1).filter_map(|part| part.split_whitespace().next());
            let cutter = programs.find(|program| CUTTERS.contains(program))?;
            Some(format!("{file}:{} cuts an output by {cutter}; use the command's own options", at + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_pipes_are_found_and_other_ones_are_not() {
        let page = "```\n$ clockscope check -q | head -29\n$ sudo clockscope order | sort | grep tsc\n\
                    clockscope info\n$ dmesg | grep tsc\n$ clockscope man | man -l -\n```\n| `clockscope` | head |\n";
        assert_eq!(
            cut("a.md", page),
            [
                "a.md:2 cuts an output by head; use the command's own options",
                "a.md:3 cuts an output by grep; use the command's own options",
            ]
        );
    }
}
