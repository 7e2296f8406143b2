//! The loop in which each clock's cost is measured, by the machine code on x86-64: what a turn has
//! beside the clock's own call or instruction and one store.

use crate::instruction::Instruction;
use crate::{cargo, disassembly, target};

/// The path of the function that has the loop, in its mangled name.
const FILL: &str = "18clockscope_measure10instrument7sampler4fill";
/// Fewer clocks than this cannot be all of them.
const MIN_CLOCKS: usize = 20;
/// Instructions of a turn: arguments, the read, the check of its answer, the store, the next slot.
const MAX_INSTRUCTIONS: usize = 13;
/// Instructions of a turn that also adds user and system time.
const MAX_INSTRUCTIONS_OF_USAGE: usize = 16;
/// Instructions of a turn that has the library's reading inlined, or that of a performance counter.
const MAX_INSTRUCTIONS_INLINED: usize = 40;

#[test]
#[ignore = "builds the crate with the profile release"]
fn a_measuring_loop_executes_few_instructions() {
    cargo(&["--release", "--package", "clockscope-measure"]);
    let code = disassembly("objdump", &["--reloc"], &target().join("release/libclockscope_measure.rlib"));
    let loops: Vec<_> = code.split("\n\n").filter_map(MeasuringLoop::find).collect();
    let found: Vec<String> = loops.iter().flat_map(MeasuringLoop::faults).collect();
    assert!(loops.len() >= MIN_CLOCKS, "the loops of {} clocks, of {MIN_CLOCKS} at least", loops.len());
    assert!(found.is_empty(), "measuring loops have costs that are not the clock's:\n  {}", found.join("\n  "));
    println!("   measuring loops of {} clocks: one call, no vector register, no load from the stack", loops.len());
}

/// The function that measures a clock.
struct MeasuringLoop<'a> {
    text: &'a str,
    instructions: Vec<Instruction<'a>>,
}

impl<'a> MeasuringLoop<'a> {
    /// Returns it if this is the code of such a function.
    fn find(function: &'a str) -> Option<Self> {
        let (header, text) = function.trim_start().split_once('\n')?;
        (header.contains(FILL) && header.ends_with(">:")).then(|| Self::new(text))
    }

    fn new(text: &'a str) -> Self {
        // Relocations are in lines of the same shape.
        let lines = text.lines().filter(|line| !line.contains("R_X86_64_"));
        Self { text, instructions: lines.filter_map(Instruction::parse).collect() }
    }

    /// Costs that the loop adds.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for line in self.text.lines().filter(|line| line.contains("GOTPCREL") && line.contains("\ttime-")) {
            faults.push(format!("time is not called directly: {}", line.trim()));
        }
        for turn in self.turns() {
            let calls = turn.iter().filter(|instruction| instruction.is(&["call", "callq"])).count();
            let has = |name: &str| turn.iter().any(|instruction| instruction.text.starts_with(name));
            if calls == 0 && !["rdtsc", "rdpmc", "syscall"].into_iter().any(has) {
                // The empty loop, or registers that are mapped into memory.
                continue;
            }
            let adds_usage = self.text.contains("\tgetrusage-");
            let is_inlined = self.text.contains("rdpmc") || self.text.contains("rdtsc") && self.text.contains("imul");
            let most = if adds_usage {
                MAX_INSTRUCTIONS_OF_USAGE
            } else if is_inlined {
                MAX_INSTRUCTIONS_INLINED
            } else {
                MAX_INSTRUCTIONS
            };
            if turn.len() > most {
                faults.push(format!("{} instructions, more than {most}, from {}", turn.len(), turn[0].text));
            }
            if calls > 1 {
                faults.push(format!("{calls} calls, from {}", turn[0].text));
            }
            for Instruction { text, .. } in turn {
                if text.contains("%xmm") || text.contains("%ymm") {
                    faults.push(format!("a vector register, whose load waits for narrower stores: {text}"));
                } else if !adds_usage && loads_from_stack(text) {
                    faults.push(format!("a load from the stack: {text}"));
                }
            }
        }
        faults
    }

    /// The instructions from where a jump goes back to, to the jump.
    fn turns(&self) -> impl Iterator<Item = &[Instruction<'a>]> {
        self.instructions.iter().enumerate().filter_map(|(end, jump)| {
            let target = jump.target().filter(|target| *target <= jump.address && !jump.is(&["call", "callq"]))?;
            let start = self.instructions.iter().position(|instruction| instruction.address == target)?;
            let turn = &self.instructions[start..=end];
            // An error's way to the end of the function also goes back.
            (!turn.iter().any(|instruction| instruction.is(&["ret", "retq"]))).then_some(turn)
        })
    }
}

/// Returns true if an operand that is read is in the function's own frame: in AT&T's syntax, all
/// but the last.
fn loads_from_stack(text: &str) -> bool {
    let operands = text.rsplit_once(',').map_or("", |(sources, _)| sources);
    operands.contains("(%rsp") && !text.starts_with("lea")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop of gettimeofday, and in turn with what is planted between its call and its jump.
    fn with(planted: &str) -> Vec<String> {
        let text = format!(
            "  10:\tmov    %r15,%rdi\n  13:\txor    %esi,%esi\n  15:\tcall   *%rbp\n{planted}  30:\ttest   %eax,%eax
  32:\tjne    60 <f+0x60>\n  34:\tadd    $0x10,%r15\n  38:\tjne    10 <f+0x10>\n  3a:\tret\n"
        );
        MeasuringLoop::new(&text).faults()
    }

    #[test]
    fn a_turn_with_costs_of_its_own_is_found() {
        assert_eq!(with(""), [""; 0]);
        let copy = with("  17:\tmovaps 0x10(%rsp),%xmm0\n  1c:\tmovups %xmm0,(%r15,%rbp,1)\n");
        assert_eq!(copy.len(), 2, "{copy:?}");
        assert!(copy[0].starts_with("a vector register") && copy[0].ends_with("movaps 0x10(%rsp),%xmm0"), "{copy:?}");
        assert_eq!(with("  17:\tmov    0x8(%rsp),%rax\n"), ["a load from the stack: mov    0x8(%rsp),%rax"]);
        assert_eq!(with("  17:\tmov    %rax,0x8(%rsp)\n"), [""; 0]);
        assert_eq!(with("  17:\tcall   80 <g>\n"), ["2 calls, from mov    %r15,%rdi"]);
        assert_eq!(with(&"  17:\tinc    %rcx\n".repeat(7)), ["14 instructions, more than 13, from mov    %r15,%rdi"]);
        let through = with("  17:\tmov    0x0(%rip),%rbp\n\t\t\t1a: R_X86_64_REX_GOTPCRELX\ttime-0x4\n");
        assert!(through[0].starts_with("time is not called directly"), "{through:?}");
    }
}
