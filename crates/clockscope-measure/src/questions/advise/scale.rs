//! Error of a clock's rate, as a share of an interval: by a comparison with other hardware, else by
//! what a daemon states, else unknown.

use clockscope_records::units::time;
use clockscope_records::{
    ChronyTracking, ClockIdentity, Envelope, Figure, Measurement, RatePair, ReadPath, ScaleSource, Synchronization,
    Unknown, texts,
};

/// Knowledge of the rates of a machine's clocks.
#[derive(Default)]
pub(super) struct RateStatements<'a> {
    synchronization: Option<&'a Synchronization>,
    pairs: &'a [RatePair],
    /// Bound of the frequency that readings of the counter were converted by, as a share.
    counter_share: f64,
}

impl<'a> RateStatements<'a> {
    pub(super) fn from_measurement(measurement: &'a Envelope<Measurement>) -> Self {
        let rates = measurement.found.extended.as_ref().and_then(|extended| extended.rate.known());
        let run = measurement.run.as_ref();
        Self {
            synchronization: measurement.found.synchronization.as_ref(),
            pairs: rates.map(|rates| &rates.pairs[..]).unwrap_or_default(),
            counter_share: run.map_or(f64::INFINITY, |run| run.timer.frequency_bound_ppm * 1e-6),
        }
    }

    /// Knowledge from these facts alone: no clocks were compared.
    pub(super) fn of_synchronization(synchronization: &'a Synchronization) -> Self {
        Self { synchronization: Some(synchronization), pairs: &[], counter_share: f64::INFINITY }
    }

    /// Returns the bound of the error of a clock's rate, as a share, and what it is from.
    pub(super) fn scale_error(&self, clock: &ClockIdentity) -> (Figure<f64>, Option<ScaleSource>) {
        if let Some((share, other)) = self.compared(clock) {
            return (Figure::Known(share), Some(ScaleSource::Comparison(other)));
        }
        match self.chrony_statement() {
            Ok(chrony) => (Figure::Known(self.by_daemon(clock, chrony)), Some(ScaleSource::Chronyd)),
            Err(reason) => (Figure::unknown(reason), None),
        }
    }

    /// The smallest bound by a comparison with a PTP clock: of all clocks here, these alone are
    /// certainly on other hardware. A counter has none: it was compared at its nominal frequency,
    /// and its readings are converted by another.
    fn compared(&self, clock: &ClockIdentity) -> Option<(f64, String)> {
        if clock.is_counter() {
            return None;
        }
        let label = clock.label();
        let others = self.pairs.iter().filter_map(|pair| {
            if pair.a == label {
                Some((pair, &pair.b))
            } else if pair.b == label {
                Some((pair, &pair.a))
            } else {
                None
            }
        });
        let independent = others.filter(|(_, name)| self.is_independent(name));
        let bounds =
            independent.filter_map(|(pair, name)| Some(((pair.ppm.get()?.abs() + pair.bound_ppm.get()?) * 1e-6, name)));
        bounds.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(share, name)| (share, name.clone()))
    }

    fn is_independent(&self, name: &str) -> bool {
        let devices = self.synchronization.map(|found| &found.ptp[..]).unwrap_or_default();
        devices.iter().any(|ptp| ptp.device == name && !ptp.is_virtual())
    }

    /// chronyd's statement, if no large offset is being worked off, and the share by which its
    /// present correction moves the rate of the clocks that it steers.
    fn chrony_statement(&self) -> Result<(&ChronyTracking, f64), Unknown> {
        let found = self.synchronization.ok_or(texts::KEEPER_NOT_RECORDED)?;
        let (Some(chrony), Some(kernels)) = (found.chrony.known(), found.adjtimex.known()) else {
            let kernels = found.adjtimex.known();
            let is_alone = kernels.is_some_and(|kernels| kernels.status.iter().any(|flag| flag == "unsync"));
            return Err(if is_alone { texts::NOT_SYNCHRONIZED.into() } else { texts::NO_RATE_STATEMENT.into() });
        };
        let ChronyTracking { correction_s, error_s, freq_ppm, .. } = *chrony;
        if correction_s.abs() > error_s {
            let (offset, error) = (time(correction_s.abs() * 1e9), time(error_s * 1e9));
            return Err(format!(
                "chronyd works off an offset of {offset}, above its error of {error}, by a rate that it does not state"
            )
            .into());
        }
        // chronyd sets the kernel's frequency to the opposite of its own, and to more while it
        // works off an offset (update_slew of chrony's sys_generic.c).
        Ok((chrony, (kernels.steering_ppm() + freq_ppm).abs() * 1e-6))
    }

    /// The bound of the frequency that the daemon states, of a clock that it steers, and what it
    /// works off at present. One that it does not steer is off by what it corrects instead, and a
    /// counter by the error of its conversion, too.
    fn by_daemon(&self, clock: &ClockIdentity, (chrony, slew): (&ChronyTracking, f64)) -> f64 {
        let is_steered = (clock.is_steered || clock.path == ReadPath::Library) && !clock.is_counter();
        let moved = if is_steered { slew } else { chrony.freq_ppm.abs() * 1e-6 };
        let conversion = if clock.is_counter() { self.counter_share } else { 0.0 };
        chrony.skew_ppm.abs() * 1e-6 + moved + conversion
    }
}
