//! Whether the kernel mapped a vDSO.

#![allow(unsafe_code, reason = "the auxiliary vector has no safe form in libc")]

use clockscope_records::Figure;

/// Returns true if it did (getauxval(3), AT_SYSINFO_EHDR).
pub(crate) fn vdso() -> Figure<bool> {
    // SAFETY: getauxval takes any number and answers 0 for an entry that is not there.
    Figure::Known(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } != 0)
}
