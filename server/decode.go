package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
)

// bodyTimeout is how long a client may take to send a body.
const bodyTimeout = time.Minute

// bodyGrace is how long it may take once the server shuts down.
const bodyGrace = time.Second

// unreadTimeout is how long it may take to send a body that nobody reads, as who sends it is
// not known, or wrong.
const unreadTimeout = 10 * time.Second

// read reads the whole body, within the bounds of size, time and memory.
func (b *unreadBody) read(limit int64) ([]byte, error) {
	limit = min(limit, b.server.config.MaxBodyBytes)
	if b.request.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	// Not the ReadTimeout of the http.Server: that one would end event streams too. A
	// recorder has no deadlines.
	control := http.NewResponseController(b.writer)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	// Who shuts the server down does not wait for a body that nobody sends.
	defer context.AfterFunc(b.server.jobs, func() { _ = control.SetReadDeadline(time.Now().Add(bodyGrace)) })()

	text, err := b.readAll(http.MaxBytesReader(b.writer, b.request.Body, limit), limit)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, tooLarge(limit)
	case spool.CodeOf(err) == spool.Unavailable:
		return nil, err
	case err != nil:
		return nil, &spool.Error{Code: spool.Invalid, Message: "the body could not be read", Err: err}
	}
	// Only now: behind an error net/http waits for the rest of the body.
	_ = control.SetReadDeadline(time.Time{})
	return text, nil
}

// leave has the answer sent without waiting for a body that nobody will read. The connection
// closes behind the answer.
func (b *unreadBody) leave() {
	if b.request.ContentLength != 0 {
		b.writer.Header().Set("Connection", "close")
	}
}

func tooLarge(limit int64) error {
	return spool.Errorf(codeTooLarge, "the body is larger than %d bytes", limit)
}

// firstRead is how many bytes are there for a body before it comes.
const firstRead = 4 << 10

// readAll is [io.ReadAll] for a body of at most limit bytes. The memory grows as the body
// comes, up to the length that was announced, and is taken from the budget before.
func (b *unreadBody) readAll(from io.Reader, limit int64) (text []byte, err error) {
	most := limit + 1 // with room to see that there is no more
	if n := b.request.ContentLength; n >= 0 {
		most = n + 1
	}
	for {
		if len(text) == cap(text) {
			size := min(max(firstRead, 2*int64(cap(text))), most)
			if err := b.share.take(size-int64(cap(text)), limit); err != nil {
				return nil, err
			}
			text = append(make([]byte, 0, size), text...)
		}
		n, err := from.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, err
		}
	}
}

// decodeObject reads one JSON object and nothing behind it. It ignores unknown fields and takes
// a null for an absent field, so that it understands newer clients. A field of the wrong type, a
// field that is there twice and one in other letter case are errors that name the field.
func decodeObject(b []byte, into any) error {
	trimmed := bytes.TrimLeft(b, " \t\r\n")
	if len(trimmed) == 0 {
		return spool.Errorf(spool.Invalid, "the body is empty; a JSON object is required")
	}
	if trimmed[0] != '{' && json.Valid(trimmed) {
		return spool.Errorf(spool.Invalid, "the body must be a JSON object")
	}
	err := json.Unmarshal(trimmed, into)
	var (
		syntax *json.SyntaxError
		typed  *json.UnmarshalTypeError
	)
	switch {
	case err == nil:
		return strictjson.Check(trimmed, into)
	case errors.As(err, &typed):
		field := sentField(reflect.TypeOf(into), typed.Field)
		if place := placeOf(trimmed, typed.Offset); indexExpr.ReplaceAllString(place, "") == field {
			field = place
		}
		return spool.Errorf(spool.Invalid, "%s must be %s", field, kindOf(typed.Type))
	case errors.As(err, &syntax):
		return spool.Errorf(spool.Invalid, "the body is not valid JSON: %s (at byte %d)",
			syntax.Error(), syntax.Offset+int64(len(b)-len(trimmed)))
	default:
		return spool.Errorf(spool.Invalid, "the body is not valid JSON")
	}
}

var indexExpr = regexp.MustCompile(`\[[0-9]+\]`)

// maxPlaced bounds the text that is read again to say where an error is.
const maxPlaced = 1 << 20

// placeOf returns the path of the value that encoding/json had read up to an offset of a valid
// object, with the indexes that its errors leave out. Empty: it is too far behind.
func placeOf(text []byte, offset int64) string {
	type level struct {
		key   string // of an object
		next  int    // of an array
		array bool
		named bool // whether the key's value comes next
	}
	var open []level
	d := json.NewDecoder(bytes.NewReader(text[:min(len(text), maxPlaced)]))
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 {
			in := &open[n]
			if key, ok := token.(string); ok && !in.array && !in.named {
				in.key, in.named = key, true
				continue
			}
			in.named = false
			in.next++
		}
		if d.InputOffset() >= offset {
			break
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			open = append(open, level{array: token == json.Delim('[')})
		}
	}
	var path strings.Builder
	for i, in := range open {
		switch {
		case in.array:
			fmt.Fprintf(&path, "[%d]", in.next-1)
		case i == 0:
			path.WriteString(in.key)
		default:
			path.WriteString("." + in.key)
		}
	}
	return path.String()
}

// sentField returns the path of a field as the client sends it: encoding/json names the structs
// that are embedded in the body's type as well.
func sentField(t reflect.Type, path string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	head, tail, found := strings.Cut(path, ".")
	if !found || t.Kind() != reflect.Struct {
		return path
	}
	if f, ok := t.FieldByName(head); ok && f.Anonymous {
		return sentField(f.Type, tail)
	}
	return path
}

// kindOf names a type as a person who writes JSON knows it.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "an integer"
	}
}

// required returns the error for an absent field, or nil when present.
func required(field string, present bool) error {
	if present {
		return nil
	}
	return spool.Errorf(spool.Invalid, "%s is required", field)
}

// checkOptionalID is [spool.CheckID] for a field that may be absent.
func checkOptionalID(field, id string) error {
	if id == "" {
		return nil
	}
	return spool.CheckID(field, id)
}
