"""The tables of the PostgreSQL engine, and the statements that make them: see `postgres`."""

from __future__ import annotations

from typing import Any

import psycopg

from memolith.errors import IndexUnavailableError
from memolith.index.rows import COLUMNS

LOCK = 0x6D656D6F  # of the advisory lock under which tables are made
PROFILE = "memolith.profile"  # the setting of a transaction that row-level security compares with
TABLES = ("profiles", "files", "chunks", "postings", "stores", "pieces")

SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA IF NOT EXISTS memolith;
CREATE TABLE IF NOT EXISTS memolith.version (version int NOT NULL);

CREATE TABLE memolith.profiles (
    profile text PRIMARY KEY,
    generation text NOT NULL,  -- another one when everything was deleted, or for another model
    version bigint NOT NULL,  -- one more after every write
    model text NOT NULL, dimensions int NOT NULL,
    last_key bigint NOT NULL
);
CREATE TABLE memolith.files (
    profile text NOT NULL, path bytea NOT NULL, stamp text NOT NULL,
    digest text NOT NULL, flaws text NOT NULL,
    PRIMARY KEY (profile, path)
);
CREATE TABLE memolith.chunks (
    profile text NOT NULL, key bigint NOT NULL, path bytea NOT NULL, kind text NOT NULL,
    first_line int NOT NULL, last_line int NOT NULL,
    start bigint NOT NULL, size bigint NOT NULL,
    role text NOT NULL, heading text NOT NULL, dated int NOT NULL,
    category text NOT NULL, folded text NOT NULL, session text NOT NULL, chat text NOT NULL,
    sensitivity text NOT NULL, channel text NOT NULL,
    record_id text NOT NULL, supersedes text NOT NULL, expires bigint NOT NULL,
    digest bytea NOT NULL, identity bytea NOT NULL, record bigint NOT NULL,
    length real NOT NULL, tokens bytea NOT NULL,
    hidden boolean NOT NULL,  -- secret here, or its record is in another file
    dimensions int NOT NULL,  -- of the vector; 0 without one, -1 if the model refused the text
    vector halfvec,
    PRIMARY KEY (profile, key)
);
CREATE INDEX chunks_of_a_file ON memolith.chunks (profile, path);
CREATE INDEX chunks_of_a_record ON memolith.chunks (profile, record_id) WHERE record_id <> '';
CREATE INDEX newer_records ON memolith.chunks (profile, supersedes) WHERE supersedes <> '';
CREATE INDEX chunks_without_vector ON memolith.chunks (profile, key) WHERE dimensions <= 0;
CREATE TABLE memolith.postings (
    profile text NOT NULL, term bigint NOT NULL, key bigint NOT NULL,
    count smallint NOT NULL, length real NOT NULL, hidden boolean NOT NULL,
    PRIMARY KEY (profile, term, key)
);
CREATE INDEX postings_of_a_chunk ON memolith.postings (profile, key);
"""

# The bytes of files, for servers without a folder of their own: see `postgres_files`.
FILES = """
CREATE TABLE memolith.stores (profile text PRIMARY KEY, version bigint NOT NULL);
CREATE TABLE memolith.pieces (
    profile text NOT NULL, path bytea NOT NULL, number int NOT NULL,
    digest text NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (profile, path, number)
);
"""

# What makes each version of the tables of the one before, and the tables it adds.
STEPS = ((SCHEMA, TABLES[:4]), (FILES, TABLES[4:]))

# Even a statement that forgets its filter sees one profile, unless its role bypasses row security.
SECURITY = """
ALTER TABLE memolith.{table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE memolith.{table} FORCE ROW LEVEL SECURITY;
CREATE POLICY one_profile ON memolith.{table}
    USING (profile = current_setting('memolith.profile', true))
    WITH CHECK (profile = current_setting('memolith.profile', true));
"""

HNSW = """
CREATE INDEX IF NOT EXISTS chunks_hnsw_{dimensions} ON memolith.chunks
    USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) WHERE dimensions = {dimensions}
"""

# What the engine asks. Each names the profile; a test reads them all.
STATEMENTS = {
    "profile": "SELECT generation, model, dimensions, version, last_key FROM memolith.profiles"
    " WHERE profile = %(profile)s {lock}",
    "new profile": "INSERT INTO memolith.profiles VALUES (%(profile)s, %(generation)s, 0, '', 0, 0)"
    " ON CONFLICT DO NOTHING",
    "written": "UPDATE memolith.profiles SET version = version + 1, last_key = %(last_key)s"
    " WHERE profile = %(profile)s",
    "adopt": "UPDATE memolith.profiles SET version = version + 1, generation = %(generation)s,"
    " model = %(model)s, dimensions = %(dimensions)s WHERE profile = %(profile)s",
    "discard": "UPDATE memolith.chunks SET vector = NULL, dimensions = 0"
    " WHERE profile = %(profile)s AND dimensions <> 0",
    "files": "SELECT path, stamp, digest, flaws FROM memolith.files WHERE profile = %(profile)s",
    "file": "SELECT stamp, digest, flaws FROM memolith.files"
    " WHERE profile = %(profile)s AND path = %(path)s",
    "put file": "INSERT INTO memolith.files VALUES"
    " (%(profile)s, %(path)s, %(stamp)s, %(digest)s, %(flaws)s) ON CONFLICT (profile, path)"
    " DO UPDATE SET stamp = excluded.stamp, digest = excluded.digest, flaws = excluded.flaws",
    "delete file": "DELETE FROM memolith.files WHERE profile = %(profile)s AND path = %(path)s",
    "identities": "SELECT identity, key, record_id FROM memolith.chunks"
    " WHERE profile = %(profile)s AND path = %(path)s ORDER BY key DESC",
    "move": "UPDATE memolith.chunks SET first_line = %(first_line)s, last_line = %(last_line)s,"
    " start = %(start)s, size = %(size)s WHERE profile = %(profile)s AND key = %(key)s",
    "add chunk": "INSERT INTO memolith.chunks VALUES (%(profile)s, %(key)s, %(path)s, %(kind)s,"
    " %(first_line)s, %(last_line)s, %(start)s, %(size)s, %(role)s, %(heading)s, %(dated)s,"
    " %(category)s, %(folded)s, %(session)s, %(chat)s, %(sensitivity)s, %(channel)s,"
    " %(record_id)s, %(supersedes)s, %(expires)s, %(digest)s, %(identity)s, %(record)s,"
    " %(length)s, %(tokens)s, %(hidden)s, %(dimensions)s, %(vector)s::halfvec)",
    "add postings": "INSERT INTO memolith.postings SELECT %(profile)s, * FROM unnest("
    "%(terms)s::bigint[], %(keys)s::bigint[], %(counts)s::smallint[], %(lengths)s::real[],"
    " %(hidden)s::boolean[])",
    "delete": "DELETE FROM memolith.{table} WHERE profile = %(profile)s AND key = ANY(%(keys)s)",
    "hide": """
        WITH secret AS (
            SELECT DISTINCT record_id FROM memolith.chunks WHERE profile = %(profile)s
            AND record_id = ANY(%(records)s) AND sensitivity = 'secret'
        ), changed AS (
            UPDATE memolith.chunks SET hidden = NOT hidden WHERE profile = %(profile)s
            AND record_id = ANY(%(records)s) AND hidden <>
                (sensitivity = 'secret' OR record_id IN (SELECT record_id FROM secret))
            RETURNING key, hidden
        )
        UPDATE memolith.postings p SET hidden = changed.hidden FROM changed
        WHERE p.profile = %(profile)s AND p.key = changed.key
        """,
    "waiting": "SELECT key FROM memolith.chunks WHERE profile = %(profile)s AND dimensions = 0"
    " AND key < %(before)s ORDER BY key DESC LIMIT %(limit)s",
    "set vector": "UPDATE memolith.chunks SET vector = %(vector)s::halfvec,"
    " dimensions = %(dimensions)s, tokens = %(tokens)s"
    " WHERE profile = %(profile)s AND key = %(key)s",
    "fetch": f"SELECT key, path, digest, {', '.join(COLUMNS)} FROM memolith.chunks"  # noqa: S608
    " WHERE profile = %(profile)s AND key = ANY(%(keys)s)",
    "newer": "SELECT supersedes, record_id, record, key, 0, first_line, sensitivity = 'secret',"
    " expires FROM memolith.chunks WHERE profile = %(profile)s AND supersedes <> ''"
    " AND dated <= %(until)s AND supersedes = ANY(%(records)s)",
    "corpus": "SELECT count(*), coalesce(sum(length), 0) FROM memolith.chunks"
    " WHERE profile = %(profile)s AND (%(secret)s OR NOT hidden)",
    "mean": "SELECT avg(vector) FROM (SELECT vector FROM memolith.chunks"
    " WHERE profile = %(profile)s AND dimensions > 0 AND (%(secret)s OR NOT hidden)"
    " ORDER BY key DESC LIMIT 2000) newest",
    "frequencies": "SELECT term, count(*) FROM memolith.postings WHERE profile = %(profile)s"
    " AND term = ANY(%(terms)s) AND (%(secret)s OR NOT hidden) GROUP BY term",
    "stats": "SELECT (SELECT count(*) FROM memolith.files WHERE profile = %(profile)s), count(*),"
    " count(*) FILTER (WHERE dimensions = 0), count(*) FILTER (WHERE dimensions = -1),"
    " coalesce(sum(pg_column_size(c.*)), 0) FROM memolith.chunks c WHERE profile = %(profile)s",
    "clear": "DELETE FROM memolith.{table} WHERE profile = %(profile)s",
    "names": "SELECT DISTINCT {column} FROM memolith.chunks c"
    " WHERE profile = %(profile)s AND {filters}",
    "newest": """
        SELECT key, kind, role, dated, chat, record, 1::float8, 0::float8, tokens
        FROM memolith.chunks c
        WHERE profile = %(profile)s AND {filters} ORDER BY key DESC LIMIT %(limit)s
        """,
    "stored": "SELECT version FROM memolith.stores WHERE profile = %(profile)s",
    "store": "INSERT INTO memolith.stores VALUES (%(profile)s, %(version)s)"
    " ON CONFLICT (profile) DO UPDATE SET version = excluded.version",
    "pieces": "SELECT path, digest FROM memolith.pieces WHERE profile = %(profile)s"
    " ORDER BY path, number",
    "data": "SELECT data FROM memolith.pieces WHERE profile = %(profile)s AND path = %(path)s"
    " ORDER BY number",
    "put piece": "INSERT INTO memolith.pieces VALUES"
    " (%(profile)s, %(path)s, %(number)s, %(digest)s, %(data)s)"
    " ON CONFLICT (profile, path, number)"
    " DO UPDATE SET digest = excluded.digest, data = excluded.data",
    "cut pieces": "DELETE FROM memolith.pieces"
    " WHERE profile = %(profile)s AND path = %(path)s AND number >= %(number)s",
    # The best by BM25 and the best by cosine, each with both: one round trip.
    "rank": """
        WITH asked AS (
            SELECT * FROM unnest(%(words)s::int[], %(terms)s::bigint[], %(factors)s::float8[])
                AS a(word, term, factor)
        ), scored AS MATERIALIZED (
            SELECT key, sum(best) AS score FROM (
                SELECT a.word, p.key, max(0.25 * p.count * a.factor / (0.25 * p.count
                    + %(flat)s + %(slope)s * p.length)) AS best
                FROM asked a JOIN memolith.postings p ON p.term = a.term
                WHERE p.profile = %(profile)s AND (%(secret)s OR NOT p.hidden)
                GROUP BY a.word, p.key
            ) of_words GROUP BY key
        ), by_words AS (
            SELECT c.key FROM scored s JOIN memolith.chunks c ON c.key = s.key
            WHERE c.profile = %(profile)s AND {filters}
            ORDER BY s.score DESC, c.key DESC LIMIT %(limit)s
        ), by_meaning AS MATERIALIZED (
            SELECT c.key FROM memolith.chunks c
            WHERE c.profile = %(profile)s AND c.dimensions = {dimensions} AND {filters}
            ORDER BY c.vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
            LIMIT %(near)s
        )
        SELECT c.key, c.kind, c.role, c.dated, c.chat, c.record, coalesce(s.score, 0),
            CASE WHEN c.dimensions = {dimensions} AND %(near)s > 0
                THEN -(c.vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}))
                ELSE 0 END, c.tokens
        FROM (SELECT key FROM by_words UNION SELECT key FROM by_meaning) both_ways
        JOIN memolith.chunks c ON c.key = both_ways.key
        LEFT JOIN scored s ON s.key = c.key
        WHERE c.profile = %(profile)s
        """,
}


def make_tables(connection: psycopg.Connection[Any]) -> None:
    """Make the tables, or find that they are there, one process at a time."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    (known,) = connection.execute("SELECT to_regclass('memolith.version')").fetchone() or (None,)
    found = known and connection.execute("SELECT max(version) FROM memolith.version").fetchone()
    version = found[0] if found else 0
    if version > len(STEPS):
        raise IndexUnavailableError(
            f"The tables in the database are of version {version}, and this program knows {len(STEPS)}.",
            path="memolith.version",
            hint="Update Memolith, or use another database: the index can be made again.",
        )
    for number, (statements, tables) in enumerate(STEPS[version:], version + 1):
        connection.execute(statements.encode())
        for table in tables:
            connection.execute(SECURITY.format(table=table).encode())
        connection.execute("INSERT INTO memolith.version VALUES (%s)", (number,))


def make_vector_index(connection: psycopg.Connection[Any], dimensions: int) -> None:
    """The HNSW index for vectors of this length; in a transaction that holds no other lock."""
    name = f"memolith.chunks_hnsw_{int(dimensions)}"
    is_there = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
    if is_there == (None,):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(HNSW.format(dimensions=int(dimensions)).encode())
