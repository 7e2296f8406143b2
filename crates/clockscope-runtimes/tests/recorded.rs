//! Surprises of recorded runs. The records belong to another crate, so the package leaves this
//! test out.

use clockscope_records::Document;
use clockscope_runtimes::surprises;

/// The report's tests show the same surprises that this crate finds in those rows.
#[test]
fn recorded_runs_have_the_surprises_that_are_found_in_their_rows() {
    for text in [
        include_str!("../../clockscope-report/tests/fixtures/runtimes.json"),
        include_str!("../../clockscope-report/tests/fixtures/runtimes_switched.json"),
    ] {
        let Ok(Document::Runtimes(envelope)) = Document::from_json(text) else { panic!("a record of runtimes") };
        let found = envelope.found;
        assert_eq!(surprises(&found.runtimes), found.surprises);
    }
}
