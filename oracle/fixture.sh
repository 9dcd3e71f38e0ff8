# Makes the fixture: a small project in a repository, run in its empty directory. The copy that each command gets is made of it.
cd "$HOME"
printf '[user]\n\tname = Dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n' >.gitconfig
printf 'alias ll="ls -l"\n' >.bashrc
mkdir -p .config notes
echo plain >notes/todo.txt
cd project
git init -q
mkdir -p src/lib scripts docs test data build 'with space' conf packages/a packages/b
printf '{"name":"project","version":"1.2.3","scripts":{"build":"mkdir -p dist && cp src/index.js dist/","test":"node test/run.js","clean":"rm -rf dist build","lint":"echo lint"}}\n' >package.json
printf '{"name":"a","version":"0.1.0"}\n' >packages/a/package.json
printf '{"name":"b","version":"0.2.0"}\n' >packages/b/package.json
printf 'all: out.txt\nout.txt: src/main.c\n\tcp src/main.c out.txt\nclean:\n\trm -f out.txt *.o\n.PHONY: all clean\n' >Makefile
printf '#include <stdio.h>\nint main(void) { puts("hi"); return 0; }\n' >src/main.c
printf 'int twice(int x) { return 2 * x; }\n' >src/lib/twice.c
printf 'console.log("hello");\n' >src/index.js
printf 'console.log("tests pass");\n' >test/run.js
printf 'import json\nprint(json.dumps({"a": 1}))\n' >scripts/show.py
printf '#!/bin/sh\necho hello >hello.txt\n' >scripts/hello.sh
printf '#!/bin/bash\nset -e\nmkdir -p dist\ncp README.md dist/\n' >scripts/pack.sh
printf 'NAME=value\nexport MODE=test\n' >scripts/env.sh
printf 'fetch(1)\n' >src/app.ts
printf '# Project\n\nSome text, version 1.2.3\nTODO: more\n' >README.md
printf '# Guide\n\nfoo and bar\n' >docs/guide.md
printf 'name,age\nann,30\nbob,25\neve,35\n' >data/people.csv
printf '{"a":{"b":[1,2,3]},"version":"1.2.3"}\n' >data/config.json
printf 'one\ntwo\nthree\ntwo\n' >data/list.txt
printf 'key=value\ncolour=red\n' >conf/app.conf
printf 'port: 8000\nname: app\n' >conf/app.yaml
printf 'space\n' >'with space/a file.txt'
printf 'old\n' >build/old.o
printf 'log line\nERROR bad\nlog line\n' >app.log
printf 'node_modules\ndist\nbuild\n*.o\n' >.gitignore
printf 'create table t(a);\ninsert into t values(1);\n' >data/schema.sql
printf 'a\n' >a.txt
printf 'b\n' >b.txt
chmod +x scripts/hello.sh scripts/pack.sh
ln -s src source-link
git add -A
git commit -qm first
git branch feature
echo more >>README.md
git commit -qam second
git tag v1.0
tar -czf data/archive.tgz docs data/list.txt
tar -cf data/plain.tar docs
zip -qr data/archive.zip docs a.txt
gzip -k data/list.txt
printf 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n' >data/change.patch
sqlite3 data/test.db 'create table t(a); insert into t values(1);'
sha256sum a.txt b.txt >SHA256SUMS
echo changed >>b.txt
echo new >untracked.txt
# Files that lines of real scripts name.
mkdir -p dist coverage doc docs/5.x lib libcjs target/debug/deps target/debug/.fingerprint node_modules/fast-uri cache bld/CMakeFiles bld-am \
    chroot/root/packages binary/tools binary/boot/grub chroot/grub_eltorito foo-123 test-libs protobuf/php/src run1 debug po tests/trie \
    tests/tables scripts/benchmark/one spec/_json third-party/folly/folly/lang emacs-refcards debian/libpq-dev/usr/bin .github/scripts wheels
for file in dist/old.js coverage/report.txt libcjs/x.js bld/config.log bld/CMakeFiles/CMakeOutput.log main.cf chroot/root/packages/Packages \
    'target+' sample1.bz2 sample1.rb2 sample1.tst sample1.ref words0 words1 words3 client.key server.key HISTORY.md index.html index.js \
    index.d.ts min.js README.md.bak READ.ME.md.bak tsconfig.tsbuildinfo v8.log profile.txt index.md acinclude.m4 source \
    spec/_json/a.js third-party/folly/folly/Subprocess.cpp third-party/folly/folly/lang/Exception.cpp tests/tables/tables.rs tests/trie/trie.rs \
    bzdiff target-t target.tmp chroot/filesystem.squashfs libquiche.so pkg.bin gnus-refcard.dvi foo-123/x LICENSE .npmrc stamp-a \
    graph tmpsubstfile1 checksum protobuf/php/composer.json.dist chroot/splash.svg .babelrc.lib emacs-refcards/x target/debug/app protobuf/php/src/x.php; do
    echo "text of $file" >"$file"
done
tar -czf bzip2-1.0.8.tar.gz docs
gzip -c a.txt >Packages.derivative.gz
zip -qr corpus.zip docs
echo "int x;" >bzip2.c
