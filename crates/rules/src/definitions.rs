//! Definitions by the items read so far: lists, macros and rules in their order. Appends and overrides are applied as
//! in Falco's collector. It knows neither YAML nor the condition grammar.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;

use crate::catalogue::Catalogue;
use crate::compile::Patterns;
use crate::exceptions;
use crate::item::{Change, Item, Kind, Name, PluginVersion, RuleItem, RulePatch, RuleText, Version};
use crate::options::{Engine, Options};
use crate::parse::Conditions;
use crate::problem::{Fault, Report};
use crate::text::{Place, Text};

/// The lists, macros and rules of the files read so far.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    pub(crate) lists: Table<Vec<Text>>,
    pub(crate) macros: Table<Text>,
    pub(crate) rules: Table<RuleText>,
    /// Names of items with errors. Naming such an item is not reported again.
    broken: HashSet<(Kind, String)>,
    /// Lists and macros redefined with another value without `override`, with the places of the earlier definitions.
    pub(crate) redefined: Vec<(Kind, Name, Place)>,
    /// Earlier places of macros that were defined again with the same value.
    pub(crate) restated: Vec<Place>,
    clock: usize,
}

/// Named definitions in the order of their first appearance.
#[derive(Debug)]
pub(crate) struct Table<T> {
    all: Vec<Definition<T>>,
    by_name: HashMap<String, usize, FxBuildHasher>,
}

#[derive(Debug)]
pub(crate) struct Definition<T> {
    pub(crate) name: Name,
    pub(crate) value: T,
    /// Time of the first definition.
    pub(crate) index: usize,
    /// Time of the last definition or append. The item sees everything that was first defined before.
    pub(crate) visibility: usize,
    /// Time of the last change.
    changed: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { all: Vec::new(), by_name: HashMap::default() }
    }
}

impl<T> Table<T> {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Definition<T>> {
        self.all.iter()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Definition<T>> {
        self.by_name.get(name).and_then(|index| self.all.get(*index))
    }

    /// Returns the position of a name in the order.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Defines a name again with the same value. Its meaning stays, because everything that it names existed before.
    fn restate(&mut self, name: Name, value: T, now: usize) {
        if let Some(old) = self.by_name.get(&name.text).and_then(|index| self.all.get_mut(*index)) {
            *old = Definition { name, value, index: old.index, visibility: now, changed: old.changed };
        }
    }

    /// Returns a definition for a change.
    fn get_mut(&mut self, name: &str, now: usize) -> Option<&mut Definition<T>> {
        let found = self.by_name.get(name).and_then(|index| self.all.get_mut(*index))?;
        found.changed = now;
        Some(found)
    }

    /// Reports whether definitions from before `since` are unchanged.
    fn only_grew(&self, since: usize) -> bool {
        self.all.iter().all(|found| found.index > since || found.changed <= since)
    }

    /// Defines a name, in its old place if it has one.
    fn define(&mut self, name: Name, value: T, now: usize) {
        match self.get_mut(&name.text, now) {
            Some(old) => *old = Definition { name, value, index: old.index, visibility: now, changed: now },
            None => {
                self.by_name.insert(name.text.clone(), self.all.len());
                self.all.push(Definition { name, value, index: now, visibility: now, changed: now });
            }
        }
    }
}

impl Definitions {
    /// Returns the present time. Later definitions and changes have a later time.
    pub(crate) fn now(&self) -> usize {
        self.clock
    }

    /// Reports whether every item `since` a moment of [`Definitions::now`] defined or changed only names as new.
    pub(crate) fn only_grew(&self, since: usize) -> bool {
        self.lists.only_grew(since) && self.macros.only_grew(since) && self.rules.only_grew(since)
    }

    pub(crate) fn apply(&mut self, item: Item, scope: &Scope<'_>, report: &mut Report<'_>) {
        self.clock += 1;
        match item {
            Item::EngineVersion(version, place) => check_engine(version, place, scope.options.engine, report),
            Item::PluginVersions(required) => check_plugins(&required, scope.options, report),
            Item::List { name, items, change } => self.apply_list(name, items, change, report),
            Item::Macro { name, condition, change } => self.apply_macro(name, condition, change, report),
            Item::Rule { name, item } => {
                let label = Kind::Rule.label(&name.text);
                if let Err(fault) = self.apply_rule(name, item, scope) {
                    report.error(&label, fault);
                }
            }
            Item::Broken { name, kind } => {
                self.broken.insert((kind, name.text));
            }
        }
    }

    /// Reports whether an item with errors would have defined this name.
    pub(crate) fn is_broken(&self, kind: Kind, name: &str) -> bool {
        self.broken.contains(&(kind, name.to_owned()))
    }

    fn apply_list(&mut self, name: Name, items: Vec<Text>, change: Change, report: &mut Report<'_>) {
        let same = |old: &Vec<Text>| old.iter().map(Text::as_str).eq(items.iter().map(Text::as_str));
        let earlier = self.lists.get(&name.text).filter(|old| change == Change::Define && !same(&old.value));
        self.redefined.extend(earlier.map(|old| (Kind::List, name.clone(), old.name.place)));
        if change != Change::Append {
            return self.lists.define(name, items, self.clock);
        }
        match self.lists.get_mut(&name.text, self.clock) {
            Some(old) => {
                old.value.extend(items);
                old.visibility = self.clock;
            }
            None => self.nothing_to_append(&name, Kind::List, report),
        }
    }

    fn apply_macro(&mut self, name: Name, condition: Text, change: Change, report: &mut Report<'_>) {
        let same = |old: &Text| old.as_str() == condition.as_str();
        let earlier = self.macros.get(&name.text).filter(|old| change == Change::Define && !same(&old.value));
        self.redefined.extend(earlier.map(|old| (Kind::Macro, name.clone(), old.name.place)));
        if change != Change::Append {
            let restated = self.macros.get(&name.text).filter(|old| same(&old.value));
            let place = restated.map(|old| old.value.place(0..old.value.as_str().len()));
            return match place {
                Some(place) => {
                    self.restated.push(place);
                    self.macros.restate(name, condition, self.clock);
                }
                None => self.macros.define(name, condition, self.clock),
            };
        }
        match self.macros.get_mut(&name.text, self.clock) {
            Some(old) => {
                append(&mut old.value, &condition);
                old.visibility = self.clock;
            }
            None => self.nothing_to_append(&name, Kind::Macro, report),
        }
    }

    fn nothing_to_append(&mut self, name: &Name, kind: Kind, report: &mut Report<'_>) {
        if !self.is_broken(kind, &name.text) {
            report.error(&kind.label(&name.text), not_defined(name, kind));
        }
    }

    fn apply_rule(&mut self, name: Name, item: RuleItem, scope: &Scope<'_>) -> Result<(), Fault> {
        match item {
            RuleItem::Define(rule) => self.define_rule(name, *rule, scope),
            RuleItem::Enable(enabled) => {
                let Some(old) = self.rule(&name)? else { return Ok(()) };
                old.value.enabled = enabled;
                Ok(())
            }
            RuleItem::Alter(patches) => {
                let (append, replace) = *patches;
                let now = self.clock;
                let Some(old) = self.rule(&name)? else { return Ok(()) };
                old.visibility = now;
                append_rule(&mut old.value, append, scope)?;
                replace_rule(&mut old.value, replace, scope)
            }
        }
    }

    fn define_rule(&mut self, name: Name, mut rule: RuleText, scope: &Scope<'_>) -> Result<(), Fault> {
        let in_file = |old: &&Definition<RuleText>| old.name.place.file == name.place.file;
        if !scope.options.redefined_in_file && self.rules.get(&name.text).filter(in_file).is_some() {
            let message = "the file defines this rule twice: the second would replace the first";
            let help = "rename one of them, or write in `override` what the second changes";
            return Err(Fault::new("CASTELLAN_DUPLICATE_RULE", name.place, message).help(help));
        }
        if self.rules.get(&name.text).is_some_and(|old| old.value.source != rule.source) {
            let message = "an earlier definition of this rule has another `source`";
            return Err(Fault::new("LOAD_ERR_VALIDATE", name.place, message));
        }
        let catalogue = scope.catalogue(&rule.source);
        exceptions::complete_all(&mut rule.exceptions, catalogue, scope.options.engine)?;
        self.rules.define(name, rule, self.clock);
        Ok(())
    }

    /// Returns an earlier rule; `None` if that rule had errors, which have been reported.
    fn rule(&mut self, name: &Name) -> Result<Option<&mut Definition<RuleText>>, Fault> {
        let broken = self.is_broken(Kind::Rule, &name.text);
        match self.rules.get_mut(&name.text, self.clock) {
            Some(old) => Ok(Some(old)),
            None if broken => Ok(None),
            None => Err(not_defined(name, Kind::Rule)),
        }
    }
}

/// The options and fields for checking conditions.
#[derive(Debug)]
pub(crate) struct Scope<'o> {
    pub(crate) options: &'o Options,
    pub(crate) fields: Catalogue<'o>,
    pub(crate) syscall: Catalogue<'o>,
    /// Parsed once for the whole load.
    pub(crate) conditions: Conditions,
    /// Compiled once for the whole load.
    pub(crate) patterns: Patterns,
}

impl<'o> Scope<'o> {
    /// Returns the fields of a source; `None` for an unknown source.
    pub(crate) fn catalogue(&self, source: &str) -> Option<&Catalogue<'o>> {
        if source == self.options.source {
            Some(&self.fields)
        } else if source == "syscall" {
            Some(&self.syscall)
        } else {
            None
        }
    }
}

fn append_rule(rule: &mut RuleText, patch: RulePatch, scope: &Scope<'_>) -> Result<(), Fault> {
    if let Some(condition) = patch.condition {
        append(&mut rule.condition, &condition);
    }
    if let Some(output) = patch.output {
        append(&mut rule.output, &output);
    }
    if let Some(desc) = patch.desc {
        rule.desc.push(' ');
        rule.desc.push_str(&desc);
    }
    if let Some(tags) = patch.tags {
        for tag in tags {
            if let Err(at) = rule.tags.binary_search(&tag) {
                rule.tags.insert(at, tag);
            }
        }
    }
    for exception in patch.exceptions.unwrap_or_default() {
        let catalogue = scope.catalogue(&rule.source);
        exceptions::append(&mut rule.exceptions, exception, catalogue, scope.options.engine)?;
    }
    Ok(())
}

fn replace_rule(rule: &mut RuleText, patch: RulePatch, scope: &Scope<'_>) -> Result<(), Fault> {
    if let Some(mut exceptions) = patch.exceptions {
        exceptions::complete_all(&mut exceptions, scope.catalogue(&rule.source), scope.options.engine)?;
        rule.exceptions = exceptions;
    }
    replace(&mut rule.condition, patch.condition);
    replace(&mut rule.output, patch.output);
    replace(&mut rule.desc, patch.desc);
    replace(&mut rule.tags, patch.tags);
    replace(&mut rule.priority, patch.priority);
    replace(&mut rule.enabled, patch.enabled);
    replace(&mut rule.skip_if_unknown_filter, patch.skip_if_unknown_filter);
    Ok(())
}

fn replace<T>(part: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *part = new;
    }
}

/// Appends like Falco: as text, after a blank.
fn append(text: &mut Text, more: &Text) {
    text.push_derived(" ", more.place(0..1));
    text.push(more);
}

fn not_defined(name: &Name, kind: Kind) -> Fault {
    let message = format!("there is no earlier {} of this name to change", kind.as_str());
    let help = "define it above or in an earlier file, or remove `append` and `override`";
    Fault::new("LOAD_ERR_VALIDATE", name.place, message).help(help)
}

fn check_engine(required: Version, place: Place, engine: Engine, report: &mut Report<'_>) {
    let serves = |engine: Engine| Version::parse(engine.version()).is_some_and(|own| own.serves(required));
    if serves(engine) {
        return;
    }
    let message = format!("the rules need engine version {required}, but this is {}", engine.version());
    let help = serves(Engine::V0_44).then(|| "use engine 0.44".to_owned());
    let fault = Fault::new("LOAD_ERR_VALIDATE", place, message).help_if(help);
    report.error("required_engine_version", fault);
}

fn check_plugins(required: &[(Vec<PluginVersion>, Place)], options: &Options, report: &mut Report<'_>) {
    let own = (&options.source, &options.plugin_version);
    let others = options.other_plugins.iter().map(|(name, version)| (name, version));
    let have: Vec<_> = std::iter::once(own).chain(others).collect();
    let serves = |version: &str, required| Version::parse(version).is_some_and(|have| have.serves(required));
    let met = |plugin: &PluginVersion| {
        have.iter().any(|(name, version)| **name == plugin.name && serves(version, plugin.version))
    };
    for (alternatives, place) in required {
        let Some(first) = alternatives.first().filter(|_| !alternatives.iter().any(met)) else { continue };
        let message = format!("the rules need plugin `{}` {}", first.name, first.version);
        let help = format!("this engine provides `{}` {}", options.source, options.plugin_version);
        let fault = Fault::new("CASTELLAN_PLUGIN_VERSION", *place, message).help(help);
        report.error("required_plugin_versions", fault);
    }
}
