//! Tables in the memory layout of Arrow, for the C data interface.
//!
//! A table becomes a stream of one batch. Everything that a consumer receives owns its memory, so
//! that it outlives the interpreter's objects, and is freed without the interpreter.
//! Specification: <https://arrow.apache.org/docs/format/CDataInterface.html>.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;

/// Values may be null.
const NULLABLE: i64 = 2;

/// The type of a column or a table.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    /// None once it is released.
    pub(crate) release: Option<extern "C" fn(*mut Self)>,
    /// A `Box<SchemaMemory>`.
    pub(crate) private_data: *mut c_void,
}

/// The values of a column or a table.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    /// None once it is released; a stream that has ended returns such an array.
    pub(crate) release: Option<extern "C" fn(*mut Self)>,
    /// A `Box<ArrayMemory>`.
    pub(crate) private_data: *mut c_void,
}

impl ArrowArray {
    /// No values, of a stream that has ended.
    const END: Self = Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };
}

/// A table's type and its batches.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ArrowStream {
    pub(crate) get_schema: extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int,
    pub(crate) get_next: extern "C" fn(*mut Self, *mut ArrowArray) -> c_int,
    pub(crate) get_last_error: extern "C" fn(*mut Self) -> *const c_char,
    /// None once it is released.
    pub(crate) release: Option<extern "C" fn(*mut Self)>,
    /// A `Box<Table>`.
    pub(crate) private_data: *mut c_void,
}

/// Memory that a schema points into.
#[derive(Debug)]
pub(crate) struct SchemaMemory {
    format: CString,
    name: CString,
    /// Boxes, whose schemas a consumer may have moved out.
    pub(crate) children: Vec<*mut ArrowSchema>,
}

/// Memory that an array points into.
#[derive(Debug)]
pub(crate) struct ArrayMemory {
    buffers: Vec<Option<Buffer>>,
    starts: Vec<*const c_void>,
    /// Boxes, whose arrays a consumer may have moved out.
    pub(crate) children: Vec<*mut ArrowArray>,
}

/// Bytes, aligned as Arrow demands.
#[derive(Clone, Debug)]
pub(crate) struct Buffer(Vec<u64>);

/// A column: its values as Arrow lays them out.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    name: CString,
    format: CString,
    null_count: i64,
    buffers: Vec<Option<Buffer>>,
}

/// A table, of which a stream gives the values once.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: i64,
    is_taken: bool,
}

/// Reason why bytes are not a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnError {
    /// The name holds a zero byte.
    Name,
    /// The format is not one of those that the package makes.
    Format,
    /// A buffer is missing, or too short for the rows.
    Buffers,
}

impl ColumnError {
    /// Returns it as a sentence.
    pub(crate) const fn text(self) -> &'static CStr {
        match self {
            Self::Name => c"a column's name holds a zero byte",
            Self::Format => c"unknown format of a column: expected b, g, l, L, n or u",
            Self::Buffers => c"a buffer of a column is missing or too short",
        }
    }
}

impl Buffer {
    /// Copies bytes.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let (words, remainder) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last.iter_mut().zip(remainder).for_each(|(to, from)| *to = *from);
        Self(words.iter().chain([&last]).map(|word| u64::from_ne_bytes(*word)).collect())
    }

    fn start(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }
}

impl Column {
    /// Makes a column of `rows` rows. `buffers` are those of the format, the bitmap of what is not
    /// null first; it may be missing.
    pub(crate) fn new(
        rows: usize,
        name: &str,
        format: &str,
        null_count: i64,
        buffers: &[Option<&[u8]>],
    ) -> Result<Self, ColumnError> {
        let name = CString::new(name).map_err(|_| ColumnError::Name)?;
        let bits = Some(rows.div_ceil(8));
        let wide = rows.checked_mul(8);
        let is_long = |bytes: &[u8], least: Option<usize>| least.is_some_and(|least| bytes.len() >= least);
        let fits = match (format, buffers) {
            ("n", []) => true,
            ("b", [valid, Some(values)]) => valid.is_none_or(|valid| is_long(valid, bits)) && is_long(values, bits),
            ("g" | "l" | "L", [valid, Some(values)]) => {
                valid.is_none_or(|valid| is_long(valid, bits)) && is_long(values, wide)
            }
            ("u", [valid, Some(offsets), Some(text)]) => {
                valid.is_none_or(|valid| is_long(valid, bits)) && are_offsets(offsets, rows, text.len())
            }
            ("n" | "b" | "g" | "l" | "L" | "u", _) => false,
            _ => return Err(ColumnError::Format),
        };
        if !fits {
            return Err(ColumnError::Buffers);
        }
        let format = CString::new(format).map_err(|_| ColumnError::Format)?;
        let buffers = buffers.iter().map(|bytes| bytes.map(Buffer::new)).collect();
        Ok(Self { name, format, null_count, buffers })
    }

    fn schema(&self, release: extern "C" fn(*mut ArrowSchema)) -> ArrowSchema {
        schema(self.format.clone(), self.name.clone(), Vec::new(), release)
    }

    fn array(self, rows: i64, release: extern "C" fn(*mut ArrowArray)) -> ArrowArray {
        array(rows, self.null_count, self.buffers, Vec::new(), release)
    }
}

/// Returns true if these are the offsets of `rows` texts, which lie within the first `end` bytes.
fn are_offsets(offsets: &[u8], rows: usize, end: usize) -> bool {
    let offsets: Vec<i32> = offsets.as_chunks::<4>().0.iter().map(|offset| i32::from_ne_bytes(*offset)).collect();
    let last = offsets.get(rows).and_then(|last| usize::try_from(*last).ok());
    offsets.first() == Some(&0) && offsets.is_sorted() && last.is_some_and(|last| last <= end)
}

impl Table {
    /// Makes a table of columns of `rows` rows each.
    pub(crate) fn new(rows: usize, columns: Vec<Column>) -> Self {
        // No column has more than `i64::MAX` rows: its buffers would not fit into memory.
        Self { columns, rows: i64::try_from(rows).unwrap_or(i64::MAX), is_taken: false }
    }

    /// Returns its type.
    pub(crate) fn schema(&self, release: extern "C" fn(*mut ArrowSchema)) -> ArrowSchema {
        let children = self.columns.iter().map(|column| Box::into_raw(Box::new(column.schema(release)))).collect();
        schema(c"+s".to_owned(), CString::default(), children, release)
    }

    /// Returns its values at the first call, later none.
    pub(crate) fn next(&mut self, release: extern "C" fn(*mut ArrowArray)) -> ArrowArray {
        if std::mem::replace(&mut self.is_taken, true) {
            return ArrowArray::END;
        }
        let columns = self.columns.iter().cloned();
        let children = columns.map(|column| Box::into_raw(Box::new(column.array(self.rows, release)))).collect();
        array(self.rows, 0, vec![None], children, release)
    }
}

fn schema(
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
    release: extern "C" fn(*mut ArrowSchema),
) -> ArrowSchema {
    let mut memory = Box::new(SchemaMemory { format, name, children });
    ArrowSchema {
        format: memory.format.as_ptr(),
        name: memory.name.as_ptr(),
        metadata: ptr::null(),
        flags: NULLABLE,
        n_children: memory.children.len().cast_signed() as i64,
        children: memory.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release),
        private_data: Box::into_raw(memory).cast(),
    }
}

fn array(
    length: i64,
    null_count: i64,
    buffers: Vec<Option<Buffer>>,
    children: Vec<*mut ArrowArray>,
    release: extern "C" fn(*mut ArrowArray),
) -> ArrowArray {
    let starts = buffers.iter().map(|buffer| buffer.as_ref().map_or(ptr::null(), Buffer::start)).collect();
    let mut memory = Box::new(ArrayMemory { buffers, starts, children });
    ArrowArray {
        length,
        null_count,
        offset: 0,
        n_buffers: memory.buffers.len().cast_signed() as i64,
        n_children: memory.children.len().cast_signed() as i64,
        buffers: memory.starts.as_mut_ptr(),
        children: memory.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release),
        private_data: Box::into_raw(memory).cast(),
    }
}
