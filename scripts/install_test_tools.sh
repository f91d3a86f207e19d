#!/bin/sh
# Install the Debian packages that some tests need. Where that is not possible, say what will be skipped.

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
