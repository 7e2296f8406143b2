//! Groups of clocks with common facts.

use std::collections::BTreeSet;

use clockscope_records::{ClockIdentity, ReadPath};

use crate::model::Row;

/// Fewest clocks of a group, on average, for headings of groups.
const MIN_GROUP_SIZE: usize = 3;

/// A group of clocks, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Counter,
    Posix,
    System,
    CLibrary,
    Runtime,
    Library,
    Device,
}

impl Group {
    pub(super) fn from_identity(identity: &ClockIdentity) -> Self {
        let is_wrapper = identity.is_wrapper;
        match identity.path {
            _ if identity.is_device => Self::Device,
            ReadPath::Instruction => Self::Counter,
            ReadPath::Libc if is_wrapper => Self::CLibrary,
            ReadPath::Libc | ReadPath::Vdso | ReadPath::Syscall => Self::Posix,
            ReadPath::SystemLibrary | ReadPath::User => Self::System,
            ReadPath::Std => Self::Runtime,
            ReadPath::Library => Self::Library,
            ReadPath::Mmap => Self::Device,
        }
    }

    /// Returns whether its clocks are those that programs compare.
    pub(super) const fn is_usual(self) -> bool {
        !matches!(self, Self::CLibrary | Self::Runtime)
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Counter => "Counter sequences",
            Self::Posix => "POSIX",
            Self::System => "System library",
            Self::CLibrary => "C library",
            Self::Runtime => "Language runtime",
            Self::Library => "clockscope",
            Self::Device => "Devices",
        }
    }
}

/// Puts a heading above the first row of each group, where rows of groups follow each other.
pub(super) fn with_headings(mut rows: Vec<(Group, Row)>) -> Vec<Row> {
    let groups: BTreeSet<Group> = rows.iter().map(|(group, _)| *group).collect();
    if groups.len() >= 2 && rows.len() >= groups.len() * MIN_GROUP_SIZE {
        let mut last = None;
        for (group, row) in &mut rows {
            if last != Some(*group) {
                row.heading = group.title().into();
            }
            last = Some(*group);
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use clockscope_records::{Document, Envelope, Measurement};

    use super::*;

    /// A clock of the fixture under a name without a meaning.
    fn nameless(path: ReadPath, is_wrapper: bool, is_device: bool) -> ClockIdentity {
        let Ok(Document::Measurement(Envelope { found: Measurement { clocks, .. }, .. })) =
            Document::from_json(include_str!("../../tests/fixtures/healthy.json"))
        else {
            panic!("a measurement")
        };
        let clock = clocks.into_iter().next().expect("there is one");
        ClockIdentity { name: "x".to_owned(), path, is_wrapper, is_device, ..clock.identity }
    }

    #[test]
    fn groups_follow_from_facts() {
        for (path, is_wrapper, is_device, group) in [
            (ReadPath::Instruction, false, false, Group::Counter),
            (ReadPath::Libc, false, false, Group::Posix),
            (ReadPath::Vdso, false, false, Group::Posix),
            (ReadPath::Libc, true, false, Group::CLibrary),
            (ReadPath::Std, true, false, Group::Runtime),
            (ReadPath::Library, true, false, Group::Library),
            (ReadPath::SystemLibrary, false, false, Group::System),
            (ReadPath::Syscall, false, true, Group::Device),
        ] {
            assert_eq!(
                Group::from_identity(&nameless(path, is_wrapper, is_device)),
                group,
                "{path:?} {is_wrapper} {is_device}"
            );
        }
    }
}
