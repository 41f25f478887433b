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
    Int(i128),
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
            _ => Vec::new(),
        }
    }
    pub fn children_mut(&mut self) -> Vec<&mut Data> {
        match self {
            Data::List(items) | Data::Tuple(items) | Data::Set(items) | Data::Iterator(items) => items.iter_mut().collect(),
            Data::Dict(pairs) => pairs.iter_mut().flat_map(|(k, v)| [k, v]).collect(),
            Data::Function(inner) | Data::Stream(inner) | Data::File(inner) => vec![inner],
            Data::Object(attributes) => attributes.iter_mut().map(|(_, v)| v).collect(),
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
