package webhook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receive is the receiver of the guide, word for word.
func receive(secret string, store func(id string, body []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 20_000))
		hook, bad := standardwebhooks.NewWebhook(secret)
		if err != nil || bad != nil || hook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if store(r.Header.Get("Webhook-Id"), body) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// block returns the code of the guide in a language.
func block(t *testing.T, language string) string {
	t.Helper()

	page, err := os.ReadFile("../../docs/guides/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile("(?s)guide_test.go -->\n```" + language + "\n(.*?)```")
	found := at.FindStringSubmatch(string(page))
	if found == nil {
		t.Fatalf("the guide has no receiver in %s", language)
	}
	return found[1]
}

// The receivers of the guide accept what is right, twice, and store it once.
func TestGuideGo(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("guide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), block(t, "go")) {
		t.Error("the receiver of the guide is another than that of this test")
	}
	all := deliveries(t)
	var said strings.Builder
	for _, d := range all {
		stored := map[string][]byte{}
		handler := receive(d.Secret, func(id string, body []byte) error {
			stored[id] = body
			return nil
		})
		for range 2 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(d.Body)))
			for name, value := range d.Headers {
				r.Header.Set(name, value)
			}
			handler(httptest.NewRecorder(), r)
		}
		said.WriteString(d.Name + map[bool]string{true: " accepted\n", false: " refused\n"}[len(stored) == 1])
	}
	check(t, all, said.String())
}

func TestGuideJavaScript(t *testing.T) {
	t.Parallel()

	if _, err := os.Stat("../node_modules/standardwebhooks/package.json"); err != nil {
		missing(t, "standardwebhooks of npm is not installed (make deps/npm does)")
	}
	all := deliveries(t)
	check(t, all, run(t, all, "node", "--input-type=module", "-e", block(t, "js")+`
import { readFileSync } from "node:fs";
for (const d of JSON.parse(readFileSync(0, "utf8"))) {
  const stored = [], known = new Set();
  const store = async (id, event) => { if (!known.has(id)) stored.push(event); known.add(id); };
  const post = () => receive(new Request("http://localhost/", {
    method: "POST", headers: d.headers, body: Buffer.from(d.body, "base64"),
  }), d.secret, store);
  const ok = [(await post()).status, (await post()).status].every((status) => status === 204);
  console.log(d.name, ok && stored.length === 1 ? "accepted" : "refused");
}
`))
}

func TestGuidePython(t *testing.T) {
	t.Parallel()

	python, err := filepath.Abs("../clients/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		if why, err := os.ReadFile("../clients/.venv-skipped"); err == nil {
			t.Skip(strings.TrimSpace(string(why)))
		}
		missing(t, "test/clients/.venv is not there (make deps/python makes it)")
	}
	all := deliveries(t)
	check(t, all, run(t, all, python, "-c", block(t, "python")+`
import base64, json, sqlite3, sys
for d in json.load(sys.stdin):
    db = sqlite3.connect(":memory:")
    db.execute("create table events (id text primary key, body blob)")
    statuses = [receive(base64.b64decode(d["body"]), d["headers"], d["secret"], db) for _ in range(2)]
    count = db.execute("select count(*) from events").fetchone()[0]
    print(d["name"], "accepted" if statuses == [204, 204] and count == 1 else "refused")
`))
}
