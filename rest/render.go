package rest

import (
	"net/http"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/wire"
)

// ProblemErrors writes errors as RFC 9457 problems: application/problem+json with type, title,
// status and detail, and with code and errors in addition.
var ProblemErrors ErrorRenderer = problems{}

// Problem is the error body of [ProblemErrors].
type Problem struct {
	Type   string         `doc:"The kind of problem. about:blank means that only the status is known." example:"about:blank"          json:"type"`
	Title  string         `doc:"The status in words."                                                  example:"Unprocessable Entity" json:"title"`
	Status int            `doc:"The HTTP status."                                                      example:"422"                  json:"status"`
	Detail string         `doc:"What happened, as a text for people."                                  json:"detail,omitempty"`
	Code   string         `doc:"What happened, as a word for programs."                                example:"validation_failed"    json:"code"`
	Errors []ProblemFault `doc:"The mistakes in the request."                                          json:"errors,omitempty"`
}

// ProblemFault is one mistake in a request, as part of a [Problem].
type ProblemFault struct {
	Location string         `doc:"The place of the mistake."                 example:"body.tags[1]"     json:"location"`
	Pointer  string         `doc:"The place in the body, as a JSON pointer." example:"/tags/1"          json:"pointer,omitempty"`
	Kind     string         `doc:"The broken rule, as a word for programs."  example:"string_too_short" json:"kind"`
	Message  string         `doc:"The broken rule, as a text for people."    json:"message"`
	Limits   map[string]any `doc:"The limits of the rule."                   json:"limits,omitempty"`
}

type problems struct{}

func (problems) Document() (contentType string, body reflect.Type) {
	return "application/problem+json", reflect.TypeFor[Problem]()
}

func (problems) Render(_ *http.Request, e *Error) (contentType string, body any) {
	p := &Problem{
		Type: "about:blank", Title: http.StatusText(e.Status), Status: e.Status, Detail: e.detail(), Code: e.code(),
	}
	if len(e.Faults) > 0 {
		p.Errors = make([]ProblemFault, len(e.Faults))
	}
	for i, f := range e.Faults {
		p.Errors[i] = ProblemFault{Location: f.Location(), Kind: f.Kind, Message: f.Message, Limits: f.Limits}
		if f.In == "body" {
			p.Errors[i].Pointer = f.Pointer()
		}
	}
	return "application/problem+json", p
}

func (a *API) writeError(w http.ResponseWriter, r *http.Request, e *Error) {
	if e.Status == statusClientGone {
		w.WriteHeader(e.Status) // net/http sends it with the body, of which there is none
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	if e.Status == http.StatusNotModified { // it has the headers of the answer that the client has already
		addAll(h, e.Header)
		w.WriteHeader(e.Status)
		return
	}
	if len(h) > 0 {
		// The handler may have set these for the answer that it then did not send.
		delete(h, "Cache-Control")
		delete(h, "Content-Length")
		delete(h, "Etag")
		delete(h, "Last-Modified")
	}
	addAll(h, e.Header)
	if e.Status == http.StatusInternalServerError && !e.mismatch {
		// The program's text may be internal, so it goes only into the log.
		e = &Error{Status: e.Status, Code: "internal", Detail: "Internal error."}
	}
	h["X-Content-Type-Options"] = nosniff
	if len(h["Cache-Control"]) == 0 {
		h["Cache-Control"] = noStore
	}
	if e.Body == nil && a.appendRendered(w, e) {
		return
	}
	contentType, body := "application/json", e.Body
	if body == nil {
		contentType, body = a.config.renderer.Render(r, e)
	}
	h.Set("Content-Type", contentType)
	if err := a.send(w, e.Status, nil, wire.Plan{}, body); err != nil {
		a.config.logger.log().ErrorContext(r.Context(), "error body cannot be encoded", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
	}
}
