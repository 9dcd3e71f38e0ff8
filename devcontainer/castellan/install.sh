#!/bin/sh
# Installs castellan inside a development container, for every user of it. The folder `bin` beside this script has castellan's
# programs for the container's system. The script fetches nothing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
place=/usr/local/lib/castellan
programs="castellan castellan-hook castellan-sandbox"

fail() {
    echo "castellan: $1" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || fail "this script installs for every user: run it as root"
for program in $programs; do
    [ -f "$here/bin/$program" ] || fail "\`bin/$program\` is missing: copy castellan's programs for this system into \`bin\`"
done

umask 022
mkdir -p "$place" /usr/local/bin
for program in $programs; do
    # A program that runs is replaced, not written.
    cp "$here/bin/$program" "$place/$program.new"
    chmod 755 "$place/$program.new"
    mv -f "$place/$program.new" "$place/$program"
done
ln -sf "$place/castellan" /usr/local/bin/castellan
"$place/castellan" --version >/dev/null 2>&1 || fail "\`bin/castellan\` does not run here: is it for this system?"

# Hooks in the machine's settings need no file below a home, which may be mounted from outside.
# shellcheck disable=SC2086
"$place/castellan" install --managed ${AGENTS:-claude codex}
