//! Register code with explicit exception edges.
/// Placeholder until lowering lands.
#[derive(Debug, Default)]
pub struct Body {}
impl Body {
    pub fn lines(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        std::iter::empty()
    }
}
impl Body {
    pub fn literals(&self) -> Vec<super::Literal> {
        Vec::new()
    }
    pub fn casts_of_param(&self, _i: usize) -> Vec<super::Ty> {
        Vec::new()
    }
    pub fn creates(&self, _t: super::TypeId) -> bool {
        false
    }
}
impl super::Program {
    pub fn callers_in(&self, _t: super::TypeId, _m: super::MethodId) -> Vec<super::MethodId> {
        Vec::new()
    }
}
