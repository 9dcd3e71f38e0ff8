//! Substitutes macros in syntax trees. A macro sees the macros that were first defined before its own last change;
//! rules see all. Trees are shared, so that macros cost nothing before compilation; the expanded nodes are counted.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::ast::{Expr, Word};
use crate::definitions::Definitions;
use crate::expand::Lists;
use crate::item::Kind;
use crate::limits::{EXPANDED_NESTING_MAX, EXPANDED_NODES_MAX, SET_EXPANDED_NODES_MAX};
use crate::options::Engine;
use crate::parse::Conditions;
use crate::problem::{Fault, Report};
use crate::suggest::did_you_mean;

#[derive(Debug, Default)]
pub(crate) struct Macros {
    by_name: HashMap<String, Macro, FxBuildHasher>,
    /// Nodes that macros added to rules so far.
    put_in: Cell<usize>,
}

#[derive(Debug)]
struct Macro {
    /// `None` for a macro with errors, which have been reported.
    tree: Option<Tree>,
    index: usize,
    used: Cell<bool>,
}

/// A tree with its cost.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) expr: Rc<Expr>,
    nodes: usize,
    /// 0 until its macros are expanded.
    levels: usize,
}

impl Macros {
    /// Parses and expands the new macros.
    pub(crate) fn grow(
        &mut self,
        definitions: &Definitions,
        lists: &Lists,
        conditions: &Conditions,
        engine: Engine,
        report: &mut Report<'_>,
    ) {
        let known = self.by_name.len();
        for definition in definitions.macros.iter().skip(known) {
            let parsed = lists.put_into(&definition.value).and_then(|text| conditions.parse(text, engine));
            let tree = match parsed {
                Ok(expr) => Some(Tree { nodes: 0, levels: 0, expr }),
                Err(fault) => {
                    report.error(&Kind::Macro.label(&definition.name.text), fault);
                    None
                }
            };
            let parsed = Macro { tree, index: definition.index, used: Cell::new(false) };
            self.by_name.insert(definition.name.text.clone(), parsed);
        }
        for definition in definitions.macros.iter().skip(known) {
            let name = definition.name.text.as_str();
            let Some(tree) = self.by_name.get(name).and_then(|parsed| parsed.tree.clone()) else {
                continue;
            };
            let label = Kind::Macro.label(name);
            let expanded = self.expand(&tree.expr, definition.visibility, &label, definitions, report);
            if let Some(parsed) = self.by_name.get_mut(name) {
                parsed.tree = expanded;
            }
        }
    }

    /// Expands the macros in the condition of a rule; `None` after errors, which are reported.
    pub(crate) fn put_into(
        &self,
        expr: &Rc<Expr>,
        label: &str,
        definitions: &Definitions,
        report: &mut Report<'_>,
    ) -> Option<Rc<Expr>> {
        self.expand(expr, usize::MAX, label, definitions, report).map(|tree| tree.expr)
    }

    /// Returns the expanded condition of a macro; `None` if it has errors.
    pub(crate) fn expanded(&self, name: &str) -> Option<&Expr> {
        self.by_name.get(name).and_then(|found| found.tree.as_ref()).map(|tree| &*tree.expr)
    }

    /// Reports whether no rule or macro uses this macro.
    pub(crate) fn is_unused(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|found| !found.used.get())
    }

    fn expand(
        &self,
        expr: &Rc<Expr>,
        visibility: usize,
        label: &str,
        definitions: &Definitions,
        report: &mut Report<'_>,
    ) -> Option<Tree> {
        let (open, faults) = (Vec::new(), Vec::new());
        let mut walk = Walk { macros: self, definitions, visibility, open, faults, broken: false, nodes: 0 };
        let tree = walk.expand(expr, 0);
        let broken = walk.broken || !walk.faults.is_empty();
        // Macros share their trees, so only expansions for rules are counted: only these are compiled.
        if visibility == usize::MAX {
            self.put_in.set(self.put_in.get().saturating_add(walk.nodes));
        }
        for fault in walk.faults {
            report.error(label, fault);
        }
        if broken { None } else { tree }
    }
}

struct Walk<'m> {
    macros: &'m Macros,
    definitions: &'m Definitions,
    visibility: usize,
    /// The macros being expanded.
    open: Vec<String>,
    faults: Vec<Fault>,
    /// The tree names a macro with errors.
    broken: bool,
    /// Number of macro names and expanded comparisons so far.
    nodes: usize,
}

impl Walk<'_> {
    fn expand(&mut self, expr: &Rc<Expr>, level: usize) -> Option<Tree> {
        match &**expr {
            Expr::Check(check) => {
                // A long list costs as much as that many comparisons.
                let nodes = 1 + check.words();
                Some(Tree { expr: Rc::clone(expr), nodes, levels: 1 })
            }
            Expr::And(all) => self.chain(all, Expr::And, level),
            Expr::Or(all) => self.chain(all, Expr::Or, level),
            Expr::Not(inner) => {
                let tree = self.expand(inner, level + 1)?;
                let expr = Rc::new(Expr::Not(tree.expr));
                Some(Tree { expr, nodes: tree.nodes + 1, levels: tree.levels + 1 })
            }
            Expr::Macro(name) => self.call(name, level),
        }
    }

    fn chain(&mut self, all: &[Rc<Expr>], of: fn(Vec<Rc<Expr>>) -> Expr, level: usize) -> Option<Tree> {
        let trees: Vec<_> = all.iter().filter_map(|expr| self.expand(expr, level + 1)).collect();
        let nodes = trees.iter().fold(1, |sum: usize, tree| sum.saturating_add(tree.nodes));
        let levels = trees.iter().map(|tree| tree.levels).max().unwrap_or_default() + 1;
        let whole = trees.len() == all.len();
        let expr = Rc::new(of(trees.into_iter().map(|tree| tree.expr).collect()));
        if whole { Some(Tree { expr, nodes, levels }) } else { None }
    }

    fn call(&mut self, name: &Word, level: usize) -> Option<Tree> {
        let found = self.macros.by_name.get(name.text.as_str()).filter(|found| found.index < self.visibility);
        let Some(found) = found else {
            self.undefined(name);
            return None;
        };
        found.used.set(true);
        let Some(tree) = found.tree.as_ref() else {
            self.broken = true;
            return None;
        };
        self.nodes = self.nodes.saturating_add(tree.nodes + 1);
        if self.nodes > EXPANDED_NODES_MAX {
            let message = format!("more than {EXPANDED_NODES_MAX} comparisons after the macros are inserted");
            return self.fail(Fault::new("CASTELLAN_LIMIT", name.place, message).help("use fewer macros"));
        }
        if self.macros.put_in.get().saturating_add(self.nodes) > SET_EXPANDED_NODES_MAX {
            let message = format!(
                "more than {SET_EXPANDED_NODES_MAX} comparisons in all rules after the macros are inserted"
            );
            let fault = Fault::new("CASTELLAN_LIMIT", name.place, message);
            return self.fail(fault.help("combine the rules that use the same macros"));
        }
        if self.open.contains(&name.text) {
            let chain = self.open.join("`, `");
            let message = format!("a macro uses itself: `{chain}`, `{}`", name.text);
            return self.fail(Fault::new("LOAD_ERR_VALIDATE", name.place, message));
        }
        if level + tree.levels > EXPANDED_NESTING_MAX {
            let message = format!(
                "more than {EXPANDED_NESTING_MAX} levels after the macro `{}` is inserted",
                name.text
            );
            return self
                .fail(Fault::new("CASTELLAN_LIMIT", name.place, message).help("nest macros less deeply"));
        }
        if tree.levels > 0 {
            return Some(tree.clone());
        }
        self.open.push(name.text.clone());
        let expanded = self.expand(&tree.expr, level + 1);
        self.open.pop();
        expanded
    }

    fn undefined(&mut self, name: &Word) {
        let definitions = self.definitions;
        if definitions.is_broken(Kind::Macro, &name.text) {
            self.broken = true;
            return;
        }
        let help = if definitions.macros.get(&name.text).is_some() {
            Some(format!("`{}` is defined after this macro: move it before", name.text))
        } else {
            did_you_mean(&name.text, definitions.macros.iter().map(|known| known.name.text.as_str()))
        };
        let message = format!("there is no macro `{}`", name.text);
        self.fail(Fault::new("LOAD_ERR_VALIDATE", name.place, message).help_if(help));
    }

    /// Stores a fault. Of several faults about a limit, only the first is stored.
    fn fail(&mut self, fault: Fault) -> Option<Tree> {
        if fault.code != "CASTELLAN_LIMIT" || self.faults.iter().all(|old| old.code != fault.code) {
            self.faults.push(fault);
        }
        None
    }
}
