//! [`Trait`]: properties of programs that no option or operand of a model shows. The build generates the tables from
//! `knowledge/traits.toml`. It must not know what a property means for a decision.

macro_rules! traits {
    ($($variant:ident $word:literal $meaning:literal,)+) => {
        /// A property of a program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Trait { $(#[doc = $meaning] $variant,)+ }

        impl Trait {
            /// Returns the key in `knowledge/traits.toml`.
            const fn key(self) -> &'static str {
                match self { $(Trait::$variant => $word,)+ }
            }

            #[cfg(test)]
            const KEYS: &'static [&'static str] = &[$($word,)+];
        }
    };
}

traits! {
    Builds "builds" "builds from files of the project, as the project configures it",
    ChangesOperands "changes-operands" "deletes or overwrites its operands",
    CommandsOtherSystems "commands-other-systems" "runs files with commands for another system, which are no programs",
    FeedsCommands "feeds-commands" "passes its data as input to the commands of its options",
    Frames "frames" "as a wrapper only sets variables or observes the command",
    KeepsSecrets "keeps-secrets" "uses the secrets that it reads, and outputs none of their contents",
    Leads "leads" "runs its operand, or reads it as code",
    ListsNames "lists-names" "prints names and sizes of files, and no contents",
    OutputsNetwork "outputs-network" "prints data from the network; of an entry with words: with such an argument",
    OutputsSecrets "outputs-secrets" "prints secrets; of an entry with words: with such an argument",
    PrintsEnvironment "prints-environment" "prints every variable if it gets no argument",
    ReleaseIsOptimised "release-is-optimised" "`--release` only selects an optimised build",
    SearchesTrees "searches-trees" "prints lines of the files in a tree, `--include` selects them by name",
    SkipsHidden "skips-hidden" "prints lines of the files in a tree, hidden and ignored ones only on demand",
    Traces "traces" "`-x` prints each command with its values",
    Tunnels "tunnels" "passes connections to this machine on to another one; of an entry with words: with such an argument",
    UnambiguousDanger "unambiguous-danger" "dangerous, and no other program has a subcommand of this name",
    Waits "waits" "waits: a missing file may exist when it ends",
    WritesLast "writes-last" "writes to its last operand",
    WritesNamed "writes-named" "writes to a file that an argument names if an argument contains such a text",
}

include!(concat!(env!("OUT_DIR"), "/traits.rs"));

impl Trait {
    /// Reports whether a program has the property, without regard to its arguments.
    pub fn is_of(self, program: &str) -> bool {
        self.signs(program).is_some()
    }

    /// Returns the words of which a program's arguments must have one for the property; empty if none is needed. `None`
    /// if the program lacks the property.
    pub fn signs(self, program: &str) -> Option<&'static [&'static str]> {
        let table = TRAITS.iter().find(|(key, _)| *key == self.key())?.1;
        let at = table.binary_search_by(|(name, _)| (*name).cmp(program)).ok()?;
        table.get(at).map(|(_, signs)| *signs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_the_file_is_a_trait() {
        let keys: Vec<&str> = TRAITS.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, Trait::KEYS);
    }

    #[test]
    fn an_entry_with_words_needs_one_of_them() {
        assert_eq!(Trait::OutputsNetwork.signs("curl"), Some(&[][..]));
        assert_eq!(Trait::OutputsNetwork.signs("gsutil"), Some(&["cat", "cp"][..]));
        assert_eq!(Trait::OutputsNetwork.signs("ls"), None);
    }
}
