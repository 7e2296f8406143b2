//! Finds `clock_gettime` in the vDSO, the ELF image that the kernel maps into every process (vdso(7)).

#![allow(unsafe_code, reason = "the vDSO is an ELF image at an address that the kernel names")]

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::Unavailable;

/// The exported function. It answers 0 or a negative error number.
pub(super) type ClockGettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;

/// Its name, which depends on the architecture (vdso(7)).
const SYMBOL: &CStr = if cfg!(any(target_arch = "aarch64", target_arch = "powerpc64", target_arch = "s390x")) {
    c"__kernel_clock_gettime"
} else {
    c"__vdso_clock_gettime"
};

#[cfg(target_pointer_width = "64")]
mod elf {
    pub(super) use libc::{Elf64_Ehdr as Header, Elf64_Phdr as Segment, Elf64_Sym as Symbol};
}
#[cfg(target_pointer_width = "32")]
mod elf {
    pub(super) use libc::{Elf32_Ehdr as Header, Elf32_Phdr as Segment, Elf32_Sym as Symbol};
}

/// An entry of the dynamic section: tag and value (elf(5)).
#[derive(Clone, Copy)]
#[repr(C)]
struct Dynamic {
    tag: isize,
    value: usize,
}

const DT_NULL: isize = 0;
const DT_HASH: isize = 4;
const DT_STRTAB: isize = 5;
const DT_SYMTAB: isize = 6;
const DT_GNU_HASH: isize = 0x6fff_fef5;

/// `clock_gettime` of the vDSO.
///
/// # Errors
/// The kernel maps no vDSO, or it exports no such function.
pub(super) fn clock_gettime() -> Result<ClockGettime, Unavailable> {
    // SAFETY: getauxval takes any number and answers 0 for an entry that is not there.
    let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as *const u8;
    if base.is_null() {
        return Err(Unavailable::Missing("the kernel maps no vDSO into this process".into()));
    }
    // SAFETY: the kernel names the address of a complete ELF image that stays mapped and is not written to.
    unsafe { find(base, SYMBOL) }
        // SAFETY: the symbol of this name has this signature on every architecture that exports it (vdso(7)).
        .map(|address| unsafe { core::mem::transmute::<*const c_void, ClockGettime>(address) })
        .ok_or_else(|| Unavailable::Missing("the vDSO exports no clock_gettime".into()))
}

/// Address of the symbol `name` in the ELF image at `base`.
///
/// # Safety
/// A complete, well-formed ELF shared object must be mapped at `base`.
unsafe fn find(base: *const u8, name: &CStr) -> Option<*const c_void> {
    // SAFETY: the header stands at the image's start, the program headers where it says (elf(5)).
    let segments = unsafe {
        let header = &*base.cast::<elf::Header>();
        core::slice::from_raw_parts(base.add(header.e_phoff as usize).cast::<elf::Segment>(), header.e_phnum.into())
    };
    let load = segments.iter().find(|segment| segment.p_type == libc::PT_LOAD)?;
    let dynamic = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC)?;
    // Addresses inside the image are relative to where its first segment would like to be.
    let at = |address: usize| {
        base.wrapping_add((load.p_offset as usize).wrapping_add(address).wrapping_sub(load.p_vaddr as usize))
    };

    let (mut symbols, mut strings, mut hash, mut gnu_hash) = (None, None, None, None);
    let mut entry = base.wrapping_add(dynamic.p_offset as usize).cast::<Dynamic>();
    loop {
        // SAFETY: the dynamic section lies inside the image and ends with DT_NULL, where this loop ends.
        let Dynamic { tag, value } = unsafe { *entry };
        match tag {
            DT_NULL => break,
            DT_SYMTAB => symbols = Some(at(value).cast::<elf::Symbol>()),
            DT_STRTAB => strings = Some(at(value).cast::<c_char>()),
            DT_HASH => hash = Some(at(value).cast::<u32>()),
            DT_GNU_HASH => gnu_hash = Some(at(value).cast::<u32>()),
            _ => {}
        }
        entry = entry.wrapping_add(1);
    }
    let (symbols, strings) = (symbols?, strings?);
    // SAFETY: both tables are part of the image.
    let count = unsafe { hash.map(|table| sysv_count(table)).or_else(|| gnu_hash.map(|table| gnu_count(table)))? };
    (0..count).find_map(|index| {
        // SAFETY: the index is below the symbol table's length, and a symbol's name is a C string of the string table.
        let (symbol, found) = unsafe {
            let symbol = &*symbols.add(index);
            (symbol, CStr::from_ptr(strings.add(symbol.st_name as usize)))
        };
        (found == name && symbol.st_shndx != 0).then(|| at(symbol.st_value as usize).cast::<c_void>())
    })
}

/// Length of the symbol table by the System V hash table: its number of chains. s390x alone has 64-bit entries.
///
/// # Safety
/// `table` must point to a DT_HASH table.
unsafe fn sysv_count(table: *const u32) -> usize {
    if cfg!(target_arch = "s390x") {
        // SAFETY: nbucket and nchain are the first two entries.
        unsafe { *table.cast::<u64>().add(1) as usize }
    } else {
        // SAFETY: as above.
        unsafe { *table.add(1) as usize }
    }
}

/// Length of the symbol table by the GNU hash table: one past the last entry of the last chain.
///
/// # Safety
/// `table` must point to a DT_GNU_HASH table.
unsafe fn gnu_count(table: *const u32) -> usize {
    // SAFETY: header (nbuckets, symoffset, bloom size, shift), bloom words, buckets and chains follow one another; a
    // chain ends at an odd hash.
    unsafe {
        let (buckets, first, bloom) = (*table as usize, *table.add(1) as usize, *table.add(2) as usize);
        let bucket = table.add(4 + bloom * (size_of::<usize>() / size_of::<u32>()));
        let Some(mut last) = (0..buckets).map(|index| *bucket.add(index) as usize).max().filter(|last| *last >= first)
        else {
            return first;
        };
        let chain = bucket.add(buckets);
        while *chain.add(last - first) & 1 == 0 {
            last += 1;
        }
        last + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_not_found() {
        // SAFETY: as in `clock_gettime`.
        let base = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as *const u8;
        if base.is_null() {
            // Only user-mode emulators of other architectures map none.
            assert_ne!(std::env::consts::ARCH, "x86_64", "no vDSO");
            return;
        }
        // SAFETY: as in `clock_gettime`.
        unsafe {
            assert!(find(base, SYMBOL).is_some());
            assert!(find(base, c"__vdso_no_such_function").is_none());
        }
    }

    #[test]
    fn both_hash_tables_of_an_image_count_the_same_symbols() {
        // A GNU hash table with one bloom word, two buckets and symbols 2..5: chains (2, 3) and (4).
        let words = size_of::<usize>() / 4;
        let mut table = vec![2u32, 2, 1, 0];
        table.extend(std::iter::repeat_n(0, words));
        table.extend([2, 4]);
        table.extend([10, 11, 21]);
        // SAFETY: the table above is complete.
        assert_eq!(unsafe { gnu_count(table.as_ptr()) }, 5);
        // SAFETY: nbucket, nchain.
        #[cfg(not(target_arch = "s390x"))]
        assert_eq!(unsafe { sysv_count([2u32, 5].as_ptr()) }, 5);
    }
}
