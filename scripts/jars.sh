#!/usr/bin/env bash
# Fetches jars from Maven Central into target/jars, each once: jars.sh [GROUP:ARTIFACT:VERSION ...]
# Without arguments: all that the tests and the demo use.
source "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || set -- \
    commons-collections:commons-collections:3.1 \
    commons-lang:commons-lang:2.3 \
    commons-lang:commons-lang:2.4 \
    commons-codec:commons-codec:1.9 \
    commons-cli:commons-cli:1.2 \
    com.google.code.gson:gson:2.8.0 \
    com.atlassian.commonmark:commonmark:0.2.0 \
    com.googlecode.java-diff-utils:diffutils:1.2 \
    com.univocity:univocity-parsers:2.1.1 \
    com.beust:jcommander:1.48 \
    cn.hutool:hutool-core:5.7.16 \
    com.github.andrewoma.dexx:collection:0.6 \
    junit:junit:4.13.2 \
    org.hamcrest:hamcrest-core:1.3 \
    org.junit.platform:junit-platform-console-standalone:1.10.2

mkdir -p target/jars
for coordinate in "$@"; do
    IFS=: read -r group artifact version <<<"$coordinate"
    jar=target/jars/$artifact-$version.jar
    [ -s "$jar" ] && continue
    echo "fetching $coordinate" >&2
    url=https://repo1.maven.org/maven2/${group//.//}/$artifact/$version/$artifact-$version.jar
    # Maven first: it knows mirrors and proxies, and may have the jar already.
    mvn -q -B dependency:copy "-Dartifact=$coordinate" -DoutputDirectory="$PWD/target/jars" </dev/null >&2 ||
        { curl -fsSL -o "$jar.part" "$url" && mv "$jar.part" "$jar"; }
    [ -s "$jar" ] || { echo "cannot fetch $coordinate" >&2; exit 1; }
done
