#!/usr/bin/env bash
# Takes report.png anew: the demo, rebuilt onto d3512b4 with its right answer, and its report in a headless
# browser, with the first step that has something to show unfolded.
# Needs stackmerge with its engine on the PATH, and Chromium (or CHROMIUM=/path/to/chrome). Options go to the browser.
set -eu
images=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
stackmerge demo demo > /dev/null
cd demo/fork
stackmerge rebuild --onto d3512b4 || test $? = 3
cp -r ../resolutions/right/. .git/stackmerge/5080deploy/worktree
git -C .git/stackmerge/5080deploy/worktree add -u
stackmerge continue
stackmerge report --out "$place/report.html"
sed -i '0,/<details><summary class="row">/s//<details open><summary class="row">/' "$place/report.html"    # the first step
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --window-size=1100,1130 --screenshot="$images/report.png" "$@" "file://$place/report.html" 2> /dev/null
ls -l "$images/report.png"
