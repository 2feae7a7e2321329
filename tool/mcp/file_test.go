package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/tool/mcp"
)

// fileSchema has a file at each kind of place, and places that only look like one.
const fileSchema = `{
	"type": "object",
	"properties": {
		"encoded": {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png", "description": "The photo.", "pattern": "^[A-Za-z0-9+/=]*$"},
		"bytes": {"type": "string", "format": "byte"},
		"maybe": {"anyOf": [{"type": "string", "format": "binary"}, {"type": "null"}]},
		"referred": {"$ref": "#/$defs/File"},
		"uri": {"type": "string", "format": "uri", "x-mcp-file": {"accept": ["image/*"], "maxSize": 20}},
		"list": {"type": "array", "items": {"type": "object", "properties": {"file": {"$ref": "#/$defs/File"}}}},
		"map": {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}},
		"text": {"type": "string"},
		"then": {"if": {"type": "object"}, "then": {"properties": {"file": {"type": "string", "format": "byte"}}}},
		"not": {"type": "string", "not": {"contentEncoding": "base64"}},
		"pattern": {"type": "object", "patternProperties": {"^f": {"type": "string", "format": "byte"}}},
		"format": {"type": "string", "default": {"format": "byte"}},
		"number": {"type": "integer"}
	},
	"$defs": {"File": {"type": "string", "contentEncoding": "base64"}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}]}}
}`

// filer returns the tool of a server that returns its arguments, and how often it was called.
func filer(t *testing.T) (spool.Tool, func() int) {
	t.Helper()

	p := newPeer()
	p.server.AddTool(&sdk.Tool{Name: "take", InputSchema: json.RawMessage(fileSchema)}, func(
		_ context.Context, r *sdk.CallToolRequest,
	) (*sdk.CallToolResult, error) {
		p.count("take")
		return said(string(r.Params.Arguments)), nil
	})
	s := client(t, p.serve(t, stateless).URL, func(c *mcp.Config) { c.MaxResultBytes = 64 << 20 })
	return tools(t, s, mcp.Selection{})["take"], func() int { return p.counted("take") }
}

// shelved has the artifacts of a call's thread.
func shelved(files map[spool.ArtifactID]string) func(*spool.ToolCall) {
	return func(c *spool.ToolCall) {
		c.OpenArtifactFunc = func(_ context.Context, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
			data, ok := files[id]
			if !ok {
				return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "this conversation has no artifact %q", id)
			}
			return spool.Artifact{ID: id, Name: "a photo.png", MediaType: "image/png"}, io.NopCloser(strings.NewReader(data)),
				nil
		}
	}
}

// A model names an artifact where the server wants a file, and the server gets the data.
func TestFileArguments(t *testing.T) {
	t.Parallel()

	take, _ := filer(t)
	files := shelved(map[spool.ArtifactID]string{"art_1": "12345", "art_2": "678"})
	for _, c := range []struct{ args, want string }{
		{`{"encoded":"art_1"}`, `{"encoded":"MTIzNDU="}`},
		{`{"encoded":"artifact:art_1"}`, `{"encoded":"MTIzNDU="}`},
		{`{"encoded":"\u0061rt_1"}`, `{"encoded":"MTIzNDU="}`},
		{`{"bytes":"art_2","number":12345678901234567890}`, `{"bytes":"Njc4","number":12345678901234567890}`},
		{`{"maybe":"art_1"}`, `{"maybe":"MTIzNDU="}`},
		{`{"maybe":null}`, `{"maybe":null}`},
		{`{"referred":"art_1"}`, `{"referred":"MTIzNDU="}`},
		{`{"uri":"art_1"}`, `{"uri":"data:image/png;name=a%20photo.png;base64,MTIzNDU="}`},
		{`{"list":[{"file":"art_1"},{"file":"art_2"}]}`, `{"list":[{"file":"MTIzNDU="},{"file":"Njc4"}]}`},
		{`{"map":{"a":"art_1","b":"MTIz"}}`, `{"map":{"a":"MTIzNDU=","b":"MTIz"}}`},
		{`{"encoded":"MTIz"}`, `{"encoded":"MTIz"}`},
		{`{"uri":"data:image/png;base64,MTIz"}`, `{"uri":"data:image/png;base64,MTIz"}`},
		{`{"text":"art_1","format":"art_1"}`, `{"text":"art_1","format":"art_1"}`},
		{`{"then":{"file":"art_1"}}`, `{"then":{"file":"MTIzNDU="}}`},
		{`{"not":"art_1"}`, `{"not":"art_1"}`},
		{`{"other":"art_1"}`, `{"other":"art_1"}`},
	} {
		if err := take.Check(json.RawMessage(c.args)); err != nil && !strings.Contains(c.args, "123456789012") {
			t.Errorf("%s: %v", c.args, err)
		}
		got, err := call(t, take, c.args, files)
		var text string
		if err != nil || json.Unmarshal([]byte(got), &text) != nil || text != c.want {
			t.Errorf("%s became %s, %v", c.args, got, err)
		}
	}
}

// The schema that a model sees says where an artifact may stand, and nothing that is for the data.
func TestFileSchema(t *testing.T) {
	t.Parallel()

	take, _ := filer(t)
	var schema struct {
		Properties map[string]map[string]any
		Defs       map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(take.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	const about = "A file of up to 10485760 bytes: the id of an artifact (art_...), whose data are sent, or its data in base64."
	for want, got := range map[string]map[string]any{
		`map[contentMediaType:image/png description:The photo. ` + about +
			` type:string]`: schema.Properties["encoded"],
		`map[description:` + about + ` type:string]`: schema.Defs["File"],
		`map[description:A file of up to 20 bytes: the id of an artifact (art_...), whose data are sent, or a data URI. It may be image/*. type:string]`: schema.Properties["uri"],
		`map[not:map[contentEncoding:base64] type:string]`:                        schema.Properties["not"],
		`map[patternProperties:map[^f:map[format:byte type:string]] type:object]`: schema.Properties["pattern"],
		`map[default:map[format:byte] type:string]`:                               schema.Properties["format"],
		`map[anyOf:[map[description:` + about + ` type:string] map[type:null]]]`:  schema.Properties["maybe"],
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
	}
}

// A file that cannot be sent is an error that names the argument, and nothing is sent.
func TestFileRefused(t *testing.T) {
	t.Parallel()

	take, called := filer(t)
	files := shelved(map[spool.ArtifactID]string{
		"art_1": "12345", "art_21": strings.Repeat("a", 21), "art_6m": strings.Repeat("a", 6<<20),
		"art_11m": strings.Repeat("a", 11<<20),
	})
	for _, c := range []struct {
		args string
		code spool.Code
		want string
	}{
		{`{"encoded":"art_none"}`, spool.NotFound, `encoded: this conversation has no artifact "art_none"`},
		{
			`{"list":[{"file":"art_1"},{"file":"artifact:x"}]}`, spool.NotFound,
			`list[1].file: this conversation has no artifact "x"`,
		},
		{`{"uri":"art_21"}`, spool.Limit, "uri: the file is larger than 20 bytes"},
		{`{"encoded":"art_11m"}`, spool.Limit, "encoded: the file is larger than 10485760 bytes"},
		{
			`{"bytes":"art_6m","encoded":"art_6m"}`, spool.Limit,
			"encoded: the files of the call are larger than 10485760 bytes together",
		},
	} {
		if _, err := call(t, take, c.args, files); spool.CodeOf(err) != c.code || spool.MessageOf(err) != c.want {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	if _, err := call(
		t, take, `{"encoded":"art_1"}`,
	); spool.MessageOf(err) != "encoded: the engine does not store artifacts" {
		t.Errorf("without artifacts: %v", err)
	}
	if n := called(); n != 0 {
		t.Errorf("the server got %d calls", n)
	}
}

// A file of the bound arrives whole.
func TestLargeFileArgument(t *testing.T) {
	t.Parallel()

	var sent []byte
	server := &fake.Server{
		List: func() []any {
			return []any{map[string]any{"name": "take", "inputSchema": json.RawMessage(fileSchema)}}
		},
		Answer: func(c fake.Call) any {
			var args struct{ Encoded []byte }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return err
			}
			sent = args.Encoded
			return fake.Said("taken")
		},
	}
	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	take := tools(t, client(t, at.URL), mcp.Selection{})["take"]
	data := bytes.Repeat([]byte("01234567"), 10<<17)
	if result, err := call(
		t, take, `{"encoded":"art_1"}`, shelved(map[spool.ArtifactID]string{"art_1": string(data)}),
	); err != nil || result != `"taken"` {
		t.Fatalf("got %s, %v", result, err)
	}
	if !bytes.Equal(sent, data) {
		t.Errorf("%d bytes arrived", len(sent))
	}
}

// A schema that refers to itself without an end has one.
func TestFileSchemaLoop(t *testing.T) {
	t.Parallel()

	p := newPeer()
	p.server.AddTool(&sdk.Tool{
		Name: "take",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{
		"A":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"},{"type":"array","items":{"$ref":"#/$defs/A"}}]},"B":{"allOf":[{"$ref":"#/$defs/A"}],"contentEncoding":"base64"}}}`),
	},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return said(string(r.Params.Arguments)), nil
		})
	all := tools(t, client(t, p.serve(t, stateless).URL), mcp.Selection{})
	take, ok := all["take"]
	if !ok {
		t.Fatal("the tool is left out")
	}
	got, err := call(t, take, `{"a":[["art_1"]]}`, shelved(map[spool.ArtifactID]string{"art_1": "12345"}))
	if err != nil || got != `"{\"a\":[[\"MTIzNDU=\"]]}"` {
		t.Errorf("got %s, %v", got, err)
	}
}
