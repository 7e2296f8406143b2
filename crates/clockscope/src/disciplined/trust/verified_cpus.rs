//! Stores on which CPUs, and on which machine, a test has shown that the counter may be trusted
//! where the kernel does not trust it.
//!
//! The counter is then used because of that test. The test shows nothing of other CPUs or of
//! another machine: a renewal that runs there revokes it.

use clockscope_core::atomic::AtomicU64;
use core::sync::atomic::Ordering;

/// CPUs of which each is stored. Those beyond are not covered.
pub(crate) const MAX_CPUS: usize = 1024;
const CPUS_PER_WORD: usize = u64::BITS as usize;

/// The last test that passed. All zero is the state before any. Outside of the memory that a fork
/// wipes: a child uses the counter because of its parent's test.
pub(crate) struct VerifiedCpus {
    /// The number of the test, and in the lowest bits its scope.
    word: AtomicU64,
    cpus: [AtomicU64; MAX_CPUS / CPUS_PER_WORD],
    /// [`crate::disciplined::OsClock::disruptions`] when the test began, plus 1; 0 where it
    /// was not known.
    disruptions: AtomicU64,
}

/// The lowest bits of the word: none, or one of these.
const SCOPE: u64 = 3;
const SOME_CPUS: u64 = 1;
const ALL_CPUS: u64 = 2;
const BEING_STORED: u64 = 3;
const ONE_TEST: u64 = SCOPE + 1;

/// One test that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Test(u64);

impl VerifiedCpus {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            cpus: [const { AtomicU64::new(0) }; MAX_CPUS / CPUS_PER_WORD],
            disruptions: AtomicU64::new(0),
        }
    }

    /// Stores that a test has passed on these CPUs (`None`: on all that there are), which began
    /// when the machine's number of disruptions was this. `false` if another thread is storing one,
    /// or rejects it meanwhile. Waits for no other thread.
    pub(crate) fn accept(&self, cpus: Option<&[u32]>, disruptions: Option<u64>) -> bool {
        let Ok(former) = self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| {
            let being_stored = (word & !SCOPE).wrapping_add(ONE_TEST | BEING_STORED);
            if word & SCOPE == BEING_STORED { None } else { Some(being_stored) }
        }) else {
            return false;
        };
        let number = (former & !SCOPE).wrapping_add(ONE_TEST);
        if let Some(covered) = cpus {
            for (word, stored) in (0..).zip(&self.cpus) {
                let of_word = covered.iter().filter(|cpu| **cpu as usize / CPUS_PER_WORD == word);
                stored.store(of_word.fold(0, |mask, cpu| mask | 1 << (cpu % u64::BITS)), Ordering::Relaxed);
            }
        }
        self.disruptions.store(plus_one(disruptions), Ordering::Relaxed);
        let stored = number | if cpus.is_some() { SOME_CPUS } else { ALL_CPUS };
        self.word.compare_exchange(number | BEING_STORED, stored, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Revokes every test.
    pub(crate) fn reject(&self) {
        self.word.fetch_and(!SCOPE, Ordering::AcqRel);
    }

    /// Revokes this test, unless another one has passed since.
    pub(crate) fn revoke(&self, test: Test) {
        let _ = self.word.compare_exchange(test.0, test.0 & !SCOPE, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Returns the last test that passed, if it was not revoked.
    pub(crate) fn last(&self) -> Option<Test> {
        let word = self.word.load(Ordering::Acquire);
        if matches!(word & SCOPE, SOME_CPUS | ALL_CPUS) { Some(Test(word)) } else { None }
    }

    /// Returns true if the test was made on this CPU, or if the CPU is not known.
    pub(crate) fn covers_cpu(&self, test: Test, cpu: impl FnOnce() -> Option<u32>) -> bool {
        if test.0 & SCOPE == ALL_CPUS {
            return true;
        }
        let Some(cpu) = cpu().map(|cpu| cpu as usize) else { return true };
        let bits = self.cpus.get(cpu / CPUS_PER_WORD).map_or(0, |word| word.load(Ordering::Relaxed));
        bits >> (cpu % CPUS_PER_WORD) & 1 == 1
    }

    /// Returns true if the test was made on this machine: the number of disruptions is unchanged,
    /// or is not known now. A number that was not known when the test began has changed.
    pub(crate) fn covers_machine(&self, disruptions: Option<u64>) -> bool {
        disruptions.is_none() || self.disruptions.load(Ordering::Relaxed) == plus_one(disruptions)
    }
}

/// A number in a word in which 0 means that it is not known.
pub(crate) fn plus_one(disruptions: Option<u64>) -> u64 {
    disruptions.map_or(0, |number| number.wrapping_add(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_holds_for_its_cpus_until_it_is_revoked() {
        let verified_cpus = VerifiedCpus::new();
        assert_eq!(verified_cpus.last(), None);
        assert!(verified_cpus.accept(Some(&[0, 63, 64, 1023, 70_000]), None));
        let first = verified_cpus.last().unwrap();
        for (cpu, holds) in [(0, true), (1, false), (63, true), (64, true), (65, false), (1023, true), (70_000, false)]
        {
            assert_eq!(verified_cpus.covers_cpu(first, || Some(cpu)), holds, "CPU {cpu}");
        }
        assert!(verified_cpus.covers_cpu(first, || None));
        // Another test has passed meanwhile: it stays.
        assert!(verified_cpus.accept(Some(&[2]), Some(7)));
        verified_cpus.revoke(first);
        let second = verified_cpus.last().unwrap();
        assert!(verified_cpus.covers_cpu(second, || Some(2)) && !verified_cpus.covers_cpu(second, || Some(0)));
        verified_cpus.revoke(second);
        assert_eq!(verified_cpus.last(), None);
        assert!(verified_cpus.accept(None, None));
        let third = verified_cpus.last().unwrap();
        assert!(third != second && verified_cpus.covers_cpu(third, || Some(70_000)));
        verified_cpus.reject();
        assert_eq!(verified_cpus.last(), None);
    }

    #[test]
    fn a_test_holds_for_its_machine() {
        let verified_cpus = VerifiedCpus::new();
        for (at_test, now, holds) in [
            (Some(7), Some(7), true),
            (Some(7), Some(8), false),
            (Some(7), None, true),
            (None, None, true),
            (None, Some(7), false),
            (Some(u64::MAX), Some(u64::MAX), true),
        ] {
            assert!(verified_cpus.accept(None, at_test));
            assert_eq!(verified_cpus.covers_machine(now), holds, "{at_test:?} {now:?}");
        }
    }

    #[test]
    fn of_two_tests_that_are_stored_at_once_one_counts() {
        let verified_cpus = VerifiedCpus::new();
        verified_cpus.word.store(ONE_TEST | BEING_STORED, Ordering::Relaxed);
        assert!(!verified_cpus.accept(Some(&[0]), None));
        assert_eq!(verified_cpus.last(), None);
        // Rejected while it is being stored.
        verified_cpus.reject();
        assert!(verified_cpus.accept(Some(&[0]), None));
    }
}
