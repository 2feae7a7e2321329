package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// ErrorBody is the body of every error.
type ErrorBody struct {
	Error string `example:"threadId is required" json:"error"` // The error, for a person. The text may change.
	// Code is the error's code, for a program. Codes do not change.
	Code spool.Code `example:"invalid" json:"code"`
}

// DeleteRefusal is the answer to a deletion that is refused before the engine sees it.
type DeleteRefusal struct {
	Accepted bool       `example:"false"                json:"accepted"` // Always false.
	Error    string     `example:"threadId is required" json:"error"`    // The error, for a person.
	Code     spool.Code `example:"invalid"              json:"code"`     // The error's code, for a program.
}

// ErrorBodies writes errors.
type ErrorBodies struct{}

// Document implements [rest.ErrorRenderer].
func (ErrorBodies) Document() (contentType string, body reflect.Type) {
	return "application/json", reflect.TypeFor[ErrorBody]()
}

// Render implements [rest.ErrorRenderer].
func (ErrorBodies) Render(r *http.Request, e *rest.Error) (contentType string, body any) {
	out := ErrorBody{e.Detail, spool.Code(e.Code)}
	if out.Code == "" {
		out.Code = spool.Code(strings.ReplaceAll(strings.ToLower(http.StatusText(e.Status)), " ", "_"))
	}
	switch {
	case errors.Is(e.Err, rest.ErrNoPath):
		out = ErrorBody{"no such path: " + r.URL.Path, spool.NotFound}
	case errors.Is(e.Err, rest.ErrNoMethod):
		out = ErrorBody{r.Method + " is not allowed here", CodeMethod}
	case e.Code == "malformed_body":
		if syntax, ok := errors.AsType[*json.SyntaxError](e.Err); ok {
			return "application/json", ErrorBody{
				fmt.Sprintf("the body is not valid JSON: %s (at byte %d)", syntax.Error(), syntax.Offset), spool.Invalid,
			}
		}
		out = ErrorBody{inside(e.Detail), spool.Invalid}
	case e.Err == nil && (e.Code == "too_large" || e.Code == "unavailable"):
		out.Error = inside(e.Detail)
	case e.Status == http.StatusInternalServerError:
		out = ErrorBody{"Internal error", spool.Internal}
	case len(e.Faults) > 0:
		out = ErrorBody{sentence(e.Faults[0]), spool.Invalid}
		if r.Method == http.MethodDelete { // a deletion answers with its result
			return "application/json", DeleteRefusal{Error: out.Error, Code: out.Code}
		}
	}
	return "application/json", out
}

// inside returns a sentence of rest in the form of the contract's errors: with a lower case first letter and
// without a full stop.
func inside(text string) string {
	return strings.ToLower(text[:min(1, len(text))]) + strings.TrimSuffix(text[min(1, len(text)):], ".")
}

// Texts for parameters whose limits would need several sentences.
const (
	limitRule  = "an integer from 1 to 1000"
	branchRule = "a positive integer"
	depthRule  = "an integer from 0 to 100"
	afterRule  = "zero or a positive integer"
	timeRule   = "a time such as 2026-01-02T03:04:05Z"
	ageRule    = `a duration such as "720h"`
)

// sentence returns the error text for a parameter.
func sentence(f rest.Fault) string {
	name := strings.TrimPrefix(f.Location(), f.In+".")
	if len(f.Path) == 0 {
		name = "the body"
	}
	switch f.Kind {
	case "missing":
		if len(f.Path) == 0 {
			return "the body is empty; a JSON object is required"
		}
		return name + " is required"
	case "model_type", "dict_type":
		if len(f.Path) == 0 {
			return "the body must be a JSON object"
		}
		return name + " must be an object"
	case "duplicate_key":
		return name + " is there twice"
	case "key_case_mismatch":
		sent, _ := f.Path[len(f.Path)-1].(string)
		return fmt.Sprintf("%s%s must be spelled exactly so, not %q", strings.TrimSuffix(name, sent), f.Limits["expected"],
			sent)
	case "recursion_limit":
		return fmt.Sprintf("the body is nested deeper than %v arrays and objects", f.Limits["max_depth"])
	case "string_type":
		return name + " must be a string"
	case "bool_type", "bool_parsing":
		return name + " must be true or false"
	case "list_type":
		return name + " must be an array"
	case "float_type", "float_parsing", "float_overflow":
		return name + " must be a number"
	case "int_type", "int_from_float":
		return name + " must be an integer"
	case "string_too_short":
		return name + " is required"
	case "repeated":
		return name + " must be given only once"
	case "percent_encoding", "too_many_parameters":
		return "the query of the URL is malformed"
	case "int_parsing", "int_overflow", "greater_than_equal", "less_than_equal":
		switch {
		case f.In == "body" && f.Kind != "greater_than_equal":
			return name + " must be an integer"
		case f.In == "body" && name != "branchId":
			return name + " must be zero or a positive number"
		}
		switch name {
		case "branchId":
			return name + " must be " + branchRule
		case "after", "version", "seq":
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
