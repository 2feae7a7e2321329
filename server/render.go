package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// errorBody is the body of every error.
type errorBody struct {
	Error string     `doc:"What is wrong, for a person. It may change."       example:"threadId is required" json:"error"`
	Code  spool.Code `doc:"What is wrong, for a program. It does not change." example:"invalid"              json:"code"`
}

// deleteRefusal is the result of a deletion for a request that never got to the engine.
type deleteRefusal struct {
	Accepted bool       `doc:"Always false."                 example:"false"                json:"accepted"`
	Error    string     `doc:"What is wrong, for a person."  example:"threadId is required" json:"error"`
	Code     spool.Code `doc:"What is wrong, for a program." example:"invalid"              json:"code"`
}

// errorBodies writes errors.
type errorBodies struct{}

// Document implements [rest.ErrorRenderer].
func (errorBodies) Document() (contentType string, body reflect.Type) {
	return "application/json", reflect.TypeFor[errorBody]()
}

// Render implements [rest.ErrorRenderer].
func (errorBodies) Render(r *http.Request, e *rest.Error) (contentType string, body any) {
	out := errorBody{e.Detail, spool.Code(e.Code)}
	if out.Code == "" {
		out.Code = spool.Code(strings.ReplaceAll(strings.ToLower(http.StatusText(e.Status)), " ", "_"))
	}
	switch {
	case e.Status == http.StatusInternalServerError:
		out = errorBody{"Internal error", spool.Internal}
	case len(e.Faults) > 0:
		out = errorBody{sentence(e.Faults[0]), spool.Invalid}
		if r.Method == http.MethodDelete { // a deletion answers with its result
			return "application/json", deleteRefusal{Error: out.Error, Code: out.Code}
		}
	}
	return "application/json", out
}

// refuse answers with an error where there is no route to do it.
func refuse(w http.ResponseWriter, err error) {
	e := mapError(err)
	b, _ := json.Marshal(errorBody{e.Detail, spool.Code(e.Code)}) //nolint:errchkjson // two texts can always be encoded
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(e.Status)
	_, _ = w.Write(append(b, '\n'))
}

// Texts that say what a parameter must be, where its limits say it in pieces.
const (
	limitRule  = "an integer from 1 to 1000"
	branchRule = "a positive integer"
	depthRule  = "an integer from 0 to 100"
	afterRule  = "zero or a positive integer"
	timeRule   = "a time such as 2026-01-02T03:04:05Z"
	ageRule    = `a duration such as "720h"`
)

// sentence says what is wrong with a parameter.
func sentence(f rest.Fault) string {
	name := f.In
	if len(f.Path) > 0 {
		name, _ = f.Path[len(f.Path)-1].(string)
	}
	switch f.Kind {
	case "missing":
		return name + " is required"
	case "repeated":
		return name + " must be given only once"
	case "percent_encoding", "too_many_parameters":
		return "the query of the URL is malformed"
	case "int_parsing", "int_overflow", "greater_than_equal", "less_than_equal":
		switch name {
		case "branchId":
			return name + " must be " + branchRule
		case "after":
			return name + " must be " + afterRule
		case "depth":
			return name + " must be " + depthRule
		case "olderThan":
			return name + " must be " + ageRule
		default:
			return name + " must be " + limitRule
		}
	case "time_delta_parsing":
		return name + " must be " + ageRule
	case "datetime_parsing":
		return name + " must be " + timeRule
	case "string_pattern_mismatch":
		return name + " may only have letters, digits and the characters . _ : -"
	case "string_too_long":
		return name + " is longer than " + fmt.Sprint(f.Limits["max_length"]) + " characters"
	case "enum":
		return name + " must be " + strings.ReplaceAll(fmt.Sprint(f.Limits["expected"]), "'", "")
	default:
		return name + " is not valid"
	}
}
