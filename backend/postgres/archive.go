package postgres

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var _ store.Archive = (*DB)(nil)

// sectionLists has the statement that lists the sections of a kind: their tenants and names. The statement of the
// rows takes the time.
var sectionLists = map[store.SectionKind]string{
	store.SectionRows: `SELECT DISTINCT tenant, kind FROM spool.shared_row
		WHERE kind <> '` + archive.MarkKind + `' AND (expires_at = 0 OR expires_at > ` + nowExpr + `) ORDER BY tenant, kind`,
	store.SectionThread: "SELECT tenant, id FROM spool.thread ORDER BY tenant, id",
	store.SectionOutbox: `SELECT DISTINCT tenant, '' FROM (
			SELECT tenant, thread_id FROM spool.job UNION ALL SELECT tenant, thread_id FROM spool.job_dead
		) AS stored WHERE ` + withoutThread + " ORDER BY tenant",
	store.SectionAudit: "SELECT tenant, block::text FROM (SELECT DISTINCT tenant, (seq - 1) / " +
		strconv.Itoa(archive.AuditEntries) +
		" AS block FROM spool.audit) AS blocks ORDER BY tenant, block",
}

// withThread is the condition of a job whose thread exists, and withoutThread that of another one.
const (
	withThread    = "EXISTS (SELECT 1 FROM spool.thread t WHERE t.tenant = stored.tenant AND t.id = stored.thread_id)"
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
		args = []any{db.clockArg()}
	}
	sections := []store.Section{}
	err := db.read(ctx, query, each(&sections, func(r *row) store.Section {
		return store.Section{Kind: kind, Tenant: spool.Tenant(r.Text()), Name: r.Text()}
	}), args...)
	return sections, err
}

// ExportSection implements [store.Archive].
func (db *DB) ExportSection(ctx context.Context, s store.Section, emit func(line []byte) error) error {
	return db.viewing(ctx, func(l link) error {
		held := false
		batch := append(db.begin(snapshotMode), statement{
			sql: `SELECT EXISTS (SELECT 1 FROM spool.thread WHERE tenant = ? AND id = ? AND lease_until > ` + nowExpr + `)
				OR EXISTS (SELECT 1 FROM spool.job WHERE tenant = ? AND thread_id = ? AND run_id <> '' AND claimed AND due_at > ` +
				nowExpr + `)`,
			args: []any{s.Tenant, s.Thread().ID, db.clockArg(), s.Tenant, s.Thread().ID, db.clockArg()},
			scan: func(r *row) { held = r.Bool() },
		})
		if err := l.send(ctx, batch); err != nil {
			return err
		}
		if held {
			return spool.Errorf(spool.Conflict, "a worker holds the %s", s)
		}
		x := &export{section: s, emit: emit}
		err := l.send(ctx, append(x.statements(db), statement{sql: "COMMIT"}))
		if x.err != nil {
			return x.err
		}
		return err
	})
}

// export reads a section.
type export struct {
	section store.Section
	emit    func(line []byte) error
	buffer  []byte
	err     error // the first one of emit
}

// statements returns the statements that read the section.
func (x *export) statements(db *DB) []statement {
	var batch []statement
	for _, t := range archive.TablesOf(x.section.Kind) {
		from, where, args := archived(db, x.section, t)
		batch = append(batch, statement{
			sql:  "SELECT " + t.List() + " FROM spool." + from + " AS stored WHERE " + where + " ORDER BY " + t.Order,
			args: args,
			scan: func(r *row) { x.row(t, r) },
		})
	}
	return batch
}

// archived returns the table of the database that has the rows of a section, and their condition.
func archived(db *DB, s store.Section, t *archive.Table) (from, where string, args []any) {
	if s.Kind == store.SectionRows {
		return "shared_row", "tenant = ? AND kind = ? AND (expires_at = 0 OR expires_at > " + nowExpr + ")",
			[]any{s.Tenant, s.Name, db.clockArg()}
	}
	c := form.SectionConditions(s, t, withThread)
	return t.Name, c.Text, c.Args
}

// row reads a row.
func (x *export) row(t *archive.Table, r *row) {
	values := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		values[i] = form.ScanArchived(r, c.Kind)
	}
	if r.err != nil || x.err != nil {
		return
	}
	x.buffer = archive.AppendRow(x.buffer[:0], t, values)
	if x.err = x.emit(x.buffer); x.err != nil {
		r.Fail(x.err)
	}
}

// ImportSection implements [store.Archive].
func (db *DB) ImportSection(ctx context.Context, s store.Section, lines [][]byte) (added bool, err error) {
	err = db.Update(ctx, s.Thread(), 0, func(to store.Tx) error {
		t, ok := to.(*tx)
		if !ok {
			return spool.Errorf(spool.Internal, "the transaction has another type")
		}
		added, err = archive.Import(target{t}, s, lines)
		return err
	})
	return added && err == nil, err
}

// target is a transaction that takes a section.
type target struct{ *tx }

// Mark implements [archive.Target].
func (t target) Mark(s store.Section) (value json.RawMessage, err error) {
	err = t.query(`SELECT value FROM spool.shared_row WHERE tenant = ? AND kind = ? AND key = ? AND (expires_at = 0 OR expires_at > ?)`,
		func(r *row) { value = r.JSON() }, s.Tenant, archive.MarkKind, archive.MarkKey(s), t.Now())
	return value, err
}

// Stored implements [archive.Target].
func (t target) Stored(s store.Section) (lines [][]byte, err error) {
	x := &export{section: s, emit: func(line []byte) error {
		lines = append(lines, append([]byte(nil), line...))
		return nil
	}}
	err = t.read(x.statements(t.db)...)
	return lines, err
}

// Insert implements [archive.Target].
func (t target) Insert(s store.Section, table *archive.Table, values []any) error {
	switch {
	case table.Name == archive.Thread:
		t.insertThread(table, values)
	case s.Kind == store.SectionThread && table.Name == "run":
		t.countRun(form.ArchivedRun(table, values), 1)
		t.insert(table.Name, "tenant, thread_id, "+table.List(), append([]any{s.Tenant, s.Name}, values...), "")
	case table.Name == "job":
		t.insert(table.Name, "tenant, id, "+table.List(), append([]any{s.Tenant, wire.NewJobID()}, values...),
			" ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING")
	case table.Name == "job_dead":
		t.insert(table.Name, "tenant, id, "+table.List(), append([]any{s.Tenant, wire.NewJobID()}, values...), "")
	case s.Kind == store.SectionRows:
		t.insert("shared_row", "tenant, kind, "+table.List(), append([]any{s.Tenant, s.Name}, values...),
			" ON CONFLICT (tenant, kind, key) DO NOTHING")
	case s.Kind == store.SectionAudit:
		t.insert(table.Name, "tenant, "+table.List(), append([]any{s.Tenant}, values...), "")
		t.write(`INSERT INTO spool.audit_last (tenant, seq) VALUES (?, ?)
			ON CONFLICT (tenant) DO UPDATE SET seq = greatest(audit_last.seq, excluded.seq)`, s.Tenant,
			table.IntOf(values, "seq"))
	default:
		t.insert(table.Name, "tenant, thread_id, "+table.List(), append([]any{s.Tenant, s.Name}, values...), "")
	}
	return nil
}

func (t target) insert(table, columns string, values []any, conditions string) {
	t.write("INSERT INTO spool."+table+" ("+columns+") VALUES ("+places(columns)+")"+conditions, values...)
}

// insertThread adds the thread's row. No worker holds the thread.
func (t target) insertThread(table *archive.Table, values []any) {
	for i, c := range table.Columns {
		if c.Kind == archive.Labels && values[i] == "" {
			values[i] = "{}"
		}
	}
	bytes := table.IntOf(values, "bytes")
	t.insert(table.Name, "tenant, id, lease_until, bytes_summed, "+table.List(),
		append([]any{t.key.Tenant, t.key.ID, 0, bytes}, values...), "")
	t.counts.threads++
	t.counts.bytes += bytes
}
