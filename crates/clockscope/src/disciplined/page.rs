//! What all threads share: the published line, the floor, and who may publish.
//!
//! The protocol, in the words of its two sides:
//!
//! - **A reader** loads the version, the line that the version names, the floor, *then* reads the counter, then loads the
//!   version again. If it changed, the words may be of two lines, and the reader looks again. The time is the larger of
//!   line and floor.
//! - **A publisher** holds the lock, writes the line that the version does not name, and makes the version name it.
//!
//! Why the order is kept: a line is a fixed function and its successor agrees with it (see [`Line`]), so that it does not
//! matter which of the two a reader holds, as long as the tick that it evaluates is one that the line covers. A reading
//! of the operating system that is served in between goes into the floor *before* it is returned: whoever was told of it
//! reads a floor that is at least as large.
//!
//! All zero is the state before the first use.

use super::line::Line;
use super::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Set in a version while there is a line. Without it a reader does not touch the counter, which may be forbidden: then
/// the read is a fatal signal.
const LINE: u64 = 1 << 63;

/// What the clock serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Mode {
    /// Nobody has asked yet.
    New = 0,
    /// The counter, once it is calibrated; the OS clock until then and in between.
    Disciplined = 1,
    /// The OS clock alone.
    Demoted = 2,
}

/// A line's words, in a cache line of their own.
#[repr(C, align(64))]
struct Slot([AtomicU64; Line::WORDS]);

/// The shared state.
#[repr(C)]
pub(crate) struct Page {
    version: AtomicU64,
    floor: AtomicU64,
    /// OS time of the last call that found no line to serve by.
    pub(crate) last_idle_ns: AtomicU64,
    /// Who calls less often than this, in ns, is served the OS clock. Here, beside what such a call reads anyway.
    pub(crate) rare_ns: AtomicU64,
    /// Largest |ours − OS| with the bracket's width that was seen in this generation, in ns.
    pub(crate) largest_error_ns: AtomicU64,
    /// Why the counter was given up, as a number of `Demotion`.
    pub(crate) demotion: AtomicU32,
    mode: AtomicU32,
    slots: [Slot; 2],
}

/// A line with a tick that was read after it and the floor of then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) line: Line,
    pub(crate) floor: u64,
    pub(crate) tick: u64,
}

impl Page {
    /// The state before the first use.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            last_idle_ns: AtomicU64::new(0),
            rare_ns: AtomicU64::new(0),
            largest_error_ns: AtomicU64::new(0),
            demotion: AtomicU32::new(0),
            mode: AtomicU32::new(0),
            slots: [const { Slot([const { AtomicU64::new(0) }; Line::WORDS]) }; 2],
        }
    }

    /// The state before the first use. Loom's atomics cannot be made at compile time.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        let slot = || Slot(core::array::from_fn(|_| AtomicU64::new(0)));
        Self {
            version: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            last_idle_ns: AtomicU64::new(0),
            rare_ns: AtomicU64::new(0),
            largest_error_ns: AtomicU64::new(0),
            demotion: AtomicU32::new(0),
            mode: AtomicU32::new(0),
            slots: [slot(), slot()],
        }
    }

    /// The fast path: one reading of the counter on a fresh part of the line, in ns. `None` sends the caller to the
    /// slow path, before the counter is touched if it may not be.
    #[inline(always)]
    pub(crate) fn read(&self, counter: impl FnOnce() -> u64) -> Option<u64> {
        let version = self.version.load(Ordering::Acquire);
        if version & LINE == 0 {
            return None;
        }
        let line = self.line(version);
        let floor = self.floor.load(Ordering::Relaxed);
        let tick = counter();
        fence(Ordering::Acquire);
        if self.version.load(Ordering::Relaxed) != version {
            return None;
        }
        // A comparison that is foreseen costs less than a maximum, and the floor is higher only after an OS reading.
        line.fresh(tick).filter(|ns| *ns >= floor)
    }

    /// A line and a tick that was read after it. Tries again only when another thread published meanwhile, which it does
    /// a few thousand times a second at most.
    pub(crate) fn look(&self, mut counter: impl FnMut() -> u64) -> Look {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let line = self.line(version);
            let floor = self.floor();
            let tick = counter();
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                return Look { line, floor, tick };
            }
        }
    }

    #[inline(always)]
    fn line(&self, version: u64) -> Line {
        let slot = &self.slots[(version & 1) as usize].0;
        Line::of_words(core::array::from_fn(|index| slot[index].load(Ordering::Relaxed)))
    }

    /// Makes `line` the one that is read from now on; one that covers no tick takes the line away. Only for the holder of
    /// the lock.
    pub(crate) fn publish(&self, line: &Line) {
        let version = (self.version.load(Ordering::Relaxed) & !LINE) + 1;
        // Whoever sees one of the new words sees the version before them, too, and looks again.
        fence(Ordering::Release);
        for (word, value) in self.slots[(version & 1) as usize].0.iter().zip(line.words()) {
            word.store(value, Ordering::Relaxed);
        }
        let line = if line.covers_any() { LINE } else { 0 };
        self.version.store(version | line, Ordering::Release);
    }

    /// Whether there is a line, fresh or spent.
    pub(crate) fn has_line(&self) -> bool {
        self.version.load(Ordering::Relaxed) & LINE != 0
    }

    /// What no reading may be below.
    #[inline(always)]
    pub(crate) fn floor(&self) -> u64 {
        self.floor.load(Ordering::Relaxed)
    }

    /// Raises the floor to `ns` and returns it: `ns`, or more where it was higher.
    pub(crate) fn raise_floor(&self, ns: u64) -> u64 {
        let floor = self.floor();
        // Looked at first: writing would take the cache line from all readers.
        if floor >= ns { floor } else { self.floor.fetch_max(ns, Ordering::Relaxed).max(ns) }
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.mode.load(Ordering::Acquire) {
            0 => Mode::New,
            1 => Mode::Disciplined,
            _ => Mode::Demoted,
        }
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.mode.store(mode as u32, Ordering::Release);
    }
}
