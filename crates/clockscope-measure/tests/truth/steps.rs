//! *Steps*: ticks, events and distributions.

use clockscope_measure::{Amount, Catalogue, Paths, Session, StepsRequest, steps};
use clockscope_records::{Events, StepsRecord};
use clockscope_simulation::{Change, Random};

use crate::harness::{Coverage, on_machines};
use crate::machine::{Clocksource, Machine, Maker, Spec};
use crate::platform::Simulated;
use crate::ticks;

/// Clocks of one machine are at most so much faster than one another, as a share.
const DRIFT: f64 = 210e-6;

/// A jump of more is a warp, in ns.
const WARP_NS: f64 = 1e6;

/// Reads two of the clocks for 60 ms to 3 s of simulated time; long runs are rare.
fn read(session: &Session<'_, Simulated>, seed: u64) -> Vec<StepsRecord> {
    let mut random = Random::new(seed);
    let seconds = if random.happens(0.03) { 3.0 } else { 0.06 + 0.1 * random.fraction() };
    let all: Vec<String> = session.platform().machine.specs.iter().map(Spec::label).collect();
    let names: Vec<String> = (0..2).map(|_| all[random.below(all.len() as u64) as usize].clone()).collect();
    ask(session, &names, seconds)
}

fn ask(session: &Session<'_, Simulated>, names: &[String], seconds: f64) -> Vec<StepsRecord> {
    let catalogue = Catalogue::new(session.platform()).select(names, Paths::Libc).expect("they are there");
    let request = StepsRequest { amount: Amount::Duration(seconds), cpu: None, keep: false };
    let (found, _) = steps(session, catalogue, &request, &mut |_| {}).expect("it can be asked");
    found.clocks
}

/// Nothing is held against a clock that did nothing wrong, however busy the machine is; and its tick is right, or unknown.
#[test]
fn a_right_clock_is_right_on_any_machine() {
    on_machines(
        "steps::a_right_clock",
        |seed| Maker::new(seed).make(),
        |session, seed| {
            for record in read(session, seed) {
                let spec = session.platform().machine.spec(&record.identity.label()).expect("it is there");
                if !record.available {
                    assert!(spec.id.is_none() && session.platform().machine.counter_cost.is_none(), "{record:?}");
                    continue;
                }
                ticks::check(spec, record.tick_ns, record.tick_evidence.as_ref());
                nothing_is_wrong(&record.identity.label(), record.events.as_ref().expect("it was judged"));
            }
        },
    );
}

pub(crate) fn nothing_is_wrong(name: &str, events: &Events) {
    let wrong = [Some(events.regression), events.jump, events.warp, events.hidden_regression];
    assert!(wrong.iter().all(|count| count.is_none_or(|count| count == 0)), "{name}: {events:?}");
    assert_eq!(events.errors, 0, "{name}");
}

/// A machine whose MONOTONIC is stepped once, by 1 µs to 10 ms, forward or back.
fn stepped(seed: u64) -> (Machine, i64) {
    let mut maker = Maker::new(seed);
    maker.clocksource = Clocksource::Tsc;
    let (at_ms, back) = (20.0 + 30.0 * maker.random.fraction(), maker.random.happens(0.5));
    let ns = (10f64.powf(3.0 + 4.0 * maker.random.fraction())) as i64;
    let ns = if back { -ns } else { ns };
    let mut machine = maker.make();
    let clock = machine.monotonic();
    machine.at_ms(at_ms, Change::StepClock { clock, ns });
    (machine, ns)
}

/// One step of a clock is one event at most, and not larger than it is. One forward is found in nine of ten places where it is as large
/// as is said; one back that no loss of the CPU hides always is.
#[test]
fn a_step_is_one_event_of_its_kind() {
    let mut found = Coverage::default();
    let make = |seed| stepped(seed).0;
    on_machines("steps::a_step_is_one_event", make, |session, seed| {
        let ns = stepped(seed).1;
        let record = ask(session, &["monotonic".to_owned()], 0.1).remove(0);
        let events = record.events.as_ref().expect("it was judged");
        let (forward, back) = (events.jump.unwrap_or(0), events.regression + events.hidden_regression.unwrap_or(0));
        assert!(forward <= u64::from(ns > 0) && back <= u64::from(ns < 0), "stepped by {ns} ns: {events:?}");
        let (sure_ns, threshold_ns) = (events.sure_ns.expect("it advanced"), events.threshold_ns.expect("likewise"));
        assert!(sure_ns >= 0.0, "stepped by {ns} ns: {events:?}");
        if ns as f64 > sure_ns {
            found.count(forward == 1);
        }
        let lost_ps = session.platform().machine.cpus.taken().iter().map(|lost| lost.taken.ps).max().unwrap_or(0);
        // A short interruption that falls on a step is part of it, and so is what clock and reference drift apart while the
        // CPU is lost.
        let most_ns = ns as f64 + threshold_ns.max(sure_ns) + lost_ps as f64 / 1e3 * DRIFT;
        assert!(events.warp.unwrap_or(0) <= u64::from(most_ns > WARP_NS), "stepped by {ns} ns: {events:?}");
        for worst in record.worst.jump.iter().chain(&record.worst.warp).filter_map(|worst| worst.size_ns) {
            assert!(worst >= threshold_ns && worst <= most_ns, "stepped by {ns} ns, {worst} ns was told: {events:?}");
        }
    });
    found.check(0.85, 5);
}
