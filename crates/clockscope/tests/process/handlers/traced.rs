//! The signal that ends the process, as a tracer sees it and a core dump shows it.

use super::*;

const NOT_TRACED: i32 = 77;

/// A signal on its way to the process: its code and sender, and where it interrupts the program.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stop {
    code: c_int,
    sender: i32,
    instruction: u64,
    stack: u64,
}

/// Every SIGSEGV of a child of one thread that runs `body`, in order, and how the child ended.
fn stops(body: impl FnOnce()) -> (Vec<Stop>, ExitStatus) {
    // SAFETY: the child has a copy of this thread alone. The structs are the kernel's to write.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                libc::_exit(NOT_TRACED);
            }
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            libc::_exit(i32::from(outcome.is_err()));
        }
        let mut stops = Vec::new();
        loop {
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            if !libc::WIFSTOPPED(status) {
                return (stops, ExitStatus::from_raw(status));
            }
            let mut info: libc::siginfo_t = zeroed();
            let mut registers: libc::user_regs_struct = zeroed();
            assert_eq!(libc::ptrace(libc::PTRACE_GETSIGINFO, child, 0, &raw mut info), 0);
            assert_eq!(libc::ptrace(libc::PTRACE_GETREGS, child, 0, &raw mut registers), 0);
            let signal = libc::WSTOPSIG(status);
            if signal == libc::SIGSEGV {
                let (instruction, stack) = (registers.rip, registers.rsp);
                stops.push(Stop { code: info.si_code, sender: info.si_pid(), instruction, stack });
            }
            assert_eq!(libc::ptrace(libc::PTRACE_CONT, child, 0, signal), 0);
        }
    }
}

#[test]
fn the_process_dies_of_the_original_signal_where_it_came() {
    if stops(|| ()).1.code() == Some(NOT_TRACED) {
        return skip("tracing a child is denied");
    }
    let status = in_a_process(here!(the_process_dies_of_the_original_signal_where_it_came), &[], || {
        let causes: [(fn(), c_int); 4] = [
            (|| _ = Sent::Raise.send(0), libc::SI_TKILL),
            (|| _ = Sent::Kill.send(0), libc::SI_USER),
            (|| Fault::Null.raise(Fault::Null.address()), Fault::Null.code()),
            (|| Fault::NonCanonical.raise(Fault::NonCanonical.address()), libc::SI_KERNEL),
        ];
        for (cause, code) in causes {
            let (stops, status) = stops(|| {
                Former::Default.set();
                clockscope::survive_disabled_counter().unwrap();
                cause();
            });
            assert!(died(status), "{code}: {status}");
            // Once for our handler, once for the default action.
            assert!(stops.len() == 2 && stops[0] == stops[1] && stops[0].code == code, "{code}: {stops:?}");
        }
    });
    assert!(status.success(), "{status}");
}
