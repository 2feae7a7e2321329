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

// File is an answer with the content of a file. Ranges and conditional requests work where
// Content can seek.
type File struct {
	// Name is the file's name, for its type and for the client to save it under.
	Name string
	// Content is closed when it was sent, if it can be. A file of an [fs.FS] is one.
	Content io.Reader
	// Type is the content type. Defaults to what the name's ending says.
	Type string
	// Modified is when it was changed last, if that is known.
	Modified time.Time
	// Download makes browsers save the file instead of showing it.
	Download bool
}

// OpenFile returns the file of the name. One that is not there is a 404, and so is a name
// that no file can have: one with a step up, below another file, or too long.
func OpenFile(in fs.FS, name string) (*File, error) {
	if !fs.ValidPath(name) { // not every file system looks
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

// contentWriter keeps what [http.ServeContent] says of an error in plain text, so that it is
// answered in the API's form: a range beyond the end of a file, for example.
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
		return len(b), nil //nolint:nilerr // what net/http says of the error is left out
	}
	return w.ResponseWriter.Write(b) //nolint:wrapcheck // it is the same writer
}

// Unwrap lets [http.ResponseController] find the connection.
func (w *contentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Stream is an answer that the handler writes piece by piece.
type Stream struct {
	// Type is the content type. Defaults to "application/octet-stream".
	Type string
	// Write writes it. What it writes is sent at the latest when it returns; flush sends
	// what was written until then. ctx ends when the client is gone.
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

// Lines is an answer of JSON documents, one on each line. Each line is sent at once.
type Lines[T any] struct {
	// Items is read once, on the goroutine of the request, until it ends, gives an error, or
	// the client is gone.
	Items iter.Seq2[T, error]
}

// Respond writes the lines. An error of the sequence cuts the connection once lines were
// sent, so that the client does not take a part for the whole.
func (l Lines[T]) Respond(w http.ResponseWriter, r *http.Request) error {
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

// lineEncoder encodes values one after the other, each to a line without its break, with
// the codec of the API.
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

// encode returns memory that holds until the next call.
func (l *lineEncoder) encode(v any) ([]byte, error) {
	l.buffer.Reset()
	if err := encode(l.encoder, &l.buffer, wire.Plan{}, v, l.part); err != nil {
		return nil, fmt.Errorf("encode a line: %w", err)
	}
	return bytes.TrimRight(l.buffer.Bytes(), "\n"), nil
}

// Document describes the lines: documents of type T.
func (Lines[T]) Document() (contentType string, body reflect.Type) {
	return "application/jsonl", reflect.TypeFor[T]()
}

// Event is one server-sent event.
type Event[T any] struct {
	// ID is what a client that reconnects sends as Last-Event-ID. It holds no line break.
	ID string
	// Name is the event's type. Empty: message.
	Name string
	// Retry tells the client how long to wait before it reconnects. Zero: nothing.
	Retry time.Duration
	// Data is sent as JSON.
	Data T
}

// Events is an answer of server-sent events. Each event is sent at once. Comments between events
// keep proxies from closing the connection.
type Events[T any] struct {
	// Items is read once, on a goroutine of its own, until it ends, gives an error, or the
	// client is gone. The request waits for that goroutine: what the sequence waits for has to
	// end with the context of the request.
	Items iter.Seq2[Event[T], error]
	// KeepAlive is the time between comments while there are no events. Defaults to 15
	// seconds; negative: none.
	KeepAlive time.Duration
}

// Respond writes the events until the sequence ends or the client is gone.
func (e Events[T]) Respond(w http.ResponseWriter, r *http.Request) error {
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

// encode turns events into text until the sequence ends, and then closes the channel.
//
// A panic of the sequence goes on in the handler's goroutine: in this one it would end the
// whole program.
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
	for item, err := range e.Items {
		var next eventText
		if next.err = err; err == nil {
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

// copy writes events until there are no more.
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

// Document describes the events, whose data are of type T.
func (Events[T]) Document() (contentType string, body reflect.Type) {
	return "text/event-stream", reflect.TypeFor[T]()
}
