//! Types of values: primitives, references, arrays of either.

use serde::{Deserialize, Serialize};

use super::{Program, TypeId};

/// Primitive types; languages without them use none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Prim {
    Bool,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
}

/// What stands below the array dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Base {
    Void,
    Prim(Prim),
    Ref(TypeId),
}

/// A value's type; `dims` is the number of array dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Ty {
    pub base: Base,
    pub dims: u8,
}

/// Whether a value may stand where a type is asked for; "maybe" is settled by what executions showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assignability {
    Yes,
    No,
    Maybe,
}

impl Ty {
    pub const VOID: Ty = Ty { base: Base::Void, dims: 0 };
    pub const BOOL: Ty = Ty::prim(Prim::Bool);
    pub const INT: Ty = Ty::prim(Prim::Int);

    pub const fn prim(p: Prim) -> Ty {
        Ty { base: Base::Prim(p), dims: 0 }
    }
    pub const fn reference(t: TypeId) -> Ty {
        Ty { base: Base::Ref(t), dims: 0 }
    }
    pub fn array_of(self) -> Ty {
        Ty { base: self.base, dims: self.dims.saturating_add(1) }
    }
    /// The element type of an array.
    pub fn element(self) -> Option<Ty> {
        (self.dims > 0).then(|| Ty { base: self.base, dims: self.dims - 1 })
    }
    pub fn is_void(self) -> bool {
        self == Ty::VOID
    }
    pub fn is_array(self) -> bool {
        self.dims > 0
    }
    pub fn as_prim(self) -> Option<Prim> {
        match (self.base, self.dims) {
            (Base::Prim(p), 0) => Some(p),
            _ => None,
        }
    }
    /// The class or interface, if this is a plain reference.
    pub fn as_ref(self) -> Option<TypeId> {
        match (self.base, self.dims) {
            (Base::Ref(t), 0) => Some(t),
            _ => None,
        }
    }
    pub fn is_reference(self) -> bool {
        self.dims > 0 || matches!(self.base, Base::Ref(_))
    }
}

impl Program {
    /// Whether a value of static type `from` may be passed where `to` is declared.
    /// Primitives must be equal (widening is the renderer's business); where a cast may succeed it is `Maybe`: from a supertype, or where one of two
    /// unrelated types is an interface that a subclass of the other may implement.
    pub fn assignable(&self, from: Ty, to: Ty) -> Assignability {
        if from == to {
            return Assignability::Yes;
        }
        if !from.is_reference() || !to.is_reference() {
            return Assignability::No;
        }
        if self.is_dynamic() {
            return self.dynamically(from, to);
        }
        if self.is_widening(from, to) {
            Assignability::Yes
        } else if self.is_widening(to, from) || self.may_have_common_subtype(from, to) {
            Assignability::Maybe
        } else {
            Assignability::No
        }
    }

    /// Without declared types a parameter takes anything, and a value of unknown type may be what a receiver has to be.
    fn dynamically(&self, from: Ty, to: Ty) -> Assignability {
        let object = self.well_known().object;
        if to == object || self.is_widening(from, to) {
            Assignability::Yes
        } else if from == object {
            Assignability::Maybe
        } else {
            Assignability::No
        }
    }

    fn may_have_common_subtype(&self, from: Ty, to: Ty) -> bool {
        let (Some(a), Some(b)) = (from.as_ref(), to.as_ref()) else { return false };
        let (a, b) = (self.ty(a).flags, self.ty(b).flags);
        let interface = super::Flags::INTERFACE;
        (a.has(interface) || b.has(interface)) && !a.has(super::Flags::FINAL) && !b.has(super::Flags::FINAL)
    }

    fn is_widening(&self, from: Ty, to: Ty) -> bool {
        if from.dims == to.dims {
            return match (from.base, to.base) {
                (Base::Ref(a), Base::Ref(b)) => self.is_subtype(a, b),
                (a, b) => a == b,
            };
        }
        // arrays are objects: any array stands where the root type is asked for
        from.dims > to.dims
            && matches!(to.base, Base::Ref(t) if self.ty(t).superclass.is_none() && !self.ty(t).missing && !self.ty(t).flags.has(super::Flags::INTERFACE))
    }
}
