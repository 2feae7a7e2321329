package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// MarkKind is the kind of the rows that say what was imported. An archive leaves them out.
const MarkKind = "import"

// markLife is how long a mark is kept.
const markLife = 30 * 24 * time.Hour

// mark is the value of a row of the kind [MarkKind].
type mark struct {
	SHA256 string `json:"sha256"`
}

// MarkKey returns the key of the row that says that a section was imported.
func MarkKey(s store.Section) string { return string(s.Kind) + "/" + s.Name }

// Target is a transaction of a store that takes a section.
type Target interface {
	store.Tx
	// Mark returns the value of the section's row of the kind [MarkKind], or nil if there is none.
	Mark(s store.Section) (json.RawMessage, error)
	// Stored returns the rows that the store has of a section.
	Stored(s store.Section) ([][]byte, error)
	// Insert adds a row of a section.
	Insert(s store.Section, t *Table, values []any) error
}

// Import adds a section within a transaction, with the contract of [store.Archive].
func Import(to Target, s store.Section, lines [][]byte) (added bool, err error) {
	sum := SumOf(s, lines)
	marked, err := marked(to, s)
	if err != nil || marked == sum {
		return false, err
	}
	if added, err = vacant(to, s, sum, marked); err != nil {
		return false, err
	}
	if added {
		if err := insert(to, s, lines); err != nil {
			return false, err
		}
	}
	value, err := json.Marshal(mark{sum})
	if err != nil {
		return false, err
	}
	return added, to.Write(store.Changes{Rows: []store.Row{{
		Kind: MarkKind, Key: MarkKey(s), Value: value, Version: store.AnyVersion, ExpiresAt: to.Now().Add(markLife),
	}}})
}

// marked returns the checksum with which a section was imported before, or "".
func marked(to Target, s store.Section) (string, error) {
	value, err := to.Mark(s)
	if err != nil || value == nil {
		return "", err
	}
	var m mark
	err = json.Unmarshal(value, &m)
	return m.SHA256, err
}

// vacant reports whether the store has nothing of a section. If it has something else than the section, vacant
// returns a [spool.Conflict] error.
func vacant(to Target, s store.Section, sum, marked string) (bool, error) {
	switch s.Kind {
	case store.SectionRows:
		return true, nil
	case store.SectionOutbox:
		if marked != "" { // events without a key would be delivered twice
			return false, spool.Errorf(spool.Conflict, "the %s was imported from another export", s)
		}
		return true, nil
	case store.SectionThread, store.SectionAudit:
		stored, err := to.Stored(s)
		switch {
		case err != nil:
			return false, err
		case len(stored) == 0:
			return true, nil
		case SumOf(s, stored) == sum:
			return false, nil
		}
		return false, spool.Errorf(spool.Conflict, "the %s is there already, with another content", s)
	default:
		return false, spool.Errorf(spool.Invalid, "this version has no sections of the kind %q", s.Kind)
	}
}

// insert adds the rows of a section.
func insert(to Target, s store.Section, lines [][]byte) error {
	if opened := bytes.HasPrefix(first(lines), []byte(`{"`+Thread+`":`)); s.Kind == store.SectionThread && !opened {
		return spool.Errorf(spool.Invalid, "the %s does not begin with the thread itself", s)
	}
	threads := 0
	for _, line := range lines {
		t, values, err := DecodeRow(s.Kind, line)
		if err != nil {
			return err
		}
		if t.Name == Thread {
			threads++
		}
		if name := t.TextOf(values, "thread_id"); s.Kind == store.SectionThread && name != "" && name != s.Name {
			return spool.Errorf(spool.Invalid, "the %s has a %s of the thread %s", s, t.Name, name)
		}
		if threads > 1 {
			return spool.Errorf(spool.Invalid, "the %s has several threads", s)
		}
		if err := to.Insert(s, t, values); err != nil {
			return err
		}
	}
	return nil
}

func first(lines [][]byte) []byte {
	if len(lines) == 0 {
		return nil
	}
	return lines[0]
}

// Imported reports whether a section with a checksum was imported before.
func Imported(ctx context.Context, db store.Store, s store.Section, sum string) (bool, error) {
	rows, err := db.Rows(ctx, store.RowQuery{Tenant: s.Tenant, Kind: MarkKind, Key: MarkKey(s)})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	var m mark
	err = json.Unmarshal(rows[0].Value, &m)
	return m.SHA256 == sum, err
}

// CreatedAt returns when the thread of a section was made.
func CreatedAt(lines [][]byte) (time.Time, error) {
	t, values, err := DecodeRow(store.SectionThread, first(lines))
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(t.IntOf(values, "created_at")), nil
}
