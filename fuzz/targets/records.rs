//! A record of another machine, in every format: refused, or printed without anything that steers a
//! terminal.
#![no_main]

use clockscope_records::{Document, is_steering};
use clockscope_report::{Format, RenderError, Style, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(document) = Document::from_json(text) else { return };
    for format in Format::ALL {
        let printed = match render(&document, format, Style::default()) {
            Err(RenderError::NoChart) if format == Format::Svg => continue,
            Err(RenderError::NoMetrics) if format == Format::Prometheus => continue,
            printed => printed.expect("what was read can be written"),
        };
        let printed = if format == Format::Csv { printed.replace("\r\n", "\n") } else { printed };
        let steers = |c: char| c != '\n' && is_steering(c);
        assert!(!printed.contains(steers), "{format:?}");
        if format == Format::Json {
            Document::from_json(&printed).expect("what was written can be read");
        }
    }
});
