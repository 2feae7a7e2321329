package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
)

// Upload is a request body that is one file of any type. An input gets it that embeds an
// Upload, or whose field Body has this type, also if that field is in an embedded struct. The client sends the bytes
// of the file as the body, or a form with one file. A body with a Content-Encoding is refused with 415.
//
// The handler reads the body while the client sends it: nothing keeps it in memory, and
// [BodyBounds.Memory] does not count it. Read returns an error for a body that is longer than
// [MaxBody], that ends early or that comes too slowly. A handler that returns this error, also
// wrapped, gives the right answer. After [BodyBounds.Timeout] the client must have sent at
// least 64 KiB for each second.
type Upload struct {
	io.Reader

	// Name is the name of the file in the form, or of the Content-Disposition header. Empty:
	// the client has said none. It is the client's word: it may have any characters.
	Name string
	// Type is the content type of the file, as the client says it. Empty: it says none.
	Type string
	// Size is the length of a body without a form, in bytes. It is -1 if it is not known.
	Size int64
}

const (
	// uploadRate is how many bytes of an upload a client must send each second, on average.
	uploadRate = 64 << 10
	// usualUpload is the limit for uploads without [MaxBody].
	usualUpload = 32 << 20
)

var uploadType = reflect.TypeFor[Upload]()

// compileUpload finds an [Upload] in an input: the input itself, an embedded Upload, or the
// field Body, also of an embedded struct. It returns nil if there is none.
func compileUpload(t reflect.Type, plan *bind.Plan) (*bodyInput, error) {
	if t == uploadType {
		return &bodyInput{typ: t, required: true, upload: true}, nil
	}
	for _, f := range reflect.VisibleFields(t) {
		held := f.Type
		for held.Kind() == reflect.Pointer {
			held = held.Elem()
		}
		if held != uploadType || f.Tag.Get("json") == "-" {
			continue
		}
		_, pointer := reflect.Zero(t).FieldByIndexErr(f.Index)
		if f.Type != uploadType || pointer != nil || !f.Anonymous && f.Name != "Body" || f.Tag.Get("json") != "" {
			return nil, fmt.Errorf(
				"%v.%s is a rest.Upload, which is a whole body: embed it, or make it the field Body, as a value and without a json tag",
				t, f.Name,
			)
		}
		if other := strayField(t, f.Index, plan); other != "" {
			return nil, fmt.Errorf("%v.%s is neither a parameter nor in the upload", t, other)
		}
		return &bodyInput{typ: f.Type, index: f.Index, required: f.Tag.Get("required") != "false", upload: true}, nil
	}
	return nil, nil //nolint:nilnil // there is no upload
}

// readUpload prepares the body for the handler. It reads the body only up to a form's file.
func (c *routeContext) readUpload(into *Upload) ([]fault.Fault, error) {
	limit := c.route.bodyBytes(usualUpload)
	if coding := c.request.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		c.response.writer.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 15.5.16
		return nil, &Error{
			Status: http.StatusUnsupportedMediaType,
			Detail: "The body must not have a Content-Encoding: send the bytes of the file.",
		}
	}
	if c.request.ContentLength > limit {
		c.response.writer.Header().Set("Connection", "close") // nobody reads the body
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body := &uploadBody{c: c, began: time.Now(), from: http.MaxBytesReader(c.response.writer, c.request.Body, limit)}
	c.cleanup = body.stop
	header := c.request.Header
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err == nil && kind == "multipart/form-data" {
		return readUploadForm(into, body, params["boundary"])
	}
	*into = Upload{Reader: body, Type: header.Get("Content-Type"), Size: c.request.ContentLength}
	if _, said, err := mime.ParseMediaType(header.Get("Content-Disposition")); err == nil {
		into.Name = said["filename"]
	}
	return nil, nil
}

// readUploadForm finds the file of a form. Fields are skipped.
func readUploadForm(into *Upload, body *uploadBody, boundary string) ([]fault.Fault, error) {
	form := multipart.NewReader(body, boundary)
	part, err := nextFile(form)
	switch {
	case errors.Is(err, io.EOF):
		return []fault.Fault{fault.Missing(fault.Body, []any{"file"})}, nil
	case err != nil:
		return nil, err
	}
	*into = Upload{
		Reader: &formFile{body: body, form: form, part: part}, Name: part.FileName(), Type: part.Header.Get("Content-Type"),
		Size: -1,
	}
	return nil, nil
}

// nextFile returns the next file of a form, and [io.EOF] behind the last one.
func nextFile(form *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := form.NextRawPart()
		switch {
		case err == io.EOF: //nolint:err113 // a form without an end has an error around it
			return nil, io.EOF
		case err != nil:
			return nil, unreadable(err)
		case part.FileName() != "":
			return part, nil
		}
	}
}

// formFile is the file of a form. It ends well only if the form does, and has no other file: a
// handler that reads it to its end has the whole upload.
type formFile struct {
	body *uploadBody
	form *multipart.Reader
	part io.Reader
	end  error // what a Read behind the end returns
}

// Read implements [io.Reader].
func (f *formFile) Read(p []byte) (int, error) {
	if f.end != nil {
		return 0, f.end
	}
	n, err := f.part.Read(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		f.end = f.finish()
	default:
		f.end = unreadable(err)
	}
	return n, f.end
}

// finish reads what follows the file. It returns [io.EOF] if that is the end of a form.
func (f *formFile) finish() error {
	_, err := nextFile(f.form)
	switch {
	case err == nil:
		return &Error{Status: http.StatusBadRequest, Code: codeMalformed, Detail: "The form has more than one file."}
	case !errors.Is(err, io.EOF):
		return err
	}
	if _, err := io.Copy(io.Discard, f.body); err != nil { // a form may have a text behind its end
		return err //nolint:wrapcheck // the body's own error
	}
	return io.EOF
}

// uploadBody is the body of an upload. The time that the client has grows with the bytes that
// it has sent.
type uploadBody struct {
	c     *routeContext
	from  io.Reader
	began time.Time
	read  int64

	mu       sync.Mutex
	deadline time.Time
	closing  func() bool // stops to wait for the shutdown
	shut     bool        // the program shuts down, or the body has ended: the deadline is the last one
}

// Read implements [io.Reader].
func (b *uploadBody) Read(p []byte) (int, error) {
	b.extend()
	n, err := b.from.Read(p)
	b.read += int64(n)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		b.stop()
		b.setDeadline(time.Time{}) // after an error net/http still waits for the rest of the body
		return n, err              //nolint:wrapcheck // the end of the body
	default:
		return n, unreadable(err)
	}
}

// extend gives the client more time for what it has sent. A test recorder has no deadlines.
func (b *uploadBody) extend() {
	bounds := &b.c.route.api.config.bounds
	if bounds.Timeout == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing == nil {
		b.closing = func() bool { return true }
		if bounds.Closing != nil {
			b.closing = context.AfterFunc(bounds.Closing, b.shutDown)
		}
	}
	next := b.began.Add(bounds.Timeout + time.Duration(b.read/uploadRate)*time.Second)
	if b.shut || !next.After(b.deadline) {
		return
	}
	b.deadline = next
	b.setDeadline(next)
}

// shutDown leaves the client one second.
func (b *uploadBody) shutDown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.shut {
		b.shut = true
		b.setDeadline(time.Now().Add(closingGrace))
	}
}

// stop ends the wait for the shutdown.
func (b *uploadBody) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true // the shutdown may begin just now
	if b.closing != nil {
		b.closing()
	}
}

func (b *uploadBody) setDeadline(at time.Time) {
	if b.c.route.api.config.bounds.Timeout != 0 {
		_ = http.NewResponseController(b.c.response.writer).SetReadDeadline(at)
	}
}

// unreadable returns the error of a body that cannot be read to its end.
func unreadable(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) || asError(err) != nil {
		return err
	}
	return &Error{Status: http.StatusBadRequest, Code: codeMalformed, Detail: "The body could not be read.", Err: err}
}

// uploadContent documents the body of an upload.
func uploadContent() map[string]*huma.MediaType {
	return map[string]*huma.MediaType{
		"application/octet-stream": {Schema: bytesSchema()},
		"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": bytesSchema()}, Required: []string{"file"},
		}},
	}
}

// uploadOf returns the body of a request with an upload, without a form.
func uploadOf(in reflect.Value, b *bodyInput) (content io.Reader, contentType string, err error) {
	u, _ := reflect.TypeAssert[Upload](in.FieldByIndex(b.index))
	if u.Reader == nil {
		u.Reader = bytes.NewReader(nil)
	}
	return u.Reader, u.Type, nil
}
