//! `append_output`: additions of the configuration to the outputs of rules. Each entry is compiled once, for any number
//! of rules. Its problems belong to the configuration, not to a rule file.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalogue::Catalogue;
use crate::compile::Compiler;
use crate::format::Outputs;
use crate::item::RuleText;
use crate::options::{AppendOutput, ExtraField, Options};
use crate::problem::{Fault, Report};
use crate::program::{Part, Template};

/// The entries for rules of one source.
#[derive(Debug, Default)]
pub(crate) struct Additions<'o> {
    all: Vec<Addition<'o>>,
}

#[derive(Debug)]
struct Addition<'o> {
    of: &'o AppendOutput,
    template: Template,
    /// The numbers of the fields in the template.
    fields: BTreeSet<usize>,
}

impl<'o> Additions<'o> {
    /// Compiles the entries for this source.
    pub(crate) fn new(
        options: &'o Options,
        catalogue: &Catalogue<'_>,
        outputs: &mut Outputs<'_>,
        compiler: &mut Compiler<'_>,
        report: &mut Report<'_>,
    ) -> Self {
        let mut all = Vec::new();
        for (index, of) in options.append_output.iter().enumerate() {
            if !is_met(of.source.as_deref(), &options.source) {
                continue;
            }
            let mut addition = Addition { of, template: Template::default(), fields: BTreeSet::new() };
            match addition.compile(catalogue, outputs, compiler) {
                Ok(()) => all.push(addition),
                Err(faults) => {
                    let name = format!("append_output[{index}]");
                    faults.into_iter().for_each(|fault| report.configuration_error(&name, fault));
                }
            }
        }
        Self { all }
    }

    /// Adds the matching entries to the output of a rule.
    pub(crate) fn add_to(
        &self,
        template: &mut Template,
        fields: &mut BTreeSet<usize>,
        name: &str,
        rule: &RuleText,
    ) {
        let meant = |of: &AppendOutput| {
            is_met(of.rule.as_deref(), name) && of.tags.iter().all(|tag| rule.tags.contains(tag))
        };
        for addition in self.all.iter().filter(|addition| meant(addition.of)) {
            let Template { parts, named } = &addition.template;
            template.parts.extend(parts.iter().cloned());
            let own = Arc::make_mut(&mut template.named);
            own.fields.extend(named.fields.iter().cloned());
            own.texts.extend(named.texts.iter().cloned());
            fields.extend(&addition.fields);
        }
        let named = &mut Arc::make_mut(&mut template.named).fields;
        named.sort();
        named.dedup();
    }
}

impl Addition<'_> {
    fn compile(
        &mut self,
        catalogue: &Catalogue<'_>,
        outputs: &mut Outputs<'_>,
        compiler: &mut Compiler<'_>,
    ) -> Result<(), Vec<Fault>> {
        let extra = self.of.extra_output.iter().map(|extra| format!(" {extra}"));
        let text: String = extra.chain(self.of.suggested_output.then(|| suggested(catalogue))).collect();
        self.template = outputs.text(&text, compiler, &mut self.fields)?;
        for extra in &self.of.extra_fields {
            match extra {
                ExtraField::Field(field) => {
                    let field =
                        outputs.field(field, compiler, &mut self.fields).map_err(|fault| vec![fault])?;
                    Arc::make_mut(&mut self.template.named).fields.push(field);
                }
                ExtraField::Format { name, format } => {
                    let format = format.strip_prefix('*').unwrap_or(format);
                    let compiled = outputs.text(format, compiler, &mut self.fields)?;
                    let parts: Arc<[Part]> = compiled.parts.into();
                    Arc::make_mut(&mut self.template.named).texts.push((outputs.key(name), parts));
                }
            }
        }
        Ok(())
    }
}

/// Reports whether a filter matches; an absent or empty filter matches everything.
fn is_met(wanted: Option<&str>, found: &str) -> bool {
    wanted.is_none_or(|wanted| wanted.is_empty() || wanted == found)
}

/// Returns ` name=%name` for every suggested field, with dots as underscores.
fn suggested(catalogue: &Catalogue<'_>) -> String {
    let names = catalogue.suggested();
    names.map(|name| format!(" {}=%{name}", name.replace('.', "_"))).collect()
}
