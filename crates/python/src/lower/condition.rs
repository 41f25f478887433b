//! Conditions: short circuits as branches, each with its own place.

use rethrow_core::program::ir::{BlockId, Edge, EdgeKind, Hazards, Op, Operand, Reg, Relation};
use ruff_python_ast::{BoolOp, Expr, UnaryOp};
use ruff_text_size::Ranged;

use super::statement::Lowerer;

impl<'a> Lowerer<'a> {
    /// Goes to `yes` if the expression is true, else to `no`; nothing is current afterwards.
    pub fn condition(&mut self, expr: &'a Expr, yes: BlockId, no: BlockId) {
        if !self.enter() {
            self.leaf(expr, yes, no);
            return;
        }
        stacker::maybe_grow(128 << 10, 4 << 20, || self.condition_inner(expr, yes, no));
        self.leave();
    }

    fn condition_inner(&mut self, expr: &'a Expr, yes: BlockId, no: BlockId) {
        match expr {
            Expr::BoolOp(e) => {
                let Some((last, first)) = e.values.split_last() else { return self.jump(no) };
                for value in first {
                    let next = self.new_block();
                    match e.op {
                        BoolOp::And => self.condition(value, next, no),
                        BoolOp::Or => self.condition(value, yes, next),
                    }
                    self.go(next);
                }
                self.condition(last, yes, no);
            }
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => self.condition(&e.operand, no, yes),
            Expr::If(e) => {
                let (then, other) = (self.new_block(), self.new_block());
                self.condition(&e.test, then, other);
                self.go(then);
                self.condition(&e.body, yes, no);
                self.go(other);
                self.condition(&e.orelse, yes, no);
            }
            Expr::BooleanLiteral(e) => self.jump(if e.value { yes } else { no }),
            Expr::NumberLiteral(e) if matches!(&e.value, ruff_python_ast::Number::Int(i) if i.as_i64() == Some(1)) => self.jump(yes),
            _ => self.leaf(expr, yes, no),
        }
    }

    fn leaf(&mut self, expr: &'a Expr, yes: BlockId, no: BlockId) {
        let value = self.expr(expr);
        self.branch(value, expr.range().start().to_u32(), yes, no);
    }

    /// Ends the block with a branch that stands at `pc`.
    pub fn branch(&mut self, value: Reg, pc: u32, yes: BlockId, no: BlockId) {
        if !self.quiet && !self.branches.contains(&pc) {
            self.branches.push(pc);
        }
        let line = self.lines.position(pc).0;
        let hazards = Hazards::CAST.with(Hazards::CALL);
        self.emit_at(Op::If { left: value, relation: Relation::Ne, right: Operand::Zero }, hazards, pc, line);
        self.end(vec![Edge { to: yes, kind: EdgeKind::Branch { taken: true } }, Edge { to: no, kind: EdgeKind::Branch { taken: false } }]);
    }
}
