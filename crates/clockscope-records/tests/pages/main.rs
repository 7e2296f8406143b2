//! Parts of the documentation that follow from the kernel's lines.
//! `CLOCKSCOPE_DOCS=write cargo test -p clockscope-records --test pages` writes them.

mod log_lines;

use std::fs;
use std::path::Path;

/// Compares the part of a page between its two comments with the text that it should have.
fn check(page: &str, part: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{page}: {error}"));
    let parts =
        text.split_once("<!-- tested -->\n").and_then(|(head, tail)| Some((head, tail.split_once("<!-- end -->\n")?)));
    let (head, (found, tail)) =
        parts.unwrap_or_else(|| panic!("{page} has no part between <!-- tested --> and <!-- end -->"));
    if std::env::var_os("CLOCKSCOPE_DOCS").is_some_and(|value| value == "write") {
        fs::write(&file, format!("{head}<!-- tested -->\n{part}<!-- end -->\n{tail}"))
            .expect("the page can be written");
        return;
    }
    assert!(found == part, "{page}: CLOCKSCOPE_DOCS=write cargo test -p clockscope-records --test pages writes it");
}

#[test]
fn the_page_about_an_unstable_counter_has_all_lines_of_the_kernel() {
    check("docs/symptoms/tsc-unstable.md", &log_lines::table());
}
