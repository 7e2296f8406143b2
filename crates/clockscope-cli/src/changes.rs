//! Changes since earlier records that the user asked to fail on, alone or beside the findings of a
//! command.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clockscope_records::{ComparedFact, Comparison, CostChange, Envelope, Trustworthiness};

use crate::findings::{Shows, any, any_of_all};

/// Something that may have changed since earlier records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangeFinding {
    /// A clock that costs more, in ns and relative to the machine's speed; exit code 3 if no
    /// clock's change is clear
    Slower,
    /// A verdict of `check` that is worse; exit code 3 where one of the two is undecided, and for
    /// records of `measure`, which have none
    Verdict,
    /// The kernel uses another clocksource
    Clocksource,
    /// Steps back, jumps, stuck or failed reads, of a clock that had none in the earlier records
    Events,
}

impl Shows<ChangeFinding> for Envelope<Comparison> {
    fn shows(&self, finding: ChangeFinding) -> Option<bool> {
        let Comparison { changes, verdicts, clocks, .. } = &self.found;
        match finding {
            ChangeFinding::Slower => any(clocks.iter().map(|clock| match clock.change {
                CostChange::Slower => Some(true),
                CostChange::Faster | CostChange::Same => Some(false),
                CostChange::Inconclusive => None,
            })),
            ChangeFinding::Verdict => any_of_all(verdicts.iter().map(|found| is_worse(found.base, found.new))),
            ChangeFinding::Clocksource => {
                let change = changes.iter().find(|change| change.fact == ComparedFact::Clocksource);
                match change {
                    Some(change) => (!change.base.is_empty() && !change.new.is_empty()).then_some(true),
                    None => self.environment.clocksource.is_known().then_some(false),
                }
            }
            ChangeFinding::Events => {
                any(clocks.iter().map(|clock| clock.appeared.as_ref().map(|events| !events.is_empty())))
            }
        }
    }
}

/// Returns whether a verdict is worse than it was; `None` where one of them is undecided, and may
/// have been any.
fn is_worse(base: Trustworthiness, new: Trustworthiness) -> Option<bool> {
    match (base, new) {
        (Trustworthiness::Unfit, Trustworthiness::Undecided) => Some(false),
        (Trustworthiness::Undecided, Trustworthiness::Trusted) => Some(false),
        (Trustworthiness::Undecided, _) | (_, Trustworthiness::Undecided) => None,
        (base, new) => Some(new < base),
    }
}

/// A finding of a command, or a change that `--baseline` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrChange<Finding> {
    Own(Finding),
    Change(ChangeFinding),
}

/// Parses either by its name.
pub(crate) fn or_change<Finding>() -> impl TypedValueParser<Value = OrChange<Finding>>
where
    Finding: ValueEnum + Send + Sync + 'static,
{
    let own = Finding::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let changes = ChangeFinding::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(own.chain(changes)).try_map(|name| {
        let own = Finding::from_str(&name, false).map(OrChange::Own);
        own.or_else(|_| ChangeFinding::from_str(&name, false).map(OrChange::Change))
    })
}

/// Findings that `--fail-on` names: the command's own, and changes.
pub(crate) struct NamedFindings<Finding> {
    pub(crate) own: Vec<Finding>,
    pub(crate) changes: Vec<ChangeFinding>,
}

impl<Finding: Copy> NamedFindings<Finding> {
    pub(crate) fn new(named: &[OrChange<Finding>]) -> Self {
        let mut findings = Self { own: Vec::new(), changes: Vec::new() };
        for finding in named {
            match finding {
                OrChange::Own(own) => findings.own.push(*own),
                OrChange::Change(change) => findings.changes.push(*change),
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undecided_verdict_may_have_been_any() {
        use Trustworthiness::{Limited, Trusted, Undecided, Unfit};
        assert_eq!([is_worse(Trusted, Limited), is_worse(Limited, Unfit)], [Some(true); 2]);
        assert_eq!([is_worse(Limited, Trusted), is_worse(Limited, Limited)], [Some(false); 2]);
        assert_eq!([is_worse(Unfit, Undecided), is_worse(Undecided, Trusted)], [Some(false); 2]);
        for (base, new) in [(Trusted, Undecided), (Limited, Undecided), (Undecided, Limited), (Undecided, Unfit)] {
            assert_eq!(is_worse(base, new), None, "{base:?} {new:?}");
        }
        assert_eq!(is_worse(Undecided, Undecided), None);
    }
}
