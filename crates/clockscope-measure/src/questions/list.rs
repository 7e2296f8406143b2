//! The question *list*: the clocks of this machine and of all systems, without a measurement.

use clockscope_records::{AllClocks, Envelope, Listing, SystemClock};
use clockscope_system::clocks::catalog::{self, System};

use crate::instrument::catalog::Catalog;
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::platform::Platform;

/// Lists every clock of the catalog and whether it can be read.
///
/// # Errors
/// The process has more than one thread: clocks are tried in a forked child.
pub fn list<P: Platform>(session: &Session<'_, P>, catalog: Catalog<P>) -> Result<Envelope<Listing>, MeasureError> {
    let clocks = catalog.tried(session)?.list(session.environment.clocksource.as_deref());
    Ok(Envelope::of_facts(session.recorded_at()?, session.environment.clone(), Listing { clocks }))
}

/// Lists the clocks of every system, as each documents them: by system, in the catalog's order.
///
/// # Errors
/// The process has more than one thread: the clock that stamps the record is tried in a forked
/// child.
pub fn all_clocks<P: Platform>(session: &Session<'_, P>) -> Result<Envelope<AllClocks>, MeasureError> {
    let mut clocks = Vec::new();
    for system in System::ALL {
        let of_system = catalog::CLOCKS.iter().filter(|clock| clock.systems.contains(&system));
        clocks.extend(of_system.map(|clock| system_clock(system, clock)));
    }
    let here = System::HERE.map(|system| system.name().to_owned());
    let found = AllClocks { here, clocks };
    Ok(Envelope::of_facts(session.recorded_at()?, session.environment.clone(), found))
}

fn system_clock(system: System, clock: &catalog::Cataloged) -> SystemClock {
    let info = &clock.info;
    SystemClock {
        system: system.name().to_owned(),
        name: info.name.to_string(),
        aliases: info.aliases.iter().map(ToString::to_string).collect(),
        kind: info.kind,
        nominal_resolution_ns: info.nominal_resolution_ns(None),
        description: clock.description(),
    }
}
