//! The release check: everything that a release has to pass beside `cargo xtask test`.

use anyhow::Result;

use crate::browsers::{self, Extent};
use crate::outcome::passed;
use crate::plan::{Plan, Step};
use crate::tally::Tally;
use crate::{cross, dist, fleet, fuzz, machines, needs, package, platforms};

pub(crate) const RELEASE_CHECK: Plan = Plan {
    task: "release-check",
    basics: &[],
    alone: &[],
    // Lanes take about the same time. `publish` and the second lane share the folder of `cargo
    // test`, whose lock makes one wait if the other builds.
    lanes: &[
        &[
            Step("dist", |_| dist::check()),
            Step("publish", |_| passed(package::verify())),
            Step("cross", |_| cross::check()),
            Step("fuzz", |_| fuzz::check()),
        ],
        &[
            Step("machines-full", |tally| passed(machines_full(tally))),
            Step("fleet", fleet::check),
            Step("all-pages", |_| browsers::check(Extent::All)),
            Step("platforms", platforms::test_some),
        ],
    ],
    last: &[Step("machines-arm", |_| machines::check_arm())],
    needs: needs::RELEASE,
};

/// The questions to simulated machines, and the ticks of simulated clocks, with all their seeds.
fn machines_full(tally: &Tally) -> Result<()> {
    let full = [("CLOCKSCOPE_MACHINES", "full")];
    tally.cargo_test(&full, &["--lib", "--", "tick::tests"])?;
    tally.cargo_test(&full, &["--test", "truth"])
}
