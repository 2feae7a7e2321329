package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/spoolhq/spool/internal/testing/script"
)

// recorder stands for curl in the pages' PATH: it writes down how it is called.
const recorder = "#!/bin/sh\nprintf '%s\\0' \"$@\" '' >> \"$PAGE_REQUESTS\"\nexec CURL \"$@\"\n"

// record puts the recorder into a folder for the PATH.
func record(t *testing.T, bin string) {
	t.Helper()

	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	script.Write(t, bin, "curl", strings.ReplaceAll(recorder, "CURL", curl))
}

// A request is one that a page has sent with curl.
type request struct{ method, path, body string }

// requests reads what the recorder has written.
func requests(text string) []request {
	var all []request
	for call := range strings.SplitSeq(strings.TrimSuffix(text, "\x00\x00"), "\x00\x00") {
		r, option := request{}, ""
		for arg := range strings.SplitSeq(call, "\x00") {
			switch option {
			case "-d", "--data", "--json":
				r.body = arg
			case "-X", "--request":
				r.method = arg
			}
			if at, ok := strings.CutPrefix(strings.TrimPrefix(arg, "http://"), "localhost:8080"); ok {
				r.path, _, _ = strings.Cut(at, "?")
			}
			option = arg
		}
		all = append(all, r)
	}
	return all
}

// A document says what the bodies of its server are.
type document struct {
	paths   map[string]map[string]operation
	schemas map[string]*jsonschema.Resolved
}

type operation struct {
	RequestBody body            `json:"requestBody"`
	Responses   map[string]body `json:"responses"`
}

type body struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema struct {
			Ref string `json:"$ref"`
		} `json:"schema"`
	} `json:"content"`
}

const components = "#/components/schemas/"

// readDocument reads a document, in which nothing has fields that the document does not name.
func readDocument(t *testing.T, file string) *document {
	t.Helper()

	var raw struct {
		Paths      map[string]map[string]operation
		Components struct {
			Responses map[string]body
			Schemas   map[string]map[string]any
		}
	}
	if err := json.Unmarshal([]byte(read(t, file)), &raw); err != nil {
		t.Fatal(err)
	}
	// What a client of AG-UI sends has more fields than are read.
	open := []string{"RunAgentInput", "InputMessage"}
	for name, s := range raw.Components.Schemas {
		if s["properties"] != nil && s["additionalProperties"] == nil && !slices.Contains(open, name) {
			s["additionalProperties"] = false
		}
	}
	d := &document{raw.Paths, map[string]*jsonschema.Resolved{}}
	for _, operations := range raw.Paths {
		for _, o := range operations {
			for status, b := range o.Responses {
				if b.Ref != "" {
					o.Responses[status] = raw.Components.Responses[strings.TrimPrefix(b.Ref, "#/components/responses/")]
				}
			}
			for _, b := range append(slices.Collect(maps.Values(o.Responses)), o.RequestBody) {
				ref := b.Content["application/json"].Schema.Ref
				if ref == "" || d.schemas[ref] != nil {
					continue
				}
				text, err := json.Marshal(map[string]any{"$defs": raw.Components.Schemas, "$ref": ref})
				if err != nil {
					t.Fatal(err)
				}
				var schema jsonschema.Schema
				if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(components), []byte("#/$defs/")), &schema); err != nil {
					t.Fatal(err)
				}
				if d.schemas[ref], err = schema.Resolve(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return d
}

var parameter = regexp.MustCompile(`\\\{\w+\\\}`)

// find returns the operation that a request is sent to, nil when the document has none.
func (d *document) find(r request) *operation {
	method := strings.ToLower(r.method)
	if method == "" && r.body != "" {
		method = "post"
	} else if method == "" {
		method = "get"
	}
	for path, operations := range d.paths {
		is := regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`) + "$")
		if o, ok := operations[method]; ok && is.MatchString(r.path) {
			return &o
		}
	}
	return nil
}

// check returns what is wrong with a text that has to be one of some bodies. What is no JSON
// is not looked at: it is another test's.
func (d *document) check(text string, one ...body) error {
	var value any
	if !json.Valid([]byte(text)) {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	var wrong []error
	for _, b := range one {
		schema := d.schemas[b.Content["application/json"].Schema.Ref]
		if schema == nil {
			continue
		}
		err := schema.Validate(value)
		if err == nil {
			return nil
		}
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// bodies holds what a step has sent with curl, and the answers that it has printed, against
// the document of the server. The server ignores a field that it does not know, so that no
// output tells of one that the page misspells.
func (r *runner) bodies(b block, script, printed string) {
	log := filepath.Join(r.shell.dir, requestsFile)
	text, err := os.ReadFile(log)
	if err != nil || len(text) == 0 {
		return
	}
	_ = os.Truncate(log, 0)
	sent := requests(string(text))
	r.sent += len(sent)
	answers := strings.Split(trim(printed), "\n")
	for i, q := range sent {
		o := r.document.find(q)
		if o == nil {
			continue
		}
		if err := r.document.check(q.body, o.RequestBody); err != nil {
			r.failf(b, "what is sent to %s is not what spec/openapi.json has: %v\n%s", q.path, err, q.body)
		}
		if len(answers) != len(sent) || strings.ContainsAny(script, "|>&") {
			continue
		}
		if err := r.document.check(answers[i], slices.Collect(maps.Values(o.Responses))...); err != nil {
			r.failf(b, "the answer of %s is not what spec/openapi.json has: %v\n%s", q.path, err, answers[i])
		}
	}
}

// What is not in the document is found, in what is sent and in what is answered.
func TestBodies(t *testing.T) {
	t.Parallel()

	d := readDocument(t, "spec/openapi.json")
	const log = "-s\x00localhost:8080/api/agent/run?wait=1s\x00-d\x00{\"threadId\":\"t\",\"prompt\":\"p\"}\x00\x00" +
		"-sX\x00x\x00-X\x00DELETE\x00localhost:8080/api/threads?threadId=t\x00\x00" +
		"localhost:8080/api/agent/runs/r1\x00\x00" + "localhost:8080/other\x00\x00"
	all := requests(log)
	want := []request{
		{"", "/api/agent/run", `{"threadId":"t","prompt":"p"}`},
		{"DELETE", "/api/threads", ""},
		{"", "/api/agent/runs/r1", ""},
		{"", "/other", ""},
	}
	if !slices.Equal(all, want) {
		t.Fatalf("the requests are %q", all)
	}
	for i, q := range all {
		if found := d.find(q) != nil; found != (i < 3) {
			t.Errorf("%s is found: %t", q.path, found)
		}
	}
	run := d.find(all[0])
	for text, right := range map[string]bool{
		all[0].body:                                  true,
		`{"threadId":"t"}`:                           false,
		`{"threadId":"t","prompt":1}`:                false,
		`{"threadId":"t","promt":"p"}`:               false,
		`{"threadId":"t","prompt":"p",`:              true, // is no JSON
		`{"threadId":"t","prompt":"p","maxSteps":2}`: true,
	} {
		if err := d.check(text, run.RequestBody); (err == nil) != right {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, right := range map[string]bool{
		`{"accepted":true,"threadId":"t","runId":"r","state":"QUEUED"}`: true, `{"ok":true}`: false,
	} {
		if err := d.check(text, slices.Collect(maps.Values(run.Responses))...); (err == nil) != right {
			t.Errorf("%s: %v", text, err)
		}
	}
}
