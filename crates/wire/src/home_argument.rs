//! [`HomeArgument`]: the value of a hook's `--home`, as registered. All users of a machine may share one registration.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::home::Home;

/// The home whose daemon a hook asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HomeArgument {
    /// `/DIR`: this home, for every user.
    At(Home),
    /// `own`: the home of the user who runs the hook.
    Own,
    /// `system`: the system's home for a user whom the system guards; other users have their own home.
    System,
    /// `UID:/DIR`: this home for the user with this id; other users have their own home.
    Of(u32, Home),
}

const OWN: &str = "own";

const SYSTEM: &str = "system";

impl HomeArgument {
    /// Parses the value; `None` if it is not valid.
    pub fn parse(value: &OsStr) -> Option<HomeArgument> {
        if value == OWN {
            return Some(HomeArgument::Own);
        }
        if value == SYSTEM {
            return Some(HomeArgument::System);
        }
        if let Some(home) = Home::new(Path::new(value)) {
            return Some(HomeArgument::At(home));
        }
        let bytes = value.as_bytes();
        let (user, dir) = bytes.split_at_checked(bytes.iter().position(|byte| *byte == b':')?)?;
        let is_plain = user.iter().all(u8::is_ascii_digit);
        let user = str::from_utf8(user).ok().filter(|_| is_plain)?.parse().ok()?;
        Some(HomeArgument::Of(user, Home::new(Path::new(OsStr::from_bytes(dir.get(1..)?)))?))
    }

    /// Returns the home for a user; `None` if the machine knows no home of that user.
    pub fn of(&self, user: u32) -> Option<Home> {
        match self {
            HomeArgument::At(home) => Some(home.clone()),
            HomeArgument::Of(owner, home) if *owner == user => Some(home.clone()),
            HomeArgument::System => Home::guarded_by_system(user).or_else(|| Home::of_user(user)),
            HomeArgument::Own | HomeArgument::Of(..) => Home::of_user(user),
        }
    }
}

/// Prints the value. A path that is not UTF-8 is printed lossily, because the settings of agents cannot hold it.
impl fmt::Display for HomeArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HomeArgument::At(home) => write!(f, "{}", home.dir().display()),
            HomeArgument::Own => f.write_str(OWN),
            HomeArgument::System => f.write_str(SYSTEM),
            HomeArgument::Of(user, home) => write!(f, "{user}:{}", home.dir().display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_is_written() {
        let home = |dir: &str| Home::new(dir).unwrap();
        let check = |value: &str, expected: Option<HomeArgument>| {
            let told = HomeArgument::parse(OsStr::new(value));
            assert_eq!(told, expected, "{value}");
            assert!(told.is_none_or(|told| told.to_string() == value), "{value}");
        };
        check("/h", Some(HomeArgument::At(home("/h"))));
        check("/7:/h", Some(HomeArgument::At(home("/7:/h"))));
        check("own", Some(HomeArgument::Own));
        check("system", Some(HomeArgument::System));
        check("0:/h", Some(HomeArgument::Of(0, home("/h"))));
        check("1000:/a:b c", Some(HomeArgument::Of(1000, home("/a:b c"))));
        for none in [
            "",
            "h",
            "own ",
            "Own",
            "System",
            "./h",
            "1000",
            "1000:",
            "1000:h",
            ":/h",
            "-1:/h",
            "+1:/h",
            "4294967296:/h",
        ] {
            check(none, None);
        }
        assert_eq!(HomeArgument::parse(OsStr::from_bytes(b"\xff")), None);
    }

    #[test]
    fn a_home_that_is_told_of_one_user_is_nobody_elses() {
        let home = Home::new("/h").unwrap();
        let nobody = u32::MAX - 1;
        assert_eq!(HomeArgument::At(home.clone()).of(nobody), Some(home.clone()));
        assert_eq!(HomeArgument::Of(7, home.clone()).of(7), Some(home.clone()));
        assert_eq!(HomeArgument::Of(7, home).of(nobody), None, "whom no file names");
        assert_eq!(HomeArgument::Own.of(nobody), None);
    }
}
