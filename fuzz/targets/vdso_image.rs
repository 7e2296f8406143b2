//! The ELF image that the kernel maps into every process.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| clockscope_core::os::fuzz_vdso_image(input));
