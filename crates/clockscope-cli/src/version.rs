//! Output of `--version`.

/// Commit and target that the build script found.
const COMMIT: Option<&str> = option_env!("CLOCKSCOPE_BUILT_COMMIT");
const TARGET: &str = env!("CLOCKSCOPE_BUILT_TARGET");

/// Returns the name and the version.
pub(crate) fn short() -> String {
    concat!("clockscope ", env!("CARGO_PKG_VERSION"), "\n").to_owned()
}

/// Returns the same with what this program was built of.
pub(crate) fn long() -> String {
    format!("{}{}", short(), build(COMMIT, TARGET))
}

fn build(commit: Option<&str>, target: &str) -> String {
    let commit = commit.unwrap_or("unknown (built from sources without git)");
    format!("commit: {commit}\ntarget: {target}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_git_says_so() {
        let text = build(None, "x86_64-unknown-linux-musl");
        let expected = "commit: unknown (built from sources without git)\n\
                        target: x86_64-unknown-linux-musl\n";
        assert_eq!(text, expected);
        assert_eq!(build(Some("c0ffee"), "t"), "commit: c0ffee\ntarget: t\n");
    }
}
