//! Reads a program text. Total: any text gives trees or the first error with its line.

use std::sync::Arc;

use super::syntax::{Atom, Class, Cond, Expr, Field, Kind, Method, Path, Stmt, TypeName};
use super::{Error, NEW};
use crate::program::ir::{BinOp, Relation};

/// Blocks nested deeper than this are refused, so that recursion is bounded.
const MAX_NESTING: u32 = 50;

const SYMBOLS: [&str; 18] = ["==", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "(", ")", "{", "}", "[", "]", ",", "."];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Int(i64),
    Str(String),
    Symbol(&'static str),
}

/// A whole text.
pub struct Parsed {
    pub classes: Vec<Class>,
    /// Names behind `throw` and `wrap`.
    pub exceptions: Vec<String>,
}

pub fn parse(text: &str) -> Result<Parsed, Error> {
    let mut tokens = Vec::new();
    for (line, content) in (1u32..).zip(text.lines()) {
        tokenize(content, line, &mut tokens)?;
    }
    let last = text.lines().count() as u32;
    let mut parser = Parser { tokens, at: 0, last, depth: 0, exceptions: Vec::new() };
    let mut classes = Vec::new();
    while parser.at < parser.tokens.len() {
        classes.push(parser.class()?);
    }
    Ok(Parsed { classes, exceptions: parser.exceptions })
}

fn tokenize(content: &str, line: u32, out: &mut Vec<(Token, u32)>) -> Result<(), Error> {
    let mut rest = content.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '#' => break,
            '"' => string(&rest[1..], line)?,
            c if c.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let value = rest[..end].parse().map_err(|_| Error::new(line, "this number is too large"))?;
                (Token::Int(value), &rest[end..])
            }
            c if c.is_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Token::Word(rest[..end].to_string()), &rest[end..])
            }
            c => {
                let symbol = SYMBOLS.into_iter().find(|s| rest.starts_with(s)).ok_or_else(|| Error::new(line, format!("{c:?} means nothing here")))?;
                (Token::Symbol(symbol), &rest[symbol.len()..])
            }
        };
        out.push((token, line));
        rest = after.trim_start();
    }
    Ok(())
}

/// A string literal behind its opening quote, with the escapes of [`str::escape_default`].
fn string(text: &str, line: u32) -> Result<(Token, &str), Error> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Str(value), &text[at + 1..])),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('u') => {
                    let hex: String = chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    value.push(code.ok_or_else(|| Error::new(line, "no such character"))?);
                }
                Some(c) => value.push(c),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err(Error::new(line, "this string does not end"))
}

struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    last: u32,
    depth: u32,
    exceptions: Vec<String>,
}

impl Parser {
    fn line(&self) -> u32 {
        self.tokens.get(self.at).map_or(self.last, |(_, line)| *line)
    }
    fn error<T>(&self, expected: &str) -> Result<T, Error> {
        Err(Error::new(self.line(), format!("expected {expected}")))
    }
    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.tokens.get(self.at), Some((Token::Symbol(s), _)) if *s == symbol)
    }
    fn symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }
    fn expect(&mut self, symbol: &str) -> Result<(), Error> {
        if self.symbol(symbol) { Ok(()) } else { self.error(&format!("`{symbol}`")) }
    }
    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((Token::Word(w), _)) if w == word);
        self.at += usize::from(found);
        found
    }
    fn name(&mut self) -> Result<String, Error> {
        match self.tokens.get(self.at) {
            Some((Token::Word(name), _)) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => self.error("a name"),
        }
    }

    fn exception(&mut self) -> Result<String, Error> {
        let name = self.name()?;
        self.exceptions.push(name.clone());
        Ok(name)
    }

    fn class(&mut self) -> Result<Class, Error> {
        let is_abstract = self.word("abstract");
        let line = self.line();
        if !self.word("class") {
            return self.error("`class`");
        }
        let name = self.name()?;
        let superclass = if self.word("extends") { Some(self.name()?) } else { None };
        let mut class = Class { name, line, superclass, is_abstract, fields: Vec::new(), methods: Vec::new() };
        self.expect("{")?;
        while !self.symbol("}") {
            self.member(&mut class)?;
        }
        Ok(class)
    }

    fn member(&mut self, class: &mut Class) -> Result<(), Error> {
        let private = self.word("private");
        let is_static = self.word("static");
        if self.word("field") {
            class.fields.push(Field { name: self.name()?, ty: self.ty()?, private, is_static });
            return Ok(());
        }
        let name = match (self.word(NEW), self.word("method")) {
            (true, false) => NEW.to_string(),
            (false, true) => self.name()?,
            _ => return self.error("`field`, `method` or `new`"),
        };
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.symbol(")") {
            params.push((self.name()?, self.ty()?));
            if !self.is_symbol(")") {
                self.expect(",")?;
            }
        }
        let ret = if self.is_symbol("{") { None } else { Some(self.ty()?) };
        let (body, end) = self.block()?;
        class.methods.push(Method { name, params, ret, private, is_static, body, end });
        Ok(())
    }

    fn ty(&mut self) -> Result<TypeName, Error> {
        let base = self.name()?;
        let array = self.symbol("[");
        if array {
            self.expect("]")?;
        }
        Ok(TypeName { base, array })
    }

    /// Statements between braces, and the line of the closing one.
    fn block(&mut self) -> Result<(Vec<Stmt>, u32), Error> {
        self.expect("{")?;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return self.error("fewer nested blocks");
        }
        let mut stmts = Vec::new();
        loop {
            let line = self.line();
            if self.symbol("}") {
                self.depth -= 1;
                return Ok((stmts, line));
            }
            stmts.push(self.stmt()?);
            if self.at > 0 && !self.is_symbol("}") && self.tokens.get(self.at - 1).is_some_and(|(_, l)| *l == self.line()) {
                return self.error("one statement on a line");
            }
        }
    }

    fn stmt(&mut self) -> Result<Stmt, Error> {
        let line = self.line();
        let kind = if self.word("if") {
            Kind::If(self.cond()?, self.guarded()?)
        } else if self.word("while") {
            Kind::While(self.cond()?, self.block()?.0)
        } else if self.word("try") {
            let (block, line) = self.block()?;
            if !self.word("wrap") {
                return self.error("`wrap`");
            }
            Kind::Wrap { block, exception: self.exception()?, line }
        } else {
            self.simple()?
        };
        Ok(Stmt { line, kind })
    }

    /// A block, or one simple statement on the same line.
    fn guarded(&mut self) -> Result<Vec<Stmt>, Error> {
        if self.is_symbol("{") {
            return Ok(self.block()?.0);
        }
        Ok(vec![Stmt { line: self.line(), kind: self.simple()? }])
    }

    fn simple(&mut self) -> Result<Kind, Error> {
        let line = self.line();
        if self.word("throw") {
            return Ok(Kind::Throw(self.exception()?));
        }
        if self.word("return") {
            let value = self.line() == line && !self.is_symbol("}") && self.at < self.tokens.len();
            return Ok(Kind::Return(if value { Some(self.expr()?) } else { None }));
        }
        let expr = self.expr()?;
        match expr {
            Expr::Atom(Atom::Path(path)) if self.symbol("=") => Ok(Kind::Assign(path, self.expr()?)),
            Expr::New(..) | Expr::Call(..) => Ok(Kind::Do(expr)),
            _ => self.error("an assignment or a call"),
        }
    }

    fn cond(&mut self) -> Result<Cond, Error> {
        let left = self.atom()?;
        const RELATIONS: [(&str, Relation); 6] =
            [("==", Relation::Eq), ("!=", Relation::Ne), ("<=", Relation::Le), (">=", Relation::Ge), ("<", Relation::Lt), (">", Relation::Gt)];
        match RELATIONS.into_iter().find(|(symbol, _)| self.symbol(symbol)) {
            Some((_, relation)) => Ok(Cond { left, relation, right: self.atom()? }),
            None => self.error("a comparison"),
        }
    }

    fn expr(&mut self) -> Result<Expr, Error> {
        if self.word("new") {
            let class = self.name()?;
            return Ok(Expr::New(class, self.args()?));
        }
        let left = self.atom()?;
        if let (Atom::Path(path), true) = (&left, self.is_symbol("(")) {
            return Ok(Expr::Call(path.clone(), self.args()?));
        }
        match [("+", BinOp::Add), ("-", BinOp::Sub), ("*", BinOp::Mul)].into_iter().find(|(symbol, _)| self.symbol(symbol)) {
            Some((_, op)) => Ok(Expr::Binary(left, op, self.atom()?)),
            None => Ok(Expr::Atom(left)),
        }
    }

    fn args(&mut self) -> Result<Vec<Atom>, Error> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.symbol(")") {
            args.push(self.atom()?);
            if !self.is_symbol(")") {
                self.expect(",")?;
            }
        }
        Ok(args)
    }

    fn atom(&mut self) -> Result<Atom, Error> {
        let negative = self.symbol("-");
        match self.tokens.get(self.at).map(|(token, _)| token.clone()) {
            Some(Token::Int(value)) => {
                self.at += 1;
                let value = if negative { -value } else { value };
                i32::try_from(value).map(Atom::Int).map_err(|_| Error::new(self.line(), "this number is too large"))
            }
            _ if negative => self.error("a number"),
            Some(Token::Str(text)) => {
                self.at += 1;
                Ok(Atom::Str(Arc::from(text)))
            }
            _ if self.word("null") => Ok(Atom::Null),
            _ => Ok(Atom::Path(self.path()?)),
        }
    }

    fn path(&mut self) -> Result<Path, Error> {
        let mut path = vec![self.name()?];
        while self.symbol(".") {
            path.push(self.name()?);
        }
        Ok(path)
    }
}
