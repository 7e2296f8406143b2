//! Stores the names of clocksources for evidence, so that evidence asks nothing.
//!
//! A name is written once and never changes, so readers need no lock: the number of its slot is
//! one of the kept [`Answers`](super::system_answers::Answers). Outside of the memory that a fork
//! wipes.

use clockscope_core::atomic::AtomicU64;
use clockscope_core::clocksource::ClocksourceName;
use core::sync::atomic::Ordering;

/// Number of names that a process stores. Those of later clocksources are not known.
const SLOTS: usize = 4;

/// Number of a name for which there was no slot.
const NO_SLOT: u8 = 15;

const WORDS_PER_NAME: usize = ClocksourceName::MAX_BYTES / size_of::<u64>();

/// All zero is the state without a name.
pub(crate) struct ClocksourceNames([NameSlot; SLOTS]);

struct NameSlot {
    /// 0: free. Otherwise the length of the name and [`WRITTEN`], or [`BEING_WRITTEN`].
    state: AtomicU64,
    words: [AtomicU64; WORDS_PER_NAME],
}

const BEING_WRITTEN: u64 = 1;
const WRITTEN: u64 = 1 << 32;

impl ClocksourceNames {
    pub(crate) const fn new() -> Self {
        Self([const { NameSlot { state: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; _] } }; SLOTS])
    }

    /// Stores a name, and returns the number of its slot: 1 to 4, or another one if all slots are
    /// taken. Waits for no thread: a name that another one is storing is stored twice.
    pub(crate) fn store(&self, name: &ClocksourceName) -> u8 {
        for (number, slot) in (1..).zip(&self.0) {
            if slot.name().as_ref() == Some(name) || slot.take(name) {
                return number;
            }
        }
        NO_SLOT
    }

    /// Returns the name at a slot; `None` for any other number.
    pub(crate) fn at(&self, number: u8) -> Option<ClocksourceName> {
        self.0.get(usize::from(number).checked_sub(1)?)?.name()
    }
}

impl NameSlot {
    #[inline(never)]
    fn name(&self) -> Option<ClocksourceName> {
        let state = self.state.load(Ordering::Acquire);
        if state & WRITTEN == 0 {
            return None;
        }
        let mut bytes = [0; ClocksourceName::MAX_BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(size_of::<u64>()).zip(&self.words) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
        ClocksourceName::new(bytes.get(..(state & !WRITTEN) as usize)?)
    }

    /// Stores a name if the slot is free.
    fn take(&self, name: &ClocksourceName) -> bool {
        if self.state.compare_exchange(0, BEING_WRITTEN, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        let mut bytes = [0; ClocksourceName::MAX_BYTES];
        for (to, from) in bytes.iter_mut().zip(name.as_bytes()) {
            *to = *from;
        }
        for (word, bytes) in self.words.iter().zip(bytes.chunks_exact(size_of::<u64>())) {
            let mut letters = [0; 8];
            letters.copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(letters), Ordering::Relaxed);
        }
        self.state.store(name.as_bytes().len() as u64 | WRITTEN, Ordering::Release);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> ClocksourceName {
        ClocksourceName::new(name.as_bytes()).unwrap()
    }

    #[test]
    fn each_name_has_a_slot_of_its_own() {
        let names = ClocksourceNames::new();
        assert_eq!(names.at(0), None);
        assert_eq!(names.at(1), None);
        let longest = "x".repeat(ClocksourceName::MAX_BYTES);
        let all = ["tsc", "hyperv_clocksource_tsc_page", &longest, "hpet"];
        let numbers = all.map(|name| names.store(&named(name)));
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!(names.store(&named("acpi_pm")), NO_SLOT, "all slots are taken");
        assert_eq!(names.at(NO_SLOT), None);
        assert_eq!(all.map(|name| names.store(&named(name))), numbers);
        assert_eq!(numbers.map(|number| names.at(number).unwrap().as_str().to_owned()), all);
    }

    #[test]
    fn a_name_that_is_being_stored_is_passed_over() {
        let names = ClocksourceNames::new();
        names.0[0].state.store(BEING_WRITTEN, Ordering::Relaxed);
        assert_eq!(names.at(1), None);
        assert_eq!(names.store(&named("tsc")), 2);
    }
}
