//! The page: the memory that all threads share. It has the published line with the words beside it,
//! the floor, and the latest recorded OS reading.
//!
//! [`super`] has the protocol of its readers and writers. All zero is the state before the first
//! use. docs/concepts/library/page.md, "The page", is the contract with readers outside of this
//! crate: from the first release on, what is written there changes only together with
//! [`layout::FORMAT`].

pub(super) mod line;
mod offsets;
pub(super) mod shared_statement;
pub(super) mod statement;
pub(super) mod sync;
pub(super) mod version;

use super::use_rate::Usage;
use line::{Segment, ServedLine};
pub(crate) use offsets::{ClockOffset, OffsetClock, OffsetWords};
use statement::{BoundedAt, Bounds};
use sync::{AtomicU64, Ordering, array_of, const_fn, fence};
use version::{SEGMENTS, SLOTS, ServingMode, Version};

/// An OS reading is recorded if it is this much later than the recorded one, in ns. So no returned
/// reading is later than the recorded one and this; [`Page::record_next`] has the exception.
pub(crate) const MAX_UNRECORDED_NS: u64 = 8_000;

/// A difference of two CPUs' OS clocks, in ns, up to which the OS clock has not stepped back.
pub(crate) const MAX_CPU_OFFSET_NS: u64 = 1_000;

/// A segment's words. Those of a line, number 2n and 2n + 1, share a cache line.
#[repr(C, align(32))]
struct SegmentWords([AtomicU64; Segment::WORDS]);

/// Words that are published beside a line: the offsets to other clocks, and the bounds of the time
/// of day. Number n belongs to slot n of the version. One cache line.
#[repr(C, align(32))]
struct BesideWords([AtomicU64; BesideLine::WORDS]);

/// Values that are published beside a line: see [`BesideWords`]. All zero: none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BesideLine {
    pub(crate) wall: ClockOffset,
    pub(crate) boot: ClockOffset,
    pub(crate) bounds: Bounds,
}

impl BesideLine {
    const WORDS: usize = 8;

    fn words(&self) -> [u64; Self::WORDS] {
        let [a, b, c, d, e, f] = self.bounds.words();
        [self.wall.0, a, b, c, d, e, f, self.boot.0]
    }
}

impl OffsetClock {
    /// Position of its offset among the words beside a line.
    const fn word(self) -> usize {
        match self {
            Self::Wall => 0,
            Self::Boot => BesideLine::WORDS - 1,
        }
    }
}

/// The shared state. What a reading without a line needs comes first, to be in one cache line with
/// the OS clock ([`super::process::shared::Shared`]).
#[repr(C)]
pub(crate) struct Page {
    version: AtomicU64,
    floor: AtomicU64,
    /// The latest OS reading that was recorded.
    recorded: AtomicU64,
    /// Offset that is added to the OS clock, which stepped back, in ns.
    offset: AtomicU64,
    /// Rate at which the OS clock is read.
    usage: AtomicU64,
    /// OS time of the next attempt to begin a line.
    pub(crate) next_try_ns: AtomicU64,
    /// The number of a lock holder that others waited for, and the OS time at which they noticed.
    pub(crate) awaited: AtomicU64,
    pub(crate) awaited_since_ns: AtomicU64,
    /// Largest |ours − OS| of this generation, with the bracket's width, in ns.
    pub(crate) largest_error_ns: AtomicU64,
    /// Clocks that were read so far: [`OffsetClock::wanted_bit`].
    wanted: AtomicU64,
    wall: OffsetWords,
    /// [`layout::FORMAT`] once the page is in use.
    format: AtomicU64,
    /// The time at which the error was that, to some milliseconds. Two threads that raise it at
    /// once may leave the time of either.
    pub(crate) largest_error_at_ns: AtomicU64,
    boot: OffsetWords,
    /// Zero. Readers must not use them.
    reserved: [AtomicU64; 2],
    segments: [SegmentWords; SEGMENTS],
    beside: [BesideWords; SLOTS],
}

/// Positions of the words of the page that a reader outside of this crate may read, in bytes.
/// Version 1. docs/concepts/library/page.md, "The page", says what they mean.
#[cfg(not(clockscope_models))]
pub mod layout {
    use super::{BesideLine, BesideWords, OffsetClock, Page, Segment, SegmentWords};
    use crate::disciplined::page::version::{SEGMENTS, SLOTS};
    use core::mem::{align_of, offset_of, size_of};

    /// The number in the word at [`FORMAT_WORD`]; 0 before the first use.
    pub const FORMAT: u64 = 1;
    /// The word that names what is published.
    pub const VERSION: usize = 0;
    /// No reading may be below this word.
    pub const FLOOR: usize = 8;
    /// The word that holds [`FORMAT`].
    pub const FORMAT_WORD: usize = 104;
    /// The segments: 8 of 32 bytes.
    pub const SEGMENT_0: usize = 160;
    /// The words beside the lines of the slots: 4 of 64 bytes.
    pub const BESIDE_0: usize = 416;
    /// Size of the page.
    pub const SIZE: usize = 672;

    const _: () = {
        assert!(offset_of!(Page, version) == VERSION && offset_of!(Page, floor) == FLOOR);
        assert!(offset_of!(Page, recorded) == 16 && offset_of!(Page, offset) == 24);
        assert!(offset_of!(Page, usage) == 32 && offset_of!(Page, next_try_ns) == 40);
        assert!(offset_of!(Page, awaited) == 48 && offset_of!(Page, awaited_since_ns) == 56);
        assert!(offset_of!(Page, largest_error_ns) == 64 && offset_of!(Page, wanted) == 72);
        assert!(offset_of!(Page, wall) == 80 && offset_of!(Page, boot) == 120);
        assert!(offset_of!(Page, format) == FORMAT_WORD && offset_of!(Page, largest_error_at_ns) == 112);
        assert!(offset_of!(Page, reserved) == 144);
        assert!(offset_of!(Page, segments) == SEGMENT_0 && offset_of!(Page, beside) == BESIDE_0);
        assert!(size_of::<SegmentWords>() == 32 && align_of::<SegmentWords>() == 32 && Segment::WORDS == 4);
        assert!(size_of::<BesideWords>() == 64 && BesideLine::WORDS == 8);
        assert!(OffsetClock::Wall.word() == 0 && OffsetClock::Boot.word() == 7);
        assert!(SEGMENTS == 8 && SLOTS == 4 && size_of::<Page>() == SIZE && align_of::<Page>() == 32);
    };
}

/// A line, the floor beside it, and a tick that was read after both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageSnapshot {
    pub(crate) version: Version,
    pub(crate) line: ServedLine,
    offsets: [ClockOffset; 2],
    pub(crate) floor: u64,
    pub(crate) tick: u64,
}

impl PageSnapshot {
    /// The offset of a clock that was published with the line.
    pub(crate) fn offset(&self, clock: OffsetClock) -> ClockOffset {
        self.offsets[clock as usize]
    }
}

impl Page {
    const_fn! {
        /// The state before the first use.
        pub(crate) fn new() -> Self {
            Self {
                version: AtomicU64::new(0),
                floor: AtomicU64::new(0),
                recorded: AtomicU64::new(0),
                offset: AtomicU64::new(0),
                usage: AtomicU64::new(0),
                next_try_ns: AtomicU64::new(0),
                awaited: AtomicU64::new(0),
                awaited_since_ns: AtomicU64::new(0),
                largest_error_ns: AtomicU64::new(0),
                wanted: AtomicU64::new(0),
                wall: OffsetWords::new(),
                format: AtomicU64::new(0),
                largest_error_at_ns: AtomicU64::new(0),
                boot: OffsetWords::new(),
                reserved: array_of!(AtomicU64::new(0); 2),
                segments: array_of!(SegmentWords(array_of!(AtomicU64::new(0); Segment::WORDS)); SEGMENTS),
                beside: array_of!(BesideWords(array_of!(AtomicU64::new(0); BesideLine::WORDS)); SLOTS),
            }
        }
    }

    /// The fast path: one reading of the counter on a fresh part of the line, in ns. `None` sends
    /// the caller to the slow path, before the counter is touched if it may not be.
    ///
    /// Three branches order an ordered reading on processors whose barriers do not, at no cost:
    ///
    /// - The one on the version. It is loaded after the caller's last acquire operation, because
    ///   both acquire. [`Counter::ordered`](super::Counter::ordered) reads after what an earlier
    ///   branch depends on: after the version's load, and so after whatever the caller has learned.
    ///   It is not read after loads that acquired nothing. `cargo xtask platforms
    ///   aarch64-unknown-linux-gnu` looks for the branch in the machine code.
    /// - Those on the tick and on the floor. A store after them is not seen by others before they
    ///   are decided, and so not before the tick is read.
    ///
    /// The second load of the version may come before the tick is read: it shows that the words
    /// belong to one line. A line that has ended meanwhile does no harm, because the floor is at
    /// its end.
    #[inline(always)]
    pub(crate) fn read(&self, counter: impl FnOnce() -> u64) -> Option<u64> {
        let version = self.version();
        if !version.has_line() {
            return None;
        }
        let segment = self.segment(version.segment());
        let floor = self.floor.load(Ordering::Relaxed);
        let tick = counter();
        fence(Ordering::Acquire);
        if self.version.load(Ordering::Relaxed) != version.0 {
            return None;
        }
        // A comparison that is foreseen costs less than a maximum, and the floor is higher only
        // after an OS reading.
        segment.fresh(tick).filter(|ns| *ns >= floor)
    }

    /// The fast path of another clock, in its ns, by the offset that was published with the line.
    /// `None` as in [`Page::read`], and without an offset.
    #[inline(always)]
    pub(crate) fn read_offset_clock(&self, clock: OffsetClock, counter: impl FnOnce() -> u64) -> Option<i64> {
        let version = self.version();
        if !version.has_line() {
            return None;
        }
        let segment = self.segment(version.segment());
        let tick = counter();
        // After the tick, where a register is free: the offset is fixed for the version, and a
        // floor that is higher by now does no harm.
        let offset = self.offset_of(clock, version);
        fence(Ordering::Acquire);
        if self.version.load(Ordering::Relaxed) != version.0 || !offset.is_known() {
            return None;
        }
        segment.fresh(tick).filter(|ns| *ns >= self.floor()).map(|ns| offset.clock_ns(ns))
    }

    /// The fast path of the bounds of the time of day. `None` as in [`Page::read`], and without
    /// bounds. The segment's ticks show that the clocks were compared recently.
    #[inline(always)]
    pub(crate) fn read_bounds(&self, counter: impl FnOnce() -> u64) -> Option<BoundedAt> {
        let version = self.version();
        if !version.has_line() {
            return None;
        }
        let words = &self.segments[version.segment()].0;
        // Of the segment no more than where it is: a load of an atomic is done whether it is needed
        // or not.
        let segment = Segment::from_words([load_relaxed(&words[0]), load_relaxed(&words[1]), 0, 0]);
        let tick = counter();
        let bounds = self.bounds_of(version);
        fence(Ordering::Acquire);
        if self.version.load(Ordering::Relaxed) != version.0 || !segment.is_fresh(tick) {
            return None;
        }
        bounds.at(tick)
    }

    #[inline(always)]
    fn offset_of(&self, clock: OffsetClock, version: Version) -> ClockOffset {
        ClockOffset(load_relaxed(&self.beside[version.slot()].0[clock.word()]))
    }

    #[inline(always)]
    fn bounds_of(&self, version: Version) -> Bounds {
        let [_, a, b, c, d, e, f, _] = &self.beside[version.slot()].0;
        Bounds::from_words([
            load_relaxed(a),
            load_relaxed(b),
            load_relaxed(c),
            load_relaxed(d),
            load_relaxed(e),
            load_relaxed(f),
        ])
    }

    /// Loads the version, with acquire ordering.
    #[inline(always)]
    pub(crate) fn version(&self) -> Version {
        Version(self.version.load(Ordering::Acquire))
    }

    /// The version as it is after `os_ns` was read: see [`sync::load_after_reading`].
    #[inline(always)]
    pub(crate) fn version_after(&self, os_ns: u64) -> Version {
        Version(sync::load_after_reading(&self.version, os_ns))
    }

    /// A line and a tick that was read after it; no tick where there is no line, because the
    /// counter may be one that must not be read. Ordered by the branch on the version, as
    /// [`Page::read`] is. Tries again only when the version was replaced
    /// meanwhile, which happens a few thousand times a second at most.
    pub(crate) fn snapshot(&self, mut counter: impl FnMut() -> u64) -> PageSnapshot {
        loop {
            let version = self.version();
            let (line, floor) = (self.line_of(version), self.floor());
            let offsets = OffsetClock::ALL.map(|clock| self.offset_of(clock, version));
            let tick = if version.has_line() { counter() } else { 0 };
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version.0 {
                return PageSnapshot { version, line, offsets, floor, tick };
            }
        }
    }

    /// The line that the version names, which covers nothing where there is none.
    fn line_of(&self, version: Version) -> ServedLine {
        if !version.has_line() {
            return ServedLine::default();
        }
        let first = 2 * version.slot();
        ServedLine::from_segments([first, first + 1].map(|index| self.segment(index)))
    }

    #[inline(always)]
    fn segment(&self, index: usize) -> Segment {
        let [a, b, c, d] = &self.segments[index].0;
        Segment::from_words([load_relaxed(a), load_relaxed(b), load_relaxed(c), load_relaxed(d)])
    }

    /// Makes readers use the second segment of the line that `version` names.
    pub(crate) fn move_on(&self, version: Version) {
        // Whatever it fails for has done it, or has ended the line. Publishes no words, and keeps
        // what the version's own store released.
        let _ = self.version.compare_exchange(version.0, version.at_second().0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Makes `line` the one that is read from now on, with what belongs to it, in place of
    /// `version`. `false` if that was replaced, or bars the counter: then nothing happened. Only
    /// for the holder of the lock.
    pub(crate) fn publish(&self, version: &mut Version, line: &ServedLine, beside: &BesideLine) -> bool {
        if version.mode() != ServingMode::Open {
            return false;
        }
        let next = version.with_line();
        // A reader that sees one of the new words also sees the version before them, and looks
        // again.
        fence(Ordering::Release);
        let first = 2 * next.slot();
        for (segment, words) in line.segments().iter().zip(&self.segments[first..]) {
            for (word, value) in words.0.iter().zip(segment.words()) {
                word.store(value, Ordering::Relaxed);
            }
        }
        for (word, value) in self.beside[next.slot()].0.iter().zip(beside.words()) {
            word.store(value, Ordering::Relaxed);
        }
        self.replace(version, if line.joint().is_some() { next } else { next.at_second() })
    }

    /// Makes `next` the version in place of `version`. `false` if that was replaced.
    pub(crate) fn replace(&self, version: &mut Version, next: Version) -> bool {
        // Readers may have come to the second segment meanwhile.
        let is_replaced = [*version, version.at_second()]
            .into_iter()
            .any(|from| self.version.compare_exchange(from.0, next.0, Ordering::AcqRel, Ordering::Relaxed).is_ok());
        if is_replaced {
            *version = next;
        }
        is_replaced
    }

    /// Makes `next` the version, and ends the line if there is one, with the lock or without.
    /// Readings by the line may have been as late as its end, so that is the floor from now on: the
    /// clock may stand still for as long as the line would have lasted. `false` if `version` was
    /// replaced.
    #[inline(never)]
    pub(crate) fn end_line_of(&self, version: &mut Version, next: Version) -> bool {
        let snapshot = self.snapshot(|| 0);
        // A late thread must not make others wait for the end of a line that is in use.
        if !snapshot.version.is_as(*version) {
            return false;
        }
        self.raise_floor(snapshot.line.end_value());
        self.replace(version, next)
    }

    /// Returns the floor: no reading may be below it.
    #[inline(always)]
    pub(crate) fn floor(&self) -> u64 {
        self.floor.load(Ordering::Relaxed)
    }

    /// Raises the floor to `ns` and returns it: `ns`, or more where it was higher.
    #[inline(never)]
    pub(crate) fn raise_floor(&self, ns: u64) -> u64 {
        raise(&self.floor, ns)
    }

    /// The latest OS reading that was recorded.
    #[inline(always)]
    pub(crate) fn recorded(&self) -> u64 {
        self.recorded.load(Ordering::Relaxed)
    }

    /// Returns true if the OS clock is behind what was served, as far as that is known.
    #[inline(always)]
    pub(crate) fn is_behind(&self, os_ns: u64) -> bool {
        os_ns < self.floor() || os_ns < self.recorded()
    }

    /// Records an OS reading.
    pub(crate) fn record(&self, ns: u64) {
        raise(&self.recorded, ns);
    }

    /// Rate at which the OS clock is read.
    #[inline(always)]
    pub(crate) fn usage(&self) -> Usage {
        Usage(self.usage.load(Ordering::Relaxed))
    }

    /// Stores the rate at which the OS clock is read.
    pub(crate) fn keep_usage(&self, usage: Usage) {
        self.usage.store(usage.0, Ordering::Relaxed);
    }

    /// Records an OS reading that was later than the recorded one just before. A store, because an
    /// exchange costs a third of a reading. A thread that is stopped before the store undoes what
    /// others have recorded meanwhile, until the next reading: see docs/concepts/library/page.md.
    #[inline(always)]
    pub(crate) fn record_next(&self, ns: u64) {
        self.recorded.store(ns, Ordering::Relaxed);
    }

    /// Returns the offset that is added to the OS clock, in ns.
    #[inline(always)]
    pub(crate) fn offset(&self) -> u64 {
        self.offset.load(Ordering::Relaxed)
    }

    /// Replaces the offset `from` by `to`. `false` if another thread has replaced `from`.
    pub(crate) fn replace_offset(&self, from: u64, to: u64) -> bool {
        self.offset.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Has this clock's offset published with each line from now on.
    pub(crate) fn want(&self, clock: OffsetClock) {
        // Loaded first: a write would take the cache line from all readers.
        if !self.wants(clock) {
            self.wanted.fetch_or(clock.wanted_bit(), Ordering::Relaxed);
        }
    }

    /// Returns true if this clock's offset is published with each line.
    pub(crate) fn wants(&self, clock: OffsetClock) -> bool {
        self.wanted.load(Ordering::Relaxed) & clock.wanted_bit() != 0
    }

    /// Returns the words on this clock's offset.
    #[inline(always)]
    pub(crate) fn offset_words(&self, clock: OffsetClock) -> &OffsetWords {
        match clock {
            OffsetClock::Wall => &self.wall,
            OffsetClock::Boot => &self.boot,
        }
    }

    /// Stores the number of the page's layout.
    pub(crate) fn mark(&self) {
        #[cfg(not(clockscope_models))]
        self.format.store(layout::FORMAT, Ordering::Relaxed);
    }

    pub(crate) fn mode(&self) -> ServingMode {
        self.version().mode()
    }

    /// End of the words that a reading without a line needs, and beginning of the segments.
    #[cfg(all(test, not(clockscope_models)))]
    pub(super) const LAYOUT: (usize, usize) =
        (core::mem::offset_of!(Self, usage), core::mem::offset_of!(Self, segments));

    /// Returns to the state before the first use.
    #[cfg(not(clockscope_models))]
    pub(crate) fn forget(&self) {
        let times = [&self.floor, &self.recorded, &self.offset, &self.usage, &self.next_try_ns];
        let largest = [&self.largest_error_ns, &self.largest_error_at_ns];
        let others = [&self.awaited, &self.awaited_since_ns, &self.wanted, &self.format];
        let offsets = OffsetClock::ALL.map(|clock| self.offset_words(clock)).into_iter().flat_map(OffsetWords::all);
        for word in times.into_iter().chain(largest).chain(others).chain(offsets).chain(&self.reserved) {
            word.store(0, Ordering::Relaxed);
        }
        self.version.store(0, Ordering::Release);
    }
}

/// Loads a word. Readings name their words one by one: `array::from_fn` is a call in programs that
/// are built without link-time optimization.
#[inline(always)]
fn load_relaxed(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed)
}

/// Raises a word to `ns` and returns it: `ns`, or more where it was higher.
fn raise(word: &AtomicU64, ns: u64) -> u64 {
    let is = word.load(Ordering::Relaxed);
    // Loaded first: a write would take the cache line from all readers.
    if is >= ns { is } else { word.fetch_max(ns, Ordering::Relaxed).max(ns) }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests;
