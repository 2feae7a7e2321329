package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/tokenguess"
	"github.com/spoolhq/spool/wire"
)

// writeCatalogue writes a configuration, and a document with n operations of a service at a URL, into a folder.
func writeCatalogue(t *testing.T, n int, service, more string) string {
	t.Helper()

	var doc strings.Builder
	fmt.Fprintf(&doc, "openapi: 3.1.0\nservers: [{url: %q}]\npaths:\n", service)
	nouns := []string{"invoice", "parcel", "room", "truck", "meter", "permit"}
	for i := range n {
		noun := fmt.Sprintf("%s%d", nouns[i%len(nouns)], i)
		fmt.Fprintf(&doc, `  /%s/{id}:
    get:
      operationId: get_%s
      summary: Gets one %s with its state and its history.
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}, description: The id of the %s.}
        - {name: fields, in: query, schema: {type: array, items: {enum: [state, history, owner]}}, description: Which fields the answer has.}
        - {name: at, in: query, schema: {type: string, format: date-time}, description: The moment whose state the answer shows.}
`, noun, noun, noun, noun)
	}
	dir := t.TempDir()
	config := "models: {m: {provider: demo, context_window: 128000}}\nagents: {a: {model: m, tools: [big], subagents: {s: {tools: [big]}}}}\n" +
		"tools: {big: {type: openapi, document: big.yaml, operations: [\"*\"]" + more + "}}\n"
	for name, text := range map[string]string{"big.yaml": doc.String(), "spool.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "spool.yaml")
}

// TestCheckCrowded warns of agents whose requests are full of tools, and says what to do.
func TestCheckCrowded(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		operations int
		more       string
		want       []string // the beginnings of the warnings
	}{
		{128, "", []string{
			"agent a sends 128 tools of about 20000 tokens with each request, 15 % of the window of m: let the model find them by search: true, or leave some out by except:\n",
			"subagent s of a sends 128 tools of ",
		}},
		{129, "", []string{
			"agent a sends 129 tools of about 20200 tokens with each request, more than the 128 that some providers take and 15 % of the window of m: ", "subagent s of a sends 129 tools of ",
		}},
		{10, "", nil},
		{300, ", search: true", nil},
	} {
		got := command(nil, "check", writeCatalogue(t, c.operations, "http://127.0.0.1:1", c.more))
		var warnings []string
		for line := range strings.Lines(got.stdout) {
			if text, ok := strings.CutPrefix(line, "warning   "); ok {
				warnings = append(warnings, text)
			}
		}
		same := len(warnings) == len(c.want)
		for i := 0; same && i < len(warnings); i++ {
			same = strings.HasPrefix(warnings[i], c.want[i])
		}
		if got.code != exitOK || !same || !strings.HasSuffix(got.stdout, "problems  none\n") {
			t.Errorf("%d%s: exit code %d\n%s%s", c.operations, c.more, got.code, got.stdout, got.stderr)
		}
		if c.more != "" && !strings.Contains(got.stdout, "tools     big (300 tools to search)\n") {
			t.Errorf("the tools are\n%s", got.stdout)
		}
	}
	one := command(nil, "check", writeCatalogue(t, 1, "http://127.0.0.1:1", ", search: true"))
	if !strings.Contains(one.stdout, "tools     big (1 tool to search)\n") {
		t.Errorf("the tool is\n%s", one.stdout)
	}
}

// recordingModel keeps the tools of each request.
type recordingModel struct {
	spool.Model

	mu    sync.Mutex
	lists [][]spool.ToolSpec
}

func (m *recordingModel) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	m.mu.Lock()
	m.lists = append(m.lists, r.Tools)
	m.mu.Unlock()
	return m.Model.Stream(ctx, r)
}

// tokens guesses the tokens of a list of tools.
func tokens(list []spool.ToolSpec) (n int64) {
	for _, t := range list {
		n += tokenguess.Of(t.Name) + tokenguess.Of(t.Description) + tokenguess.Of(string(t.Parameters))
	}
	return n
}

// TestCatalogue has a document with 1,200 operations. The demo model searches, describes and calls one of them, and its
// first request has at most 2 % of the tokens of all schemas.
func TestCatalogue(t *testing.T) {
	t.Parallel()

	asked := make(chan string, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
		_, _ = w.Write([]byte(`{"state":"paid"}`))
	}))
	defer service.Close()
	file := writeCatalogue(t, 1200, service.URL, ", search: true")
	set, err := loadSetup(options{listen: "127.0.0.1:0", config: file}, os.LookupEnv, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	m := &recordingModel{Model: set.engine.Models["m"]}
	set.engine.Models["m"] = m
	e, err := engine.New(memory.New(nil), set.engine)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	if _, err := e.Run(ctx, key, wire.StartRequest{
		RunID: "r",
		Prompt: `use searchTools with {"query":"state of invoice600"} ` +
			`then use describeTools with {"names":["big_get_invoice600"]} then use big_get_invoice600 with {"id":"7","fields":["state"]}`,
	}); err != nil {
		t.Fatal(err)
	}
	if outcome, err := e.Await(ctx, key, "r"); err != nil || outcome.State != wire.Completed {
		t.Fatalf("the run is %+v, %v", outcome, err)
	}
	cancel()
	if err := <-worked; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := <-asked; got != "/invoice600/7?fields=state" {
		t.Errorf("the service was asked for %s", got)
	}
	var all []spool.ToolSpec
	for _, tool := range set.engine.Agents[0].Tools {
		all = append(all, tool.ToolSpec)
	}
	if len(all) != 1200 || len(m.lists) != 4 || len(m.lists[3]) != len(m.lists[0])+1 {
		t.Fatalf("there are %d tools, and %d requests", len(all), len(m.lists))
	}
	first, most := tokens(m.lists[0]), tokens(all)/50
	t.Logf("%d tokens of %d in the first request", first, tokens(all))
	if first > most {
		t.Errorf("the first request has %d tokens of tools, more than %d", first, most)
	}
}
