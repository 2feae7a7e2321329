package bind

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// The reasons why a form cannot be read at all. They are not faults of a field: an API answers 415, 413 and
// 400.
var (
	ErrFormType     = errors.New("body is not a form")
	ErrFormTooLarge = errors.New("form is too large")
	ErrFormSyntax   = errors.New("form is malformed")
)

const (
	// maxMemory is how many bytes of files are kept in memory. Further files go to temporary files. Fields
	// are kept in memory, and may use 10 MiB more than maxMemory.
	maxMemory = 8 << 20
	// maxFiles is how many files a form may have.
	maxFiles = 20
	// maxFields is how many fields other than files a form may have.
	maxFields = 1000
)

// ParseForm reads the request's body as a form, of the type multipart/form-data or
// application/x-www-form-urlencoded, so that plans find its fields and files. Call it once per request,
// before [Plan.Bind], if a plan needs a form. It refuses a body of more than maxBytes when it has read that
// many.
//
// The returned function removes the temporary files. It is never nil, even with an error. Call it when the
// request is over; the files cannot be read after that.
//
// The error is an [ErrFormType], [ErrFormTooLarge] or [ErrFormSyntax], and has no part of the body in its
// text. Malformed escapes in single fields are faults instead.
func (in *Input) ParseForm(maxBytes int64) (cleanup func(), faults []fault.Fault, err error) {
	r := in.request

	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return func() {}, nil, ErrFormType
	}
	if r.Body == nil {
		return func() {}, nil, ErrFormSyntax
	}
	body := http.MaxBytesReader(nil, r.Body, maxBytes)

	switch media {
	case "application/x-www-form-urlencoded":
		faults, err = in.parseURLEncoded(body)
		return func() {}, faults, err
	case "multipart/form-data":
		cleanup, err = in.parseMultipart(body, params["boundary"])
		return cleanup, nil, err
	default:
		return func() {}, nil, ErrFormType
	}
}

func (in *Input) parseURLEncoded(body io.Reader) ([]fault.Fault, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, formError(err)
	}

	pairs, tooMany := cutPairs(nil, string(data), maxFields, false)
	if tooMany {
		return nil, fmt.Errorf("%w: more than %d fields", ErrFormTooLarge, maxFields)
	}
	in.form = pairs

	return pairFaults(nil, fault.Form, pairs, false), nil
}

func (in *Input) parseMultipart(body io.Reader, boundary string) (func(), error) {
	if boundary == "" {
		return func() {}, ErrFormSyntax
	}

	form, err := multipart.NewReader(body, boundary).ReadForm(maxMemory)
	if err != nil {
		return func() {}, formError(err)
	}
	cleanup := func() { _ = form.RemoveAll() }

	fields, files := 0, 0
	for _, texts := range form.Value {
		fields += len(texts)
	}
	for _, headers := range form.File {
		files += len(headers)
	}

	switch {
	case fields > maxFields:
		return cleanup, fmt.Errorf("%w: more than %d fields", ErrFormTooLarge, maxFields)
	case files > maxFiles:
		return cleanup, fmt.Errorf("%w: more than %d files", ErrFormTooLarge, maxFiles)
	}

	in.files = form.File
	in.form = make([]pair, 0, fields)
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		for _, text := range form.Value[name] {
			in.form = append(in.form, pair{name: name, text: text})
		}
	}

	return cleanup, nil
}

// formError returns the reason why reading failed.
func formError(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fmt.Errorf("%w: more than %d bytes", ErrFormTooLarge, tooLarge.Limit)
	}
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return ErrFormTooLarge
	}

	return ErrFormSyntax
}
