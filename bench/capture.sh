#!/usr/bin/env bash
# Runs the triggers of the suites against the real programs, in the jail, and writes what they print to testdata/crashes/java/<id>/crash.log or
# testdata/crashes/python/<id>/traceback.txt:
#   bench/capture.sh [ID ...]          without arguments: every crash of bench/suites/{java,python}.toml that has no log yet
# The trigger's own frame and what is outward of it are cut off: the search must not know them.
# RETHROW names the binary (target/release/rethrow if not set), JAVA_HOME the JDK.
source "$(dirname "$0")/../scripts/lib.sh"

rethrow=${RETHROW:-target/release/rethrow}
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
    jdk=$(find_jdk) || { echo "no JDK with javac" >&2; exit 1; }
    rm -rf "${classes:?}"/*
    "$jdk/bin/javac" -nowarn -Xlint:none -encoding UTF-8 -cp "$classpath" -d "$classes" "$crashes/$id/Trigger.java" 2>"$classes/errors" ||
        { echo "$id: the trigger does not compile: $(head -n 3 "$classes/errors")" >&2; return 1; }
    local allowed=("--allow-read" "$classes" "--allow-read" "$(dirname "${classpath%%:*}")")
    "$rethrow" jail "${allowed[@]}" -- "$jdk/bin/java" -cp "$classes:$classpath" Trigger 2>&1 >/dev/null </dev/null | cut_trigger >"$classes/log" || true
    grep -q $'^\tat ' "$classes/log" || { echo "$id: the trigger does not crash" >&2; return 1; }
    mv "$classes/log" "$log"
    echo "$id  $(head -n 1 "$log" | cut -c 1-150)"
}

# The trigger's frame goes, and where this machine keeps its packages and its standard library.
cut_python() {
    awk '
        /^Traceback / || /^During handling/ || /^The above exception/ { begun = 1; dropping = 0; print; next }
        !begun       { next }
        /^  File "/  { dropping = /trigger\.py"/ }
        /^[^ ]/      { dropping = 0 }
        !dropping    { print }
    ' | sed -E 's#^(  File ")[^"]*/site-packages/#\1site-packages/#; s#^(  File ")[^"]*/lib/(python3\.[0-9]+)/#\1/usr/lib/\2/#'
}

capture_python() {
    local id=$1 python=$2 folder=testdata/crashes/python/$1
    local base allowed
    base=$("$python" -c 'import sys; print(sys.base_prefix)')
    allowed=("--allow-read" "$PWD/$folder" "--allow-read" "$(dirname "$(dirname "$python")")" "--allow-read" "$base")
    "$rethrow" jail "${allowed[@]}" -- "$python" -B "$PWD/$folder/trigger.py" 2>&1 >/dev/null </dev/null | cut_python >"$classes/log" || true
    grep -q '^  File "site-packages/' "$classes/log" || { echo "$id: the trigger does not crash" >&2; return 1; }
    mv "$classes/log" "$folder/traceback.txt"
    echo "$id  $(tail -n 1 "$folder/traceback.txt" | cut -c 1-150)"
}

# Suite, file of the log, what captures.
capture_all() {
    local suite=$1 file=$2 how=$3 id program
    shift 3
    while IFS=$'\t' read -r id program; do
        if [ $# -gt 0 ]; then
            [[ " $* " == *" $id "* ]] || continue
        elif [ -s "testdata/crashes/$suite/$id/$file" ]; then
            continue
        fi
        "$how" "$id" "$program" || failed=1
    done < <("$rethrow" bench fetch "bench/suites/$suite.toml")
}

failed=0
capture_all java crash.log capture "$@"
capture_all python traceback.txt capture_python "$@"
exit $failed
