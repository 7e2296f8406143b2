//! What `--version` prints.

/// What the build script found.
const COMMIT: Option<&str> = option_env!("CLOCKSCOPE_BUILT_COMMIT");
const TARGET: &str = env!("CLOCKSCOPE_BUILT_TARGET");
const FEATURES: &str = env!("CLOCKSCOPE_BUILT_FEATURES");

/// Returns the name and the version.
pub(crate) fn short() -> String {
    concat!("clockscope ", env!("CARGO_PKG_VERSION"), "\n").to_owned()
}

/// Returns the same with what this program was built of.
pub(crate) fn long() -> String {
    format!("{}{}", short(), build(COMMIT, TARGET, FEATURES))
}

fn build(commit: Option<&str>, target: &str, features: &str) -> String {
    let commit = commit.unwrap_or("unknown (built from sources without git)");
    let features = if features.is_empty() { "none" } else { features };
    format!("commit: {commit}\ntarget: {target}\nfeatures: {features}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_git_says_so() {
        let text = build(None, "x86_64-unknown-linux-musl", "");
        let expected = "commit: unknown (built from sources without git)\n\
                        target: x86_64-unknown-linux-musl\nfeatures: none\n";
        assert_eq!(text, expected);
        assert_eq!(build(Some("c0ffee"), "t", "one two"), "commit: c0ffee\ntarget: t\nfeatures: one two\n");
    }
}
