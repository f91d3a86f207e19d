"""The tables of the index. A changed number means a new index: everything in it can be made again."""

# Part of the file's name, so that two versions of the program never touch each other's index.
VERSION = 6

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Every row that matters carries a checksum: SQLite does not notice a flipped bit inside a value.
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,  -- a file's name may be no text
    stamp BLOB NOT NULL, digest TEXT NOT NULL,
    chunks INTEGER NOT NULL,  -- how many; what is found of them is counted
    sum INTEGER NOT NULL
) STRICT;

-- Categories, sessions, chats and channels, by number: a filter compares one integer.
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sum INTEGER NOT NULL) STRICT;

CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice, so a segment can trust it
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
    identity BLOB NOT NULL,  -- of all that is searched, but not of the place
    sum INTEGER NOT NULL,  -- of all columns above
    record INTEGER NOT NULL,  -- a number for its record, even; one more for a copy made of that; or 0
    terms BLOB NOT NULL, tokens BLOB NOT NULL, vector BLOB,
    search_sum INTEGER NOT NULL  -- of what a segment is built from, but for tokens and vector, which have their own
) STRICT;
CREATE INDEX chunks_of_a_file ON chunks (file);
CREATE INDEX newer_records ON chunks (supersedes) WHERE supersedes <> '';
CREATE INDEX chunks_without_vector ON chunks (key) WHERE vector IS NULL;
CREATE INDEX chunks_refused ON chunks (key) WHERE length(vector) = 4;  -- its checksum alone

-- Chunks that stand in a segment file but no longer count.
CREATE TABLE removed (number INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL) STRICT;

-- Files of flat arrays that hold the chunks from one key to another; see `segments.py`.
CREATE TABLE segments (name TEXT PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
"""
