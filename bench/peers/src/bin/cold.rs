//! Cost of a single read to a program that reads rarely: every so many µs, ours and std's in turn.
//! Prints `name ns` lines.

use std::time::Duration;

use clockscope_peers::{argument, conversion, quantile, timed};

fn main() {
    let (every, reads) = (Duration::from_micros(argument(1, 2000)), argument(2, 1000));
    let conversion = conversion();
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..reads {
        for (costs, read) in
            costs.iter_mut().zip([(|| timed(1, clockscope::now)) as fn() -> u64, || timed(1, std::time::Instant::now)])
        {
            std::thread::sleep(every);
            costs.push(conversion.ns(read()) as f64);
        }
    }
    println!("now {}", quantile(&mut costs[0], 0.5));
    println!("std {}", quantile(&mut costs[1], 0.5));
}
