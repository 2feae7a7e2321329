package spec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

const schemas = "#/components/schemas/"

// resultSchemas are the schemas of the kinds that results.json and admin.json name.
var resultSchemas = map[string]string{
	"results.json run": "RunResult", "results.json runRefusal": "RunRefusal", "results.json stop": "StopResult",
	"results.json respond": "RespondResult", "results.json delete": "DeleteResult",
	"results.json compact": "CompactResult", "results.json restore": "RestoreResult",
	"results.json branch": "BranchMessages", "results.json branches": "BranchList", "results.json fork": "ForkResult",
	"results.json publish": "PublishResult", "results.json events": "EventPage", "results.json usage": "ThreadUsage",
	"results.json threads": "ThreadList",
	"results.json thread":  "Thread",
	"results.json job":     "Taken", "results.json error": "ErrorBody",

	"admin.json overview": "Overview", "admin.json run": "RunDetail", "admin.json runs": "RunList",
	"admin.json jobs": "JobList", "admin.json redrive": "RedriveAnswer", "admin.json purge": "PurgeAnswer",
	"admin.json prune": "PruneAnswer", "admin.json audit": "AuditList", "admin.json revisions": "RevisionList",
	"admin.json revision": "Revision", "results.json outcome": "RunOutcome", "results.json startedRun": "StartedRun",
}

// example is one body of a fixture file.
type example struct {
	File, Name, Kind, Schema string
	Value                    json.RawMessage
}

// examples returns all bodies of the fixtures, each with its schema.
func examples(t *testing.T) []example {
	t.Helper()

	var all []example
	for _, file := range []string{"bodies.json", "results.json", "admin.json", "snapshots.json", "frames.json"} {
		b, err := os.ReadFile("fixtures/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var content struct{ Bodies, Results, Snapshots, Frames []example }
		if err := json.Unmarshal(b, &content); err != nil {
			t.Fatal(file, err)
		}
		for _, e := range content.Results {
			e.Schema = resultSchemas[file+" "+e.Kind]
			content.Bodies = append(content.Bodies, e)
		}
		for _, e := range content.Snapshots {
			e.Schema = "Snapshot"
			content.Bodies = append(content.Bodies, e)
		}
		for _, e := range content.Frames {
			e.Schema = "Frame"
			content.Bodies = append(content.Bodies, e)
		}
		for _, e := range content.Bodies {
			e.File = file
			all = append(all, e)
		}
	}
	return append(all, aguiExamples(t)...)
}

// aguiExamples returns the events of the streams that package agui keeps.
func aguiExamples(t *testing.T) []example {
	t.Helper()

	files, err := filepath.Glob("../server/agui/testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no streams of AG-UI", err)
	}
	var all []example
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				all = append(all, example{
					File: filepath.Base(file), Name: strconv.Itoa(i + 1), Schema: "AgentEvent", Value: json.RawMessage(data),
				})
			}
		}
	}
	return all
}

// contract is what the tests need to know of openapi.json.
type contract struct {
	Paths map[string]map[string]struct {
		RequestBody struct{ Content map[string]media }
		Responses   map[string]struct{ Content map[string]media }
	}
	Components struct{ Schemas map[string]map[string]any }
}

// isFile reports whether a body of this media type is a file: an example for clients has nothing to show.
func isFile(mediaType string) bool {
	return mediaType == "*/*" || mediaType == "application/octet-stream" || mediaType == "multipart/form-data"
}

type media struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
}

func readContract(t *testing.T) contract {
	t.Helper()

	b, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var c contract
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// Every body that the document has, asked for or answered, has an example for clients.
func TestBodiesAreComplete(t *testing.T) {
	t.Parallel()

	seen := make(map[string]bool)
	for _, e := range examples(t) {
		seen[e.Schema] = true
	}
	bodies := 0
	for path, operations := range readContract(t).Paths {
		for method, o := range operations {
			content := []map[string]media{o.RequestBody.Content}
			for _, r := range o.Responses {
				content = append(content, r.Content)
			}
			for _, c := range content {
				for kind, m := range c {
					if isFile(kind) {
						continue
					}
					name, ok := strings.CutPrefix(m.Schema.Ref, schemas)
					if !ok {
						t.Errorf("%s %s: a body is no component", method, path)
						continue
					}
					bodies++
					if !seen[name] {
						t.Errorf("%s %s: no fixture has a body %s", method, path, name)
					}
				}
			}
		}
	}
	if bodies == 0 {
		t.Error("the document has no bodies")
	}
}

// Every example is what the document says, and has no field that it does not name.
func TestBodiesAreDocumented(t *testing.T) {
	t.Parallel()

	components := readContract(t).Components.Schemas
	// What a client of AG-UI sends has more fields than are read.
	open := map[string]bool{"RunAgentInput": true, "InputMessage": true}
	for name, s := range components {
		if _, said := s["additionalProperties"]; s["properties"] != nil && !said && !open[name] {
			s["additionalProperties"] = false
		}
	}
	resolved := make(map[string]*jsonschema.Resolved)
	for _, e := range examples(t) {
		if resolved[e.Schema] == nil {
			resolved[e.Schema] = resolve(t, components, e.Schema)
		}
		t.Run(e.File+"/"+e.Name, func(t *testing.T) {
			t.Parallel()

			var value any
			if err := json.Unmarshal(e.Value, &value); err != nil {
				t.Fatal(err)
			}
			if err := resolved[e.Schema].Validate(value); err != nil {
				t.Error(err)
			}
		})
	}
}

var reference = regexp.MustCompile(`"` + schemas + `([^"]+)"`)

// reached returns a component and those that it refers to, as each one more costs time.
func reached(t *testing.T, components map[string]map[string]any, name string) map[string]map[string]any {
	t.Helper()

	found := map[string]map[string]any{name: components[name]}
	for left := []string{name}; len(left) > 0; left = left[1:] {
		b, err := json.Marshal(components[left[0]])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range reference.FindAllSubmatch(b, -1) {
			if to := string(m[1]); found[to] == nil {
				found[to] = components[to]
				left = append(left, to)
			}
		}
	}
	return found
}

// resolve returns what checks bodies of a component.
func resolve(t *testing.T, components map[string]map[string]any, name string) *jsonschema.Resolved {
	t.Helper()

	if components[name] == nil {
		t.Fatalf("the document has no schema %q", name)
	}
	b, err := json.Marshal(map[string]any{"$defs": reached(t, components, name), "$ref": schemas + name})
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(b), schemas, "#/$defs/")), &schema); err != nil {
		t.Fatal(err)
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
