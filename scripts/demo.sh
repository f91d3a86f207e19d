#!/bin/sh
# The main job, for a newcomer to watch: remember, look at the files, find again, correct, forget.
set -eu

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/demo"
cd "$temporary/demo"
export MEMOLITH_ROOT="$temporary/demo"

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

say() { printf '\n# %s\n' "$1"; }
run() {
    printf '%s$ %s%s\n' "$bold" "$1" "$plain"
    eval "$1"
}
id_of() { memolith list --json | python -c "
import json, sys
print(next(r['id'][:8] for r in json.load(sys.stdin)['records'] if sys.argv[1] in r['text']))" "$1"; }

say "An agent learns a handful of things."
run 'memolith remember "Ana owns the release key; deploys go through staging first"'
run 'memolith remember "The user prefers short answers" --category preference'
run 'memolith remember "The staging server is called heron"'
run 'memolith remember "The door code is 4711" --sensitivity secret'
run 'memolith save "Releases happen on Tuesdays, never before a holiday." --category fact --title "Release days"'

say "They are plain Markdown, in a folder you own."
run 'find . -name "*.md" | sort'
run 'cat memory/2*.md'

say "They are found again. What is secret stays out, unless you ask for it."
run 'memolith search "who can release?" --limit 2'
run 'memolith search "¿cómo se llama el servidor?" --limit 1'
run 'memolith list'
run 'memolith get memory/fact/*-release-days.md'

say "Something changed: the new record takes the place of the old one, which stays as history."
run "memolith supersede $(id_of heron) \"The staging server is called osprey\""
run 'memolith list --category note'
run 'memolith list --category note --past'

say "Something should be gone: forgetting is final, in every file."
run "memolith forget $(id_of 'short answers')"
run 'memolith list'

say "What stands in this memory now."
run 'memolith status'
