package resttest

import (
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// Answer is the answer to a call.
type Answer[Body any] struct {
	// Status is the HTTP status.
	Status int
	// Header has the headers of the answer.
	Header http.Header
	// Body is the decoded body if the status is below 400 and the body is JSON; otherwise it
	// is zero.
	Body Body
	// Error is the decoded error if the status is 400 or above; otherwise it is nil.
	Error *Error
	// Text is the undecoded body.
	Text string
	// Aborted is true if the handler cut the connection. Text is then incomplete.
	Aborted bool
}

// Error is an error that a renderer of package rest has written.
type Error struct {
	// Code is the error code for programs. It is empty with rest.DetailErrors.
	Code string
	// Detail is the text for people. With rest.DetailErrors, it is empty if there are Faults.
	Detail string
	// Faults are the mistakes in the input.
	Faults []Fault
}

// Fault is one mistake in a request.
type Fault struct {
	// Location is the place, such as "body.tags[1]".
	Location string
	// Kind is the broken rule, such as "missing".
	Kind string
	// Message describes the broken rule for people.
	Message string
	// Limits are the limits of the rule.
	Limits map[string]any
}

// String returns the location and the kind, such as "body.title: missing".
func (f Fault) String() string { return f.Location + ": " + f.Kind }

func read[Body any](t TB, c *call, w *httptest.ResponseRecorder, aborted bool) Answer[Body] {
	t.Helper()
	a := Answer[Body]{Status: w.Code, Header: w.Header(), Text: w.Body.String(), Aborted: aborted}
	switch {
	case a.Status >= http.StatusBadRequest:
		a.Error = c.readError(w.Body.Bytes())
	case !isJSON(a.Header) || a.Text == "" || aborted:
	default:
		if err := c.decode(w.Body.Bytes(), &a.Body); err != nil {
			t.Fatalf("resttest: %s %s: the body is no %T: %v (CallAs takes the type of another body)\n%s",
				c.request.Method, c.request.URL, a.Body, err, a.Text)
		}
	}
	return a
}

// decode decodes a body in the form that the API writes: for example, dates by the tags of
// their fields.
func (c *call) decode(text []byte, into any) error {
	if wire.HasTexts(reflect.TypeOf(into)) {
		return body.Unmarshal(text, into, "") //nolint:wrapcheck // the caller names the request
	}
	return c.codec.Unmarshal(text, into) //nolint:wrapcheck // the caller names the request
}

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// wireError can hold an error of any renderer, because their field names do not clash.
type wireError struct {
	Code   string `json:"code"`
	Detail any    `json:"detail"`
	Errors []struct {
		Location string         `json:"location"`
		Kind     string         `json:"kind"`
		Message  string         `json:"message"`
		Limits   map[string]any `json:"limits"`
	} `json:"errors"`
}

// readError reads an error body. If the error has a body of its own, some or all fields stay
// empty.
func (c *call) readError(text []byte) *Error {
	e := &Error{}
	var known wireError
	if err := c.codec.Unmarshal(text, &known); err != nil {
		return e
	}
	e.Code = known.Code
	switch detail := known.Detail.(type) {
	case string:
		e.Detail = detail
	case []any:
		for _, item := range detail {
			e.Faults = append(e.Faults, detailFault(item))
		}
	}
	for _, f := range known.Errors {
		e.Faults = append(e.Faults, Fault{Location: f.Location, Kind: f.Kind, Message: f.Message, Limits: f.Limits})
	}
	return e
}

func detailFault(item any) Fault {
	object, _ := item.(map[string]any)
	f := Fault{}
	f.Kind, _ = object["type"].(string)
	f.Message, _ = object["msg"].(string)
	f.Limits, _ = object["ctx"].(map[string]any)
	steps, _ := object["loc"].([]any)
	for i, step := range steps {
		switch step := step.(type) {
		case float64:
			f.Location += "[" + strconv.Itoa(int(step)) + "]"
		default:
			if i > 0 {
				f.Location += "."
			}
			f.Location += fmt.Sprint(step)
		}
	}
	return f
}
