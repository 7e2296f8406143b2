//! The module as Python sees it: its functions, and their texts for `help()`.
//!
//! Timestamps are functions without arguments (METH_NOARGS), by the C interface itself: a wrapper
//! of PyO3 costs some nanoseconds, which is what they are to save. All functions are listed in
//! `METHODS` and `NAMED_METHODS`, and no other symbol is exported but `PyInit__native`.

#![allow(unsafe_code, reason = "Python's objects have no safe form without a wrapper's cost")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::slice;
use std::sync::OnceLock;

use clockscope::{Interval, WallTime, boot, bounded, wall};
use pyo3_ffi as py;
use pyo3_ffi::{PyModuleDef, PyModuleDef_Slot, PyObject};

use crate::answers::{self, AnswerFailure, PythonValue, Wait};
use crate::arrow::{ArrayMemory, ArrowArray, ArrowSchema, ArrowStream, Column, SchemaMemory, Table};
use crate::objects::{
    Method, NamedMethod, Raised, answered, bytes, detached, item, object, raise, signed, size, table_of, text,
    time_limit, unsigned,
};
use crate::stamp_exports::add_type;
use crate::stamps::ends;

/// The package's version, with the zero byte that ends it.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The slot of a module's definition that fills a new module.
const EXEC: c_int = 2;
/// Slots that say what the module permits: number, value, and the first minor version of Python 3
/// that knows it. Each interpreter may have a GIL of its own; none is needed. The headers for 3.10
/// lack them.
const PERMISSIONS: [(c_int, usize, u32); 2] = [(3, 2, 12), (4, 1, 13)];

/// Functions of the module whose arguments have no names.
const METHODS: [Method; 19] = [
    (
        c"now_ns",
        now_ns,
        py::METH_NOARGS,
        c"now_ns($module, /)
--

Returns the time now, ordered: no reading that happens after it is smaller, on any thread.

Unit: ns on the timeline of time.monotonic_ns().
Error: error_bound(), a fraction of a microsecond.
Raises: ClockUnavailable where no clock of the system answers.",
    ),
    (
        c"now_unordered_ns",
        now_unordered_ns,
        py::METH_NOARGS,
        c"now_unordered_ns($module, /)
--

Returns the time now by a bare read of the counter, for durations on one thread.

The processor may read it some tens of nanoseconds earlier or later than the program says. Stands
still where no clock of the system answers.

Unit: ns on the timeline of now_ns().",
    ),
    (
        c"wall_ns",
        wall_ns,
        py::METH_NOARGS,
        c"wall_ns($module, /)
--

Returns the time of day at the cost of a timestamp; it goes back where the system's clock is set back.

A clock that is set, leaps, or went on while the machine slept shows within 2.2 ms of use, at once
after recheck().

Unit: ns since the Unix epoch, as time.time_ns().",
    ),
    (
        c"boot_ns",
        boot_ns,
        py::METH_NOARGS,
        c"boot_ns($module, /)
--

Returns the time since the machine was started, suspends included, at the cost of a timestamp.

A suspend shows within 2.2 ms of use, at once after recheck(). Do not subtract it from now_ns(),
which stands still in a suspend. Where the system has no such clock it is now_ns():
boot_counts_suspends() is False.

Unit: ns, on Linux as time.clock_gettime_ns(time.CLOCK_BOOTTIME).
Error: boot_error_bound(), a fraction of a microsecond.
Ordering: as now_ns(), across suspends of 2.2 ms and more, unless the process joins another time
namespace.",
    ),
    (
        c"bounded_ns",
        bounded_ns,
        py::METH_NOARGS,
        c"bounded_ns($module, /)
--

Returns (earliest, latest): the true time of day at some moment of the call lies between them.

Where nothing bounds the true time they are -2**63 and 2**63 - 1, so that a program that waits for
`latest` to pass waits too long and never too short. bounded_state() says why.

Unit: ns since the Unix epoch.",
    ),
    (
        c"bounded_state",
        bounded_state,
        py::METH_NOARGS,
        c"bounded_state($module, /)
--

Returns what bounded_ns() is worth now.

\"synchronized\", \"while_not_slewing\" and \"leap_second\" have a bound. \"slewing\", \"worthless\",
\"unsynchronized\" and \"unavailable\" have none.",
    ),
    (
        c"error_bound",
        error_bound,
        py::METH_NOARGS,
        c"error_bound($module, /)\n--\n\nReturns (now, largest, largest_at) in ns.",
    ),
    (
        c"wall_error_bound",
        wall_error_bound,
        py::METH_NOARGS,
        c"wall_error_bound($module, /)\n--\n\nReturns (now, largest, largest_at) in ns for wall_ns().",
    ),
    (
        c"boot_error_bound",
        boot_error_bound,
        py::METH_NOARGS,
        c"boot_error_bound($module, /)\n--\n\nReturns (now, largest, largest_at) in ns for boot_ns().",
    ),
    (
        c"boot_counts_suspends",
        boot_counts_suspends,
        py::METH_NOARGS,
        c"boot_counts_suspends($module, /)
--

Returns whether boot_ns() goes on in a suspend, as far as the system promises that and answers.

It calls prepare() and reads the system's clock once.",
    ),
    (
        c"source",
        source,
        py::METH_NOARGS,
        c"source($module, /)
--

Returns where the time of now_ns() comes from at this moment.

\"counter\": the processor's counter. \"os_clock\": the system's clock, until the counter is
calibrated, for rare callers, and where the counter may not be used. \"nothing\": no clock answers.",
    ),
    (
        c"evidence",
        evidence,
        py::METH_NOARGS,
        c"evidence($module, /)\n--\n\nReturns (name, finding, seen, value, unit, source, advice) of each piece.",
    ),
    (
        c"generation",
        generation,
        py::METH_NOARGS,
        c"generation($module, /)
--

Returns a number that changes whenever the calibration is invalidated: after a suspend, a restored
snapshot, a fork. Two readings of one generation are on one line. 0 before the first reading.",
    ),
    (
        c"resolution_ns",
        resolution_ns,
        py::METH_NOARGS,
        c"resolution_ns($module, /)\n--\n\nReturns the resolution in ns.",
    ),
    (
        c"prepare",
        prepare,
        py::METH_NOARGS,
        c"prepare($module, /)
--

Asks the kernel now all that readings would ask later, and prepares for forks.

Call it before the process confines itself (seccomp, Landlock, chroot). After it, readings,
source(), error_bound() and evidence() ask nothing. Without it the second reading asks. Costs
some 50 us once.",
    ),
    (
        c"recheck",
        recheck,
        py::METH_NOARGS,
        c"recheck($module, /)
--

Asks the kernel again whether the counter may be used, follows the answer, and returns it.

evidence() reports the new answers. A confined process must not call it, unless it may open files.",
    ),
    (
        c"renew_stamps",
        renew_stamps,
        py::METH_NOARGS,
        c"renew_stamps($module, /)\n--\n\nCompares the clocks now, for each history of stamps that has begun.",
    ),
    (
        c"arrow_stream",
        arrow_stream,
        py::METH_O,
        c"arrow_stream($module, table, /)
--

Returns a capsule of a stream: of (rows, ((name, format, nulls, (bytes or None, ...)), ...)).",
    ),
    (c"tick", tick, py::METH_O, c"tick($module, readings, /)\n--\n\nReturns (tick, reason) of native 64-bit words."),
];

/// Functions of the module that take arguments by name.
const NAMED_METHODS: [NamedMethod; 1] = [(
    c"commit_wait",
    commit_wait,
    c"commit_wait($module, unix_ns, /, *, timeout=None)
--

Waits until the true time of day is certainly after unix_ns. Returns (earliest, latest) of then.

It is never early. A moment that is the latest of bounded_ns() takes about the width of the
interval. Other threads run meanwhile, and Ctrl-C ends the wait.

timeout: seconds that the wait takes at most. 0 only asks; None sets no limit.

Unit: ns since the Unix epoch.
Raises: TimeoutError after the timeout. NoBound as soon as nothing bounds the true time; unix_ns
may be past or not.",
)];

extern "C" fn now_ns(_module: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    match clockscope::try_now() {
        // SAFETY: Python calls functions of modules with the interpreter attached.
        Ok(now) => unsafe { py::PyLong_FromUnsignedLongLong(now.as_ns()) },
        // SAFETY: as above.
        Err(_) => unsafe { raise(AnswerFailure::NoClock) },
    }
}

extern "C" fn now_unordered_ns(_module: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now_ns`.
    unsafe { py::PyLong_FromUnsignedLongLong(clockscope::now_unordered().as_ns()) }
}

extern "C" fn wall_ns(_module: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now_ns`.
    unsafe { py::PyLong_FromLongLong(wall::now().as_unix_ns()) }
}

extern "C" fn boot_ns(_module: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now_ns`.
    unsafe { py::PyLong_FromLongLong(boot::now().as_signed_ns()) }
}

extern "C" fn bounded_ns(_module: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now_ns`.
    unsafe { interval(bounded::now()) }
}

/// Returns a new tuple of an interval's ends.
///
/// # Safety
/// The thread is attached to the interpreter.
unsafe fn interval(interval: Interval) -> *mut PyObject {
    let ends = ends(interval).map(PythonValue::Signed);
    // SAFETY: as the caller promises.
    unsafe { object(&PythonValue::Tuple(ends.to_vec())) }
}

extern "C" fn commit_wait(_module: *mut PyObject, arguments: *mut PyObject, named: *mut PyObject) -> *mut PyObject {
    let names = [c"".as_ptr(), c"timeout".as_ptr(), ptr::null()];
    let format = c"O|$O:commit_wait";
    // SAFETY: as in `now_ns`; Python passes a tuple, and a dictionary or NULL, which the caller
    // holds until this returns, and which hold their items. The format has a place for each name,
    // which may be written, and the names end with NULL. The wait touches no object.
    unsafe {
        let (mut unix_ns, mut timeout) = (ptr::null_mut::<PyObject>(), py::Py_None());
        let (names, format) = (names.as_ptr().cast_mut().cast(), format.as_ptr());
        if py::PyArg_ParseTupleAndKeywords(arguments, named, format, names, &raw mut unix_ns, &raw mut timeout) == 0 {
            return ptr::null_mut();
        }
        let Ok(moment) = signed(unix_ns).map(WallTime::from_unix_ns) else { return ptr::null_mut() };
        let Ok(limit) = time_limit(timeout) else { return ptr::null_mut() };
        let wait = Wait::begin(moment, limit);
        loop {
            match detached(|| wait.part()) {
                Ok(Some(past)) => return interval(past),
                // What a signal handler raises comes before the end of the time limit.
                Ok(None) | Err(AnswerFailure::TimeLimit(_)) if py::PyErr_CheckSignals() < 0 => return ptr::null_mut(),
                Ok(None) => {}
                Err(failure) => return raise(failure),
            }
        }
    }
}

/// Defines functions that return what a question of [`answers`] does.
macro_rules! questions {
    ($($name:ident => $question:path;)*) => {$(
        extern "C" fn $name(_module: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
            // SAFETY: as in `now_ns`.
            unsafe { answered($question) }
        }
    )*};
}

questions! {
    bounded_state => answers::bounded_state;
    error_bound => answers::error_bound;
    wall_error_bound => answers::wall_error_bound;
    boot_error_bound => answers::boot_error_bound;
    boot_counts_suspends => answers::boot_counts_suspends;
    source => answers::source;
    evidence => answers::evidence;
    generation => answers::generation;
    resolution_ns => answers::resolution;
    prepare => answers::prepare;
    recheck => answers::recheck;
    renew_stamps => answers::renew_stamps;
}

extern "C" fn tick(_module: *mut PyObject, readings: *mut PyObject) -> *mut PyObject {
    let mut start: *mut c_char = ptr::null_mut();
    let mut length = 0;
    // SAFETY: as in `now_ns`; Python passes an object, and both places may be written.
    if unsafe { py::PyBytes_AsStringAndSize(readings, &raw mut start, &raw mut length) } < 0 {
        return ptr::null_mut();
    }
    // SAFETY: the call has succeeded: `length` bytes are there, and never change. The caller holds
    // the object until this function returns.
    let bytes = unsafe { slice::from_raw_parts(start.cast::<u8>(), length.unsigned_abs()) };
    // SAFETY: as in `now_ns`; no object is touched by the search.
    unsafe {
        let found = detached(|| Ok(answers::tick_of(bytes)));
        answered(|| found)
    }
}

extern "C" fn arrow_stream(_module: *mut PyObject, table: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now_ns`; Python passes an object, which the caller holds until this returns.
    unsafe { self::table(table).map_or(ptr::null_mut(), |table| capsule(stream(table))) }
}

/// Reads a table: `(rows, columns)`.
///
/// # Safety
/// The thread is attached to the interpreter, and the object lives.
unsafe fn table(table: *mut PyObject) -> Result<Table, Raised> {
    // SAFETY: as the caller promises. Tuples never change, and hold their items.
    unsafe {
        let rows = unsigned(item(table, 0)?)?;
        let columns = item(table, 1)?;
        let columns = (0..size(columns)?).map(|index| column(rows, item(columns, index)?)).collect::<Result<_, _>>()?;
        Ok(Table::new(rows, columns))
    }
}

/// Reads a column: `(name, format, nulls, buffers)`.
///
/// # Safety
/// As for [`table`].
unsafe fn column(rows: usize, column: *mut PyObject) -> Result<Column, Raised> {
    // SAFETY: as in `table`. What is borrowed is copied before this returns.
    unsafe {
        let (name, format) = (text(item(column, 0)?)?, text(item(column, 1)?)?);
        let nulls = unsigned(item(column, 2)?)?;
        let buffers = item(column, 3)?;
        let buffers: Vec<_> =
            (0..size(buffers)?).map(|index| bytes(item(buffers, index)?)).collect::<Result<_, _>>()?;
        Column::new(rows, name, format, nulls.cast_signed() as i64, &buffers).map_err(|error| {
            py::PyErr_SetString(py::PyExc_ValueError, error.text().as_ptr());
            Raised
        })
    }
}

fn stream(table: Table) -> ArrowStream {
    ArrowStream {
        get_schema: stream_schema,
        get_next: stream_next,
        get_last_error: stream_error,
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(table)).cast(),
    }
}

/// The name by which consumers know the capsule.
const STREAM: &CStr = c"arrow_array_stream";

/// Puts a stream into a capsule, which releases it if no consumer has taken it.
///
/// # Safety
/// The thread is attached to the interpreter.
unsafe fn capsule(stream: ArrowStream) -> *mut PyObject {
    let stream = Box::into_raw(Box::new(stream));
    // SAFETY: as the caller promises; the name is static, and the box stays until the capsule frees
    // it, or is freed here where there is none.
    unsafe {
        let capsule = py::PyCapsule_New(stream.cast(), STREAM.as_ptr(), Some(free_stream));
        if capsule.is_null() {
            release_stream(stream);
            drop(Box::from_raw(stream));
        }
        capsule
    }
}

unsafe extern "C" fn free_stream(capsule: *mut PyObject) {
    // SAFETY: Python calls this once, with a capsule that was made above. A consumer has moved the
    // stream out and left `release` empty, or not touched it.
    unsafe {
        let stream: *mut ArrowStream = py::PyCapsule_GetPointer(capsule, STREAM.as_ptr()).cast();
        if (*stream).release.is_some() {
            release_stream(stream);
        }
        drop(Box::from_raw(stream));
    }
}

extern "C" fn stream_schema(stream: *mut ArrowStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: a consumer passes a stream that is not released, on one thread at a time, and a place
    // that holds nothing.
    unsafe { out.write((*(*stream).private_data.cast::<Table>()).schema(release_schema)) };
    0
}

extern "C" fn stream_next(stream: *mut ArrowStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `stream_schema`.
    unsafe { out.write((*(*stream).private_data.cast::<Table>()).next(release_array)) };
    0
}

/// No call of the stream fails.
extern "C" fn stream_error(_stream: *mut ArrowStream) -> *const c_char {
    ptr::null()
}

extern "C" fn release_stream(stream: *mut ArrowStream) {
    // SAFETY: a consumer passes a stream that is not released; its box was made in `stream`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Table>()));
        (*stream).release = None;
    }
}

extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: a consumer passes a schema that is not released; its boxes were made in `arrow`. A
    // child that was moved out has no `release`, and its memory belongs to who moved it.
    unsafe {
        let memory = Box::from_raw((*schema).private_data.cast::<SchemaMemory>());
        for child in memory.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    unsafe {
        let memory = Box::from_raw((*array).private_data.cast::<ArrayMemory>());
        for child in memory.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

/// Adds the version and the class of stamps to a new module.
extern "C" fn fill(module: *mut PyObject) -> c_int {
    // SAFETY: Python calls this with the interpreter attached; the text ends with a zero byte.
    unsafe {
        if py::PyModule_AddStringConstant(module, c"VERSION".as_ptr(), VERSION.as_ptr().cast()) < 0 {
            return -1;
        }
        add_type(module).map_or(-1, |()| 0)
    }
}

/// The module's definition, which Python keeps.
struct Definition(*mut PyModuleDef);

// SAFETY: the pointer is never followed here; Python does, which has its own locks.
unsafe impl Send for Definition {}
// SAFETY: as above.
unsafe impl Sync for Definition {}

impl Definition {
    /// Makes a definition for Python 3.`minor`. It is never freed.
    fn new(minor: u32) -> Self {
        // The module holds no object and no state of an interpreter, and needs no lock.
        let known = PERMISSIONS.into_iter().filter(|(.., since)| minor >= *since);
        let mut slots = vec![slot(EXEC, fill as extern "C" fn(*mut PyObject) -> c_int as *mut c_void)];
        slots.extend(known.map(|(number, value, _)| slot(number, ptr::without_provenance_mut(value))));
        slots.push(slot(0, ptr::null_mut()));
        Self(Box::into_raw(Box::new(PyModuleDef {
            m_base: py::PyModuleDef_HEAD_INIT,
            m_name: c"clockscope._native".as_ptr(),
            m_doc: c"Timestamps, their error bound and evidence: what the package takes from the library.".as_ptr(),
            m_size: 0,
            m_methods: table_of(&METHODS, &NAMED_METHODS),
            m_slots: slots.leak().as_mut_ptr(),
            m_traverse: None,
            m_clear: None,
            m_free: None,
        })))
    }
}

const fn slot(slot: c_int, value: *mut c_void) -> PyModuleDef_Slot {
    PyModuleDef_Slot { slot, value }
}

/// Returns the minor version of the Python 3 that runs; 0 if its text is not of the usual form.
fn minor_version() -> u32 {
    // SAFETY: the text is static, and ends with a zero byte.
    let text = unsafe { CStr::from_ptr(py::Py_GetVersion()) };
    let minor = text.to_str().ok().and_then(|text| text.split('.').nth(1));
    minor.and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

/// Returns the module's definition: Python calls this once for each interpreter that imports it.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "Python looks for this name")]
pub extern "C" fn PyInit__native() -> *mut PyObject {
    static DEFINITION: OnceLock<Definition> = OnceLock::new();
    let definition = DEFINITION.get_or_init(|| Definition::new(minor_version()));
    // SAFETY: Python calls this with the interpreter attached, and the definition stays.
    unsafe { py::PyModuleDef_Init(definition.0) }
}
