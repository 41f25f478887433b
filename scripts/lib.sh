# What the other scripts share. Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$HOME/.cargo/bin:$PATH"

# The folder of the first JDK that has a compiler of at least Java 17, by the order that rethrow itself uses.
find_jdk() {
    local javac home
    for javac in "${JAVA_HOME:-/nowhere}/bin/javac" "$(command -v javac || true)" /usr/lib/jvm/*/bin/javac "$HOME"/.sdkman/candidates/java/*/bin/javac; do
        [ -x "$javac" ] || continue
        home=$(dirname "$(dirname "$(readlink -f "$javac")")")
        [ "$(java_version "$home")" -ge 17 ] && { echo "$home"; return 0; }
    done
    return 1
}

# 17 for a JDK 17, 0 if it cannot be told.
java_version() {
    local version
    version=$(sed -n 's/^JAVA_VERSION="\(1\.\)\?\([0-9]*\).*/\2/p' "$1/release" 2>/dev/null)
    echo "${version:-0}"
}
