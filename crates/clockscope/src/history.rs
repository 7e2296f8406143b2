//! A history of lines: how counts become times, for as long as the process lives.
//!
//! Each renewal compares the clocks once (`Observer::observe`), and `fit` prolongs the last
//! piece or begins another one. Readers search the pieces without a lock. A count is converted only
//! where two brackets enclose it, and a piece that has converted a count stays as it is: so earlier
//! counts never become later times, whenever they are converted.
//!
//! # Protocol
//!
//! The version is odd while words are written. A reader loads it, finds its piece, marks that as
//! converted, and loads the version again. Writers hold the lock. A writer that makes room, by
//! joining pieces, makes the version odd *before* it loads marks: either it loads the mark, or the
//! reader loads another version, and searches again.
//!
//! A forked child is another owner, with a history of its own.

#[cfg(not(clockscope_models))]
mod excerpt;
mod fit;
mod piece;
#[cfg(all(test, clockscope_models))]
mod protocol;
mod search;

use core::sync::atomic::Ordering;

use crate::disciplined::{
    BoundsRequest, Counter, Disciplined, Observation, OsClock, ProcessGuard, ProcessLock, ProcessMark, SharedWord,
    Unobserved, array_of, const_fn, fence,
};
#[cfg(not(clockscope_models))]
use crate::process::process_mark;
#[cfg(not(clockscope_models))]
pub use excerpt::Excerpt;
use fit::{Fit, Step};
#[cfg(not(clockscope_models))]
pub(crate) use piece::Ahead;
pub use piece::Piece;
use piece::{CONVERTED, FLAGS, Words};
pub use search::Uncovered;
pub(crate) use search::{Doubt, Tail, is_before};
use search::{index_of, no_doubt, not_past};

/// Attempts of a reader while words are being written, and of a writer to take the lock: about a
/// millisecond, longer than it takes to make room.
const TRIES: u32 = 20_000;

/// Number of ranges of counts of which there may be two moments.
const DOUBTS: usize = 8;

/// Observations that are tried while brackets are interrupted.
const OBSERVATION_TRIES: u32 = 4;

/// Reason why a history was not renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrenewed {
    /// There was no bracket.
    Unobserved(Unobserved),
    /// Another thread renews it, or this call has interrupted that.
    Busy,
    /// The OS clock stepped back, and the timeline waits for it.
    Behind,
}

/// Up to `N` pieces.
pub struct History<const N: usize> {
    version: SharedWord,
    /// The process whose history it is; 0 for none.
    owner: SharedWord,
    pieces: SharedWord,
    /// Ranges that may have two moments, because the counter went back: first count and length.
    doubts: [[SharedWord; 2]; DOUBTS],
    /// The smallest error from this count on, in ns, as far as is known yet.
    tail_from: SharedWord,
    tail_error_ns: SharedWord,
    fit: ProcessLock<Fit>,
    words: [[SharedWord; Piece::WORDS]; N],
}

impl<const N: usize> History<N> {
    const_fn! {
        /// An empty history.
        #[must_use]
        #[allow(clippy::new_without_default, reason = "it is for a static")]
        pub fn new() -> Self {
            Self {
                version: SharedWord::new(0),
                owner: SharedWord::new(0),
                pieces: SharedWord::new(0),
                doubts: array_of!(array_of!(SharedWord::new(0); 2); DOUBTS),
                tail_from: SharedWord::new(0),
                tail_error_ns: SharedWord::new(0),
                fit: ProcessLock::new(SharedWord::new(0), Fit::NONE),
                words: array_of!(array_of!(SharedWord::new(0); Piece::WORDS); N),
            }
        }
    }

    /// Compares the clocks, and adds that to the history of this process. The caller names no
    /// owner, because two owners could write at the same time.
    ///
    /// ```compile_fail,E0061
    /// use clockscope::disciplined::{Counter, Disciplined, OsClock};
    /// use clockscope::history::History;
    ///
    /// fn renew<C: Counter, S: OsClock>(history: &History<4>, clock: &Disciplined<C, S>) {
    ///     let _ = history.renew(clock, 1);
    /// }
    /// ```
    ///
    /// # Errors
    /// The clocks were not compared, for this reason.
    pub fn renew<C: Counter, S: OsClock>(&self, clock: &Disciplined<C, S>) -> Result<(), Unrenewed> {
        self.renew_by(process_mark(), |enough| clock.layers.observe(enough, BoundsRequest::Asked))
    }

    /// Adds what `observe` returns to the history of `owner`.
    pub(crate) fn renew_by(
        &self,
        owner: ProcessMark,
        observe: impl Fn(u64) -> Result<Observation, Unobserved>,
    ) -> Result<(), Unrenewed> {
        let mut fit = self.lock(owner).ok_or(Unrenewed::Busy)?;
        if !self.is_of(owner) {
            *fit = Fit::NONE;
            self.write(|| self.restart(owner));
        }
        let seen = uninterrupted(&fit, observe)?;
        if fit.is_behind(&seen) {
            return Err(Unrenewed::Behind);
        }
        self.keep(fit.take(seen));
        Ok(())
    }

    /// The lock, unless another thread holds it all the time.
    fn lock(&self, owner: ProcessMark) -> Option<ProcessGuard<'_, Fit>> {
        (0..if cfg!(clockscope_models) { 1 } else { TRIES }).find_map(|_| {
            core::hint::spin_loop();
            self.fit.try_lock(owner)
        })
    }

    /// Runs `work` while readers try again. Only for the holder of the lock.
    fn write(&self, work: impl FnOnce()) {
        let odd = self.version.load(Ordering::Relaxed) | 1;
        self.version.store(odd, Ordering::Relaxed);
        // No word is written, and no mark loaded, before that.
        fence(Ordering::SeqCst);
        work();
        self.version.store(odd.wrapping_add(1), Ordering::Release);
    }

    /// Returns true if it is the history of `owner`.
    pub(crate) fn is_of(&self, owner: ProcessMark) -> bool {
        self.owner.load(Ordering::Acquire) == owner.number()
    }

    fn restart(&self, owner: ProcessMark) {
        let words = [&self.pieces, &self.tail_from, &self.tail_error_ns];
        for word in words.into_iter().chain(self.doubts.iter().flatten()) {
            word.store(0, Ordering::Relaxed);
        }
        self.owner.store(owner.number(), Ordering::Release);
    }

    /// Stores the consequences of an observation.
    fn keep(&self, step: Step) {
        self.write(|| {
            if let Some(doubtful) = step.doubtful {
                let first = if doubtful.forgets_all { self.forget() } else { None };
                self.add_doubt(first.unwrap_or(doubtful.first), doubtful.last);
            }
            let count = self.pieces();
            if let (Some(piece), Some(last)) = (step.replace, count.checked_sub(1)) {
                let error_ns = self.piece(last).error_ns;
                self.change(last, &Piece { error_ns, ..piece });
            }
            if let Some(piece) = step.push {
                let at = if count < N { count } else { self.make_room() };
                self.store(at, &piece.words());
                self.pieces.store(at as u64 + 1, Ordering::Relaxed);
            }
            if let Some((from, to, error_ns)) = step.settled {
                self.settle(from, to, error_ns);
            }
            let (from, error_ns) = step.tail;
            self.tail_from.store(from, Ordering::Relaxed);
            self.tail_error_ns.store(error_ns, Ordering::Relaxed);
        });
    }

    /// Forgets all pieces: counts since the first of them may come again.
    fn forget(&self) -> Option<u64> {
        let first = if self.pieces() > 0 { Some(self.start(0)) } else { None };
        self.pieces.store(0, Ordering::Relaxed);
        first
    }

    fn doubt(&self, index: usize) -> Doubt {
        let [from, counts] = &self.doubts[index];
        Doubt { from: from.load(Ordering::Relaxed), counts: counts.load(Ordering::Relaxed) }
    }

    fn tail(&self) -> Tail {
        Tail { from: self.tail_from.load(Ordering::Relaxed), error_ns: self.tail_error_ns.load(Ordering::Relaxed) }
    }

    /// Adds a range of counts that may have two moments. If no range is free, the last one is
    /// extended to them.
    fn add_doubt(&self, first: u64, last: u64) {
        let free = (0..DOUBTS).find(|index| self.doubt(*index).counts == 0);
        let (mut from, mut end) = (first, last.wrapping_add(1));
        let index = free.unwrap_or(DOUBTS - 1);
        if free.is_none() {
            let other = self.doubt(index);
            let other_end = other.from.wrapping_add(other.counts);
            from = if is_before(other.from, from) { other.from } else { from };
            end = if is_before(end, other_end) { other_end } else { end };
        }
        let [from_word, counts] = &self.doubts[index];
        from_word.store(from, Ordering::Relaxed);
        counts.store(end.wrapping_sub(from), Ordering::Relaxed);
    }

    /// Raises the error between these counts to this one.
    fn settle(&self, from: u64, to: u64, error_ns: u64) {
        for index in (0..self.pieces()).rev() {
            let piece = self.piece(index);
            if !is_before(from, piece.end()) {
                return;
            }
            if is_before(piece.start, to) && piece.error_ns < error_ns {
                self.change(index, &Piece { error_ns, ..piece });
            }
        }
    }

    /// Makes room: joins pairs of the older half that converted nothing, and drops the oldest if
    /// that is not enough. Returns how many are left.
    fn make_room(&self) -> usize {
        let (mut kept, mut index) = (0, 0);
        while index < N {
            let joined = self.joined(index);
            index += if joined.is_some() { 2 } else { 1 };
            self.store(kept, &joined.unwrap_or_else(|| self.load(index - 1)));
            kept += 1;
        }
        let needed = (N / 16).max(1);
        if N - kept >= needed {
            return kept;
        }
        (needed..kept).for_each(|index| self.store(index - needed, &self.load(index)));
        kept - needed
    }

    /// This piece and the next as one, if both are old, and neither converted a count.
    fn joined(&self, index: usize) -> Option<Words> {
        if index + 1 >= N / 2 {
            return None;
        }
        let [one, next] = [self.load(index), self.load(index + 1)];
        if (one[FLAGS] | next[FLAGS]) & CONVERTED != 0 {
            return None;
        }
        Some(Piece::from_words(one).joined(&Piece::from_words(next))?.words())
    }

    /// Returns the number of its pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        (self.pieces.load(Ordering::Relaxed) as usize).min(N)
    }

    fn start(&self, index: usize) -> u64 {
        self.words[index][0].load(Ordering::Relaxed)
    }

    fn load(&self, index: usize) -> Words {
        core::array::from_fn(|word| self.words[index][word].load(Ordering::Relaxed))
    }

    fn piece(&self, index: usize) -> Piece {
        Piece::from_words(self.load(index))
    }

    /// Replaces a piece, which stays marked. (A reader that marks it meanwhile tries again.)
    fn change(&self, index: usize, piece: &Piece) {
        let mut words = piece.words();
        words[FLAGS] |= self.words[index][FLAGS].load(Ordering::Relaxed) & CONVERTED;
        self.store(index, &words);
    }

    fn store(&self, index: usize, words: &Words) {
        for (word, value) in self.words[index].iter().zip(words) {
            word.store(*value, Ordering::Relaxed);
        }
    }

    /// The piece that covers a count, with its error, in the history of this process.
    ///
    /// # Errors
    /// None does, for this reason.
    pub fn find(&self, count: u64) -> Result<Piece, Uncovered> {
        self.find_by(count, process_mark())
    }

    /// The piece that covers a count, in the history of `owner`.
    pub(crate) fn find_by(&self, count: u64, owner: ProcessMark) -> Result<Piece, Uncovered> {
        for _ in 0..if cfg!(clockscope_models) { 2 } else { TRIES } {
            // First, because a child may find the version odd for ever.
            if !self.is_of(owner) {
                return Err(Uncovered::None);
            }
            let version = self.version.load(Ordering::Acquire);
            if version & 1 == 0 {
                let found = self.look(count);
                // The mark comes before the second load of the version.
                fence(Ordering::SeqCst);
                if self.version.load(Ordering::Relaxed) == version {
                    return found;
                }
            }
            core::hint::spin_loop();
        }
        Err(Uncovered::Busy)
    }

    fn look(&self, count: u64) -> Result<Piece, Uncovered> {
        no_doubt((0..DOUBTS).map(|index| self.doubt(index)), count)?;
        let pieces = self.pieces();
        let index = index_of(count, pieces, |index| self.start(index))?;
        let words = self.load(index);
        let piece = Piece::from_words(words);
        not_past(&piece, count, index + 1 == pieces)?;
        if words[FLAGS] & CONVERTED == 0 {
            self.words[index][FLAGS].fetch_or(CONVERTED, Ordering::Relaxed);
        }
        Ok(self.tail().applied(piece, count))
    }
}

/// Loom's threads are those of one process.
#[cfg(clockscope_models)]
fn process_mark() -> ProcessMark {
    ProcessMark::for_test(1)
}

/// Observes the clocks until a bracket was not interrupted, and returns the narrowest of several
/// that were.
fn uninterrupted(
    fit: &Fit,
    observe: impl Fn(u64) -> Result<Observation, Unobserved>,
) -> Result<Observation, Unrenewed> {
    let mut best: Option<Observation> = None;
    for _ in 0..OBSERVATION_TRIES {
        let seen = match (observe(fit.enough()), best) {
            (Ok(seen), _) => seen,
            (Err(_), Some(best)) => return Ok(best),
            (Err(reason), None) => return Err(Unrenewed::Unobserved(reason)),
        };
        if best.is_none_or(|best| seen.bracket.width() < best.bracket.width()) {
            best = Some(seen);
        }
        if !fit.is_interrupted(&seen.bracket) {
            return Ok(seen);
        }
    }
    best.ok_or(Unrenewed::Unobserved(Unobserved::NoBracket))
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;
    use clockscope_core::brackets::Bracket;

    /// Counts of a nanosecond.
    fn seen_at(count: u64) -> Observation {
        Observation {
            bracket: Bracket { before: count, inner: count + 10, after: count + 20 },
            os_tick_ns: 1,
            ..Observation::NONE
        }
    }

    #[test]
    fn a_child_begins_a_history_of_its_own() {
        let history = History::<100>::new();
        let [parent, child] = [1, 2].map(ProcessMark::for_test);
        let renew = |count, owner| history.renew_by(owner, |_| Ok(seen_at(count))).expect("nothing is in the way");
        let find = |count, owner| history.find_by(count, owner).err();
        for count in [1_000_000, 2_000_000, 3_000_000] {
            renew(count, parent);
        }
        assert_eq!(find(1_500_000, parent), None);
        assert_eq!(find(1_500_000, child), Some(Uncovered::None), "another process's");
        for count in [4_000_000, 5_000_000, 6_000_000] {
            renew(count, child);
        }
        assert_eq!(find(1_500_000, parent), Some(Uncovered::None));
        assert_eq!((find(1_500_000, child), find(4_500_000, child)), (Some(Uncovered::Before), None));
    }
}
