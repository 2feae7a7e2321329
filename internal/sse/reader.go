// Package sse reads server-sent events, as the HTML standard defines them, from any
// stream of bytes.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// DefaultLimit is the default limit of an event's size.
const DefaultLimit = 4 << 20

const (
	bom = "\ufeff"
	// maxRetryDigits keeps a retry in milliseconds within a [time.Duration].
	maxRetryDigits = 12
)

// ErrTooLarge is wrapped by the error for an event that is larger than the reader's limit.
var ErrTooLarge = errors.New("event is too large")

// Event is one event of a stream.
type Event struct {
	// ID is the last id of the stream so far, from this event or an earlier one.
	ID string
	// Name is the type of the event. Empty stands for "message".
	Name string
	// Data is the event's data lines, joined with line feeds.
	Data string
	// Retry is how long the stream asks its reader to wait before it reconnects, if the stream has said
	// so since the previous event. Zero: it has not.
	Retry time.Duration
}

// Reader reads the events of one stream. It is not safe for concurrent use.
type Reader struct {
	in    *bufio.Reader
	limit int
	err   error

	line []byte
	// inComment is true within a comment line, whose text is dropped.
	inComment bool
	// afterCR is true if the last line ended with a CR, so that a following LF belongs to that line. If
	// the reader looked ahead instead, it would delay an event until the next one.
	afterCR bool
	// started is true after the first line, which may begin with a byte order mark.
	started bool

	id    string
	name  string
	retry time.Duration
	// lastRetry is the last retry of the stream, also after an event had it.
	lastRetry time.Duration
	data      []byte
	hasData   bool
}

// NewReader returns a reader of the events of in. The limit bounds the size of an event in bytes; zero
// stands for [DefaultLimit].
func NewReader(in io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{in: bufio.NewReader(in), limit: limit}
}

// LastID returns the last id of the stream so far. It may be newer than the last event's id, because an
// id may come without data.
func (r *Reader) LastID() string { return r.id }

// LastRetry returns the last retry of the stream so far, which may have come without an event, or zero.
func (r *Reader) LastRetry() time.Duration { return r.lastRetry }

// Next returns the next event that has data. It blocks until the event is complete.
//
// It returns [io.EOF] at the end of the stream, [io.ErrUnexpectedEOF] if the stream ends within an
// event, an error that wraps [ErrTooLarge], or the stream's own error. Then it drops the incomplete
// event, and every later call returns the same error.
func (r *Reader) Next() (Event, error) {
	for r.err == nil {
		whole, err := r.readLine()
		if err != nil {
			r.err = err
			break
		}
		if !whole {
			continue
		}
		if event, ok := r.endLine(); ok {
			return event, nil
		}
	}
	return Event{}, r.err
}

// readLine takes the buffered bytes up to the end of a line, and reports whether it reached the end.
func (r *Reader) readLine() (bool, error) {
	if _, err := r.in.Peek(1); err != nil {
		if errors.Is(err, io.EOF) && (r.hasData || len(r.line) > 0) {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	chunk, err := r.in.Peek(r.in.Buffered())
	if err != nil {
		return false, err
	}
	if r.afterCR {
		r.afterCR = false
		if chunk[0] == '\n' {
			return false, r.discard(1)
		}
	}

	end := lineEnd(chunk)
	text := chunk
	if end >= 0 {
		text = chunk[:end]
	}
	if len(r.line) == 0 && len(text) > 0 && text[0] == ':' {
		r.inComment = true
	}
	if !r.inComment {
		if len(r.line)+len(r.data)+len(text) > r.limit {
			return false, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limit)
		}
		r.line = append(r.line, text...)
	}
	if end < 0 {
		return false, r.discard(len(text))
	}
	r.afterCR = chunk[end] == '\r'
	return true, r.discard(end + 1)
}

// lineEnd returns the index of the first CR or LF, or -1.
func lineEnd(chunk []byte) int {
	lf := bytes.IndexByte(chunk, '\n')
	if lf >= 0 {
		chunk = chunk[:lf]
	}
	if cr := bytes.IndexByte(chunk, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (r *Reader) discard(n int) error {
	_, err := r.in.Discard(n)
	return err
}

// endLine adds the current line to the current event. If the line is blank, it returns the event.
func (r *Reader) endLine() (Event, bool) {
	line := r.line // valid until the next line
	comment := r.inComment
	r.line, r.inComment = r.line[:0], false
	if !r.started {
		r.started = true
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	switch {
	case comment:
		return Event{}, false
	case len(line) == 0:
		return r.dispatch()
	}

	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	case "event":
		r.name = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.id = string(value)
		}
	case "retry":
		r.setRetry(string(value))
	}
	return Event{}, false
}

// setRetry sets the retry time from a number of milliseconds. It ignores other values.
func (r *Reader) setRetry(value string) {
	if value == "" || len(value) > maxRetryDigits || strings.Trim(value, "0123456789") != "" {
		return
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		r.retry = time.Duration(n) * time.Millisecond
		r.lastRetry = r.retry
	}
}

// dispatch ends the current event. An event without data is dropped, but its id and retry stay.
func (r *Reader) dispatch() (Event, bool) {
	event := Event{ID: r.id, Name: r.name, Data: string(r.data), Retry: r.retry}
	had := r.hasData
	r.name, r.data, r.hasData = "", r.data[:0], false
	if had {
		r.retry = 0
	}
	return event, had
}
