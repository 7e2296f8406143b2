//! The views of a document: in brief, by columns, in color.

use crate::support::{document, fixtures, rendered, text_of, uncolored};
use clockscope_records::{Document, Figure};
use clockscope_report::{Columns, Format, Style, render};
use serde_json::Value;

/// Curves are drawn where they were asked for, within the width.
#[test]
fn plots_are_drawn_on_request() {
    for (fixture, title) in [("rate", "Allan deviation"), ("steps", "Distribution of the differences")] {
        let style = Style { plots: true, width: Some(100), ..Style::default() };
        let text = render(&document(fixture), Format::Table, style).unwrap();
        let without = rendered(&document(fixture), Format::Table);
        assert!(text.lines().any(|line| line == title) && !without.lines().any(|line| line == title), "{text}");
        assert!(!text.contains("\n\n\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(format!("{fixture}.plots"), text);
    }
}

/// Colors say nothing that the words do not say.
#[test]
fn colors_change_no_word() {
    for fixture in fixtures() {
        let style = Style { color: true, ..Style::default() };
        assert_eq!(
            uncolored(&render(&document(fixture), Format::Table, style).unwrap()),
            rendered(&document(fixture), Format::Table)
        );
    }
}

/// The conclusion comes first in every document.
#[test]
fn the_first_line_stands_out() {
    for fixture in fixtures().filter(|fixture| !fixture.contains("switched")) {
        let text = render(&document(fixture), Format::Table, Style { color: true, ..Style::default() }).unwrap();
        let first = text.lines().find(|line| !line.starts_with("\x1b[33m")).unwrap();
        assert!(first.starts_with("\x1b[1m") && uncolored(first).contains(' '), "{fixture}: {first:?}");
        let markdown = rendered(&document(fixture), Format::Markdown);
        assert!(markdown.split("\n\n").take(3).any(|part| part.starts_with("**")), "{fixture}: {markdown}");
    }
}

#[test]
fn brief_pages_have_fifteen_lines_at_most() {
    for fixture in fixtures() {
        let document = document(fixture);
        for columns in [None, Some(Columns::All), Some(Columns::Clockperf)] {
            for width in [40, 60, 80, 100, 200] {
                let style = Style { brief: true, bars: true, columns, width: Some(width), ..Style::default() };
                for format in [Format::Table, Format::Markdown] {
                    let text = render(&document, format, style).unwrap();
                    let lines = text.lines().count();
                    assert!((1..=15).contains(&lines), "{fixture} {width} {}: {lines}\n{text}", format.name());
                }
            }
        }
        let style = Style { brief: true, width: Some(80), ..Style::default() };
        insta::assert_snapshot!(format!("{fixture}.brief"), render(&document, Format::Table, style).unwrap());
    }
}

/// A measurement of many clocks, among them two whose rows matter and come last.
fn of_many_clocks() -> Document {
    let mut record: Value = serde_json::from_str(&text_of("healthy")).unwrap();
    let clocks = record["clocks"].as_array_mut().unwrap();
    let process = clocks.iter().find(|clock| clock["name"] == "process").unwrap().clone();
    for index in 0..20 {
        let mut clock = process.clone();
        clock["name"] = format!("clock_with_a_long_name_{index:02}").into();
        clocks.push(clock);
    }
    clocks.last_mut().unwrap()["events"]["regression"] = 7.into();
    let disturbed = clocks.iter_mut().rev().nth(1).unwrap();
    for (event, count) in [("errors", 132_000), ("regression", 83_000), ("stuck", 41_000), ("stall", 1_000_000)] {
        disturbed["events"][event] = count.into();
    }
    Document::from_json(&record.to_string()).unwrap()
}

/// In brief, the rows that answer most questions stay: what went wrong, the clock to use, the
/// fastest counter.
#[test]
fn a_brief_table_keeps_the_rows_that_matter() {
    let document = of_many_clocks();
    for format in [Format::Table, Format::Markdown] {
        let text = render(&document, format, Style { brief: true, width: Some(80), ..Style::default() }).unwrap();
        assert!((14..=15).contains(&text.lines().count()), "{text}");
        for needed in ["7 regressions", "monotonic", "tsc ", "more without --brief"] {
            assert!(text.contains(needed), "{needed}: {text}");
        }
    }
}

#[test]
fn the_main_table_fits_80_columns_and_has_groups() {
    let document = of_many_clocks();
    // Bars of many clocks have room from 95 columns on.
    for (bars, width) in [(false, 80_usize), (true, 80), (true, 95)] {
        let columns = Some(Columns::Relative);
        let style = Style { width: Some(width as u16), bars, columns, all: true, ..Style::default() };
        let text = render(&document, Format::Table, style).unwrap();
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > width).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert_eq!(text.contains('█'), width == 95);
        assert!(text.contains("\nCounter sequences\n  tsc ") && text.contains("\nPOSIX\n  realtime_coarse "), "{text}");
    }
    let style = Style { width: Some(80), bars: true, columns: Some(Columns::Relative), ..Style::default() };
    insta::assert_snapshot!(
        "healthy.bars",
        render(&crate::support::document("healthy"), Format::Table, style).unwrap()
    );
}

/// All figures, as they were before there was a main table; and those of clockperf, by its names.
/// What programs seldom compare is left out of a long table, and said to be, with its faults.
#[test]
fn a_long_table_leaves_out_what_is_seldom_compared() {
    let mut record: Value = serde_json::to_value(of_many_clocks()).unwrap();
    let clocks = record["clocks"].as_array_mut().unwrap();
    let calls = clocks.iter_mut().filter(|clock| clock["name"].as_str().unwrap().starts_with("clock_with"));
    for clock in calls {
        (clock["is_wrapper"], clock["path"]) = (true.into(), "libc".into());
    }
    let document = Document::from_json(&record.to_string()).unwrap();
    let page = |style| render(&document, Format::Table, style).unwrap();
    let short = page(Style::default());
    assert!(!short.contains("\n  clock_with_a_long_name_00 ") && short.contains("monotonic"), "{short}");
    assert!(short.contains("20 more clocks: --all."), "{short}");
    assert!(short.contains("Events of") && short.contains("clock_with_a_long_name_19"), "{short}");
    for style in [Style { all: true, ..Style::default() }, Style { columns: Some(Columns::All), ..Style::default() }] {
        let whole = page(style);
        assert!(whole.contains("clock_with_a_long_name_00 ") && !whole.contains("more clocks: --all"), "{whole}");
    }
    let json = render(&document, Format::Markdown, Style::default()).unwrap();
    assert!(json.contains("clock_with_a_long_name_00"));
}

#[test]
fn columns_are_chosen_by_name() {
    let table = |fixture: &str, columns: Columns| {
        let style = Style { columns: Some(columns), width: Some(200), ..Style::default() };
        let text = render(&document(fixture), Format::Table, style).unwrap();
        text.split_once("\n\n").unwrap().1.to_owned()
    };
    let heads = |text: &str| text.lines().next().unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let clockperf = table("healthy", Columns::Clockperf);
    assert_eq!(heads(&clockperf), ["Name", "Cost(ns)", "+/-", "Resol", "Mono", "Fail", "Warp", "Stal", "Regr"]);
    for fixture in ["healthy", "broken"] {
        insta::assert_snapshot!(format!("{fixture}.clockperf"), table(fixture, Columns::Clockperf));
    }
    let all = table("healthy", Columns::All);
    assert_eq!(heads(&all).len(), 16, "{all}");
    insta::assert_snapshot!("healthy.all", all);
    // Without the flag, Markdown has all columns.
    let markdown = rendered(&document("healthy"), Format::Markdown);
    assert!(markdown.contains("| Name | Cost (ns) | ±95% |"), "{markdown}");
}

/// Evidence that decides nothing is left out, and said to be; Markdown and --verbose have it.
#[test]
fn only_decisive_evidence_is_displayed() {
    let printed = |format, verbose| render(&document("check"), format, Style { verbose, ..Style::default() }).unwrap();
    let [short, whole] = [false, true].map(|verbose| printed(Format::Table, verbose));
    assert!(short.contains("Unfit for intervals by order across CPUs: tsc\n") && !short.contains("  for  "), "{short}");
    assert!(short.contains("27 more checks: --verbose.") && !whole.contains("--verbose"), "{short}");
    let pieces =
        |text: &str| text.lines().filter(|line| line.contains(" for      ") || line.contains("AGAINST ")).count();
    assert_eq!(pieces(&whole), pieces(&printed(Format::Markdown, false)));
    assert!(pieces(&whole) > 20, "{whole}");
}

/// Nothing went back, which shows nothing.
#[test]
fn clocks_that_did_not_step_count_as_untested() {
    let Document::Order(mut order) = document("order") else { panic!("it is of order") };
    for sequence in &mut order.found.sequences {
        sequence.regressions = Figure::unknown("all of its readings were the same");
    }
    let text = rendered(&Document::Order(order), Format::Table);
    assert!(text.contains("No ordered clock was tested across 3 CPUs"), "{text}");
    assert!(text.contains("clockscope.now: all of its readings"), "{text}");
}

/// Figures of a busy machine say so, and those of a quiet one do not.
#[test]
fn time_without_a_cpu_is_said() {
    let mut record = serde_json::to_value(crate::support::document("healthy")).unwrap();
    record["run"]["duration_s"] = 2.0.into();
    let mut text = |waited_s: Option<f64>| {
        record["run"]["waited_s"] = waited_s.into();
        let document = Document::from_json(&record.to_string()).unwrap();
        render(&document, Format::Table, Style { width: Some(200), ..Style::default() }).unwrap()
    };
    assert!(
        text(Some(0.744)).contains("\n! 37% of the time went to other programs or a quota: see clockscope gaps.\n")
    );
    for quiet in [None, Some(0.0), Some(0.09)] {
        assert!(!text(quiet).contains("went to other programs"), "{quiet:?}");
    }
}
