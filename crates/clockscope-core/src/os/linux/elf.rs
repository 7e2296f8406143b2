//! The structures of an ELF image (elf(5)), in the width of this architecture. (The C library's
//! bindings lack them for Android.)

/// The image's header.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Header {
    pub(super) e_ident: [u8; 16],
    e_type: u16,
    e_machine: u16,
    e_version: u32,
    e_entry: usize,
    pub(super) e_phoff: usize,
    e_shoff: usize,
    e_flags: u32,
    e_ehsize: u16,
    e_phentsize: u16,
    pub(super) e_phnum: u16,
    e_shentsize: u16,
    e_shnum: u16,
    e_shstrndx: u16,
}

/// A program header.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ProgramHeader {
    pub(super) p_type: u32,
    #[cfg(target_pointer_width = "64")]
    p_flags: u32,
    pub(super) p_offset: usize,
    pub(super) p_vaddr: usize,
    p_paddr: usize,
    pub(super) p_filesz: usize,
    p_memsz: usize,
    #[cfg(target_pointer_width = "32")]
    p_flags: u32,
    p_align: usize,
}

impl ProgramHeader {
    /// Returns the position in the image of an address of this segment: addresses are relative to
    /// where the segment would like to be.
    pub(super) fn offset(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.p_vaddr)?.checked_add(self.p_offset)
    }
}

/// An entry of the symbol table.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Symbol {
    pub(super) st_name: u32,
    #[cfg(target_pointer_width = "32")]
    pub(super) st_value: usize,
    #[cfg(target_pointer_width = "32")]
    st_size: usize,
    st_info: u8,
    st_other: u8,
    pub(super) st_shndx: u16,
    #[cfg(target_pointer_width = "64")]
    pub(super) st_value: usize,
    #[cfg(target_pointer_width = "64")]
    st_size: usize,
}

/// An entry of the dynamic section.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Dynamic {
    pub(super) tag: isize,
    pub(super) value: usize,
}

/// Lengths of the structures, which elf(5) gives.
const _: () = {
    let wide = cfg!(target_pointer_width = "64");
    assert!(size_of::<Header>() == if wide { 64 } else { 52 });
    assert!(size_of::<ProgramHeader>() == if wide { 56 } else { 32 });
    assert!(size_of::<Symbol>() == if wide { 24 } else { 16 });
    assert!(size_of::<Dynamic>() == if wide { 16 } else { 8 });
};
