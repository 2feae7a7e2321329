package httptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	httptool "github.com/spoolhq/spool/tool/http"
)

var loopback = egress.Policy{Allow: []string{"127.0.0.1"}}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()

	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

func open(t *testing.T, config httptool.Config) spool.Tool {
	t.Helper()

	if config.Name == "" {
		config.Name = "post"
	}
	made, err := httptool.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestCall(t *testing.T) {
	t.Parallel()

	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %v: %v", r.Method, r.Header, err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"got":`+string(body)+`,"key":"`+r.Header.Get("Idempotency-Key")+`","team":"`+
			r.Header.Get("X-Team")+`"}`)
	})
	tl := open(t, httptool.Config{
		URL: s.URL, Egress: loopback, Idempotent: true, Approval: true, Headers: map[string]string{"X-Team": "blue"},
		Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
	})
	if !tl.Idempotent || tl.Approval == nil {
		t.Errorf("idempotent %t, approval %t", tl.Idempotent, tl.Approval != nil)
	}
	got, err := tl.Call(t.Context(), spool.ToolCall{RunID: "run", Step: 2, ID: "c9", Args: json.RawMessage(`{"n":1}`)})
	if want := `{"got":{"n":1},"key":"run/2/c9","team":"blue"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if err := tl.Check(json.RawMessage(`{"n":"x"}`)); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(err.Error(), "argument n") {
		t.Errorf("check: %v", err)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()

	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if status := r.URL.Query().Get("status"); status == "500" {
			w.WriteHeader(http.StatusInternalServerError)
		} else if status != "" {
			w.WriteHeader(http.StatusConflict)
		}
		_, _ = io.WriteString(w, r.URL.Query().Get("say"))
	})
	for name, c := range map[string]struct {
		query, want string
		code        spool.Code
	}{
		"json":     {"?say=[1,2]", "[1,2]", ""},
		"text":     {"?say=so+%22so%22", `"so \"so\""`, ""},
		"nothing":  {"", "null", ""},
		"mark":     {"?say=%EF%BB%BF[1]", "[1]", ""},
		"binary":   {"?say=%80%01", "neither JSON nor text", spool.Invalid},
		"too big":  {"?say=" + strings.Repeat("x", 101), "larger than 100 bytes", spool.Limit},
		"in bound": {"?say=" + strings.Repeat("1", 100), strings.Repeat("1", 100), ""},
		"conflict": {"?status=409&say=taken", "answered with status 409: taken", spool.Invalid},
		"failure":  {"?status=500&say=" + strings.Repeat("y", 5000), "answered with status 500: yyy", spool.Unavailable},
		"secret":   {"?say=key-0815-4711", `"[redacted]"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tl := open(t, httptool.Config{
				URL: s.URL + "/" + c.query, Egress: loopback, MaxResultBytes: 100,
				Headers: map[string]string{"Authorization": "Bearer key-0815-4711"},
			})
			got, err := tl.Call(t.Context(), spool.ToolCall{})
			if c.code == "" {
				if err != nil || string(got) != c.want {
					t.Errorf("got %s, %v", got, err)
				}
				return
			}
			if spool.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s: %s", err, c.code, c.want)
			}
			if len(err.Error()) > 2500 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()

	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the other host got a request") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/301", "/302", "/303", "/308":
			status, _ := strconv.Atoi(r.URL.Path[1:])
			http.Redirect(w, r, "/there", status)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
		default:
			if r.Method != http.MethodPost {
				t.Errorf("the endpoint got a %s", r.Method)
			}
			_, _ = io.Copy(w, r.Body)
		}
	})
	call := func(path string) (json.RawMessage, error) {
		tl := open(t, httptool.Config{URL: s.URL + path, Egress: loopback, Parameters: json.RawMessage(`{"type":"object"}`)})
		return tl.Call(t.Context(), spool.ToolCall{Args: json.RawMessage(`{"a":1}`)})
	}
	if got, err := call("/here"); err != nil || string(got) != `{"a":1}` {
		t.Errorf("within the host: %s, %v", got, err)
	}
	if got, err := call("/308"); err != nil || string(got) != `{"a":1}` {
		t.Errorf("for good: %s, %v", got, err)
	}
	for _, status := range []string{"301", "302", "303"} {
		_, err := call("/" + status)
		if want := "redirected with status " + status + ", which would repeat the call as a GET"; spool.CodeOf(err) !=
			spool.Unavailable || !strings.Contains(spool.MessageOf(err), want) {
			t.Errorf("with status %s: %v", status, err)
		}
	}
	if _, err := call("/away"); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("to another host: %v", err)
	}
	if _, err := call("/round"); err == nil {
		t.Error("in a circle: no error")
	}
}

func TestEgress(t *testing.T) {
	t.Parallel()

	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("got a request") })
	_, err := open(t, httptool.Config{URL: s.URL + "/?key=secret"}).Call(t.Context(), spool.ToolCall{})
	if spool.CodeOf(err) != spool.Forbidden || !strings.Contains(spool.MessageOf(err), "127.0.0.1") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the URL's query is in the error: %v", err)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()

	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	_, err := open(t, httptool.Config{URL: s.URL, Egress: loopback, Timeout: 30 * time.Millisecond}).Call(t.Context(),
		spool.ToolCall{})
	if spool.CodeOf(err) != spool.Unavailable || !strings.Contains(spool.MessageOf(err), "within 30ms") {
		t.Errorf("timeout: got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = open(t, httptool.Config{URL: s.URL, Egress: loopback}).Call(ctx, spool.ToolCall{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancel: got %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()

	for want, config := range map[string]httptool.Config{
		"URL":        {Name: "a", URL: "ftp://example.com"},
		"tool name":  {Name: "a b", URL: "https://example.com"},
		"Egress":     {Name: "a", URL: "https://example.com", Egress: egress.Policy{Allow: []string{"*"}}},
		"Timeout":    {Name: "a", URL: "https://example.com", Timeout: -1},
		"parameters": {Name: "a", URL: "https://example.com", Parameters: json.RawMessage(`[]`)},
	} {
		if _, err := httptool.New(config); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
