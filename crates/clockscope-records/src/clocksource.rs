//! What the kernel could build its clocks on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figure::{add_unknown, record};
use crate::{Envelope, Figure, Measurement};

/// What `clockscope clocksource` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clocksources {
    /// Those that the kernel could use, the best first, as it orders them.
    pub clocksources: Vec<Clocksource>,
    /// What the kernel thinks of the processor's counter.
    pub counter: KernelVerdict,
    /// What a run that was killed has left switched; `null` where there is nothing of that kind.
    pub left_behind: Option<LeftBehind>,
    /// Who has switched just now, or may have, in a sentence; `null` where nobody has.
    #[serde(default)]
    pub held: Option<String>,
}

/// One clocksource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "Clocksource", transform = add_unknown)]
pub struct Clocksource {
    /// Its name.
    pub name: String,
    /// Whether the kernel uses it now.
    pub current: bool,
    /// What it is.
    pub description: String,
    /// How fast it counts, in Hz.
    pub frequency_hz: Figure<f64>,
    /// Bits that count.
    pub bits: Figure<u32>,
    /// Time until it wraps, in seconds.
    pub wraps_after_s: Figure<f64>,
    /// Whether programs read it without entering the kernel (vDSO).
    pub vdso: Figure<bool>,
    /// What reading the time usually costs with it, in words.
    pub usual_cost: String,
}

record!(Clocksource { frequency_hz, bits, wraps_after_s, vdso });

/// What the kernel thinks of the processor's counter, as far as it reports that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelVerdict {
    /// The clocksource that is the counter; `null` on an architecture where none is known.
    pub name: Option<String>,
    /// Whether the kernel builds its clocks on it now.
    pub is_current: Option<bool>,
    /// Whether the kernel would let it be used: `false` means that it was found unfit, or switched off at boot.
    pub is_available: Option<bool>,
    /// Why it is not used, as far as that can be known: the most certain first.
    pub reasons: Vec<Reason>,
    /// Why reasons may be missing; `null` where all places could be looked at.
    pub not_looked_at: Option<String>,
}

/// One reason why the kernel does not use the counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What was found.
    pub seen: String,
    /// Where.
    pub source: String,
    /// Whether it says that the counter itself is bad. Otherwise a user or a program preferred another.
    pub is_fault: bool,
    /// What to do.
    pub advice: String,
}

/// A clocksource that a run has switched and not put back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftBehind {
    /// Process that switched.
    pub pid: u32,
    /// The clocksource that was in use before.
    pub was: String,
    /// The one in use now.
    pub is: Option<String>,
}

/// What `clockscope measure --clocksource` found: the same measurement with one clocksource after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switched {
    /// The clocksource before and after.
    pub was: String,
    /// One entry a clocksource, in the order asked for; its `environment.clocksource` names it.
    pub measurements: Vec<Envelope<Measurement>>,
    /// What went wrong during the run, or when it was put back; `null` if nothing did.
    #[serde(default)]
    pub error: Option<String>,
}
