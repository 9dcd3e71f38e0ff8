//! Programs in languages that are not read. Of one in a file of the project nothing is known but the words in it; it must not know what they
//! mean.

use castellan_event::{Facts, Why};

use super::{From, Place, Program, file_of, held, opaque};
use crate::scene::Scene;

/// Languages in which a file is orders for another program that runs elsewhere or outlives the call.
const ORDERS: &[&str] = &["hta", "keys", "redis-lua", "wsh"];

/// Words by which programs start others, delete, or reach for what lies outside of the project, in any language: in small letters.
const TELLING: &[&str] = &[
    "##", ".aws", ".env", ".ssh", "/bin/", "/etc/", "/root", "`", "asm", "chmod", "chown", "curl", "delete",
    "dlopen", "dlsym", "eval", "exec", "fork", "getenv", "home", "ioctl", "mmap", "nc ", "open3", "pipe",
    "popen", "process", "remove", "rename", "rm ", "rm(", "rmdir", "rmtree", "run(", "runtime", "shell",
    "signal", "socket", "spawn", "sudo", "syscall", "system", "truncate", "unlink", "wget", "~/",
];

/// Whether a program has none of these words.
pub(crate) fn is_plain(text: &str) -> bool {
    let text = text.to_lowercase();
    !TELLING.iter().any(|telling| text.contains(telling))
}

/// A part that was not understood: of its file, where that is there, is no orders and has none of these words.
pub(super) fn add(
    program: &Program,
    word: &str,
    mut place: Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    if let From::File(file) = &program.from {
        let texts = held(file, &place, true, scene);
        let is_plain = |text: &Result<String, Why>| text.as_ref().is_ok_and(|text| is_plain(text));
        if !ORDERS.contains(&word) && texts.iter().all(is_plain) {
            place.file = file_of(file, &place);
        }
    }
    opaque(&place, (Why::Language, word), scene, facts);
}
