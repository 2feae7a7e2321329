package form

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// values is a row of stored values: text, int64, nil for NULL. Columns beyond its end are NULL.
type values struct {
	t    *testing.T
	all  []any
	read int
	err  error
}

func (v *values) next() any {
	v.read++
	if v.read > len(v.all) {
		return nil
	}
	return v.all[v.read-1]
}

func (v *values) Text() string { return string(v.Borrowed()) }

func (v *values) Borrowed() []byte {
	switch x := v.next().(type) {
	case nil:
		return nil
	case string:
		if x == "" {
			return nil
		}
		return []byte(x)
	case json.RawMessage:
		return x
	default:
		v.t.Errorf("column %d is %v and no text", v.read, x)
		return nil
	}
}

func (v *values) JSON() json.RawMessage { return v.Borrowed() }
func (v *values) Int() int              { return int(v.Int64()) }
func (v *values) Time() time.Time       { return FromMicros(v.Int64()) }

func (v *values) Int64() int64 {
	if n := v.Maybe(); n != nil {
		return *n
	}
	return 0
}

func (v *values) Maybe() *int64 {
	switch x := v.next().(type) {
	case nil:
		return nil
	case int64:
		return &x
	case int:
		n := int64(x)
		return &n
	default:
		v.t.Errorf("column %d is %v and no number", v.read, x)
		return nil
	}
}

func (v *values) Bool() bool { return v.Int64() != 0 }

func (v *values) MaybeBool() *bool {
	n := v.Maybe()
	if n == nil {
		return nil
	}
	b := *n != 0
	return &b
}

func (v *values) Fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// wantInvalid checks that an error is [spool.Invalid] with a message.
func wantInvalid(t *testing.T, err error, message string) {
	t.Helper()
	if e, ok := errors.AsType[*spool.Error](err); !ok || e.Code != spool.Invalid || e.Message != message {
		t.Errorf("the error is %v, want %q", err, message)
	}
}

// A scan reads as many columns as its list has, and NULLs are the zero value.
func TestScansReadTheirColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		columns string
		scan    func(r Row)
	}{
		"audit":  {AuditColumns, func(r Row) { ScanAudit(r) }},
		"branch": {"id, base, run_id, created_at, first, content, count, branch", func(r Row) { ScanBranch(r) }},
		"effect": {EffectColumns, func(r Row) { ScanEffect(r, "r", 1) }},
		"entry":  {EntryColumns, func(r Row) { ScanEntry(r, "t") }},
		"line":   {UsageLineColumns, func(r Row) { ScanUsageLine(r) }},
		"park":   {ParkColumns, func(r Row) { ScanPark(r) }},
		"run":    {RunColumns, func(r Row) { ScanRun(r) }},
		"state":  {WholeRunColumns, func(r Row) { ScanWholeRun(r) }},
		"thread": {ThreadColumns, func(r Row) { ScanThread(r) }},
		"usage":  {UsageColumns, func(r Row) { ScanUsage(r) }},
		"value":  {ValueColumns, func(r Row) { ScanValue(r) }},
		"message": {MessageColumns, func(r Row) {
			if m, content := ScanEncodedMessage(r, "t"); m.ThreadID != "t" || content != nil {
				t.Errorf("the message is %+v with %q", m, content)
			}
		}},
	} {
		r := &values{t: t}
		c.scan(r)
		if want := strings.Count(c.columns, ",") + 1; r.read != want {
			t.Errorf("%s: %d columns were read, want %d", name, r.read, want)
		}
		if r.err != nil && name != "branch" { // its content is never NULL
			t.Errorf("%s: %v", name, r.err)
		}
	}
}

func TestScanOfBrokenJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   int // the column of the broken JSON, from 0
		scan func(r Row)
		want string
	}{
		"allowance": {28, func(r Row) { ScanRun(r) }, "the run's budget cannot be read"},
		"answer":    {8, func(r Row) { ScanPark(r) }, "a park's answer cannot be read"},
		"client":    {38, func(r Row) { ScanWholeRun(r) }, "what the run's client has brought cannot be read"},
		"expiry":    {14, func(r Row) { ScanPark(r) }, "a park's expiry cannot be read"},
		"frames":    {17, func(r Row) { ScanPark(r) }, "a park's frames cannot be read"},
		"labels":    {12, func(r Row) { ScanThread(r) }, "the thread's labels cannot be read"},
		"message":   {3, func(r Row) { ScanMessage(r, "t") }, "a message cannot be read"},
		"nested":    {25, func(r Row) { ScanRun(r) }, "the nested run cannot be read"},
		"preview":   {5, func(r Row) { ScanBranch(r) }, "a message cannot be read"},
		"scopes":    {35, func(r Row) { ScanWholeRun(r) }, "the run's scopes cannot be read"},
		"state":     {31, func(r Row) { ScanWholeRun(r) }, "the run's state cannot be read"},
	} {
		r := &values{t: t, all: make([]any, c.at+1)}
		r.all[c.at] = `["`
		c.scan(r)
		if spool.CodeOf(r.err) != spool.Internal || !strings.HasPrefix(r.err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, r.err, c.want)
		}
	}
}
