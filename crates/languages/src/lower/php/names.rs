//! Meanings of names: namespaces, their abbreviations, and the declarations of the text.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use php_ast::resolve::{NameContext, NameResolver, ResolvedName, SpecialClass};
use php_ast::visitor::{Visitor, walk_class_member, walk_enum_member, walk_expr, walk_stmt};
use php_ast::{
    Arg, ClassMember, ClassMemberKind, EnumMember, EnumMemberKind, Expr, ExprKind, Name, NameKind, Param,
    Program, Stmt, StmtKind,
};

use super::super::Lower;
use crate::limits::SURVEY_DEPTH_MAX;

/// What surrounds a place in a program.
#[derive(Debug, Default)]
pub(in super::super) struct Surroundings {
    /// The namespace, and what `use` abbreviates.
    pub(super) names: NameResolver,
    /// Functions and constants that the text declares.
    declared: HashSet<String>,
    /// Functions and methods that may change their arguments.
    pub(super) changing: HashMap<String, Vec<usize>>,
    /// A function without a name may.
    pub(super) is_any_changing: bool,
    /// The classes around, the inmost last.
    pub(super) around: Vec<Around>,
}

/// A class around.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) name: Option<String>,
    pub(super) base: Option<String>,
    /// The method around has no object.
    pub(super) is_static: bool,
    /// Its members stand around, and no body of a function.
    pub(super) is_near: bool,
}

/// How a class is named in the tree and in tables, by its whole name.
pub(crate) fn class_name(written: &str) -> String {
    let name = function_name(written);
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// How a function is named in the tree and in tables, by its whole name.
pub(crate) fn function_name(written: &str) -> String {
    written.trim_start_matches('\\').replace('\\', "/").to_ascii_lowercase()
}

/// How a constant is named in the tree, by the last part of its name.
pub(super) fn constant(written: &str) -> String {
    format!("#{}", written.rsplit('\\').next().unwrap_or_default())
}

/// The text of a name in an expression.
pub(super) fn written(node: &Expr<'_, '_>) -> Option<String> {
    match &node.kind {
        ExprKind::Identifier(name) => Some(name.as_str().to_owned()),
        ExprKind::Name(name) => Some(name.to_string_repr().into_owned()),
        _ => None,
    }
}

/// The name in `define('NAME', ...)`.
pub(super) fn defined(given: &[Arg<'_, '_>]) -> Option<String> {
    match &given.first()?.value()?.kind {
        ExprKind::String(name) => name.to_str().map(constant),
        _ => None,
    }
}

impl Surroundings {
    /// The name of what is declared here.
    pub(super) fn own(&self, name: &str) -> String {
        self.names.namespace().map_or_else(|| name.to_owned(), |namespace| format!("{namespace}\\{name}"))
    }

    /// The name of a class; `None` for the one around if it has none.
    pub(super) fn class(&self, name: &Name<'_, '_>) -> Option<String> {
        self.class_of(self.names.resolve_name(name, NameContext::Class))
    }

    /// The same for an expression that is a name.
    pub(super) fn class_in(&self, node: &Expr<'_, '_>) -> Option<String> {
        self.class_of(self.resolved(node, NameContext::Class))
    }

    fn class_of(&self, name: ResolvedName) -> Option<String> {
        let around = self.around.last();
        match name {
            ResolvedName::Fqn(name) => Some(class_name(&name)),
            ResolvedName::Special(SpecialClass::Parent) => around.and_then(|around| around.base.clone()),
            _ => around.and_then(|around| around.name.clone()),
        }
    }

    pub(super) fn function(&self, node: &Expr<'_, '_>) -> String {
        match self.resolved(node, NameContext::Function) {
            ResolvedName::Fqn(name) => function_name(&name),
            // Without one of the namespace it is the global one.
            ResolvedName::Fallback { namespaced, global } => {
                let own = function_name(&namespaced);
                if self.declared.contains(&own) { own } else { function_name(&global) }
            }
            _ => function_name(&written(node).unwrap_or_default()),
        }
    }

    fn resolved(&self, node: &Expr<'_, '_>, context: NameContext) -> ResolvedName {
        match &node.kind {
            ExprKind::Name(name) => self.names.resolve_name(name, context),
            ExprKind::Identifier(name) => {
                self.names.resolve(context, NameKind::Unqualified, &[name.as_str()])
            }
            _ => ResolvedName::Error,
        }
    }

    /// Whether the text declares a constant.
    pub(super) fn has_constant(&self, name: &str) -> bool {
        self.declared.contains(&constant(name))
    }

    fn add_changing(&mut self, parameters: &[Param<'_, '_>], name: &str) {
        let places = parameters.iter().enumerate().filter(|(_, one)| one.by_ref);
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        if places.is_empty() {
            return;
        }
        if name.is_empty() {
            self.is_any_changing = true;
        } else {
            self.changing.entry(name.to_ascii_lowercase()).or_default().extend(places);
        }
    }
}

impl Lower<'_> {
    /// Goes through the whole tree for what is declared, as deep as it may.
    pub(super) fn php_survey(&mut self, program: &Program<'_, '_>) -> ControlFlow<TooDeep> {
        let mut survey = Survey { found: &mut self.php, names: NameResolver::new(), depth: 0 };
        survey.visit_program(program)
    }
}

/// There are more than [`SURVEY_DEPTH_MAX`] levels.
pub(super) struct TooDeep;

/// A visit of all nodes. A chain, which the parser reads in a loop, is no level.
struct Survey<'f> {
    found: &'f mut Surroundings,
    names: NameResolver,
    depth: usize,
}

impl Survey<'_> {
    fn deeper(&mut self, walk: impl FnOnce(&mut Self) -> ControlFlow<TooDeep>) -> ControlFlow<TooDeep> {
        if self.depth >= SURVEY_DEPTH_MAX {
            return ControlFlow::Break(TooDeep);
        }
        self.depth += 1;
        walk(self)?;
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

impl<'arena, 'src> Visitor<'arena, 'src> for Survey<'_> {
    type Break = TooDeep;

    fn visit_stmt(&mut self, node: &Stmt<'arena, 'src>) -> ControlFlow<Self::Break> {
        self.names.observe_stmt(node);
        match &node.kind {
            StmtKind::Function(one) => {
                let name = one.name.as_str().unwrap_or_default();
                let whole = self.names.namespace().map(|namespace| format!("{namespace}\\{name}"));
                self.found.declared.insert(function_name(whole.as_deref().unwrap_or(name)));
                self.found.add_changing(&one.params, name);
            }
            StmtKind::Const(items) => {
                let names = items.iter().filter_map(|one| one.name.as_str());
                self.found.declared.extend(names.map(constant));
            }
            _ => {}
        }
        self.deeper(|survey| walk_stmt(survey, node))
    }

    fn visit_class_member(&mut self, node: &ClassMember<'arena, 'src>) -> ControlFlow<Self::Break> {
        match &node.kind {
            ClassMemberKind::Method(one) => {
                self.found.add_changing(&one.params, one.name.as_str().unwrap_or_default())
            }
            ClassMemberKind::ClassConst(one) => self.found.declared.extend(one.name.as_str().map(constant)),
            _ => {}
        }
        walk_class_member(self, node)
    }

    fn visit_enum_member(&mut self, node: &EnumMember<'arena, 'src>) -> ControlFlow<Self::Break> {
        match &node.kind {
            EnumMemberKind::Method(one) => {
                self.found.add_changing(&one.params, one.name.as_str().unwrap_or_default())
            }
            EnumMemberKind::ClassConst(one) => self.found.declared.extend(one.name.as_str().map(constant)),
            _ => {}
        }
        walk_enum_member(self, node)
    }

    fn visit_expr(&mut self, node: &Expr<'arena, 'src>) -> ControlFlow<Self::Break> {
        let mut left = node;
        loop {
            left = match &left.kind {
                ExprKind::Binary(one) => {
                    self.visit_expr(one.right)?;
                    one.left
                }
                ExprKind::ArrayAccess(one) => {
                    one.index.map_or(ControlFlow::Continue(()), |index| self.visit_expr(index))?;
                    one.array
                }
                ExprKind::PropertyAccess(one) | ExprKind::NullsafePropertyAccess(one) => {
                    self.visit_expr(one.property)?;
                    one.object
                }
                ExprKind::MethodCall(one) | ExprKind::NullsafeMethodCall(one) => {
                    self.visit_expr(one.method)?;
                    one.args.iter().try_for_each(|given| self.visit_arg(given))?;
                    one.object
                }
                ExprKind::FunctionCall(one) => {
                    let is_define = written(one.name)
                        .is_some_and(|name| name.trim_start_matches('\\').eq_ignore_ascii_case("define"));
                    self.found.declared.extend(defined(&one.args).filter(|_| is_define));
                    one.args.iter().try_for_each(|given| self.visit_arg(given))?;
                    one.name
                }
                kind => {
                    match kind {
                        ExprKind::Closure(one) => self.found.add_changing(&one.params, ""),
                        ExprKind::ArrowFunction(one) => self.found.add_changing(&one.params, ""),
                        _ => {}
                    }
                    return self.deeper(|survey| walk_expr(survey, left));
                }
            };
        }
    }
}
