//! The sentences that the program can print: the texts of two words and more in its sources, for a
//! reading in one go.

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::LitStr;

use crate::structure::files;

/// Crates whose texts users read.
const CRATES: [&str; 10] = [
    "crates/clockscope/src/",
    "crates/clockscope-capi/src/",
    "crates/clockscope-cli/src/",
    "crates/clockscope-core/src/",
    "crates/clockscope-measure/src/",
    "crates/clockscope-python/src/",
    "crates/clockscope-records/src/",
    "crates/clockscope-report/src/",
    "crates/clockscope-runtimes/src/",
    "crates/clockscope-system/src/",
];
/// Fewest words of a text that is listed.
const MIN_WORDS: usize = 2;

/// Prints each distinct text once, in the order of files, with the first place of each.
pub(super) fn print() -> Result<()> {
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let mut ordered = Vec::new();
    for (file, source) in files(".rs")? {
        let is_printed = CRATES.iter().any(|folder| file.starts_with(folder)) && !file.ends_with("tests.rs");
        if !is_printed || file.contains("/tests/") {
            continue;
        }
        let tokens = TokenStream::from_str(&source).ok().with_context(|| format!("{file} is not valid Rust"))?;
        for text in texts(tokens) {
            if !places.contains_key(&text) {
                places.insert(text.clone(), file.clone());
                ordered.push(text);
            }
        }
    }
    let mut last = "";
    for text in &ordered {
        let file = &places[text];
        if file != last {
            println!("\n{file}");
            last = file;
        }
        println!("  {}", text.replace('\n', "\n  "));
    }
    Ok(())
}

/// Returns the texts of a source, without those of tests and of attributes such as comments.
fn texts(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_test = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                // `#[...]` or `#![...]`.
                tokens.next_if(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!'));
                if let Some(TokenTree::Group(attribute)) = tokens.next_if(is_attribute) {
                    is_test |= is_of_tests(&attribute);
                    found.extend(error_text(&attribute));
                }
            }
            TokenTree::Group(group) => {
                // The body of what the attribute is for; its arguments come before.
                if !is_test {
                    found.extend(texts(group.stream()));
                }
                is_test &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => is_test = false,
            TokenTree::Literal(literal) if !is_test => found.extend(sentence(&literal.to_string())),
            _ => {}
        }
    }
    found
}

fn is_attribute(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
}

/// Returns true for `#[cfg(test)]` and `#[test]`.
fn is_of_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text == "test" || text.starts_with("cfg(test") || text.starts_with("cfg(all(test")
}

/// Returns the text of `#[error("...")]`.
fn error_text(attribute: &Group) -> Vec<String> {
    let is_error = matches!(attribute.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "error");
    if is_error { texts(attribute.stream().into_iter().skip(1).collect()) } else { Vec::new() }
}

/// Returns the text of a literal, if it has enough words.
fn sentence(literal: &str) -> Option<String> {
    let text = syn::parse_str::<LitStr>(literal).ok()?.value();
    let words = text.split_whitespace().filter(|word| word.chars().filter(|letter| letter.is_alphabetic()).count() > 1);
    if words.count() >= MIN_WORDS { Some(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_macros_and_errors_and_not_in_tests_and_comments() {
        let source = r##"
            /// A comment of words.
            #[error("an error of {name}")]
            fn a() { format!("one \
                two {x}"); call("word", "of-one-word"); let raw = r#"raw words"#; }
            #[cfg(test)]
            mod tests { fn b() { print("not this text"); } }
            #[cfg(test)]
            use a::b;
            const C: &str = "after the tests";
        "##;
        let expected = ["an error of {name}", "one two {x}", "raw words", "after the tests"];
        assert_eq!(texts(TokenStream::from_str(source).unwrap()), expected);
    }
}
