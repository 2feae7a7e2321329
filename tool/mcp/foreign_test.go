package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/inputs"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/tool/mcp"
)

// Servers of others, as their registries have them: the versions are in the lock file of clients/typescript and in
// test/clients/requirements.txt.

// foreign returns a client of a program. A test whose program or file is not installed is skipped, unless
// SPOOL_TEST_REQUIRE is 1.
func foreign(t *testing.T, how string, config mcp.Config) *mcp.Server {
	t.Helper()

	program, err := exec.LookPath(config.Command[0])
	if err == nil {
		_, err = os.Stat(config.Command[1])
	}
	switch {
	case err == nil:
	case os.Getenv("SPOOL_TEST_REQUIRE") == "1":
		t.Fatalf("%v, and SPOOL_TEST_REQUIRE is 1: run %s", err, how)
	default:
		t.Skipf("%v: %s installs it", err, how)
	}
	inputs.Read(t, "tool/mcp/testdata", "clients/typescript/package-lock.json", "test/clients/requirements.txt")
	config.Name, config.Command[0], config.ConnectTimeout, config.Timeout = "shop", program, testwait.Limit, testwait.Limit
	s := must(mcp.New(config))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fastMCP(t *testing.T, revision string, change ...func(*mcp.Config)) *mcp.Server {
	t.Helper()

	if why, err := os.ReadFile("../../test/clients/.venv-skipped"); err == nil { // the registry was not there
		t.Skip(strings.TrimSpace(string(why)))
	}
	python := must(filepath.Abs("../../test/clients/.venv/bin/python"))
	config := mcp.Config{Command: []string{python, "testdata/shop.py"}, Revision: revision}
	for _, fn := range change {
		fn(&config)
	}
	return foreign(t, "make deps/python", config)
}

// The filesystem server repeats an image in its structured content.
func TestFilesystemServer(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	image, long := bytes.Repeat([]byte("pixel"), 20_000), strings.Repeat("a line of text\n", 30_000)
	for name, data := range map[string][]byte{"a.png": image, "long.txt": []byte(long)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := "../../clients/typescript/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
	all := tools(t, foreign(t, "make deps/npm", mcp.Config{Command: []string{"node", program, dir}}), mcp.Selection{})
	args := func(name string) string {
		return string(must(json.Marshal(map[string]string{"path": filepath.Join(dir, name)})))
	}
	got, err := call(t, all["read_media_file"], args("a.png"))
	if err != nil || len(got) > 1000 || !strings.Contains(got, `"omittedBytes":100000`) ||
		strings.Contains(got, base64.StdEncoding.EncodeToString(image[:300])) {
		t.Errorf("the image: %.1000s, %v", got, err)
	}
	got, err = call(t, all["read_text_file"], args("long.txt"))
	if err != nil || !strings.HasPrefix(got, `"a line of text`) || !strings.HasSuffix(got, `[the rest was cut]"`) ||
		len(got) < 200_000 {
		t.Errorf("the text: %d bytes, %.100s, %v", len(got), got, err)
	}
}

// FastMCP wraps the text of a tool in structured content, and says how far a call is.
func TestFastMCP(t *testing.T) {
	t.Parallel()

	all := tools(t, fastMCP(t, ""), mcp.Selection{})
	got, err := call(t, all["report"], `{"lines":100000}`)
	if err != nil || !strings.HasPrefix(got, `"line 0\nline 1\n`) || !strings.HasSuffix(got, `[the rest was cut]"`) ||
		len(got) < 200_000 {
		t.Errorf("%d bytes, %.100s, %v", len(got), got, err)
	}
	if got, err := call(t, all["report"], `{"lines":2}`); err != nil || got != `{"result":"line 0\nline 1"}` {
		t.Errorf("a short text: %s, %v", got, err)
	}
	var mu sync.Mutex
	var events []string
	seen := filepath.Join(t.TempDir(), "seen")
	got, err = call(t, all["audit"], string(must(json.Marshal(map[string]string{"seen": seen}))), func(c *spool.ToolCall) {
		c.PublishFunc = func(_ context.Context, e spool.Event) error {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e.Type+" "+string(e.Payload))
			return os.WriteFile(seen, nil, 0o600)
		}
	})
	mu.Lock()
	defer mu.Unlock()
	want := `tool_progress {"toolCallId":"c1","toolName":"shop__audit","progress":1,"total":2,"message":"half of the books"}`
	if err != nil || got != `{"result":"in order"}` || len(events) != 1 || events[0] != want {
		t.Errorf("got %s, %v after %q", got, err, events)
	}
}

// FastMCP asks in the middle of a call of an older revision, and cannot ask in the present one.
func TestFastMCPQuestion(t *testing.T) {
	t.Parallel()

	refund := tools(t, fastMCP(t, "2025-11-25"), mcp.Selection{})["refund"]
	for name, c := range map[string]struct {
		answer *spool.Answer
		want   string
	}{
		"Approved": {
			&spool.Answer{Approved: true, Payload: []byte(`{"reason":"late"}`)},
			`{"result":"order 17 is refunded as it was late"}`,
		},
		"Denied":  {&spool.Answer{}, `{"result":"not refunded: decline"}`},
		"Expired": {nil, `{"result":"not refunded: cancel"}`},
	} {
		park := asks(t, refund, `{"order":"17"}`)
		shown := must(json.Marshal(park.Payload))
		if string(shown) != `{"server":"shop","tool":"refund","mode":"form","message":"Why is order 17 refunded?"}` ||
			!strings.Contains(string(park.Schema), `"reason"`) {
			t.Errorf("%s: shown: %s, %s", name, shown, park.Schema)
		}
		if got, err := call(t, refund, `{"order":"17"}`, answered(park, c.answer)); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	present := tools(t, fastMCP(t, ""), mcp.Selection{})["refund"]
	if _, err := call(t, present, `{"order":"17"}`); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(err.Error(), "2026-07-28") {
		t.Errorf("the present revision: %v", err)
	}
}

// FastMCP's resources, templates, prompts and images, of the present revision and of an older one.
func TestFastMCPOffers(t *testing.T) {
	t.Parallel()

	for _, revision := range []string{"", "2025-06-18"} {
		all := tools(t, fastMCP(t, revision, offering), mcp.Selection{})
		for _, c := range []struct{ tool, args, want string }{
			{"list_resources", `{}`, `"uri":"shop://terms"`},
			{"list_resource_templates", `{}`, `"uriTemplate":"shop://orders/{order}/receipt"`},
			{"read_resource", `{"uri":"shop://terms"}`, `"We refund an order within 30 days."`},
			{"read_resource", `{"uri":"shop://orders/17/receipt"}`, `"order 17: an umbrella"`},
			{"read_resource", `{"uri":"shop://logo"}`, `"mimeType":"image/png","omittedBytes":5`},
			{"list_prompts", `{}`, `"arguments":[{"name":"order","required":true}]`},
			{
				"get_prompt", `{"name":"apology","arguments":{"order":"17"}}`,
				`{"role":"user","type":"text","text":"Apologise for order 17."}`,
			},
			{"look", `{}`, `[{"type":"image","mimeType":"image/png","omittedBytes":5}]`},
		} {
			if got, err := call(t, all[c.tool], c.args); err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%q: %s %s: %s, %v", revision, c.tool, c.args, got, err)
			}
		}
		if _, err := call(t, all["read_resource"], `{"uri":"shop://none"}`); spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(spool.MessageOf(err), "shop://none") {
			t.Errorf("%q: a resource that is not there: %v", revision, err)
		}
	}
}
