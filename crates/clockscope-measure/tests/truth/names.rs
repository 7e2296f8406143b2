//! Answers do not depend on what clocks are called: each machine is asked under two sets of names.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use clockscope_measure::{
    Catalog, CheckRequest, MeasureError, MeasureRequest, Paths, RateRequest, Session, ShootoutRequest, SleepRequest,
    check, measure, rate, shootout, sleep,
};
use clockscope_records::{Envelope, Policy};

use crate::harness::on_machines;
use crate::machine::{Machine, Maker};
use crate::platform::Simulated;

/// The names of simulated machines, and names that no system has.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("monotonic_raw", "pendulum"),
    ("monotonic_coarse", "sundial"),
    ("monotonic", "sandglass"),
    ("realtime", "calendar"),
    ("boottime", "hourglass"),
];
/// Names of the clocks that others are judged against, and those under which they are shown.
const OTHER_REFERENCES: [(&str, &str); 4] = [
    ("monotonic_raw:syscall", "pendulum:syscall"),
    ("monotonic:syscall", "sandglass:syscall"),
    ("boottime:syscall", "hourglass:syscall"),
    ("monotonic_raw:vdso", "pendulum:vdso"),
];

const DURATION_S: f64 = 0.08;
/// Time that the longest of these questions may take, in s: all kinds of sleeps, three times each.
const MAX_QUESTION_S: f64 = 10.0;

/// Returns another name for a clock or a reference; the same where there is none.
pub(crate) fn other_name(name: &'static str) -> &'static str {
    let found = OTHER_NAMES.iter().chain(&OTHER_REFERENCES).find(|(usual, _)| *usual == name);
    found.map_or(name, |(_, other)| other)
}

/// The answer, under the usual names.
fn text<F: Debug>(answer: Result<Envelope<F>, MeasureError>) -> String {
    let answer = match answer {
        Ok(envelope) => format!("{:?} {:?}", envelope.run, envelope.found),
        Err(error) => format!("{error:?}"),
    };
    OTHER_NAMES.iter().fold(answer, |text, (usual, other)| text.replace(other, usual))
}

/// The answer to a question that names no clock.
fn answer(session: &Session<'_, Simulated>, seed: u64) -> String {
    let (duration_s, cpu) = (DURATION_S, None);
    match seed % 5 {
        0 => {
            let (clocks, policy) = (Vec::new(), Policy::default());
            text(check(session, &CheckRequest { clocks, policy, for_use: None, duration_s, cpu }, &mut |_| {}))
        }
        1 => {
            let (clocks, paths) = (Vec::new(), Paths::default());
            let request = RateRequest { clocks, paths, reference: None, duration_s, until_ppm: None, cpu };
            text(rate(session, &request, &mut |_| {}))
        }
        2 => text(shootout(session, &ShootoutRequest { a: None, b: None, duration_s, cpu }, &mut |_| {})),
        3 => text(sleep(session, &SleepRequest { duration_s, cpu, ..SleepRequest::default() }, &mut |_| {})),
        _ => {
            let request = MeasureRequest { duration_s, cpu, extended: false, ticks: true, synchronization: false };
            text(measure(session, Catalog::new(session.platform()), &request, &mut |_| {}))
        }
    }
}

fn machine(seed: u64) -> Machine {
    Maker::varied(seed ^ 0x4a3e).make()
}

/// Clocks are chosen by what they are. The same machine gives the same answers, to the last digit,
/// whatever its clocks are called.
#[test]
fn no_answer_depends_on_names() {
    let make = |seed| Simulated::across(machine(seed), MAX_QUESTION_S);
    on_machines("names::no_answer_depends", make, |session, seed| {
        let mut other = make(seed);
        other.has_other_names = true;
        let never = AtomicBool::new(false);
        let found = answer(&Session::new(&other, &never), seed);
        assert_eq!(found, answer(session, seed));
    });
}
