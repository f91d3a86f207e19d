# Run once by the image of PostgreSQL: a database for Memolith, and a role that is no superuser.
psql --username postgres --set password="$MEMOLITH_PASSWORD" <<'SQL'
CREATE ROLE memolith LOGIN PASSWORD :'password';
CREATE DATABASE memolith OWNER memolith;
\connect memolith
CREATE EXTENSION vector;
SQL
