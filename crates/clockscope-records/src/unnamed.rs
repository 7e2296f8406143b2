//! Data that a later program wrote and this one does not know.

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, IntoDeserializer, value};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that this program does not know: the keys that a later program wrote, as they were
/// read. They are written again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Unnamed(Map<String, Value>);

impl Unnamed {
    /// What it is called where its writer has no words for it.
    pub const NAME: &str = "something this program does not know";

    /// Returns the text under a key; `None` if there is none.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    /// Reads the keys of an object. It needs a word under `tag`, by which a program that knows it
    /// finds out what it is. The object `unknown` belongs to the record around it.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D, tag: &str) -> Result<Self, D::Error> {
        let mut keys = Map::deserialize(deserializer)?;
        keys.remove("unknown");
        match keys.get(tag) {
            Some(Value::String(_)) => Ok(Self(keys)),
            _ => Err(Error::custom(format!("there is no \"{tag}\""))),
        }
    }
}

/// Reads a word; `None` for `null`, and for the word of a later program. The sentence beside it
/// says the same.
pub(crate) fn known_word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let known = |word: String| {
        let word: value::StringDeserializer<value::Error> = word.into_deserializer();
        T::deserialize(word).ok()
    };
    Ok(Option::<String>::deserialize(deserializer)?.and_then(known))
}
