"""The tables of PostgreSQL, and who may read what of them.

homes      one row for each agent of each workspace: whose rows these are, which state of which local index they stand for
items, passages, vectors    what can be found, under the numbers of the local index it came from; `shared` rows may be read by others
words      in how many passages of a home each word occurs
leases     which host may write what belongs to an agent
"""

# Another number for whatever changes what the tables hold: the database is filled again then.
VERSION = 2
_TEXT = 'text COLLATE "C" NOT NULL'
TABLES = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA mabos;
CREATE TABLE mabos.homes (
    home int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner name NOT NULL DEFAULT current_user, workspace {_TEXT}, agent {_TEXT},
    state {_TEXT}, current boolean NOT NULL DEFAULT false, model {_TEXT}, width int NOT NULL, large boolean NOT NULL,
    sharing {_TEXT}, private bigint NOT NULL, at_item bigint NOT NULL DEFAULT 0, at_row bigint NOT NULL DEFAULT 0,
    seq bigint NOT NULL, passages bigint NOT NULL DEFAULT 0, tokens bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX homes_current ON mabos.homes (owner, workspace, agent) WHERE current;
CREATE TABLE mabos.leases (
    owner name NOT NULL DEFAULT current_user, workspace {_TEXT}, agent {_TEXT}, holder {_TEXT}, until timestamptz NOT NULL,
    PRIMARY KEY (owner, workspace, agent)
);
CREATE TABLE mabos.items (
    home int NOT NULL, row bigint NOT NULL, id {_TEXT}, source {_TEXT}, shown boolean NOT NULL, store {_TEXT}, archived {_TEXT},
    away int NOT NULL, heir {_TEXT}, type {_TEXT}, importance float8 NOT NULL, at {_TEXT}, expires_at {_TEXT}, author {_TEXT},
    session {_TEXT}, tags {_TEXT}, access_count int NOT NULL, size int NOT NULL, trust int NOT NULL, line bytea NOT NULL,
    shared boolean NOT NULL, PRIMARY KEY (home, row)
);
CREATE INDEX items_id ON mabos.items (home, id);
CREATE INDEX items_rank ON mabos.items (home, away, importance DESC, at DESC);
CREATE INDEX items_time ON mabos.items (home, at, id);
CREATE INDEX items_session ON mabos.items (home, session, at, id) WHERE session != '';
CREATE INDEX items_author ON mabos.items (home, author) WHERE author > '';
CREATE TABLE mabos.passages (
    home int NOT NULL, row bigint NOT NULL, item {_TEXT}, item_row bigint NOT NULL, source {_TEXT}, part int NOT NULL,
    first int NOT NULL, last int NOT NULL, at {_TEXT}, author {_TEXT}, copy_of {_TEXT}, shown boolean NOT NULL, trust int NOT NULL,
    size int NOT NULL, text bytea NOT NULL, shared boolean NOT NULL, tokens int NOT NULL, words tsvector NOT NULL, PRIMARY KEY (home, row)
) WITH (toast_tuple_target = 8160);
CREATE INDEX passages_item ON mabos.passages (home, item) WHERE item != '';
CREATE INDEX passages_words ON mabos.passages USING gin (words);
CREATE TABLE mabos.words (
    home int NOT NULL, word {_TEXT}, shared boolean NOT NULL, held bigint NOT NULL, PRIMARY KEY (home, word, shared)
);
CREATE INDEX words_shared ON mabos.words (word, home) WHERE shared;
CREATE TABLE mabos.vectors (
    home int NOT NULL, row bigint NOT NULL, shared boolean NOT NULL, embedding halfvec NOT NULL, PRIMARY KEY (home, row)
) PARTITION BY LIST (home);
CREATE TABLE mabos.vectors_small PARTITION OF mabos.vectors DEFAULT;
"""
# A large home has a partition of its own with an HNSW index in it: only that partition is locked while the index is built.
FUNCTIONS = """
CREATE FUNCTION mabos.owned(of_home int) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mabos, public, pg_temp
    RETURN EXISTS (SELECT 1 FROM mabos.homes WHERE home = of_home AND owner = session_user);
CREATE FUNCTION mabos.add_part(of_home int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp AS $$ BEGIN
    IF mabos.owned(of_home) THEN
        EXECUTE format('CREATE TABLE IF NOT EXISTS mabos.vectors_%s PARTITION OF mabos.vectors FOR VALUES IN (%s)', of_home, of_home);
    END IF; END $$;
CREATE FUNCTION mabos.index_part(of_home int, of_width int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp AS $$ BEGIN
    IF mabos.owned(of_home) THEN
        EXECUTE format('CREATE INDEX IF NOT EXISTS near_%s ON mabos.vectors_%s USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)', of_home, of_home, of_width);
    END IF; END $$;
CREATE FUNCTION mabos.know_size() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp SET lock_timeout = '1s' AS $$ BEGIN
    IF (SELECT sum(passages) FROM mabos.homes) > (SELECT 1.5 * greatest(reltuples, 0) FROM pg_class WHERE oid = 'mabos.passages'::regclass) THEN
        ANALYZE mabos.items, mabos.passages, mabos.words, mabos.vectors;
    END IF;
    EXCEPTION WHEN lock_not_available THEN NULL;  -- an index is being built: the next one who sends does it
    END $$;
CREATE FUNCTION mabos.drop_home(of_home int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = mabos, public, pg_temp AS $$ BEGIN
    IF mabos.owned(of_home) THEN
        EXECUTE format('DROP TABLE IF EXISTS mabos.vectors_%s', of_home);
        DELETE FROM mabos.vectors WHERE home = of_home;
        DELETE FROM mabos.passages WHERE home = of_home;
        DELETE FROM mabos.items WHERE home = of_home;
        DELETE FROM mabos.words WHERE home = of_home;
        DELETE FROM mabos.homes WHERE home = of_home;
    END IF; END $$;
"""
# Whoever may connect may keep homes there, and reads of others what they share. The owner of the schema reads all.
POLICIES = [
    "GRANT USAGE ON SCHEMA mabos TO PUBLIC",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON mabos.homes, mabos.leases, mabos.items, mabos.passages, mabos.words, mabos.vectors TO PUBLIC",
    *(
        f"ALTER TABLE mabos.{name} ENABLE ROW LEVEL SECURITY"
        for name in ("homes", "leases", "items", "passages", "words", "vectors")
    ),
    *(f"CREATE POLICY own ON mabos.{name} USING (owner = current_user)" for name in ("homes", "leases")),
    "CREATE POLICY others ON mabos.homes FOR SELECT USING (sharing != '' AND current)",
    *(
        f"CREATE POLICY {name} ON mabos.{table} {rule}"
        for table in ("items", "passages", "words", "vectors")
        for name, rule in (
            ("own", "USING (home IN (SELECT home FROM mabos.homes WHERE owner = current_user))"),
            ("others", "FOR SELECT USING (shared AND home IN (SELECT home FROM mabos.homes))"),
        )
    ),
]
