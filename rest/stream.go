package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"mime"
	"net/http"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spoolhq/spool/rest/internal/wire"
)

// File is an answer with the content of a file. If Content is an [io.Seeker], ranges and
// conditional requests work.
type File struct {
	// Name is the file's name. It decides the content type, and browsers save the file under
	// it.
	Name string
	// Content is closed after it is sent if it is an [io.Closer]. A file of an [fs.FS] is
	// fine.
	Content io.Reader
	// Type is the content type. Defaults to the type for the extension of Name.
	Type string
	// Modified is the time of the last change. Zero means unknown.
	Modified time.Time
	// Download makes browsers save the file instead of showing it.
	Download bool
}

// OpenFile returns the named file. If it does not exist or its name is invalid, the error is a
// 404. A name with "..", a name below another file and a name that is too long are invalid.
func OpenFile(in fs.FS, name string) (*File, error) {
	if !fs.ValidPath(name) { // not every file system checks this
		return nil, &Error{Status: http.StatusNotFound, Detail: "File was not found.", Err: fs.ErrInvalid}
	}
	f, err := in.Open(name)
	if isAny(err, fs.ErrNotExist, fs.ErrInvalid, syscall.ENOTDIR, syscall.ENAMETOOLONG) {
		return nil, &Error{Status: http.StatusNotFound, Detail: "File was not found.", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open a file: %w", err)
	}
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return nil, errors.Join(&Error{Status: http.StatusNotFound, Detail: "File was not found.", Err: err}, f.Close())
	}
	return &File{Name: path.Base(name), Content: f, Modified: info.ModTime()}, nil
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// Respond writes the file.
func (f *File) Respond(w http.ResponseWriter, r *http.Request) error {
	if c, ok := f.Content.(io.Closer); ok {
		defer c.Close()
	}
	h := w.Header()
	kind := f.Type
	if kind == "" {
		kind = mime.TypeByExtension(path.Ext(f.Name))
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if f.Download {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	}
	if seeker, ok := f.Content.(io.ReadSeeker); ok {
		sent := &contentWriter{ResponseWriter: w}
		http.ServeContent(sent, r, "", f.Modified, seeker)
		return sent.refused
	}
	_, err := io.Copy(w, f.Content)
	return err //nolint:wrapcheck // the caller names the route
}

// contentWriter catches the plain-text errors of [http.ServeContent], for example for a range
// beyond the end of the file. The API then answers in its own error format.
type contentWriter struct {
	http.ResponseWriter

	refused error
}

func (w *contentWriter) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	h := w.Header()
	e := &Error{Status: status, Header: http.Header{}}
	if status == http.StatusRequestedRangeNotSatisfiable {
		e.Detail = "The range is not within the file."
		e.Header["Content-Range"] = h["Content-Range"]
	}
	for _, name := range []string{"Content-Range", "Content-Type", "Content-Disposition", "Content-Length"} {
		h.Del(name)
	}
	w.refused = e
}

func (w *contentWriter) Write(b []byte) (int, error) {
	if w.refused != nil {
		return len(b), nil //nolint:nilerr // drops net/http's error text
	}
	return w.ResponseWriter.Write(b) //nolint:wrapcheck // w only wraps it
}

// Unwrap lets [http.ResponseController] find the underlying writer.
func (w *contentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Stream is an answer that the handler writes in pieces.
type Stream struct {
	// Type is the content type. Defaults to "application/octet-stream".
	Type string
	// Write writes the answer to w. flush sends what was written so far; the rest is sent when
	// Write returns. ctx ends when the client is gone.
	Write func(ctx context.Context, w io.Writer, flush func() error) error
}

// Respond writes the stream.
func (s *Stream) Respond(w http.ResponseWriter, r *http.Request) error {
	kind := s.Type
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	return s.Write(r.Context(), w, http.NewResponseController(w).Flush)
}

// Lines is an answer of JSON values, one on each line. Each line is sent at once.
type Lines[T any] struct {
	// Items is read once, on the request's goroutine. Reading stops when it ends, when it
	// yields an error, or when the client is gone.
	Items iter.Seq2[T, error]
}

// Respond writes the lines. If the sequence yields an error after the first line, the
// connection is cut, so that the client does not take a part for the whole.
func (l Lines[T]) Respond(w http.ResponseWriter, r *http.Request) error {
	if err := canFlush(w); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	lines, control := newLineEncoder(r.Context()), http.NewResponseController(w)
	for item, err := range l.Items {
		if err != nil {
			return err
		}
		line, err := lines.encode(item)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err //nolint:wrapcheck // the caller names the route
		}
		if err := control.Flush(); err != nil {
			return err //nolint:wrapcheck // the caller names the route
		}
	}
	return nil
}

// lineEncoder encodes values one by one with the codec of the API, each without a line break.
type lineEncoder struct {
	buffer  bytes.Buffer
	encoder Encoder
	part    wire.Encode
}

func newLineEncoder(ctx context.Context) *lineEncoder {
	var codec Codec = standardCodec{}
	if c := contextOf(ctx); c != nil {
		codec = c.route.api.config.codec
	}
	l := &lineEncoder{part: partEncoder(codec)}
	l.encoder = codec.NewEncoder(&l.buffer)
	return l
}

// encode returns the encoded value. The slice is valid until the next call.
func (l *lineEncoder) encode(v any) ([]byte, error) {
	l.buffer.Reset()
	if err := encode(l.encoder, &l.buffer, wire.Plan{}, v, l.part); err != nil {
		return nil, fmt.Errorf("encode a line: %w", err)
	}
	return bytes.TrimRight(l.buffer.Bytes(), "\n"), nil
}

// Document returns the content type and T, the type of each line.
func (Lines[T]) Document() (contentType string, body reflect.Type) {
	return "application/jsonl", reflect.TypeFor[T]()
}

// Event is one server-sent event.
type Event[T any] struct {
	// ID is what a reconnecting client sends as Last-Event-ID. It must not have a line break.
	ID string
	// Name is the event's type. Empty means "message", or the name that [Emits] declares.
	Name string
	// Retry tells the client how long to wait before it reconnects. Zero sends nothing.
	Retry time.Duration
	// Data is sent as JSON.
	Data T
}

// Events is an answer of server-sent events. Each event is sent at once. Comments are sent
// between events, to keep proxies from closing the connection.
type Events[T any] struct {
	// Items is read once, on a goroutine of its own. Reading stops when it ends, when it
	// yields an error, or when the client is gone. The request waits for that goroutine, so
	// the sequence must stop waiting when the request's context ends.
	Items iter.Seq2[Event[T], error]
	// KeepAlive is the time between comments while there are no events. Defaults to 15
	// seconds; a negative value sends none.
	KeepAlive time.Duration
}

// Respond writes the events until the sequence ends or the client is gone.
func (e Events[T]) Respond(w http.ResponseWriter, r *http.Request) error {
	if err := canFlush(w); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	if err := out.control.Flush(); err != nil {
		return fmt.Errorf("send events: %w", err)
	}
	events := make(chan eventText)
	go e.encode(ctx, events)
	defer func() {
		cancel()
		for range events {
		}
	}()
	wait := e.KeepAlive
	if wait == 0 {
		wait = 15 * time.Second
	}
	return out.copy(ctx, events, wait)
}

type eventText struct {
	text     []byte
	err      error
	panicked any
}

// encode encodes the events as text until the sequence ends, and then closes the channel.
//
// A panic of the sequence is sent over the channel and raised again in the handler's
// goroutine: in this goroutine it would end the whole program.
func (e Events[T]) encode(ctx context.Context, to chan<- eventText) {
	defer close(to)
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if reason != http.ErrAbortHandler { //nolint:errorlint,err113 // a panic value is compared as it is, as net/http does
			reason = fmt.Sprintf("%v\n%s", reason, debug.Stack())
		}
		select {
		case to <- eventText{panicked: reason}:
		case <-ctx.Done():
		}
	}()
	lines := newLineEncoder(ctx)
	var kinds []emitted
	if c := contextOf(ctx); c != nil {
		kinds = c.route.entry.config.emits
	}
	for item, err := range e.Items {
		var next eventText
		if next.err = err; err == nil {
			item.Name, next.err = nameOf(kinds, item.Name, item.Data)
		}
		if next.err == nil {
			next.text, next.err = item.encode(lines)
		}
		select {
		case to <- next:
		case <-ctx.Done():
			return
		}
		if next.err != nil {
			return
		}
	}
}

func (e Event[T]) encode(lines *lineEncoder) ([]byte, error) {
	data, err := lines.encode(e.Data)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(e.ID+e.Name, "\r\n\x00") {
		return nil, errors.New("an event's id or name has a line break")
	}
	var b bytes.Buffer
	if e.ID != "" {
		b.WriteString("id: " + e.ID + "\n")
	}
	if e.Name != "" {
		b.WriteString("event: " + e.Name + "\n")
	}
	if e.Retry > 0 {
		b.WriteString("retry: " + strconv.FormatInt(e.Retry.Milliseconds(), 10) + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return b.Bytes(), nil
}

type eventWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// copy writes the events and keepalive comments until the channel is closed or ctx ends.
func (o *eventWriter) copy(ctx context.Context, events <-chan eventText, wait time.Duration) error {
	var alive <-chan time.Time
	if wait > 0 {
		ticker := time.NewTicker(wait)
		defer ticker.Stop()
		alive = ticker.C
	}
	for {
		text := []byte(": keepalive\n\n")
		select {
		case <-ctx.Done():
			return nil
		case <-alive:
		case next, ok := <-events:
			if !ok {
				return nil
			}
			if next.panicked != nil {
				panic(next.panicked)
			}
			if next.err != nil {
				return next.err
			}
			text = next.text
		}
		if _, err := o.w.Write(text); err != nil {
			return err //nolint:wrapcheck // the caller names the route
		}
		if err := o.control.Flush(); err != nil {
			return err //nolint:wrapcheck // the caller names the route
		}
	}
}

// Document returns the content type and T, the type of each event's data.
func (Events[T]) Document() (contentType string, body reflect.Type) {
	return "text/event-stream", reflect.TypeFor[T]()
}
