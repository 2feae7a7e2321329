package agui_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/inputs"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/spooltest"
)

// The pages of docs/guides/ag-ui.md compile, and do in a browser what the guide says. Their packages take half
// a gigabyte, so that this runs where somebody asks for it: see doc.go.
func TestPages(t *testing.T) {
	t.Parallel()

	if os.Getenv("SPOOL_TEST_PAGES") != "1" {
		t.Skip("SPOOL_TEST_PAGES is not 1")
	}
	for _, name := range []string{"copilotkit", "assistant-ui"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPage(t, "../../examples/"+name)
		})
	}
}

// A run is stopped when a page asks CopilotKit's runtime to stop it, with the runtime's own runner. It goes on when
// the page is closed, because the runtime keeps its connection.
func TestCopilotKitRuntime(t *testing.T) {
	t.Parallel()

	if os.Getenv("SPOOL_TEST_PAGES") != "1" {
		t.Skip("SPOOL_TEST_PAGES is not 1")
	}
	b := setupServer(t, spooltest.NewModelFunc(pageScript), server.Config{DisconnectGrace: 100 * time.Millisecond})
	b.work(t)
	got := node(t, nil, "runtime.mjs", b.url+"/api/agent/ag-ui", "../../examples/copilotkit-runtime")
	if diff := cmp.Diff(`{"stop":200,"closed":"RUNNING"}`+"\n", got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func testPage(t *testing.T, dir string) {
	t.Helper()

	inputs.Read(t, "examples")
	built := t.TempDir()
	for _, args := range [][]string{{"tsc", "--noEmit"}, {"vite", "build", "--outDir", built}} {
		program, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin", args[0]))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(patiently(t), program, args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s (npm install --prefix %s gets it): %v\n%s", args[0], dir, err, out)
		}
	}
	b := setup(t, citing{demo.New(demo.Config{})})
	b.work(t)
	to, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", httputil.NewSingleHostReverseProxy(to))
	mux.Handle("/", http.FileServer(http.Dir(built)))
	listening := httptest.NewServer(mux)
	t.Cleanup(listening.Close)

	want := []string{
		`{"name":"marked","answered":true}`,
		`{"name":"asked","yes":1}`,
		`{"name":"reloaded","answered":true,"yes":1}`,
		`{"name":"approved","sent":true,"yes":0}`,
		`{"name":"problems","problems":[]}`,
	}
	args := []string{"pages.mjs", listening.URL + "/?thread=page"}
	if filepath.Base(dir) == "copilotkit" {
		args = append(args, "cite")
		const shown = `"href":"https://example.com/a","rel":"noopener noreferrer","image":3,"file":"a.csv"`
		want = slices.Insert(want, len(want)-1, `{"name":"cited",`+shown+`}`, `{"name":"cited and reloaded",`+shown+`}`)
	}
	got := strings.Split(strings.TrimSpace(node(t, nil, args[0], args[1:]...)), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// citing is a model that cites a page and makes files if a user says "cite".
type citing struct{ spool.Model }

func (m citing) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	if said := r.Messages[len(r.Messages)-1].Content; said[len(said)-1].Text != "cite" {
		return m.Model.Stream(ctx, r)
	}
	var picture bytes.Buffer
	err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2)))
	return spooltest.NewModel(spooltest.Turn{
		Text:    []string{"As they say."},
		Sources: []spool.Source{{URL: "https://example.com/a", Title: "Their page"}},
		Files: []spool.FileMade{
			{MediaType: "image/png", Data: picture.Bytes()},
			{Name: "a.csv", MediaType: "text/csv", Data: []byte("a,b\n")},
		},
		Err: err,
	}).Stream(ctx, r)
}
