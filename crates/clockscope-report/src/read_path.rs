//! What the ways of reading a clock are called.

use clockscope_records::ReadPath;

/// Names a path as JSON does.
pub(crate) fn name(path: ReadPath) -> &'static str {
    match path {
        ReadPath::Instruction => "instruction",
        ReadPath::Libc => "libc",
        ReadPath::Vdso => "vdso",
        ReadPath::Syscall => "syscall",
        ReadPath::Std => "std",
        ReadPath::Mmap => "mmap",
        ReadPath::Library => "library",
        ReadPath::SystemLibrary => "system_library",
        ReadPath::User => "user",
    }
}
