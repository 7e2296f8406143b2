//! Whether demands of a policy are met.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::verdict::Use;

/// A figure or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DemandValue {
    /// A figure.
    Number(f64),
    /// A word.
    Word(String),
}

/// Whether a demand of the policy is met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Demand {
    /// Where it stands in the policy, e.g. `clocks.monotonic.max_cost_ns`.
    #[schemars(with = "String")]
    pub demand: DemandPlace,
    /// The demand.
    pub required: DemandValue,
    /// The use that a demanded verdict is for; `null` for the worst of all uses, for other demands.
    #[serde(default, rename = "use")]
    pub for_use: Option<Use>,
    /// What was found, at most; `null` if that is unknown.
    pub found: Option<DemandValue>,
    /// Whether it is met; `null` if that is unknown.
    pub met: Option<bool>,
    /// The same for people. Renderers write it beside the figures; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<DemandProse>,
}

/// Reads nothing: words follow from the figures.
pub(crate) fn ignored<'de, D: Deserializer<'de>, T>(_: D) -> Result<Option<T>, D::Error> {
    Ok(None)
}

/// What is said of a demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DemandProse {
    /// Unit of the figures; `null` where they have none.
    pub unit: Option<String>,
    /// Why it is unknown, or what to do if it is not met; `null` if it is met.
    pub advice: Option<String>,
}

/// Where a demand stands in a policy. JSON has its keys, with dots between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DemandPlace {
    /// The kernel's clocksource.
    Clocksource,
    /// The counter.
    Counter(Demanded),
    /// The clock of this name.
    Clock(String, Demanded),
}

/// What a policy can demand of a clock.
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

impl fmt::Display for DemandPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clocksource => f.write_str("clocksource"),
            Self::Counter(demanded) => write!(f, "counter.{}", demanded.key()),
            Self::Clock(name, demanded) => write!(f, "clocks.{name}.{}", demanded.key()),
        }
    }
}

impl From<DemandPlace> for String {
    fn from(place: DemandPlace) -> Self {
        place.to_string()
    }
}

impl TryFrom<String> for DemandPlace {
    type Error = String;

    fn try_from(place: String) -> Result<Self, String> {
        if place == "clocksource" {
            return Ok(Self::Clocksource);
        }
        let found = place.rsplit_once('.').and_then(|(of, key)| {
            let demanded = Demanded::ALL.into_iter().find(|demanded| demanded.key() == key)?;
            let of_clock = || of.strip_prefix("clocks.").map(|name| Self::Clock(name.to_owned(), demanded));
            if of == "counter" { Some(Self::Counter(demanded)) } else { of_clock() }
        });
        found.ok_or_else(|| format!("no policy has the key \"{place}\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_read_back() {
        for demanded in Demanded::ALL {
            let of_clock = |name: &str| DemandPlace::Clock(name.to_owned(), demanded);
            for place in [DemandPlace::Clocksource, DemandPlace::Counter(demanded), of_clock("clockscope.now")] {
                assert_eq!(DemandPlace::try_from(place.to_string()), Ok(place));
            }
        }
        for place in ["", "counter", "counter.", "clocks.max_cost_ns", "clocks.monotonic.cost", "x.verdict"] {
            let refused = DemandPlace::try_from(place.to_owned());
            assert_eq!(refused, Err(format!("no policy has the key \"{place}\"")));
        }
    }
}
