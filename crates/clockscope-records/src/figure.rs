//! Figures that may be unknown, and how their reasons become the object `unknown` of JSON.
//!
//! An unknown figure is `null` in JSON. Its reason is in the object `unknown` of the nearest record
//! that has one, under the figure's path: `tick_ns`, `events.jump`. [`figures!`] names the figures
//! of a part of a record, [`record!`] those of a record with an object `unknown`.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Unknown;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "Option<crate::schema::KnownFigure<T>>"))]
#[allow(missing_docs, reason = "documented where it is exported: the schema would take it as each figure's")]
pub enum Figure<T> {
    /// Its value.
    Known(T),
    /// Reason why it is unknown.
    Unknown(Unknown),
}

impl<T> Figure<T> {
    /// Returns an unknown figure.
    pub fn unknown(reason: impl Into<Unknown>) -> Self {
        Self::Unknown(reason.into())
    }

    /// Returns the figure of a value, or why there is none.
    pub fn of(value: Option<T>, reason: impl Into<Unknown>) -> Self {
        value.map_or_else(|| Self::unknown(reason), Self::Known)
    }

    /// Returns the value, if it is known.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// Returns the value to be changed, if it is known.
    pub const fn known_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// Returns a copy of the value, if it is known.
    pub fn get(&self) -> Option<T>
    where
        T: Copy,
    {
        self.known().copied()
    }

    /// Returns what the value dereferences to, if it is known.
    pub fn as_deref(&self) -> Option<&T::Target>
    where
        T: Deref,
    {
        self.known().map(T::deref)
    }

    /// Returns whether it is known.
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// Returns whether the record states neither the value nor why it is unknown, as one of an
    /// earlier version does.
    pub fn is_unrecorded(&self) -> bool {
        self.reason() == Some(&Unknown::Unrecorded)
    }

    /// Returns why it is unknown; `None` if it is known.
    pub fn reason(&self) -> Option<&Unknown> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(reason) => Some(reason),
        }
    }

    /// Returns the sentence that explains why it is unknown; `None` if it is known.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        self.reason().map(ToString::to_string)
    }

    /// Returns the value or the reason.
    ///
    /// # Errors
    /// The figure is unknown.
    pub fn result(self) -> Result<T, Unknown> {
        match self {
            Self::Known(value) => Ok(value),
            Self::Unknown(reason) => Err(reason),
        }
    }
}

impl<T, E: Into<Unknown>> From<Result<T, E>> for Figure<T> {
    fn from(found: Result<T, E>) -> Self {
        found.map_or_else(Self::unknown, Self::Known)
    }
}

/// Unknown, without a reason: for what was not looked at, in records that say so elsewhere.
impl<T> Default for Figure<T> {
    fn default() -> Self {
        Self::unknown(Unknown::Unrecorded)
    }
}

impl<T: Serialize> Serialize for Figure<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.known().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Figure<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(Option::deserialize(deserializer)?, Unknown::Unrecorded))
    }
}

/// A list of which it is known why it is empty: `[]` in JSON instead of `null`.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        list: &Figure<Vec<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        list.as_deref().unwrap_or_default().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Figure<Vec<T>>, D::Error> {
        let list = Vec::deserialize(deserializer)?;
        Ok(Figure::of(Some(list).filter(|list| !list.is_empty()), Unknown::Unrecorded))
    }
}

/// A part of a record that has figures.
pub trait Figures {
    /// Returns why figures are unknown, by their paths.
    fn reasons(&self) -> BTreeMap<String, &Unknown> {
        let mut reasons = BTreeMap::new();
        self.collect("", &mut reasons);
        reasons
    }

    /// Collects why figures are unknown, by their paths after this prefix.
    #[doc(hidden)]
    fn collect<'a>(&'a self, prefix: &str, reasons: &mut BTreeMap<String, &'a Unknown>);

    /// Takes the reasons of figures that are unknown. Others are left.
    #[doc(hidden)]
    fn explain(&mut self, prefix: &str, reasons: &mut BTreeMap<String, Unknown>);
}

/// The figures of a part that may be lacking itself.
impl<P: Figures> Figures for Option<P> {
    fn collect<'a>(&'a self, prefix: &str, reasons: &mut BTreeMap<String, &'a Unknown>) {
        self.iter().for_each(|part| part.collect(prefix, reasons));
    }

    fn explain(&mut self, prefix: &str, reasons: &mut BTreeMap<String, Unknown>) {
        self.iter_mut().for_each(|part| part.explain(prefix, reasons));
    }
}

/// The figures of a part that may be unknown itself. Whoever has it names it as a figure as well.
impl<P: Figures> Figures for Figure<P> {
    fn collect<'a>(&'a self, prefix: &str, reasons: &mut BTreeMap<String, &'a Unknown>) {
        self.known().into_iter().for_each(|part| part.collect(prefix, reasons));
    }

    fn explain(&mut self, prefix: &str, reasons: &mut BTreeMap<String, Unknown>) {
        self.known_mut().into_iter().for_each(|part| part.explain(prefix, reasons));
    }
}

impl<T> Figure<T> {
    /// Adds the reason to those of a record, if there is one.
    pub(crate) fn collect_as<'a>(&'a self, path: String, reasons: &mut BTreeMap<String, &'a Unknown>) {
        if let Some(reason) = self.reason().filter(|reason| **reason != Unknown::Unrecorded) {
            reasons.insert(path, reason);
        }
    }

    /// Takes the reason from those of a record, unless the figure is known.
    pub(crate) fn explain_as(&mut self, path: &str, reasons: &mut BTreeMap<String, Unknown>) {
        if let Self::Unknown(reason) = self
            && let Some(recorded) = reasons.remove(path)
        {
            *reason = recorded;
        }
    }
}

/// Names the figures of a type, and the parts that have figures of their own with the prefix of
/// their paths.
macro_rules! figures {
    (
        $part:ty { $($figure:ident),* $(,)? } $($prefix:literal $within:ident),*
    ) => {
        impl $crate::figure::Figures for $part {
            fn collect<'a>(&'a self, prefix: &str, reasons: &mut std::collections::BTreeMap<String, &'a $crate::Unknown>) {
                $(self.$figure.collect_as(format!("{prefix}{}", stringify!($figure)), reasons);)*
                $($crate::figure::Figures::collect(&self.$within, &format!("{prefix}{}", $prefix), reasons);)*
            }

            fn explain(&mut self, prefix: &str, reasons: &mut std::collections::BTreeMap<String, $crate::Unknown>) {
                $(self.$figure.explain_as(&format!("{prefix}{}", stringify!($figure)), reasons);)*
                $($crate::figure::Figures::explain(&mut self.$within, &format!("{prefix}{}", $prefix), reasons);)*
            }
        }
    };
}
pub(crate) use figures;

/// Names the figures of a record, as [`figures!`] does, and makes it write and read them with the
/// object `unknown`, after `worded` with its texts as well. Its fields are derived, with
/// `remote = "Self"`.
macro_rules! record {
    (worded $record:ident $($figures:tt)*) => {
        $crate::figure::record!($record, $crate::words::Worded::words, $($figures)*);
    };
    ($record:ident { $($figures:tt)* } $($within:tt)*) => {
        $crate::figure::record!($record, |_| (), { $($figures)* } $($within)*);
    };
    ($record:ident, $words:expr, $($figures:tt)*) => {
        $crate::figure::figures!($record $($figures)*);

        impl serde::Serialize for $record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                struct Fields<'a>(&'a $record);

                impl serde::Serialize for Fields<'_> {
                    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        $record::serialize(self.0, serializer)
                    }
                }

                let words = ($words)(self);
                let fields = $crate::words::Whole { fields: Fields(self), words };
                $crate::figure::Whole { fields, unknown: $crate::figure::Figures::reasons(self) }.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $record {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::figure::read(deserializer, |fields| $record::deserialize(fields))
            }
        }
    };
}
pub(crate) use record;

/// A record as it is written.
#[derive(Serialize)]
pub(crate) struct Whole<'a, F: Serialize> {
    #[serde(flatten)]
    pub(crate) fields: F,
    pub(crate) unknown: BTreeMap<String, &'a Unknown>,
}

/// The part of a record that [`Whole`] adds.
#[derive(Deserialize)]
struct Reasons {
    unknown: BTreeMap<String, Unknown>,
}

/// Reads the fields of a record, and then its reasons. A reason that belongs to no unknown figure
/// is dropped.
pub(crate) fn read<'de, R: Figures, D: Deserializer<'de>>(
    deserializer: D,
    fields: impl FnOnce(&Value) -> Result<R, serde_json::Error>,
) -> Result<R, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let mut record = fields(&value).map_err(Error::custom)?;
    let Reasons { mut unknown } = Reasons::deserialize(&value).map_err(Error::custom)?;
    record.explain("", &mut unknown);
    Ok(record)
}
