//! What is known of parameters where the language does not declare types: names, defaults, and the shapes that annotations, defaults and the body's
//! own use of a parameter suggest. Suggestions only: any value may be passed.

use super::TypeId;
use crate::testcase::data::Data;

/// How a parameter takes its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Taking {
    #[default]
    Any,
    PositionalOnly,
    KeywordOnly,
    /// All further positional arguments, as one list.
    Rest,
    /// All further named arguments, as one dictionary.
    RestNamed,
}

/// See the module documentation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parameter {
    pub name: String,
    pub taking: Taking,
    /// It may be left out.
    pub optional: bool,
    pub shapes: Vec<Shape>,
}

impl Parameter {
    /// Whether one argument at its place is its value.
    pub fn by_place(&self) -> bool {
        matches!(self.taking, Taking::Any | Taking::PositionalOnly)
    }
}

/// What a value may look like.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Any,
    None,
    Bool,
    Int,
    Float,
    Str,
    Bytes,
    List(Box<Shape>),
    Tuple(Vec<Shape>),
    Set(Box<Shape>),
    Dict(Box<(Shape, Shape)>),
    Iterator(Box<Shape>),
    Function,
    Stream,
    File,
    Instance(TypeId),
    /// The class itself, not an object of it.
    Class(TypeId),
    /// Something with these attributes or methods.
    Having(Vec<String>),
    /// A certain value: a default, something it is compared with.
    Value(Data),
}
