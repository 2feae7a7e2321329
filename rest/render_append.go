package rest

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// appender is implemented by the renderers of this package. It appends the same bytes that the
// standard codec writes for the result of Render, whatever codec the program uses. It needs no
// reflection, because a server under attack answers many errors.
type appender interface {
	// errorType returns the content type as a header value.
	errorType() []string
	// appendError appends the body of an error. It returns false for an error that only the
	// codec can encode.
	appendError(to []byte, e *Error) (body []byte, ok bool)
}

// appendRendered answers with e if the renderer is an appender. It reports whether it has
// answered.
func (a *API) appendRendered(w http.ResponseWriter, e *Error) bool {
	renderer, ok := a.config.renderer.(appender)
	if !ok {
		return false
	}
	buf := a.buffers.newBuffer()
	body, ok := renderer.appendError(buf.AvailableBuffer(), e)
	if ok {
		h := w.Header()
		h["Content-Type"] = renderer.errorType()
		if len(body) > shortBody {
			h["Content-Length"] = []string{strconv.Itoa(len(body))}
		}
		w.WriteHeader(e.Status)
		_, _ = w.Write(body) //nolint:gosec // JSON with nosniff; a client that is gone is not an error
	}
	*buf = *bytes.NewBuffer(body[:0])
	a.buffers.recycle(buf)
	return ok
}

var (
	nosniff     = []string{"nosniff"}
	noStore     = []string{"no-store"}
	problemType = []string{"application/problem+json"}
	detailType  = []string{"application/json"}
)

func (problems) errorType() []string { return problemType }

func (details) errorType() []string { return detailType }

func (problems) appendError(to []byte, e *Error) (body []byte, ok bool) {
	to = append(to, `{"type":"about:blank","title":`...)
	to = appendJSONText(to, http.StatusText(e.Status))
	to = append(to, `,"status":`...)
	to = strconv.AppendInt(to, int64(e.Status), 10)
	if detail := e.detail(); detail != "" {
		to = append(to, `,"detail":`...)
		to = appendJSONText(to, detail)
	}
	to = append(to, `,"code":`...)
	to = appendJSONText(to, e.code())
	for i := range e.Faults {
		if i == 0 {
			to = append(to, `,"errors":[`...)
		} else {
			to = append(to, ',')
		}
		if to, ok = appendProblemFault(to, &e.Faults[i]); !ok {
			return to, false
		}
	}
	if len(e.Faults) > 0 {
		to = append(to, ']')
	}
	return append(to, '}', '\n'), true
}

func appendProblemFault(to []byte, f *Fault) (body []byte, ok bool) {
	to = append(to, `{"location":"`...)
	to = closeJSONText(fault.AppendLocation(to, f), len(to))
	if f.In == fault.Body && len(f.Path) > 0 {
		to = append(to, `,"pointer":"`...)
		to = closeJSONText(fault.AppendPointer(to, f), len(to))
	}
	to = append(to, `,"kind":`...)
	to = appendJSONText(to, f.Kind)
	to = append(to, `,"message":`...)
	to = appendJSONText(to, f.Message)
	if len(f.Limits) > 0 {
		to = append(to, `,"limits":`...)
		if to, ok = appendLimits(to, f.Limits); !ok {
			return to, false
		}
	}
	return append(to, '}'), true
}

func (details) appendError(to []byte, e *Error) (body []byte, ok bool) {
	to = append(to, `{"detail":`...)
	if len(e.Faults) == 0 {
		return append(appendJSONText(to, e.pythonDetail()), '}', '\n'), true
	}
	for i, f := range fault.Python(e.Faults, e.bodyName != "") {
		separator := byte(',')
		if i == 0 {
			separator = '['
		}
		kind, message, ctx := f.Pydantic()
		to = append(append(to, separator), `{"type":`...)
		to = appendJSONText(to, kind)
		to = append(to, `,"loc":[`...)
		to = appendJSONText(to, f.In)
		if f.In == fault.Body && e.bodyName != "" {
			to = append(to, ',')
			to = appendJSONText(to, e.bodyName)
		}
		for _, step := range f.Path {
			if to, ok = appendJSON(append(to, ','), step); !ok {
				return to, false
			}
		}
		to = append(to, `],"msg":`...)
		to = appendJSONText(to, message)
		if len(ctx) > 0 {
			to = append(to, `,"ctx":`...)
			if to, ok = appendLimits(to, ctx); !ok {
				return to, false
			}
		}
		to = append(to, '}')
	}
	return append(to, ']', '}', '\n'), true
}

func appendLimits(to []byte, limits map[string]any) (body []byte, ok bool) {
	var held [4]string
	names := held[:0]
	for name := range limits {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		to = append(appendJSONText(append(to, separator), name), ':')
		if to, ok = appendJSON(to, limits[name]); !ok {
			return to, false
		}
	}
	return append(to, '}'), true
}

func appendJSON(to []byte, value any) (body []byte, ok bool) {
	switch v := value.(type) {
	case string:
		return appendJSONText(to, v), true
	case int:
		return strconv.AppendInt(to, int64(v), 10), true
	case float64:
		// Only the codec decides how other numbers are written.
		if whole := int64(v); float64(whole) == v && -1<<53 < whole && whole < 1<<53 && (v != 0 || !math.Signbit(v)) {
			return strconv.AppendInt(to, whole, 10), true
		}
	}
	return encodeJSON(to, value)
}

// encodeJSON appends a value as encoding/json encodes it. It returns false if that fails.
func encodeJSON(to []byte, value any) (body []byte, ok bool) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil { //nolint:errchkjson // the result reports it
		return to, false
	}
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...), true
}

// appendJSONText appends a string in quotes. A plain ASCII string, the usual case, is copied
// as it is.
func appendJSONText(to []byte, text string) []byte {
	to = append(to, '"')
	return closeJSONText(append(to, text...), len(to))
}

// closeJSONText ends a JSON string. Its text was appended without escapes and begins at start,
// just after the opening quote. The text is escaped if necessary.
func closeJSONText(to []byte, start int) []byte {
	for _, c := range to[start:] {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := encodeJSON(to[:start-1], string(to[start:]))
			return quoted
		}
	}
	return append(to, '"')
}
