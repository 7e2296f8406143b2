#!/usr/bin/env bash
# Gets typos, which checks the spelling, into a folder. Nothing is installed. Does nothing if it is
# there. The version is fixed: a later one knows more words.
set -euo pipefail
folder="${1:?usage: xtask/fetch-typos.sh FOLDER}"
[ -e "$folder/typos" ] && exit
echo "fetching typos"
rm -rf "$folder.new"
mkdir -p "$folder.new" "$folder"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder.new" typos==1.52.0
python3 -m zipfile --extract "$folder.new"/*.whl "$folder.new"
chmod +x "$folder.new"/*.data/scripts/typos
# Under its name at once: whoever finds it finds all of it.
mv "$folder.new"/*.data/scripts/typos "$folder/typos"
rm -r "$folder.new"
