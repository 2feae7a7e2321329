package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// AppendRow appends the JSON of a row. Columns that are zero, or NULL where they may be, are left out.
func AppendRow(to []byte, t *Table, values []any) []byte {
	to = append(to, `{"`+t.Name+`":{`...)
	first := true
	for i, c := range t.Columns {
		text := encode(values[i])
		if text == nil {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		to = append(to, `"`+c.Name+`":`...)
		to = append(to, text...)
	}
	return append(to, `}}`...)
}

// encode returns the JSON of a value, or nil for one that is left out.
func encode(value any) []byte {
	switch x := value.(type) {
	case string:
		if x == "" {
			return nil
		}
		return quote(x)
	case int64:
		if x == 0 {
			return nil
		}
		return strconv.AppendInt(nil, x, 10)
	case *int64:
		if x == nil {
			return nil
		}
		return strconv.AppendInt(nil, *x, 10)
	case bool:
		if !x {
			return nil
		}
		return []byte("true")
	case *bool:
		if x == nil {
			return nil
		}
		return strconv.AppendBool(nil, *x)
	default:
		return nil
	}
}

// quote returns a JSON string. It escapes as little as it must, because most texts are JSON themselves.
func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) //nolint:errchkjson // a string always has a JSON form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// DecodeRow reads a row of a section. It returns an [spool.Invalid] error for a table or a column that this
// version does not know: a later version has written it, and leaving it out would lose data.
func DecodeRow(kind store.SectionKind, line []byte) (*Table, []any, error) {
	var row map[string]map[string]json.RawMessage
	if err := json.Unmarshal(line, &row); err != nil || len(row) != 1 {
		return nil, nil, invalid("a line is no row", err)
	}
	for name, columns := range row {
		for _, t := range Tables {
			if t.Of == kind && t.Name == name {
				values, err := t.decode(columns)
				return t, values, err
			}
		}
		return nil, nil, spool.Errorf(spool.Invalid, "this version has no rows of the kind %q in a section of the kind %q",
			name, kind)
	}
	panic("unreachable: the row has one key")
}

func (t *Table) decode(columns map[string]json.RawMessage) ([]any, error) {
	values := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		text, has := columns[c.Name]
		delete(columns, c.Name)
		value, err := c.Kind.decode(text, has)
		if err != nil {
			return nil, invalid("the column "+c.Name+" of a "+t.Name+" has a wrong value", err)
		}
		values[i] = value
	}
	for name := range columns {
		return nil, spool.Errorf(spool.Invalid, "this version has no column %q in the table %q", name, t.Name)
	}
	return values, nil
}

func (k Kind) decode(text json.RawMessage, has bool) (any, error) {
	switch k {
	case Int:
		return decoded[int64](text, has)
	case MaybeInt:
		return decoded[*int64](text, has)
	case Bool:
		return decoded[bool](text, has)
	case MaybeBool:
		return decoded[*bool](text, has)
	default:
		return decoded[string](text, has)
	}
}

func decoded[T any](text json.RawMessage, has bool) (value T, err error) {
	if has {
		err = json.Unmarshal(text, &value)
	}
	return value, err
}

func invalid(message string, cause error) error {
	return &spool.Error{Code: spool.Invalid, Message: message, Err: cause}
}

// CanonicalLabels returns the form of labels in an archive: an object with sorted keys, or "" if there are none.
func CanonicalLabels(text []byte) (string, error) {
	if len(text) == 0 {
		return "", nil
	}
	var labels map[string]string
	if err := json.Unmarshal(text, &labels); err != nil || len(labels) == 0 {
		return "", err
	}
	sorted, err := json.Marshal(labels)
	return string(sorted), err
}

// Sum is the checksum of a section: the SHA-256 of its first line and of its rows, with their line ends. The zero
// value is not usable.
type Sum struct{ h hash.Hash }

// NewSum begins the checksum of a section.
func NewSum(s store.Section) Sum {
	sum := Sum{sha256.New()}
	sum.Add(opening(s))
	return sum
}

// Add adds a row.
func (s Sum) Add(line []byte) {
	_, _ = s.h.Write(line)
	_, _ = s.h.Write([]byte{'\n'})
}

// String returns the checksum in hex.
func (s Sum) String() string { return hex.EncodeToString(s.h.Sum(nil)) }

// SumOf returns the checksum of a section.
func SumOf(s store.Section, lines [][]byte) string {
	sum := NewSum(s)
	for _, line := range lines {
		sum.Add(line)
	}
	return sum.String()
}
