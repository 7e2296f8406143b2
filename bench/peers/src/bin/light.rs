//! Cost of a reading to a program that takes one every so many µs and spins, or sleeps, in between:
//! ours and std's in blocks that alternate, the median of the blocks' means. Prints `name ns`
//! lines.

use std::hint::black_box;
use std::time::Duration;

use clockscope::{Conversion, ticks};
use clockscope_peers::{argument, conversion, quantile, timed};

/// Readings of a block at least, and its length: many windows of a millisecond.
const READS: u32 = 64;
const BLOCK: Duration = Duration::from_millis(20);

/// Waits until the next reading is due.
struct Pause {
    every: Duration,
    ticks: u64,
    sleeps: bool,
}

impl Pause {
    fn wait(&self) {
        if self.sleeps {
            std::thread::sleep(self.every);
            return;
        }
        let start = ticks::now();
        while ticks::now() - start < self.ticks {
            std::hint::spin_loop();
        }
    }
}

/// Mean cost of the readings of a block, in ns.
fn block(pause: &Pause, conversion: &Conversion, read: fn() -> u64) -> f64 {
    let reads = READS.max(BLOCK.div_duration_f64(pause.every) as u32);
    let costs = (0..reads).map(|_| {
        pause.wait();
        conversion.ns(read()) as f64
    });
    costs.sum::<f64>() / f64::from(reads)
}

fn main() {
    let every = Duration::from_micros(argument(1, 200));
    let (blocks, sleeps) = (argument(2, 40), argument(3, 0) != 0);
    let conversion = conversion();
    let pause = Pause { every, ticks: conversion.ticks(every).expect("a short time"), sleeps };
    let kinds: [(&str, fn() -> u64); 3] = [
        ("nothing", || timed(1, || black_box(0))),
        ("now", || timed(1, clockscope::now)),
        ("std", || timed(1, std::time::Instant::now)),
    ];
    let mut costs = [Vec::new(), Vec::new(), Vec::new()];
    // The first blocks let the library settle.
    for round in 0..blocks + 2 {
        for ((_, read), costs) in kinds.iter().zip(&mut costs) {
            let cost = block(&pause, &conversion, *read);
            if round >= 2 {
                costs.push(cost);
            }
        }
    }
    let [nothing, now, std] = costs.map(|mut costs| quantile(&mut costs, 0.5));
    println!("now {:.2}", now - nothing);
    println!("std {:.2}", std - nothing);
}
