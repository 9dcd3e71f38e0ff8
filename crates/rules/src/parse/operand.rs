//! Operands: fields with their arguments, transformers around them, functions of several arguments.

use crate::ast::{Argument, FUNCTIONS, Function, Operand, OperandKind, Right, TRANSFORMERS, Transformer};
use crate::limits::TRANSFORMERS_MAX;
use crate::options::Engine;
use crate::parse::{Parsed, Parser};

impl Parser<'_> {
    /// Parses a field or a transformer; `None` when neither is next.
    pub(super) fn operand(&mut self) -> Parsed<Option<Operand>> {
        let start = self.cursor.at();
        if let Some(by) = self.transformer() {
            return self.transformed(by, start).map(Some);
        }
        if let Some(by) = self.function_name()? {
            return self.function(by, start).map(Some);
        }
        self.field()
    }

    /// Parses a field or transformer on the right side; `None` when a constant must follow.
    pub(super) fn right_operand(&mut self) -> Parsed<Option<Right>> {
        let start = self.cursor.at();
        if let Some(by) = self.transformer() {
            return self.transformed(by, start).map(|operand| Some(Right::Transformed(operand)));
        }
        if let Some(by) = self.function_name()? {
            return self.function(by, start).map(|operand| Some(Right::Transformed(operand)));
        }
        if !self.cursor.eat("val(") {
            return Ok(None);
        }
        self.cursor.blank();
        let Some(field) = self.field()? else { return Err(self.expected("a field in `val(...)`")) };
        self.cursor.blank();
        self.close(")", "a `)` after the field of `val`")?;
        Ok(Some(Right::Val(field)))
    }

    fn transformer(&mut self) -> Option<Transformer> {
        let (name, transformer) = TRANSFORMERS.iter().find(|(name, _)| opens(self.cursor.rest(), name))?;
        self.cursor.eat(name);
        self.cursor.eat("(");
        Some(*transformer)
    }

    fn function_name(&mut self) -> Parsed<Option<Function>> {
        let Some((name, function)) = FUNCTIONS.iter().find(|(name, _)| opens(self.cursor.rest(), name))
        else {
            return Ok(None);
        };
        self.needs_0_44(name, self.cursor.at())?;
        self.cursor.eat(name);
        self.cursor.eat("(");
        Ok(Some(*function))
    }

    pub(super) fn needs_0_44(&self, name: &str, start: usize) -> Parsed<()> {
        if self.engine >= Engine::V0_44 {
            return Ok(());
        }
        let fault = self.fault(start, name.len(), format!("engine 0.43 does not know `{name}`"));
        Err(fault.help("use engine 0.44"))
    }

    /// Parses the rest of a function after its `(`.
    fn function(&mut self, by: Function, start: usize) -> Parsed<Operand> {
        self.depth += 1;
        self.limit(self.depth, TRANSFORMERS_MAX)?;
        let mut args = Vec::new();
        loop {
            self.cursor.blank();
            args.push(self.function_argument()?);
            self.cursor.blank();
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.close(")", "`,` or `)` among the arguments")?;
        self.depth -= 1;
        let option = self.brackets()?;
        let kind = OperandKind::Function { by, args, option };
        Ok(Operand { kind, place: self.text.place(start..self.cursor.at()) })
    }

    fn function_argument(&mut self) -> Parsed<Argument> {
        if self.cursor.rest().starts_with('(') {
            return self.list().map(Argument::List);
        }
        if self.cursor.rest().starts_with(['"', '\'']) {
            return self.string().map(Argument::Constant);
        }
        match self.operand()? {
            Some(operand) => Ok(Argument::Operand(operand)),
            None => self.string().map(Argument::Constant),
        }
    }

    /// Parses the rest of a transformer after its `(`.
    fn transformed(&mut self, by: Transformer, start: usize) -> Parsed<Operand> {
        self.depth += 1;
        self.limit(self.depth, TRANSFORMERS_MAX)?;
        self.cursor.blank();
        let Some(inner) = self.operand()? else {
            return Err(self.expected(&format!("a field in `{}(...)`", by.as_str())));
        };
        self.cursor.blank();
        self.close(")", "a `)` that closes the transformer")?;
        self.depth -= 1;
        let kind = OperandKind::Transformed { by, inner: Box::new(inner) };
        Ok(Operand { kind, place: self.text.place(start..self.cursor.at()) })
    }

    fn field(&mut self) -> Parsed<Option<Operand>> {
        let start = self.cursor.at();
        let Some(name) = self.cursor.field_name() else { return Ok(None) };
        let arg = self.brackets()?;
        let kind = OperandKind::Field { name: name.to_owned(), arg };
        Ok(Some(Operand { kind, place: self.text.place(start..self.cursor.at()) }))
    }

    /// Parses the text in brackets after a field, if there is any.
    fn brackets(&mut self) -> Parsed<Option<String>> {
        if !self.cursor.eat("[") {
            return Ok(None);
        }
        let quoted = if self.raw_arguments { None } else { self.quoted()? };
        let arg = match quoted {
            Some(arg) => Some(arg),
            None => self.cursor.bare_argument(self.raw_arguments).map(str::to_owned),
        };
        if arg.is_none() {
            return Err(self.expected("the field's argument"));
        }
        self.close("]", "a `]` after the field's argument")?;
        Ok(arg)
    }
}

/// Reports whether a name and `(` are next.
fn opens(rest: &str, name: &str) -> bool {
    rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
}
