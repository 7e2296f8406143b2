//! A test of whether [`clockscope::wall::now_monotone`] ever goes back: two threads hand each other
//! the largest time that they have read. Prints `name value` lines. The argument is the number of
//! readings, in millions.

use std::sync::atomic::{AtomicI64, Ordering};

use clockscope::wall;
use clockscope_peers::argument;

fn main() {
    let readings = argument(1, 10) * 1_000_000;
    let known = AtomicI64::new(i64::MIN);
    let run = || {
        let (mut regressions, mut ahead) = (0u64, 0u64);
        for _ in 0..readings / 2 {
            let least = known.load(Ordering::Acquire);
            let now = wall::now_monotone();
            regressions += u64::from(now.time.as_unix_ns() < least);
            ahead = ahead.max(now.ahead.as_nanos() as u64);
            known.store(now.time.as_unix_ns(), Ordering::Release);
        }
        (regressions, ahead)
    };
    let [one, other] =
        std::thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(|thread| thread.join().expect("no panic")));
    println!("readings {readings}\nregressions {}\nahead {}", one.0 + other.0, one.1.max(other.1));
}
