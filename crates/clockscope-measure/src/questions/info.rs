//! The question *info*: the facts about the machine, without a measurement.

use clockscope_records::{Envelope, Info};

use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::platform::Platform;

/// Stamps the facts about the machine with the time.
///
/// # Errors
/// The process has more than one thread: the clock is tried in a forked child.
pub fn info<P: Platform>(session: &Session<'_, P>) -> Result<Envelope<Info>, MeasureError> {
    Ok(Envelope::of_facts(
        session.recorded_at()?,
        session.environment.clone(),
        Info { windows: clockscope_system::windows_facts() },
    ))
}
