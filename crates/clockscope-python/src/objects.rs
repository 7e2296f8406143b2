//! Python's objects: values from arguments, objects from values, and exceptions.

#![allow(unsafe_code, reason = "Python's objects have no safe form without a wrapper's cost")]

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::time::Duration;

use pyo3_ffi as py;
use pyo3_ffi::{PyMethodDef, PyMethodDefPointer, PyObject};

use crate::answers::{AnswerFailure, PythonValue};

/// A function of a module, or a method. The first parameter is the module or the object. The second
/// is NULL (METH_NOARGS), the argument (METH_O) or the tuple of all (METH_VARARGS).
pub(crate) type Function = extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;

/// A function's name, itself, its flags and its text. `help()` shows the text; its first line is
/// the signature.
pub(crate) type Method = (&'static CStr, Function, c_int, &'static CStr);

/// A function that takes arguments by name (METH_VARARGS | METH_KEYWORDS). The second parameter is
/// the tuple of the arguments without a name; the third is the dictionary of the others, or NULL.
pub(crate) type NamedFunction = extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// A [`NamedFunction`] as [`Method`] has others, without the flags.
pub(crate) type NamedMethod = (&'static CStr, NamedFunction, &'static CStr);

/// Returns Python's table of these functions. It is never freed.
pub(crate) fn table_of(methods: &[Method], named: &[NamedMethod]) -> *mut PyMethodDef {
    let methods = methods.iter().map(|(name, function, flags, text)| {
        let meth = PyMethodDefPointer { PyCFunction: *function };
        PyMethodDef { ml_name: name.as_ptr(), ml_meth: meth, ml_flags: *flags, ml_doc: text.as_ptr() }
    });
    let named = named.iter().map(|(name, function, text)| {
        let meth = PyMethodDefPointer { PyCFunctionWithKeywords: *function };
        let flags = py::METH_VARARGS | py::METH_KEYWORDS;
        PyMethodDef { ml_name: name.as_ptr(), ml_meth: meth, ml_flags: flags, ml_doc: text.as_ptr() }
    });
    let mut table: Vec<PyMethodDef> = methods.chain(named).collect();
    table.push(PyMethodDef::zeroed());
    table.leak().as_mut_ptr()
}

/// An exception is set.
pub(crate) struct Raised;

/// Returns what `question` does, while other threads may run.
///
/// # Safety
/// The thread is attached to the interpreter, and `question` touches no object.
pub(crate) unsafe fn detached<T>(question: impl FnOnce() -> Result<T, AnswerFailure>) -> Result<T, AnswerFailure> {
    // SAFETY: as the caller promises.
    let state = unsafe { py::PyEval_SaveThread() };
    let answer = guarded(question);
    // SAFETY: the state is the one that was just saved, on the same thread.
    unsafe { py::PyEval_RestoreThread(state) };
    answer
}

/// # Safety
/// As for [`object`].
pub(crate) unsafe fn size(tuple: *mut PyObject) -> Result<isize, Raised> {
    // SAFETY: as the caller promises.
    let size = unsafe { py::PyTuple_Size(tuple) };
    if size < 0 { Err(Raised) } else { Ok(size) }
}

/// Returns an item of a tuple, which the tuple holds.
///
/// # Safety
/// As for [`object`].
pub(crate) unsafe fn item(tuple: *mut PyObject, index: isize) -> Result<*mut PyObject, Raised> {
    // SAFETY: as the caller promises.
    let item = unsafe { py::PyTuple_GetItem(tuple, index) };
    if item.is_null() { Err(Raised) } else { Ok(item) }
}

/// # Safety
/// As for [`object`].
pub(crate) unsafe fn unsigned(number: *mut PyObject) -> Result<usize, Raised> {
    // SAFETY: as the caller promises.
    let found = unsafe { py::PyLong_AsSize_t(number) };
    // SAFETY: as the caller promises.
    if found == usize::MAX && !unsafe { py::PyErr_Occurred() }.is_null() { Err(Raised) } else { Ok(found) }
}

/// # Safety
/// As for [`object`].
pub(crate) unsafe fn signed(number: *mut PyObject) -> Result<i64, Raised> {
    // SAFETY: as the caller promises.
    let found = unsafe { py::PyLong_AsLongLong(number) };
    // SAFETY: as the caller promises.
    if found == -1 && !unsafe { py::PyErr_Occurred() }.is_null() { Err(Raised) } else { Ok(found) }
}

/// Returns a time limit of a number of seconds; `None` of None. Infinity is the longest limit.
///
/// # Safety
/// As for [`object`].
pub(crate) unsafe fn time_limit(timeout: *mut PyObject) -> Result<Option<Duration>, Raised> {
    // SAFETY: as the caller promises. PyErr_Format gets one object for its one %R.
    unsafe {
        if py::Py_IsNone(timeout) != 0 {
            return Ok(None);
        }
        let seconds = py::PyFloat_AsDouble(timeout);
        if !py::PyErr_Occurred().is_null() {
            return Err(Raised);
        }
        if seconds.is_nan() || seconds < 0.0 {
            let text = c"timeout: expected None or a number of seconds from 0 on, got %R";
            py::PyErr_Format(py::PyExc_ValueError, text.as_ptr(), timeout);
            return Err(Raised);
        }
        Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
    }
}

/// # Safety
/// As for [`object`]; the object outlives what is returned.
pub(crate) unsafe fn text<'a>(text: *mut PyObject) -> Result<&'a str, Raised> {
    let mut length = 0;
    // SAFETY: as the caller promises. Python keeps the UTF-8, of the length that it reports, as
    // long as the object.
    unsafe {
        let start = py::PyUnicode_AsUTF8AndSize(text, &raw mut length);
        if start.is_null() {
            return Err(Raised);
        }
        let bytes = slice::from_raw_parts(start.cast::<u8>(), length.unsigned_abs());
        Ok(std::str::from_utf8_unchecked(bytes))
    }
}

/// Returns the contents of bytes; `None` of None.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn bytes<'a>(object: *mut PyObject) -> Result<Option<&'a [u8]>, Raised> {
    // SAFETY: as the caller promises.
    if unsafe { py::Py_IsNone(object) } != 0 {
        return Ok(None);
    }
    let mut start: *mut c_char = ptr::null_mut();
    let mut length = 0;
    // SAFETY: as the caller promises, and both places may be written. Where the call succeeds, so
    // many bytes are there, and never change.
    unsafe {
        if py::PyBytes_AsStringAndSize(object, &raw mut start, &raw mut length) < 0 {
            return Err(Raised);
        }
        Ok(Some(slice::from_raw_parts(start.cast::<u8>(), length.unsigned_abs())))
    }
}

/// Returns what `question` does, without a panic.
pub(crate) fn guarded<T>(question: impl FnOnce() -> Result<T, AnswerFailure>) -> Result<T, AnswerFailure> {
    // Nothing of the caller's is changed by a question.
    catch_unwind(AssertUnwindSafe(question)).unwrap_or(Err(AnswerFailure::Panicked))
}

/// Returns a new object of what `question` returns; NULL, with an exception set, where it fails.
///
/// # Safety
/// The thread is attached to the interpreter.
pub(crate) unsafe fn answered(question: impl FnOnce() -> Result<PythonValue, AnswerFailure>) -> *mut PyObject {
    let answer = guarded(question);
    // SAFETY: as the caller promises.
    unsafe {
        match answer {
            Ok(value) => object(&value),
            Err(failure) => raise(failure),
        }
    }
}

/// Returns a new object of this value; NULL, with an exception set, if memory is exhausted.
///
/// # Safety
/// The thread is attached to the interpreter.
pub(crate) unsafe fn object(value: &PythonValue) -> *mut PyObject {
    // SAFETY: the caller promises what these functions demand, and texts are valid UTF-8 of the
    // length that is passed.
    unsafe {
        match value {
            PythonValue::None => py::Py_NewRef(py::Py_None()),
            PythonValue::Bool(value) => py::PyBool_FromLong((*value).into()),
            PythonValue::Unsigned(number) => py::PyLong_FromUnsignedLongLong(*number),
            PythonValue::Signed(number) => py::PyLong_FromLongLong(*number),
            PythonValue::Float(number) => py::PyFloat_FromDouble(*number),
            PythonValue::Text(text) => py::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len().cast_signed()),
            PythonValue::Tuple(items) => tuple(items),
        }
    }
}

/// Returns a new tuple of these values, as [`object`] does.
///
/// # Safety
/// As for [`object`].
unsafe fn tuple(items: &[PythonValue]) -> *mut PyObject {
    // SAFETY: as the caller promises. The tuple is not visible to Python before it is complete, and
    // PyTuple_SetItem takes over the item.
    unsafe {
        let tuple = py::PyTuple_New(items.len().cast_signed());
        if tuple.is_null() {
            return ptr::null_mut();
        }
        for (index, item) in (0..).zip(items) {
            let item = object(item);
            if item.is_null() || py::PyTuple_SetItem(tuple, index, item) < 0 {
                py::Py_DecRef(tuple);
                return ptr::null_mut();
            }
        }
        tuple
    }
}

/// Sets the exception that a failure means, and returns NULL.
///
/// # Safety
/// As for [`object`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn raise(failure: AnswerFailure) -> *mut PyObject {
    let (module, name) = match failure {
        AnswerFailure::NoClock => (c"clockscope", c"ClockUnavailable"),
        AnswerFailure::Panicked => (c"clockscope", c"ClockscopeError"),
        AnswerFailure::NoBound(_) => (c"clockscope", c"NoBound"),
        AnswerFailure::TimeLimit(_) => (c"builtins", c"TimeoutError"),
        AnswerFailure::Refused(_) => (c"clockscope.stamps", c"Refused"),
        AnswerFailure::Stamp(..) => (c"clockscope.stamps", c"StampError"),
    };
    // SAFETY: as the caller promises. Where the module cannot be imported or lacks the class, or no
    // exception can be made, the exception that says so stays set.
    unsafe {
        let module = py::PyImport_ImportModule(module.as_ptr());
        if module.is_null() {
            return ptr::null_mut();
        }
        let class = py::PyObject_GetAttrString(module, name.as_ptr());
        py::Py_DecRef(module);
        if class.is_null() {
            return ptr::null_mut();
        }
        let arguments = tuple(&failure.arguments());
        if !arguments.is_null() {
            let exception = py::PyObject_CallObject(class, arguments);
            py::Py_DecRef(arguments);
            if !exception.is_null() {
                py::PyErr_SetObject(class, exception);
                py::Py_DecRef(exception);
            }
        }
        py::Py_DecRef(class);
    }
    ptr::null_mut()
}
