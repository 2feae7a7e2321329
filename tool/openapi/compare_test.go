package openapi_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/openapi"
)

// testFile is an artifact of the tests. quoted is its name in a part.
type testFile struct{ name, quoted, kind, data string }

var testFiles = map[string]testFile{
	"art_1": {"photo.png", "photo.png", "image/png", "\x89PNG\r\n\x1a\n\x00\xff"},
	"art_2": {`a "b".txt`, "a %22b%22.txt", "text/plain", "words\r\n--part\r\n"},
	"art_3": {"", "file", "application/octet-stream", ""},
}

// openTestFile is the function of a call that opens its artifacts.
func openTestFile(_ context.Context, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
	f, ok := testFiles[string(id)]
	if !ok {
		return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "the thread has no artifact %s", id)
	}
	return spool.Artifact{ID: id, Name: f.name, MediaType: f.kind, Size: int64(len(f.data))},
		io.NopCloser(strings.NewReader(f.data)), nil
}

// plannedOperation is an operation that the test made.
type plannedOperation struct {
	id, method, path, fixed, fragment, contentType string
	fields, properties                             []field
	bodySchema                                     map[string]any
}

// maker makes documents and arguments, always the same ones.
type maker struct{ *rand.Rand }

func (m maker) one(words ...string) string { return words[m.IntN(len(words))] }

// scalarSchema returns the schema of a scalar.
func (m maker) scalarSchema() map[string]any {
	return map[string]any{"type": m.one("string", "integer", "number", "boolean")}
}

// schema returns a schema: a scalar, a list of scalars, or an object of scalars with names that begin with prefix.
// depth is how many objects and lists may be within each other.
func (m maker) schema(prefix string, depth int) map[string]any {
	if depth == 0 || m.IntN(3) == 0 {
		return m.scalarSchema()
	}
	if m.IntN(2) == 0 {
		return map[string]any{"type": "array", "items": m.schema(prefix, depth-1), "minItems": 1}
	}
	properties := make(map[string]any)
	for i := range 1 + m.IntN(3) {
		properties[prefix+strconv.Itoa(i)+m.one("", " x", "é", "&", "-")] = m.schema(prefix, depth-1)
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1}
}

const letters = "abcXYZ019-._~ %+&=;#[]@!$'()*,/?:\"<>\\^`{|}é€😀"

func (m maker) text() string {
	all := []rune(letters)
	var b strings.Builder
	for range m.IntN(8) {
		b.WriteRune(all[m.IntN(len(all))])
	}
	return b.String()
}

// value returns a value that fits a schema.
func (m maker) value(schema map[string]any) any {
	switch schema["type"] {
	case "integer":
		return json.Number(m.one("0", "-7", "42", "9007199254740993"))
	case "number":
		return json.Number(m.one("1.50", "1e3", "-0.1", "12345678901234567890"))
	case "boolean":
		return m.IntN(2) == 0
	case "array":
		items := make([]any, 1+m.IntN(3))
		for i := range items {
			items[i] = m.value(as[map[string]any](schema["items"]))
		}
		return items
	case "object":
		out := make(map[string]any)
		for _, name := range keys(as[map[string]any](schema["properties"])) {
			if len(out) == 0 || m.IntN(4) > 0 {
				out[name] = m.value(as[map[string]any](as[map[string]any](schema["properties"])[name]))
			}
		}
		return out
	default:
		if schema["format"] == "binary" || schema["contentEncoding"] == "base64" {
			return m.one("art_1", "art_2", "art_3")
		}
		return "t" + m.text() + "t"
	}
}

// parameter returns a parameter. Names in a query differ, because an object's keys can be names there, too.
func (m maker) parameter(in string, n int) field {
	f := field{name: in + strconv.Itoa(n), in: in, required: in == "path" || m.IntN(3) == 0}
	switch in {
	case "path":
		f.style = m.one("simple", "label", "matrix")
	case "query":
		f.style, f.reserved = m.one("form", "form", "spaceDelimited", "pipeDelimited", "deepObject"), m.IntN(4) == 0
		f.name += m.one("", "[x]", ".y", "-z")
	case "header":
		f.style, f.name = "simple", "X-Header-"+strconv.Itoa(n)
	default:
		f.style = "form"
	}
	f.explode = m.IntN(2) == 0
	f.schema = m.schema("k"+in+strconv.Itoa(n), 1)
	switch {
	case f.style == "deepObject":
		f.explode = true
		f.schema = m.schema("k", 3)
	case f.style == "spaceDelimited", f.style == "pipeDelimited":
		f.explode = false
	case in == "query" && m.IntN(6) == 0:
		f.asJSON, f.schema = true, m.schema("k", 3)
		f.reserved = false
	}
	if in == "cookie" {
		f.explode = f.schema["type"] != "array" && f.schema["type"] != "object"
	}
	return f
}

// property returns a property of a form.
func (m maker) property(n int, parts bool) field {
	f := field{name: "p" + strconv.Itoa(n), style: "form", explode: true, schema: m.scalarSchema()}
	switch kind := m.IntN(6); {
	case parts && kind < 2:
		f.file, f.schema = true, map[string]any{"type": "string", "format": "binary"}
		if kind == 0 {
			f.schema = map[string]any{"type": "array", "items": f.schema, "minItems": 1}
		}
		f.kind = m.one("", "application/octet-stream")
	case parts && kind == 2:
		f.schema, f.kind = m.schema("k", 2), "application/json"
	case parts:
		f.schema = m.schema("k", 2)
	case kind == 0:
		f.asJSON, f.kind, f.schema = true, "application/json", m.schema("k", 3)
	case kind == 1:
		f.style, f.schema = "deepObject", m.schema("k", 3)
	case kind == 2:
		f.style, f.explode = m.one("spaceDelimited", "pipeDelimited", "form"), false
		f.schema = map[string]any{"type": "array", "items": m.scalarSchema(), "minItems": 1}
	case kind == 3:
		f.reserved = true
	}
	return f
}

func (m maker) operation(n int) plannedOperation {
	o := plannedOperation{id: "o" + strconv.Itoa(n), method: m.one("GET", "DELETE"), path: "/o" + strconv.Itoa(n)}
	for i := range m.IntN(3) {
		f := m.parameter("path", i)
		o.fields = append(o.fields, f)
		o.path += m.one("/", "/x-", "/y/") + "{" + f.name + "}"
	}
	for _, in := range []string{"query", "header", "cookie"} {
		for i := range m.IntN(4) {
			o.fields = append(o.fields, m.parameter(in, i))
		}
	}
	if m.IntN(4) == 0 {
		o.fixed = "beta=true&v=1"
	}
	if m.IntN(4) == 0 {
		o.fragment = "#part"
	}
	switch m.IntN(7) {
	case 0:
		o.contentType, o.bodySchema = "application/json", m.schema("k", 3)
		if o.bodySchema["type"] == "object" {
			as[map[string]any](o.bodySchema["properties"])["scan"] = map[string]any{
				"type": "string", "contentEncoding": "base64",
			}
		}
	case 1, 2:
		o.contentType = "application/x-www-form-urlencoded"
	case 3, 4:
		o.contentType = "multipart/form-data"
	case 5:
		o.contentType, o.bodySchema = "text/plain", map[string]any{"type": "string"}
	case 6:
		o.contentType, o.bodySchema = "application/octet-stream", map[string]any{"type": "string", "format": "binary"}
	}
	o.method = m.one("POST", "PUT", "PATCH")
	if o.bodySchema == nil {
		properties := make(map[string]any)
		for i := range 1 + m.IntN(4) {
			f := m.property(i, o.contentType == "multipart/form-data")
			o.properties = append(o.properties, f)
			properties[f.name] = f.schema
		}
		o.bodySchema = map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	}
	if m.IntN(4) == 0 { // without a body
		o.method, o.contentType, o.bodySchema, o.properties = m.one("GET", "DELETE"), "", nil, nil
	}
	return o
}

// node returns the operation as a part of a document.
func (o plannedOperation) node() map[string]any {
	var parameters []any
	for _, f := range o.fields {
		p := map[string]any{"name": f.name, "in": f.in, "required": f.required}
		if f.asJSON {
			p["content"] = map[string]any{"application/json": map[string]any{"schema": f.schema}}
		} else {
			p["schema"], p["style"], p["explode"] = f.schema, f.style, f.explode
		}
		if f.reserved {
			p["allowReserved"] = true
		}
		parameters = append(parameters, p)
	}
	out := map[string]any{"operationId": o.id, "parameters": parameters}
	if o.contentType == "" {
		return out
	}
	encoding := make(map[string]any)
	for _, f := range o.properties {
		e := make(map[string]any)
		if f.kind != "" {
			e["contentType"] = f.kind
		}
		if f.style != "form" || !f.explode || f.reserved {
			e["style"], e["explode"], e["allowReserved"] = f.style, f.explode, f.reserved
		}
		if len(e) > 0 {
			encoding[f.name] = e
		}
	}
	out["requestBody"] = map[string]any{
		"content": map[string]any{o.contentType: map[string]any{"schema": o.bodySchema, "encoding": encoding}},
	}
	return out
}

// arguments returns arguments of an operation, by the names in the document.
func (m maker) arguments(o plannedOperation) map[string]any {
	args := make(map[string]any)
	for _, f := range o.fields {
		if f.required || m.IntN(4) > 0 {
			args[f.name] = m.value(f.schema)
		}
	}
	if o.bodySchema != nil && m.IntN(8) > 0 {
		args["body"] = m.value(o.bodySchema)
	}
	return args
}

// TestTwoSerialisers makes documents and arguments, and compares each request that arrives with what another
// serialiser writes, byte for byte.
func TestTwoSerialisers(t *testing.T) {
	t.Parallel()

	var got sent
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		path, query, _ := strings.Cut(r.RequestURI, "?")
		got = sent{
			method: r.Method, path: path, query: query, cookie: strings.Join(r.Header["Cookie"], "|"),
			contentType: r.Header.Get("Content-Type"), body: string(body), header: make(map[string]string),
		}
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-Header-") {
				got.header[name] = strings.Join(values, "|")
			}
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(s.Close)
	m := maker{rand.New(rand.NewPCG(33, 1))}
	const documents, each, calls = 40, 10, 25
	compared := 0
	for range documents {
		var all []plannedOperation
		paths, override, yes := make(map[string]any), make(map[string]openapi.Override), true
		for n := range each {
			o := m.operation(n)
			all = append(all, o)
			path := o.path
			if o.fixed != "" {
				path += "?" + o.fixed
			}
			paths[path+o.fragment] = map[string]any{strings.ToLower(o.method): o.node()}
			override[o.id] = openapi.Override{Idempotent: &yes} // such calls share connections
		}
		document, err := json.Marshal(map[string]any{
			"openapi": "3.1.0", "servers": []any{map[string]any{"url": s.URL}}, "paths": paths,
		})
		if err != nil {
			t.Fatal(err)
		}
		tools := open(t, openapi.Config{Document: document, Operations: []string{"*"}, Egress: loopback, Override: override})
		for _, o := range all {
			for range calls {
				args := m.arguments(o)
				got = sent{}
				text := asJSON(named(args))
				_, err := tools[o.id].Call(t.Context(), spool.ToolCall{Args: json.RawMessage(text), OpenArtifactFunc: openTestFile})
				_, boundary, _ := strings.Cut(got.contentType, "boundary=")
				want := o.request(args, boundary)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(sent{})); err != nil || diff != "" {
					t.Fatalf("%s of\n%s\nwith %s: %v\n-want +got:\n%s", o.id, asJSON(o.node()), text, err, diff)
				}
				compared++
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d requests were compared", compared)
	}
}

// named returns arguments by the names that a model has: other characters than these are "_".
func named(args map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	for name, value := range args {
		out[strings.Map(func(r rune) rune {
			if strings.ContainsRune("[]", r) {
				return '_'
			}
			return r
		}, name)] = value
	}
	return out
}
