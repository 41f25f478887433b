#!/usr/bin/env bash
# Compiles the fixture programs to target/fixtures/classes and writes the logs of their crashes to target/fixtures/logs.
# Does nothing if they are newer than the sources.
source "$(dirname "$0")/lib.sh"

out=target/fixtures
sources=testdata/fixtures
if [ -e "$out/done" ] && [ -z "$(find "$sources" scripts/fixtures.sh -newer "$out/done" -print -quit)" ]; then exit 0; fi
jdk=$(find_jdk) || { echo "no JDK of version 17 or newer; see scripts/setup.sh" >&2; exit 1; }

rm -rf "$out"
mkdir -p "$out/classes" "$out/witness" "$out/logs"
# One class-file version whatever the JDK, so that the fixtures are the same everywhere.
find "$sources/src" -name '*.java' -print0 | sort -z | xargs -0 "$jdk/bin/javac" -g -nowarn --release 17 -encoding UTF-8 -d "$out/classes"
"$jdk/bin/javac" -g -nowarn --release 17 -encoding UTF-8 -cp "$out/classes" -d "$out/witness" "$sources/witness/witness/Witness.java"
"$jdk/bin/java" -cp "$out/classes:$out/witness" witness.Witness "$out/logs"
# Kinds of frames and inputs; of Java 8, whose compiler still made accessors for members of enclosing classes.
mkdir -p "$out/kinds/classes" "$out/kinds/witness" "$out/kinds/logs"
"$jdk/bin/javac" -g -nowarn -Xlint:-options --release 8 -encoding UTF-8 -d "$out/kinds/classes" $(find "$sources/kinds/src" -name '*.java')
"$jdk/bin/javac" -g -nowarn -Xlint:-options --release 8 -encoding UTF-8 -cp "$out/kinds/classes" -d "$out/kinds/witness" $(find "$sources/kinds/witness" -name '*.java')
"$jdk/bin/java" -cp "$out/kinds/classes:$out/kinds/witness" kinds.Witness "$out/kinds/logs"
touch "$out/done"
