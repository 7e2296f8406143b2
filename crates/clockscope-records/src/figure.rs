//! Figures that may be unknown, with their reasons.
//!
//! JSON has `null` for an unknown figure, so that readers with types see one type, and its reason
//! beside it: in the object `unknown` next to it, under the figure's key. Records serialize a
//! reason in the figure's place; [`put_beside`] and [`put_in_place`] move the reasons of a whole
//! document.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Unknown;
use crate::typed::read;

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

/// The key of a reason that stands in the place of its figure.
const IN_PLACE: &str = "$unknown";
/// The key beside it for what JSON has instead of `null`.
const INSTEAD: &str = "$instead";
/// The key of the reasons that stand beside their figures.
pub(crate) const BESIDE: &str = "unknown";

/// Writes the value, or the reason in its place.
impl<T: Serialize> Serialize for Figure<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(value) => value.serialize(serializer),
            Self::Unknown(Unknown::Unrecorded) => serializer.serialize_none(),
            Self::Unknown(reason) => BTreeMap::from([(IN_PLACE, reason)]).serialize(serializer),
        }
    }
}

/// Reads the value, or the reason in its place. A figure that is missing, or `null`, has none.
impl<'de, T: DeserializeOwned> Deserialize<'de> for Figure<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(value) = Option::<Value>::deserialize(deserializer)? else { return Ok(Self::default()) };
        match value.get(IN_PLACE) {
            Some(reason) => read(reason).map(Self::Unknown),
            None => read(&value).map(Self::Known),
        }
        .map_err(D::Error::custom)
    }
}

/// A list of which it is known why it is empty: `[]` in JSON instead of `null`.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        list: &Figure<Vec<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let empty: [(); 0] = [];
        match list {
            Figure::Known(list) => list.serialize(serializer),
            Figure::Unknown(Unknown::Unrecorded) => empty.serialize(serializer),
            Figure::Unknown(reason) => {
                let mut marked = serializer.serialize_map(Some(2))?;
                marked.serialize_entry(IN_PLACE, reason)?;
                marked.serialize_entry(INSTEAD, &empty)?;
                marked.end()
            }
        }
    }

    pub(crate) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Figure<Vec<T>>, D::Error> {
        let list = Figure::<Vec<T>>::deserialize(deserializer)?;
        let is_empty = list.known().is_some_and(Vec::is_empty);
        Ok(if is_empty { Figure::default() } else { list })
    }
}

/// Moves the reasons of all unknown figures beside them: `{"a": {"$unknown": reason}}` becomes
/// `{"a": null, "unknown": {"a": reason}}`.
pub(crate) fn put_beside(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(put_beside),
        Value::Object(object) => {
            let mut reasons = Map::new();
            for (key, figure) in object.iter_mut() {
                match take_reason(figure) {
                    Some(reason) => {
                        reasons.insert(key.clone(), reason);
                    }
                    None => put_beside(figure),
                }
            }
            if !reasons.is_empty() {
                object.insert(BESIDE.to_owned(), reasons.into());
            }
        }
        _ => {}
    }
}

/// Takes the reason that stands in a figure's place, and leaves there what JSON has instead.
fn take_reason(figure: &mut Value) -> Option<Value> {
    let marked = figure.as_object_mut()?;
    let reason = marked.remove(IN_PLACE)?;
    *figure = marked.remove(INSTEAD).unwrap_or(Value::Null);
    Some(reason)
}

/// Moves the reasons that stand beside figures into their places: undoes [`put_beside`]. A reason
/// of a figure that is known, or not there, is dropped. A type whose field is not a [`Figure`]
/// refuses one in its place.
///
/// # Errors
/// The path of an object `unknown` that holds something else than reasons, and what is wrong.
pub(crate) fn put_in_place(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Array(values) => {
            let mut values = values.iter_mut().enumerate();
            values.try_for_each(|(index, value)| put_in_place(value).map_err(|error| format!("[{index}]{error}")))
        }
        Value::Object(object) => {
            let reasons = object.remove(BESIDE);
            let checked = reasons.as_ref().map(read::<BTreeMap<String, Unknown>, _>).transpose();
            checked.map_err(|error| format!(".{BESIDE}{error}"))?;
            for (key, value) in object.iter_mut() {
                put_in_place(value).map_err(|error| format!(".{key}{error}"))?;
            }
            let reasons = reasons.as_ref().and_then(Value::as_object).into_iter().flatten();
            for (key, reason) in reasons {
                let figure = object.get_mut(key);
                if let Some(figure) = figure.filter(|figure| figure.is_null() || **figure == Value::Array(Vec::new())) {
                    *figure = Value::Object(Map::from_iter([(IN_PLACE.to_owned(), reason.clone())]));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns why figures of a record are unknown, as sentences, by their paths: `events.jump`.
pub fn reasons(record: &impl Serialize) -> BTreeMap<String, String> {
    let mut reasons = BTreeMap::new();
    match serde_json::to_value(record) {
        Ok(value) => collect(&value, "", &mut reasons),
        // Never taken for a record without unknown figures.
        Err(error) => drop(reasons.insert(String::new(), error.to_string())),
    }
    reasons
}

fn collect(value: &Value, path: &str, reasons: &mut BTreeMap<String, String>) {
    let Some(object) = value.as_object() else { return };
    if let Some(reason) = object.get(IN_PLACE) {
        reasons.insert(path.to_owned(), reason["text"].as_str().unwrap_or_default().to_owned());
        return;
    }
    for (key, value) in object {
        let dot = if path.is_empty() { "" } else { "." };
        collect(value, &format!("{path}{dot}{key}"), reasons);
    }
}
