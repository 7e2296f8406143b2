//! Shows a measurement, or what has changed since earlier ones.

use anyhow::Result;
use clockscope_records::{Document, Envelope, Measurement};

use super::arguments::MeasureArgs;
use crate::answer::{Drawing, exit, write};
use crate::baseline::{Baseline, NewBaseline};
use crate::changes::{changes_among, own_findings};
use crate::exit::Exit;
use crate::output::Destination;

/// Shows a measurement, or what has changed since earlier ones.
pub(super) fn show_measurement(
    measurement: Envelope<Measurement>,
    baseline: Option<&Baseline>,
    save: Option<NewBaseline<'_>>,
    args: &MeasureArgs,
    destination: Destination,
) -> Result<Exit> {
    let exit = exit(measurement.is_interrupted(), measurement.found.clocks.iter(), &own_findings(&args.fail_on));
    let document = Document::Measurement(measurement);
    if let Some(save) = save {
        save.write(&document, exit)?;
    }
    if let Some(baseline) = baseline {
        return baseline.show(
            document,
            &changes_among(&args.fail_on),
            (&args.output, destination, args.shows_all()),
            exit,
        );
    }
    let drawing = Drawing { columns: args.columns, all: args.shows_all(), machine: args.verbose, ..Drawing::default() };
    write(&document, &args.output, drawing, destination, exit)
}
