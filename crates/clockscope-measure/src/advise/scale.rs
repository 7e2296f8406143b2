//! By what share a clock's rate may put an interval off: by a comparison with other hardware, else
//! by what a daemon states, else unknown.

use clockscope_records::{
    AdviceReason, ChronyTracking, ClockIdentity, Envelope, Figure, Measurement, RatePair, ReadPath, ScaleSource,
    Synchronization,
};

/// What is known of the rates of a machine's clocks.
#[derive(Default)]
pub(super) struct RateStatements<'a> {
    synchronization: Option<&'a Synchronization>,
    pairs: &'a [RatePair],
    /// Bound of the frequency that readings of the counter were converted by, as a share.
    counter_share: f64,
}

impl<'a> RateStatements<'a> {
    pub(super) fn of(measurement: &'a Envelope<Measurement>) -> Self {
        let rates = measurement.found.thorough.as_ref().and_then(|thorough| thorough.rate.known());
        let run = measurement.run.as_ref();
        Self {
            synchronization: measurement.found.synchronization.as_ref(),
            pairs: rates.map(|rates| &rates.pairs[..]).unwrap_or_default(),
            counter_share: run.map_or(f64::INFINITY, |run| run.timer.frequency_bound_ppm * 1e-6),
        }
    }

    /// Returns the bound of the error of a clock's rate, as a share, and what it is from.
    pub(super) fn scale_error(&self, clock: &ClockIdentity) -> (Figure<f64>, Option<ScaleSource>) {
        if let Some((share, other)) = self.compared(clock) {
            return (Figure::Known(share), Some(ScaleSource::Comparison(other)));
        }
        match self.stated() {
            Ok(chrony) => (Figure::Known(self.by_daemon(clock, chrony)), Some(ScaleSource::Chronyd)),
            Err(reason) => (Figure::unknown(reason), None),
        }
    }

    /// The smallest bound by a comparison with a PTP clock: of all clocks here, these alone are
    /// certainly on other hardware. Readings of a counter have no rate but that of their
    /// conversion.
    fn compared(&self, clock: &ClockIdentity) -> Option<(f64, String)> {
        let label = clock.label();
        let other = |pair: &'a RatePair| match () {
            () if pair.a == label => Some((pair, &pair.b)),
            () if pair.b == label => Some((pair, &pair.a)),
            () => None,
        };
        let independent = self.pairs.iter().filter_map(other).filter(|(_, name)| self.is_independent(name));
        let bounds = independent.filter_map(|(pair, name)| Some(((pair.ppm?.abs() + pair.bound_ppm?) * 1e-6, name)));
        bounds.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(share, name)| (share, name.clone()))
    }

    fn is_independent(&self, name: &str) -> bool {
        let devices = self.synchronization.map(|found| &found.ptp[..]).unwrap_or_default();
        devices.iter().any(|ptp| ptp.device == name && !ptp.is_virtual())
    }

    /// What chronyd states, if it holds while nobody steers further.
    fn stated(&self) -> Result<&ChronyTracking, AdviceReason> {
        let found = self.synchronization.ok_or(AdviceReason::KeeperNotRecorded)?;
        let Some(chrony) = found.chrony.known() else {
            let is_unsynchronized = |status: &[String]| status.iter().any(|flag| flag == "unsync");
            let is_alone = found.adjtimex.known().is_some_and(|kernels| is_unsynchronized(&kernels.status));
            return Err(if is_alone { AdviceReason::NotSynchronized } else { AdviceReason::NoRateStatement });
        };
        let ChronyTracking { correction_s, error_s, .. } = *chrony;
        if correction_s.abs() > error_s {
            return Err(AdviceReason::OffsetWorkedOff { correction_s, error_s });
        }
        Ok(chrony)
    }

    /// The daemon's bound of the frequency, of a clock that it steers. One that it does not steer
    /// is off by what it corrects, too, and a counter by the error of its conversion.
    fn by_daemon(&self, clock: &ClockIdentity, chrony: &ChronyTracking) -> f64 {
        let skew = chrony.skew_ppm.abs() * 1e-6;
        let is_steered = clock.is_steered || clock.path == ReadPath::Library;
        let correction = if is_steered && !clock.is_counter() { 0.0 } else { chrony.freq_ppm.abs() * 1e-6 };
        let conversion = if clock.is_counter() { self.counter_share } else { 0.0 };
        skew + correction + conversion
    }
}
