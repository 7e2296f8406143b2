//! Recorded documents in every format. The snapshots are what users see: read them when they
//! change.

use std::collections::BTreeSet;

use crate::schema::{places, replace};
use crate::support::{NO_CHART, NO_METRICS, document, fixtures, kind, rendered, text_of, uncolored, without_constants};
use clockscope_records::{ClockRecord, DOCUMENT_SCHEMA, Document, Envelope, Figure, Steps, is_steering};
use clockscope_report::{Columns, Format, Style, render};
use clockscope_testing::Schema;
use serde_json::{Value, json};

#[test]
fn every_format_of_every_document() {
    for fixture in fixtures() {
        for format in Format::ALL {
            let text = without_constants(&rendered(&document(fixture), format));
            if [NO_CHART, NO_METRICS].contains(&text.as_str()) {
                continue;
            }
            insta::assert_snapshot!(format!("{fixture}.{}", format.name()), text);
        }
    }
}

#[test]
fn fixtures_and_what_is_written_are_valid_by_the_schema() {
    let schema = Schema::parse(DOCUMENT_SCHEMA);
    for fixture in fixtures() {
        let recorded: Value = serde_json::from_str(&text_of(fixture)).unwrap();
        let written: Value = serde_json::from_str(&rendered(&document(fixture), Format::Json)).unwrap();
        assert_eq!(recorded, written, "{fixture}");
        assert_eq!(schema.errors(&written), [""; 0], "{fixture}");
    }
    // The schema must be able to refuse.
    let mut wrong: Value = serde_json::from_str(&text_of("healthy")).unwrap();
    wrong["clocks"][0]["cost_ns"]["median"] = "fast".into();
    assert!(!schema.accepts(&wrong));
}

/// The documents of a run need their run, and no others have one: the reader and the schema agree.
#[test]
fn a_run_is_needed_where_there_was_one() {
    let schema = Schema::parse(DOCUMENT_SCHEMA);
    let without_run = |fixture: &str, parent: &str| {
        let mut record: Value = serde_json::from_str(&text_of(fixture)).unwrap();
        let had_run = record.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove("run").is_some();
        let read = Document::from_json(&record.to_string());
        assert_eq!(read.is_err(), had_run, "{fixture}: {read:?}");
        assert_eq!(schema.accepts(&record), !had_run, "{fixture}");
        had_run
    };
    let facts: Vec<&str> = fixtures().filter(|fixture| !without_run(fixture, "")).collect();
    let expected: Vec<&str> = fixtures().filter(|fixture| !kind(fixture).is_run).collect();
    assert_eq!(facts, expected);
    assert!(without_run("switched", "/measurements/0"));
}

#[test]
fn every_line_of_ndjson_is_an_object_with_a_type() {
    for fixture in fixtures() {
        let text = rendered(&document(fixture), Format::Ndjson);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &lines {
            assert!(line["type"].is_string() && line["schema_version"] == 1, "{line}");
        }
        // A file that was cut between two lines lacks the last one.
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "end", "{fixture}");
        assert!(last["lines"].as_u64().is_some_and(|count| count < lines.len() as u64), "{last}");
    }
}

#[test]
fn every_line_of_a_check_names_check_and_host() {
    let mut check = document("check");
    let text = rendered(&check, Format::Ndjson);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let Document::Check(envelope) = &mut check else { unreachable!("the fixture is a check") };
    let (id, host) = (&envelope.found.check_id, envelope.found.identity.host.known().unwrap());
    assert!(lines.iter().all(|line| line["check_id"] == **id && line["host"] == **host), "{text}");
    assert_eq!(lines[0]["clocks"], envelope.found.verdicts.len());
    assert_eq!(lines.last().unwrap()["lines"], lines.len() - 1);
    envelope.found.identity.label = Some("db-7".to_owned());
    let labeled = rendered(&check, Format::Ndjson);
    assert!(labeled.lines().all(|line| line.contains(r#""host":"db-7""#)), "{labeled}");
}

#[test]
fn every_row_of_csv_has_all_columns() {
    for fixture in fixtures() {
        let sheet = rendered(&document(fixture), Format::Csv);
        let columns: Vec<usize> = sheet.split_terminator("\r\n").map(columns).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{fixture}: {columns:?}");
    }
}

/// Rows of a table in Markdown have as many cells as its head.
#[test]
fn every_row_of_markdown_has_all_columns() {
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    let barred = text_of("runtimes").replace("time.perf", "a | b");
    let barred = rendered(&Document::from_json(&barred).unwrap(), Format::Markdown);
    assert!(barred.contains(r"a \| b"), "{barred}");
    let texts = fixtures().map(|fixture| (fixture, rendered(&document(fixture), Format::Markdown)));
    for (fixture, text) in texts.chain([("barred", barred)]) {
        let tables = text.split("\n\n").filter(|block| block.starts_with('|'));
        for table in tables {
            let columns: Vec<usize> = table.lines().map(bars).collect();
            assert!(columns.len() > 2 && columns.iter().all(|count| *count == columns[0]), "{fixture}: {table}");
        }
    }
}

/// Fields of a row: commas outside quotes, and one.
fn columns(row: &str) -> usize {
    let mut quoted = false;
    1 + row
        .chars()
        .filter(|c| {
            quoted ^= *c == '"';
            *c == ',' && !quoted
        })
        .count()
}

#[test]
fn escape_sequences_appear_only_where_color_is_requested() {
    for fixture in fixtures() {
        for format in Format::ALL {
            assert!(!rendered(&document(fixture), format).contains('\x1b'), "{fixture} {}", format.name());
        }
    }
    let colored = |fixture: &str, style: Style| {
        render(&document(fixture), Format::Table, Style { color: true, ..style }).unwrap()
    };
    // In the table of all columns the row of a faulty clock is red, in the main one what it did.
    let all = colored("broken", Style { columns: Some(Columns::All), width: Some(200), ..Style::default() });
    let faulty: Vec<&str> = all.lines().filter(|line| line.starts_with("\x1b[31m")).collect();
    assert!(faulty.len() == 1 && faulty[0].contains("monotonic"), "{faulty:?}");
    let main = colored("broken", Style { width: Some(100), ..Style::default() });
    assert_eq!(main.matches("\x1b[31m").count(), 1, "{main}");
    assert!(main.contains("\x1b[31m132 errors, 83 regressions, 41 jumps, 1 stuck\x1b[0m\n"), "{main}");
    assert_eq!(main.matches("\x1b[32mok").count(), 3, "{main}");
    let verdicts = colored("check", Style::default());
    for word in ["\x1b[31munfit\x1b[0m", "\x1b[32mtrusted\x1b[0m", "\x1b[31mNO\x1b[0m", "\x1b[1mIntervals: unfit (tsc)"]
    {
        assert!(verdicts.contains(word), "{word:?}: {verdicts:?}");
    }
}

#[test]
fn prose_is_wrapped_at_the_width() {
    let style = Style { width: Some(60), ..Style::default() };
    let text = render(&document("healthy"), Format::Table, style).unwrap();
    let below = text.split_once("\n\n").unwrap().1;
    assert!(below.lines().all(|line| line.chars().count() <= 60), "{below}");
}

/// A record of a run that was ended before its first clocksource shows its machine.
#[test]
fn a_document_without_contents_prints_something() {
    let mut record: Value = serde_json::from_str(&text_of("switched")).unwrap();
    record["measurements"] = json!([]);
    let document = Document::from_json(&record.to_string()).unwrap();
    for format in [Format::Table, Format::Markdown] {
        let text = rendered(&document, format);
        assert!(text.contains("Example CPU 9000") && text.contains("Nothing was measured."), "{text}");
    }
}

/// Clocks side by side, and histograms, fit whatever width the terminal has.
#[test]
fn narrow_terminals_have_narrow_tables() {
    let ways = [(40, true), (60, false), (200, true)].into_iter().flat_map(|way| [(way, true), (way, false)]);
    for ((width, ascii), all) in ways {
        let style = Style { width: Some(width), ascii, all, ..Style::default() };
        let text = render(&document("steps"), Format::Table, style).unwrap();
        let drawn = |line: &&str| line.contains(['█', '#']) || line.starts_with(['c', 'm', 's', '2', '5', '7', '9']);
        let too_wide = |line: &&str| line.chars().count() > usize::from(width);
        let too_wide: Vec<&str> = text.lines().filter(drawn).filter(too_wide).collect();
        assert!(too_wide.is_empty(), "{width}: {too_wide:#?}");
        assert_eq!(text.contains('█'), !ascii);
    }
    let style = Style { width: Some(200), all: true, ..Style::default() };
    let wide = render(&document("steps"), Format::Table, style).unwrap();
    let head: Vec<&str> = wide.lines().find(|line| line.contains("Time (ns)")).unwrap().split_whitespace().collect();
    assert_eq!(head, ["Time", "(ns)", "tsc", "realtime_coarse", "monotonic", "gettimeofday"]);
}

/// A table that would repeat long names shows each above its figures, in as many parts as the width
/// needs.
#[test]
fn narrow_terminals_have_names_above_their_figures() {
    for width in [40, 60, 80, 100, 140, 200] {
        for fixture in ["runtimes", "runtimes_switched", "runtimes_found"] {
            let style = Style { width: Some(width), color: true, ..Style::default() };
            let text = render(&document(fixture), Format::Table, style).unwrap();
            let uncolored = uncolored(&text);
            let too_wide: Vec<&str> =
                uncolored.lines().filter(|line| line.chars().count() > usize::from(width)).collect();
            assert!(too_wide.is_empty(), "{fixture} {width}: {too_wide:#?}");
            let faulty = text.matches("\x1b[31m").count();
            assert_eq!(faulty > 0, fixture == "runtimes", "{fixture} {width}: {text}");
        }
    }
    for width in [60, 80] {
        let style = Style { width: Some(width), ..Style::default() };
        insta::assert_snapshot!(
            format!("runtimes.{width}"),
            render(&document("runtimes"), Format::Table, style).unwrap()
        );
    }
}

/// Both ends of a range are not torn apart.
#[test]
fn columns_that_belong_together_stay_together() {
    for width in [40, 60, 80, 100] {
        let style = Style { width: Some(width), ..Style::default() };
        let text = render(&document("advise"), Format::Table, style).unwrap();
        let range: Vec<&str> = text.lines().filter(|line| line.contains("Two reads differ by")).collect();
        assert!(range.len() == 1 && range[0].ends_with("at most"), "{width}: {text}");
    }
}

#[test]
fn rows_that_are_left_out_are_said_to_be() {
    let text =
        render(&document("steps"), Format::Table, Style { rows: Some(2), all: true, ..Style::default() }).unwrap();
    assert!(text.contains("rarer ones"), "{text}");
    // None at all leaves the rest as it was.
    let text =
        render(&document("steps"), Format::Table, Style { rows: Some(0), all: true, ..Style::default() }).unwrap();
    assert!(text.contains("The largest:") && text.contains('█') && text.contains("The worst"), "{text}");
}

/// A screen has each frequent difference once, and all others by decades; of many clocks it has no
/// histogram but those of faulty ones.
#[test]
fn a_screen_of_steps_has_few_rows() {
    let Document::Steps(mut steps) = document("steps") else { panic!("steps") };
    let screen = |steps: &Envelope<Steps>| {
        render(&Document::Steps(steps.clone()), Format::Table, Style { width: Some(80), ..Style::default() }).unwrap()
    };
    let text = screen(&steps);
    let bars = text.lines().filter(|line| line.contains('█')).count();
    assert!(text.lines().count() <= 64 && bars == 20, "{bars} {text}");
    assert!(text.contains("10.0148 ns") && text.contains("7,034,023  89.1928%"), "{text}");
    let clocks = steps.found.clocks.clone();
    steps.found.clocks.extend(clocks);
    assert!(!screen(&steps).contains('█'), "{}", screen(&steps));
    steps.found.clocks[0].events.as_mut().unwrap().regression = 1;
    assert!(screen(&steps).contains('█') && screen(&steps).contains("1 regression"), "{}", screen(&steps));
}

/// An unknown figure is shown as such, in every format, and never as a number.
#[test]
fn unknown_is_never_a_number() {
    let Document::Measurement(mut measurement) = document("healthy") else { panic!("a measurement") };
    let bare = |clock: &ClockRecord| ClockRecord {
        identity: clock.identity.clone(),
        available: true,
        reason: None,
        cost_ns: Figure::default(),
        ratio_to_fastest: Figure::default(),
        nominal_resolution_ns: Figure::default(),
        observed_resolution_ns: Figure::default(),
        tick_ns: Figure::default(),
        tick_evidence: None,
        after_work: Figure::default(),
        summary: Figure::default(),
        monotonic: Figure::default(),
        events: None,
    };
    measurement.found.clocks = measurement.found.clocks.iter().map(bare).collect();
    let document = Document::Measurement(measurement);
    let rows = |columns| {
        let text = render(&document, Format::Table, Style { columns, width: Some(200), ..Style::default() }).unwrap();
        let lines = text.lines().map(|line| line.trim_start_matches(['>', ' ']));
        let rows = lines.skip_while(|line| !line.starts_with("Name")).skip(1).take_while(|line| !line.is_empty());
        let words = |row: &str| row.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
        rows.take(6).map(words).collect::<Vec<_>>()
    };
    assert_eq!(rows(Some(Columns::All)), vec![vec!["?"; 14]; 6]);
    assert_eq!(rows(Some(Columns::Clockperf)), vec![vec!["?"; 8]; 6]);
    // Columns that say nothing are left out.
    assert!(rows(None).iter().all(Vec::is_empty), "{:?}", rows(None));
    for row in rendered(&document, Format::Csv).split_terminator("\r\n").skip(1) {
        assert!(row.contains(&",".repeat(20)), "{row}");
    }
    rendered(&document, Format::Markdown);
}

#[test]
fn names_of_formats_parse() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("xml".parse::<Format>().is_err());
}

/// A record may come from anywhere: it must not steer the terminal, nor break a row.
#[test]
fn control_characters_of_a_record_are_not_passed_on() {
    let text = text_of("healthy").replace("Example CPU 9000", "\\u001b[2J\\nCPU | \\\"9000\\\"");
    let document = Document::from_json(&text).unwrap();
    assert!(document.environment().cpu.model.known().is_some_and(|model| model.contains('\x1b')));
    assert!(!rendered(&document, Format::Table).contains('\x1b'));
    // What a runtime says of itself comes from a program that may be anything.
    let text =
        text_of("runtimes").replace("3.11.7", "\\u001b[2J\\n3.11.7").replace("time.perf", "\\u001b[2J\\ntime.perf");
    let document = Document::from_json(&text).unwrap();
    for width in [60, 100, 200] {
        let style = Style { width: Some(width), ..Style::default() };
        let table = render(&document, Format::Table, style).unwrap();
        assert!(table.contains("perf_counter_ns") && !table.contains('\x1b'), "{table}");
    }
    let sheet = rendered(&document, Format::Csv);
    assert!(sheet.split_terminator("\r\n").map(columns).all(|count| count == 46), "{sheet}");
}

/// Characters of each kind that steer a terminal or hide, between words.
const POISON: &str = "a\u{1b}[2Jb\u{9b}31mc\u{7f}d\r\ne\u{202e}f\u{2066}g\tz";

/// Puts the poison into every text of a document that may be any text; returns how many there are.
fn poisoned(document: &mut Value) -> usize {
    let places = places(document).into_iter();
    let texts = places.filter(|place| place.takes_text() && document.pointer(&place.pointer).unwrap().is_string());
    let texts: Vec<(String, Value)> = texts.map(|place| (place.pointer, POISON.into())).collect();
    replace(document, &texts).len()
}

/// The distance between possible readings is the tick, the smallest difference that was seen the
/// observed resolution; a step is what an event or a setting moves a clock by.
#[test]
fn no_text_calls_a_tick_or_a_difference_a_step() {
    for fixture in fixtures() {
        let table = rendered(&document(fixture), Format::Table).replace('\n', " ");
        for words in ["it steps by", "step by ", "readings step", "smallest step", "step seen", "no step was"] {
            assert!(!table.contains(words), "{fixture}: {words}");
        }
    }
}

/// Each document that there is has a fixture, so that the tests above see it.
#[test]
fn every_document_has_a_fixture() {
    let schema: Value = serde_json::from_str(DOCUMENT_SCHEMA).unwrap();
    let kinds = schema["oneOf"].as_array().unwrap().iter();
    let kinds: BTreeSet<&str> = kinds.map(|kind| kind["properties"]["schema"]["const"].as_str().unwrap()).collect();
    let recorded: BTreeSet<&str> = fixtures().map(|fixture| kind(fixture).schema).collect();
    assert_eq!(recorded, kinds);
}

/// Removes the words beside data, which follow from that.
fn forget_words(record: &mut Value) {
    forget_nested_words(record);
    for clock in record["left_out"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        assert!(clock.remove("reason").is_some());
    }
    let verdicts = record["verdicts"].as_array_mut().into_iter().flatten();
    let evidence = verdicts.flat_map(|verdict| verdict["evidence"].as_array_mut().into_iter().flatten());
    for piece in evidence.filter_map(Value::as_object_mut) {
        for word in ["name", "text", "source", "advice"] {
            assert!(piece.remove(word).is_some(), "{word}");
        }
    }
    let reasons = record.pointer_mut("/counter/reasons").and_then(Value::as_array_mut).into_iter().flatten();
    for reason in reasons.filter_map(Value::as_object_mut) {
        for word in ["seen", "source", "is_fault", "advice"] {
            assert!(reason.remove(word).is_some(), "{word}");
        }
    }
    let demands = record["demands"].as_array_mut().into_iter().flatten();
    for demand in demands.filter_map(Value::as_object_mut) {
        for word in ["unit", "advice"] {
            assert!(demand.remove(word).is_some(), "{word}");
        }
    }
    let metrics = record["metrics"].as_array_mut().into_iter().flatten();
    for metric in metrics.filter_map(Value::as_object_mut) {
        for word in ["figure", "unit", "note"] {
            assert!(metric.remove(word).is_some(), "{word}");
        }
    }
    if record["schema"] == "clockscope.shootout" {
        assert!(record.as_object_mut().is_some_and(|record| record.remove("conclusion").is_some()));
    }
}

/// Removes the words of ticks, recommendations, holders and surprises, wherever they are.
fn forget_nested_words(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            for (data, word) in [("tick_evidence", "period"), ("advice", "sentence")] {
                if let Some(within) = entries.get_mut(data).and_then(Value::as_object_mut) {
                    assert!(within.remove(word).is_some(), "{word}");
                }
            }
            if let Some(counter) = entries.get_mut("performance_counter").and_then(Value::as_object_mut) {
                for word in ["advice", "commands"] {
                    assert!(counter.remove(word).is_some(), "{word}");
                }
            }
            if entries.contains_key("code") {
                assert!(entries.remove("text").is_some());
            }
            if entries.contains_key("switched_by") {
                assert!(entries.remove("switched_note").is_some());
            }
            if entries.get("counted").is_some_and(Value::is_object) {
                assert!(entries.remove("detail").is_some());
            }
            for surprise in entries.get_mut("surprises").and_then(Value::as_array_mut).into_iter().flatten() {
                assert!(surprise.as_object_mut().is_some_and(|surprise| surprise.remove("text").is_some()));
            }
            entries.values_mut().for_each(forget_nested_words);
        }
        Value::Array(entries) => entries.iter_mut().for_each(forget_nested_words),
        _ => {}
    }
}

/// Whatever a record holds, and wherever: no format prints what steers a terminal, and every row
/// stays a row.
#[test]
fn no_format_passes_on_what_steers_a_terminal() {
    for fixture in fixtures() {
        let mut value: Value = serde_json::from_str(&text_of(fixture)).unwrap();
        assert!(poisoned(&mut value) >= 3, "{fixture}");
        // A name in a map is a text, too. It names no figure, so that nobody sees it.
        let mut hostile = value.clone();
        if let Some(unknown) = hostile["environment"]["unknown"].as_object_mut() {
            unknown.insert(POISON.to_owned(), json!({ "code": "other", "text": POISON }));
        }
        let (clean, document) = (document(fixture), Document::from_json(&hostile.to_string()).unwrap());
        for format in Format::ALL {
            let text = rendered(&document, format);
            let text = if format == Format::Csv { text.replace("\r\n", "\n") } else { text };
            let found = text.lines().find(|line| line.contains(is_steering));
            assert_eq!(found, None, "{fixture} {format:?}");
            if matches!(format, Format::Csv | Format::Ndjson) {
                assert_eq!(text.lines().count(), rendered(&clean, format).lines().count(), "{fixture} {format:?}");
            }
        }
        // JSON says what was there, in words of its own.
        let mut again: Value = serde_json::from_str(&rendered(&document, Format::Json)).unwrap();
        forget_words(&mut again);
        forget_words(&mut value);
        assert_eq!(again, value, "{fixture}");
    }
}
