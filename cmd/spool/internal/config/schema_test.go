package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

var update = flag.Bool("update", false, "write the golden files")

const schemaFile = "../../../../spec/config.schema.json"

// validator returns what checks a file's text against the schema.
func validator(t *testing.T) func(text string) error {
	t.Helper()

	b, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		var file any
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			return err
		}
		plain, err := json.Marshal(file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(plain, &file); err != nil {
			return err
		}
		if file == nil {
			file = map[string]any{}
		}
		return resolved.Validate(file)
	}
}

// The file that editors read is the schema of this parser.
func TestSchemaFile(t *testing.T) {
	t.Parallel()

	b, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(committed, b) {
		t.Errorf(
			"spec/config.schema.json is not what the parser reads (go test ./cmd/spool/internal/config -run SchemaFile -update): %v",
			err,
		)
	}
}

// What the parser takes, the schema takes.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()

	validate := validator(t)
	for name, text := range accepted {
		if _, err := parse(text); err != nil {
			t.Errorf("%s: the parser: %v", name, err)
		}
		if err := validate(text); err != nil {
			t.Errorf("%s: the schema: %v", name, err)
		}
	}
}

// accepted are files with nothing wrong.
var accepted = map[string]string{
	"Whole":     whole,
	"Nothing":   "",
	"Comments":  "# nothing yet\n",
	"Nulls":     "models: {m: {provider: demo, only_for: }}\nagents: {a: {model: m, tools: , max_steps: , when_busy: , budget: }}\nlimits:\ncors:\n",
	"Variables": "models: {m: {provider: demo, context_window: '${STEPS}'}}\nagents: {a: {model: m, max_steps: '${STEPS}', when_busy: '${X:-enqueue}', distinct_approver: '${X:-false}'}}\nlimits: {lease: '${WAIT}', wall_time: '${WAIT}'}",
	"Empty":     "models: {m: {provider: demo}}\nagents: {a: {model: m, when_busy: ''}}",
	"Zero":      "limits: {wall_time: 0, audit_retention: 0s}",
	"Durations": "limits: {lease: 1h30m, retry_backoff: .5s, hitl_ttl: 1.5h, stop_poll: 20ms}",
	"Hash":      "auth: {tokens: [{token_sha256: '${HASH}', scopes: [read, 'team:a'], expires: 2027-01-31T00:00:00Z}]}",
}

// beyondSchema are the problems that no schema can say, or ours does not: values that must fit
// others, the environment, and what a text stands for.
var beyondSchema = regexp.MustCompile(`there is no (model|tool|MCP server|agent) |needs either|is for a url|are for a command|there twice|the same token|needs (auth\.tokens|sign_in\.keys|a client_id|prices|one of concurrent|a subject|the scope|tenants or scopes)|` +
	`is the agent's own|is the agent itself|which transfers bring|which search: true brings|environment variable|must be followed by the name|is required: |may only have|is shorter than|is less than|names none of|has no use for it|is only for|` +
	`cannot go with|stands in place|is empty|must not have spaces|must be one of|must be a scope|must be a host|must be an address|must be the SHA-256|` +
	`must be a time|must have the form|must be more than nothing|must be 1s or more|\.<<: unknown|must be the name of a header|a header that the engine sets|` +
	`a field that the engine sets|must be a path|must be base64|must be an https URL|must be 10 or less|is only for methods|is too large|not valid YAML|one document only|key must be a plain word|control character|in extra_body too|must not end with|generationConfig|must be minimal|must be true with|must be 1024 or more|could have the same name|another (endpoint|schedule) of the tenant|there is no agent|entries\[\d+\]: needs one of|needs 5 fields|never comes due|is not the name of a time zone|\.cron: is not valid|` +
	`must be template if|for the form template|is there twice|a key has up to|has control characters|is required: use one|at the most`)

// Of what the parser refuses, the schema refuses all that is wrong by itself.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()

	validate := validator(t)
	seen := 0
	for name, c := range problems {
		plain := 0
		for line := range strings.Lines(c.want) {
			if !beyondSchema.MatchString(line) && !strings.Contains(line, ".token: is required") {
				plain++
			}
		}
		if plain == 0 {
			continue
		}
		seen++
		if validate(c.text) == nil {
			t.Errorf("%s: the schema takes\n%s\nof which the parser says\n%s", name, c.text, c.want)
		}
	}
	if seen < 30 {
		t.Errorf("only %d problems were tried", seen)
	}
}

// Each field of the schema has a row in the list of all fields.
func TestSchemaIsDocumented(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "operations", "running.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root property
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	known := documented(string(text))
	var paths []string
	root.walk("", func(path string) {
		if paths = append(paths, path); !known(path) {
			t.Errorf("docs/operations/running.md has no row for %s", path)
		}
	})
	for _, row := range rows(string(text)) {
		section, _, _ := strings.Cut(row, ".")
		if _, ours := root.Properties[section]; !ours {
			continue // a table about something else
		}
		begin := strings.TrimSuffix(row, "…")
		if !slices.ContainsFunc(paths, func(path string) bool {
			return strings.HasPrefix(path, begin) || strings.HasPrefix(row, path+".")
		}) {
			t.Errorf("docs/operations/running.md has a row for %s, which is no option", row)
		}
	}
}

type property struct {
	Properties           map[string]property `json:"properties"`
	Items                *property           `json:"items"`
	AdditionalProperties json.RawMessage     `json:"additionalProperties"`
}

// walk visits the fields that have no fields themselves.
func (p property) walk(path string, visit func(path string)) {
	var each property
	switch {
	case len(p.Properties) > 0:
		for name, field := range p.Properties {
			field.walk(strings.TrimPrefix(path+"."+name, "."), visit)
		}
	case p.Items != nil:
		p.Items.walk(path+"[]", visit)
	case json.Unmarshal(p.AdditionalProperties, &each) == nil && len(p.AdditionalProperties) > len("false"):
		each.walk(path+".<name>", visit)
	default:
		visit(path)
	}
}

var cell = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")

// documented returns what knows whether a field has a row. In a row, ".b" after "x.a" is "x.b",
// and "x.…" is all that is below x.
func documented(page string) func(path string) bool {
	all := rows(page)
	return func(path string) bool {
		for _, row := range all {
			below, all := strings.CutSuffix(row, "…")
			if row == path || row == strings.TrimSuffix(path, "[]") || all && strings.HasPrefix(path, below) ||
				strings.HasPrefix(path, row+".") {
				return true
			}
		}
		return false
	}
}

// rows returns the names in the first column of the tables of a page, written out.
func rows(page string) (names []string) {
	for _, row := range cell.FindAllStringSubmatch(page, -1) {
		last := ""
		for name := range strings.SplitSeq(row[1], ", ") {
			name = strings.Trim(name, "`")
			if strings.HasPrefix(name, ".") {
				name = last[:strings.LastIndexByte(last, '.')] + name
			}
			names, last = append(names, name), name
		}
	}
	return names
}
