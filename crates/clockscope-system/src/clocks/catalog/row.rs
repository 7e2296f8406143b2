//! A row of the catalog.

use crate::clocks::interface::Interface;
use crate::clocks::system::System;
use crate::{ClockBasis, ClockInfo, ClockKind, ReadPath, Resolution};

/// A clock, and the systems on which it is the same.
#[derive(Clone, Debug)]
pub struct Cataloged {
    /// Systems that have it.
    pub systems: &'static [System],
    /// Architecture of the processors that have it; `None` if it depends on the system alone.
    pub architecture: Option<&'static str>,
    /// Its description: with the path that programs usually take, and with the resolution that the
    /// system documents.
    pub info: ClockInfo,
    /// Its number for `clock_gettime` on the system that this is compiled for. 64 bits hold the
    /// numbers of all systems.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only POSIX systems have these numbers"))]
    pub(super) posix_id: Option<i64>,
}

impl Cataloged {
    /// Returns whether it has this name or alias.
    #[must_use]
    pub fn bears(&self, name: &str) -> bool {
        self.info.name == name || self.info.aliases.contains(&name)
    }

    /// Returns one line: what is read, with the architecture in brackets if only one has it.
    #[must_use]
    pub fn description(&self) -> String {
        let description = self.info.description;
        self.architecture
            .map_or_else(|| description.to_owned(), |architecture| format!("{description} ({architecture})"))
    }
}

/// Facts in which a clock differs from others of its kind.
impl Cataloged {
    pub(super) const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.info.aliases = aliases;
        self
    }

    pub(super) const fn read_by(mut self, interfaces: &'static [Interface]) -> Self {
        self.info.interfaces = interfaces;
        self
    }

    pub(super) const fn on(mut self, architecture: &'static str) -> Self {
        self.architecture = Some(architecture);
        self
    }

    pub(super) const fn numbered(mut self, id: Option<i64>) -> Self {
        self.posix_id = id;
        self
    }

    pub(super) const fn based_on(mut self, basis: ClockBasis) -> Self {
        self.info.basis = basis;
        self
    }

    pub(super) const fn unordered(mut self) -> Self {
        self.info.is_ordered = false;
        self
    }

    /// The timer tick, a switch of threads, or its unit makes it coarse.
    pub(super) const fn coarse(mut self) -> Self {
        self.info.is_coarse = true;
        self
    }

    pub(super) const fn unsteered(mut self) -> Self {
        self.info.is_steered = false;
        self
    }

    /// Counts through suspend.
    pub(super) const fn through_suspend(mut self) -> Self {
        self.info.counts_suspend = true;
        self
    }

    pub(super) const fn usual(mut self) -> Self {
        self.info.is_usual = true;
        self
    }

    pub(super) const fn wrapper(mut self) -> Self {
        self.info.is_wrapper = true;
        self
    }

    pub(super) const fn adaptive(mut self) -> Self {
        self.info.is_adaptive = true;
        self
    }

    /// A device's own clock, which the kernel neither reads nor steers.
    pub(super) const fn device(self) -> Self {
        let mut device = self.unsteered().based_on(ClockBasis::Other);
        device.info.is_device = true;
        device
    }
}

pub(super) const fn clock(
    name: &'static str,
    systems: &'static [System],
    kind: ClockKind,
    path: ReadPath,
    resolution: Resolution,
    description: &'static str,
) -> Cataloged {
    let info = ClockInfo::of_kind(name, kind, path, resolution, description);
    Cataloged { systems, architecture: None, info, posix_id: None }
}
