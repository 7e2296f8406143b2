//! Evidence as C reads it: texts that end with a zero byte.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;

use clockscope::{Evidence, Finding, Value};

/// A piece of evidence: `clockscope_evidence_item`. The texts belong to the library, and are there
/// until the visitor returns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct EvidenceItem {
    /// The question, in a few words.
    pub name: *const c_char,
    /// The answer in a sentence.
    pub seen: *const c_char,
    /// The answer as one word; NULL where it is a figure, or neither.
    pub word: *const c_char,
    /// The figure's unit; empty for words and counts.
    pub unit: *const c_char,
    /// The source: a register, a file, a test.
    pub source: *const c_char,
    /// The remedy; empty where none is needed.
    pub advice: *const c_char,
    /// The answer as one figure, where `has_figure` is not 0.
    pub figure: f64,
    /// 1 if there is a figure, 0 if not.
    pub has_figure: c_int,
    /// Its meaning for the counter: 0 for it, 1 against it, 2 unknown.
    pub finding: c_int,
}

/// A caller's function that is called for each piece; it returns 0 to go on.
pub type Visit = unsafe extern "C" fn(item: *const EvidenceItem, context: *mut c_void) -> c_int;

/// The texts of a piece, which outlive its [`EvidenceItem`].
pub(crate) struct Texts {
    name: CString,
    seen: CString,
    word: Option<CString>,
    unit: CString,
    source: CString,
    advice: CString,
    figure: Option<f64>,
    finding: c_int,
}

impl Texts {
    /// Copies the texts of a piece.
    pub(crate) fn from_evidence(evidence: &Evidence) -> Self {
        let (word, figure) = match &evidence.value {
            Some(Value::Word(word)) => (Some(terminated(word)), None),
            Some(Value::Number(number)) => (None, Some(*number)),
            _ => (None, None),
        };
        Self {
            name: terminated(evidence.name),
            seen: terminated(&evidence.seen),
            word,
            unit: terminated(evidence.unit),
            source: terminated(&evidence.source),
            advice: terminated(&evidence.advice),
            figure,
            finding: match evidence.finding {
                Finding::For => 0,
                Finding::Against => 1,
                _ => 2,
            },
        }
    }

    /// Returns the piece with the addresses of these texts.
    pub(crate) fn item(&self) -> EvidenceItem {
        EvidenceItem {
            name: self.name.as_ptr(),
            seen: self.seen.as_ptr(),
            word: self.word.as_deref().map_or(ptr::null(), CStr::as_ptr),
            unit: self.unit.as_ptr(),
            source: self.source.as_ptr(),
            advice: self.advice.as_ptr(),
            figure: self.figure.unwrap_or(f64::NAN),
            has_figure: c_int::from(self.figure.is_some()),
            finding: self.finding,
        }
    }
}

/// The text as C reads it, without zero bytes: names of clocksources come from outside.
fn terminated(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bytes_end_no_text_early() {
        assert_eq!(terminated("a\0b").as_c_str(), c"ab");
        assert_eq!(terminated("").as_c_str(), c"");
    }

    #[test]
    fn a_piece_has_a_word_or_a_figure() {
        let evidence = Evidence::new("cost", Finding::Against, "seen");
        let bare = Texts::from_evidence(&evidence).item();
        assert_eq!((bare.word.is_null(), bare.has_figure, bare.finding), (true, 0, 1));
        let figure = Texts::from_evidence(&evidence.clone().figure(22.4, "ns")).item();
        assert_eq!((figure.word.is_null(), figure.has_figure, figure.figure), (true, 1, 22.4));
        let word = Texts::from_evidence(&evidence.word("tsc")).item();
        assert_eq!((word.word.is_null(), word.has_figure), (false, 0));
    }
}
