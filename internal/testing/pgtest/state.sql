-- Returns a line for everything that a test can leave in a database: objects, their definitions, rows by the size
-- of their files, settings and statistics. Databases with the same lines are equal for a test.
WITH space AS (
    SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
), relation AS (
    SELECT c.*, s.nspname || '.' || c.relname AS name FROM pg_class c JOIN space s ON s.oid = c.relnamespace
)
SELECT format('schema %s, access %s', n.nspname, n.nspacl) AS line
FROM pg_namespace n JOIN space USING (oid)
UNION ALL
SELECT format('relation %s: kind %s%s, options %s, access %s, partition %s, security %s%s, identity %s, %s bytes with the TOAST table''s %s, %s',
    name, relkind, relpersistence, reloptions, relacl, pg_get_expr(relpartbound, oid), relrowsecurity, relforcerowsecurity, relreplident,
    pg_relation_size(oid), CASE WHEN reltoastrelid <> 0 THEN pg_relation_size(reltoastrelid) END,
    CASE WHEN relkind = 'r' THEN format('%s pages of %s rows at the last vacuum', relpages, reltuples) END)
FROM relation
UNION ALL
SELECT format('column %s.%s: %s %s, not null %s, default %s, identity "%s", generated "%s", statistics %s, storage "%s", collation %s, options %s, access %s',
    name, attnum, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attidentity, attgenerated, attstattarget,
    attstorage, attcollation::regcollation, attoptions, attacl)
FROM relation r JOIN pg_attribute a ON attrelid = r.oid LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum
WHERE attnum > 0 AND relkind IN ('r', 'p', 'v', 'm', 'f', 'c')
UNION ALL
SELECT format('index %s, valid %s', pg_get_indexdef(indexrelid), indisvalid) FROM pg_index JOIN relation r ON r.oid = indrelid
UNION ALL
SELECT format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(c.oid)) FROM pg_constraint c JOIN space s ON s.oid = connamespace
UNION ALL
SELECT format('inheritance %s of %s', inhrelid::regclass, inhparent::regclass) FROM pg_inherits
UNION ALL
SELECT format('trigger %s, enabled %s', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger
UNION ALL
SELECT format('rule %s, enabled %s', pg_get_ruledef(oid), ev_enabled) FROM pg_rewrite WHERE oid >= 16384
UNION ALL
SELECT format('function %s of %s, access %s', pg_get_functiondef(p.oid), nspname, proacl)
FROM pg_proc p JOIN space s ON s.oid = pronamespace WHERE prokind IN ('f', 'p')
UNION ALL
SELECT format('sequence %s.%s: %s of %s to %s by %s, cycle %s, last %s', schemaname, sequencename, start_value, min_value, max_value, increment_by, cycle, last_value)
FROM pg_sequences
UNION ALL
SELECT format('setting %s', setconfig) FROM pg_db_role_setting
WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
UNION ALL
SELECT format('database: access %s, limit %s', datacl, datconnlimit) FROM pg_database WHERE datname = current_database()
UNION ALL
SELECT format('statistics: %s', count(*)) FROM pg_statistic WHERE starelid >= 16384
UNION ALL
SELECT format('%s: %s', kind, count(*)) FROM (
    SELECT 'large objects' AS kind FROM pg_largeobject_metadata
    UNION ALL SELECT 'types' FROM pg_type WHERE oid >= 16384
    UNION ALL SELECT 'values of types' FROM pg_enum WHERE oid >= 16384
    UNION ALL SELECT 'all functions' FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT 'operators' FROM pg_operator WHERE oid >= 16384
    UNION ALL SELECT 'casts' FROM pg_cast WHERE oid >= 16384
    UNION ALL SELECT 'collations' FROM pg_collation WHERE oid >= 16384
    UNION ALL SELECT 'extensions' FROM pg_extension WHERE oid >= 16384
    UNION ALL SELECT 'policies' FROM pg_policy
    UNION ALL SELECT 'event triggers' FROM pg_event_trigger
    UNION ALL SELECT 'default privileges' FROM pg_default_acl
    UNION ALL SELECT 'extended statistics' FROM pg_statistic_ext
    UNION ALL SELECT 'publications' FROM pg_publication
    UNION ALL SELECT 'comments' FROM pg_description WHERE objoid >= 16384
) AS other GROUP BY kind
ORDER BY line
