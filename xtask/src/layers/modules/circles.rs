//! Strongly connected sets of sibling modules.

use std::collections::{BTreeMap, BTreeSet};

use super::Module;
use super::paths::Mention;

/// Siblings of which each reaches all others.
#[derive(Debug)]
pub(super) struct Circle {
    pub(super) parent: Module,
    pub(super) siblings: Vec<String>,
    /// One mention for each edge inside the circle.
    pub(super) witnesses: Vec<String>,
}

/// The edges among the children of one parent, each with its first mention.
type Edges<'m> = BTreeMap<(&'m str, &'m str), &'m str>;

pub(super) fn among(mentions: &[Mention]) -> Vec<Circle> {
    let mut families: BTreeMap<&[String], Edges> = BTreeMap::new();
    for mention in mentions {
        let common = mention.from.iter().zip(&mention.to).take_while(|(from, to)| from == to).count();
        let (parent, from) = mention.from.split_at(common);
        let (Some(from), Some(to)) = (from.first(), mention.to.get(common)) else { continue };
        families.entry(parent).or_default().entry((from, to)).or_insert(&mention.place);
    }
    families.iter().flat_map(|(parent, edges)| circles_of(parent, edges)).collect()
}

fn circles_of(parent: &[String], edges: &Edges) -> Vec<Circle> {
    let names: BTreeSet<&str> = edges.keys().flat_map(|(from, to)| [*from, *to]).collect();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        names.iter().map(|name| (*name, reached_from(name, edges))).collect();
    let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|names| names.contains(to));
    let mut circles: BTreeSet<Vec<&str>> = BTreeSet::new();
    for name in &names {
        let circle: Vec<&str> =
            names.iter().copied().filter(|other| reaches(name, other) && reaches(other, name)).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let witnesses = |circle: &[&str]| {
        let inside = |(from, to): &(&str, &str)| circle.contains(from) && circle.contains(to);
        edges.iter().filter(|(edge, _)| inside(edge)).map(|(_, place)| (*place).to_owned()).collect()
    };
    circles
        .into_iter()
        .map(|circle| Circle {
            parent: parent.to_vec(),
            witnesses: witnesses(&circle),
            siblings: circle.into_iter().map(str::to_owned).collect(),
        })
        .collect()
}

/// Every sibling that a chain of one or more edges leads to.
fn reached_from<'m>(start: &str, edges: &Edges<'m>) -> BTreeSet<&'m str> {
    let mut reached = BTreeSet::new();
    let mut next = vec![start];
    while let Some(name) = next.pop() {
        for (_, to) in edges.keys().filter(|(from, _)| *from == name) {
            if reached.insert(*to) {
                next.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(&str, &str)], expected: &[&str]) {
        let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
        let mention = |(from, to): &(&str, &str)| Mention {
            from: path(from),
            to: path(to),
            place: format!("{from}->{to}"),
        };
        let found = among(&edges.iter().map(mention).collect::<Vec<_>>());
        let shown = |circle: &Circle| format!("{}[{}]", circle.parent.join("::"), circle.siblings.join(" "));
        assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn circles_of_siblings_are_found() {
        check(&[("a", "b"), ("b", "c")], &[]);
        check(&[("a", "b"), ("b", "c::x"), ("c::y", "a::z")], &["[a b c]"]);
        check(&[("p::a", "p::b"), ("p::b", "p::a"), ("a", "b")], &["p[a b]"]);
        // A parent and its child are one unit.
        check(&[("a", "a::x"), ("a::x", "a")], &[]);
    }
}
