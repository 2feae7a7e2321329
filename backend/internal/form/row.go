package form

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// Row is a row of a query's result. Each method reads the next column from left to right, and returns the zero value
// for NULL. A column that cannot be read has the zero value too, and the row keeps the error for its query.
type Row interface {
	Text() string
	Int() int
	Int64() int64
	// Maybe and MaybeBool return nil for NULL.
	Maybe() *int64
	Bool() bool
	MaybeBool() *bool
	Time() time.Time
	// JSON returns nil for an empty column.
	JSON() json.RawMessage
	// Borrowed returns a text that is valid until the next row, nil for an empty one. It must not be changed.
	Borrowed() []byte
	// Fail notes that the column that was read last has a value with no meaning.
	Fail(err error)
}

// decode reads the JSON of a column. For an empty column it returns the zero value, without an allocation. What names
// the value in the [spool.Internal] error.
func decode[T any](r Row, what string) (value T) {
	text := r.Borrowed()
	if text == nil {
		return value
	}
	read := new(T)
	if err := json.Unmarshal(text, read); err != nil {
		r.Fail(spool.Wrap(spool.Internal, what+" cannot be read", err))
	}
	return *read
}
