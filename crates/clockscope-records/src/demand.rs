//! Demands of a policy, and if they are met.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verdict::Use;
use crate::words::{worded, written};

/// A figure or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum DemandValue {
    /// A figure.
    Number(f64),
    /// A word.
    Word(String),
}

/// A demand of the policy, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Demand", transform = crate::schema::add_words::<Demand>))]
#[serde(remote = "Self")]
pub struct Demand {
    /// Its place in the policy, e.g. `clocks.monotonic.max_cost_ns`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub demand: DemandTarget,
    /// The demand.
    pub required: DemandValue,
    /// The use that a demanded verdict is for; `null` for the worst of all uses, for other demands.
    #[serde(default, rename = "use")]
    pub for_use: Option<Use>,
    /// The value that was found, at most; `null` if that is unknown.
    pub found: Option<DemandValue>,
    /// True if it is met; `null` if that is unknown.
    pub met: Option<bool>,
}

worded!(Demand {
    /// Unit of the figures; `null` where they have none.
    unit: Option<&'static str> = Demand::unit,
    /// Reason why it is unknown, or the remedy if it is not met; `null` if it is met.
    advice: Option<&'static str> = Demand::advice,
});
written!(Demand);

impl Demand {
    /// Returns the unit of its figures, where they have one.
    #[must_use]
    pub const fn unit(&self) -> Option<&'static str> {
        match self.demanded() {
            Some(Demanded::MaxCostNs | Demanded::MaxTickNs | Demanded::MaxOffsetNs) => Some("ns"),
            Some(Demanded::MaxRatePpm) => Some("ppm"),
            Some(Demanded::Verdict | Demanded::MaxRegressions | Demanded::Invariant) | None => None,
        }
    }

    const fn demanded(&self) -> Option<Demanded> {
        match self.demand {
            DemandTarget::Clocksource => None,
            DemandTarget::Counter(demanded) | DemandTarget::Clock(_, demanded) => Some(demanded),
        }
    }

    /// Explains why it is unknown, or advises if it is not met.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        if self.met == Some(true) {
            return None;
        }
        let advice = match (self.demanded(), self.met, &self.found) {
            (None, _, None) => "the kernel does not show its clocksource: mount /sys",
            (None, ..) => "see `clockscope clocksource` for why the kernel uses another",
            (Some(Demanded::Verdict), ..) => "the evidence above says why, and what to do",
            (Some(Demanded::Invariant), ..) => "have the hypervisor pass the promise on (QEMU: -cpu host,+invtsc)",
            (_, None, Some(_)) => "it was not measured precisely enough: ask for longer (--duration)",
            (_, None, None) => "it could not be determined: the evidence above says why",
            (Some(Demanded::MaxCostNs), ..) => {
                "`clockscope measure --via all` shows which path is expensive, and `clockscope clocksource` what it is \
                 based on"
            }
            (Some(Demanded::MaxTickNs), ..) => "a finer clocksource is needed: `clockscope clocksource`",
            (Some(Demanded::MaxRegressions), ..) => {
                "`clockscope order` and `clockscope steps` show where and how far it goes back"
            }
            (Some(Demanded::MaxRatePpm), ..) => "`clockscope rate` shows how it runs; NTP may be steering it",
            (Some(Demanded::MaxOffsetNs), ..) => "`clockscope order --offsets` shows which CPUs' counters differ",
        };
        Some(advice)
    }
}

/// The place of a demand in a policy. JSON has its keys, with dots between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DemandTarget {
    /// The kernel's clocksource.
    Clocksource,
    /// The counter.
    Counter(Demanded),
    /// The clock of this name.
    Clock(String, Demanded),
}

/// A property that a policy can demand of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demanded {
    /// The verdict, at least.
    Verdict,
    /// The cost of a read, at most.
    MaxCostNs,
    /// The tick, at most.
    MaxTickNs,
    /// Steps back, at most.
    MaxRegressions,
    /// The error of its rate, at most.
    MaxRatePpm,
    /// The largest offset between CPUs, at most.
    MaxOffsetNs,
    /// A constant rate that the hardware guarantees.
    Invariant,
}

impl Demanded {
    const ALL: [Self; 7] = [
        Self::Verdict,
        Self::MaxCostNs,
        Self::MaxTickNs,
        Self::MaxRegressions,
        Self::MaxRatePpm,
        Self::MaxOffsetNs,
        Self::Invariant,
    ];

    /// Returns its key in a policy.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::MaxCostNs => "max_cost_ns",
            Self::MaxTickNs => "max_tick_ns",
            Self::MaxRegressions => "max_regressions",
            Self::MaxRatePpm => "max_rate_ppm",
            Self::MaxOffsetNs => "max_offset_ns",
            Self::Invariant => "invariant",
        }
    }
}

impl fmt::Display for DemandTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clocksource => f.write_str("clocksource"),
            Self::Counter(demanded) => write!(f, "counter.{}", demanded.key()),
            Self::Clock(name, demanded) => write!(f, "clocks.{name}.{}", demanded.key()),
        }
    }
}

impl From<DemandTarget> for String {
    fn from(target: DemandTarget) -> Self {
        target.to_string()
    }
}

impl TryFrom<String> for DemandTarget {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "clocksource" {
            return Ok(Self::Clocksource);
        }
        let found = text.rsplit_once('.').and_then(|(of, key)| {
            let demanded = Demanded::ALL.into_iter().find(|demanded| demanded.key() == key)?;
            let of_clock = || of.strip_prefix("clocks.").map(|name| Self::Clock(name.to_owned(), demanded));
            if of == "counter" { Some(Self::Counter(demanded)) } else { of_clock() }
        });
        found.ok_or_else(|| format!("no policy has the key \"{text}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_read_back() {
        for demanded in Demanded::ALL {
            let of_clock = |name: &str| DemandTarget::Clock(name.to_owned(), demanded);
            for target in [DemandTarget::Clocksource, DemandTarget::Counter(demanded), of_clock("clockscope.now")] {
                assert_eq!(DemandTarget::try_from(target.to_string()), Ok(target));
            }
        }
        for text in ["", "counter", "counter.", "clocks.max_cost_ns", "clocks.monotonic.cost", "x.verdict"] {
            let refused = DemandTarget::try_from(text.to_owned());
            assert_eq!(refused, Err(format!("no policy has the key \"{text}\"")));
        }
    }

    /// A demand that is not met has advice, and so has one that is unknown; no other has.
    #[test]
    fn every_demand_that_is_not_met_has_advice() {
        let of_clock = [
            Demanded::Verdict,
            Demanded::MaxCostNs,
            Demanded::MaxTickNs,
            Demanded::MaxRegressions,
            Demanded::MaxRatePpm,
            Demanded::MaxOffsetNs,
            Demanded::Invariant,
        ];
        let mut unmet = Vec::new();
        for target in of_clock.map(DemandTarget::Counter).into_iter().chain([DemandTarget::Clocksource]) {
            let said = |found: Option<f64>, met| {
                let (required, found) = (DemandValue::Number(1.0), found.map(DemandValue::Number));
                Demand { demand: target.clone(), required, for_use: None, found, met }.advice()
            };
            assert_eq!(said(Some(1.0), Some(true)), None, "{target}");
            assert!(said(Some(1.0), None).is_some() && said(None, None).is_some(), "{target}");
            unmet.push(said(Some(2.0), Some(false)).unwrap());
        }
        unmet.sort_unstable();
        unmet.dedup();
        assert_eq!(unmet.len(), 8);
    }
}
