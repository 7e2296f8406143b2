//! Further findings of `measure --extended`: order and offsets across CPUs, and the clocks' rates,
//! each in a second or less. The commands of those names find more in more time.

use clockscope_records::{Extended, Order, PairsReason, Rate};
use clockscope_system::child_read::SeveralThreads;

use crate::instrument::bench::Setup;
use crate::instrument::catalog::{Catalog, Paths};
use crate::instrument::default_clocks;
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::platform::Platform;
use crate::questions::across::{offsets, order};
use crate::questions::rate;

/// Time that each may take.
const ORDER_NS: f64 = 1e9;
const OFFSETS_NS: f64 = 0.5e9;
const RATE_S: f64 = 1.0;

/// Finds it on these CPUs.
///
/// # Errors
/// Another thread was started during the run.
pub(crate) fn find<P: Platform>(setup: &Setup<'_, P>, cpus: Vec<u32>) -> Result<Extended, SeveralThreads> {
    let (session, quiet) = (setup.session, &mut |_: f64| {});
    let plan = order::OrderSettings {
        cpus: cpus.clone(),
        serial: false,
        handoffs: &order::Handoff::ALL,
        duration_ns: ORDER_NS,
        longest_ns: f64::INFINITY,
        longest_missing_ns: ORDER_NS,
    };
    let order = match clocks(session)? {
        Some(clocks) => order::find(setup, &clocks.entries, &plan, quiet),
        None => Order { untestable: Some(PairsReason::NoClock.into()), ..Order::default() },
    };
    let plan = offsets::OffsetsSettings { cpus, serial: false, duration_ns: OFFSETS_NS };
    let counters = Catalog::counters(session.platform).tried(session)?;
    let offsets = offsets::find(setup, &counters, &plan, quiet);
    let rate = rates(setup).map_err(|error| error.no_rate()).into();
    Ok(Extended { order, offsets, rate })
}

fn rates<P: Platform>(setup: &Setup<'_, P>) -> Result<Rate, MeasureError> {
    let (clocks, reference) = rate::usual(setup.session)?;
    let clocks = clocks.tried(setup.session)?;
    let plan = rate::RateSettings { reference, duration_s: RATE_S, until_ppm: None };
    rate::find(setup, &clocks, &plan, &mut |_| {})
}

/// The counter in all its sequences, and some clocks.
fn clocks<P: Platform>(session: &Session<'_, P>) -> Result<Option<Catalog<P>>, SeveralThreads> {
    let all = Catalog::new(session.platform);
    let of_counter = Catalog::counters(session.platform).names().into_iter();
    let others = default_clocks::names(&all, default_clocks::is_handed_on);
    let clocks = all.select(&of_counter.chain(others).collect::<Vec<_>>(), Paths::default()).ok();
    clocks.map(|clocks| clocks.tried(session)).transpose()
}
