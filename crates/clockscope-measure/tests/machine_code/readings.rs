//! Instructions that a reading of the library executes: few of them, no call, no division, no way
//! back, no register that a function must save. On aarch64 also: the counter is read after a branch
//! that depends on the first load.

use crate::instruction::Instruction;
use crate::{cargo, disassembly, target};

/// Functions of crates/clockscope/examples/fast_path.rs, and how many instructions each may have,
/// its return included.
const OURS: &[(&str, usize)] = &[
    ("fast_path_now_unordered", 30),
    ("fast_path_now", 30),
    ("fast_path_wall_now_unordered", 36),
    ("fast_path_wall_now", 36),
    ("fast_path_boot_now", 36),
    ("fast_path_bounded_now", 44),
    ("fast_path_duration_unordered", 84),
    // The branch on the kind of clock; RDTSC, or MRS; the halves put together; the return.
    ("fast_path_stamp_unordered", 6),
];
/// Those that read the counter in order.
const ORDERED: &[&str] = &["fast_path_now", "fast_path_wall_now", "fast_path_boot_now", "fast_path_bounded_now"];
/// One whose result is more than two words, beside the pointer to it, and one that has a reading
/// left from the first while it takes the second: a register must be saved.
const SAVING: &[&str] = &["fast_path_bounded_now", "fast_path_duration_unordered"];
/// Those that also save a register in the profile `release`. Without optimization across crates,
/// the address of the library's clock takes a register.
const SAVING_IN_RELEASE: &[&str] = &["fast_path_wall_now_unordered", "fast_path_wall_now", "fast_path_boot_now"];
/// Number of instructions that save a register and restore it.
const SAVE_AND_RESTORE: usize = 2;
const SAVED: &str = "a saved register";
/// One with two readings: the slow path of the first goes back to the second.
const TWICE: &str = "fast_path_duration_unordered";
const WAY_BACK: &str = "a way back";
/// One that must fail, to show that the check can.
const THEIRS: &str = "slow_path_std";

const RELEASE: &str = "release";
/// Profiles whose machine code is checked: that of clones, that of archives and packages.
const PROFILES: [&str; 2] = [RELEASE, "dist"];

#[test]
#[ignore = "builds the library with two profiles"]
fn a_reading_executes_few_instructions() {
    for profile in PROFILES {
        println!("   profile {profile}:");
        cargo(&["--package", "clockscope", "--example", "fast_path", "--profile", profile]);
        let program = target().join(profile).join("examples/fast_path");
        check(&disassembly("objdump", &[], &program), profile, cfg!(target_arch = "aarch64"));
    }
}

/// The variable names the folder of what `cargo xtask platforms` has built.
#[test]
#[ignore = "needs programs for aarch64: cargo xtask platforms aarch64-unknown-linux-gnu"]
fn a_reading_on_aarch64_executes_few_instructions() {
    let folder = std::env::var("CLOCKSCOPE_AARCH64").expect("the folder of programs for aarch64");
    for profile in PROFILES {
        let program = format!("{folder}/{profile}/examples/fast_path");
        check(&disassembly("aarch64-linux-gnu-objdump", &[], program.as_ref()), profile, true);
    }
}

/// Checks the functions of a program that was built with this profile.
fn check(code: &str, profile: &str, is_aarch64: bool) {
    for (name, most) in OURS {
        let function = function(code, name).unwrap_or_else(|| panic!("{name} is not in the program"));
        let saves_in_release = profile == RELEASE && SAVING_IN_RELEASE.contains(name);
        let saves = saves_in_release || SAVING.contains(name);
        let mut found = faults(&function, if saves_in_release { most + SAVE_AND_RESTORE } else { *most });
        let is_ordered = is_aarch64 && ORDERED.contains(name);
        if is_ordered {
            found.extend(unordered(fast_path(&function)));
        }
        if saves {
            found.retain(|fault| !fault.starts_with(SAVED));
        }
        if *name == TWICE {
            found.retain(|fault| !fault.starts_with(WAY_BACK));
        }
        assert!(found.is_empty(), "{name}, built with the profile {profile}:\n  {}", found.join("\n  "));
        println!("   {name}: {} instructions", fast_path(&function).len());
    }
    let theirs = function(code, THEIRS).unwrap_or_else(|| panic!("{THEIRS} is not in the program"));
    assert!(!faults(&theirs, usize::MAX).is_empty(), "the check finds no fault with {THEIRS}, which calls");
}

/// The instructions of the function whose path ends with `name`.
fn function<'a>(code: &'a str, name: &str) -> Option<Vec<Instruction<'a>>> {
    // As the compiler has named functions until 1.95, and since.
    let names = [format!("{}{name}17h", name.len()), format!("{}{name}>:", name.len())];
    let is_header = |line: &&str| line.ends_with(">:") && names.iter().any(|name| line.contains(name));
    let lines = code.lines().skip_while(|line| !is_header(line)).skip(1).take_while(|line| !line.is_empty());
    let instructions: Vec<_> = lines.filter_map(Instruction::parse).collect();
    (!instructions.is_empty()).then_some(instructions)
}

/// Instructions that are executed when no jump is taken: up to the first return.
fn fast_path<'a, 'b>(function: &'b [Instruction<'a>]) -> &'b [Instruction<'a>] {
    let end = function.iter().position(|instruction| instruction.is(&["ret", "retq"]));
    &function[..end.map_or(function.len(), |end| end + 1)]
}

/// Faults of a fast path.
fn faults(function: &[Instruction<'_>], most: usize) -> Vec<String> {
    let path = fast_path(function);
    let mut faults = Vec::new();
    if !path.last().is_some_and(|last| last.is(&["ret", "retq"])) {
        faults.push("it never returns".to_owned());
    }
    if path.len() > most {
        faults.push(format!("{} instructions, more than {most}", path.len()));
    }
    for instruction in path {
        if instruction.is(&["push", "pop", "pushq", "popq", "stp", "ldp"]) {
            faults.push(format!("{SAVED}: {}", instruction.text));
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
            faults.push(format!("{WAY_BACK}: {}", instruction.text));
        }
    }
    faults
}

/// Returns what is missing on aarch64 for the counter to be read after the first load: a
/// conditional branch that depends on what was loaded, and then an ISB, which does not wait for
/// loads.
fn unordered(path: &[Instruction<'_>]) -> Option<String> {
    let Some(load) = path.iter().position(|instruction| instruction.is(&["ldar", "ldapr", "ldapur"])) else {
        return Some("no acquire load".to_owned());
    };
    let register = path[load].registers().first().copied().unwrap_or_default();
    // Whether the flags are those of a comparison of the register.
    let mut is_compared = false;
    let mut is_branched = false;
    for instruction in &path[load + 1..] {
        let registers = instruction.registers();
        let uses = registers.contains(&register);
        if instruction.is(&["isb"]) {
            return (!is_branched)
                .then(|| format!("no branch that depends on x{register} between {} and isb", path[load].text));
        }
        if instruction.is(&["cmp", "cmn", "tst", "ccmp", "ccmn"]) {
            is_compared = uses;
        } else if instruction.is(&["cbz", "cbnz", "tbz", "tbnz"]) {
            is_branched |= uses;
        } else if instruction.text.starts_with("b.") {
            is_branched |= is_compared;
        } else if !is_branched && !instruction.text.starts_with("st") && registers.first() == Some(&register) {
            return Some(format!("x{register} is overwritten before a branch depends on it: {}", instruction.text));
        }
    }
    Some("no isb".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ordered(lines: &[&'static str]) -> bool {
        let path: Vec<_> = lines.iter().map(|text| Instruction { address: 0, text }).collect();
        unordered(&path).is_none()
    }

    #[test]
    fn a_branch_on_the_first_load_is_recognized() {
        assert!(is_ordered(&["ldar\tx10, [x9]", "tbz\tx10, #63, 40c <f+0x54>", "isb", "mrs\tx8, cntvct_el0"]));
        assert!(is_ordered(&["ldar\tx10, [x9]", "cmp\tx10, #0x0", "b.ge\t40c <f+0x54>", "isb"]));
        assert!(is_ordered(&["ldapr\tx0, [x9]", "ldr\tx1, [x9, #8]", "cbnz\tw0, 40c <f+0x54>", "isb"]));
    }

    #[test]
    fn a_planted_absence_of_the_branch_is_found() {
        let planted: &[&[&str]] = &[
            &["ldar\tx10, [x9]", "isb", "tbz\tx10, #63, 40c <f+0x54>"],
            &["ldar\tx10, [x9]", "tbz\tx1, #63, 40c <f+0x54>", "isb"],
            &["ldar\tx10, [x9]", "cmp\tx1, #0x10", "b.ge\t40c <f+0x54>", "isb"],
            &["ldar\tx10, [x9]", "and\tx10, x11, #0x10", "tbz\tx10, #4, 40c <f+0x54>", "isb"],
            &["ldar\tx10, [x9]", "tbz\tx10, #63, 40c <f+0x54>", "mrs\tx8, cntvct_el0"],
            &["ldr\tx10, [x9]", "tbz\tx10, #63, 40c <f+0x54>", "isb"],
        ];
        for lines in planted {
            assert!(!is_ordered(lines), "{lines:?}");
        }
    }

    #[test]
    fn what_a_fast_path_may_not_have_is_found() {
        let found = |lines: &[&'static str], most: usize| {
            let function: Vec<_> = (0x400..).zip(lines).map(|(address, text)| Instruction { address, text }).collect();
            faults(&function, most)
        };
        assert_eq!(found(&["rdtscp", "jne\t403 <f+0x3>", "ret", "call\t500 <g>", "ret"], 3), [""; 0]);
        assert_eq!(found(&["rdtscp", "ret"], 1), ["2 instructions, more than 1"]);
        assert_eq!(found(&["rdtscp"], 1), ["it never returns"]);
        assert_eq!(found(&["push\trbx", "ret"], 2), ["a saved register: push\trbx"]);
        assert_eq!(found(&["call\t500 <g>", "ret"], 2), ["a call: call\t500 <g>"]);
        assert_eq!(found(&["idiv\trcx", "ret"], 2), ["a division: idiv\trcx"]);
        for line in ["jne\t400 <f>", "jne\t401 <f+0x1>"] {
            assert_eq!(found(&["pause", line, "ret"], 3), [format!("a way back: {line}")]);
        }
    }
}
