#!/usr/bin/env bash
# Gets what the emulated machines are made of: Debian's kernel for virtual machines and its static
# busybox, unpacked into a folder and not installed. The architectures are amd64 and arm64 by
# default. Does nothing if all of it is there.
set -euo pipefail
folder="${1:?usage: machines/fetch.sh FOLDER [ARCHITECTURE...]}"
shift
[ $# -gt 0 ] || set -- amd64 arm64
for architecture in "$@"; do
    case "$architecture" in
        amd64 | arm64) ;;
        *)
            echo "unknown architecture \"$architecture\": expected amd64 or arm64" >&2
            exit 2
            ;;
    esac
done
mkdir -p "$folder"
folder="$(realpath "$folder")"

# apt with lists of its own, so that the lists and the architectures of this machine stay as they
# are.
private_apt() { # ARCHITECTURE COMMAND ARGUMENT...
    local architecture="$1" command="$2"
    local state="$folder/apt/$architecture"
    shift 2
    local options=(
        -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root
        -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache"
        -o Acquire::Languages=none
    )
    # Other vendors' repositories have nothing that is needed here, and not every architecture.
    if [ -e /etc/apt/sources.list.d/debian.sources ]; then
        options+=(-o Dir::Etc::sourcelist=/etc/apt/sources.list.d/debian.sources -o Dir::Etc::sourceparts=-)
    fi
    "$command" "${options[@]}" "$@"
}

# The newest kernel stands in no package of a fixed name; one of a fixed name depends on it.
fetch() { # ARCHITECTURE
    local architecture="$1" kernel
    local state="$folder/apt/$architecture" unpacked="$folder/apt/$architecture/unpacked"
    echo "fetching a kernel and busybox for $architecture"
    # What an interrupted run left would be taken for a second kernel.
    rm -rf "$state"
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$unpacked"
    touch "$state/status"
    private_apt "$architecture" apt-get update -qq
    kernel="$(private_apt "$architecture" apt-cache depends "linux-image-cloud-$architecture" |
        sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)$/\1/p' | head -n 1)"
    (cd "$state" && private_apt "$architecture" apt-get download -qq "$kernel" busybox-static)
    for package in "$state"/*.deb; do
        dpkg -x "$package" "$unpacked"
    done
    mkdir -p "$folder/$architecture"
    cp "$unpacked"/bin/busybox "$folder/$architecture/busybox"
    # Last, and under its name at once: whoever finds it finds everything.
    cp "$unpacked"/boot/vmlinuz-* "$folder/$architecture/kernel.new"
    mv "$folder/$architecture/kernel.new" "$folder/$architecture/kernel"
    rm -rf "$state"
}

for architecture in "$@"; do
    [ -e "$folder/$architecture/kernel" ] || fetch "$architecture"
done
rmdir "$folder/apt" 2>/dev/null || true
