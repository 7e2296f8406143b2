//! Cost of the first reading after a pause to a program that reads often before it: ours and std's
//! in turn. `idle PAUSE_MS PAUSES`. Prints `name ns` lines.

use std::hint::black_box;
use std::time::{Duration, Instant};

use clockscope_peers::{argument, conversion, quantile, timed};

/// Use before each pause.
const BUSY: Duration = Duration::from_millis(5);

fn main() {
    let (pause, pauses) = (Duration::from_millis(argument(1, 500)), argument(2, 15));
    let conversion = conversion();
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..pauses {
        for (costs, read) in
            costs.iter_mut().zip([(|| timed(1, clockscope::now)) as fn() -> u64, || timed(1, Instant::now)])
        {
            let start = Instant::now();
            while start.elapsed() < BUSY {
                black_box(read());
            }
            std::thread::sleep(pause);
            costs.push(conversion.ns(read()) as f64);
        }
    }
    println!("now {}", quantile(&mut costs[0], 0.5));
    println!("std {}", quantile(&mut costs[1], 0.5));
}
