//! What a reading executes, by the machine code: few instructions, no call, no division, no way back,
//! no register that a function must save.

use anyhow::{Context, Result, bail};

use crate::run;

/// Functions of crates/clockscope/examples/fast_path.rs.
const OURS: &[&str] = &["fast_path_now_unordered", "fast_path_now"];
/// One that must fail, to show that the check can.
const THEIRS: &str = "slow_path_std";

/// Instructions that a reading may have, its return included.
const MOST: usize = 30;

/// Builds the example and checks its functions. x86-64 and aarch64.
pub(crate) fn check() -> Result<()> {
    if !run::exists("objdump") {
        bail!("the check reads machine code and found no `objdump`: apt-get install binutils");
    }
    run::with(
        &[("CARGO_PROFILE_RELEASE_STRIP", "none")],
        "cargo",
        &["build", "--release", "--quiet", "--package", "clockscope", "--example", "fast_path"],
    )?;
    let code =
        run::output("objdump", &["--disassemble", "--no-show-raw-insn", &run::built("release/examples/fast_path")])?;
    for name in OURS {
        let function = function(&code, name).with_context(|| format!("{name} is not in the program"))?;
        let found = faults(&function);
        if !found.is_empty() {
            bail!("{name} is no fast path:\n  {}", found.join("\n  "));
        }
        println!(
            "   {name}: {} instructions, no call, no division, no way back, no saved register",
            fast_path(&function).len()
        );
    }
    let theirs = function(&code, THEIRS).with_context(|| format!("{THEIRS} is not in the program"))?;
    if faults(&theirs).is_empty() {
        bail!("the check finds no fault with {THEIRS}, which calls");
    }
    Ok(())
}

/// An instruction with its address.
struct Instruction<'a> {
    address: u64,
    text: &'a str,
}

impl Instruction<'_> {
    /// Where a jump or a call goes.
    fn target(&self) -> Option<u64> {
        let operand = self.text.split_whitespace().skip(1).find_map(|word| u64::from_str_radix(word, 16).ok());
        let is_transfer = ["j", "call", "b", "cb", "tb", "loop"].iter().any(|name| self.text.starts_with(name));
        operand.filter(|_| is_transfer)
    }

    fn is(&self, names: &[&str]) -> bool {
        let name = self.text.split_whitespace().next().unwrap_or_default();
        names.contains(&name)
    }
}

/// The instructions of the function of which `name` is the last word of its path.
fn function<'a>(code: &'a str, name: &str) -> Option<Vec<Instruction<'a>>> {
    let is_header = |line: &&str| line.ends_with(">:") && line.contains(&format!("{}{name}17h", name.len()));
    let lines = code.lines().skip_while(|line| !is_header(line)).skip(1).take_while(|line| !line.is_empty());
    let instructions: Vec<_> = lines
        .filter_map(|line| {
            let (address, text) = line.trim().split_once(':')?;
            Some(Instruction { address: u64::from_str_radix(address, 16).ok()?, text: text.trim() })
        })
        .collect();
    (!instructions.is_empty()).then_some(instructions)
}

/// What is executed when no jump is taken: up to the first return.
fn fast_path<'a, 'b>(function: &'b [Instruction<'a>]) -> &'b [Instruction<'a>] {
    let end = function.iter().position(|instruction| instruction.is(&["ret", "retq"]));
    &function[..end.map_or(function.len(), |end| end + 1)]
}

/// What a fast path may not have.
fn faults(function: &[Instruction<'_>]) -> Vec<String> {
    let path = fast_path(function);
    let mut faults = Vec::new();
    if !path.last().is_some_and(|last| last.is(&["ret", "retq"])) {
        faults.push("it never returns".to_owned());
    }
    if path.len() > MOST {
        faults.push(format!("{} instructions, more than {MOST}", path.len()));
    }
    for instruction in path {
        if instruction.is(&["push", "pop", "pushq", "popq", "stp", "ldp"]) {
            faults.push(format!("a saved register: {}", instruction.text));
        }
        if instruction.is(&["call", "callq", "bl", "blr"]) {
            faults.push(format!("a call: {}", instruction.text));
        }
        if instruction.is(&["div", "divq", "idiv", "divsd", "udiv", "sdiv", "fdiv"]) {
            faults.push(format!("a division: {}", instruction.text));
        }
    }
    for instruction in function {
        if instruction.target().is_some_and(|target| target <= instruction.address && target >= function[0].address) {
            faults.push(format!("a way back: {}", instruction.text));
        }
    }
    faults
}
