#!/usr/bin/env bash
# Runs the triggers of a suite against the real jars, in the jail, and writes what they print to testdata/crashes/java/<id>/crash.log:
#   bench/capture.sh [ID ...]          without arguments: every crash of bench/suites/java.toml that has no log yet
# The trigger's own frame and what is outward of it are cut off: the search must not know them.
# RETHROW names the binary (target/release/rethrow if not set), JAVA_HOME the JDK.
source "$(dirname "$0")/../scripts/lib.sh"

rethrow=${RETHROW:-target/release/rethrow}
jdk=$(find_jdk) || { echo "no JDK with javac" >&2; exit 1; }
crashes=testdata/crashes/java
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT

# Frames from the trigger's on are dropped; "... 3 more" of a cause counts frames of the trace around it, of which fewer are left.
cut_trigger() {
    awk '
        /^Exception in thread/   { begun = 1 }
        !begun                   { next }
        /^Caused by:|^\tSuppressed:/ { dropping = 0; print; next }
        /^\tat Trigger[.$]/      { dropping = 1 }
        /^\tat /                 { if (dropping) dropped++; else print; next }
        /^\t\.\.\. [0-9]+ more/  { left = $2 - dropped; if (!dropping && left > 0) print "\t... " left " more"; next }
                                 { print }
    '
}

capture() {
    local id=$1 classpath=$2 log=$crashes/$1/crash.log
    rm -rf "${classes:?}"/*
    "$jdk/bin/javac" -nowarn -Xlint:none -encoding UTF-8 -cp "$classpath" -d "$classes" "$crashes/$id/Trigger.java" 2>"$classes/errors" ||
        { echo "$id: the trigger does not compile: $(head -n 3 "$classes/errors")" >&2; return 1; }
    local allowed=("--allow-read" "$classes" "--allow-read" "$(dirname "${classpath%%:*}")")
    "$rethrow" jail "${allowed[@]}" -- "$jdk/bin/java" -cp "$classes:$classpath" Trigger 2>&1 >/dev/null </dev/null | cut_trigger >"$classes/log" || true
    grep -q $'^\tat ' "$classes/log" || { echo "$id: the trigger does not crash" >&2; return 1; }
    mv "$classes/log" "$log"
    echo "$id  $(head -n 1 "$log" | cut -c 1-150)"
}

failed=0
while IFS=$'\t' read -r id classpath; do
    if [ $# -gt 0 ]; then
        [[ " $* " == *" $id "* ]] || continue
    elif [ -s "$crashes/$id/crash.log" ]; then
        continue
    fi
    capture "$id" "$classpath" || failed=1
done < <("$rethrow" bench fetch bench/suites/java.toml)
exit $failed
