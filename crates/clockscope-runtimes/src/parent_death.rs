//! A program that ends with the one that started it, even if that is killed and can end nothing
//! itself.

#![allow(
    unsafe_code,
    reason = "what a child does between fork and exec, and a job of Windows, are asked for by unsafe calls"
)]

#[cfg(unix)]
pub(crate) use unix::bind;
#[cfg(windows)]
pub(crate) use windows::Job;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod unix {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    /// Has the kernel kill the program when the calling thread ends. Not what the program has
    /// started itself.
    pub(crate) fn bind(command: &mut Command) {
        let parent = getpid();
        let before_exec = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before that call.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        // SAFETY: between fork and exec only what is async-signal-safe may be called. These are
        // bare system calls, and errors of a kind or a number alone, which allocate nothing.
        unsafe { command.pre_exec(before_exec) };
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
mod unix {
    use std::process::Command;

    /// Does nothing: only Linux can be asked for this.
    pub(crate) fn bind(_: &mut Command) {}
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
    use std::process::Child;
    use std::ptr;

    use windows_sys::Win32::Foundation::{HANDLE, RtlNtStatusToDosError};
    use windows_sys::Win32::System::JobObjects::{
        AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
        JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS,
        JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation, QueryInformationJobObject,
        SetInformationJobObject, TerminateJobObject,
    };

    #[link(name = "ntdll")]
    unsafe extern "system" {
        /// Lets all threads of a process go on (phnt, ntpsapi.h). The documented call takes a
        /// thread, whose handle std does not keep.
        fn NtResumeProcess(process: HANDLE) -> i32;
    }

    /// The exit code of processes that are ended.
    const ENDED: u32 = 1;

    /// A program and all that it starts. The system ends them when this is dropped, or when this
    /// process ends, however it does.
    pub(crate) struct Job(OwnedHandle);

    impl Job {
        /// Makes one without processes.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn new() -> io::Result<Self> {
            // SAFETY: a job without a name, and with the usual security.
            let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the handle is new, and nothing else closes it.
            let job = Self(unsafe { OwnedHandle::from_raw_handle(handle) });
            let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
            limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
            // SAFETY: reads the structure, whose size is stated.
            let answer = unsafe {
                SetInformationJobObject(
                    job.handle(),
                    JobObjectExtendedLimitInformation,
                    (&raw const limits).cast(),
                    size_of_val(&limits) as u32,
                )
            };
            done(answer).map(|()| job)
        }

        /// Puts a process that was started suspended into it, and lets it go on.
        ///
        /// # Errors
        /// The system refuses: the process stays suspended.
        pub(crate) fn admit(&self, child: &Child) -> io::Result<()> {
            let process = child.as_raw_handle();
            // SAFETY: both handles are open.
            done(unsafe { AssignProcessToJobObject(self.handle(), process) })?;
            // SAFETY: the handle is open, and has all rights.
            match unsafe { NtResumeProcess(process) } {
                0.. => Ok(()),
                // SAFETY: takes any number.
                status => Err(io::Error::from_raw_os_error(unsafe { RtlNtStatusToDosError(status) }.cast_signed())),
            }
        }

        /// Ends all processes in it. Does not wait until they are gone.
        pub(crate) fn end(&self) {
            // SAFETY: the handle is open. A job without processes is ended as well.
            unsafe { TerminateJobObject(self.handle(), ENDED) };
        }

        /// Returns how many processes are in it that have not ended; `None` where the system does
        /// not say it.
        pub(crate) fn active(&self) -> Option<u32> {
            let class: JOBOBJECTINFOCLASS = JobObjectBasicAccountingInformation;
            let mut found = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
            // SAFETY: writes at most the stated number of bytes through the pointer, which is to a
            // structure of that size; the length that it wrote is optional.
            let answer = unsafe {
                QueryInformationJobObject(
                    self.handle(),
                    class,
                    (&raw mut found).cast(),
                    size_of_val(&found) as u32,
                    ptr::null_mut(),
                )
            };
            (answer != 0).then_some(found.ActiveProcesses)
        }

        fn handle(&self) -> HANDLE {
            self.0.as_raw_handle()
        }
    }

    /// Success of a call, or its error.
    fn done(answer: i32) -> io::Result<()> {
        if answer != 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
