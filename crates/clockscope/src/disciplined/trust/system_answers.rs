//! The last answers of kernel and hardware about the counter.
//!
//! The second reading of a process asks, or [`crate::disciplined::Disciplined::prepare`]; after
//! that only [`crate::disciplined::Disciplined::recheck`] does. Asking takes system calls, which
//! may kill a process that has confined itself. So the answers are stored outside of the memory
//! that a fork wipes, and every new generation and every child uses them.

use clockscope_core::atomic::AtomicU64;
use core::sync::atomic::Ordering;

use crate::evidence::Demotion;

/// The answers, in one word: a bit for their presence, two bits for each, four for the slot of the
/// clocksource's name, one for complete answers, and the upper half for the OS clock's tick. All
/// zero is the state before the first.
pub(crate) struct SystemAnswers(AtomicU64);

/// The answers to one asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    /// May this process read the counter?
    pub(crate) permitted: Option<bool>,
    /// Does the kernel build its clocks on it?
    pub(crate) clocksource: Option<bool>,
    /// Does the hardware promise a constant rate?
    pub(crate) invariant: Option<bool>,
    /// Slot of the clocksource's name ([`super::clocksource_names`]); 0 without a name.
    pub(crate) name: u8,
    /// True if the facts that only evidence reports were asked for, too.
    pub(crate) is_complete: bool,
    /// The OS clock's tick in ns, 1 or more.
    pub(crate) os_tick_ns: u64,
}

/// Shortest tick of an OS clock, in ns, that is too coarse to discipline the counter.
const MIN_COARSE_TICK_NS: u64 = 1000;

const GIVEN: u64 = 1;
const PERMITTED: u32 = 1;
const CLOCKSOURCE: u32 = 3;
const INVARIANT: u32 = 5;
const NAME: u32 = 7;
const NAMES: u64 = 15;
const COMPLETE: u32 = 11;
const TICK: u32 = 32;

impl SystemAnswers {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The answers; `None` before the first question.
    pub(crate) fn answers(&self) -> Option<Answers> {
        let word = self.0.load(Ordering::Acquire);
        if word & GIVEN != 0 { Some(Answers::from_word(word)) } else { None }
    }

    /// Keeps new answers. A question without a new answer keeps its former one: a system that
    /// cannot be asked any more is no evidence against the counter. Many threads may ask at once.
    pub(crate) fn keep(&self, new: Answers) -> Answers {
        let (Ok(former) | Err(former)) = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            Some(Answers::from_word(word).replaced_by(new).word())
        });
        Answers::from_word(former).replaced_by(new)
    }

    /// Forbids to read the counter from now on. Callable in a signal handler.
    pub(crate) fn forbid(&self) {
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| {
            Some(word & !(3 << PERMITTED) | packed(Some(false)) << PERMITTED)
        });
    }
}

impl Answers {
    fn from_word(word: u64) -> Self {
        Self {
            permitted: unpacked(word >> PERMITTED),
            clocksource: unpacked(word >> CLOCKSOURCE),
            invariant: unpacked(word >> INVARIANT),
            name: (word >> NAME & NAMES) as u8,
            is_complete: word >> COMPLETE & 1 != 0,
            os_tick_ns: word >> TICK,
        }
    }

    fn word(&self) -> u64 {
        let answers = packed(self.permitted) << PERMITTED
            | packed(self.clocksource) << CLOCKSOURCE
            | packed(self.invariant) << INVARIANT;
        let name = (u64::from(self.name) & NAMES) << NAME;
        GIVEN | answers | name | u64::from(self.is_complete) << COMPLETE | self.os_tick_ns << TICK
    }

    #[inline(never)]
    fn replaced_by(&self, new: Self) -> Self {
        Self {
            permitted: new.permitted.or(self.permitted),
            clocksource: new.clocksource.or(self.clocksource),
            invariant: new.invariant.or(self.invariant),
            // An answer that has changed without a name is about another clocksource.
            name: match new.clocksource {
                Some(_) if new.name == 0 && new.clocksource != self.clocksource => 0,
                _ if new.name == 0 => self.name,
                _ => new.name,
            },
            is_complete: new.is_complete || self.is_complete,
            os_tick_ns: new.os_tick_ns.clamp(1, u64::from(u32::MAX)),
        }
    }

    /// Reason why the counter may not be used; `None` if it may. `readmitted`: the library's test
    /// of it has passed.
    pub(crate) fn demotion(&self, readmitted: bool) -> Option<Demotion> {
        match (self.permitted, self.clocksource) {
            (Some(false), _) => Some(Demotion::NotPermitted),
            _ if self.os_tick_ns >= MIN_COARSE_TICK_NS => Some(Demotion::CoarseOsClock),
            (_, Some(true)) => None,
            _ if readmitted && self.invariant == Some(true) => None,
            (_, Some(false)) => Some(Demotion::NotClocksource),
            (_, None) => Some(Demotion::ClocksourceUnknown),
        }
    }
}

fn packed(answer: Option<bool>) -> u64 {
    match answer {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    }
}

fn unpacked(bits: u64) -> Option<bool> {
    match bits & 3 {
        0 => None,
        bits => Some(bits == 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_not_replaced_by_none() {
        let system_answers = SystemAnswers::new();
        assert_eq!(system_answers.answers(), None);
        let first = Answers {
            permitted: Some(true),
            clocksource: None,
            invariant: Some(false),
            name: 3,
            is_complete: true,
            os_tick_ns: 4_000_000,
        };
        assert_eq!(system_answers.keep(first), first);
        assert_eq!(system_answers.answers(), Some(first));
        let unanswered = Answers { os_tick_ns: 4_000_000, ..Answers::default() };
        assert_eq!(system_answers.keep(unanswered), first);
        let second = Answers { clocksource: Some(false), name: 2, os_tick_ns: 1, ..Answers::default() };
        let both = Answers { clocksource: Some(false), name: 2, os_tick_ns: 1, ..first };
        assert_eq!(system_answers.keep(second), both);
        let without_name = Answers { clocksource: Some(false), os_tick_ns: 1, ..Answers::default() };
        assert_eq!(system_answers.keep(without_name), both);
        let turned = Answers { clocksource: Some(true), name: 0, ..both };
        assert_eq!(system_answers.keep(Answers { clocksource: Some(true), ..without_name }), turned);
        system_answers.forbid();
        assert_eq!(system_answers.answers(), Some(Answers { permitted: Some(false), ..turned }));
    }
}
