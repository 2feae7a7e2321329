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

// The ways in which a form cannot be read at all. They are not faults of a field: an API
// answers 415, 413 and 400.
var (
	ErrFormType     = errors.New("body is not a form")
	ErrFormTooLarge = errors.New("form is too large")
	ErrFormSyntax   = errors.New("form is malformed")
)

// Limits bound what reading a form may cost.
type Limits struct {
	// MaxBytes is the size of the whole body. A larger one is refused when reading reaches
	// that point. Defaults to 32 MiB.
	MaxBytes int64

	// MaxMemory is how much of the files is kept in memory; the rest goes to temporary
	// files. Fields are kept in memory, at most 10 MiB more than this of them. Defaults to
	// 8 MiB.
	MaxMemory int64

	// MaxFiles is how many files there may be. Defaults to 20.
	MaxFiles int

	// MaxFields is how many fields there may be that are not files. Defaults to 1000.
	MaxFields int
}

func (l Limits) withDefaults() Limits {
	if l.MaxBytes == 0 {
		l.MaxBytes = 32 << 20
	}
	if l.MaxMemory == 0 {
		l.MaxMemory = 8 << 20
	}
	if l.MaxFiles == 0 {
		l.MaxFiles = 20
	}
	if l.MaxFields == 0 {
		l.MaxFields = 1000
	}

	return l
}

// ParseForm reads the request's body as a form, of the type multipart/form-data or
// application/x-www-form-urlencoded, so that plans find its fields and files. It is for
// plans that need a form, and is called once per request and before [Plan.Bind].
//
// The returned function removes the temporary files. It is never nil, also beside an error,
// and has to be called when the request is over: the files are gone then.
//
// The error is an [ErrFormType], [ErrFormTooLarge] or [ErrFormSyntax]; its words hold
// nothing that was sent. Malformed escapes in single fields are faults instead.
func (in *Input) ParseForm(l Limits) (cleanup func(), faults []fault.Fault, err error) {
	l = l.withDefaults()
	r := in.request

	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return func() {}, nil, ErrFormType
	}
	if r.Body == nil {
		return func() {}, nil, ErrFormSyntax
	}
	body := http.MaxBytesReader(nil, r.Body, l.MaxBytes)

	switch media {
	case "application/x-www-form-urlencoded":
		faults, err = in.parseURLEncoded(body, l)
		return func() {}, faults, err
	case "multipart/form-data":
		cleanup, err = in.parseMultipart(body, params["boundary"], l)
		return cleanup, nil, err
	default:
		return func() {}, nil, ErrFormType
	}
}

func (in *Input) parseURLEncoded(body io.Reader, l Limits) ([]fault.Fault, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, formError(err)
	}

	pairs, tooMany := cutPairs(nil, string(data), l.MaxFields, false)
	if tooMany {
		return nil, fmt.Errorf("%w: more than %d fields", ErrFormTooLarge, l.MaxFields)
	}
	in.form = pairs

	return pairFaults(nil, fault.Form, pairs, false), nil
}

func (in *Input) parseMultipart(body io.Reader, boundary string, l Limits) (func(), error) {
	if boundary == "" {
		return func() {}, ErrFormSyntax
	}

	form, err := multipart.NewReader(body, boundary).ReadForm(l.MaxMemory)
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
	case fields > l.MaxFields:
		return cleanup, fmt.Errorf("%w: more than %d fields", ErrFormTooLarge, l.MaxFields)
	case files > l.MaxFiles:
		return cleanup, fmt.Errorf("%w: more than %d files", ErrFormTooLarge, l.MaxFiles)
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

// formError names the way in which reading failed.
func formError(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fmt.Errorf("%w: more than %d bytes", ErrFormTooLarge, tooLarge.Limit)
	}
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return ErrFormTooLarge
	}

	return ErrFormSyntax
}
