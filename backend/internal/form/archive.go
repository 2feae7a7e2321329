package form

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// SectionConditions returns the conditions of the rows of a section in a table. Jobs and events outlive their thread:
// withThread is the condition of those whose thread exists. The rows of a section of [store.SectionRows] have
// conditions of each database, because they expire.
func SectionConditions(s store.Section, t *archive.Table, withThread string) (c Conditions) {
	c.And("tenant = ?", s.Tenant)
	switch {
	case s.Kind == store.SectionAudit:
		first, last := archive.AuditRange(s)
		c.And("seq BETWEEN ? AND ?", first, last)
	case s.Kind == store.SectionOutbox:
		c.And("NOT " + withThread)
	case t.Name == archive.Thread:
		c.And("id = ?", s.Name)
	default:
		c.And("thread_id = ?", s.Name)
		if t.Name == "job" || t.Name == "job_dead" {
			c.And(withThread)
		}
	}
	return c
}

// ScanArchived reads the next column for an archive.
func ScanArchived(r Row, kind archive.Kind) any {
	switch kind {
	case archive.Int:
		return r.Int64()
	case archive.MaybeInt:
		return r.Maybe()
	case archive.Bool:
		return r.Bool()
	case archive.MaybeBool:
		return r.MaybeBool()
	case archive.Labels:
		text, err := archive.CanonicalLabels(r.Borrowed())
		if err != nil {
			r.Fail(spool.Wrap(spool.Internal, "the thread's labels cannot be read", err))
		}
		return text
	default:
		return r.Text()
	}
}

// ArchivedRun returns the stored values of a run of an archive.
func ArchivedRun(t *archive.Table, values []any) *StoredRun {
	return &StoredRun{
		State: wire.State(t.TextOf(values, "state")), Depth: int(t.IntOf(values, "depth")),
		Tokens: archive.TokensOf(t, values),
	}
}
