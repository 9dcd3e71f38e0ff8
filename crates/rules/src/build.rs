//! Definitions to a rule set: each rule's condition and output are put together, parsed, expanded and compiled. A rule with
//! errors is left out, and all its errors are reported. Knows nothing of files and their order.

use std::collections::BTreeSet;
use std::rc::Rc;

use castellan_event::Level;

use crate::append::Additions;
use crate::ast::Expr;
use crate::catalogue::Catalogue;
use crate::compile::{Checked, Compiler, Patterns};
use crate::definitions::{Definition, Definitions, Scope};
use crate::describe::{Describer, Description};
use crate::exceptions;
use crate::expand::{Lists, Macros};
use crate::export;
use crate::format::Outputs;
use crate::item::{Kind, RuleText};
use crate::lint;
use crate::options::Options;
use crate::parse::Conditions;
use crate::print;
use crate::problem::{Fault, Report};
use crate::program::Template;
use crate::rule::{Compiled, Rule, RuleSet};
use crate::select;

/// Builds the rules that are defined so far. After any file but the last, the rules that the file has defined or altered
/// are checked and nothing else is done: that is, the rules `since` a moment of [`Definitions::now`].
pub(crate) fn build(
    definitions: &Definitions,
    scope: &Scope<'_>,
    since: Option<usize>,
    report: &mut Report<'_>,
) -> (RuleSet, Option<Description>) {
    let options = scope.options;
    let last = since.is_none();
    let lists = Lists::new(definitions);
    let macros = Macros::new(definitions, &lists, &scope.conditions, options.engine, report);
    let patterns = &scope.patterns;
    let mut own = Target::new(&scope.fields, options, patterns);
    // What these compile to is dropped: their rules are only checked, as Falco does.
    let mut dropped = Target::new(&scope.fields, options, patterns);
    let mut syscall = Target::new(&scope.syscall, options, patterns);
    own.additions = Additions::new(options, own.catalogue, &mut own.outputs, &mut own.compiler, report);
    let describer = (options.describe && last).then(|| Describer::new(&lists, options.engine));
    let mut description = describer.as_ref().map(|_| Describer::definitions(definitions, &macros));
    let mut linted = Vec::new();
    let mut set = RuleSet { matching: options.matching, ..RuleSet::default() };
    let conditions = &scope.conditions;
    let mut builder = Builder { lists: &lists, macros: &macros, conditions, options, report };
    let looked_at =
        |definition: &&Definition<RuleText>| since.is_none_or(|since| definition.visibility > since);
    for definition in definitions.rules.iter().filter(looked_at) {
        let text = &definition.value;
        if text.source != options.source {
            match scope.catalogue(&text.source) {
                Some(_) => drop(builder.rule(definition, &mut syscall)),
                None => builder.skip(definition, &options.source),
            }
        } else if text.priority > options.priority {
            builder.rule(definition, &mut dropped);
        } else if let Some(built) = builder.rule(definition, &mut own) {
            if let Some((describer, description)) = describer.as_ref().zip(description.as_mut()) {
                let mut rule = describer.rule(text, &built.expr);
                rule.level = built.rule.level;
                rule.exported = export::condition(&built.expr, built.rule.level, &scope.fields);
                rule.output_fields =
                    built.compiled.output.named.fields.iter().map(|(key, _)| key.to_string()).collect();
                description.rules.push(rule);
                #[cfg(feature = "plain")]
                set.trees.extend(crate::plain::tree(&built.expr, &scope.fields));
            }
            if options.lints && last {
                linted.push(lint::Subject { definition, expr: built.expr });
            }
            set.rules.push(built.rule);
            set.compiled.push(built.compiled);
        }
    }
    if last {
        warn_of_unused(definitions, &lists, &macros, report);
    }
    select::apply(&options.selection, &mut set.rules);
    if options.lints && last {
        lint::run(&linted, &set.rules, definitions, scope, report);
    }
    set.program = own.compiler.finish();
    set.lists = definitions.lists.iter().map(|list| list.name.text.clone()).collect();
    set.macros = definitions.macros.iter().map(|found| found.name.text.clone()).collect();
    (set, description)
}

/// What the rules of one source are compiled against, and into.
struct Target<'c> {
    catalogue: &'c Catalogue<'c>,
    compiler: Compiler<'c>,
    outputs: Outputs<'c>,
    additions: Additions<'c>,
}

impl<'c> Target<'c> {
    fn new(catalogue: &'c Catalogue<'c>, options: &Options, patterns: &'c Patterns) -> Self {
        Self {
            catalogue,
            compiler: Compiler::new(catalogue, options.regex_compat_falco, patterns),
            outputs: Outputs::new(catalogue, options.engine),
            additions: Additions::default(),
        }
    }
}

/// A rule as it goes into the set.
struct Built {
    rule: Rule,
    compiled: Compiled,
    /// The condition with everything put in.
    expr: Rc<Expr>,
}

struct Builder<'b, 'd, 'a> {
    lists: &'b Lists,
    macros: &'b Macros<'d>,
    conditions: &'b Conditions,
    options: &'b Options,
    report: &'b mut Report<'a>,
}

impl Builder<'_, '_, '_> {
    /// One rule; `None` after errors, or when the rule wants to be left out.
    fn rule(&mut self, definition: &Definition<RuleText>, target: &mut Target<'_>) -> Option<Built> {
        let (name, text) = (&definition.name.text, &definition.value);
        let label = Kind::Rule.label(name);
        let expr = self.expand(definition, &label)?;
        let mut checked = Checked::default();
        let condition = target.compiler.condition(&expr, &mut checked);
        for warning in std::mem::take(&mut checked.warnings) {
            self.report.warning(&label, warning);
        }
        let unknown_only = checked.unknown_fields == checked.errors.len();
        let mut output_fields = BTreeSet::new();
        let output = target.outputs.output(&text.output, &mut target.compiler, &mut output_fields);
        let mut output = output.unwrap_or_else(|faults| {
            checked.errors.extend(faults);
            Template::default()
        });
        if let Some(first) = checked.errors.first().filter(|_| text.skip_if_unknown_filter && unknown_only) {
            let message = "an unknown field, the rule is left out as it says";
            self.report.warning(&label, Fault::new("LOAD_UNKNOWN_FILTER", first.place, message));
            return None;
        }
        let failed = !checked.errors.is_empty();
        for error in checked.errors {
            self.report.error(&label, error);
        }
        let condition = condition.filter(|_| !failed)?;
        target.additions.add_to(&mut output, &mut output_fields, name, text);
        let fields = checked.fields.iter().filter_map(|field| target.catalogue.get(*field));
        let level = fields.map(|field| field.level).max().unwrap_or_default();
        let found =
            Found { condition: print::condition(&expr), fields: checked.fields, level, output_fields };
        Some(Built { rule: self.describe(definition, found), compiled: Compiled { condition, output }, expr })
    }

    /// The condition with exceptions, lists and macros put in.
    fn expand(&mut self, definition: &Definition<RuleText>, label: &str) -> Option<Rc<Expr>> {
        let rule = &definition.value;
        let text =
            exceptions::write(&rule.condition, &rule.exceptions).and_then(|text| self.lists.put_into(&text));
        match text.and_then(|text| self.conditions.parse(text, self.options.engine)) {
            Ok(expr) => self.macros.put_into(&expr, label, self.report),
            Err(fault) => {
                self.report.error(label, fault);
                None
            }
        }
    }

    fn describe(&self, definition: &Definition<RuleText>, found: Found) -> Rule {
        let text = &definition.value;
        let (file, line) = self.report.position(definition.name.place);
        Rule {
            name: definition.name.text.clone(),
            desc: text.desc.clone(),
            priority: text.priority,
            tags: text.tags.as_slice().into(),
            enabled: text.enabled,
            source: text.source.as_str().into(),
            file: file.into(),
            line,
            condition: found.condition,
            fields: found.fields.into_iter().collect(),
            level: found.level,
            output_fields: found.output_fields.into_iter().collect(),
        }
    }

    fn skip(&mut self, definition: &Definition<RuleText>, own: &str) {
        let message = format!("unknown source `{}`: the rule is ignored", definition.value.source);
        let fault = Fault::new("LOAD_UNKNOWN_SOURCE", definition.name.place, message);
        let label = Kind::Rule.label(&definition.name.text);
        self.report.warning(&label, fault.help(format!("the source here is `{own}`")));
    }
}

/// What compiling found out about a rule.
struct Found {
    condition: String,
    fields: BTreeSet<usize>,
    level: Level,
    output_fields: BTreeSet<usize>,
}

fn warn_of_unused(definitions: &Definitions, lists: &Lists, macros: &Macros<'_>, report: &mut Report<'_>) {
    for name in macros.unused() {
        let Some(found) = definitions.macros.get(name) else { continue };
        let fault =
            Fault::new("LOAD_UNUSED_MACRO", found.name.place, "no rule and no macro names this macro");
        report.warning(&Kind::Macro.label(name), fault);
    }
    for name in lists.unused() {
        let Some(found) = definitions.lists.get(name) else { continue };
        let fault =
            Fault::new("LOAD_UNUSED_LIST", found.name.place, "no condition and no list names this list");
        report.warning(&Kind::List.label(name), fault);
    }
}
