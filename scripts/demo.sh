#!/usr/bin/env bash
# The whole way once: a program crashes in commons-collections 3.1, its log and the jar go in, a failing test comes out.
source "$(dirname "$0")/lib.sh"

scripts/jars.sh commons-collections:commons-collections:3.1
jar=target/jars/commons-collections-3.1.jar
jdk=$(find_jdk) || { echo "no JDK of version 17 or newer; see scripts/setup.sh" >&2; exit 1; }
demo=target/demo
rm -rf "$demo"
mkdir -p "$demo/classes"
cargo build --release -p rethrow

"$jdk/bin/javac" -nowarn -Xlint:none -cp "$jar" -d "$demo/classes" scripts/demo/Orders.java 2>/dev/null
"$jdk/bin/java" -cp "$jar:$demo/classes" Orders >"$demo/crash.log"

show() { printf '\n$ %s\n' "$*"; }
show cat "$demo/crash.log"
cat "$demo/crash.log"

run=(reproduce "$demo/crash.log" --classpath "$jar" --budget 60s --run-dir "$demo/rethrow.out")
show rethrow "${run[@]}"
"${CARGO_TARGET_DIR:-target}/release/rethrow" "${run[@]}"

test=$(find "$demo/rethrow.out/tests" -name '*.java' | head -n 1)
show cat "$test"
cat "$test"
