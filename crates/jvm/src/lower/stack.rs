//! The operand stack during lowering: what kind of value each slot holds, and in which register.

use rethrow_core::program::ir::Reg;

use crate::classfile::insn::Kind;

/// What is known of a value without data flow between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Int,
    Long,
    Float,
    Double,
    Ref,
    /// A reference that cannot be null: `this`, a new object, a constant.
    NonNull,
    /// Where the subroutine of that context returns to.
    ReturnAddress(u32),
}

impl Value {
    pub fn of(kind: Kind) -> Value {
        match kind {
            Kind::Int => Value::Int,
            Kind::Long => Value::Long,
            Kind::Float => Value::Float,
            Kind::Double => Value::Double,
            Kind::Ref => Value::Ref,
        }
    }

    pub fn words(self) -> u32 {
        if matches!(self, Value::Long | Value::Double) { 2 } else { 1 }
    }

    /// What another block may rely on.
    fn forget(self) -> Value {
        if self == Value::NonNull { Value::Ref } else { self }
    }
}

/// Values from the bottom, each with its register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stack {
    values: Vec<(Value, Reg)>,
    /// Register of the lowest slot.
    base: u32,
    words: u32,
    max_words: u32,
}

pub(super) type Outcome<T> = Result<T, &'static str>;

impl Stack {
    pub fn new(base: u32, max_words: u32) -> Stack {
        Stack { values: Vec::new(), base, words: 0, max_words }
    }

    /// As it is when a handler begins.
    pub fn with_exception(&self) -> Outcome<(Stack, Reg)> {
        let mut stack = Stack::new(self.base, self.max_words);
        let reg = stack.push(Value::Ref)?;
        Ok((stack, reg))
    }

    pub fn push(&mut self, value: Value) -> Outcome<Reg> {
        let reg = Reg(self.base + self.words);
        self.words += value.words();
        if self.words > self.max_words {
            return Err("operand stack overflow");
        }
        self.values.push((value, reg));
        Ok(reg)
    }

    pub fn pop(&mut self) -> Outcome<(Value, Reg)> {
        let (value, reg) = self.values.pop().ok_or("operand stack underflow")?;
        self.words -= value.words();
        Ok((value, reg))
    }

    /// The values in the topmost `words`, lowest first.
    pub fn take_words(&mut self, words: u32) -> Outcome<Vec<(Value, Reg)>> {
        let mut taken = Vec::new();
        let mut left = words;
        while left > 0 {
            let value = self.pop()?;
            left = left.checked_sub(value.0.words()).ok_or("a wide value is split")?;
            taken.push(value);
        }
        taken.reverse();
        Ok(taken)
    }

    /// For another block: without what holds only here.
    pub fn forget(&self) -> Stack {
        let values = self.values.iter().map(|(value, reg)| (value.forget(), *reg)).collect();
        Stack { values, ..*self }
    }

    /// Whether both paths into a block agree. Return addresses may differ where they are not used any more.
    pub fn fits(&self, other: &Stack) -> bool {
        let width = |v: &(Value, Reg)| (v.0.words(), v.1);
        self.values.len() == other.values.len() && self.values.iter().map(width).eq(other.values.iter().map(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_follow_the_words() {
        let mut stack = Stack::new(10, 4);
        assert_eq!(stack.push(Value::Int), Ok(Reg(10)));
        assert_eq!(stack.push(Value::Long), Ok(Reg(11)));
        assert_eq!(stack.push(Value::NonNull), Ok(Reg(13)));
        assert!(stack.clone().push(Value::Int).is_err());
        assert!(stack.clone().take_words(2).is_err(), "half a long");
        assert_eq!(stack.take_words(3).unwrap().len(), 2);
        assert_eq!(stack.pop(), Ok((Value::Int, Reg(10))));
        assert!(stack.pop().is_err());
    }

    #[test]
    fn paths_agree_by_width() {
        let (mut a, mut b) = (Stack::new(0, 4), Stack::new(0, 4));
        a.push(Value::NonNull).unwrap();
        b.push(Value::Ref).unwrap();
        assert!(a.fits(&b) && a.forget() == b);
        b.push(Value::Int).unwrap();
        assert!(!a.fits(&b));
        a.push(Value::Double).unwrap();
        assert!(!a.fits(&b));
    }
}
