//! Many threads at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{assert_right, in_a_process};

#[test]
fn sixty_four_threads_race_for_the_first_reading() {
    let status = in_a_process(here!(sixty_four_threads_race_for_the_first_reading), &[], || {
        let (barrier, known) = (Barrier::new(64), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..2000 {
                        let least = known.load(Ordering::Acquire);
                        let now = clockscope::now().as_ns();
                        assert!(now >= least, "{now} was read after {least}");
                        known.store(now, Ordering::Release);
                    }
                });
            }
        });
        assert_eq!(clockscope::generation(), 1);
        assert_right();
    });
    assert!(status.success(), "{status}");
}
