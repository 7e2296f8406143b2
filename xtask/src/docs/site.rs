//! The pages below docs/ as a site that needs no other host: mdBook makes it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::links::{self, Link};
use super::{commands, keys};
use crate::{folder, run};

/// The folder of the pages.
const PAGES: &str = "docs";
/// The table of contents.
const CONTENTS: &str = "docs/SUMMARY.md";
/// Pages for those who change the program: not part of the site.
const LEFT_OUT: &str = "docs/decisions";
/// Settings of mdBook.
const SETTINGS: &str = "docs/book.toml";
/// The most words of a page, without its examples and tables, that a reader takes in at once.
const MOST_WORDS: usize = 1_200;
/// A page that is looked up, not read.
const GLOSSARY: &str = "docs/reference/glossary.md";
/// The lines in whose place the site has a long reference, which is made from the program.
const COMMANDS: &str = "<!-- in the site: commands -->\n";
const KEYS: &str = "<!-- in the site: keys of documents -->\n";

/// Builds the site and returns its folder.
pub(crate) fn build() -> Result<PathBuf> {
    let source = PathBuf::from(run::built("site/source"));
    let site = PathBuf::from(run::built("site/html"));
    for folder in [&source, &site] {
        folder::remove(folder)?;
    }
    for file in folder::files(Path::new(PAGES), |path| path == Path::new(LEFT_OUT))? {
        let copy = source.join(&file);
        fs::create_dir_all(copy.parent().context("a file below a folder")?)?;
        if file.extension().is_some_and(|extension| extension == "md") {
            let page = file.to_string_lossy();
            fs::write(&copy, with_addresses(&page, &with_references(&fs::read_to_string(&file)?)?))?;
        } else {
            fs::copy(&file, &copy).with_context(|| format!("cannot copy {}", file.display()))?;
        }
    }
    let book = source.join(PAGES);
    let [book, destination] = [book, std::path::absolute(&site)?].map(|path| path.to_string_lossy().into_owned());
    run::tool("mdbook", &["build", &book, "--dest-dir", &destination])?;
    correct(&site)?;
    Ok(site)
}

/// A page with the references that are made for the site.
fn with_references(text: &str) -> Result<String> {
    if text.contains(COMMANDS) {
        return Ok(text.replace(COMMANDS, &commands::sections()?));
    }
    if text.contains(KEYS) {
        return Ok(text.replace(KEYS, &keys::tables("documents")?));
    }
    Ok(text.to_owned())
}

/// Corrects all pages of a site. Fails if none has a part that is to be replaced: another version
/// of mdBook writes it otherwise.
fn correct(site: &Path) -> Result<()> {
    let mut unused: Vec<&str> = ACCESSIBLE.iter().map(|(from, _)| *from).collect();
    let pages = folder::files(site, |path| path.is_file() && path.extension().is_none_or(|ending| ending != "html"))?;
    for page in &pages {
        let text = fs::read_to_string(page)?;
        unused.retain(|from| !text.contains(from));
        fs::write(page, corrected(&text))?;
    }
    match unused.as_slice() {
        [] => Ok(()),
        [first, ..] => bail!("mdBook writes no {first:?}: adapt ACCESSIBLE in xtask/src/docs/site.rs"),
    }
}

/// Replacements in links: mdBook writes a README.md as index.html, and does not change links to it.
const INDEXES: [(&str, &str); 2] = [("README.html\"", "index.html\""), ("README.html#", "index.html#")];

/// Replacements for keyboards and screen readers in mdBook's pages, by axe-core's rules.
const ACCESSIBLE: [(&str, &str); 7] = [
    ("<div id=\"mdbook-menu-bar\"", "<div role=\"banner\" id=\"mdbook-menu-bar\""),
    ("<div id=\"mdbook-search-wrapper\"", "<div role=\"search\" id=\"mdbook-search-wrapper\""),
    ("<input type=\"search\"", "<input type=\"search\" aria-label=\"Search\""),
    // The keyboard does not reach a label.
    (
        "<label id=\"mdbook-sidebar-toggle\" class=\"icon-button\" for=\"mdbook-sidebar-toggle-anchor\"",
        "<button type=\"button\" id=\"mdbook-sidebar-toggle\" class=\"icon-button\" \
         onclick=\"document.getElementById('mdbook-sidebar-toggle-anchor').click()\"",
    ),
    ("</label>", "</button>"),
    // Examples and tables that are too wide scroll.
    ("<pre><code", "<pre><code tabindex=\"0\""),
    (
        "<div class=\"table-wrapper\">",
        "<div class=\"table-wrapper\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">",
    ),
];

/// A page of the site whose links lead to pages, and that can be read without a mouse.
fn corrected(page: &str) -> String {
    INDEXES.iter().chain(&ACCESSIBLE).fold(page.to_owned(), |page, (from, to)| page.replace(from, to))
}

/// A page whose links to files that are not of the site lead to the repository.
fn with_addresses(page: &str, text: &str) -> String {
    let mut text = text.to_owned();
    let mut found = links::links(&text);
    found.sort_by_key(|link| std::cmp::Reverse((link.range.start, link.range.end)));
    for link in found {
        if let Some(address) = repository_address(page, &link) {
            let (before, of_link) = text.split_at(link.range.start);
            let (of_link, after) = of_link.split_at(link.range.len());
            let Some((words, end)) = of_link.rsplit_once(&link.address) else { continue };
            text = format!("{before}{words}{address}{end}{after}");
        }
    }
    text
}

/// The address of a file of the repository that is not of the site.
fn repository_address(page: &str, link: &Link) -> Option<String> {
    let (target, anchor) = link.target(page).filter(|_| !link.address.contains("://"))?;
    if target.starts_with(PAGES) && !target.starts_with(LEFT_OUT) {
        return None;
    }
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    Some(format!("{}{}{anchor}", links::REPOSITORY, target.display()))
}

/// Pages that the table of contents does not have, and pages that are too long.
pub(super) fn wrong_pages(pages: &[(String, String)]) -> Result<Vec<String>> {
    let contents = fs::read_to_string(CONTENTS).with_context(|| format!("cannot read {CONTENTS}"))?;
    if !Path::new(SETTINGS).is_file() {
        bail!("{SETTINGS} is missing: mdBook's settings");
    }
    let listed: Vec<PathBuf> =
        links::links(&contents).iter().filter_map(|link| Some(link.target(CONTENTS)?.0)).collect();
    let of_site = pages.iter().filter(|(page, _)| page.starts_with("docs/") && !page.starts_with(LEFT_OUT));
    let mut wrong = Vec::new();
    for (page, text) in of_site.filter(|(page, _)| page != CONTENTS) {
        if !listed.iter().any(|listed| listed == Path::new(page)) {
            wrong.push(format!("{CONTENTS} does not list {page}"));
        }
        let words = words(text);
        if words > MOST_WORDS && page != GLOSSARY {
            wrong.push(format!("{page} has {words} words, more than {MOST_WORDS}: split it"));
        }
    }
    Ok(wrong)
}

/// Words outside of examples and tables, which readers look things up in.
fn words(text: &str) -> usize {
    let parts = text.split("\n```").step_by(2);
    let lines = parts.flat_map(str::lines).filter(|line| !line.starts_with('|'));
    lines.map(|line| line.split_whitespace().count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_site_lead_to_the_repository() {
        let page = "[a](../../bench/README.md#x), [b](../start/install.md), [c](../decisions/README.md)\n";
        let expected = "[a](https://github.com/clockscope/clockscope/blob/HEAD/bench/README.md#x), \
                        [b](../start/install.md), \
                        [c](https://github.com/clockscope/clockscope/blob/HEAD/docs/decisions/README.md)\n";
        assert_eq!(with_addresses("docs/guides/a.md", page), expected);
    }

    #[test]
    fn links_to_the_first_page_of_a_folder_lead_to_its_index() {
        let page = "<a href=\"../symptoms/README.html\">a</a> <a href=\"README.html#rounds\">b</a>";
        let expected = "<a href=\"../symptoms/index.html\">a</a> <a href=\"index.html#rounds\">b</a>";
        assert_eq!(corrected(page), expected);
    }

    /// A pasted line has words that no page has.
    #[test]
    fn the_search_needs_one_of_several_words() {
        let settings = fs::read_to_string(run::root().join(SETTINGS)).unwrap();
        assert!(settings.contains("\nuse-boolean-and = false\n"), "{settings}");
    }

    #[test]
    fn examples_and_tables_have_no_words() {
        assert_eq!(words("one two\n```\nthree\n```\nfour\n\n| five |\n"), 3);
    }
}
