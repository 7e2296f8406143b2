//! Of how many machines each test asks its question where nothing else is said, and the table of
//! that in docs/method.md.

/// What is demanded of answers to a question, by which test, and of how many machines.
struct Demand {
    question: &'static str,
    what: &'static str,
    test: &'static str,
    machines: u64,
}

const fn demand(question: &'static str, what: &'static str, test: &'static str, machines: u64) -> Demand {
    Demand { question, what, test, machines }
}

/// All of them, those of one question after the other: of a hundred machines each, but for what
/// takes longest, and what other tests demand as well.
const DEMANDS: [Demand; 33] = [
    demand("measure", "costs and their intervals", "measure::what_a_read_costs", 100),
    demand("measure", "ticks and events of right clocks", "measure::a_right_clock", 100),
    demand("measure", "one rate for all figures", "measure::figures_and_frequency", 100),
    demand("measure or steps", "counts of events", "events::what_readings_show", 100),
    demand("measure or steps", "what happens is one event", "events::what_happens", 100),
    demand("steps", "ticks and events of right clocks", "steps::a_right_clock", 50),
    demand("steps", "a step of a clock", "steps::a_step_is_one_event", 100),
    demand("steps", "a clock that fails", "steps::a_fault_under_way", 100),
    demand("order", "counters that agree", "order::nothing_goes_back", 100),
    demand("order", "counters that are apart", "order::a_regression_is_as_large", 100),
    demand("order", "a CPU that is behind", "order::every_handoff", 100),
    demand("order", "a clock that fails", "order::a_clock_that_fails", 100),
    demand("order", "a CPU that goes offline", "order::a_cpu_that_goes_offline", 100),
    demand("order", "what happens", "order::what_happens", 100),
    demand("offsets", "counters that are apart", "offsets::the_bound_contains_the_truth", 100),
    demand("offsets", "an offset that changes", "offsets::a_change_is_reported_or_explained", 100),
    demand("offsets", "what happens", "offsets::what_happens", 100),
    demand("offsets", "a CPU that goes offline", "offsets::a_cpu_that_goes_offline", 100),
    demand("offsets", "a counter that stands still", "offsets::a_counter_that_stands_still", 100),
    demand("rate", "bounds and estimates of constant rates", "rate::a_constant_rate", 100),
    demand("rate", "rates that change", "rate::a_rate_that_changes", 100),
    demand("gaps", "times that threads lost", "gaps::what_threads_lost", 100),
    demand("gaps", "a clock that fails", "gaps_failing::a_clock_that_fails", 100),
    demand("sleep", "right clocks", "sleep::sleeps_are_told", 100),
    demand("sleep", "wrong clocks", "sleep::no_sleep_is_early", 100),
    demand("sleep", "a signal", "sleep::a_signal", 100),
    demand("check", "nothing wrong", "check::what_is_sound", 100),
    demand("check", "a fault", "check::a_fault_is_never_trusted", 50),
    demand("shootout", "tick and cost of right clocks", "shootout::who_wins", 100),
    demand("shootout", "the same where something happens", "shootout::what_happens", 50),
    demand("shootout", "a clock that goes back", "shootout::who_goes_back", 50),
    demand("steps, recorded", "the same answer again", "replay::a_recording_gives", 50),
    demand("any, by other names", "the same answer", "names::no_answer_depends", 50),
];

/// Machines of a test of Windows, which are all alike but for their seeds.
const OF_WINDOWS: u64 = 20;

/// Returns of how many machines a test asks.
///
/// # Panics
/// The test is not listed, so that docs/method.md leaves it out.
pub(crate) fn machines(test: &str) -> u64 {
    if test.starts_with("windows::") {
        return OF_WINDOWS;
    }
    let listed = DEMANDS.iter().find(|demand| demand.test == test);
    listed.unwrap_or_else(|| panic!("{test} is not listed")).machines
}

/// The table of docs/method.md.
fn table() -> String {
    let row = |demands: &[Demand]| {
        let sum: u64 = demands.iter().map(|demand| demand.machines).sum();
        let each: Vec<String> = demands.iter().map(|demand| format!("{}: {}", demand.what, demand.machines)).collect();
        format!("| {} | {} | {sum} |\n", demands[0].question, each.join("; "))
    };
    let rows: String = DEMANDS.chunk_by(|a, b| a.question == b.question).map(row).collect();
    format!("| question | demands, and of how many machines | machines |\n|---|---|---|\n{rows}")
}

#[test]
fn the_manual_states_of_how_many_machines_each_question_is_asked() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/method.md");
    let text = std::fs::read_to_string(manual).expect("it is there");
    assert!(text.contains(&table()), "docs/method.md has another table than this:\n{}", table());
}
