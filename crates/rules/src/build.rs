//! Definitions to a rule set: builds, parses, expands and compiles each rule's condition and output. A rule with errors
//! is left out, and all its errors are reported. A file that only adds definitions extends the build, so that each rule
//! is built once. It knows nothing of files and their order.

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
use crate::rule::{Compiled, Rule};
use crate::rule_set::RuleSet;
use crate::select;

/// A rule set that grows file after file.
#[derive(Debug)]
pub(crate) struct Build<'s> {
    scope: &'s Scope<'s>,
    lists: Lists,
    macros: Macros,
    own: Target<'s>,
    /// Target for rules below the minimum priority. They are only checked, as in Falco, and their programs are dropped.
    dropped: Target<'s>,
    syscall: Target<'s>,
    set: RuleSet,
    /// The expanded condition of each rule of the set.
    exprs: Vec<Rc<Expr>>,
}

impl<'s> Build<'s> {
    /// Returns an empty build.
    pub(crate) fn new(scope: &'s Scope<'s>, report: &mut Report<'_>) -> Self {
        let target = |catalogue| Target::new(catalogue, scope.options, &scope.patterns);
        let (mut own, dropped, syscall) =
            (target(&scope.fields), target(&scope.fields), target(&scope.syscall));
        let (outputs, compiler) = (&mut own.outputs, &mut own.compiler);
        own.additions = Additions::new(scope.options, own.catalogue, outputs, compiler, report);
        let set = RuleSet { matching: scope.options.matching, ..RuleSet::default() };
        let (lists, macros) = Default::default();
        Self { scope, lists, macros, own, dropped, syscall, set, exprs: Vec::new() }
    }

    /// Reports whether the build up to a moment of [`Definitions::now`] is still valid with the present definitions.
    pub(crate) fn can_grow(&self, definitions: &Definitions, since: usize) -> bool {
        definitions.only_grew(since) && self.lists.can_grow(definitions)
    }

    /// Adds the new lists and macros, and the rules defined or changed `since` a moment of [`Definitions::now`].
    pub(crate) fn grow(&mut self, definitions: &Definitions, since: usize, report: &mut Report<'_>) {
        let Self { scope, lists, macros, own, dropped, syscall, set, exprs } = self;
        let (options, conditions) = (scope.options, &scope.conditions);
        lists.grow(definitions);
        macros.grow(definitions, lists, conditions, options.engine, report);
        let mut builder = Builder { definitions, lists, macros, conditions, options, report };
        for definition in definitions.rules.iter().filter(|found| found.visibility > since) {
            let text = &definition.value;
            if text.source != options.source {
                match scope.catalogue(&text.source) {
                    Some(_) => drop(builder.rule(definition, syscall)),
                    None => builder.skip(definition, &options.source),
                }
            } else if text.priority > options.priority {
                builder.rule(definition, dropped);
            } else if let Some(built) = builder.rule(definition, own) {
                set.rules.push(built.rule);
                set.compiled.push(built.compiled);
                exprs.push(built.expr);
            }
        }
    }

    /// Returns the set, and reports the problems that need all files.
    pub(crate) fn finish(
        mut self,
        definitions: &Definitions,
        report: &mut Report<'_>,
    ) -> (RuleSet, Option<Description>) {
        select::apply(&self.scope.options.selection, &mut self.set.rules);
        let Self { scope, lists, macros, set, exprs, .. } = &self;
        let description = scope.options.describe.then(|| {
            let describer = Describer::new(lists, scope.options.engine);
            let mut description = Describer::definitions(definitions, macros);
            let rules = set.rules.iter().zip(&set.compiled).zip(exprs);
            description.rules = rules
                .filter_map(|((rule, compiled), expr)| {
                    let mut described = describer.rule(&definitions.rules.get(&rule.name)?.value, expr);
                    described.level = rule.level;
                    described.exported = export::condition(expr, rule.level, &scope.fields);
                    let fields = compiled.output.named.fields.iter();
                    described.output_fields = fields.map(|(key, _)| key.to_string()).collect();
                    Some(described)
                })
                .collect();
            description
        });
        warn_of_unused(definitions, lists, macros, report);
        if scope.options.lints {
            let subject = |(rule, expr): (&Rule, &Rc<Expr>)| {
                let definition = definitions.rules.get(&rule.name)?;
                Some(lint::Subject { definition, expr: Rc::clone(expr) })
            };
            let subjects: Vec<_> = set.rules.iter().zip(exprs).filter_map(subject).collect();
            lint::run(&subjects, &set.rules, definitions, scope, report);
        }
        (self.into_set(definitions), description)
    }

    /// Returns the set as it is, for display only.
    pub(crate) fn unfinished(mut self, definitions: &Definitions) -> RuleSet {
        select::apply(&self.scope.options.selection, &mut self.set.rules);
        self.into_set(definitions)
    }

    fn into_set(self, definitions: &Definitions) -> RuleSet {
        RuleSet {
            #[cfg(feature = "plain")]
            trees: if self.scope.options.describe {
                self.exprs.iter().flat_map(|expr| crate::plain::tree(expr, &self.scope.fields)).collect()
            } else {
                Vec::new()
            },
            program: self.own.compiler.finish(),
            lists: definitions.lists.iter().map(|list| list.name.text.clone()).collect(),
            macros: definitions.macros.iter().map(|found| found.name.text.clone()).collect(),
            ..self.set
        }
    }
}

/// The catalogue and the compilers for the rules of one source.
#[derive(Debug)]
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

/// A rule for the set.
struct Built {
    rule: Rule,
    compiled: Compiled,
    /// The expanded condition.
    expr: Rc<Expr>,
}

struct Builder<'b, 'a> {
    definitions: &'b Definitions,
    lists: &'b Lists,
    macros: &'b Macros,
    conditions: &'b Conditions,
    options: &'b Options,
    report: &'b mut Report<'a>,
}

impl Builder<'_, '_> {
    /// Builds one rule; `None` after errors, or if the rule asks to be skipped.
    fn rule(&mut self, definition: &Definition<RuleText>, target: &mut Target<'_>) -> Option<Built> {
        let (name, text) = (&definition.name.text, &definition.value);
        let label = Kind::Rule.label(name);
        let expr = self.expand(definition, &label)?;
        let mut checked = Checked::default();
        let condition = target.compiler.condition(&expr, &mut checked);
        for warning in std::mem::take(&mut checked.warnings) {
            self.report.warning(&label, warning);
        }
        let mut output_fields = BTreeSet::new();
        let output = target.outputs.output(&text.output, &mut target.compiler, &mut output_fields);
        let (mut output, mut errors) = match output {
            Ok(output) => (output, Vec::new()),
            Err(faults) => (Template::default(), faults),
        };
        // Falco checks the output between parsing the condition and compiling it.
        errors.extend(checked.errors);
        let is_skipped = text.skip_if_unknown_filter && errors.iter().all(|error| error.is_unknown_field);
        if let Some(first) = errors.first().filter(|_| is_skipped) {
            let message =
                "unknown field: castellan ignores the rule, because it has `skip-if-unknown-filter`";
            self.report.warning(&label, Fault::new("LOAD_UNKNOWN_FILTER", first.place, message));
            return None;
        }
        let failed = !errors.is_empty();
        for error in errors {
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

    /// Returns the condition with exceptions, lists and macros expanded.
    fn expand(&mut self, definition: &Definition<RuleText>, label: &str) -> Option<Rc<Expr>> {
        let rule = &definition.value;
        let text =
            exceptions::write(&rule.condition, &rule.exceptions).and_then(|text| self.lists.put_into(&text));
        match text.and_then(|text| self.conditions.parse(text, self.options.engine)) {
            Ok(expr) => self.macros.put_into(&expr, label, self.definitions, self.report),
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
        let message = format!("unknown source `{}`: castellan ignores the rule", definition.value.source);
        let fault = Fault::new("LOAD_UNKNOWN_SOURCE", definition.name.place, message);
        let label = Kind::Rule.label(&definition.name.text);
        self.report.warning(&label, fault.help(format!("use the source `{own}`")));
    }
}

/// Results of compiling a rule.
struct Found {
    condition: String,
    fields: BTreeSet<usize>,
    level: Level,
    output_fields: BTreeSet<usize>,
}

fn warn_of_unused(definitions: &Definitions, lists: &Lists, macros: &Macros, report: &mut Report<'_>) {
    for found in definitions.macros.iter().filter(|found| macros.is_unused(&found.name.text)) {
        let fault = Fault::new("LOAD_UNUSED_MACRO", found.name.place, "no rule or macro uses this macro");
        report.warning(&Kind::Macro.label(&found.name.text), fault);
    }
    for name in lists.unused() {
        let Some(found) = definitions.lists.get(name) else { continue };
        let fault = Fault::new("LOAD_UNUSED_LIST", found.name.place, "no condition or list uses this list");
        report.warning(&Kind::List.label(name), fault);
    }
}
