//! The outcome of one attempt: the result of the program `castellan-attack`, as one line of text.

use std::fmt;
use std::io;

/// The result of an attempt: the proof, or the reason why there is none.
pub type Attempt = Result<String, Stop>;

/// The reason why an attempt got nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The kernel or the sandbox refused a step.
    Blocked {
        /// The step.
        step: String,
        /// The errno, where there is one.
        errno: Option<i32>,
    },
    /// This machine cannot do it, with or without a sandbox.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl Stop {
    /// A refusal that has no errno.
    pub fn blocked(step: impl Into<String>) -> Stop {
        Stop::Blocked { step: step.into(), errno: None }
    }

    /// A machine that cannot do it.
    pub fn unsupported(reason: impl Into<String>) -> Stop {
        Stop::Unsupported { reason: reason.into() }
    }
}

/// Names the step at which an attempt failed.
pub trait At<T> {
    /// Turns an error into a refusal at this step.
    ///
    /// # Errors
    ///
    /// The refusal.
    fn at(self, step: &str) -> Result<T, Stop>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, step: &str) -> Result<T, Stop> {
        self.map_err(|error| match error.raw_os_error() {
            Some(errno) if errno == libc::ENOSYS => Stop::unsupported(format!("{step}: not in this kernel")),
            Some(errno) => Stop::Blocked { step: step.to_owned(), errno: Some(errno) },
            None => Stop::blocked(format!("{step}: {error}")),
        })
    }
}

/// The program's own word for its outcome. The harness believes it only where nothing outside can be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The attempt got what it wanted.
    Succeeded {
        /// The thing that it got.
        proof: String,
    },
    /// A step was refused.
    Blocked {
        /// The step, with the name of the errno.
        step: String,
    },
    /// This machine cannot do it.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl Claim {
    /// The claim of an attempt.
    pub fn of(attempt: Attempt) -> Claim {
        match attempt {
            Ok(proof) => Claim::Succeeded { proof },
            Err(Stop::Blocked { step, errno: Some(errno) }) => {
                Claim::Blocked { step: format!("{step}: {}", io::Error::from_raw_os_error(errno)) }
            }
            Err(Stop::Blocked { step, errno: None }) => Claim::Blocked { step },
            Err(Stop::Unsupported { reason }) => Claim::Unsupported { reason },
        }
    }

    /// Reads the last line that the program wrote; `None` if it wrote none.
    pub fn parse(output: &str) -> Option<Claim> {
        let claim = |line: &str| {
            let (word, text) = line.strip_prefix("attack ")?.split_once('\t')?;
            let text = text.to_owned();
            match word {
                "succeeded" => Some(Claim::Succeeded { proof: text }),
                "blocked" => Some(Claim::Blocked { step: text }),
                "unsupported" => Some(Claim::Unsupported { reason: text }),
                _ => None,
            }
        };
        output.lines().rev().find_map(claim)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, text) = match self {
            Claim::Succeeded { proof } => ("succeeded", proof),
            Claim::Blocked { step } => ("blocked", step),
            Claim::Unsupported { reason } => ("unsupported", reason),
        };
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "attack {word}\t{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_read_as_it_was_written() {
        let claims = [
            Claim::Succeeded { proof: "token-1".to_owned() },
            Claim::Blocked { step: "open: Permission denied (os error 13)".to_owned() },
            Claim::Unsupported { reason: "no IPv6".to_owned() },
        ];
        for claim in claims {
            assert_eq!(Claim::parse(&format!("noise\n{claim}\nmore noise\n")), Some(claim));
        }
        assert_eq!(Claim::parse("attack won\tall\n"), None);
        assert_eq!(Claim::parse(""), None);
    }

    #[test]
    fn a_proof_stays_in_one_line() {
        let claim = Claim::Succeeded { proof: "a\nattack blocked\tb".to_owned() };
        assert_eq!(
            Claim::parse(&claim.to_string()),
            Some(Claim::Succeeded { proof: "a attack blocked b".to_owned() })
        );
    }
}
