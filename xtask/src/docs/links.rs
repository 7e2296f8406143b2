//! Links of pages: each leads to a file that is there, and its anchor to a heading of that file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

/// The address of the files of this project.
pub(super) const REPOSITORY: &str = "https://github.com/clockscope/clockscope/blob/HEAD/";
const OWN: [&str; 2] = [REPOSITORY, "https://github.com/clockscope/clockscope/blob/main/"];

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Bytes of the page that the link takes, its text included.
    pub(super) range: std::ops::Range<usize>,
    pub(super) address: String,
}

impl Link {
    /// Returns the file of this project that the link of a page leads to, from the root, and the
    /// anchor. `None` for other sites.
    pub(super) fn target(&self, page: &str) -> Option<(PathBuf, Option<&str>)> {
        let (path, anchor) = match self.address.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (self.address.as_str(), None),
        };
        if let Some(path) = OWN.iter().find_map(|own| path.strip_prefix(own)) {
            return Some((PathBuf::from(path), anchor));
        }
        if path.contains("://") || path.starts_with("mailto:") {
            return None;
        }
        if path.is_empty() {
            return Some((PathBuf::from(page), anchor));
        }
        Some((normal(&Path::new(page).parent()?.join(path)), anchor))
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            // Beyond the root there is nothing of this project.
            Component::ParentDir if !normal.pop() => normal.push(component),
            Component::ParentDir => {}
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

fn events(text: &str) -> impl Iterator<Item = (Event<'_>, std::ops::Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).into_offset_iter()
}

/// Links and pictures of a page, in the order of the text.
pub(super) fn links(text: &str) -> Vec<Link> {
    let of_tag = |(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(Link { range, address: dest_url.into_string() })
        }
        _ => None,
    };
    let mut found: Vec<Link> = events(text).filter_map(of_tag).collect();
    for (event, range) in events(text) {
        if let Event::Html(html) | Event::InlineHtml(html) = event {
            for attribute in attributes(&html, "src|srcset|href") {
                found.push(Link { range: range.clone(), address: attribute });
            }
        }
    }
    found
}

fn attributes(html: &str, names: &str) -> Vec<String> {
    let Ok(pattern) = Regex::new(&format!("(?:{names})=\"([^\"]+)\"")) else { return Vec::new() };
    pattern.captures_iter(html).map(|found| found[1].to_owned()).collect()
}

/// Anchors of a page: of its headings, as GitHub and mdBook make them, and of its HTML.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for (event, _) in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let mut number = 1;
                let mut unique = anchor.clone();
                while !found.insert(unique) {
                    unique = format!("{anchor}-{number}");
                    number += 1;
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => found.extend(attributes(&html, "id|name")),
            _ => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// Links that lead nowhere, of these pages and of the addresses of this project in other files.
pub(super) fn broken(pages: &[(String, String)], others: &[(String, String)]) -> Vec<String> {
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|(page, text)| (page.as_str(), anchors(text))).collect();
    let is_there = |target: &Path, anchor: Option<&str>| match (anchor, anchors.get(&*target.to_string_lossy())) {
        (Some(anchor), Some(anchors)) => anchors.contains(anchor),
        _ => target.exists(),
    };
    let mut wrong = Vec::new();
    for (page, text) in pages {
        for link in links(text) {
            if let Some((target, anchor)) = link.target(page)
                && !is_there(&target, anchor)
            {
                let line = text[..link.range.start].matches('\n').count() + 1;
                wrong.push(format!("{page}:{line} links to {}, which is not there", link.address));
            }
        }
    }
    let own = Regex::new(&format!("(?:{}|{})[A-Za-z0-9_./#-]+", OWN[0], OWN[1])).ok();
    for (file, text) in others {
        for found in own.iter().flat_map(|own| own.find_iter(text)) {
            let address = found.as_str().trim_end_matches('.').to_owned();
            let link = Link { range: found.range(), address };
            if let Some((target, anchor)) = link.target(file)
                && !is_there(&target, anchor)
            {
                wrong.push(format!("{file} links to {}, which is not there", link.address));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let pages = [
            page(
                "docs/a.md",
                "# A `code` title: two\n\n[one](b/c.md#x), [two](b/c.md#y), [three](#a-code-title-two)\n",
            ),
            page(
                "docs/b/c.md",
                "# X\n\n[up](../a.md), [out](../../../a.md), [gone](gone.md), ![picture](gone.svg) <a id=\"z\"></a>\n",
            ),
            page("docs/b/d.md", "[z](c.md#z)\n\n```\n[no link](nowhere.md)\n```\n\n[site](https://example.org/x.md)\n"),
        ];
        let others = [
            page("a.rs", "//! <https://github.com/clockscope/clockscope/blob/HEAD/docs/a.md#gone>."),
            page("b.rs", "//! See https://github.com/clockscope/clockscope/blob/HEAD/docs/b/c.md#x."),
        ];
        assert_eq!(
            broken(&pages, &others),
            [
                "docs/a.md:3 links to b/c.md#y, which is not there",
                "docs/b/c.md:3 links to ../a.md, which is not there",
                "docs/b/c.md:3 links to ../../../a.md, which is not there",
                "docs/b/c.md:3 links to gone.md, which is not there",
                "docs/b/c.md:3 links to gone.svg, which is not there",
                "a.rs links to https://github.com/clockscope/clockscope/blob/HEAD/docs/a.md#gone, which is not there",
            ]
        );
    }

    #[test]
    fn equal_headings_have_numbered_anchors() {
        let found = anchors("# It's C++\n\n## Same\n\n## Same\n");
        assert_eq!(found, ["its-c", "same", "same-1"].map(str::to_owned).into());
    }
}
