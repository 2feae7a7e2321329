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

// Answer is what came back.
type Answer[Body any] struct {
	// Status is the HTTP status.
	Status int
	// Header are the headers.
	Header http.Header
	// Body is the decoded body of an answer below 400 that is JSON, and zero otherwise.
	Body Body
	// Error is the decoded error of an answer from 400 on, and nil otherwise.
	Error *Error
	// Text is the body as it came.
	Text string
	// Aborted is true when the handler cut the connection, so that Text is a part only.
	Aborted bool
}

// Error is an error by one of the renderers of package rest.
type Error struct {
	// Code is what happened, for a program. It is empty by rest.DetailErrors.
	Code string
	// Detail is what happened, for a person. It is empty when Faults say it.
	Detail string
	// Faults are what is wrong with the input.
	Faults []Fault
}

// Fault is one thing that is wrong with a request.
type Fault struct {
	// Location is where it is, such as "body.tags[1]".
	Location string
	// Kind is the rule that is broken, such as "missing".
	Kind string
	// Message is the rule for a person.
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

// decode reads an answer as the API writes it: a date, for example, by the tag of its field.
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

// wireError is an error of any renderer: their names do not clash.
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

// readError reads what it can of an error: one with a body of its own may have nothing of
// it.
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

// detailFault reads a fault of rest.DetailErrors.
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
