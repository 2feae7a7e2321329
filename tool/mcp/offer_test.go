package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/tool/mcp"
)

// library adds resources and prompts to a peer.
func library(p *peer) {
	read := func(contents ...*sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			p.count(r.Params.URI)
			for _, c := range contents {
				c.URI = r.Params.URI
			}
			return &sdk.ReadResourceResult{Contents: contents}, nil
		}
	}
	p.server.AddResource(
		&sdk.Resource{URI: "file:///rules.md", Name: "rules", Title: "House rules", MIMEType: "text/markdown", Size: 9},
		read(&sdk.ResourceContents{Text: "No dogs.\n"}),
	)
	p.server.AddResource(&sdk.Resource{URI: "file:///logo.png", Name: "logo", MIMEType: "image/png"},
		read(&sdk.ResourceContents{MIMEType: "image/png", Blob: []byte("12345")}))
	p.server.AddResource(&sdk.Resource{URI: "file:///both", Name: "both"},
		read(&sdk.ResourceContents{Text: "one"}, &sdk.ResourceContents{Text: "two", MIMEType: "text/plain"}))
	p.server.AddResource(&sdk.Resource{URI: "file:///größe", Name: "größe"}, read(&sdk.ResourceContents{Text: "42"}))
	p.server.AddResourceTemplate(
		&sdk.ResourceTemplate{URITemplate: "order://{number}", Name: "order", Description: "An order."},
		read(&sdk.ResourceContents{Text: "an umbrella"}),
	)
	p.server.AddPrompt(&sdk.Prompt{
		Name: "apology", Description: "Apologises.", Arguments: []*sdk.PromptArgument{{Name: "order", Required: true}},
	},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Description: "An apology.", Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: "Apologise for order " + r.Params.Arguments["order"] + "."}},
				{Role: "assistant", Content: &sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")}},
			}}, nil
		})
}

func offering(c *mcp.Config) { c.Resources, c.Prompts = true, true }

// A model lists and reads resources and prompts over each transport.
func TestOffers(t *testing.T) {
	t.Parallel()

	for name, open := range map[string]func(t *testing.T) *mcp.Server{
		"stateless": func(t *testing.T) *mcp.Server {
			t.Helper()
			p := newPeer()
			library(p)
			return client(t, p.serve(t, stateless).URL, offering)
		},
		"sessions": func(t *testing.T) *mcp.Server {
			t.Helper()
			p := newPeer()
			library(p)
			return client(t, p.serve(t, nil).URL, offering)
		},
		"stdio": func(t *testing.T) *mcp.Server { t.Helper(); return child(t, offering) },
		"older": func(t *testing.T) *mcp.Server {
			t.Helper()
			return child(t, offering, func(c *mcp.Config) { c.Revision = "2025-06-18" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			all := tools(t, open(t), mcp.Selection{})
			for _, c := range []struct{ tool, args, want string }{
				{
					"list_resource_templates", `{}`,
					`{"resourceTemplates":[{"uriTemplate":"order://{number}","name":"order","description":"An order."}]}`,
				},
				{"read_resource", `{"uri":"file:///rules.md"}`, `"No dogs.\n"`},
				{"read_resource", `{"uri":"order://17"}`, `"an umbrella"`},
				{"read_resource", `{"uri":"file:///größe"}`, `"42"`},
				{
					"read_resource", `{"uri":"file:///logo.png"}`,
					`[{"type":"resource","uri":"file:///logo.png","mimeType":"image/png","omittedBytes":5}]`,
				},
				{
					"read_resource", `{"uri":"file:///both"}`,
					`[{"type":"resource","text":"one","uri":"file:///both"},{"type":"resource","text":"two","uri":"file:///both","mimeType":"text/plain"}]`,
				},
				{
					"list_prompts", `{}`,
					`{"prompts":[{"name":"apology","description":"Apologises.","arguments":[{"name":"order","required":true}]}]}`,
				},
				{
					"get_prompt", `{"name":"apology","arguments":{"order":"17"}}`,
					`{"description":"An apology.","messages":[{"role":"user","type":"text","text":"Apologise for order 17."},{"role":"assistant","type":"image","mimeType":"image/png","omittedBytes":5}]}`,
				},
			} {
				tool := all[c.tool]
				if !tool.Idempotent || tool.Approval != nil || tool.Check(json.RawMessage(c.args)) != nil {
					t.Errorf("%s: %+v", c.tool, tool.ToolSpec)
				}
				if got, err := call(t, tool, c.args); err != nil || got != c.want {
					t.Errorf("%s %s: got %s, %v", c.tool, c.args, got, err)
				}
			}
			got, err := call(t, all["list_resources"], `{}`)
			if err != nil || !strings.Contains(
				got, `{"uri":"file:///rules.md","name":"rules","title":"House rules","mimeType":"text/markdown","size":9}`,
			) {
				t.Errorf("the resources: %s, %v", got, err)
			}
			for _, wrong := range []struct{ tool, args string }{
				{"read_resource", `{"uri":"file:///none"}`},
				{"read_resource", `{"uri":"a\nb"}`},
				{"get_prompt", `{"name":"none"}`},
				{"list_resources", `{"cursor":"x"}`},
			} {
				if _, err := call(t, all[wrong.tool], wrong.args); spool.CodeOf(err) != spool.Invalid {
					t.Errorf("%s %s: %v", wrong.tool, wrong.args, err)
				}
			}
			if got, err := call(t, all["echo"], `{"text":"on"}`); err != nil || got != `"on"` {
				t.Errorf("a call of a tool: %s, %v", got, err)
			}
		})
	}
}

// The data of a resource and of a prompt become artifacts.
func TestOfferedFiles(t *testing.T) {
	t.Parallel()

	p := newPeer()
	library(p)
	all := tools(t, client(t, p.serve(t, stateless).URL, offering), mcp.Selection{})
	saves := func(c *spool.ToolCall) {
		c.SaveArtifactFunc = func(_ context.Context, f spool.NewArtifact) (spool.Artifact, error) {
			data, err := io.ReadAll(f.Data)
			return spool.Artifact{ID: "art_1", Name: f.Name, MediaType: f.MediaType, Size: int64(len(data))}, err
		}
	}
	const saved = `"artifact":{"id":"art_1","name":"logo.png","mediaType":"image/png","size":5}}]`
	if got, err := call(t, all["read_resource"], `{"uri":"file:///logo.png"}`, saves); err != nil ||
		!strings.HasSuffix(got, saved) {
		t.Errorf("a resource: %s, %v", got, err)
	}
	if got, err := call(t, all["get_prompt"], `{"name":"apology"}`, saves); err != nil ||
		!strings.Contains(got, `"artifact":{"id":"art_1"`) {
		t.Errorf("a prompt: %s, %v", got, err)
	}
}

// The tools are there if the configuration asks for them and the server offers them, and the list of a run decides.
func TestOfferedTools(t *testing.T) {
	t.Parallel()

	offered := mcp.OfferedNames(true, true)
	has := func(s *mcp.Server, selection mcp.Selection) (found []string) {
		for name := range tools(t, s, selection) {
			if slices.Contains(offered, name) {
				found = append(found, name)
			}
		}
		slices.Sort(found)
		return found
	}
	plain, full := newPeer(), newPeer()
	library(full)
	without, with := plain.serve(t, stateless).URL, full.serve(t, stateless).URL
	all := slices.Sorted(slices.Values(offered))
	for name, c := range map[string]struct {
		got, want []string
	}{
		"not asked for": {got: has(client(t, with), mcp.Selection{})},
		"not offered":   {got: has(client(t, without, offering), mcp.Selection{})},
		"both":          {got: has(client(t, with, offering), mcp.Selection{}), want: all},
		"resources": {
			got:  has(client(t, with, func(c *mcp.Config) { c.Resources = true }), mcp.Selection{}),
			want: slices.Sorted(slices.Values(mcp.OfferedNames(true, false))),
		},
		"allowed": {
			got:  has(client(t, with, offering), mcp.Selection{Allow: []string{"echo", "read_resource"}}),
			want: []string{"read_resource"},
		},
		"not allowed": {got: has(client(t, with, offering), mcp.Selection{Allow: []string{"echo"}})},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v", name, c.got)
		}
	}
	source := must(client(t, with, offering).Tools(mcp.Selection{Approval: mcp.ApproveAlways}))
	list := must(source.List(t.Context(), "", ""))
	other := must(client(t, without).Tools(mcp.Selection{})) // as a process with another configuration would see it
	first, second := must(source.Tools(list)), must(other.Tools(list))
	for i := range first {
		if first[i].Name != second[i].Name || first[i].Description != second[i].Description ||
			!bytes.Equal(first[i].Parameters, second[i].Parameters) {
			t.Errorf("the same list has %+v and %+v", first[i].ToolSpec, second[i].ToolSpec)
		}
		if first[i].Approval == nil {
			t.Errorf("%s needs no approval", first[i].Name)
		}
	}
	if missing := (mcp.Selection{Approve: []string{"read_resource", "gone"}}).Missing(
		must(client(t, with, offering).List(t.Context())),
	); !slices.Equal(missing, []string{"gone"}) {
		t.Errorf("missing: %v", missing)
	}
}

// A tool of the server with the name of one for resources is left out, with a warning.
func TestOfferedNameTaken(t *testing.T) {
	t.Parallel()

	p := newPeer()
	library(p)
	p.add("read_resource", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		return said("the server's own"), nil
	})
	url := p.serve(t, stateless).URL
	var log bytes.Buffer
	s := client(t, url, offering, func(c *mcp.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if got, err := call(t, tools(t, s, mcp.Selection{})["read_resource"], `{"uri":"order://1"}`); err != nil ||
		got != `"an umbrella"` {
		t.Errorf("got %s, %v", got, err)
	}
	if n := strings.Count(log.String(), "it is left out"); n != 1 ||
		!strings.Contains(log.String(), "tool=read_resource") {
		t.Errorf("the log is %s", log.String())
	}
	if got, err := call(t, tools(t, client(t, url), mcp.Selection{})["read_resource"], `{"text":""}`); err != nil ||
		got != `"the server's own"` {
		t.Errorf("without resources: %s, %v", got, err)
	}
}

// shelf returns a server that offers what the answers have, by their methods, and its tools.
func shelf(t *testing.T, answers map[string]func(params json.RawMessage) any) (*fake.Server, map[string]spool.Tool) {
	t.Helper()

	server := &fake.Server{Offer: answers}
	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	return server, tools(t, client(t, at.URL, offering), mcp.Selection{})
}

// A page that is too large for a model becomes several ones. Each entry comes once.
func TestLargePage(t *testing.T) {
	t.Parallel()

	const count = 400
	page := func(params json.RawMessage) any {
		var at struct{ Cursor string }
		if err := json.Unmarshal(params, &at); err != nil {
			return err
		}
		all := make([]any, count)
		for i := range all {
			all[i] = map[string]any{
				"uri": fmt.Sprintf("row:%s%d", at.Cursor, i), "name": "row", "description": strings.Repeat("long ", i),
			}
		}
		all[7] = map[string]any{"uri": strings.Repeat("u", 10_000), "name": "a URI that is too long"}
		all[8] = 7
		next := "second"
		if at.Cursor != "" {
			next = ""
		}
		return map[string]any{"resultType": "complete", "resources": all, "nextCursor": next}
	}
	_, all := shelf(t, map[string]func(json.RawMessage) any{"resources/list": page})
	seen, leftOut, pages := map[string]bool{}, 0, 0
	for cursor := ""; pages < 100; pages++ {
		got, err := call(t, all["list_resources"], string(must(json.Marshal(map[string]string{"cursor": cursor}))))
		var result struct {
			Resources  []struct{ URI string }
			NextCursor string
			LeftOut    int
		}
		if err != nil || json.Unmarshal([]byte(got), &result) != nil || len(got) > 70<<10 || len(result.Resources) > 100 {
			t.Fatalf("%d bytes: %.300s, %v", len(got), got, err)
		}
		for _, r := range result.Resources {
			if seen[r.URI] {
				t.Errorf("%s comes again", r.URI)
			}
			seen[r.URI] = true
		}
		leftOut += result.LeftOut
		if cursor = result.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 2*count-4 || leftOut != 4 || pages < 8 || pages > 50 {
		t.Errorf("%d entries in %d pages, and %d are left out", len(seen), pages, leftOut)
	}
}

// A list that begins again has an end, and each page of one without an end is one request.
func TestEndlessResources(t *testing.T) {
	t.Parallel()

	var requests atomic.Int32
	answers := map[string]func(json.RawMessage) any{
		"resources/list": func(json.RawMessage) any {
			return map[string]any{"resultType": "complete", "resources": []any{}, "nextCursor": "again"}
		},
		"prompts/list": func(json.RawMessage) any {
			return map[string]any{
				"resultType": "complete", "prompts": []any{map[string]any{"name": "p"}},
				"nextCursor": strconv.Itoa(int(requests.Add(1))),
			}
		},
		"resources/templates/list": func(json.RawMessage) any {
			return map[string]any{
				"resultType": "complete", "resourceTemplates": []any{}, "nextCursor": strings.Repeat("c", 5000),
			}
		},
	}
	_, all := shelf(t, answers)
	for _, c := range []struct{ tool, args, want string }{
		{"list_resources", `{}`, `{"nextCursor":"0:again","resources":[]}`},
		{"list_resources", `{"cursor":"0:again"}`, `{"resources":[]}`},
		{"list_prompts", `{}`, `{"nextCursor":"0:1","prompts":[{"name":"p"}]}`},
		{"list_prompts", `{"cursor":"0:1"}`, `{"nextCursor":"0:2","prompts":[{"name":"p"}]}`},
		{"list_resource_templates", `{}`, `{"resourceTemplates":[]}`},
	} {
		if got, err := call(t, all[c.tool], c.args); err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v", c.tool, c.args, got, err)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// A resource of 20,000 texts is read, and answers that are not as the protocol has them are errors of their requests:
// each is sent once, and the connection stays.
func TestOddResources(t *testing.T) {
	t.Parallel()

	many := make([]any, 20_000)
	for i := range many {
		many[i] = map[string]any{"uri": fmt.Sprintf("row:%d", i), "text": strings.Repeat("a", 300)}
	}
	odd := map[string]any{
		"many": map[string]any{"contents": many},
		"base64": map[string]any{
			"contents": []any{map[string]any{"uri": "a", "blob": "no base64!"}, map[string]any{"uri": "b", "text": "a text"}},
		},
		"none":  map[string]any{"hello": 1},
		"text":  "hello",
		"large": map[string]any{"contents": []any{map[string]any{"uri": "a", "text": strings.Repeat("a", 9<<20)}}},
		"asks":  map[string]any{"resultType": "input_required", "inputRequests": map[string]any{}},
	}
	server, all := shelf(t, map[string]func(json.RawMessage) any{
		"resources/read": func(params json.RawMessage) any {
			var p struct{ URI string }
			if err := json.Unmarshal(params, &p); err != nil {
				return err
			}
			return odd[p.URI]
		},
		"prompts/get": func(json.RawMessage) any {
			return map[string]any{"messages": []any{
				map[string]any{"role": "user", "content": map[string]any{"type": "video"}},
				map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "a text"}},
			}}
		},
	})
	var reads, discovers atomic.Int32
	server.Before = func(method string) bool {
		switch method {
		case "resources/read":
			reads.Add(1)
		case "server/discover":
			discovers.Add(1)
		}
		return true
	}
	for name, want := range map[string]string{
		"many": `[{"type":"resource","text":"aaaa`, "base64": `[{"type":"resource","text":"[this part cannot be read`,
		"none":  "!the request was executed, but the answer of MCP server shop cannot be read: it has no list of contents",
		"text":  "!the request was executed, but the answer of MCP server shop cannot be read: it has no list of contents",
		"large": "!the request was executed, but the answer of MCP server shop cannot be read: it is larger than 8388608 bytes",
		"asks":  "!MCP server shop asks a question, which it may only do in calls of its tools",
	} {
		before := reads.Load()
		got, err := call(t, all["read_resource"], fmt.Sprintf(`{"uri":%q}`, name))
		if fails, ok := strings.CutPrefix(want, "!"); ok {
			_, unknown := errors.AsType[*spool.OutcomeUnknownError](err)
			if unknown || spool.MessageOf(err) != fails {
				t.Errorf("%s: %.300s, %v", name, got, err)
			}
		} else if err != nil || !strings.HasPrefix(got, want) || len(got) > 256<<10 || !json.Valid([]byte(got)) {
			t.Errorf("%s: %d bytes, %.300s, %v", name, len(got), got, err)
		}
		if n := reads.Load() - before; n != 1 {
			t.Errorf("%s: it was sent %d times", name, n)
		}
	}
	got, err := call(t, all["get_prompt"], `{"name":"p"}`)
	if err != nil || !strings.HasPrefix(
		got, `{"messages":[{"role":"user","type":"video","text":"[this part cannot be read`,
	) || !strings.HasSuffix(got, `{"role":"user","type":"text","text":"a text"}]}`) {
		t.Errorf("a prompt: %s, %v", got, err)
	}
	if n := discovers.Load(); n != 0 || len(server.Wrong()) > 0 {
		t.Errorf("%d more connections, and wrong are %v", n, server.Wrong())
	}
}

// Each subject reads resources with its own token, and one without a token is asked to sign in.
func TestOfferedToPeople(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	h.server.AddResource(&sdk.Resource{URI: "shop://me", Name: "me"}, func(
		_ context.Context, r *sdk.ReadResourceRequest,
	) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{
				{URI: r.Params.URI, Text: h.issuer.PersonOf(&http.Request{Header: r.Extra.Header})},
			},
		}, nil
	})
	s := h.open(t, offering)
	h.signIn(t, s, "acme", "ann", "ann@idp")
	h.signIn(t, s, "acme", "ben", "ben@idp")
	me := func(subject string) (string, error) {
		return call(t, toolsFor(t, s, "acme", subject)["read_resource"], `{"uri":"shop://me"}`, as("acme", subject))
	}
	for _, subject := range []string{"ann", "ben"} {
		if got, err := me(subject); err != nil || got != `"`+subject+`@idp"` {
			t.Errorf("%s is %s, %v", subject, got, err)
		}
	}
	_, err := me("cem")
	linkOf(t, err)
}

// A read whose connection breaks is sent again: it changes nothing.
func TestBrokenRead(t *testing.T) {
	t.Parallel()

	var reads atomic.Int32
	server, all := shelf(t, map[string]func(json.RawMessage) any{"resources/read": func(json.RawMessage) any {
		return map[string]any{"contents": []any{map[string]any{"uri": "a", "text": "read"}}}
	}})
	server.After = func(method string) bool { return method != "resources/read" || reads.Add(1) > 1 }
	if got, err := call(t, all["read_resource"], `{"uri":"a"}`); err != nil || got != `"read"` || reads.Load() != 2 {
		t.Errorf("got %s, %v after %d reads", got, err, reads.Load())
	}
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	source := must(client(t, down.URL).Tools(mcp.Selection{}))
	away := must(source.Tools(json.RawMessage(`{"tools":[],"resources":true}`)))
	if _, err := call(t, away[2], `{"uri":"a"}`); spool.CodeOf(err) != spool.Unavailable ||
		spool.MessageOf(err) != "MCP server shop cannot be reached" {
		t.Errorf("a server that is away: %v", err)
	}
}

// Many resources do not fill the memory: the SDK keeps each result that it gets until the connection ends.
func TestReadsAreNotKept(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	const count, size = 16, 1 << 20
	_, all := shelf(t, map[string]func(json.RawMessage) any{"resources/read": func(json.RawMessage) any {
		return map[string]any{"contents": []any{map[string]any{"uri": "a", "text": strings.Repeat("a", size)}}}
	}})
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range count {
		if _, err := call(t, all["read_resource"], fmt.Sprintf(`{"uri":"row:%d"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > count*size/2 {
		t.Errorf("%d reads of %d bytes have left %d bytes", count, size, grown)
	}
}
