//! `CASTELLAN_REDEFINED`: a name that is taken. A second definition replaces the first, also for the rules above it. An
//! identical definition is no finding, because independent files repeat shared definitions. The name of a list is
//! replaced in the text of every condition, before macros and fields are resolved.

use crate::catalogue::Catalogue;
use crate::definitions::Definitions;
use crate::item::Kind;
use crate::lint::Findings;
use crate::problem::Fault;

const CODE: &str = "CASTELLAN_REDEFINED";

pub(super) fn check(definitions: &Definitions, catalogue: &Catalogue<'_>, findings: &mut Findings<'_, '_>) {
    for (kind, name, earlier) in &definitions.redefined {
        let (file, line) = findings.report.position(*earlier);
        let word = kind.as_str();
        let message = format!("this replaces the {word} at {file}:{line}, also for the rules above");
        let key = if *kind == Kind::List { "items" } else { "condition" };
        let help = format!("write `override: {{{key}: replace}}` if you mean that, else choose another name");
        findings.warn(*kind, &name.text, Fault::new(CODE, name.place, message).help(help));
    }
    for list in definitions.lists.iter() {
        let name = &list.name;
        let message = if let Some(found) = definitions.macros.get(&name.text) {
            let (file, line) = findings.report.position(found.name.place);
            format!("a macro has the same name ({file}:{line}): conditions use the list")
        } else if catalogue.index(&name.text).is_some() {
            "a field has the same name: conditions use the list".to_owned()
        } else {
            continue;
        };
        let fault = Fault::new(CODE, name.place, message).help("choose another name for the list");
        findings.warn(Kind::List, &name.text, fault);
    }
}
