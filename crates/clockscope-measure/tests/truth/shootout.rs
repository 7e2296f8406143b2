//! *Shootout*: who wins by which metric.

use clockscope_measure::{Session, ShootoutRequest, shootout};
use clockscope_records::{Metric, Shootout, Winner};
use clockscope_testing::simulation::{Change, Random};

use crate::events;
use crate::harness::{are_many, on_machines, on_one};
use crate::machine::{Clocksource, Machine, Maker, Spec};
use crate::platform::Simulated;

fn ask(session: &Session<'_, Simulated>, names: [&str; 2], seconds: f64) -> Shootout {
    let [a, b] = names.map(|name| Some(name.to_owned()));
    let request = ShootoutRequest { a, b, duration_s: seconds, cpu: None };
    shootout(session, &request, &mut |_| {}).expect("it can be asked").found
}

/// Two clocks, of which the second is usually read by the C library.
fn names(seed: u64, machine: &Machine) -> [String; 2] {
    let mut random = Random::new(seed ^ 0x5007);
    let all: Vec<String> = machine.specs.iter().map(Spec::label).collect();
    let mut name = || all[random.below(all.len() as u64) as usize].clone();
    let a = name();
    let b = std::iter::repeat_with(name).find(|b| *b != a).unwrap_or_default();
    [a, b]
}

fn metric<'a>(found: &'a Shootout, name: &str) -> &'a Metric {
    found.metrics.iter().find(|metric| metric.metric.as_str() == name).expect("it was compared")
}

/// Winner that truly has less, unless both have the same.
fn less([a, b]: [f64; 2]) -> Winner {
    if (a - b).abs() <= 1e-3 * a.max(b) {
        return Winner::Tie;
    }
    if a < b { Winner::A } else { Winner::B }
}

/// The step of a clock's readings, which are whole ns.
fn step_ns(spec: &Spec) -> f64 {
    if spec.id.is_some() { spec.tick_ns.max(1.0) } else { spec.tick_ns }
}

fn is_right(metric: &Metric, truth: Winner) -> bool {
    metric.winner.get().is_none_or(|winner| winner == Winner::Tie || winner == truth)
}

/// Number of metrics that show a difference, and number of these that have a winner.
#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    different: u32,
    decided: u32,
}

impl Decided {
    /// Counts one whose figures are truly these, if they differ by more than what they may be off.
    fn count(&mut self, metric: &Metric, truth: [f64; 2]) {
        let [a, b] = truth;
        let bound = metric.a_bound.unwrap_or(0.0) + metric.b_bound.unwrap_or(0.0);
        if (a - b).abs() > bound.max(MAX_TIE_SHARE * a.max(b)) {
            self.different += 1;
            self.decided += u32::from(matches!(metric.winner.get(), Some(Winner::A | Winner::B)));
        }
    }
}

/// Largest difference of figures that tie, as a share.
const MAX_TIE_SHARE: f64 = 0.02;

/// Two clocks that do nothing wrong are compared.
fn sound(maker: Maker, seed: u64) -> Simulated {
    limited(maker.make(), seed)
}

/// Duration of a comparison, in s.
fn duration_s(seed: u64, machine: &Machine) -> f64 {
    machine.duration_s(0.06 + 0.1 * Random::new(seed).fraction())
}

/// A machine whose comparison has to end: threads on several CPUs wait for each other.
fn limited(machine: Machine, seed: u64) -> Simulated {
    let limit_s = duration_s(seed, &machine);
    Simulated::across(machine, limit_s)
}

/// Two clocks of a machine, as it was before machines varied, of which this was wrong once.
fn once(seed: u64) {
    on_one("shootout::who_wins", seed, &sound(Maker::new(seed ^ 0x5007), seed), &mut |session, seed| {
        compared(session, seed);
    });
}

/// The winner is truly better, or there is none. Returns how many of resolution and cost were
/// decided; `None` where a clock is not there.
fn compared(session: &Session<'_, Simulated>, seed: u64) -> Option<Decided> {
    let machine = &session.platform().machine;
    let [a, b] = names(seed, machine);
    let found = ask(session, [&a, &b], duration_s(seed, machine));
    let specs = [&a, &b].map(|name| machine.spec(name).expect("it is there"));
    if !specs.iter().all(|spec| machine.answers(spec)) {
        assert!(found.metrics.iter().all(|metric| !metric.winner.is_known()), "{found:?}");
        assert!(found.unreadable.is_some(), "{found:?}");
        return None;
    }
    let (resolution, cost) = (metric(&found, "resolution"), metric(&found, "cost"));
    assert!(is_right(resolution, less(specs.map(step_ns))), "{:?}: {resolution:?}", specs.map(step_ns));
    let is_decided = cost.winner.get().is_some_and(|winner| winner != Winner::Tie);
    assert_eq!(found.negligible_beyond_us.is_some(), is_decided, "{found:?}");
    assert_eq!(found.unreadable, None);
    let costs = specs.map(|spec| spec.cost.ps as f64);
    assert!(is_right(cost, less(costs)), "{costs:?}: {cost:?}");
    accuracy(machine, specs, metric(&found, "accuracy"));
    // A counter that the kernel does not use is trusted less, and an unordered read goes back
    // between CPUs.
    let is_worse = |spec: &Spec| spec.id.is_none() && !is_trusted(machine, spec);
    let reliability = metric(&found, "reliability");
    let is_right = match reliability.winner.get() {
        Some(Winner::A) => is_worse(specs[1]),
        Some(Winner::B) => is_worse(specs[0]),
        _ => true,
    };
    assert!(is_right, "{reliability:?}");
    let mut decided = Decided::default();
    decided.count(resolution, specs.map(step_ns));
    decided.count(cost, costs);
    Some(decided)
}

/// Returns true if all is said for the counter that trust in it needs, and this read of it is
/// ordered.
fn is_trusted(machine: &Machine, spec: &Spec) -> bool {
    machine.facts.is_invariant == Some(true) && machine.clocksource == Clocksource::Tsc && spec.cost.early_ps == 0
}

/// Of two clocks that do nothing wrong, who wins is truly better, or neither wins. One wins nine of
/// ten metrics in which clocks differ by more than what the figures may be off; and pairs differ so
/// in one metric each, on average.
#[test]
fn who_wins_is_better() {
    let (mut sum, mut all) = (Decided::default(), 0);
    let make = |seed| sound(Maker::varied(seed ^ 0x5007), seed);
    on_machines("shootout::who_wins", make, |session, seed| {
        if let Some(Decided { different, decided }) = compared(session, seed) {
            all += 1;
            sum.different += different;
            sum.decided += decided;
        }
    });
    eprintln!("of {all} pairs: {sum:?}");
    let Decided { different, decided } = sum;
    assert!(!are_many() || different >= all && decided * 10 >= different * 9, "of {all} pairs: {sum:?}");
}

/// A clock won by a tick of 1 ns over another of 1 ns, of which only "at most 3 ns" was known.
#[test]
fn a_bound_of_a_tick_lost() {
    once(234);
}

/// A clock won by costs of a few batches each, which differed by chance: there was no interval, and
/// none was taken for an exact figure.
#[test]
fn costs_of_few_batches_differ_by_chance() {
    once(1284);
}

/// A counter lost against a system call since too little time was left to compare its rate: what is
/// unknown is no fault.
#[test]
fn what_could_not_be_measured_loses_nothing() {
    once(1262);
}

/// A clock that took 56 to 58 ticks a read lay on a lattice of 54 in 87 of 100 blocks.
#[test]
fn a_tick_that_few_blocks_contradict() {
    once(1435);
}

/// The rate is right, and nobody wins by it.
fn accuracy(machine: &Machine, specs: [&Spec; 2], found: &Metric) {
    assert!(found.winner.get().is_none_or(|winner| winner == Winner::Tie), "{found:?}");
    let raw = machine.spec("monotonic_raw").expect("it is there").fast;
    let figures = [(found.a.get(), found.a_bound), (found.b.get(), found.b_bound)];
    for (spec, (ppm, bound)) in specs.iter().zip(figures) {
        let Some((ppm, bound)) = ppm.zip(bound) else { continue };
        let true_ppm = if spec.id.is_some() { (((1.0 + spec.fast) / (1.0 + raw) - 1.0) * 1e6).abs() } else { 0.0 };
        assert!((ppm - true_ppm).abs() <= bound, "{}: {true_ppm} ppm, {found:?}", spec.label());
    }
}

/// A machine whose MONOTONIC goes back every 0.2 ms.
fn unreliable(seed: u64) -> Machine {
    let mut maker = Maker::varied(seed ^ 0x5008).answering();
    maker.clocksource = Clocksource::Tsc;
    let ns = 1_000 + maker.random.below(9_000) as i64;
    let mut machine = maker.make();
    let clock = machine.monotonic();
    (0..500).for_each(|index| machine.at_ms(5.0 + 0.2 * f64::from(index), Change::StepClock { clock, ns: -ns }));
    machine
}

/// A clock that goes back is not the more reliable one.
#[test]
fn who_goes_back_does_not_win() {
    let mut lost = 0;
    let mut all = 0;
    on_machines(
        "shootout::who_goes_back",
        |seed| Simulated::across(unreliable(seed), 0.08),
        |session, _| {
            let found = ask(session, ["monotonic", "monotonic_raw"], 0.08);
            let reliability = metric(&found, "reliability");
            assert_ne!(reliability.winner.get(), Some(Winner::A), "{reliability:?}");
            all += 1;
            lost += u32::from(reliability.winner.get() == Some(Winner::B));
        },
    );
    assert!(!are_many() || lost * 2 >= all, "{lost} of {all}");
}

/// A machine that is suspended or moved to another host, or one of whose clocks is set.
fn disturbed(maker: Maker, seed: u64) -> Simulated {
    let usual_ms = 50.0 + events::longer_ms(&maker, 0.06);
    let at_ms = 8.0 + usual_ms * Random::new(seed ^ 0x50d).fraction();
    limited(events::disturbed(maker.answering(), seed, at_ms), seed)
}

/// Steps and costs are what they are whatever happens to the machine, and a clock that was set far
/// is not more reliable than one that was not.
#[test]
fn what_happens_to_a_machine_makes_no_clock_better() {
    let make = |seed| disturbed(Maker::varied(seed ^ 0x5009), seed);
    on_machines("shootout::what_happens", make, no_clock_is_better);
}

fn no_clock_is_better(session: &Session<'_, Simulated>, seed: u64) {
    let machine = &session.platform().machine;
    let [a, b] = names(seed, machine);
    let found = ask(session, [&a, &b], duration_s(seed, machine));
    let specs = [&a, &b].map(|name| machine.spec(name).expect("it is there"));
    let (resolution, cost) = (metric(&found, "resolution"), metric(&found, "cost"));
    assert!(is_right(resolution, less(specs.map(step_ns))), "{:?}: {resolution:?}", specs.map(step_ns));
    let costs = specs.map(|spec| spec.cost.ps as f64);
    assert!(is_right(cost, less(costs)), "{costs:?}: {cost:?}");
    let is_set = specs.map(|spec| events::set_back_ns(machine, spec) > 1e6);
    let winner = metric(&found, "reliability").winner.get();
    let is_sound = |spec: &Spec| spec.id.is_some() || is_trusted(machine, spec);
    assert!(winner != Some(Winner::A) || !is_set[0] || is_set[1] || !is_sound(specs[1]), "{found:?}");
    assert!(winner != Some(Winner::B) || !is_set[1] || is_set[0] || !is_sound(specs[0]), "{found:?}");
}

/// The counter was set back in the pause of a move, which no reading of it showed. The other clock,
/// which it judged, seemed to jump once, and lost.
#[test]
fn a_single_jump_by_the_counter_decides_nothing() {
    let platform = disturbed(Maker::varied_before(80 ^ 0x5009), 80);
    on_one("shootout::what_happens", 80, &platform, &mut no_clock_is_better);
}

/// The counter was set back, and during that batch the other clock's reader lost its CPU twice. Two
/// jumps of that clock were counted, and it lost.
#[test]
fn a_counter_that_goes_back_during_a_batch_judges_nothing_there() {
    let platform = disturbed(Maker::varied_before(750 ^ 0x5009), 750);
    on_one("shootout::what_happens", 750, &platform, &mut no_clock_is_better);
}
