//! Error of a counter's frequency by the way in which it was calibrated: through a sleep that is
//! taken at its word, between two reads of the OS clock without brackets, and by this library.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::time::{Duration, Instant};

use clockscope::ticks;

const TRIES: usize = 100;
const SLEEP: Duration = Duration::from_millis(2);

fn main() -> Result<(), clockscope::Uncalibrated> {
    let by_word = errors(|| {
        let start = ticks::now();
        std::thread::sleep(SLEEP);
        (ticks::now() - start) as f64 / SLEEP.as_secs_f64()
    });
    let unbracketed = errors(|| {
        let (started, start) = (Instant::now(), ticks::now());
        std::thread::sleep(SLEEP);
        (ticks::now() - start) as f64 / started.elapsed().as_secs_f64()
    });
    // The truth, to its own bound.
    let truth = *clockscope::calibrate_blocking(Duration::from_secs(2))?.frequency();
    println!("counter: {:.3} Hz, within {:.3} ppm\n", truth.hz, truth.bound_ppm());
    show("sleep(2 ms) taken at its word", &by_word, truth.hz);
    show("sleep(2 ms) between two reads of the OS clock", &unbracketed, truth.hz);
    Ok(())
}

/// The frequencies that a calibration gives when it is made again and again.
fn errors(calibrate: impl Fn() -> f64) -> Vec<f64> {
    (0..TRIES).map(|_| calibrate()).collect()
}

fn show(what: &str, found: &[f64], truth_hz: f64) {
    let mut ppm: Vec<f64> = found.iter().map(|hz| (hz / truth_hz - 1.0) * 1e6).collect();
    ppm.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    println!("{what:<46} off by {:+8.1} ppm (median), {:+9.1} ppm (worst of {TRIES})", ppm[TRIES / 2], ppm[TRIES - 1]);
}
