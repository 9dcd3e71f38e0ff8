#!/bin/sh
# Installs castellan from the folder of this script, for one user and without root, or removes it again.
#
#   ./install.sh [--prefix DIR]     default: ~/.local
#   ./install.sh --uninstall [--prefix DIR]
#
# Each file goes to a temporary name beside its place and is then renamed, so that a program is whole or the one
# before. A second run completes a half-finished one. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 the archive
# is damaged, 4 castellan still guards agents, 6 a newer version is installed.
set -eu
umask 022
LC_ALL=C
export LC_ALL

say() { printf '%s\n' "$*"; }
fail() {
    code=$1
    shift
    printf 'install.sh: %s\n' "$*" >&2
    exit "$code"
}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || fail 1 "the folder of this script cannot be found"
prefix=
action=install
while [ $# -gt 0 ]; do
    case $1 in
        --prefix)
            [ $# -ge 2 ] || fail 2 "--prefix needs a folder"
            prefix=$2
            shift
            ;;
        --prefix=*) prefix=${1#--prefix=} ;;
        --uninstall) action=uninstall ;;
        -h | --help)
            sed -n '2,5s/^# \{0,1\}//p' "$0"
            exit 0
            ;;
        *) fail 2 "unknown option \`$1\`: --prefix DIR and --uninstall are known" ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail 2 "HOME is not set: give --prefix DIR"
    prefix=$HOME/.local
fi
case $prefix in
    /*) ;;
    *) prefix=$(pwd)/$prefix ;;
esac

own=$prefix/share/castellan
list=$own/files     # the files of this package, written first
mark=$own/version   # the installed version, written last

# Succeeds if version $1 is newer than version $2; both are numbers with dots.
is_newer() {
    a=$1.
    b=$2.
    while [ -n "$a" ] || [ -n "$b" ]; do
        x=${a%%.*}
        y=${b%%.*}
        a=${a#*.}
        b=${b#*.}
        x=${x%%[!0-9]*}
        y=${y%%[!0-9]*}
        [ "${x:-0}" -eq "${y:-0}" ] || { [ "${x:-0}" -gt "${y:-0}" ] && return 0 || return 1; }
    done
    return 1
}

# Prints the version that is installed, or nothing. A program without a mark is of a half-finished installation, or of
# another way to install.
installed() {
    if [ -f "$mark" ]; then
        head -n 1 "$mark"
    elif [ -x "$prefix/bin/castellan" ]; then
        "$prefix/bin/castellan" --version 2>/dev/null | sed -n '1s/^castellan \([0-9][0-9.]*\).*/\1/p'
    fi
}

check_sums() {
    [ -f "$here/SHA256SUMS" ] || fail 3 "$here/SHA256SUMS is missing: unpack the archive again"
    cd "$here"
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum -c --quiet SHA256SUMS >&2 || fail 3 "the archive is damaged: fetch and unpack it again"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 -c SHA256SUMS >/dev/null || fail 3 "the archive is damaged: fetch and unpack it again"
    else
        fail 1 "neither sha256sum nor shasum is there: the archive cannot be checked"
    fi
}

# Puts file $1 of the archive to $2, whole or not at all.
place() {
    [ ! -d "$2" ] || fail 1 "$2 is a folder: move it away"
    if [ ! -L "$2" ] && cmp -s "$here/$1" "$2"; then
        return 0
    fi
    mkdir -p "$(dirname "$2")" || fail 1 "$(dirname "$2") cannot be made: give another --prefix"
    rm -f "$2.castellan-new"
    cp "$here/$1" "$2.castellan-new" || fail 1 "$2 cannot be written: free the disk, then run this command again"
    chmod "$(case $1 in bin/*) echo 755 ;; *) echo 644 ;; esac)" "$2.castellan-new"
    mv -f "$2.castellan-new" "$2" || fail 1 "$2 cannot be replaced"
    say "installed $2"
}

do_install() {
    check_sums
    new=$(head -n 1 "$here/VERSION")
    old=$(installed) || old=
    if [ -n "$old" ] && is_newer "$old" "$new"; then
        fail 6 "castellan $old is installed in $prefix, and this is $new: an older version may not read its log and state." \
            "To go back, run \`$0 --uninstall --prefix $prefix\` first"
    fi
    mkdir -p "$own" || fail 1 "$own cannot be made: give another --prefix"
    sed 's/^[0-9a-f]*  //' "$here/SHA256SUMS" | grep -E '^(bin|lib|share)/' | LC_ALL=C sort -r >"$list.castellan-new"
    # Files that only an earlier version has stay known until they are removed, also after a half-finished run.
    if [ -f "$list" ]; then
        cat "$list" "$([ -f "$list.before" ] && echo "$list.before" || echo /dev/null)" | sort -u >"$list.before.castellan-new"
        mv -f "$list.before.castellan-new" "$list.before"
    fi
    mv -f "$list.castellan-new" "$list"
    # In reverse order: Falco's plugin and the programs come last, and `castellan` after the hook and the sandbox that it starts.
    while IFS= read -r file; do
        place "$file" "$prefix/$file"
    done <"$list"
    if [ -f "$list.before" ]; then
        while IFS= read -r file; do
            grep -qxF -- "$file" "$list" || rm -f "$prefix/$file"
        done <"$list.before"
        rm -f "$list.before"
    fi
    printf '%s\n' "$new" >"$mark.castellan-new"
    mv -f "$mark.castellan-new" "$mark"
    say "castellan $new is in $prefix"
    case ":${PATH:-}:" in
        *":$prefix/bin:"*) ;;
        *) say "$prefix/bin is not on PATH: add it in your shell's profile" ;;
    esac
    say "next: \"$prefix/bin/castellan\" install    (at a terminal; it registers the hooks, and replaces a running daemon)"
}

do_uninstall() {
    [ -f "$list" ] || fail 1 "$list is missing: no castellan of this script is in $prefix"
    # A hook that is gone cannot deny: some agents then run the call.
    if [ -x "$prefix/bin/castellan" ]; then
        left=$("$prefix/bin/castellan" uninstall --dry-run 2>&1) ||
            fail 4 "it is unknown if castellan guards agents: run \`\"$prefix/bin/castellan\" uninstall\` at a terminal first"
        case $left in
            *'no longer guarded'*)
                fail 4 "castellan still guards agents: run \`\"$prefix/bin/castellan\" uninstall\` at a terminal first"
                ;;
        esac
    fi
    for file in /etc/claude-code/managed-settings.d/50-castellan.json /etc/codex/requirements.toml \
        /etc/systemd/system/castellan@.service; do
        if [ -f "$file" ] && grep -qF "$prefix/bin/castellan" "$file"; then
            fail 4 "castellan guards other users of this machine ($file): run castellan uninstall --managed or --system first"
        fi
    done
    while IFS= read -r file; do
        rm -f "$prefix/$file" "$prefix/$file.castellan-new"
    done <"$list"
    rm -f "$mark" "$list" "$list.before" "$list.castellan-new" "$list.before.castellan-new" "$mark.castellan-new"
    rmdir "$own" "$prefix/share/doc/castellan" "$prefix/lib/castellan" 2>/dev/null || true
    say "castellan is removed from $prefix. Settings, rules and log stay: \`castellan uninstall --purge\` would have removed them"
}

"do_$action"
