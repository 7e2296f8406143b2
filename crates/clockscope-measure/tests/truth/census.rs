//! The check of a simulated machine, from which a census derives hosts.

use std::sync::atomic::AtomicBool;

use clockscope_measure::{CheckRequest, Session, check};
use clockscope_records::checks::HypervisorStatement;
use clockscope_records::{
    Adjtimex, Check, Document, Envelope, EvidenceData, Figure, Finding, Policy, Program, WallState,
};
use clockscope_testing::simulation::ReadCost;

use crate::machine::{Clocksource, Machine, Maker};
use crate::platform::Simulated;

/// Time that the check gets, in s.
const DURATION_S: f64 = 0.5;
/// Costs of the guest that the census derives its other hosts of x86 from, in ps.
const COUNTER_PS: u64 = 23_000;
const COARSE_PS: u64 = 5_900;
const VDSO_PS: u64 = 28_200;
const SYSCALL_PS: u64 = 220_000;

/// A quiet guest of four CPUs, whose kernel builds its clocks on the counter.
fn guest() -> Machine {
    let mut maker = Maker::new(1);
    (maker.cpus, maker.has_counter, maker.has_boottime) = (4, true, true);
    (maker.clocksource, maker.counter_hz, maker.counter_step) = (Clocksource::Tsc, 2.6e9, 26);
    (maker.fast_ppm, maker.timer_tick_ns, maker.jitter) = ([0.0; 2], 4_000_000, 0.02);
    maker = maker.quiet();
    maker.facts.statement = Some(HypervisorStatement::StableClocksource);
    maker.facts.adjtimex = Some(synchronized());
    let mut machine = maker.make();
    for spec in &mut machine.specs {
        let label = spec.label();
        spec.cost = ReadCost::ordered(match label.as_str() {
            "tsc" => continue,
            "lfence_tsc_lfence" => COUNTER_PS,
            "monotonic_coarse" => COARSE_PS,
            label if label.ends_with(":syscall") => SYSCALL_PS,
            _ => VDSO_PS,
        });
    }
    machine.counter_cost = Some(ReadCost::ordered(COUNTER_PS));
    machine
}

fn synchronized() -> Adjtimex {
    Adjtimex {
        freq_ppm: 0.0,
        tick_us: 10_000,
        offset_ns: 0,
        maxerror_us: 1_000,
        esterror_us: 250,
        tai_offset_s: Some(37),
        status: vec!["pll".to_owned(), "nano".to_owned()],
        state: Some(WallState::Synchronized),
        time_of_day_error_s: Some(1e-3),
    }
}

/// Checks the machine, and states the facts that a simulation leaves out.
fn checked() -> Envelope<Check> {
    let platform = Simulated::across(guest(), DURATION_S);
    let stop = AtomicBool::new(false);
    let request = CheckRequest {
        clocks: Vec::new(),
        policy: Policy::default(),
        for_use: None,
        duration_s: DURATION_S,
        cpu: None,
    };
    let mut found = check(&Session::new(&platform, &stop), &request, &mut |_| {}).expect("it can be asked");
    let environment = &mut found.environment;
    environment.program = Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: "x86_64-linux".to_owned(),
        debug_build: false,
    };
    environment.cpu.architecture = "x86_64".to_owned();
    environment.kernel.name = Figure::Known("Linux".to_owned());
    found
}

/// Nothing contradicts the clocks of this machine, and everything is known. The
/// check that this writes is kept in crates/clockscope-python/tests/census/bases.
#[test]
fn a_check_of_a_simulated_machine_is_a_base_record() {
    let found = checked();
    for verdict in &found.found.verdicts {
        for evidence in &verdict.evidence {
            let is_optional = matches!(evidence.data, EvidenceData::NominalFrequency(_));
            assert!(is_optional || evidence.finding == Finding::For, "{}: {evidence:?}", verdict.clock);
        }
    }
    assert_eq!(found.found.verdicts.len(), 6, "the counter and five clocks");
    let text = serde_json::to_string(&Document::Check(found)).expect("it can be written");
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/simulated-check.json"), text).expect("it can be written");
}
