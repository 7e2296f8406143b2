//! The version word: it names the line to read and says whether the counter may be used.
//!
//! Every decision replaces this word by compare-and-swap, and no value occurs twice. So a thread
//! that prepared the successor of an outdated version fails to publish it. Decisions take effect at
//! once, even while another thread holds the lock, and a late holder does no harm.

use crate::evidence::Demotion;

/// There is a line. Without it a reader does not touch the counter, which may be forbidden: then
/// the read is a fatal signal.
const LINE: u64 = 1 << 63;
/// A thread is about to take the bracket that a line begins with. Until then OS readings go into
/// the floor before they are returned.
const ANNOUNCED: u64 = 1 << 62;
/// Only the OS clock is served.
const BARRED: u64 = 1 << 61;
/// The counter is served, once it is calibrated.
const OPEN: u64 = 1 << 60;
/// Position of the number of the [`Demotion`] because of which it is not.
const REASON_SHIFT: u32 = 56;
const REASON: u64 = 15 << REASON_SHIFT;
/// Barred for some time only.
const PAUSED: u64 = 1;

/// Number of holders that the lock has room for: one may never return.
pub(crate) const EPOCHS: usize = 2;

/// The segment that readings are served by, as the lowest bits but five: a segment has 32 bytes, so
/// that a reader need not multiply.
const SEGMENT_SHIFT: u32 = 5;
/// The line has come to its second segment. The only bit that readers set.
const SECOND: u64 = 1 << SEGMENT_SHIFT;
/// Two slots an epoch of the lock: a reader may be in one of them while the other is written.
const PARITY: u64 = 2 << SEGMENT_SHIFT;
const EPOCH_SHIFT: u32 = SEGMENT_SHIFT + 2;
const EPOCH: u64 = (EPOCHS as u64 - 1) << EPOCH_SHIFT;
/// Number of slots, and of the segments in them.
pub(crate) const SLOTS: usize = 2 * EPOCHS;
pub(crate) const SEGMENTS: usize = 2 * SLOTS;
/// The version number: 2^47 of them last for 4,000 years at a thousand a second.
const ONE: u64 = (SEGMENTS as u64) << SEGMENT_SHIFT;
const NUMBER: u64 = ((1 << REASON_SHIFT) - 1) & !(ONE - 1);

/// The source that the clock serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServingMode {
    /// The system was not asked yet.
    New,
    /// The counter, once it is calibrated; the OS clock until then and in between.
    Open,
    /// The OS clock only.
    Barred(Demotion),
}

/// The word. All zero is the state before the first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(pub(crate) u64);

impl Version {
    /// Before the first use.
    pub(crate) const NEW: Self = Self(0);

    #[inline(always)]
    pub(crate) fn has_line(self) -> bool {
        self.0 & LINE != 0
    }

    /// The segment that readings are served by.
    #[inline(always)]
    pub(crate) fn segment(self) -> usize {
        (self.0 >> SEGMENT_SHIFT) as usize % SEGMENTS
    }

    /// The slot that the line is in: its first segment is number `2 * slot`.
    pub(crate) fn slot(self) -> usize {
        self.segment() / 2
    }

    /// The word when the line has come to its second segment. No decision: the line is the same.
    pub(crate) fn at_second(self) -> Self {
        Self(self.0 | if self.has_line() { SECOND } else { 0 })
    }

    /// Returns true if nothing was decided between the two words.
    pub(crate) fn is_as(self, other: Self) -> bool {
        (self.0 ^ other.0) & !SECOND == 0
    }

    #[inline(always)]
    pub(crate) fn is_new(self) -> bool {
        self.0 & (OPEN | BARRED) == 0
    }

    /// Returns true if an OS reading may be followed by a line that ignores it.
    #[inline(always)]
    pub(crate) fn is_announced(self) -> bool {
        self.0 & (LINE | ANNOUNCED) != 0
    }

    /// Returns true if nothing was decided since `before`, and no line may follow that ignores an
    /// OS reading in between. By one comparison.
    #[inline(always)]
    pub(crate) fn is_quietly(self, before: Self) -> bool {
        (self.0 ^ before.0) | (before.0 & (LINE | ANNOUNCED)) == 0
    }

    #[inline(never)]
    pub(crate) fn mode(self) -> ServingMode {
        match self.0 & (OPEN | BARRED) {
            0 => ServingMode::New,
            OPEN => ServingMode::Open,
            _ => {
                let number = (self.0 & REASON) >> REASON_SHIFT;
                let reason = Demotion::ALL.into_iter().find(|reason| *reason as u64 == number);
                ServingMode::Barred(reason.unwrap_or(Demotion::NotPermitted))
            }
        }
    }

    /// Returns true if a line may begin: now, or after a pause.
    #[inline(always)]
    pub(crate) fn is_tried(self) -> bool {
        self.0 & (OPEN | PAUSED) != 0
    }

    /// The next word, which has a line.
    pub(crate) fn with_line(self) -> Self {
        self.next(LINE | OPEN)
    }

    /// The next word, which has none, and says that one is about to begin.
    pub(crate) fn announced(self) -> Self {
        self.next(ANNOUNCED | OPEN)
    }

    /// The next word, which has none.
    pub(crate) fn without_line(self, mode: ServingMode) -> Self {
        self.next(match mode {
            ServingMode::New => 0,
            ServingMode::Open => OPEN,
            ServingMode::Barred(reason) => {
                let paused = if reason.is_for_some_time() { PAUSED } else { 0 };
                BARRED | paused | (reason as u64) << REASON_SHIFT
            }
        })
    }

    /// This word, for the slots of another holder of the lock.
    pub(crate) fn in_epoch(self, epoch: usize) -> Self {
        Self(self.0 & !EPOCH | (epoch as u64) << EPOCH_SHIFT & EPOCH)
    }

    fn next(self, flags: u64) -> Self {
        let number = (self.0 & NUMBER).wrapping_add(ONE) & NUMBER;
        Self(flags | number | self.0 & EPOCH | (self.0 ^ PARITY) & PARITY)
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;

    #[test]
    fn a_successor_is_in_the_other_slot_of_the_same_epoch() {
        let mut version = Version(0).in_epoch(EPOCHS - 1);
        for turn in 0..100 {
            let next = if turn % 2 == 0 { version.with_line() } else { version.without_line(ServingMode::Open) };
            assert_eq!(next.slot() ^ version.slot(), 1);
            assert_eq!((next.has_line(), next.mode()), (turn % 2 == 0, ServingMode::Open));
            assert!(next.slot() >= SLOTS - 2 && next.0 & NUMBER > version.0 & NUMBER);
            assert_eq!(next.segment(), 2 * next.slot());
            assert!(!next.is_as(version) && next.is_as(next.at_second()));
            assert_eq!(next.at_second().segment(), next.segment() + usize::from(next.has_line()));
            version = next.at_second();
        }
    }

    #[test]
    fn a_word_says_one_mode() {
        let barred = Demotion::ALL.map(ServingMode::Barred);
        for mode in barred.into_iter().chain([ServingMode::New, ServingMode::Open]) {
            let word = Version(0).with_line().without_line(mode);
            assert_eq!((word.mode(), word.has_line(), word.is_announced()), (mode, false, false));
            let is_tried = match mode {
                ServingMode::New => false,
                ServingMode::Open => true,
                ServingMode::Barred(reason) => reason.is_for_some_time(),
            };
            assert_eq!(word.is_tried(), is_tried);
            assert_eq!(word.in_epoch(EPOCHS - 1).mode(), mode);
        }
        assert!(Version(0).announced().is_announced() && !Version(0).announced().has_line());
    }
}
