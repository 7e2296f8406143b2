//! The class of stamps as Python sees it, for both clocks.
//!
//! A stamp is taken by a method without arguments, which calls no Python code. The class of
//! `python/clockscope/stamps.py` inherits these methods and adds the batches.

#![allow(unsafe_code, reason = "Python's objects have no safe form without a wrapper's cost")]

use core::ffi::{CStr, c_int, c_uint, c_void};
use core::ptr;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::OnceLock;

use clockscope::stamps::{Stamp, StampClock, StampError, Stamps};
use pyo3_ffi as py;
use pyo3_ffi::{PyMethodDef, PyObject, PyType_Slot, PyType_Spec, PyTypeObject};

use crate::answers::{AnswerFailure, PythonValue};
use crate::objects::{Method, Raised, answered, bytes, detached, item, object, raise, table_of, text, unsigned};
use crate::stamps::{Answers, Question, begin, boundeds, clock_of, clock_word, ends, instants, moment, walls};
use crate::timed_work;

/// The clock of an object that is made without an argument, as [`TEXT`] states.
const DEFAULT_CLOCK: &str = "counter";

/// The class's text for `help()`.
const TEXT: &CStr = c"Stamps(clock='counter')
--

Stamps of the processor's counter, \"counter\", or of the system's clock, \"os\".";

/// An object of the class of stamps. `new` alone makes one, with a source that was accepted.
#[repr(C)]
struct Object {
    head: PyObject,
    source: Stamps,
    /// An object of its head's size could be made by `object.__new__`, for a class of several
    /// bases, or by setting `__class__`. Python refuses both where a base adds memory.
    added: u64,
}

/// Every method of the class of stamps.
const fn methods() -> [Method; 14] {
    [
        (
            c"now",
            now,
            py::METH_NOARGS,
            c"now($self, /)
--

Returns a stamp that is taken after all earlier loads.

Of two stamps in happens-before order, on any threads, the later is not smaller.",
        ),
        (
            c"now_unordered",
            now_unordered,
            py::METH_NOARGS,
            c"now_unordered($self, /)
--

Returns a stamp by a bare read of the counter.

The processor may take it some tens of nanoseconds earlier or later than the program says.",
        ),
        (
            c"instant_ns",
            instant_ns,
            py::METH_O,
            c"instant_ns($self, stamp, /)
--

Returns the moment of a stamp. An earlier stamp is never a later moment.

Unit: ns on the timeline of time.monotonic_ns().
Error: error_bound_ns().
Raises: StampError where the stamp has no time.",
        ),
        (
            c"error_bound_ns",
            error_bound_ns,
            py::METH_O,
            c"error_bound_ns($self, stamp, /)
--

Returns how far instant_ns() may be from CLOCK_MONOTONIC at that moment, in ns.

The bound holds if CLOCK_MONOTONIC changes its rate at most once in any two periods of renewal.
Raises: StampError where the stamp has no time.",
        ),
        (
            c"instant_with_bound_ns",
            instant_with_bound_ns,
            py::METH_O,
            c"instant_with_bound_ns($self, stamp, /)
--

Returns (instant_ns, error_bound_ns) of one state of the history.

Raises: StampError where the stamp has no time.",
        ),
        (
            c"wall_ns",
            wall_ns,
            py::METH_O,
            c"wall_ns($self, stamp, /)
--

Returns the time of day at a stamp, by the offset in force then.

Unit: ns since the Unix epoch, as time.time_ns().
Raises: StampError where the stamp has no time, or the wall clock was set around it.",
        ),
        (
            c"bounded_ns",
            bounded_ns,
            py::METH_O,
            c"bounded_ns($self, stamp, /)
--

Returns (earliest, latest): the true time of day at the stamp lies between them.

Where nothing bounds the true time they are -2**63 and 2**63 - 1. bounded_state() says why.

Unit: ns since the Unix epoch.
Raises: StampError where the stamp has no time.",
        ),
        (
            c"bounded_state",
            bounded_state,
            py::METH_O,
            c"bounded_state($self, stamp, /)
--

Returns what bounded_ns() is worth at a stamp, in the words of clockscope.bounded_state().

Raises: StampError where the stamp has no time.",
        ),
        (
            c"header",
            header,
            py::METH_O,
            c"header($self, stamp, /)
--

Returns the header of a file of stamps: the history from a stamp to now, as text.

`clockscope stamps` turns the counts below it into times, as this process does: take the header
after the last stamp.
Raises: StampError if the process has no history, or the history is being written.",
        ),
        (
            c"_clock",
            clock,
            py::METH_NOARGS,
            c"_clock($self, /)
--

Returns the clock of the stamps: \"counter\" or \"os\".",
        ),
        (
            c"_spin",
            spin,
            py::METH_O,
            c"_spin($self, counts, /)
--

Reads stamps until the counter has advanced by counts, and returns its advance.",
        ),
        (
            c"_touch",
            touch,
            py::METH_O,
            c"_touch($self, bytes, /)
--

Touches that number of bytes of memory, and returns the counts that this took.",
        ),
        (
            c"_sleep",
            sleep,
            py::METH_O,
            c"_sleep($self, ns, /)
--

Sleeps for ns nanoseconds and returns the counts that this took. Other threads do not run meanwhile.",
        ),
        (
            c"_batch",
            batch,
            py::METH_VARARGS,
            c"_batch($self, question, words, is_partial, /)
--

Returns (numbers, flags) of native 64-bit words: bytes. The question is 0 for instants, 1 for walls
and 2 for boundeds. Without is_partial, flags is None.",
        ),
    ]
}

/// Returns the source of an object.
///
/// # Safety
/// The object is of the class of stamps, or of one that inherits from it.
unsafe fn source(object: *mut PyObject) -> Stamps {
    // SAFETY: as the caller promises. `new` has written the source, because Python makes objects of
    // classes that inherit from one by no other function; nothing changes it.
    unsafe { (&raw const (*object.cast::<Object>()).source).read() }
}

extern "C" fn now(this: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: Python calls methods with the interpreter attached, and with an object of their
    // class.
    unsafe {
        let source = source(this);
        taken(source, source.now())
    }
}

extern "C" fn clock(this: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now`.
    unsafe { object(&PythonValue::Text(clock_word(source(this).clock()).into())) }
}

extern "C" fn now_unordered(this: *mut PyObject, _none: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now`.
    unsafe {
        let source = source(this);
        taken(source, source.now_unordered())
    }
}

/// # Safety
/// The thread is attached to the interpreter.
#[inline(always)]
unsafe fn taken(source: Stamps, stamp: Stamp) -> *mut PyObject {
    // SAFETY: as the caller promises.
    unsafe {
        if stamp.count() == 0 && source.clock() == StampClock::Os {
            return raise(AnswerFailure::NoClock);
        }
        py::PyLong_FromUnsignedLongLong(stamp.count())
    }
}

/// Defines methods that return the answer of a conversion.
macro_rules! conversions {
    ($($name:ident => $conversion:expr;)*) => {$(
        extern "C" fn $name(this: *mut PyObject, stamp: *mut PyObject) -> *mut PyObject {
            let conversion: fn(Stamps, Stamp) -> Result<PythonValue, StampError> = $conversion;
            // SAFETY: as in `now`; Python passes an object, which the caller holds.
            unsafe {
                let Ok(stamp) = count(stamp) else { return ptr::null_mut() };
                let source = source(this);
                answered(|| conversion(source, stamp).map_err(|error| AnswerFailure::Stamp(error, None)))
            }
        }
    )*};
}

/// Returns a bound in ns.
fn bound_ns(bound: core::time::Duration) -> PythonValue {
    PythonValue::Unsigned(u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX))
}

conversions! {
    instant_ns => |source, stamp| Ok(PythonValue::Signed(moment(source.instant(stamp)?)?));
    error_bound_ns => |source, stamp| Ok(bound_ns(source.error_bound(stamp)?));
    instant_with_bound_ns => |source, stamp| {
        let (instant, bound) = source.instant_with_bound(stamp)?;
        Ok(PythonValue::Tuple(vec![PythonValue::Signed(moment(instant)?), bound_ns(bound)]))
    };
    wall_ns => |source, stamp| Ok(PythonValue::Signed(source.wall(stamp)?.as_unix_ns()));
    bounded_ns => |source, stamp| {
        Ok(PythonValue::Tuple(ends(source.bounded(stamp)?).map(PythonValue::Signed).to_vec()))
    };
    header => |source, stamp| Ok(PythonValue::Text(source.header(stamp)?.to_string().into()));
    bounded_state => |source, stamp| Ok(PythonValue::Text(source.bounded(stamp)?.state.as_str().into()));
}

/// Defines methods that do a work of this amount, and return the counts that it took.
macro_rules! works {
    ($($name:ident => $work:path;)*) => {$(
        extern "C" fn $name(this: *mut PyObject, amount: *mut PyObject) -> *mut PyObject {
            // SAFETY: as in `now`; Python passes an object, which the caller holds.
            unsafe {
                let Ok(amount) = unsigned(amount) else { return ptr::null_mut() };
                py::PyLong_FromUnsignedLongLong($work(source(this), amount))
            }
        }
    )*};
}

works! {
    spin => timed_work::spin;
    touch => timed_work::touch;
    sleep => timed_work::sleep;
}

/// Returns the stamp of an int.
///
/// # Safety
/// The thread is attached to the interpreter, and the object lives.
unsafe fn count(number: *mut PyObject) -> Result<Stamp, Raised> {
    // SAFETY: as the caller promises. PyErr_Format gets one object for its one %R.
    unsafe {
        // An int, or a number of NumPy.
        let index = py::PyNumber_Index(number);
        if index.is_null() {
            return Err(Raised);
        }
        let count = py::PyLong_AsUnsignedLongLong(index);
        py::Py_DecRef(index);
        if count == u64::MAX && !py::PyErr_Occurred().is_null() {
            py::PyErr_Clear();
            py::PyErr_Format(py::PyExc_ValueError, c"stamp: expected 0 to 2**64 - 1, got %R".as_ptr(), number);
            return Err(Raised);
        }
        Ok(Stamp::from_count(count))
    }
}

extern "C" fn batch(this: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject {
    // SAFETY: as in `now`; Python passes a tuple, which the caller holds, and which holds its
    // items.
    let answer = unsafe {
        let source = source(this);
        match question(arguments) {
            Ok((0, words, is_partial)) => answers(source, instants, words, is_partial),
            Ok((1, words, is_partial)) => answers(source, walls, words, is_partial),
            Ok((2, words, is_partial)) => answers(source, boundeds, words, is_partial),
            Ok(_) => {
                py::PyErr_SetString(py::PyExc_ValueError, c"unknown question: expected 0, 1 or 2".as_ptr());
                Err(Raised)
            }
            Err(raised) => Err(raised),
        }
    };
    answer.unwrap_or(ptr::null_mut())
}

/// Reads the arguments of `_batch`.
///
/// # Safety
/// The thread is attached to the interpreter, and the tuple outlives what is returned.
unsafe fn question<'a>(arguments: *mut PyObject) -> Result<(usize, &'a [[u8; 8]], bool), Raised> {
    // SAFETY: as the caller promises.
    unsafe {
        let question = unsigned(item(arguments, 0)?)?;
        let words = bytes(item(arguments, 1)?)?.unwrap_or_default();
        let is_partial = unsigned(item(arguments, 2)?)? != 0;
        Ok((question, words.as_chunks::<8>().0, is_partial))
    }
}

/// Converts words, and returns a new tuple of the numbers and the flags.
///
/// # Safety
/// The thread is attached to the interpreter, and the words belong to an object that lives.
unsafe fn answers<const N: usize>(
    source: Stamps,
    question: Question<N>,
    words: &[[u8; 8]],
    is_partial: bool,
) -> Result<*mut PyObject, Raised> {
    // SAFETY: as the caller promises. Python's bytes are not visible to Python before they are
    // complete, so that nothing else reads or changes them; the words never change.
    unsafe {
        let (numbers, places) = memory(words.len())?;
        let (flags, flag_places) = if is_partial {
            match memory(words.len()) {
                Ok((flags, places)) => (flags, Some(places)),
                Err(raised) => {
                    py::Py_DecRef(numbers);
                    return Err(raised);
                }
            }
        } else {
            (py::Py_NewRef(py::Py_None()), None)
        };
        let mut answers = Answers { numbers: places, flags: flag_places };
        let done = detached(|| question(source, words, &mut answers));
        let made = match done {
            Ok(()) => py::PyTuple_New(2),
            Err(failure) => raise(failure),
        };
        if made.is_null() {
            py::Py_DecRef(numbers);
            py::Py_DecRef(flags);
            return Err(Raised);
        }
        // Each takes over its object, also where it fails.
        let is_set = [py::PyTuple_SetItem(made, 0, numbers), py::PyTuple_SetItem(made, 1, flags)];
        if is_set != [0, 0] {
            py::Py_DecRef(made);
            return Err(Raised);
        }
        Ok(made)
    }
}

/// Returns new bytes for `count` values, and the values, which are not yet written.
///
/// # Safety
/// The thread is attached to the interpreter. The values are used as long as the bytes live and
/// nothing else has them.
unsafe fn memory<'a, T>(count: usize) -> Result<(*mut PyObject, &'a mut [MaybeUninit<T>]), Raised> {
    const { assert!(align_of::<T>() == 1, "bytes are not aligned") };
    // SAFETY: as the caller promises. Python makes `size` bytes, which are not written, and may be
    // until others see the object. T has the alignment of bytes.
    unsafe {
        let size = count.checked_mul(size_of::<T>()).and_then(|size| isize::try_from(size).ok());
        let made = match size {
            Some(size) => py::PyBytes_FromStringAndSize(ptr::null(), size),
            None => py::PyErr_NoMemory(),
        };
        if made.is_null() {
            return Err(Raised);
        }
        let start = py::PyBytes_AsString(made);
        if start.is_null() {
            py::Py_DecRef(made);
            return Err(Raised);
        }
        Ok((made, slice::from_raw_parts_mut(start.cast(), count)))
    }
}

/// Makes an object for the clock of a word: begins the history, or raises the reason why there are
/// no stamps.
extern "C" fn new(class: *mut PyTypeObject, arguments: *mut PyObject, named: *mut PyObject) -> *mut PyObject {
    let names = [c"clock".as_ptr(), ptr::null()];
    let mut word = ptr::null_mut::<PyObject>();
    // SAFETY: Python calls this with the interpreter attached, the class or one that inherits from
    // it, a tuple, and a dictionary or NULL, which the caller holds, and which hold their items.
    // The format has a place for its name, which may be written, and the names end with NULL. The
    // source touches no object. Nothing else has the new object before this returns it; its memory
    // is as large as `Object`, by the class's size.
    unsafe {
        let (names, format) = (names.as_ptr().cast_mut().cast(), c"|U:Stamps".as_ptr());
        if py::PyArg_ParseTupleAndKeywords(arguments, named, format, names, &raw mut word) == 0 {
            return ptr::null_mut();
        }
        let word = if word.is_null() { Ok(DEFAULT_CLOCK) } else { text(word) };
        let Ok(word) = word else { return ptr::null_mut() };
        let Some(clock) = clock_of(word) else {
            py::PyErr_SetString(py::PyExc_ValueError, c"clock: expected 'counter' or 'os'".as_ptr());
            return ptr::null_mut();
        };
        let source = match detached(|| begin(clock)) {
            Ok(source) => source,
            Err(failure) => return raise(failure),
        };
        let made = py::PyType_GenericAlloc(class, 0);
        if !made.is_null() {
            let made = made.cast::<Object>();
            (&raw mut (*made).source).write(source);
            (&raw mut (*made).added).write(0);
        }
        made
    }
}

/// A table of methods, which Python keeps.
struct Table(*mut PyMethodDef);

// SAFETY: the pointer is never followed here; Python does, which has its own locks.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// Adds the class of stamps to a new module.
///
/// # Safety
/// The thread is attached to the interpreter, and the module lives.
pub(crate) unsafe fn add_type(module: *mut PyObject) -> Result<(), Raised> {
    static METHODS: OnceLock<Table> = OnceLock::new();
    let methods = METHODS.get_or_init(|| Table(table_of(&methods(), &[])));
    let new = new as extern "C" fn(*mut PyTypeObject, *mut PyObject, *mut PyObject) -> *mut PyObject;
    let mut slots = [
        PyType_Slot { slot: py::Py_tp_doc, pfunc: TEXT.as_ptr().cast_mut().cast() },
        PyType_Slot { slot: py::Py_tp_methods, pfunc: methods.0.cast() },
        PyType_Slot { slot: py::Py_tp_new, pfunc: new as *mut c_void },
        PyType_Slot { slot: 0, pfunc: ptr::null_mut() },
    ];
    const { assert!(size_of::<Object>() > size_of::<PyObject>(), "an object must be larger than its head") };
    let flags = py::Py_TPFLAGS_DEFAULT | py::Py_TPFLAGS_BASETYPE;
    let mut specification = PyType_Spec {
        name: c"clockscope._native.Stamps".as_ptr(),
        basicsize: size_of::<Object>() as c_int,
        itemsize: 0,
        flags: flags as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: as the caller promises. Python copies the specification and the slots; the texts and
    // the table of methods stay.
    unsafe {
        let made = py::PyType_FromSpec(&raw mut specification);
        if made.is_null() {
            return Err(Raised);
        }
        let added = py::PyModule_AddObjectRef(module, c"Stamps".as_ptr(), made);
        py::Py_DecRef(made);
        if added < 0 { Err(Raised) } else { Ok(()) }
    }
}
