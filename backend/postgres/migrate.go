package postgres

import (
	"context"
	"embed"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
)

//go:embed migrations/*.sql
var migrations embed.FS

// baseline is the number of the first step. Databases with lower numbers are refused: they have schemas that no
// version has promised to open.
const baseline = 100

// migration is one step of the schema. Steps first expand the schema, and contract it only once no binary needs
// the old form, so that binaries of neighbouring versions can run at the same time.
type migration struct {
	version int
	// oldest is the highest step that a binary must know to use the schema after this one. A new field in the JSON of
	// a run or a park raises it, too: an older binary would drop the field.
	oldest int
	name   string
	sql    string
}

// loadMigrations returns the embedded steps in order. The first line of each says "-- oldest: <version>".
func loadMigrations() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]migration, 0, len(names))
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m := migration{name: path.Base(name), sql: string(text)}
		number, _, _ := strings.Cut(m.name, "_")
		first, _, _ := strings.Cut(m.sql, "\n")
		m.version, err = strconv.Atoi(number)
		oldest, marked := strings.CutPrefix(first, "-- oldest: ")
		if err == nil {
			m.oldest, err = strconv.Atoi(oldest)
		}
		if next := baseline + len(all); err != nil || !marked || m.version != next || m.oldest > m.version {
			return nil, spool.Errorf(spool.Internal, "migration %s is not step %d, or does not name the oldest one", m.name,
				next)
		}
		all = append(all, m)
	}
	if nextStep != "" {
		next := baseline + len(all)
		all = append(all, migration{version: next, oldest: next - 1, name: "next", sql: nextStep})
	}
	return all, nil
}

// schema is what the database says about its tables.
type schema struct {
	version int // 0: there are no tables
	oldest  int // the highest step that a binary must know to use them
}

// Migrate brings the tables up to date. Processes that do so at the same time wait for each other. It returns a
// [spool.Conflict] error if the tables have a schema that this package cannot use, and changes nothing then.
func (db *DB) Migrate(ctx context.Context) error {
	all, err := loadMigrations()
	if err != nil {
		return err
	}
	return db.migrateTo(ctx, all)
}

func (db *DB) migrateTo(ctx context.Context, all []migration) error {
	conn, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer release(ctx, conn)
	have, err := db.readSchema(ctx, conn)
	if err != nil {
		return err
	}
	if err := have.usable(last(all)); err != nil {
		return err
	}
	for have.version < last(all) {
		if have, err = db.step(ctx, conn.Conn(), all); err != nil {
			return err
		}
	}
	return nil
}

// step applies the next step under a lock, unless another process has done so meanwhile.
func (db *DB) step(ctx context.Context, conn *pgx.Conn, all []migration) (have schema, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return have, storeError(ctx, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after a commit it does nothing

	lock := statement{sql: "SELECT pg_advisory_xact_lock(?)", args: []any{lockNumber("migrate", db.dialect.schema)}}
	if err := (pgxLink{tx, db}).send(ctx, []statement{lock}); err != nil {
		return have, err
	}
	if have, err = db.readSchema(ctx, tx); err == nil {
		err = have.usable(last(all))
	}
	if err != nil || have.version >= last(all) {
		return have, err
	}
	next := all[0]
	if have.version > 0 {
		next = all[have.version-baseline+1]
	} else if err := db.createSchema(ctx, tx); err != nil {
		return have, err
	}
	// A text without values may have many statements.
	if _, err := conn.PgConn().Exec(ctx, db.dialect.qualify(next.sql)).ReadAll(); err != nil {
		return have, storeError(ctx, err)
	}
	err = pgxLink{tx, db}.send(ctx, []statement{{
		sql:  "INSERT INTO spool.schema_step (version, oldest, name, applied_at) VALUES (?, ?, ?, now())",
		args: []any{next.version, next.oldest, next.name},
	}})
	if err != nil {
		return have, err
	}
	return schema{version: next.version, oldest: max(have.oldest, next.oldest)}, storeError(ctx, tx.Commit(ctx))
}

// last returns the number of the last step.
func last(all []migration) int { return all[len(all)-1].version }

// createSchema creates the schema, unless somebody has done so for a user who may not.
func (db *DB) createSchema(ctx context.Context, to batcher) error {
	exists := false
	err := pgxLink{to, db}.send(ctx, []statement{{
		sql:  "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?)",
		args: []any{db.dialect.schema},
		scan: func(r *row) { exists = r.Bool() },
	}})
	if err != nil || exists {
		return err
	}
	return pgxLink{to, db}.send(ctx, []statement{{sql: `CREATE SCHEMA "` + db.dialect.schema + `"`}})
}

// readSchema returns the version of the tables. It reads the catalog as tables: a function such as to_regclass may
// not see what another process has committed while this transaction waited for the lock.
func (db *DB) readSchema(ctx context.Context, to batcher) (have schema, err error) {
	found := false
	err = pgxLink{to, db}.send(ctx, []statement{{
		sql: `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = ? AND c.relname = 'schema_step')`,
		args: []any{db.dialect.schema},
		scan: func(r *row) { found = r.Bool() },
	}})
	if err != nil || !found {
		return have, err
	}
	err = pgxLink{to, db}.send(ctx, []statement{{
		sql:  "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0) FROM spool.schema_step",
		scan: func(r *row) { have = schema{version: r.Int(), oldest: r.Int()} },
	}})
	return have, err
}

// usable returns an error for a schema that a binary cannot use whose last step is known.
func (s schema) usable(known int) error {
	switch {
	case 0 < s.version && s.version < baseline:
		return spool.Errorf(spool.Conflict,
			"the database has schema %d, and this version of the program opens schema %d and later ones: "+
				"export it with the version that wrote it (spool export --database URL FILE), and import the file into a new database with this one "+
				"(spool import --database NEW FILE)", s.version, baseline)
	case s.oldest <= known:
		return nil
	}
	return spool.Errorf(spool.Conflict,
		"the database has schema %d, which needs a program that knows schema %d or later; this one knows %d: install a newer version",
		s.version, s.oldest, known)
}

// checkSchema returns an error unless the tables can be used as they are.
func (db *DB) checkSchema(ctx context.Context) error {
	all, err := loadMigrations()
	if err != nil {
		return err
	}
	conn, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer release(ctx, conn)
	have, err := db.readSchema(ctx, conn)
	if err == nil {
		err = have.usable(last(all))
	}
	if err == nil && have.version < last(all) {
		err = spool.Errorf(spool.Conflict, "the database has schema %d, and this program needs %d: migrate it first",
			have.version, last(all))
	}
	return err
}
