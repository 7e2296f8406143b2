//! *Steps*: ticks, events and distributions.

use clockscope_measure::{Amount, Catalog, Paths, Session, StepsRequest, steps};
use clockscope_records::{Events, StepsRecord};
use clockscope_testing::simulation::{Change, Random, Refused};

use crate::events::back_is_found;
use crate::harness::{Coverage, on_machines};
use crate::machine::{Clocksource, Machine, Maker, Spec, pick};
use crate::platform::Simulated;
use crate::ticks;
use crate::varied::check_unreadable;

/// Clocks of one machine are at most so much faster than one another, as a share.
const DRIFT: f64 = 210e-6;

/// A jump of more is a warp, in ns.
const WARP_NS: f64 = 1e6;

/// Time that a question takes beside the time that it was asked for, in ms: trying, calibrating,
/// and a batch.
const OVERHEAD_MS: f64 = 15.0;

/// For how long clocks are read: long runs are rare.
fn duration_s(random: &mut Random) -> f64 {
    if random.happens(0.03) { 3.0 } else { 0.06 + 0.1 * random.fraction() }
}

/// Reads two of the clocks for 60 ms to 3 s of simulated time.
fn read(session: &Session<'_, Simulated>, seed: u64) -> Vec<StepsRecord> {
    let mut random = Random::new(seed);
    let seconds = duration_s(&mut random);
    let all: Vec<String> = session.platform().machine.specs.iter().map(Spec::label).collect();
    let names: Vec<String> = (0..2).map(|_| all[random.below(all.len() as u64) as usize].clone()).collect();
    ask(session, &names, seconds)
}

fn ask(session: &Session<'_, Simulated>, names: &[String], seconds: f64) -> Vec<StepsRecord> {
    let catalog = Catalog::new(session.platform()).select(names, Paths::Libc).expect("they are there");
    let request = StepsRequest { amount: Amount::Duration(seconds), cpu: None };
    let found = steps(session, catalog, &request, &mut |_| {}).expect("it can be asked");
    found.found.clocks
}

/// Nothing is held against a clock that did nothing wrong, however busy the machine is; and its
/// tick is right, or unknown.
#[test]
fn a_right_clock_is_right_on_any_machine() {
    on_machines(
        "steps::a_right_clock",
        |seed| Simulated::within(Maker::varied(seed).make(), duration_s(&mut Random::new(seed))),
        |session, seed| {
            let machine = &session.platform().machine;
            for record in read(session, seed) {
                let spec = machine.spec(&record.identity.label()).expect("it is there");
                if !record.available {
                    check_unreadable(machine, spec, record.reason.as_ref());
                    continue;
                }
                ticks::check(machine, spec, record.tick_ns.get(), record.tick_evidence.as_ref());
                nothing_is_wrong(&record.identity.label(), record.events.as_ref().expect("it was judged"));
            }
        },
    );
}

pub(crate) fn nothing_is_wrong(name: &str, events: &Events) {
    let wrong = [Some(events.regression), events.jump.get(), events.warp.get(), events.hidden_regression.get()];
    assert!(wrong.iter().all(|count| count.is_none_or(|count| count == 0)), "{name}: {events:?}");
    assert_eq!(events.errors, 0, "{name}");
}

/// A machine whose MONOTONIC is stepped once, by 1 µs to 10 ms, forward or back.
fn stepped(seed: u64) -> (Machine, i64) {
    let mut maker = Maker::varied(seed);
    maker.clocksource = Clocksource::Tsc;
    let (at_ms, back) = (20.0 + 30.0 * maker.random.fraction(), maker.random.happens(0.5));
    let ns = (10f64.powf(3.0 + 4.0 * maker.random.fraction())) as i64;
    let ns = if back { -ns } else { ns };
    let mut machine = maker.make();
    let clock = machine.monotonic();
    machine.at_ms(at_ms, Change::StepClock { clock, ns });
    (machine, ns)
}

/// One step of a clock is one event at most, and not larger than it is. One forward that is as
/// large as is said is found in nine tenths of the time; one back that no loss of the CPU hides
/// always is.
#[test]
fn a_step_is_one_event_of_its_kind() {
    let mut found = Coverage::default();
    let make = |seed| {
        let machine = stepped(seed).0;
        let (clock_index, at_ps) = (machine.clock_index("monotonic"), machine.changes[0].0);
        let platform = Simulated::within(machine, 0.1);
        platform.log_around(clock_index, at_ps);
        platform
    };
    on_machines("steps::a_step_is_one_event", make, |session, seed| {
        let ns = stepped(seed).1;
        let record = ask(session, &["monotonic".to_owned()], 0.1).remove(0);
        let events = record.events.as_ref().expect("it was judged");
        let (forward, back) =
            (events.jump.get().unwrap_or(0), events.regression + events.hidden_regression.get().unwrap_or(0));
        assert!(forward <= u64::from(ns > 0) && back <= u64::from(ns < 0), "stepped by {ns} ns: {events:?}");
        let (sure_ns, threshold_ns) =
            (events.sure_ns.get().expect("it advanced"), events.threshold_ns.get().expect("likewise"));
        assert!(sure_ns >= 0.0, "stepped by {ns} ns: {events:?}");
        if ns as f64 > sure_ns {
            found.count(forward == 1);
        }
        if ns < 0 {
            let platform = session.platform();
            back_is_found(&platform.machine, &platform.around().expect("it was kept"), ns as f64, events);
        }
        let lost_ps = session.platform().machine.cpus.taken().iter().map(|lost| lost.taken.ps).max().unwrap_or(0);
        // A short interruption that falls on a step is part of it, and so is what clock and
        // reference drift apart while the CPU is lost.
        let most_ns = ns as f64 + threshold_ns.max(sure_ns) + lost_ps as f64 / 1e3 * DRIFT;
        assert!(events.warp.get().unwrap_or(0) <= u64::from(most_ns > WARP_NS), "stepped by {ns} ns: {events:?}");
        for worst in record.worst.jump.iter().chain(&record.worst.warp).filter_map(|worst| worst.size_ns) {
            assert!(
                worst >= threshold_ns && worst <= most_ns,
                "stepped by {ns} ns, {worst} ns was reported: {events:?}"
            );
        }
    });
    found.check_nominal(0.9, 5);
}

/// Fault of MONOTONIC, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Freezes,
    Refuses,
    FreezesForAWhile,
}

/// For how long a clock is read to which it is done, in s.
const FAULTY_S: f64 = 0.12;

fn faulty(seed: u64) -> (Machine, Fault) {
    let mut maker = Maker::varied(seed);
    let fault = pick(&mut maker.random, &[Fault::Freezes, Fault::Refuses, Fault::FreezesForAWhile]);
    let at_ms = 20.0 + 30.0 * maker.random.fraction();
    let mut machine = maker.make();
    let clock = machine.monotonic();
    match fault {
        Fault::Freezes => machine.at_ms(at_ms, Change::FreezeClock { clock }),
        Fault::Refuses => machine.at_ms(at_ms, Change::RefuseClock { clock, refused: Some(Refused(22)) }),
        Fault::FreezesForAWhile => {
            machine.at_ms(at_ms, Change::FreezeClock { clock });
            machine.at_ms(at_ms + 20.0, Change::ThawClock { clock });
        }
    }
    (machine, fault)
}

/// A clock that stands still or refuses during the run is found to do that, and nothing else, in
/// the time that was asked for.
#[test]
fn a_fault_under_way_is_reported_as_what_it_is() {
    on_machines(
        "steps::a_fault_under_way",
        |seed| Simulated::within(faulty(seed).0, FAULTY_S),
        |session, seed| {
            let (_, fault) = faulty(seed);
            let machine = &session.platform().machine;
            let began_ps = machine.cpus.now_ps();
            let record = ask(session, &["monotonic".to_owned()], FAULTY_S).remove(0);
            let ended_ps = machine.cpus.now_ps();
            let events = record.events.as_ref().expect("it was judged");
            let lost_ps: u128 = machine.cpus.taken().iter().map(|lost| lost.taken.ps).sum();
            let ran_ms = (ended_ps - began_ps).saturating_sub(lost_ps) as f64 / 1e9;
            assert!(ran_ms <= FAULTY_S * 1e3 + OVERHEAD_MS, "it ran for {ran_ms} ms: {events:?}");
            // One that froze while the CPU was lost has lost the rest of that time.
            let may_hide = u64::from(fault != Fault::Refuses);
            assert_eq!(events.regression, 0, "{fault:?}: {events:?}");
            assert!(events.hidden_regression.get().unwrap_or(0) <= may_hide, "{fault:?}: {events:?}");
            // Whether it was read while it was at fault.
            let began_ms = began_ps as f64 / 1e9;
            let at_fault_ms = machine.changes[0].0 as f64 / 1e9;
            let was_read = machine.runs_between(at_fault_ms.max(began_ms + OVERHEAD_MS), at_fault_ms + 20.0);
            match fault {
                Fault::Refuses => {
                    assert_eq!(events.errors > 0, record.reason.is_some(), "{record:?}");
                    assert!(
                        events.errors > 0 && events.jump.get().unwrap_or(0) == 0 && events.stuck == 0,
                        "{events:?}"
                    );
                }
                Fault::Freezes => {
                    assert!(
                        events.stuck == 1 && events.jump.get().unwrap_or(0) == 0 && events.errors == 0,
                        "{events:?}"
                    );
                }
                Fault::FreezesForAWhile if was_read => {
                    // It goes on from where it would have been, as a coarse clock does: it stood
                    // still, and did not jump.
                    assert!(events.stuck == 1 && events.jump.get().unwrap_or(0) <= 1, "{events:?}");
                }
                Fault::FreezesForAWhile => {
                    assert!(events.stuck <= 1 && events.jump.get().unwrap_or(0) <= 1, "{events:?}")
                }
            }
        },
    );
}
