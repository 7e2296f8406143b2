//! Words of comparisons, and metrics as they are written.

use super::*;
use crate::texts;

const NAMES: [&str; 2] = ["rdtscp", "monotonic"];

fn reliability(unordered: &[&str], trusted_more: Option<&str>) -> MetricKind {
    MetricKind::Reliability {
        unordered: unordered.iter().copied().map(str::to_owned).collect(),
        trusted_more: trusted_more.map(str::to_owned),
    }
}

/// Two clocks with these winners, of 18 and 22 ns a read.
fn compared(winners: [Option<Winner>; 4]) -> Shootout {
    let reference = Some("monotonic_raw:syscall".to_owned());
    let kinds = [MetricKind::Resolution, MetricKind::Accuracy { reference }, MetricKind::Cost, reliability(&[], None)];
    let metric = |(metric, winner)| Metric {
        metric,
        a: Figure::Known(18.0),
        b: Figure::Known(22.0),
        a_bound: None,
        b_bound: None,
        winner: Figure::of(winner, texts::NOT_MEASURED),
    };
    let [a, b] = NAMES.map(str::to_owned);
    let metrics = kinds.into_iter().zip(winners).map(metric).collect();
    Shootout { a, b, metrics, agreement: Vec::new(), unreadable: None, negligible_beyond_us: Some(0.8) }
}

const TIE: Option<Winner> = Some(Winner::Tie);
const A: Option<Winner> = Some(Winner::A);
const B: Option<Winner> = Some(Winner::B);

#[test]
fn the_score_is_followed_by_when_it_matters() {
    for (winners, expected) in [
        (
            [TIE, TIE, A, TIE],
            "rdtscp wins cost; resolution, accuracy, reliability: no difference. The difference of 4.0 ns a read does not \
             matter for intervals beyond 0.8 µs: over two reads it is less than 1% of that.",
        ),
        ([A, None, None, B], "rdtscp wins resolution; monotonic wins reliability."),
        ([None; 4], "Nothing could be decided."),
        ([None, None, TIE, TIE], "cost, reliability: no difference. Cost does not matter: take either."),
        (
            [None, None, TIE, B],
            "monotonic wins reliability; cost: no difference. Cost does not matter: take the more reliable one.",
        ),
        ([None, None, TIE, None], "cost: no difference. Cost does not matter: which is more reliable is unknown."),
    ] {
        assert_eq!(compared(winners).conclusion(), expected);
    }
}

#[test]
fn a_clock_that_cannot_be_read_is_all_there_is_to_say() {
    let unreadable = Some(UnreadableClock { clock: "monotonic".to_owned(), reason: texts::CORE_CYCLES.into() });
    let shootout = Shootout { unreadable, ..compared([A; 4]) };
    assert_eq!(shootout.conclusion(), "monotonic cannot be read: it counts the cycles of one core for one thread.");
}

#[test]
fn a_note_names_what_is_known_beside_the_figures() {
    let note = |metric: &MetricKind| metric.note();
    let accuracy = |reference: Option<&str>| note(&MetricKind::Accuracy { reference: reference.map(str::to_owned) });
    assert!(accuracy(Some("tai")).starts_with("distance of its rate from that of tai; a counter runs"));
    assert!(accuracy(None).starts_with("distance of its rate from that of another clock; "));
    let begin = "readings that went back, on one CPU or across CPUs, that jumped, or failed";
    assert_eq!(note(&reliability(&[], None)), begin);
    let excuse = "is not ordered: when threads hand readings on, some go back without a fault of the clock";
    assert_eq!(note(&reliability(&["tsc", "x"], None)), format!("{begin}; tsc {excuse}; x {excuse}"));
    let both = format!("{begin}; tsc {excuse}; `clockscope check` trusts monotonic more");
    assert_eq!(note(&reliability(&["tsc"], Some("monotonic"))), both);
}

/// Sentences follow from data: what is written is read back without them.
#[test]
fn words_are_written_and_ignored() {
    let shootout = compared([TIE, TIE, A, TIE]);
    let json = serde_json::to_value(&shootout).unwrap();
    assert_eq!(json["conclusion"], shootout.conclusion());
    let words: Vec<[&str; 2]> = json["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|metric| ["figure", "unit"].map(|key| metric[key].as_str().unwrap()))
        .collect();
    assert_eq!(words, [["tick", "ns"], ["rate", "ppm"], ["median", "ns"], ["wrong readings", ""]]);
    for (metric, written) in shootout.metrics.iter().zip(json["metrics"].as_array().unwrap()) {
        assert_eq!(written["note"], metric.metric.note());
    }
    assert_eq!(serde_json::from_value::<Shootout>(json).unwrap(), shootout);
}

#[test]
fn every_metric_is_read_back_by_its_word() {
    let kinds = [
        MetricKind::Resolution,
        MetricKind::Accuracy { reference: Some("monotonic_raw:syscall".to_owned()) },
        MetricKind::Cost,
        MetricKind::Reliability { unordered: vec!["tsc".to_owned()], trusted_more: Some("tsc".to_owned()) },
    ];
    for metric in kinds {
        let figure = || Figure::Known(1.0);
        let winner = Figure::unknown(texts::NOT_MEASURED);
        let metric = Metric { metric, a: figure(), b: figure(), a_bound: None, b_bound: None, winner };
        let json = serde_json::to_value(&metric).unwrap();
        assert_eq!(json["metric"], metric.metric.as_str());
        assert_eq!(serde_json::from_value::<Metric>(json).unwrap(), metric);
    }
}
