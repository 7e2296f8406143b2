//! Notices that the clock runs where nothing is known of its counter: on a machine that it was moved
//! to, or on a CPU that no test has covered.

use super::holding::Held;
use super::version::Mode;
use super::{Counter, Demotion, Disciplined, OsClock};

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// Returns whether what is known of the counter was found here. Where it was not, ends the line and
    /// what depends on it. Asked before each bracket.
    pub(super) fn is_where_it_was(&self, held: &mut Held<'_>) -> bool {
        self.is_same_machine(held) && self.is_tested_cpu(held)
    }

    fn is_same_machine(&self, held: &mut Held<'_>) -> bool {
        let now = self.shared.os.disruptions().map_or(0, |number| number.saturating_add(1));
        if now == held.disruptions || now == 0 {
            return true;
        }
        if held.disruptions == 0 {
            held.disruptions = now;
            return true;
        }
        self.leave(held);
        held.disruptions = now;
        false
    }

    fn is_tested_cpu(&self, held: &mut Held<'_>) -> bool {
        let Some(word) = self.tested.word() else { return true };
        if self.tested.covers(word, || self.shared.os.current_cpu()) {
            return true;
        }
        if self.is_trusted_by_system() {
            self.tested.withdraw(word);
            return true;
        }
        self.leave(held);
        false
    }

    /// Returns whether the counter is used without the word of a test.
    fn is_trusted_by_system(&self) -> bool {
        self.asked.answers().is_some_and(|answers| answers.refusal(false).is_none())
    }

    /// Ends the generation. No fault of the counter: it is calibrated again at once, unless it was used
    /// on the word of a test that was made elsewhere.
    fn leave(&self, held: &mut Held<'_>) {
        let error_ns = self.error_by_line(held.ticks_ns()).unwrap_or(0).max(held.stretch.worst_ns());
        let word = self.tested.word();
        let is_barred = word.is_some() && !self.is_trusted_by_system();
        let mode = if is_barred { Mode::Barred(Demotion::Untested) } else { held.version.mode() };
        if !self.end_line(held, mode) {
            return;
        }
        if let Some(word) = word {
            self.tested.withdraw(word);
        }
        let ahead_ns = self.os_ns().map_or(0, |os_ns| self.shared.page.floor().saturating_sub(os_ns));
        self.next_generation(error_ns.max(ahead_ns));
        **held = held.anew();
    }
}
