#!/usr/bin/env bash
# Gets what the steps `pages` and `all-pages` drive browsers with, into a folder: puppeteer-core and
# axe-core in the versions of the lock file. Nothing is installed, and no script of a package runs.
# Does nothing if they are there.
set -euo pipefail
folder="${1:?usage: xtask/fetch-browsers.sh FOLDER}"
here="$(cd "$(dirname "$0")" && pwd)/browser/packages"
cmp --silent "$here/package-lock.json" "$folder/package-lock.json" && exit
echo "fetching puppeteer-core and axe-core"
rm -rf "$folder.new"
mkdir -p "$folder.new"
cp "$here/package.json" "$here/package-lock.json" "$folder.new"
npm ci --prefix "$folder.new" --ignore-scripts --no-audit --no-fund --loglevel error
rm -rf "$folder"
# Under its name at once: whoever finds it finds all of it.
mv "$folder.new" "$folder"
