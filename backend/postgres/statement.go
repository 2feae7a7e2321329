package postgres

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// statement is one statement of a batch. Its text has ? for the values, and "spool." before each table.
type statement struct {
	sql  string
	args []any
	// scan is called for each row. Nil: the rows are ignored.
	scan func(r *row)
	// must is the error if the statement changes no row: then the server aborts the transaction, also before a
	// commit in the same batch. Nil: it may change none.
	must error
	// counted says that the statement's text has the division already.
	counted bool
}

// text returns the statement's text, before it is rewritten. A statement that must change a row divides by the
// number of rows that it has changed.
func (s *statement) text() string {
	if s.must == nil || s.counted {
		return s.sql
	}
	return "WITH changed AS (" + s.sql + " RETURNING 1) SELECT 1 / count(*) FROM changed"
}

// dialect turns the texts of statements into those that the server gets. It is safe for concurrent use.
type dialect struct {
	schema string
	texts  sync.Map // from text to text; the package has a limited number of texts
}

// rewrite numbers the values and names the schema.
func (d *dialect) rewrite(text string) string {
	if known, ok := d.texts.Load(text); ok {
		return known.(string) //nolint:errcheck,forcetypeassert // it has only strings
	}
	var b strings.Builder
	n := 0
	for i, piece := range strings.Split(text, "?") {
		if i > 0 {
			n++
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(piece)
	}
	next := d.qualify(b.String())
	d.texts.Store(text, next)
	return next
}

// qualify replaces "spool." by the name of the schema.
func (d *dialect) qualify(text string) string {
	if d.schema == defaultSchema {
		return text
	}
	return strings.ReplaceAll(text, "spool.", `"`+d.schema+`".`)
}

// encoded returns the values of a statement in the form in which they are stored.
func encoded(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = encodedOne(arg)
	}
	return out
}

func encodedOne(arg any) any {
	switch x := arg.(type) {
	case string:
		return clean(x)
	case int:
		return int64(x)
	case time.Time:
		return form.Micros(x)
	case json.RawMessage:
		return clean(string(x))
	case spool.Tenant:
		return clean(string(x))
	case spool.ThreadID:
		return clean(string(x))
	case spool.RunID:
		return clean(string(x))
	case spool.MessageID:
		return clean(string(x))
	case spool.AgentID:
		return clean(string(x))
	case spool.ToolCallID:
		return clean(string(x))
	case wire.StreamID:
		return clean(string(x))
	case wire.State:
		return clean(string(x))
	default: // nil, int64, *int64, bool, *bool, []byte, and slices for ANY
		return arg
	}
}

// clean replaces what PostgreSQL cannot store in a text: the character zero, and bytes that are not UTF-8.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// places returns a ? for each of the columns of a list.
func places(columns string) string {
	return strings.TrimSuffix(strings.Repeat("?, ", strings.Count(columns, ",")+1), ", ")
}

// bound returns a limit in the form of LIMIT, in which NULL stands for none.
func bound(n int) any {
	if n <= 0 {
		return nil
	}
	return int64(n)
}
