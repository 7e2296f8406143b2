//! Texts that a record makes of its data. JSON has them beside it; readers ignore them.

use serde::Serialize;

/// A record with texts.
pub(crate) trait Worded {
    /// Its texts, by the keys of JSON.
    type Words: Serialize;

    /// Makes them.
    fn words(&self) -> Self::Words;
}

/// Declares the texts of a record: the keys, and the function that makes each. The record derives
/// `remote = "Self"` and `transform = add_words::<Self>`, and is followed by [`written!`].
macro_rules! worded {
    ($record:ident { $($(#[$about:meta])* $key:ident: $of:ty = $make:expr,)+ }) => {
        const _: () = {
            #[derive(serde::Serialize)]
            #[cfg_attr(test, derive(schemars::JsonSchema))]
            pub(crate) struct Words {
                $($(#[$about])* $key: $of,)+
            }

            impl $crate::words::Worded for $record {
                type Words = Words;

                fn words(&self) -> Words {
                    Words { $($key: ($make)(self),)+ }
                }
            }
        };
    };
}
pub(crate) use worded;

/// Writes the texts of a record beside its fields.
macro_rules! written {
    ($record:ident) => {
        impl serde::Serialize for $record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                struct Fields<'a>(&'a $record);

                impl serde::Serialize for Fields<'_> {
                    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        $record::serialize(self.0, serializer)
                    }
                }

                let words = $crate::words::Worded::words(self);
                $crate::words::Whole { fields: Fields(self), words }.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $record {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $record::deserialize(deserializer)
            }
        }
    };
}
pub(crate) use written;

/// Fields and texts of a record.
#[derive(Serialize)]
pub(crate) struct Whole<F: Serialize, W: Serialize> {
    #[serde(flatten)]
    pub(crate) fields: F,
    #[serde(flatten)]
    pub(crate) words: W,
}
