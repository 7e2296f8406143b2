//! *Rate*: bounds, constancy, steps, stability, and the timer's calibration.

use clockscope_measure::{MeasureError, Paths, RateRequest, Session, rate};
use clockscope_records::{Envelope, Rate, RatePair, RateRecord, reasons};
use clockscope_testing::simulation::{Change, Random, Refused};

use crate::harness::{Coverage, are_many, on_machines, on_one};
use crate::machine::{Machine, Maker, Spec, pause_ps, pick};
use crate::platform::Simulated;
use crate::rate_compared::Compared;
use crate::rate_truth::narrowest_brackets;
use crate::varied::check_unreadable;

/// Errors of the floating-point numbers here and there, in ppm.
pub(crate) const ROUNDING_PPM: f64 = 2e-6;
/// Clocks with longer steps are moved by the timer tick.
pub(crate) const TICKED_NS: f64 = 100e3;

/// A machine whose reads take their values anywhere in between, and whose counter may have a
/// nominal frequency.
fn machine(mut maker: Maker) -> Machine {
    if maker.random.happens(0.3) {
        maker = maker.quiet();
    }
    let mut random = maker.random.clone();
    let (has_nominal, off) = (random.happens(0.5), pick(&mut random, &[0.0, 0.0, 20e-6, -300e-6, 0.01, -0.25]));
    let nominal_hz = has_nominal.then_some((maker.counter_hz * (1.0 + off)) as u64);
    let mut machine = maker.make();
    machine.nominal_hz = nominal_hz;
    machine.cpus.set_taken(0.02, 0.98);
    machine
}

fn request(machine: &Machine, seed: u64) -> RateRequest {
    let mut random = Random::new(seed ^ 0x7a7e);
    let duration_s = match random.below(20) {
        0 => 3.0 * random.fraction(),
        1..=4 => 0.06 + 0.6 * random.fraction(),
        _ => 0.06 + 0.15 * random.fraction(),
    };
    let all: Vec<String> = machine.specs.iter().map(Spec::label).collect();
    let mut any = || all[random.below(all.len() as u64) as usize].clone();
    let reference = if seed.is_multiple_of(3) { None } else { Some(any()) };
    let mut clocks = Vec::new();
    for _ in 0..1 + seed % 4 {
        let name = any();
        let own = reference.as_deref().unwrap_or("monotonic_raw:vdso");
        if name != own && !clocks.contains(&name) {
            clocks.push(name);
        }
    }
    if clocks.is_empty() && reference.is_some() {
        clocks.push(if reference.as_deref() == Some("realtime") { "monotonic" } else { "realtime" }.to_owned());
    }
    let until_ppm = random.happens(0.3).then(|| 10f64.powf(3.0 * random.fraction() - 0.5));
    RateRequest { clocks, paths: Paths::Libc, reference, duration_s, until_ppm, cpu: None }
}

/// A machine whose question has to end: [`ask`] knows better when.
fn limited(machine: Machine, seed: u64) -> Simulated {
    let request = request(&machine, seed);
    Simulated::within(machine, 2.0 * (request.duration_s + 4.0))
}

/// Asks, and checks that it took its time and no more.
fn ask(session: &Session<'_, Simulated>, request: &RateRequest) -> Option<Envelope<Rate>> {
    let machine = &session.platform().machine;
    let found = match rate(session, request, &mut |_| {}) {
        Ok(found) => found,
        Err(MeasureError::Reference(_)) => {
            let name = request.reference.as_deref().unwrap_or("monotonic_raw:vdso");
            let is_missing = machine.spec(name).is_none_or(|spec| !machine.answers(spec));
            assert!(is_missing || !machine.changes.is_empty(), "{name} was refused");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let paused_s: f64 = machine.changes.iter().map(|(_, change)| pause_ps(change) as f64 / 1e12).sum();
    let share = f64::from(machine.loads[0].competitors) * 2.0 + 3.0;
    let took_s = machine.cpus.now_ps() as f64 / 1e12 - paused_s;
    let longest_s = (request.duration_s + 0.8 * (found.found.clocks.len() + 1) as f64) * share;
    assert!(took_s <= longest_s, "it took {took_s} s of {} s", request.duration_s);
    Some(found)
}

/// The machine, the names and what is true of them.
struct Truth<'a> {
    machine: &'a Machine,
    reference: &'a str,
}

impl Truth<'_> {
    fn spec(&self, name: &str) -> &Spec {
        self.machine.spec(name).expect("there is such a clock")
    }

    /// Seconds of the reference in one of true time.
    fn reference_s(&self) -> f64 {
        self.machine.seconds(self.spec(self.reference))
    }

    fn frequency_hz(&self) -> f64 {
        self.machine.counter_hz / self.reference_s()
    }

    /// Frequency offset against the reference, where there is one.
    fn ppm(&self, name: &str) -> Option<f64> {
        let spec = self.spec(name);
        match (spec.id, self.machine.nominal_hz) {
            (Some(_), _) => Some((self.machine.seconds(spec) / self.reference_s() - 1.0) * 1e6),
            (None, Some(nominal)) => Some((self.frequency_hz() / nominal as f64 - 1.0) * 1e6),
            (None, None) => None,
        }
    }

    /// Seconds that a clock of a pair counts in one of true time.
    fn pair_s(&self, name: &str) -> f64 {
        let spec = self.spec(name);
        match (spec.id, self.machine.nominal_hz) {
            (Some(_), _) => self.machine.seconds(spec),
            (None, Some(nominal)) if name != self.reference => self.machine.counter_hz / nominal as f64,
            (None, _) => self.reference_s(),
        }
    }

    fn is_ticked(&self, name: &str) -> bool {
        self.spec(name).tick_ns >= TICKED_NS
    }
}

pub(crate) fn within(what: &str, truth: f64, found: f64, bound: f64, rounding: f64) {
    assert!((truth - found).abs() <= bound + rounding, "{what}: {found} ± {bound}, and the truth is {truth}");
}

/// A rate that does not change: bounds hold the truth, nothing changed, and no clock steps.
#[test]
fn a_constant_rate_is_inside_its_bounds() {
    let mut estimates = Coverage::default();
    let make = |seed| limited(machine(Maker::varied(seed)), seed);
    on_machines("rate::a_constant_rate", make, |session, seed| is_constant_rate(session, seed, &mut estimates));
    estimates.check(0.93, 2);
}

/// The counter ran a third faster than its nominal frequency. In parts of that, so is the error of
/// the reference's length, but the run ended without that.
#[test]
fn a_bound_was_not_in_the_unit_of_the_requested_one() {
    let platform = limited(machine(Maker::varied(809)), 809);
    on_one("rate::a_constant_rate", 809, &platform, &mut |session, seed| {
        is_constant_rate(session, seed, &mut Coverage::default());
    });
}

fn is_constant_rate(session: &Session<'_, Simulated>, seed: u64, estimates: &mut Coverage) {
    let machine = &session.platform().machine;
    let request = request(machine, seed);
    let Some(answer) = ask(session, &request) else { return };
    let truth = Truth { machine, reference: &answer.found.reference };
    calibration(machine, &answer);
    for record in &answer.found.clocks {
        if !record.available {
            check_unreadable(machine, truth.spec(&record.name), record.reason.as_ref());
            continue;
        }
        constant(&truth, record, estimates);
    }
    for pair in &answer.found.pairs {
        let (Some(ppm), Some(bound)) = (pair.ppm.get(), pair.bound_ppm.get()) else { continue };
        let true_ppm = (truth.pair_s(&pair.a) / truth.pair_s(&pair.b) - 1.0) * 1e6;
        within(&format!("{pair:?}"), true_ppm, ppm, bound, ROUNDING_PPM);
        is_constant(&truth, pair);
    }
    assert!(!answer.found.reference_suspected);
    assert_eq!(answer.found.adjtimex.known(), machine.facts.adjtimex.as_ref());
    ended(&request, &answer, false);
}

fn is_constant(truth: &Truth<'_>, pair: &RatePair) {
    assert_ne!(pair.constant.get(), Some(false), "{pair:?}");
    assert!(!pair.constant.is_known() || !truth.is_ticked(&pair.a) && !truth.is_ticked(&pair.b), "{pair:?}");
}

fn constant(truth: &Truth<'_>, record: &RateRecord, estimates: &mut Coverage) {
    let name = &record.name;
    if let Some((hz, bound)) = record.frequency_hz.get().zip(record.frequency_bound_hz.get()) {
        within(name, truth.frequency_hz(), hz, bound, hz * ROUNDING_PPM * 1e-6);
    }
    let Some(seconds) = record.seconds.get() else {
        assert!(!record.ppm.is_known() && !record.bound_ppm.is_known(), "{record:?}");
        assert!(reasons(&record).contains_key("bound_ppm"), "{record:?}");
        return;
    };
    let (bracket_ns, ticks_ns, bound) = (
        record.bracket_ns.get().expect("it is there"),
        record.ticks_ns.get().expect("it is there"),
        record.bound_ppm.get().expect("it is there"),
    );
    assert_eq!(record.ppm.is_known(), truth.ppm(name).is_some(), "{record:?}");
    if let Some((ppm, true_ppm)) = record.ppm.get().zip(truth.ppm(name)) {
        within(name, true_ppm, ppm, bound, ROUNDING_PPM);
        if let Some(estimate) = record.estimate_ppm.get().filter(|_| ticks_ns < TICKED_NS) {
            // Slopes of lines whose points are all off by this.
            let worst = 3.6e-3 * (1.5 * bracket_ns + ticks_ns) / seconds + bound;
            within(&format!("{name}, least squares"), true_ppm, estimate, worst, ROUNDING_PPM);
            estimates.count((estimate - ppm).abs() <= bound);
        }
    }
    // As tight as brackets and ticks are.
    let scale_ppm = if truth.spec(truth.reference).id.is_none() { 1e-3 * 2e3 / seconds + 1.0 } else { 0.0 };
    let widest = 1e-3 * (3.0 * bracket_ns + 1.3 * ticks_ns + 1.0) / seconds * 1.3 + scale_ppm;
    assert!(bound <= widest || ticks_ns > 5e7 * seconds, "{name}: a bound of {bound} ppm of {seconds} s: {record:?}");
    assert_ne!(record.constant.get(), Some(false), "{record:?}");
    let is_ticked = truth.is_ticked(name) || truth.is_ticked(truth.reference);
    assert!(!record.constant.is_known() || !is_ticked, "{record:?}");
    assert!(is_ticked || record.constant.is_known() || record.brackets_used < 3, "{record:?}");
    assert!(!record.step.is_known() && !record.changed.is_known(), "{record:?}");
    let y = truth.ppm(name).map_or(0.0, |ppm| ppm * 1e-6);
    // Without a nominal frequency it is that which was found, within its bound.
    let y_error = if truth.ppm(name).is_some() { 0.0 } else { bound * 1e-6 } + scale_ppm * 1e-6;
    let error_ns = 1.5 * bracket_ns + ticks_ns;
    for mtie in &record.mtie {
        let tau_ns = mtie.tau_s * 1e9;
        within(&format!("{name}, MTIE"), y.abs() * tau_ns, mtie.ns, 2.0 * error_ns + y_error * tau_ns, 1.0);
    }
    for allan in &record.allan {
        let worst = 4.0 * error_ns / (allan.tau_s * 1e9) / 2f64.sqrt();
        assert!(allan.adev <= worst * 1.01, "{name}: {allan:?} above {worst}");
    }
}

/// The timer's rate against the reference of the whole run, where neither changed.
fn calibration(machine: &Machine, answer: &Envelope<Rate>) {
    let timer = &answer.run.as_ref().expect("it is a run").timer;
    assert_eq!(timer.reference, "monotonic_raw:syscall");
    if machine.counter_cost.is_none() {
        assert_eq!((timer.frequency_hz, timer.frequency_bound_ppm), (1e9, 0.0), "{timer:?}");
        return;
    }
    let ppm = (machine.counter_hz / machine.raw_seconds() / timer.frequency_hz - 1.0) * 1e6;
    within("the timer's frequency", ppm, 0.0, timer.frequency_bound_ppm, ROUNDING_PPM);
}

/// Before its time only where the bound that was asked for was reached.
fn ended(request: &RateRequest, answer: &Envelope<Rate>, is_timer_changed: bool) {
    let compared: Vec<_> = answer.found.clocks.iter().filter(|record| record.seconds.is_known()).collect();
    for record in &compared {
        let expected = request.until_ppm.map(|until| {
            record.seconds.get().expect("it is there") * record.bound_ppm.get().expect("it is there") / until
        });
        assert_eq!(record.needed_s.is_known(), expected.is_some());
        within("needed", expected.unwrap_or(0.0), record.needed_s.get().unwrap_or(0.0), 0.0, 1e-9);
    }
    // The run is timed by a clock that may be the one that changed.
    let run = answer.run.as_ref().expect("it is a run");
    let is_early = !is_timer_changed && run.duration_s < request.duration_s * 0.98;
    if is_early && !compared.is_empty() && !run.interrupted {
        let until = request.until_ppm.expect("it ended early");
        for record in compared {
            let bound = record.bound_ppm.get().expect("it is there");
            // A counter that is the reference has its length from a bracket that is taken anew for
            // the record.
            let more = if record.reference.contains("tsc") { 0.1 } else { 1e-3 };
            assert!(bound <= until * (1.0 + more), "it ended early, with {bound} ppm of {until}: {record:?}");
        }
    }
}

/// The clocks that are made of the time that the kernel steers.
fn steered(machine: &Machine) -> Vec<usize> {
    let ids = ["monotonic", "realtime", "monotonic_coarse", "boottime"];
    ids.iter().filter_map(|name| machine.spec(name)?.id).collect()
}

/// A machine to which something happens.
fn changing(maker: Maker, seed: u64) -> Machine {
    let mut machine = machine(maker);
    let request = request(&machine, seed);
    let mut random = Random::new(seed ^ 0xc4a6e);
    let at_ms = 12.0 + random.fraction() * (request.duration_s * 1e3 + 25.0);
    let back_ms = at_ms + random.fraction() * 60.0;
    let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
    let clocks = [
        machine.monotonic(),
        machine.monotonic(),
        machine.spec("realtime").and_then(|spec| spec.id).expect("it is there"),
        raw,
    ];
    let clock = pick(&mut random, &clocks);
    let sign = if random.happens(0.5) { 1.0 } else { -1.0 };
    let share = sign * 10f64.powf(-6.0 + 5.0 * random.fraction());
    let magnitude = 10f64.powf(3.0 + 6.0 * random.fraction());
    let hz = machine.counter_hz;
    match random.below(12) {
        0 | 1 => {
            steered(&machine).into_iter().for_each(|clock| machine.at_ms(at_ms, Change::SlewClock { clock, share }))
        }
        2 => machine.at_ms(at_ms, Change::SlewClock { clock: raw, share }),
        3 | 4 => machine.at_ms(at_ms, Change::StepClock { clock, ns: (sign * magnitude) as i64 }),
        5 => machine.at_ms(at_ms, Change::FreezeClock { clock }),
        6 => {
            machine.at_ms(at_ms, Change::FreezeClock { clock });
            machine.at_ms(back_ms, Change::ThawClock { clock });
        }
        7 => {
            machine.at_ms(at_ms, Change::RefuseClock { clock, refused: Some(Refused(22)) });
            if random.happens(0.5) {
                machine.at_ms(back_ms, Change::RefuseClock { clock, refused: None });
            }
        }
        8 => {
            let left_out = vec![
                machine.monotonic(),
                raw,
                machine.spec("monotonic_coarse").and_then(|spec| spec.id).expect("it is there"),
            ];
            machine.at_ms(at_ms, Change::Suspend { ps: random.between(10, 2_000) * 1_000_000_000, left_out });
        }
        9 => {
            let ticks = (sign * magnitude * 1e3) as i64;
            machine.at_ms(
                at_ms,
                Change::MoveMachine { ps: random.between(1, 300) * 1_000_000_000, ticks, hz: hz * (1.0 + share) },
            );
        }
        10 => machine
            .at_ms(at_ms, Change::SetCounterRate { hz: if random.happens(0.2) { 0.0 } else { hz * (1.0 + share) } }),
        _ => {
            for (ms, share) in [(at_ms, share), (back_ms, 0.0)] {
                steered(&machine).into_iter().for_each(|clock| machine.at_ms(ms, Change::SlewClock { clock, share }));
            }
        }
    }
    machine
}

/// Of how many records in a hundred the bound may be left out: those by a counter, and the
/// calibration's own pair.
const MAX_LEFT_OUT_PERCENT: u64 = 35;

/// Observations of all machines.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Records of clocks that were compared.
    pub(crate) compared: u64,
    /// Of which the brackets are not known: reads of the calibration look like these.
    pub(crate) ambiguous: u64,
    /// Whose reference counts ticks, or of which fewer than two brackets were kept.
    pub(crate) by_ticks: u64,
    /// Between whose ends several lengths of time fit, of which the bound holds one at least.
    pub(crate) several: u64,
    /// Whose bound was compared with the truth.
    pub(crate) bounds: u64,
    pub(crate) constant: u64,
    pub(crate) changed: u64,
    pub(crate) located: u64,
    pub(crate) steps: u64,
    pub(crate) suspected: u64,
}

/// Whatever happens, bounds hold the mean rate between their ends, and what is reported of changes
/// and steps is right.
#[test]
fn a_rate_that_changes_is_reported_as_it_is() {
    let mut seen = Seen::default();
    let make = |seed| changing_logged(Maker::varied(seed), seed);
    on_machines("rate::a_rate_that_changes", make, |session, seed| changed(session, seed, &mut seen));
    eprintln!("{seen:?}");
    if are_many() {
        let Seen { compared, ambiguous, by_ticks, several, bounds, constant, changed, located, steps, .. } = seen;
        assert!(bounds > 60 && constant > 20 && changed > 10 && located > 5 && steps > 5, "{seen:?}");
        let left_out = compared - bounds;
        assert!(ambiguous + by_ticks == left_out, "{seen:?}");
        assert!(left_out * 100 <= compared * MAX_LEFT_OUT_PERCENT && several * 10 <= compared, "{seen:?}");
    }
}

/// Returns a machine to which something happens, of which all reads of clocks are kept.
fn changing_logged(maker: Maker, seed: u64) -> Simulated {
    let platform = limited(changing(maker, seed), seed);
    platform.log_reads();
    platform
}

fn changed(session: &Session<'_, Simulated>, seed: u64, seen: &mut Seen) {
    let platform = session.platform();
    let machine = &platform.machine;
    let request = request(machine, seed);
    let Some(answer) = ask(session, &request) else { return };
    let reads = platform.logged();
    let found = &answer.found;
    ended(&request, &answer, is_changed(machine, machine.clock_index("monotonic_raw:syscall")));
    let compare = |name: &str, reference: &str| {
        let (clock, reference) = (machine.clock_index(name), machine.clock_index(reference));
        let is_fenced = [clock, reference].iter().any(|index| !machine.specs[*index].info.is_ordered);
        let timer = if machine.counter_cost.is_some() { "lfence_tsc_lfence" } else { "monotonic_raw:syscall" };
        // The timer's calibration looks like brackets of this pair.
        let is_ambiguous = [clock, reference].iter().all(|index| {
            let label = machine.specs[*index].label();
            label == timer || label == "monotonic_raw:syscall"
        });
        let brackets = narrowest_brackets(&reads, [clock, reference], is_fenced.then(|| machine.clock_index(timer)));
        Compared {
            machine,
            clock,
            reference,
            clock_ns: None,
            brackets: if is_ambiguous { Vec::new() } else { brackets },
        }
    };
    for record in found.clocks.iter().filter(|record| record.seconds.is_known()) {
        let nominal_ns = record.nominal_hz.get().map(|hz| 1e9 / hz);
        let found_ns = record.frequency_hz.get().filter(|_| !record.step.is_known()).map(|hz| 1e9 / hz);
        // The mean of one that stood still is the length of none of its units.
        let is_unit = |ns: &f64| (ns * machine.counter_hz / 1e9 - 1.0).abs() < 1e-3;
        let clock_ns = nominal_ns.or(found_ns.filter(is_unit));
        seen.compared += 1;
        let mut compared = Compared { clock_ns, ..compare(&record.name, &found.reference) };
        // Before the comparison, a calibration or a look at the tick may read like brackets of it.
        let taken = (record.brackets_used + record.brackets_dropped) as usize;
        match compared.brackets.len().checked_sub(taken) {
            Some(before) => drop(compared.brackets.drain(..before)),
            // Where the reference of the timer fails, nothing is read between two rounds, and they
            // look like one.
            None => compared.brackets.clear(),
        }
        compared.check(record, seen);
    }
    for pair in found.pairs.iter().filter(|pair| pair.ppm.is_known()) {
        let compared = compare(&pair.a, &pair.b);
        compared.constancy(pair.constant.get(), &format!("{pair:?}"));
    }
    if found.reference_suspected {
        seen.suspected += 1;
        let index = machine.clock_index(&found.reference);
        assert!(is_changed(machine, index), "{} did not change", found.reference);
    }
}

/// Seeds of an earlier list of errors, as machines were before they varied.
#[test]
fn changes_that_were_wrong_once_are_reported_as_they_are() {
    for seed in [6, 29, 179, 1736] {
        let platform = changing_logged(Maker::new(seed), seed);
        let question = &mut |session: &Session<'_, Simulated>, seed| changed(session, seed, &mut Seen::default());
        on_one("rate::a_rate_that_changes", seed, &platform, question);
        let platform = limited(machine(Maker::new(seed)), seed);
        on_one("rate::a_constant_rate", seed, &platform, &mut |session, seed| {
            is_constant_rate(session, seed, &mut Coverage::default());
        });
    }
}

/// Returns true if something changes this clock.
pub(crate) fn is_changed(machine: &Machine, index: usize) -> bool {
    let id = machine.specs[index].id;
    machine.changes.iter().any(|(_, change)| match change {
        Change::StepClock { clock, .. } | Change::SlewClock { clock, .. } => id == Some(*clock),
        Change::FreezeClock { clock } | Change::RefuseClock { clock, .. } => id == Some(*clock),
        Change::Suspend { left_out, .. } => id.is_some_and(|id| left_out.contains(&id)),
        Change::SetCounterRate { .. } | Change::MoveMachine { .. } => id.is_none(),
        _ => false,
    })
}
