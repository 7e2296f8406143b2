//! Deadlines for other crates' waits: tokio and parking_lot take std's `Instant`, whose timeline is
//! ours on Linux. The conversion checks that at run time.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::error::Error;
use std::time::{Duration, Instant as StdInstant};

use clockscope::now;
use parking_lot::{Condvar, Mutex};

fn main() -> Result<(), Box<dyn Error>> {
    let deadline = now() + Duration::from_millis(5);

    let (lock, nobody_wakes) = (Mutex::new(()), Condvar::new());
    let std = StdInstant::try_from(deadline)?;
    let mut guard = lock.lock();
    while !nobody_wakes.wait_until(&mut guard, std).timed_out() {}
    println!("parking_lot: {:?} after the deadline", now() - deadline);

    let deadline = now() + Duration::from_millis(5);
    let until = tokio::time::Instant::from_std(deadline.try_into()?);
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?
        .block_on(async { tokio::time::sleep_until(until).await });
    println!("tokio: {:?} after the deadline", now() - deadline);
    Ok(())
}
