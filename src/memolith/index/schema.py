"""The tables of the index. A changed number means a new index: everything in it can be made again."""

# Part of the file's name, so that two versions of the program never touch each other's index.
VERSION = 7

# Postings are stored by blocks of so many keys: a place in a block takes two bytes.
BLOCK = 1 << 15
# What a search needs of so many chunks is stored once more as one value, which loads fast.
PACK = 1 << 12

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,  -- a file name may be no text
    inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
    digest TEXT NOT NULL, flaws TEXT NOT NULL
) STRICT;

-- Categories, sessions, chats and channels by number: a filter compares integers.
CREATE TABLE names (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: its place in every array
    file INTEGER NOT NULL, kind TEXT NOT NULL,
    first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
    offset INTEGER NOT NULL, size INTEGER NOT NULL,
    role TEXT NOT NULL, heading TEXT NOT NULL,
    dated INTEGER NOT NULL,  -- day number, 0 for none
    category INTEGER NOT NULL, session INTEGER NOT NULL, chat INTEGER NOT NULL,
    sensitivity TEXT NOT NULL, channel INTEGER NOT NULL,
    record_id TEXT NOT NULL, supersedes TEXT NOT NULL,
    expires INTEGER NOT NULL,  -- seconds since 1970, 0 for never
    digest BLOB NOT NULL,  -- of the text
    identity BLOB NOT NULL,  -- of everything that is searched, not of the place
    record INTEGER NOT NULL,  -- a number for its record, even; one more for a copy of it; or 0
    length REAL NOT NULL,  -- in words
    tokens BLOB NOT NULL,
    vector BLOB  -- signed bytes; empty if the model refused the text
) STRICT;
CREATE INDEX chunks_of_a_file ON chunks (file);
CREATE INDEX newer_records ON chunks (supersedes) WHERE supersedes <> '';
CREATE INDEX secret_records ON chunks (record_id) WHERE sensitivity = 'secret' AND record_id <> '';
CREATE INDEX chunks_without_vector ON chunks (key) WHERE vector IS NULL;
CREATE INDEX chunks_refused ON chunks (key) WHERE length(vector) = 0;

-- For a term and a block of keys: the places in the block, and how often in units of a quarter.
CREATE TABLE postings (
    block INTEGER NOT NULL, term INTEGER NOT NULL, places BLOB NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (block, term)
) STRICT, WITHOUT ROWID;

CREATE TABLE packs (number INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;

-- What other processes have to learn about chunks they have read: which are gone, which got a vector.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, removed BLOB NOT NULL, embedded BLOB NOT NULL
) STRICT;
"""
