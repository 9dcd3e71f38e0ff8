//! The text of an effect in messages: fields `fx.what` and `fx.text`, which always have a value. These fields are for
//! people; rules use the other fields. It must not know rules.

use crate::facts::Effect;

/// The object of an effect without a name.
const UNNAMED: &str = "what cannot be named beforehand";

impl Effect {
    /// Returns the object of the effect: the most exact path, address or target that is known, else its scope.
    pub fn what(&self) -> &str {
        let place = || self.scope.map_or(UNNAMED, |scope| scope.meaning());
        self.named().next().unwrap_or_else(place)
    }

    /// Returns the effect and its object in a few words: `delete /home/me/x`, `mutate aws delete-bucket b`.
    pub fn text(&self) -> String {
        let words: Vec<&str> = [&self.system, &self.verb].into_iter().flatten().map(String::as_str).collect();
        let mut named: Vec<&str> = self.named().collect();
        if words.is_empty() && named.is_empty() {
            named.push(self.what());
        }
        [&[self.kind.as_str()][..], &words, &named].concat().join(" ")
    }

    /// Iterates over the names of the object.
    fn named(&self) -> impl Iterator<Item = &str> {
        let path = self.path.as_ref().or(self.path_raw.as_ref());
        let address = self.url.as_ref().or(self.host.as_ref());
        [path, address, self.target.as_ref()].into_iter().flatten().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EffectKind, Scope};

    #[test]
    fn every_effect_says_something() {
        let text = |text: &str| Some(text.to_owned());
        let of = |kind| Effect { kind, ..Effect::default() };
        for (effect, what, said) in [
            (of(EffectKind::Opaque), UNNAMED, "opaque what cannot be named beforehand"),
            (Effect { path: text("/x"), path_raw: text("x"), ..of(EffectKind::Delete) }, "/x", "delete /x"),
            (
                Effect { path_raw: text("~/*"), scope: Some(Scope::Home), ..of(EffectKind::Delete) },
                "~/*",
                "delete ~/*",
            ),
            (
                Effect { scope: Some(Scope::Root), ..of(EffectKind::Delete) },
                "the root of the file system",
                "delete the root of the file system",
            ),
            (
                Effect {
                    path: text("/x"),
                    url: text("https://a.b/c"),
                    host: text("a.b"),
                    ..of(EffectKind::Upload)
                },
                "/x",
                "upload /x https://a.b/c",
            ),
            (
                Effect { system: text("terraform"), verb: text("destroy"), ..of(EffectKind::Destroy) },
                UNNAMED,
                "destroy terraform destroy",
            ),
            (
                Effect {
                    system: text("aws"),
                    verb: text("delete"),
                    target: text("b"),
                    ..of(EffectKind::Mutate)
                },
                "b",
                "mutate aws delete b",
            ),
        ] {
            assert_eq!((effect.what(), effect.text().as_str()), (what, said));
        }
    }
}
