#!/usr/bin/env bash
# Installs what is missing to build, test and try rethrow: a JDK, Maven, CPython with pytest, a C compiler for the linker, Rust.
# As root on a machine with apt it installs; elsewhere it prints what to type. What is there already is left alone, so a second
# run needs no network.
source "$(dirname "$0")/lib.sh"

packages=()
find_jdk >/dev/null || packages+=(openjdk-17-jdk-headless)
command -v mvn >/dev/null || packages+=(maven)
python3 -c 'import pytest' 2>/dev/null || packages+=(python3 python3-pytest)
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v curl >/dev/null || packages+=(curl ca-certificates)

if [ ${#packages[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq </dev/null
        apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null
    elif command -v brew >/dev/null; then
        echo "missing; please run:  brew install openjdk@17 maven python && pip3 install pytest" >&2
        exit 1
    else
        echo "missing; please run:  sudo apt-get install -y ${packages[*]}" >&2
        exit 1
    fi
fi

if ! command -v cargo >/dev/null; then
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --default-toolchain none
fi
