package postgres

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/spoolhq/spool"
)

// row reads the columns of a row from left to right. The first error stays.
type row struct {
	fields []pgconn.FieldDescription
	raw    [][]byte
	at     int
	err    error
}

// next returns the bytes of the next column, nil for NULL, and whether they are in the binary format. They are
// valid until the next row.
func (r *row) next() (value []byte, binaryFormat bool) {
	if r.at >= len(r.raw) {
		r.fail(spool.Errorf(spool.Internal, "a row has %d columns", len(r.raw)))
		return nil, false
	}
	value, binaryFormat = r.raw[r.at], r.fields[r.at].Format == binaryCode
	r.at++
	return value, binaryFormat
}

// binaryCode says in a description that a column has its binary format.
const binaryCode = 1

func (r *row) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *row) text() string {
	value, _ := r.next() // a text has the same bytes in both formats
	return string(value)
}

// borrowed returns a text that is valid until the next row, nil for an empty one. It must not be changed.
func (r *row) borrowed() []byte {
	value, _ := r.next()
	if len(value) == 0 {
		return nil
	}
	return value
}

// json returns the JSON of a column, nil for an empty one.
func (r *row) json() json.RawMessage {
	if value := r.borrowed(); value != nil {
		return append(json.RawMessage(nil), value...)
	}
	return nil
}

// bytes returns the value of a bytea column.
func (r *row) bytes() []byte {
	value, binaryFormat := r.next()
	if value != nil && !binaryFormat {
		r.fail(spool.Errorf(spool.Internal, "column %d has the text format", r.at))
		return nil
	}
	return append([]byte(nil), value...)
}

func (r *row) int64() int64 {
	if n := r.maybe(); n != nil {
		return *n
	}
	return 0
}

// maybe returns the number of a column, nil for NULL.
func (r *row) maybe() *int64 {
	value, binaryFormat := r.next()
	if value == nil {
		return nil
	}
	var n int64
	switch {
	case !binaryFormat:
		var err error
		if n, err = strconv.ParseInt(string(value), 10, 64); err != nil {
			r.fail(spool.Wrap(spool.Internal, "a column has no number", err))
		}
	case len(value) == 8:
		n = int64(binary.BigEndian.Uint64(value)) //nolint:gosec // it has the same bits
	case len(value) == 4:
		n = int64(int32(binary.BigEndian.Uint32(value))) //nolint:gosec // as above
	default:
		r.fail(spool.Errorf(spool.Internal, "column %d has %d bytes and is no number", r.at, len(value)))
	}
	return &n
}

func (r *row) int() int { return int(r.int64()) }

func (r *row) bool() bool {
	b := r.maybeBool()
	return b != nil && *b
}

// maybeBool returns the value of a boolean column, nil for NULL.
func (r *row) maybeBool() *bool {
	value, binaryFormat := r.next()
	if len(value) == 0 {
		return nil
	}
	b := value[0] == 't'
	if binaryFormat {
		b = value[0] == 1
	}
	return &b
}

func (r *row) time() time.Time { return fromMicros(r.int64()) }

// decode reads the JSON of a column. For an empty column it returns the zero value. What names the column in an
// error.
func decode[T any](r *row, what string) (value T) {
	text := r.borrowed()
	if text == nil {
		return value
	}
	read := new(T)
	if err := json.Unmarshal(text, read); err != nil {
		r.fail(spool.Wrap(spool.Internal, what+" cannot be read", err))
	}
	return *read
}

// each returns a scan function that appends each row to a list.
func each[T any](list *[]T, scan func(r *row) T) func(r *row) {
	return func(r *row) { *list = append(*list, scan(r)) }
}
