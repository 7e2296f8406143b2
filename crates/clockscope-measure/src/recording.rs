//! Records runs of *steps*, and computes their answers again.
//!
//! The answer is a function of what the machine delivered: the readings of timer, reference and
//! clocks, in the order in which they were made, and a few facts. A [`Recorder`] is a platform that
//! keeps all of it, the [`Player`] one that delivers it again; *steps* is the same on both.

mod deltas;
mod facts;
mod fault;
mod log;
mod player;
mod recorder;
mod recording_sampler;
mod replayed_clocks;

use std::sync::atomic::AtomicBool;

use clockscope_records::{Envelope, Recording, Steps};

use crate::bench::Progress;
use crate::catalog::Catalog;
use crate::error::MeasureError;
use crate::platform::Platform;
use crate::session::Session;
use crate::steps::{Amount, RawReadings, StepsRequest, steps};
pub use fault::{RecordingFault, ReplayMismatch};
use player::Player;
pub use recorder::Recorder;
use recording_sampler::recording_catalog;

/// Amount to read and record.
#[derive(Clone, Copy, Debug)]
pub struct RecordRequest {
    /// Reads of each clock, without a pause.
    pub reads: u64,
    /// CPU to measure on; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Reason why a recording gives no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording is not what a run wrote.
    #[error(
        "the recording is damaged: {0}: get an undamaged copy, or record again with `clockscope steps --raw FILE.json`"
    )]
    Damaged(RecordingFault),
    /// This program would have read something else.
    #[error(
        "the recording does not fit this program: {what}: replay it with clockscope {recorded_by}, which recorded it (this is \
         {}), or record again", env!("CARGO_PKG_VERSION")
    )]
    DoesNotFit {
        /// The mismatch.
        what: ReplayMismatch,
        /// Version of the program that recorded it.
        recorded_by: String,
    },
}

/// Answers *steps* as [`steps`] does with [`StepsRequest::keep`], and keeps what it takes to
/// compute the answer again.
///
/// Batches are timed by the same code as without a recording. Outside of batches, each read of
/// timer or reference costs some 10 ns more.
///
/// # Errors
/// Those of [`steps`].
pub fn record<P: Platform>(
    session: &Session<'_, Recorder<P>>,
    catalog: Catalog<P>,
    request: RecordRequest,
    progress: &mut Progress<'_>,
) -> Result<(Envelope<Steps>, Recording), MeasureError> {
    session.platform.begin();
    let (catalog, clocks) = recording_catalog(catalog, session.environment.clocksource.as_deref());
    let RecordRequest { reads, cpu } = request;
    let request = StepsRequest { amount: Amount::Reads(reads), cpu, keep: true };
    let (answer, readings) = steps(session, catalog, &request, progress)?;
    let mut readings = readings.into_iter().map(|RawReadings { values, .. }| values);
    // Each clock that was read has kept readings; they come in the same order.
    let clocks = clocks.into_iter().map(|clock| clock.record(&mut readings)).collect();
    let mut run = session.platform.run();
    run.environment = session.environment.clone();
    run.reads_asked = reads;
    run.interrupted = answer.is_interrupted();
    run.clocks = clocks;
    Ok((answer, Recording::new(run)))
}

/// Returns the answer of the run that a recording was made of. Reads no clock.
///
/// Memory and time are bounded by the size of the recording.
///
/// # Errors
/// The recording is damaged, or another version of the program made it, which reads otherwise.
pub fn replay(recording: Recording) -> Result<Envelope<Steps>, ReplayError> {
    let is_intact = recording.is_intact();
    let run = recording.recorded;
    let recorded_by = run.environment.program.version.clone();
    let is_our_own = recorded_by == env!("CARGO_PKG_VERSION");
    let does_not_fit = |what: ReplayMismatch| ReplayError::DoesNotFit { what, recorded_by };
    match (is_intact, is_our_own) {
        (false, true) => return Err(ReplayError::Damaged(RecordingFault::Checksum)),
        (false, false) => return Err(does_not_fit(ReplayMismatch::Checksum)),
        (true, _) => {}
    }
    let request = StepsRequest { amount: Amount::Reads(run.reads_asked), cpu: None, keep: true };
    let identities: Vec<_> = run.clocks.iter().map(|clock| clock.identity.clone()).collect();
    let (player, catalog) = Player::new(run).map_err(ReplayError::Damaged)?;
    let stop = AtomicBool::new(player.is_stopped_from_the_start());
    let answered = steps(&Session::new(&player, &stop), catalog, &request, &mut |_| {});
    let mut answer = match (player.mismatch(), answered) {
        (Some(what), _) => return Err(does_not_fit(what)),
        (None, Err(error)) => return Err(does_not_fit(error.into())),
        (None, Ok((answer, _))) => answer,
    };
    // A catalog knows aliases and summaries by static texts alone.
    for (clock, identity) in answer.found.clocks.iter_mut().zip(identities) {
        // A recording has no reason why this is unknown: it is found again.
        let found = std::mem::replace(&mut clock.identity, identity).counter_based;
        if found.get() == clock.identity.counter_based.get() {
            clock.identity.counter_based = found;
        }
    }
    Ok(answer)
}
