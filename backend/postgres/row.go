package postgres

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
)

// row implements [form.Row]. The first error stays.
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
		r.Fail(spool.Errorf(spool.Internal, "a row has %d columns", len(r.raw)))
		return nil, false
	}
	value, binaryFormat = r.raw[r.at], r.fields[r.at].Format == binaryCode
	r.at++
	return value, binaryFormat
}

// binaryCode says in a description that a column has its binary format.
const binaryCode = 1

func (r *row) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *row) Text() string {
	value, _ := r.next() // a text has the same bytes in both formats
	return string(value)
}

func (r *row) Borrowed() []byte {
	value, _ := r.next()
	if len(value) == 0 {
		return nil
	}
	return value
}

func (r *row) JSON() json.RawMessage {
	if value := r.Borrowed(); value != nil {
		return append(json.RawMessage(nil), value...)
	}
	return nil
}

// bytes returns the value of a bytea column.
func (r *row) bytes() []byte {
	value, binaryFormat := r.next()
	if value != nil && !binaryFormat {
		r.Fail(spool.Errorf(spool.Internal, "column %d has the text format", r.at))
		return nil
	}
	return append([]byte(nil), value...)
}

func (r *row) Int64() int64 {
	if n := r.Maybe(); n != nil {
		return *n
	}
	return 0
}

func (r *row) Maybe() *int64 {
	value, binaryFormat := r.next()
	if value == nil {
		return nil
	}
	var n int64
	switch {
	case !binaryFormat:
		var err error
		if n, err = strconv.ParseInt(string(value), 10, 64); err != nil {
			r.Fail(spool.Wrap(spool.Internal, "a column has no number", err))
		}
	case len(value) == 8:
		n = int64(binary.BigEndian.Uint64(value)) //nolint:gosec // it has the same bits
	case len(value) == 4:
		n = int64(int32(binary.BigEndian.Uint32(value))) //nolint:gosec // as above
	default:
		r.Fail(spool.Errorf(spool.Internal, "column %d has %d bytes and is no number", r.at, len(value)))
	}
	return &n
}

func (r *row) Int() int { return int(r.Int64()) }

func (r *row) Bool() bool {
	b := r.MaybeBool()
	return b != nil && *b
}

func (r *row) MaybeBool() *bool {
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

func (r *row) Time() time.Time { return form.FromMicros(r.Int64()) }

// each returns a scan function that appends each row to a list.
func each[T any](list *[]T, scan func(r *row) T) func(r *row) {
	return func(r *row) { *list = append(*list, scan(r)) }
}

// eachForm is each for a form that the databases share.
func eachForm[T any](list *[]T, scan func(r form.Row) T) func(r *row) {
	return func(r *row) { *list = append(*list, scan(r)) }
}
