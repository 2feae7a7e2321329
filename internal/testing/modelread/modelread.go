// Package modelread checks what the adapters of models make of any answer, for fuzz tests. A test has a second, simple
// reader of the answers that follow the interface, and compares what both have read.
package modelread

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/sse"
)

// Body is a transport that answers each request with the same body.
type Body struct{ Text, Type string }

// RoundTrip returns the body.
func (b Body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {b.Type}},
		Body: io.NopCloser(strings.NewReader(b.Text)), Request: r,
	}, nil
}

// Said is what an answer says.
type Said struct {
	Text string
	// Calls are the calls, each as its name, a blank and its arguments.
	Calls []string
	// Finished is false for an answer that ends with an error.
	Finished bool
}

// Call returns a call as [Said] has it.
func Call(name, args string) string {
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	return name + " " + args
}

// reading checks the events of an answer.
type reading struct {
	said  Said
	ended bool
	open  map[spool.ToolCallID]*strings.Builder
}

// Answer asks a model, and checks that its events keep the contract of [spool.Model].
func Answer(t *testing.T, m spool.Model, r spool.ModelRequest) Said {
	t.Helper()

	a := reading{open: make(map[spool.ToolCallID]*strings.Builder)}
	for event, err := range m.Stream(t.Context(), r) {
		if a.ended {
			t.Fatalf("%v, %v after the end", event, err)
		}
		if err != nil {
			if _, ok := errors.AsType[*spool.ModelError](err); !ok {
				t.Fatalf("error %T %v", err, err)
			}
			a.ended = true
			continue
		}
		a.add(t, event)
	}
	if !a.ended {
		t.Fatal("no end")
	}
	return a.said
}

func (a *reading) add(t *testing.T, event spool.ModelEvent) {
	t.Helper()

	switch e := event.(type) {
	case spool.TextDelta:
		a.said.Text += e.Text
		checkText(t, e.Text)
	case spool.ReasoningDelta:
		checkText(t, e.Text)
	case spool.ToolCallStart:
		if a.open[e.ID] != nil || e.ID == "" || e.Name == "" {
			t.Fatalf("start %+v", e)
		}
		a.open[e.ID] = new(strings.Builder)
	case spool.ToolCallDelta:
		if a.open[e.ID] == nil {
			t.Fatalf("delta %+v", e)
		}
		_, _ = a.open[e.ID].WriteString(e.Args)
	case spool.ToolCallEnd:
		checkText(t, e.Args)
		if streamed := a.open[e.ID]; streamed == nil ||
			streamed.Len() > 0 && strings.TrimSpace(streamed.String()) != "" && streamed.String() != e.Args {
			t.Fatalf("end %+v after %v", e, streamed)
		}
		delete(a.open, e.ID)
		a.said.Calls = append(a.said.Calls, Call(e.Name, e.Args))
		checkData(t, e.Provider)
	case spool.TextEnd:
		checkData(t, e.Provider)
	case spool.ReasoningEnd:
		checkData(t, e.Provider)
	case spool.FileMade:
		if checkData(t, e.Provider); len(e.Data) == 0 {
			t.Fatal("a file without data")
		}
	case spool.ProviderPart:
		if checkData(t, e.Provider); e.Provider == nil {
			t.Fatal("a part without data")
		}
	case spool.Finish:
		a.ended, a.said.Finished = true, true
		if e.Reason == spool.FinishToolCalls && len(a.said.Calls) == 0 || e.Reason == "" {
			t.Fatalf("%+v without a call", e)
		}
	}
}

func checkText(t *testing.T, text string) {
	t.Helper()

	if !utf8.ValidString(text) {
		t.Fatalf("text %q", text)
	}
}

// checkData checks that data for a provider is a JSON object with one key.
func checkData(t *testing.T, data json.RawMessage) {
	t.Helper()

	var object map[string]json.RawMessage
	if data != nil && (json.Unmarshal(data, &object) != nil || len(object) != 1) {
		t.Fatalf("data %s", data)
	}
}

// Events returns the data of a stream's events up to [DONE], if each is a JSON object with whole characters, in which
// no key stands twice or is one of names in other letters. The adapters decide what other streams mean.
func Events(body string, names ...string) (events []map[string]any, ok bool) {
	reader := sse.NewReader(strings.NewReader(body), 0)
	for {
		event, err := reader.Next()
		if err != nil || event.Data == "[DONE]" {
			return events, len(events) > 0 && (err == nil || errors.Is(err, io.EOF))
		}
		var fields map[string]any
		if json.Unmarshal([]byte(event.Data), &fields) != nil || fields == nil ||
			strings.ContainsRune(event.Data, utf8.RuneError) {
			return nil, false
		}
		d := json.NewDecoder(strings.NewReader(event.Data))
		if !plainKeys(d, names) {
			return nil, false
		}
		events = append(events, fields)
	}
}

// plainKeys reads a value, and reports whether its keys have one meaning. encoding/json takes keys in any letters.
func plainKeys(d *json.Decoder, names []string) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return true
	}
	ok, seen := true, make(map[string]bool)
	for d.More() {
		if token == json.Delim('{') {
			key, err := d.Token()
			text, is := key.(string)
			if err != nil || !is {
				return false
			}
			ok = ok && !seen[text] && !slices.ContainsFunc(names,
				func(n string) bool { return n != text && strings.EqualFold(n, text) })
			seen[text] = true
		}
		ok = plainKeys(d, names) && ok
	}
	_, err = d.Token()
	return ok && err == nil
}

// Text returns a field that is a text. ok becomes false if it is anything else, or has half a character.
func Text(fields map[string]any, name string, ok *bool) string {
	text, is := fields[name].(string)
	*ok = *ok && is && !strings.ContainsRune(text, utf8.RuneError)
	return text
}

// Object returns a field that is an object. ok becomes false if it is anything else.
func Object(fields map[string]any, name string, ok *bool) map[string]any {
	object, is := fields[name].(map[string]any)
	*ok = *ok && is
	return object
}

// Number returns a field that is a number. ok becomes false if it is anything else.
func Number(fields map[string]any, name string, ok *bool) int {
	number, is := fields[name].(float64)
	*ok = *ok && is && number >= 0 && number < 1<<20 && number == float64(int(number))
	return int(number)
}
