//! Output of a machine's commands, between the marks of its script.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Serialize;

/// Output of a command in a machine, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Frame {
    pub(super) code: i32,
    pub(super) text: String,
}

/// The outputs of a machine's commands by name; a command's standard error stands under its name
/// with `.stderr`.
pub(super) type Frames = BTreeMap<String, Frame>;

/// Takes the frames from what a machine printed: `@@begin NAME`, a text, a line's end,
/// `@@end NAME CODE`.
pub(super) fn read(printed: &str) -> Result<Frames> {
    let mut frames = Frames::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in printed.split('\n') {
        let begun = line.strip_prefix("@@begin ");
        let ended = line.strip_prefix("@@end ");
        match (&mut open, begun, ended) {
            (None, Some(name), _) => open = Some((name, Vec::new())),
            (Some((name, _)), Some(other), _) => bail!("{other} begins within {name}"),
            (None, _, Some(end)) => bail!("what ends as `{end}` has not begun"),
            (Some((name, lines)), _, Some(end)) => {
                let code = end
                    .strip_prefix(*name)
                    .and_then(|tail| tail.trim().parse().ok())
                    .with_context(|| format!("{name} ends as `{end}`"))?;
                let frame = Frame { code, text: lines.join("\n") };
                if frames.insert((*name).to_owned(), frame).is_some() {
                    bail!("{name} was run twice");
                }
                open = None;
            }
            (Some((_, lines)), ..) => lines.push(line),
            // The kernel's and the firmware's lines.
            (None, None, None) => {}
        }
    }
    match open {
        Some((name, _)) => bail!("{name} begins and does not end"),
        None => Ok(frames),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_between_other_lines() {
        let printed = "SeaBIOS\n@@begin a\none\ntwo\n\n@@end a 0\nnoise\n@@begin a.stderr\n\n@@end a.stderr 0\n@@begin b\nx\n@@end b 3\n@@done\n";
        let found = read(printed).unwrap();
        assert_eq!(found["a"], Frame { code: 0, text: "one\ntwo\n".into() });
        assert_eq!(found["a.stderr"], Frame { code: 0, text: String::new() });
        assert_eq!(found["b"], Frame { code: 3, text: "x".into() });
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_broken_frame_is_an_error() {
        for (printed, expected) in [
            ("@@begin a\none\n", "a begins and does not end"),
            ("@@end a 0\n", "has not begun"),
            ("@@begin a\n@@begin b\n@@end b 0\n@@end a 0\n", "b begins within a"),
            ("@@begin a\n\n@@end b 0\n", "a ends as `b 0`"),
            ("@@begin a\n\n@@end a\n", "a ends as `a`"),
            ("@@begin a\n\n@@end a 0\n@@begin a\n\n@@end a 0\n", "a was run twice"),
        ] {
            let error = read(printed).unwrap_err().to_string();
            assert!(error.contains(expected), "{printed:?}: {error}");
        }
    }
}
