//! Demands of a policy in words.

use clockscope_records::{Demand, DemandPlace, DemandProse, Demanded};

/// Words a demand.
pub(crate) fn prose(demand: &Demand) -> DemandProse {
    DemandProse { unit: unit(&demand.demand).map(str::to_owned), advice: advice(demand).map(str::to_owned) }
}

/// The unit of its figures.
fn unit(place: &DemandPlace) -> Option<&'static str> {
    match demanded(place)? {
        Demanded::MaxCostNs | Demanded::MaxTickNs | Demanded::MaxOffsetNs => Some("ns"),
        Demanded::MaxRatePpm => Some("ppm"),
        Demanded::Verdict | Demanded::MaxRegressions | Demanded::Invariant => None,
    }
}

fn demanded(place: &DemandPlace) -> Option<Demanded> {
    match place {
        DemandPlace::Clocksource => None,
        DemandPlace::Counter(demanded) | DemandPlace::Clock(_, demanded) => Some(*demanded),
    }
}

/// Why it is unknown, or what to do if it is not met.
fn advice(demand: &Demand) -> Option<&'static str> {
    if demand.met == Some(true) {
        return None;
    }
    let advice = match (demanded(&demand.demand), demand.met, &demand.found) {
        (None, _, None) => "the kernel does not show its clocksource: mount /sys",
        (None, ..) => "see `clockscope clocksource` for why the kernel uses another",
        (Some(Demanded::Verdict), ..) => "the evidence above says why, and what to do",
        (Some(Demanded::Invariant), ..) => "have the hypervisor pass the promise on (QEMU: -cpu host,+invtsc)",
        (_, None, Some(_)) => "it was not measured precisely enough: ask for longer (--duration)",
        (_, None, None) => "it could not be determined: the evidence above says why",
        (Some(Demanded::MaxCostNs), ..) => {
            "`clockscope measure --via all` shows which path is expensive, and `clockscope clocksource` what it is based on"
        }
        (Some(Demanded::MaxTickNs), ..) => "a finer clocksource is needed: `clockscope clocksource`",
        (Some(Demanded::MaxRegressions), ..) => {
            "`clockscope order` and `clockscope steps` show where and how far it goes back"
        }
        (Some(Demanded::MaxRatePpm), ..) => "`clockscope rate` shows how it runs; NTP may be steering it",
        (Some(Demanded::MaxOffsetNs), ..) => "`clockscope offsets` shows which CPUs are apart",
    };
    Some(advice)
}

#[cfg(test)]
mod tests {
    use clockscope_records::DemandValue;

    use super::*;

    /// What is not met has advice, and so has what is unknown; nothing else.
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
        for place in of_clock.map(DemandPlace::Counter).into_iter().chain([DemandPlace::Clocksource]) {
            let said = |found: Option<f64>, met| {
                let (required, found) = (DemandValue::Number(1.0), found.map(DemandValue::Number));
                prose(&Demand { demand: place.clone(), required, for_use: None, found, met, prose: None }).advice
            };
            assert_eq!(said(Some(1.0), Some(true)), None, "{place}");
            assert!(said(Some(1.0), None).is_some() && said(None, None).is_some(), "{place}");
            unmet.push(said(Some(2.0), Some(false)).unwrap());
        }
        unmet.sort_unstable();
        unmet.dedup();
        assert_eq!(unmet.len(), 8);
    }
}
