//! A question's files bear the name of its command in every crate, so that one name finds them all.

/// What a question has, and the folders of which one has it, unless a crate bears its name.
const PARTS: [(&str, &[&str]); 3] = [
    ("record", &["clockscope-records/src"]),
    ("arithmetic", &["clockscope-measure/src/questions", "clockscope-measure/src/questions/across"]),
    ("page", &["clockscope-report/src/documents"]),
];
/// Commands beside the questions, which have a document of another.
const OTHERS: [&str; 2] = ["baseline", "report"];

/// Parts of questions for which no source file is named.
pub(super) fn unnamed(questions: &[String], files: &[String]) -> Vec<String> {
    let asked = questions.iter().filter(|name| !OTHERS.contains(&name.as_str()));
    let is_in = |folders: &[&str], name: &str| {
        folders.iter().any(|folder| files.contains(&format!("crates/{folder}/{name}.rs")))
    };
    let has_crate = |name: &str| files.iter().any(|file| file.starts_with(&format!("crates/clockscope-{name}/")));
    asked
        .flat_map(|name| PARTS.map(|(part, folders)| (name, part, folders)))
        .filter(|&(name, part, _)| part != "arithmetic" || !has_crate(name))
        .filter(|&(name, _, folders)| !is_in(folders, name))
        .map(|(name, part, folders)| {
            format!("the {part} of {name} is in no file {name}.rs of {}", folders.join(" or "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_file_of_another_name_is_found() {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let files = owned(&[
            "crates/clockscope-records/src/check.rs",
            "crates/clockscope-measure/src/questions/across/check.rs",
            "crates/clockscope-report/src/documents/trust.rs",
            "crates/clockscope-report/tests/check.rs",
            "crates/clockscope-report/src/render/prometheus/check.rs",
            "crates/clockscope-records/src/runtimes.rs",
            "crates/clockscope-runtimes/src/lib.rs",
            "crates/clockscope-report/src/documents/runtimes.rs",
        ]);
        assert_eq!(
            unnamed(&owned(&["check", "runtimes", "report"]), &files),
            ["the page of check is in no file check.rs of clockscope-report/src/documents"]
        );
    }
}
