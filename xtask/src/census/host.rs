//! Hosts of the fleet: names, hardware and habits, which stay the same on all days.

use clockscope_records::Figure::Known;
use clockscope_records::Identity;
use clockscope_testing::simulation::Random;

use super::architecture::{ARM, Architecture, Model, Offer, X86};
use super::base::Base;
use super::fault::{Fault, Planted};

/// The share of hosts that have a base record of another architecture than x86.
const ARM_SHARE: f64 = 0.2;

/// Labels that programs may mistake for their own syntax.
const HOSTILE_LABELS: [&str; 4] =
    ["o'brien\"; DROP TABLE checks;--", "<script>alert(1)</script>", "a/b\\c", "日本 東京"];
/// The most bytes that a label may have.
const LONGEST_LABEL: usize = 253;

/// The daemon that synchronizes a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Daemon {
    /// It states this error, in s.
    Exact(f64),
    /// It states none, as timesyncd.
    Vague,
    /// There is none.
    None,
}

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) number: usize,
    pub(super) identity: Identity,
    /// Index of its base record.
    pub(super) base: usize,
    pub(super) architecture: &'static Architecture,
    pub(super) model: &'static Model,
    pub(super) cpus: u32,
    pub(super) planted: Option<Planted>,
    /// Index of the release that it begins with.
    release: usize,
    /// The day of its upgrade to the next release, counted from 1.
    upgrade: Option<u64>,
    /// Standard deviation of the logarithm of its costs, from day to day.
    pub(super) noise: f64,
    /// Distance of its counter from the nominal frequency, in ppm.
    pub(super) counter_ppm: f64,
    pub(super) daemon: Daemon,
    /// Correction of its frequency by that, in ppm.
    pub(super) steering_ppm: f64,
    /// Cost of a read of another clocksource than the counter, in ns.
    pub(super) device_ns: f64,
}

impl Host {
    /// Draws a host of a census of so many days.
    pub(super) fn draw(
        number: usize,
        planted: Option<Planted>,
        days: u64,
        bases: &[Base],
        random: &mut Random,
    ) -> Self {
        let fault = planted.map(|planted| planted.fault);
        let architecture = architecture(fault, random);
        let offer = offer(architecture, fault, random);
        let bases: Vec<usize> = (0..bases.len()).filter(|at| bases[*at].is_of(architecture)).collect();
        let label = (number % 3 != 2).then(|| format!("node-{number:05}.example.net"));
        let last = architecture.releases.len() as u64 - 1;
        let (release, control) = (random.below(last + 1), random.between(days / 3 + 1, days * 2 / 3 + 1));
        let upgrades = random.happens(0.2);
        let (release, upgrade) = match fault {
            Some(Fault::Hpet) => (release.min(last - 1), planted.map(|planted| planted.day)),
            None if release < last && upgrades => (release, Some(control)),
            _ => (release, None),
        };
        // Only one that states its error states how far civil time is off.
        let is_exact = random.happens(0.97) || fault == Some(Fault::CivilOff);
        let daemon = if is_exact { Daemon::Exact(random.scale(2e-4, 5e-3)) } else { Daemon::Vague };
        Self {
            number,
            identity: Identity {
                label,
                host: Known(digits(random, 4)),
                boot: Known(String::new()),
                cloud: Known(offer.cloud.to_owned()),
                instance_type: Known(offer.name.to_owned()),
            },
            base: bases[number % bases.len()],
            architecture,
            model: offer.model,
            cpus: offer.cpus,
            planted,
            release: release as usize,
            upgrade,
            // A fault of 12 % has to be more than that.
            noise: random.within(0.005, if fault == Some(Fault::SlowerKernel) { 0.015 } else { 0.04 }),
            counter_ppm: random.within(-12.0, 12.0),
            daemon,
            steering_ppm: random.within(-25.0, 25.0),
            device_ns: random.within(1_050.0, 1_450.0),
        }
    }

    /// Returns the name by which records and the inventory call it.
    pub(super) fn name(&self) -> &str {
        self.identity.name().unwrap_or_default()
    }

    /// Returns the fault that shows on a day, counted from 1.
    pub(super) fn fault_on(&self, day: u64) -> Option<Fault> {
        self.planted.filter(|planted| planted.day <= day).map(|planted| planted.fault)
    }

    /// Returns the kernel's release on a day.
    pub(super) fn release_on(&self, day: u64) -> &'static str {
        if self.fault_on(day) == Some(Fault::SlowerKernel) {
            return self.architecture.slower_release;
        }
        self.architecture.releases[self.release + usize::from(self.upgrade.is_some_and(|upgrade| upgrade <= day))]
    }

    /// Returns the day of an upgrade that has no effect.
    pub(super) fn harmless_upgrade(&self) -> Option<u64> {
        self.upgrade.filter(|_| self.planted.is_none())
    }
}

/// Draws the architecture of a host.
fn architecture(fault: Option<Fault>, random: &mut Random) -> &'static Architecture {
    let is_arm = random.happens(ARM_SHARE);
    if is_arm && !fault.is_some_and(Fault::needs_x86) { &ARM } else { &X86 }
}

/// Draws the type of a host: half of all have the first one.
fn offer(architecture: &'static Architecture, fault: Option<Fault>, random: &mut Random) -> &'static Offer {
    let (first, others) = (&architecture.offers[0], &architecture.offers[1..]);
    let is_first = random.happens(0.5) || others.is_empty() || fault == Some(Fault::Outlier);
    if is_first { first } else { &others[random.below(others.len() as u64) as usize] }
}

/// Gives hostile labels to the hosts without a fault, as far as there are enough of them.
pub(super) fn label_hostile(hosts: &mut [Host]) {
    let (healthy, faulty): (Vec<&mut Host>, _) = hosts.iter_mut().partition(|host| host.planted.is_none());
    let longest = format!("{}.example.net", "long-".repeat(LONGEST_LABEL));
    let longest = longest[longest.len() - LONGEST_LABEL..].to_owned();
    let labels = HOSTILE_LABELS.iter().map(|label| (*label).to_owned()).chain([longest]);
    for (host, label) in healthy.into_iter().chain(faulty).zip(labels) {
        host.identity.label = Some(label);
    }
}

/// Draws hexadecimal digits, 16 a word.
pub(super) fn digits(random: &mut Random, words: usize) -> String {
    (0..words).map(|_| format!("{:016x}", random.any())).collect()
}
