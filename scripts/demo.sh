#!/bin/sh
# The main job, for a newcomer to watch: remember, look at the files, find again, correct, forget.
set -eu

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

echo "Memolith at work, in a temporary folder that is deleted at the end. It takes a few seconds."
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/demo"
cd "$temporary/demo"
export MEMOLITH_ROOT="$temporary/demo"

say "An agent learns a few things."
run 'memolith remember "Ana owns the release key; deploys go through staging first"'
run 'memolith remember "The user prefers short answers" --category preference'
run 'memolith remember "The staging server is called heron"'
run 'memolith remember "The door code is 4711" --sensitivity secret'
run 'memolith save "Releases happen on Tuesdays, never before a holiday." --category fact --title "Release days"'

say "You write something yourself, in any editor."
run 'printf "\n## Garden\n\nThe pond pump is off from November to March.\n" >> MEMORY.md'

say "All of it is Markdown, in a folder you own. A note is a file:"
run 'find . -name "*.md" | sort'
run 'cat memory/fact/*-release-days.md'

say "A record is one list item in MEMORY.md, with its id, source and date:"
run 'grep heron MEMORY.md'

say "A question finds it again, by words and by meaning, in English or Spanish."
run 'memolith search "who can release?" --limit 2'
run 'memolith search "¿cómo se llama el servidor?" --limit 1'
run 'memolith search "when is the pump off?" --limit 1'

say "This is what an agent is given before it answers a message."
run 'memolith context "When is our next release, and who does it?"'

say "Something changed. The new record replaces the old one, which stays as history."
run "memolith supersede $(id_of heron) \"The staging server is called osprey\""
run 'memolith list'

say "Something has to go. Forgetting is final, in every file."
run "memolith forget $(id_of 'short answers') --yes"
run 'memolith list'

say "Now give it to your agent: README.md says how. To run the tests: make test"
