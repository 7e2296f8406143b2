//! Files that no reader can take for a check.

use clockscope_testing::simulation::Random;
use serde::Serialize;

/// A way in which a file is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// Bytes in the middle are not UTF-8.
    Corrupt,
    /// It ends between two lines.
    CutBetweenLines,
    /// It ends within a line.
    CutWithinLine,
    /// JSON lines of another program.
    ForeignLines,
    /// The beginning of an image.
    Png,
    /// It has no bytes.
    Empty,
    /// An older schema.
    SchemaZero,
    /// A newer schema.
    SchemaNewer,
    /// Two objects on one line.
    JoinedLines,
    /// An object with a key twice.
    DuplicateKey,
    /// A whole check whose time is wrong: [`super::fault::Fault::ClockWrong`].
    WrongYear,
}

impl Kind {
    /// All kinds of files that hosts leave beside good ones.
    pub(super) const STRAY: [Self; 10] = [
        Self::Corrupt,
        Self::CutBetweenLines,
        Self::CutWithinLine,
        Self::ForeignLines,
        Self::Png,
        Self::Empty,
        Self::SchemaZero,
        Self::SchemaNewer,
        Self::JoinedLines,
        Self::DuplicateKey,
    ];

    /// Returns the reason to reject it.
    pub(super) const fn why(self) -> &'static str {
        match self {
            Self::CutBetweenLines | Self::CutWithinLine => "cut_off",
            Self::Corrupt | Self::Png | Self::JoinedLines => "not_json",
            Self::DuplicateKey => "wrong_type",
            Self::ForeignLines => "foreign",
            Self::Empty => "empty",
            Self::SchemaZero | Self::SchemaNewer => "schema_version",
            Self::WrongYear => "clock_wrong",
        }
    }

    /// Returns the file that takes the place of a check's lines.
    pub(super) fn spoil(self, text: String, random: &mut Random) -> Vec<u8> {
        let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        // The end of a line that is neither the first nor one of the last two.
        let end = lines[1 + random.below(lines.len() as u64 - 3) as usize];
        let (first, rest) = text.split_at(end);
        match self {
            Self::Corrupt => {
                let mut bytes = text.into_bytes();
                let middle = bytes.len() / 2;
                bytes[middle..middle + 8].iter_mut().for_each(|byte| *byte ^= 0xff);
                bytes
            }
            Self::CutBetweenLines => format!("{first}\n").into_bytes(),
            Self::CutWithinLine => {
                let next = rest[1..].find('\n').unwrap_or_default();
                let half = rest[..1 + next / 2].trim_end_matches(|byte: char| !byte.is_ascii());
                format!("{first}{half}").into_bytes()
            }
            Self::ForeignLines => (0..8)
                .map(|turn| {
                    format!("{{\"level\":\"info\",\"turn\":{turn},\"message\":\"rotated {}\"}}\n", random.below(100))
                })
                .collect::<String>()
                .into_bytes(),
            Self::Png => b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0".to_vec(),
            Self::Empty => Vec::new(),
            Self::SchemaZero => text.replace(VERSION, "\"schema_version\":0").into_bytes(),
            Self::SchemaNewer => text.replace(VERSION, "\"schema_version\":99").into_bytes(),
            Self::JoinedLines => format!("{first}{}", &rest[1..]).into_bytes(),
            Self::DuplicateKey => {
                let (before, after) = text.split_at(1);
                format!("{before}\"host\":\"another\",{after}").into_bytes()
            }
            Self::WrongYear => text.into_bytes(),
        }
    }
}

/// The version in each line.
const VERSION: &str = "\"schema_version\":1";

/// A bad file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Reject {
    /// Its path below `records`.
    pub(super) file: String,
    /// The reason to reject it.
    pub(super) why: &'static str,
    /// The name of the host that left it.
    pub(super) host: String,
    /// The damage that was done to it, in the words of [`Kind`].
    pub(super) kind: String,
    /// The check in it, if it has one whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) check_id: Option<String>,
}
