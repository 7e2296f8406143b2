//! Log of the reads of a simulated machine's clocks that are kept for a test.

use std::sync::{Arc, Mutex};

/// One read of a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    /// The clock's place among the machine's.
    pub(crate) clock_index: usize,
    pub(crate) value: u64,
    /// Time at which that was taken, in ps of true time.
    pub(crate) taken_ps: u128,
    /// True if the clock was read for itself, and not to time or judge others.
    pub(crate) is_target: bool,
}

/// Kind of the reads of clocks that are kept, and these reads.
#[derive(Debug, Default)]
pub(crate) enum LoggedReads {
    #[default]
    Nothing,
    /// All, in order.
    All(Vec<Read>),
    /// Those of one clock, read for itself, that are next to a true time.
    Around(Around),
}

/// Reads of a clock next to a true time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) clock_index: usize,
    pub(crate) at_ps: u128,
    /// The last one before that, and how many there were.
    pub(crate) before: Option<Read>,
    pub(crate) reads_before: u64,
    /// The first one from then on, and how many there were.
    pub(crate) after: Option<Read>,
    pub(crate) reads_after: u64,
}

impl Around {
    fn push(&mut self, read: Read) {
        if read.taken_ps < self.at_ps {
            (self.before, self.reads_before) = (Some(read), self.reads_before + 1);
        } else {
            self.after.get_or_insert(read);
            self.reads_after += 1;
        }
    }
}

impl LoggedReads {
    #[inline]
    pub(super) fn push(&mut self, read: Read) {
        match self {
            Self::Nothing => {}
            Self::All(reads) => reads.push(read),
            Self::Around(around) if read.is_target && read.clock_index == around.clock_index => around.push(read),
            Self::Around(_) => {}
        }
    }
}

/// The reads of clocks that are kept.
pub(crate) type Log = Arc<Mutex<LoggedReads>>;

/// Reads of references: the number of the thread, and the true time at which each began, in ps;
/// `None` if they are not kept.
pub(crate) type ReferenceReads = Arc<Mutex<Option<Vec<(u32, u128)>>>>;
