//! Definitions to a rule set: each rule's condition and output are put together, parsed, expanded and compiled. A rule with
//! errors is left out, and all its errors are reported. Knows nothing of files and their order.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::ast::Expr;
use crate::catalogue::Catalogue;
use crate::compile::{Checked, Compiler};
use crate::definitions::{Definition, Definitions, Scope};
use crate::exceptions;
use crate::expand::{Lists, Macros};
use crate::format;
use crate::item::{Kind, RuleText};
use crate::parse;
use crate::print;
use crate::problem::{Fault, Report};
use crate::program::Template;
use crate::rule::{Compiled, Rule, RuleSet};

/// Builds the rules that are defined so far. Names that nothing uses are told of after the last file only.
pub(crate) fn build(
    definitions: &Definitions,
    scope: &Scope<'_>,
    last: bool,
    report: &mut Report<'_>,
) -> RuleSet {
    let lists = Lists::new(definitions);
    let macros = Macros::new(definitions, &lists, report);
    let regex_compat_falco = scope.options.regex_compat_falco;
    let mut compiler = Compiler::new(&scope.fields, regex_compat_falco);
    let mut syscall = Compiler::new(&scope.syscall, regex_compat_falco);
    let mut set = RuleSet { matching: scope.options.matching, ..RuleSet::default() };
    let mut builder = Builder { lists: &lists, macros: &macros, report };
    for definition in definitions.rules.iter() {
        let source = &definition.value.source;
        if *source == scope.options.source {
            let built = builder.rule(definition, &scope.fields, &mut compiler);
            set.rules.extend(built.as_ref().map(|(rule, _)| rule.clone()));
            set.compiled.extend(built.map(|(_, compiled)| compiled));
        } else if let Some(catalogue) = scope.catalogue(source) {
            // A rule of a source that is known, but not evaluated here: it is checked, as Falco does.
            builder.rule(definition, catalogue, &mut syscall);
        } else {
            builder.skip(definition, &scope.options.source);
        }
    }
    if last {
        warn_of_unused(definitions, &lists, &macros, report);
    }
    set.program = compiler.finish();
    set.lists = definitions.lists.iter().map(|list| list.name.text.clone()).collect();
    set.macros = definitions.macros.iter().map(|found| found.name.text.clone()).collect();
    set
}

struct Builder<'b, 'd, 'a> {
    lists: &'b Lists,
    macros: &'b Macros<'d>,
    report: &'b mut Report<'a>,
}

impl Builder<'_, '_, '_> {
    /// One rule; `None` after errors, or when the rule wants to be left out.
    fn rule(
        &mut self,
        definition: &Definition<RuleText>,
        catalogue: &Catalogue,
        compiler: &mut Compiler<'_>,
    ) -> Option<(Rule, Compiled)> {
        let label = Kind::Rule.label(&definition.name.text);
        let expr = self.expand(definition, &label)?;
        let mut checked = Checked::default();
        let condition = compiler.condition(&expr, &mut checked);
        for warning in std::mem::take(&mut checked.warnings) {
            self.report.warning(&label, warning);
        }
        let unknown_only = checked.unknown_fields == checked.errors.len();
        let mut output_fields = BTreeSet::new();
        let output = format::compile(&definition.value.output, catalogue, compiler, &mut output_fields);
        let output = output.unwrap_or_else(|faults| {
            checked.errors.extend(faults);
            Template::default()
        });
        if let Some(first) =
            checked.errors.first().filter(|_| definition.value.skip_if_unknown_filter && unknown_only)
        {
            let message = "an unknown field, the rule is left out as it says";
            self.report.warning(&label, Fault::new("LOAD_UNKNOWN_FILTER", first.place, message));
            return None;
        }
        let failed = !checked.errors.is_empty();
        for error in checked.errors {
            self.report.error(&label, error);
        }
        let condition = condition.filter(|_| !failed)?;
        let found = Found { condition: print::condition(&expr), fields: checked.fields, output_fields };
        Some((self.describe(definition, found), Compiled { condition, output }))
    }

    /// The condition with exceptions, lists and macros put in.
    fn expand(&mut self, definition: &Definition<RuleText>, label: &str) -> Option<Rc<Expr>> {
        let rule = &definition.value;
        let text =
            exceptions::write(&rule.condition, &rule.exceptions).and_then(|text| self.lists.put_into(&text));
        match text.and_then(|text| parse::parse(&text)) {
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
            tags: text.tags.clone(),
            enabled: text.enabled,
            source: text.source.clone(),
            file,
            line,
            condition: found.condition,
            output: text.output.as_str().trim().to_owned(),
            fields: found.fields.into_iter().collect(),
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
