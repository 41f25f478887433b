//! Values of languages that do not declare types: a nested value is one literal, so that variation sees its structure and a test shows it in one place.
//!
//! How such a value is written or built is the language's business; what is worth trying is that of `build/dynamic`.

use serde::{Deserialize, Serialize};

use super::Var;

/// A value. Floats compare by bits, so that equality and hashing are total.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Data {
    None,
    Bool(bool),
    Int(#[serde(with = "whole")] i128),
    Float(u64),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Data>),
    Tuple(Vec<Data>),
    Set(Vec<Data>),
    Dict(Vec<(Data, Data)>),
    /// The value of an earlier statement.
    Var(Var),
    /// Not a value: the parameter is left to its default. Stands only directly as an argument.
    Absent,
    /// A function that returns this whatever it is given.
    Function(Box<Data>),
    /// An iterator over these, to be used once.
    Iterator(Vec<Data>),
    /// A stream open for reading with this content, text or bytes.
    Stream(Box<Data>),
    /// The path of a temporary file with this content, text or bytes.
    File(Box<Data>),
    /// An object with these attributes and nothing else.
    Object(Vec<(String, Data)>),
    /// A class of the test's own, derived from these, with these members: what declarative libraries are given.
    Class {
        bases: Vec<Data>,
        members: Vec<(String, Data)>,
        /// The members whose types it declares are its fields, and its objects are made of them.
        #[serde(default)]
        record: bool,
    },
    /// What a class of the test's own makes of these.
    Made {
        class: Box<Data>,
        args: Vec<Data>,
    },
    /// A type with arguments: a list of numbers.
    Of {
        class: Box<Data>,
        args: Vec<Data>,
    },
}

/// Whole numbers in records: serde's buffers, through which tagged values pass, have no 128 bits, so a number too large for 64 is written as text.
mod whole {
    use serde::de::{Error, Visitor};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(v: &i128, s: S) -> Result<S::Ok, S::Error> {
        match (s.is_human_readable(), i64::try_from(*v)) {
            (false, _) => s.serialize_i128(*v),
            (true, Ok(small)) => s.serialize_i64(small),
            (true, Err(_)) => s.collect_str(v),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<i128, D::Error> {
        if d.is_human_readable() { d.deserialize_any(Whole) } else { i128::deserialize(d) }
    }

    struct Whole;

    impl Visitor<'_> for Whole {
        type Value = i128;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a whole number")
        }
        fn visit_i64<E: Error>(self, v: i64) -> Result<i128, E> {
            Ok(i128::from(v))
        }
        fn visit_u64<E: Error>(self, v: u64) -> Result<i128, E> {
            Ok(i128::from(v))
        }
        fn visit_i128<E: Error>(self, v: i128) -> Result<i128, E> {
            Ok(v)
        }
        fn visit_str<E: Error>(self, v: &str) -> Result<i128, E> {
            v.parse().map_err(|_| E::custom("no whole number"))
        }
    }
}

impl Data {
    pub fn float(v: f64) -> Data {
        Data::Float(v.to_bits())
    }
    pub fn text(s: impl Into<String>) -> Data {
        Data::Str(s.into())
    }
    /// The values directly inside.
    pub fn children(&self) -> Vec<&Data> {
        match self {
            Data::List(items) | Data::Tuple(items) | Data::Set(items) | Data::Iterator(items) => items.iter().collect(),
            Data::Dict(pairs) => pairs.iter().flat_map(|(k, v)| [k, v]).collect(),
            Data::Function(inner) | Data::Stream(inner) | Data::File(inner) => vec![inner],
            Data::Object(attributes) => attributes.iter().map(|(_, v)| v).collect(),
            Data::Class { bases, members, .. } => bases.iter().chain(members.iter().map(|(_, v)| v)).collect(),
            Data::Made { class, args } | Data::Of { class, args } => std::iter::once(&**class).chain(args).collect(),
            _ => Vec::new(),
        }
    }
    pub fn children_mut(&mut self) -> Vec<&mut Data> {
        match self {
            Data::List(items) | Data::Tuple(items) | Data::Set(items) | Data::Iterator(items) => items.iter_mut().collect(),
            Data::Dict(pairs) => pairs.iter_mut().flat_map(|(k, v)| [k, v]).collect(),
            Data::Function(inner) | Data::Stream(inner) | Data::File(inner) => vec![inner],
            Data::Object(attributes) => attributes.iter_mut().map(|(_, v)| v).collect(),
            Data::Class { bases, members, .. } => bases.iter_mut().chain(members.iter_mut().map(|(_, v)| v)).collect(),
            Data::Made { class, args } | Data::Of { class, args } => std::iter::once(&mut **class).chain(args).collect(),
            _ => Vec::new(),
        }
    }
    /// How many values it is made of, itself included.
    pub fn size(&self) -> usize {
        1 + self.children().into_iter().map(Data::size).sum::<usize>()
    }
    /// The values of other statements it refers to, in order.
    pub fn vars(&self, out: &mut Vec<Var>) {
        if let Data::Var(v) = self {
            out.push(*v);
        }
        self.children().into_iter().for_each(|c| c.vars(out));
    }
    pub fn vars_mut<'d>(&'d mut self, out: &mut Vec<&'d mut Var>) {
        if let Data::Var(v) = self {
            out.push(v);
            return;
        }
        self.children_mut().into_iter().for_each(|c| c.vars_mut(out));
    }
    pub fn has_none(&self) -> bool {
        matches!(self, Data::None) || self.children().into_iter().any(Data::has_none)
    }
    pub fn has_vars(&self) -> bool {
        matches!(self, Data::Var(_)) || self.children().into_iter().any(Data::has_vars)
    }
    /// Number `n` in the order self, then children.
    pub fn nth(&self, n: usize) -> Option<&Data> {
        self.walk(&mut { n })
    }
    fn walk(&self, n: &mut usize) -> Option<&Data> {
        if *n == 0 {
            return Some(self);
        }
        *n -= 1;
        self.children().into_iter().find_map(|c| c.walk(n))
    }
    pub fn nth_mut(&mut self, n: usize) -> Option<&mut Data> {
        self.walk_mut(&mut { n })
    }
    fn walk_mut(&mut self, n: &mut usize) -> Option<&mut Data> {
        if *n == 0 {
            return Some(self);
        }
        *n -= 1;
        self.children_mut().into_iter().find_map(|c| c.walk_mut(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_inside_has_one_number_and_its_variables_are_found() {
        let mut data = Data::Dict(vec![(Data::text("a"), Data::List(vec![Data::Int(1), Data::Var(Var(3))])), (Data::None, Data::Tuple(vec![]))]);
        assert_eq!(data.size(), 7);
        let all: Vec<Data> = (0..7).map(|n| data.nth(n).cloned().expect("below its size")).collect();
        assert_eq!(all[3], Data::Int(1));
        assert_eq!(data.nth(7), None);
        assert!((0..7).all(|n| data.nth_mut(n).map(|d| d.clone()) == Some(all[n].clone())));
        let mut vars = Vec::new();
        data.vars_mut(&mut vars);
        *vars[0] = Var(9);
        let mut seen = Vec::new();
        data.vars(&mut seen);
        assert_eq!(seen, [Var(9)]);
    }
}
