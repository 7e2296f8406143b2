//! Stores between which CPUs a test has shown that the counter may be trusted, where the kernel does
//! not trust it.
//!
//! The counter is used on the word of such a test. The test says nothing of other CPUs, and nothing
//! of another machine: whoever finds that it runs there withdraws the word.

use core::sync::atomic::{AtomicU64, Ordering};

/// CPUs that can be remembered one by one; those beyond are not covered.
const CPUS: usize = 1024;
const WORD: usize = u64::BITS as usize;

/// The word, and for which CPUs it holds. All zero is the state before any test.
pub(crate) struct Tested {
    /// The number of the test that passed last, and in the lowest bits whether its word still holds,
    /// and for which CPUs.
    word: AtomicU64,
    cpus: [AtomicU64; CPUS / WORD],
}

/// The lowest bits of the word.
const SCOPE: u64 = 3;
const SOME_CPUS: u64 = 1;
const ALL_CPUS: u64 = 2;
const ONE_TEST: u64 = 4;

/// The word of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Tested {
    pub(crate) const fn new() -> Self {
        Self { word: AtomicU64::new(0), cpus: [const { AtomicU64::new(0) }; CPUS / WORD] }
    }

    /// A test has passed on these CPUs; `None`: on all that there are.
    pub(crate) fn accept(&self, cpus: Option<&[u32]>) {
        if let Some(tested) = cpus {
            for (first, word) in (0..).step_by(WORD).zip(&self.cpus) {
                let bits = tested.iter().filter_map(|cpu| cpu.checked_sub(first).filter(|bit| *bit < u64::BITS));
                word.store(bits.fold(0, |mask, bit| mask | 1 << bit), Ordering::Relaxed);
            }
        }
        let scope = if cpus.is_some() { SOME_CPUS } else { ALL_CPUS };
        let next = |word: u64| Some((word | SCOPE).wrapping_add(1) | scope);
        // After the CPUs: who finds the word finds them.
        let _ = self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next);
    }

    /// Withdraws every word.
    pub(crate) fn reject(&self) {
        self.word.fetch_and(!SCOPE, Ordering::AcqRel);
    }

    /// Withdraws this word, unless another test has passed since.
    pub(crate) fn withdraw(&self, word: Word) {
        let _ = self.word.compare_exchange(word.0, word.0 & !SCOPE, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Returns the word of the last test that passed, if it was not withdrawn.
    pub(crate) fn word(&self) -> Option<Word> {
        let word = self.word.load(Ordering::Acquire);
        (word & SCOPE != 0).then_some(Word(word))
    }

    /// Returns whether the word holds on this CPU; where the CPU is not known, it does.
    pub(crate) fn covers(&self, word: Word, cpu: impl FnOnce() -> Option<u32>) -> bool {
        if word.0 & SCOPE == ALL_CPUS {
            return true;
        }
        let Some(cpu) = cpu().map(|cpu| cpu as usize) else { return true };
        let bits = self.cpus.get(cpu / WORD).map_or(0, |word| word.load(Ordering::Relaxed));
        bits >> (cpu % WORD) & 1 == 1
    }
}

const _: () = assert!(ONE_TEST == SCOPE + 1, "adding one to a word whose scope is full counts a test");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_for_its_cpus_until_it_is_withdrawn() {
        let tested = Tested::new();
        assert_eq!(tested.word(), None);
        tested.accept(Some(&[0, 63, 64, 1023, 70_000]));
        let first = tested.word().unwrap();
        for (cpu, holds) in [(0, true), (1, false), (63, true), (64, true), (65, false), (1023, true), (70_000, false)]
        {
            assert_eq!(tested.covers(first, || Some(cpu)), holds, "CPU {cpu}");
        }
        assert!(tested.covers(first, || None));
        // Another test has passed meanwhile: its word stays.
        tested.accept(Some(&[2]));
        tested.withdraw(first);
        let second = tested.word().unwrap();
        assert!(tested.covers(second, || Some(2)) && !tested.covers(second, || Some(0)));
        tested.withdraw(second);
        assert_eq!(tested.word(), None);
        tested.accept(None);
        let third = tested.word().unwrap();
        assert!(third != second && tested.covers(third, || Some(70_000)));
        tested.reject();
        assert_eq!(tested.word(), None);
    }
}
