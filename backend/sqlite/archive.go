package sqlite

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var _ store.Archive = (*DB)(nil)

// sectionLists has the statement that lists the sections of a kind: their tenants and names. The statement of
// the rows takes the time.
var sectionLists = map[store.SectionKind]string{
	store.SectionRows: "SELECT DISTINCT tenant, kind FROM keyed_value WHERE kind <> '" + archive.MarkKind +
		"' AND NOT " + expired +
		" ORDER BY tenant, kind",
	store.SectionThread: "SELECT tenant, id FROM thread ORDER BY tenant, id",
	store.SectionOutbox: `SELECT DISTINCT tenant, '' FROM (
			SELECT tenant, thread_id FROM job UNION ALL SELECT tenant, thread_id FROM job_dead
		) AS stored WHERE ` + withoutThread + " ORDER BY tenant",
	store.SectionAudit: "SELECT tenant, CAST(block AS TEXT) FROM (SELECT DISTINCT tenant, (seq - 1) / " +
		strconv.Itoa(archive.AuditEntries) + " AS block FROM audit) ORDER BY tenant, block",
}

// withThread is the condition of a job whose thread exists, and withoutThread that of another one.
const (
	withThread    = "EXISTS (SELECT 1 FROM thread t WHERE t.tenant = stored.tenant AND t.id = stored.thread_id)"
	withoutThread = "NOT " + withThread
)

// Sections implements [store.Archive].
func (db *DB) Sections(ctx context.Context, kind store.SectionKind) ([]store.Section, error) {
	query, ok := sectionLists[kind]
	if !ok {
		return nil, spool.Errorf(spool.Invalid, "there are no sections of the kind %q", kind)
	}
	var args []any
	if kind == store.SectionRows {
		args = []any{now(db.clock)}
	}
	sections := []store.Section{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, func(r *row) error {
			sections = append(sections, store.Section{Kind: kind, Tenant: spool.Tenant(r.Text()), Name: r.Text()})
			return nil
		}, args...)
	})
	return sections, err
}

// ExportSection implements [store.Archive].
func (db *DB) ExportSection(ctx context.Context, s store.Section, emit func(line []byte) error) error {
	return db.pool.snapshot(ctx, func(c *conn) error {
		at := now(db.clock)
		err := c.query(`SELECT 1 FROM thread WHERE tenant = ? AND id = ? AND lease_until > ?
			UNION ALL SELECT 1 FROM job WHERE tenant = ? AND thread_id = ? AND run_id <> '' AND claimed = 1 AND due_at > ?`,
			func(*row) error { return spool.Errorf(spool.Conflict, "a worker holds the %s", s) },
			s.Tenant, s.Thread().ID, at, s.Tenant, s.Thread().ID, at)
		if err != nil {
			return err
		}
		return exportRows(c, s, at, emit)
	})
}

// exportRows reads the rows of a section.
func exportRows(c *conn, s store.Section, at time.Time, emit func(line []byte) error) error {
	var buffer []byte
	for _, t := range archive.TablesOf(s.Kind) {
		from, where, args := archived(s, t, at)
		values := make([]any, len(t.Columns))
		err := c.query("SELECT "+t.List()+" FROM "+from+" AS stored WHERE "+where+" ORDER BY "+t.Order, func(r *row) error {
			for i, c := range t.Columns {
				values[i] = form.ScanArchived(r, c.Kind)
			}
			if r.err != nil {
				return r.err
			}
			buffer = archive.AppendRow(buffer[:0], t, values)
			return emit(buffer)
		}, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// archived returns the table of the database that has the rows of a section, and their condition.
func archived(s store.Section, t *archive.Table, at time.Time) (from, where string, args []any) {
	if s.Kind == store.SectionRows {
		return "keyed_value", "tenant = ? AND kind = ? AND NOT (expires_at > 0 AND expires_at <= ?)",
			[]any{s.Tenant, s.Name, at}
	}
	c := form.SectionConditions(s, t, withThread)
	return t.Name, c.Text, c.Args
}

// ImportSection implements [store.Archive].
func (db *DB) ImportSection(ctx context.Context, s store.Section, lines [][]byte) (added bool, err error) {
	err = db.writer.do(ctx, s.Thread(), 0, func(t *tx) (err error) {
		added, err = archive.Import(target{t}, s, lines)
		return err
	})
	return added && err == nil, err
}

// target is a transaction that takes a section.
type target struct{ *tx }

// Mark implements [archive.Target].
func (t target) Mark(s store.Section) (value json.RawMessage, err error) {
	err = t.query("SELECT value FROM keyed_value WHERE tenant = ? AND kind = ? AND key = ? AND NOT "+expired,
		func(r *row) error {
			value = r.JSON()
			return nil
		}, s.Tenant, archive.MarkKind, archive.MarkKey(s), t.now)
	return value, err
}

// Stored implements [archive.Target].
func (t target) Stored(s store.Section) (lines [][]byte, err error) {
	err = exportRows(t.c, s, t.now, func(line []byte) error {
		lines = append(lines, append([]byte(nil), line...))
		return nil
	})
	return lines, err
}

// Insert implements [archive.Target].
func (t target) Insert(s store.Section, table *archive.Table, values []any) error {
	switch {
	case table.Name == archive.Thread:
		return t.insertThread(s, table, values)
	case s.Kind == store.SectionThread && table.Name == "run":
		t.countRun(form.ArchivedRun(table, values), 1)
		return t.insert(s, table.Name, "tenant, thread_id, "+table.List(), append([]any{s.Tenant, s.Name}, values...), "")
	case table.Name == "job":
		lane := laneOf(&wire.Job{
			RunID: spool.RunID(table.TextOf(values, "run_id")), Kind: wire.JobKind(table.TextOf(values, "kind")),
			Agent: table.TextOf(values, "agent"),
		})
		return t.insert(s, table.Name, "tenant, id, lane, claimed, token, "+table.List(),
			append([]any{s.Tenant, wire.NewJobID(), lane, 0, 0}, values...),
			" ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING")
	case table.Name == "job_dead":
		return t.insertDead(s, table, values)
	case s.Kind == store.SectionRows:
		return t.insert(s, "keyed_value", "tenant, kind, "+table.List(), append([]any{s.Tenant, s.Name}, values...),
			" ON CONFLICT (tenant, kind, key) DO NOTHING")
	case s.Kind == store.SectionAudit:
		if err := t.insert(s, table.Name, "tenant, "+table.List(), append([]any{s.Tenant}, values...), ""); err != nil {
			return err
		}
		return t.write(`INSERT INTO audit_last (tenant, seq) VALUES (?, ?)
			ON CONFLICT (tenant) DO UPDATE SET seq = max(seq, excluded.seq)`, s.Tenant, table.IntOf(values, "seq"))
	default:
		return t.insert(s, table.Name, "tenant, thread_id, "+table.List(), append([]any{s.Tenant, s.Name}, values...), "")
	}
}

// insert adds a row.
func (t target) insert(s store.Section, table, columns string, values []any, conditions string) error {
	for i, value := range values {
		if b, ok := value.(*bool); ok {
			values[i] = nil
			if b != nil {
				values[i] = *b
			}
		}
	}
	err := t.write("INSERT INTO "+table+" ("+columns+") VALUES ("+places(len(values))+")"+conditions, values...)
	if isUnique(err) {
		return &spool.Error{
			Code: spool.Conflict, Message: "a " + table + " of the " + s.String() + " is there already, in another thread",
			Err: err,
		}
	}
	return err
}

// insertThread adds the thread's row. No worker holds the thread.
func (t target) insertThread(s store.Section, table *archive.Table, values []any) error {
	bytes := table.IntOf(values, "bytes")
	t.counts.add(count{tenant: s.Tenant, n: 1})
	t.addBytes(bytes)
	return t.insert(s, table.Name, "tenant, id, lease_until, bytes_summed, "+table.List(),
		append([]any{s.Tenant, s.Name, 0, bytes}, values...), "")
}

// insertDead adds a dead job behind those that the tenant has.
func (t target) insertDead(s store.Section, table *archive.Table, values []any) error {
	next := 1
	err := t.query("SELECT ord FROM job_dead WHERE tenant = ? ORDER BY ord DESC LIMIT 1", func(r *row) error {
		next = r.Int() + 1
		return nil
	}, s.Tenant)
	if err != nil {
		return err
	}
	return t.insert(s, table.Name, "tenant, id, ord, "+table.List(),
		append([]any{s.Tenant, wire.NewJobID(), next}, values...), "")
}
