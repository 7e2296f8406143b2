//! Evidence reports what counter and system answered when they were asked, and asks nothing.

use std::cell::Cell;

use crate::world::watch::Watch;
use crate::world::{GHZ, MILLISECOND, World};
use clockscope::disciplined::Counter;
use clockscope::{Evidence, Finding};
use clockscope_core::clocksource::ClocksourceName;

/// A counter that counts the questions about it, and whose kernel changes its answers.
struct Questioned {
    world: &'static World,
    name: &'static Cell<&'static str>,
    questions: &'static Cell<u32>,
    kernel_hz: f64,
}

impl Questioned {
    fn count(&self) {
        self.questions.set(self.questions.get() + 1);
    }
}

impl Counter for Questioned {
    fn ordered(&self) -> u64 {
        self.world.ordered()
    }
    fn is_permitted(&self) -> Option<bool> {
        self.count();
        Some(true)
    }
    fn is_clocksource(&self) -> Option<bool> {
        self.count();
        Some(self.name.get() == "tsc")
    }
    fn is_invariant(&self) -> Option<bool> {
        Some(true)
    }
    fn clocksource_name(&self) -> Option<ClocksourceName> {
        self.count();
        ClocksourceName::new(self.name.get().as_bytes())
    }
    fn kernel_hz(&self) -> Option<f64> {
        self.count();
        Some(self.kernel_hz)
    }
}

fn questioned() -> (Watch<Questioned>, &'static Cell<&'static str>, &'static Cell<u32>) {
    let name: &'static Cell<&'static str> = Box::leak(Box::new(Cell::new("tsc")));
    let questions: &'static Cell<u32> = Box::leak(Box::new(Cell::new(0)));
    let counter = |world| Questioned { world, name, questions, kernel_hz: 2.4e9 };
    (Watch::with(World::new(2.4 * GHZ, 0, 0), counter), name, questions)
}

fn piece(evidence: &[Evidence], name: &str) -> Evidence {
    evidence.iter().find(|evidence| evidence.name == name).unwrap().clone()
}

#[test]
fn evidence_asks_nothing_and_a_recheck_refreshes_it() {
    let (mut watch, name, questions) = questioned();
    watch.clock.prepare();
    let prepared = questions.get();
    watch.run(5 * MILLISECOND, 5_000);
    name.set("hpet");
    let before = watch.clock.evidence();
    assert_eq!(questions.get(), prepared, "nothing was asked after the preparation");
    assert_eq!(piece(&before, "clocksource").finding, Finding::For);
    let unasked = piece(&before, "nominal frequency");
    assert_eq!((&*unasked.seen, &*unasked.advice), ("the processor states no frequency", "recheck() asks the kernel"));

    assert!(!watch.clock.recheck());
    let rechecked = questions.get();
    assert!(rechecked > prepared);
    let after = watch.clock.evidence();
    let clocksource = piece(&after, "clocksource");
    assert_eq!((clocksource.finding, &*clocksource.seen), (Finding::Against, "the kernel builds its clocks on hpet"));
    assert_eq!(piece(&after, "nominal frequency").source, "the kernel, by perf");
    assert!(after.iter().any(|evidence| evidence.name == "outcome"));

    name.set("tsc");
    assert!(watch.clock.recheck());
    assert_eq!(piece(&watch.clock.evidence(), "clocksource").seen, "the kernel builds its clocks on it (tsc)");
    assert_eq!(questions.get(), rechecked + (rechecked - prepared), "only the second recheck has asked");
}

/// The first evidence of a process asks as its second reading would, and no more.
#[test]
fn evidence_before_any_reading_asks_once() {
    let (watch, _, questions) = questioned();
    let evidence = watch.clock.evidence();
    let requests = questions.get();
    assert!(requests > 0);
    assert_eq!(watch.clock.evidence().len(), evidence.len());
    assert_eq!(questions.get(), requests);
}
