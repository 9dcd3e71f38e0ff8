//! The text of an effect in messages: fields `fx.what` and `fx.text`, which always have a value. These fields are for
//! people; rules use the other fields. It must not know rules.

use crate::effect::Effect;

/// The object of an effect without a name.
const UNNAMED: &str = "an unknown object";

impl Effect {
    /// Returns the object of the effect: the most exact path, address or target that is known, else its scope.
    pub fn what(&self) -> &str {
        let place = || self.scope().map_or(UNNAMED, |scope| scope.meaning());
        self.named().next().unwrap_or_else(place)
    }

    /// Returns the effect and its object in a few words: `delete /home/me/x`, `mutate aws delete-bucket b`.
    pub fn text(&self) -> String {
        // Without a system the verb is a word for rules.
        let verb = self.system().and_then(|_| self.verb());
        let words: Vec<&str> = [self.system(), verb].into_iter().flatten().collect();
        let mut named: Vec<&str> = self.named().collect();
        if words.is_empty() && named.is_empty() {
            named.push(self.what());
        }
        [&[self.kind().as_str()][..], &words, &named].concat().join(" ")
    }

    /// Iterates over the names of the object.
    fn named(&self) -> impl Iterator<Item = &str> {
        let path = self.path().or(self.path_raw());
        let address = self.url().or(self.host());
        [path, address, self.target()].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EffectKind, LocatedFile, Operation, Remote, Scope};

    #[test]
    fn every_effect_says_something() {
        let text = |text: &str| Some(text.to_owned());
        let of = Effect::of;
        let file = |kind, path: Option<&str>, raw: &str, scope| {
            let file = LocatedFile {
                path: path.and_then(text),
                raw: raw.to_owned(),
                scope,
                ..LocatedFile::default()
            };
            Effect::on_file(kind, file)
        };
        let op = |kind, system: &str, verb: &str, target: Option<&str>| {
            let (system, verb, target) = (text(system), text(verb), target.and_then(text));
            Effect { op: Operation { system, verb, target, ..Operation::of(kind) }, ..Effect::default() }
        };
        let url = Remote { host: text("a.b"), url: text("https://a.b/c"), class: None };
        let sent = LocatedFile { path: text("/x"), sent_to: Some(url), ..LocatedFile::default() };
        for (effect, what, said) in [
            (of(EffectKind::Opaque), UNNAMED, "opaque an unknown object"),
            (file(EffectKind::Delete, Some("/x"), "x", None), "/x", "delete /x"),
            (file(EffectKind::Delete, None, "~/*", Some(Scope::Home)), "~/*", "delete ~/*"),
            (Effect::on_file(EffectKind::Upload, sent), "/x", "upload /x https://a.b/c"),
            (op(EffectKind::Destroy, "terraform", "destroy", None), UNNAMED, "destroy terraform destroy"),
            (op(EffectKind::Mutate, "aws", "delete", Some("b")), "b", "mutate aws delete b"),
        ] {
            assert_eq!((effect.what(), effect.text().as_str()), (what, said));
        }
    }
}
