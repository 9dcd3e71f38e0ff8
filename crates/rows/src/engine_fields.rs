//! [`EngineField`]: the fields that an engine in another process has besides those of the field table. Only the rules
//! that castellan writes for the engine name them; a person's rule that names one does not load.

/// The word of `row.level` of a roll call: a row on which each rule reports its number by [`EngineField::Match`], whatever
/// its condition says. No row of a call has it.
pub const ROLL_CALL: &str = "roll_call";

/// A field between the daemon and the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineField {
    /// `row.nonce`: the text of the row's nonce. Each output repeats it.
    Nonce,
    /// `row.generation`: the text of the generation of rules that must judge the row.
    Generation,
    /// `row.match[N]`: always true. The test of it is the last one of a rule's condition, so its evaluation means that
    /// rule number N matched the row, or was tested on a roll call.
    Match,
    /// `row.seen`: the nonce, a colon, and the numbers of the rules that matched the row so far, ascending, with commas.
    /// Absent after any failure on this row, and before a rule has read the row's generation, so that neither is an answer.
    Seen,
}

impl EngineField {
    /// All fields, in the order in which they follow those of the field table.
    pub const ALL: [EngineField; 4] =
        [EngineField::Nonce, EngineField::Generation, EngineField::Match, EngineField::Seen];

    /// Returns the name that a rule uses.
    pub fn name(self) -> &'static str {
        match self {
            EngineField::Nonce => "row.nonce",
            EngineField::Generation => "row.generation",
            EngineField::Match => "row.match",
            EngineField::Seen => "row.seen",
        }
    }

    /// Returns one line for people.
    pub fn meaning(self) -> &'static str {
        match self {
            EngineField::Nonce => "for castellan: names the row",
            EngineField::Generation => "for castellan: the rules that must judge the row",
            EngineField::Match => "for castellan: true; reports that the rule of this number matched",
            EngineField::Seen => "for castellan: the row, and the numbers of the rules that matched it",
        }
    }
}
