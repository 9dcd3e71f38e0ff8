//! [`Budget`]: the work that the analysis of a call may still do.

use castellan_event::{Effect, Role, Why};
use castellan_shell::Work;

use crate::Spent;
use crate::limits::{PROGRAMS_MAX, SCRIPT_BYTES_MAX, WORK_MAX, WORK_MIN, WORK_PER_BYTE};

pub(crate) struct Budget {
    /// The remaining work for effects.
    pub(crate) work: Work,
    /// The remaining work for programs in other languages and for tasks.
    pub(crate) programs: castellan_languages::Work,
    /// The work that was done before `work` was last set, in units of shell text.
    spent: u64,
    /// The effect for the used-up work was already added.
    pub(crate) is_over_told: bool,
    /// Number of programs in other languages and of tasks that were read.
    programs_read: usize,
    /// Total bytes of the files with code that were read.
    script_bytes: usize,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget {
            work: Work::of(WORK_MAX),
            programs: castellan_languages::Work::default(),
            spent: 0,
            is_over_told: false,
            programs_read: 0,
            script_bytes: 0,
        }
    }

    /// Counts one more program or task that is read. False above [`PROGRAMS_MAX`].
    pub(crate) fn counts_program(&mut self) -> bool {
        self.programs_read += 1;
        self.programs_read <= PROGRAMS_MAX
    }

    /// Counts the bytes of a file with code. False above [`SCRIPT_BYTES_MAX`].
    pub(crate) fn counts_bytes(&mut self, bytes: usize) -> bool {
        self.script_bytes = self.script_bytes.saturating_add(bytes);
        self.script_bytes <= SCRIPT_BYTES_MAX
    }

    /// Sets the work for texts of this many bytes and adds the work that the walk has left.
    pub(crate) fn allow_text(&mut self, bytes: usize, left: &Work) {
        let own = (bytes as u64).saturating_mul(WORK_PER_BYTE).saturating_add(WORK_MIN).min(WORK_MAX);
        self.spent += left.spent();
        self.work = Work::of(own.saturating_add(left.left()));
    }

    /// Sets the work for a tool's effects besides shell text. Tools have their own limits.
    pub(crate) fn allow_tool(&mut self) {
        self.spent += self.work.spent();
        self.work = Work::of(WORK_MAX);
    }

    /// The work that was done for the call so far.
    pub(crate) fn spent(&self) -> Spent {
        Spent { text: self.spent + self.work.spent(), programs: self.programs.spent() }
    }

    /// Spends work. The first failure adds one Opaque effect, which covers everything that is omitted from then on.
    pub(crate) fn spend(&mut self, units: u64, command: Option<usize>, effects: &mut Vec<Effect>) -> bool {
        if self.work.spend(units) {
            return true;
        }
        if !std::mem::replace(&mut self.is_over_told, true) {
            let part = Effect::opaque(Role::Code, Why::Budget, None);
            effects.push(Effect { command, ..part });
        }
        false
    }
}
