//! Manual pages of the command, as it prints them.

use anyhow::Result;

/// Returns the page of the program and that of each command, by the names of their files. `output`
/// returns what the program prints for arguments.
pub(crate) fn pages(output: impl Fn(&[&str]) -> Result<String>) -> Result<Vec<(String, String)>> {
    let main = output(&["man"])?;
    let mut pages = Vec::new();
    for name in commands(&main) {
        pages.push((format!("clockscope-{name}.1"), output(&["man", &name])?));
    }
    pages.push(("clockscope.1".to_owned(), main));
    Ok(pages)
}

/// Returns the commands whose pages a page names.
fn commands(page: &str) -> Vec<String> {
    let named = page.lines().filter_map(|line| line.strip_prefix("clockscope\\-")?.strip_suffix("(1)"));
    named.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_the_page_names_has_a_page() {
        let output = |words: &[&str]| match words {
            ["man"] => Ok(".TP\nclockscope\\-check(1)\nJudge\n".to_owned()),
            words => Ok(words.join(" ")),
        };
        let pages = pages(output).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, pages[0].1.as_str()), (vec!["clockscope-check.1", "clockscope.1"], "man check"));
    }
}
