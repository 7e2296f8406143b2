//! Reads around other work: on a machine without caches, they cost what they cost in a loop.

use clockscope_measure::{AfterWorkRequest, Catalog, MeasureRequest, Paths, after_work, measure};
use clockscope_records::Work;

use crate::harness::on_machines;
use crate::machine::Maker;
use crate::platform::Simulated;

/// The errors contain neither the rate of a clock nor the counter's own reads.
#[test]
fn an_interval_is_off_by_the_cost_of_the_clocks_reads() {
    let mut checked = 0;
    on_machines(
        "after_work::an_interval_is_off",
        |seed| Simulated::within(Maker::varied(seed).quiet().make(), 3.0),
        |session, _| {
            let machine = &session.platform().machine;
            if machine.counter_cost.is_none() {
                return;
            }
            let Ok(catalog) = Catalog::new(session.platform()).select(&["monotonic".to_owned()], Paths::Libc) else {
                return;
            };
            let request =
                MeasureRequest { duration_s: 0.01, cpu: None, extended: false, ticks: true, synchronization: false };
            let mut found = measure(session, catalog, &request, &mut |_| {}).expect("it can be asked");
            after_work(session, &mut found, AfterWorkRequest::Brief(0.1));
            let clock = &found.found.clocks[0];
            let Some(after) = clock.after_work.as_deref() else { return };
            let cost_ns = machine.spec("monotonic").expect("it is there").cost.ps as f64 / 1e3;
            for after in after.iter().filter(|after| after.work == Work::Spin && after.work_ns <= 1e4) {
                checked += 1;
                let unsure_ns = 2.0 * machine.spec("monotonic").expect("it is there").tick_ns
                    + 1e9 / machine.counter_hz * machine.counter_step as f64;
                assert!((after.median_ns - cost_ns).abs() <= 0.2 * cost_ns + unsure_ns + 1.0, "{cost_ns}: {after:?}");
            }
        },
    );
    assert!(checked > 0);
}
