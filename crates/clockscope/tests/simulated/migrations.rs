//! A clock that goes on where nothing is known of its counter: on a machine that it was moved to,
//! or on a CPU that no test has covered. In simulated worlds.

use crate::world::watch::Watch;
use crate::world::{GHZ, MILLISECOND, SECOND, World};
use clockscope::Source;

/// The longest that readings by a line may precede the notice, in ns: two segments, each up to a
/// tenth longer than a millisecond.
const TWO_WINDOWS_NS: u64 = 2_300_000;

/// In use on a machine whose moves are announced.
fn announced() -> Watch<&'static World> {
    let mut watch = Watch::ordinary();
    watch.world.disruptions.set(Some(7));
    watch.settle();
    assert_eq!(watch.clock.generation(), 1);
    watch
}

/// In use on the word of a test of these CPUs, as in a container on kvm-clock.
fn verified_on(cpus: &[u32]) -> Watch<&'static World> {
    let mut watch = Watch::ordinary();
    watch.world.clocksource.set(Some(false));
    watch.world.cpu.set(Some(cpus[0]));
    watch.run(MILLISECOND, 5_000);
    assert!(watch.clock.readmit_on(cpus));
    watch.settle();
    watch
}

fn outcome(watch: &Watch<&'static World>) -> String {
    let evidence = watch.clock.evidence();
    evidence.iter().find(|evidence| evidence.name == "outcome").map(|found| found.seen.to_string()).unwrap_or_default()
}

#[test]
fn a_move_is_noticed_at_the_next_renewal() {
    let mut watch = announced();
    let hz = 2.596_159_9 * GHZ;
    for (turn, moved) in (1..=10).zip([20.0, -20.0].into_iter().cycle()) {
        let generation = watch.clock.generation();
        // The rate alone differs, by what a slew would explain: no reading shows it.
        watch.world.set_hz(hz * (1.0 + moved * 1e-6));
        watch.world.disruptions.set(Some(7 + turn));
        watch.run(TWO_WINDOWS_NS, 5_000);
        assert_eq!(watch.clock.generation(), generation + 1);
        // No fault of the counter, however often it happens.
        watch.settle();
        assert!(watch.run(20 * MILLISECOND, 5_000) < 100.0);
    }
}

#[test]
fn a_question_notices_a_move_at_once() {
    let mut watch = announced();
    // By less than any reading shows by itself.
    watch.world.step_counter(100_000);
    watch.world.disruptions.set(Some(8));
    let generation = watch.clock.generation();
    let bound = watch.clock.error_bound().unwrap();
    assert_eq!(watch.clock.generation(), generation + 1);
    // 100,000 ticks are 38.5 µs, by which readings before the question were off.
    assert!(bound.largest.as_nanos() >= 38_000, "{bound:?}");
    watch.settle();
    assert!(watch.run(20 * MILLISECOND, 5_000) < 100.0);
}

/// The question knows it with a line at this moment or without one, and wherever on it.
#[test]
fn a_question_knows_what_readings_before_the_notice_were_off() {
    for phase in 0..40 {
        let mut watch = announced();
        watch.run(MILLISECOND + phase * 50_000, 5_000);
        // Readings are 38.5 µs behind from now on, by less than passes meanwhile.
        watch.world.pass(45_000);
        watch.world.step_counter(-100_000);
        watch.read();
        watch.world.disruptions.set(Some(8));
        let bound = watch.clock.error_bound().unwrap();
        assert!(bound.largest.as_nanos() >= 38_000, "{phase}: {bound:?}");
    }
    let mut watch = announced();
    for _ in 0..8 {
        watch.world.pass(SECOND);
        watch.read();
        watch.clock.error_bound();
    }
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::OsClock, 1));
    watch.world.disruptions.set(Some(8));
    watch.clock.error_bound();
    assert_eq!(watch.clock.generation(), 2, "nothing is served by the counter, and the question notices it");
}

#[test]
fn an_announcement_that_is_being_made_is_waited_for_by_nobody() {
    let mut watch = announced();
    watch.world.disruptions.set(None);
    watch.run(10 * MILLISECOND, 5_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 1));
    watch.world.disruptions.set(Some(8));
    watch.run(TWO_WINDOWS_NS, 5_000);
    assert_eq!(watch.clock.generation(), 2);
    // The number of before announces nothing.
    watch.world.disruptions.set(None);
    watch.run(10 * MILLISECOND, 5_000);
    watch.world.disruptions.set(Some(8));
    watch.run(10 * MILLISECOND, 5_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 2));
}

#[test]
fn a_move_in_a_pause_is_noticed_by_the_next_line() {
    let mut watch = announced();
    watch.world.pass(SECOND);
    watch.world.disruptions.set(Some(8));
    watch.settle();
    assert_eq!(watch.clock.generation(), 2);
}

#[test]
fn a_renewal_on_a_cpu_outside_the_test_withdraws_it() {
    let mut watch = verified_on(&[3, 4]);
    watch.world.cpu.set(Some(4));
    watch.run(10 * MILLISECOND, 5_000);
    assert_eq!(watch.clock.source(), Source::Counter);
    let generation = watch.clock.generation();
    watch.world.cpu.set(Some(5));
    watch.run(TWO_WINDOWS_NS, 5_000);
    watch.assert_demoted();
    assert_eq!(watch.clock.generation(), generation + 1);
    assert!(outcome(&watch).contains("other CPUs"), "{}", outcome(&watch));
    // Back where it was tested, and still nobody knows what it was in between.
    watch.world.cpu.set(Some(3));
    watch.assert_demoted();
    assert!(watch.clock.readmit_on(&[3, 4, 5]));
    watch.world.cpu.set(Some(5));
    watch.settle();
}

#[test]
fn a_question_on_such_a_cpu_withdraws_it_at_once() {
    let mut watch = verified_on(&[0]);
    watch.world.cpu.set(Some(1));
    watch.clock.error_bound();
    watch.assert_demoted();
}

#[test]
fn a_test_on_all_cpus_holds_on_every_one() {
    let mut watch = verified_on(&[0]);
    assert!(watch.clock.readmit());
    for cpu in [Some(1), Some(70_000), None] {
        watch.world.cpu.set(cpu);
        watch.settle();
    }
}

/// The kernel tests the CPUs itself.
#[test]
fn a_counter_that_the_kernel_trusts_needs_no_test() {
    let mut watch = Watch::ordinary();
    watch.world.cpu.set(Some(0));
    watch.settle();
    assert!(watch.clock.readmit_on(&[0]));
    watch.world.cpu.set(Some(1));
    watch.run(10 * MILLISECOND, 5_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 1));
    // But then the kernel turns away from it, and the test's word is no more.
    watch.world.clocksource.set(Some(false));
    watch.clock.recheck();
    watch.assert_demoted();
}

#[test]
fn a_test_that_was_made_on_another_machine_does_not_hold() {
    let mut watch = verified_on(&[0]);
    // It could not be read while the test was made: it may have changed since.
    watch.world.disruptions.set(Some(1));
    watch.run(TWO_WINDOWS_NS, 5_000);
    watch.assert_demoted();
    assert!(outcome(&watch).contains("another machine"), "{}", outcome(&watch));
    assert!(watch.clock.readmit_on(&[0]));
    watch.settle();
    watch.world.disruptions.set(Some(2));
    watch.run(TWO_WINDOWS_NS, 5_000);
    watch.assert_demoted();
    // Asking the kernel makes no test, and hides no reason.
    let generation = watch.clock.generation();
    assert!(!watch.clock.recheck());
    assert!(outcome(&watch).contains("another machine"), "{}", outcome(&watch));
    assert_eq!(watch.clock.generation(), generation);
    assert!(watch.clock.readmit_on(&[0]));
    watch.settle();
}

/// Between the test and the first bracket, and while the clock has no use for the counter.
#[test]
fn a_move_that_nothing_saw_withdraws_the_test_as_well() {
    let mut watch = Watch::ordinary();
    watch.world.clocksource.set(Some(false));
    watch.world.disruptions.set(Some(1));
    watch.run(MILLISECOND, 5_000);
    assert!(watch.clock.readmit_on(&[0]));
    watch.world.disruptions.set(Some(2));
    watch.run(30 * MILLISECOND, 5_000);
    watch.assert_demoted();

    assert!(watch.clock.readmit_on(&[0]));
    watch.settle();
    for _ in 0..6 {
        watch.world.step_counter(100_000_000);
        watch.run(30 * MILLISECOND, 5_000);
    }
    assert_eq!(watch.clock.source(), Source::OsClock, "it steps too often");
    watch.world.disruptions.set(Some(3));
    let generation = watch.clock.generation();
    watch.run(20 * SECOND, 5_000);
    watch.assert_demoted();
    assert!(outcome(&watch).contains("another machine"), "{}", outcome(&watch));
    assert_eq!(watch.clock.generation(), generation + 1);
}
