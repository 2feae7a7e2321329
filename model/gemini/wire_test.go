package gemini_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/internal/testing/recorder"
	"github.com/spoolhq/spool/model/gemini"
)

var update = flag.Bool("update", false, "write the requests to testdata again")

// deadline is how long the caller of a case with a deadline waits.
const deadline = time.Hour

// record returns the text of the request that a case makes.
func (c wireCase) record(t *testing.T) string {
	t.Helper()

	r := &recorder.Recorder{Next: fake.New(fake.Config{})}
	server := httptest.NewServer(r)
	defer server.Close()
	c.config.BaseURL = server.URL + c.config.BaseURL
	if c.config.Model == "" {
		c.config.Model = testModel
	}
	if c.config.HTTPClient == nil {
		transport := new(http.Transport)
		defer transport.CloseIdleConnections()
		c.config.Transport = transport
	}
	m, err := gemini.New(c.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if c.deadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, deadline)
		defer cancel()
	}
	if c.request.Messages == nil {
		c.request.Messages = hello().Messages
	}
	if got := ask(ctx, m, c.request); (got.err != nil) != c.refused {
		t.Fatalf("got %v, want refused %t", got.err, c.refused)
	}
	return r.Last.Line + "\n" + strings.Join(r.Last.Headers, "\n") + "\n\n" + r.Last.Body
}

// headerDifferences are the headers that Google's SDK sends and the adapter does not, with what it sends in their
// place. In both, the SDK describes itself.
var headerDifferences = []struct{ sdk, ours string }{
	{"\nUser-Agent: google-genai-sdk/1.77.0 gl-go/go1.26.8", "\nUser-Agent: Go-http-client/1.1"},
	{"\nX-Goog-Api-Client: google-genai-sdk/1.77.0 gl-go/go1.26.8", ""},
}

// Each request is the one that Google's SDK makes of the same input, byte for byte. The files in testdata are recorded
// requests of google.golang.org/genai v1.77.0. A case that came later has the adapter's request.
func TestWire(t *testing.T) {
	t.Parallel()

	cases := wireCases()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := c.record(t)
			if c.deadline {
				got = withoutSeconds(t, got)
			}
			path := filepath.Join("testdata", "wire", name+".txt")
			recorded, err := os.ReadFile(path)
			want := string(recorded)
			for _, d := range headerDifferences {
				want = strings.Replace(want, d.sdk, d.ours, 1)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v -want +got:\n%s", err, diff)
				if *update {
					err = os.WriteFile(path, []byte(got), 0o600)
					t.Logf("written: %v", err)
				}
			}
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "wire", "*.txt"))
	if err != nil || len(files) > len(cases) {
		t.Errorf("%d files for %d cases, %v", len(files), len(cases), err)
	}
}

// withoutSeconds replaces the seconds until the deadline, which depend on the machine's speed.
func withoutSeconds(t *testing.T, request string) string {
	t.Helper()

	const name = "\nX-Server-Timeout: "
	before, after, _ := strings.Cut(request, name)
	value, after, _ := strings.Cut(after, "\n")
	seconds, err := strconv.Atoi(value)
	if most := int(deadline.Seconds()); err != nil || seconds > most || seconds < most/2 {
		t.Errorf("X-Server-Timeout %q", value)
	}
	return before + name + "N\n" + after
}
