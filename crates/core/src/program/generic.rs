//! What generic declarations tell of parameters. Types are erased everywhere else; this only says what a container is worth being filled with.

use super::Ty;

/// How a parameter is declared, beyond its erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generic {
    /// As its erasure.
    Plain,
    /// The type parameter of that number of the class that declares the method.
    Variable(usize),
    /// With these type arguments; `None` where one tells nothing.
    With(Box<[Option<Ty>]>),
}
