package cloud_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/recorder"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/model/anthropic/cloud"
)

var update = flag.Bool("update", false, "write the requests again")

// unstable are the parts of a request that differ from one to the next, or from one machine to another.
var unstable = regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z|/[0-9]{8}/|Signature=[0-9a-f]{64}|(Arch|Os|Runtime-Version): [^\t\n]*`)

// The requests are those of the golden file, which is what the clouds get.
func TestRequestsOnTheWire(t *testing.T) {
	t.Parallel()

	record := &recorder.Recorder{Next: recorder.Says(`{"type":"message","content":[],"stop_reason":"end_turn"}`)}
	web := httptest.NewServer(record)
	t.Cleanup(web.Close)

	file := filepath.Join("testdata", "requests.txt")
	golden, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var now strings.Builder
	all := clouds(t, "eu-central-1")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, c := range wireCases(web.URL) {
			m, err := all[name](c.config)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range m.Stream(t.Context(), c.r) {
				if err != nil {
					t.Fatalf("%s, %s: %v", name, c.name, err)
				}
			}
			got := unstable.ReplaceAllString(record.Last.String(), "~")
			fmt.Fprintf(&now, "== %s, %s\n%s", name, c.name, got)
			_, want, _ := strings.Cut(string(golden), "== "+name+", "+c.name+"\n")
			want, _, _ = strings.Cut(want, "== ")
			if got != want && !*update {
				t.Errorf("%s, %s:\n got %s\nwant %s", name, c.name, got, want)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a BaseURL, requests go to the region's own endpoint.
func TestEndpoints(t *testing.T) {
	t.Parallel()

	for region, want := range map[string]map[string]string{
		"eu-central-1": {
			"Bedrock": "bedrock-runtime.eu-central-1.amazonaws.com", "Vertex": "eu-central-1-aiplatform.googleapis.com",
		},
		"global": {"Vertex": "aiplatform.googleapis.com"},
		"eu":     {"Vertex": "aiplatform.eu.rep.googleapis.com"},
	} {
		all := clouds(t, region)
		for name, host := range want {
			var got string
			m, err := all[name](anthropic.Config{Model: "m", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				got = r.URL.Scheme + "://" + r.URL.Host
				return nil, errors.New("no route")
			})})
			if err != nil {
				t.Fatal(err)
			}
			if err := failure(t, m); got != "https://"+host || err.Message != "reach "+strings.ToLower(name)+": no route" {
				t.Errorf("%s in %s: %s, %v", name, region, got, err)
			}
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// clouds returns what opens a model, by the cloud.
func clouds(t *testing.T, region string) map[string]func(anthropic.Config) (*anthropic.Model, error) {
	t.Helper()

	return map[string]func(anthropic.Config) (*anthropic.Model, error){
		"Bedrock": func(c anthropic.Config) (*anthropic.Model, error) {
			return cloud.NewBedrock(c, aws.Config{Region: region, Credentials: credentials()})
		},
		"Vertex": func(c anthropic.Config) (*anthropic.Model, error) {
			return cloud.NewVertex(t.Context(), c, cloud.VertexAccess{
				Region: region, Project: "project-1",
				Credentials: &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "token-1"})},
			})
		},
	}
}

type wireCase struct {
	name   string
	config anthropic.Config
	r      spool.ModelRequest
}

func wireCases(url string) []wireCase {
	const name = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	plain := anthropic.Config{Model: name, BaseURL: url, Transport: new(http.Transport)}
	under := plain
	under.BaseURL += "/gateway/v2?key=value"
	headers := plain
	headers.Headers = map[string]string{
		"anthropic-beta": "one, two", "X-Team": "a b", "User-Agent": "mine/1",
		"Content-Type": "application/json; charset=utf-8",
	}
	thinking := plain
	thinking.HTTPClient, thinking.Transport = &http.Client{Transport: plain.Transport}, nil
	thinking.Thinking = anthropic.Thinking{Mode: anthropic.ThinkingAdaptive}
	native := plain
	native.Output = anthropic.OutputNative

	hi := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello <you> & me ✓")}},
	}
	tools := hi
	tools.Instructions, tools.CacheMarks = "Be brief.", []int{0, 1}
	tools.Tools = []spool.ToolSpec{{Name: "coin"}}
	output := tools
	output.Output = &spool.OutputSchema{
		Name: "report", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`),
	}
	return []wireCase{
		{"text", plain, hi},
		{"path and query", under, hi},
		{"headers", headers, hi},
		{"tools", plain, tools},
		{"thinking", thinking, tools},
		{"output", plain, output},
		{"native output", native, output},
	}
}
