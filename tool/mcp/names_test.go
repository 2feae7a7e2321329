package mcp_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/tool/mcp"
)

// A server names its tools like those of the engine, and in every other way. Each is a tool of its own, with a name
// that models take, and a call reaches the tool of the name.
func TestNamesOfServers(t *testing.T) {
	t.Parallel()

	names := []string{
		"searchTools", "describeTools", "readArtifact", "spawnSubagent", "shop__readArtifact", "a b", "a  b", "a_b", "🙂",
		"🙃", "größe", strings.Repeat("a", 65), strings.Repeat("a", 66), strings.Repeat("🙂", 20),
		strings.Repeat("🙂", 20) + "x", "sign_in", "list_resources",
	}
	server := &fake.Server{Answer: func(c fake.Call) any { return fake.Said("called " + c.Name) }}
	server.List = func() (all []any) {
		for _, name := range names {
			all = append(all, fake.Listed(name, "A tool.", "n"))
		}
		return append(all, fake.Listed("a_b", "The same name again.", "n"), fake.Listed("", "Without a name.", "n"),
			fake.Listed("\x00", "A name that no header takes.", "n"), fake.Listed("a\nb", "Another one.", "n"),
			fake.Listed("a ", "Another one.", "n"))
	}
	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	s := client(t, at.URL)
	source := must(s.Tools(mcp.Selection{}))
	made := must(source.Tools(must(source.List(t.Context(), "", ""))))
	good := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	byName := make(map[string]spool.Tool)
	for _, tool := range made {
		if _, taken := byName[tool.Name]; taken || !good.MatchString(tool.Name) || !strings.HasPrefix(tool.Name, "shop__") {
			t.Errorf("a tool is %q", tool.Name)
		}
		byName[tool.Name] = tool
	}
	if len(made) != len(names) {
		t.Errorf("%d tools of %d", len(made), len(names))
	}
	for _, name := range names {
		got, err := call(t, byName[mcp.LocalName("shop__", name)], `{"n":1}`)
		if err != nil || got != fmt.Sprintf("%q", "called "+name) {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
	if wrong := server.Wrong(); len(wrong) > 0 {
		t.Errorf("wrong requests: %v", wrong)
	}
}

// Of a thousand tools an agent has 128, the first ones by name, and the log has the number of the others.
func TestThousandTools(t *testing.T) {
	t.Parallel()

	server := &fake.Server{List: func() (all []any) {
		for i := range 1000 {
			all = append(all, fake.Listed(fmt.Sprintf("tool%03d", 999-i), "A tool.", "n"))
		}
		return all
	}}
	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	var log bytes.Buffer
	s := client(t, at.URL, func(c *mcp.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	all := tools(t, s, mcp.Selection{})
	_, first := all["tool000"]
	_, last := all["tool127"]
	if len(all) != 128 || !first || !last || !strings.Contains(log.String(), `"left out"=872`) {
		t.Errorf("%d tools, and the log is %s", len(all), log.String())
	}
	many := client(t, at.URL, func(c *mcp.Config) { c.MaxTools = 2000 })
	if all := tools(t, many, mcp.Selection{}); len(all) != 1000 {
		t.Errorf("%d tools", len(all))
	}
}
