package gemini_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/model/gemini"
)

// bodyAnswer answers with a status and a body.
func bodyAnswer(status int, body string) fake.Answer {
	return fake.Answer{Handler: func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}}
}

func TestErrors(t *testing.T) {
	t.Parallel()

	limited := fake.Error{Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "You exceeded your current quota."}
	delayed, daily := limited, limited
	delayed.RetryDelay, delayed.Quota = 1500*time.Millisecond, "GenerateRequestsPerMinutePerProjectPerModel"
	daily.Quota = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	for name, c := range map[string]struct {
		answer fake.Answer
		want   spool.ModelError
	}{
		"Delay": {
			fake.Answer{Error: &delayed},
			spool.ModelError{Status: 429, Type: "RESOURCE_EXHAUSTED", Message: limited.Message, After: delayed.RetryDelay},
		},
		"Daily": {
			fake.Answer{Error: &daily},
			spool.ModelError{Status: 429, Type: "RESOURCE_EXHAUSTED", Message: limited.Message, NoRetry: true},
		},
		"Reason": {
			fake.Answer{Error: &fake.Error{Status: 400, Code: "INVALID_ARGUMENT", Reason: "API_KEY_INVALID", Message: "m"}},
			spool.ModelError{Status: 400, Type: "API_KEY_INVALID", Message: "m"},
		},
		"List": {
			bodyAnswer(503, `[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]`),
			spool.ModelError{Status: 503, Type: "UNAVAILABLE", Message: "m"},
		},
		"Gateway": {bodyAnswer(502, `{"error":"bad gateway"}`), spool.ModelError{Status: 502, Message: "bad gateway"}},
		"HTML":    {bodyAnswer(502, `<html>oops</html>`), spool.ModelError{Status: 502, Message: "<html>oops</html>"}},
		"Empty":   {bodyAnswer(500, ``), spool.ModelError{Status: 500, Message: "Internal Server Error"}},
		"Overflow": {
			fake.Answer{Error: refusal("The input token count exceeds the maximum number of tokens allowed 1048576.")},
			spool.ModelError{
				Status: 400, Type: "INVALID_ARGUMENT",
				Message: "The input token count exceeds the maximum number of tokens allowed 1048576.", ContextOverflow: true,
			},
		},
		"Payload": {
			fake.Answer{Error: refusal("Request payload size exceeds the limit: 20971520 bytes.")},
			spool.ModelError{
				Status: 400, Type: "INVALID_ARGUMENT", Message: "Request payload size exceeds the limit: 20971520 bytes.",
				ContextOverflow: true,
			},
		},
		"Stream": {
			fake.Answer{End: fake.EndError, Error: &delayed},
			spool.ModelError{Status: 429, Type: "RESOURCE_EXHAUSTED", Message: limited.Message, After: delayed.RetryDelay},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPeer(t, answerWith(c.answer))
			if got := mustFail(t, p.model(t, gemini.Config{}), hello()); *got != c.want {
				t.Errorf("got %+v, want %+v", *got, c.want)
			}
			if p.Count() != 1 {
				t.Errorf("%d requests", p.Count())
			}
		})
	}
}

// The key goes into a header, and no error shows it.
func TestSecrets(t *testing.T) {
	t.Parallel()

	const key, header, extra, secret = "key-of-the-test", "header-of-the-test", "extra-of-the-test", "secret-of-the-test"
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"code":403,"message":"`+
			strings.Join([]string{key, header, extra, secret}, " ")+`"}}`)
	}))
	t.Cleanup(server.Close)
	m, err := gemini.New(gemini.Config{
		Model: testModel, BaseURL: server.URL + "/gate/v1beta/", APIKey: key, Headers: map[string]string{"X-Gate": header},
		Extra: map[string]any{"labels": map[string]any{"token": extra}}, Secrets: []string{secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed := mustFail(t, m, hello()); failed.Message != "[redacted] [redacted] [redacted] [redacted]" ||
		!failed.Permanent() {
		t.Errorf("got %v", failed)
	}
	if got.URL.String() != "/gate/v1beta/models/"+testModel+":streamGenerateContent?alt=sse" ||
		got.Header.Get("X-Goog-Api-Key") != key || got.Header.Get("X-Gate") != header {
		t.Errorf("got %s %v", got.URL, got.Header)
	}
}

// A request that is no JSON is not sent, and its error shows no secret.
func TestEncodeError(t *testing.T) {
	t.Parallel()

	p := newPeer(t, fake.Config{})
	const secret = "secret-of-the-test"
	got := mustFail(t, p.model(t, gemini.Config{APIKey: secret}), spool.ModelRequest{
		Messages: hello().Messages, Extra: map[string]any{"x": unencodable(secret)},
	})
	if got.Message != "encode request" || !got.Permanent() || p.Count() != 0 || got.Err == nil ||
		strings.Contains(got.Err.Error(), secret) {
		t.Errorf("got %v, %v", got, got.Err)
	}
}

// unencodable is a value whose JSON is an error with the value in it.
type unencodable string

func (u unencodable) MarshalJSON() ([]byte, error) { return nil, errors.New(string(u)) }

// Nothing in the environment changes a request.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{
		"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_CLOUD_PROJECT",
		"GOOGLE_CLOUD_LOCATION",
	} {
		t.Setenv(name, "http://127.0.0.1:1/from-the-environment")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
	p := newPeer(t, fake.Config{Answer: func(*fake.Request) fake.Answer {
		return fake.Answer{Handler: func(w http.ResponseWriter, r *http.Request) {
			for name, values := range r.Header {
				if name == "X-Goog-Api-Key" || strings.Contains(strings.Join(values, " "), "environment") {
					t.Errorf("header %s: %s", name, values)
				}
			}
			bodyAnswer(200, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n").Handler(w, r)
		}}
	}})
	mustAsk(t, p.model(t, gemini.Config{}), hello())
	if p.Count() != 1 {
		t.Errorf("%d requests", p.Count())
	}
}

// A redirect would give the key and the conversation to another host.
func TestRedirect(t *testing.T) {
	t.Parallel()

	p := newPeer(t, answerWith(fake.Answer{Handler: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}}))
	got := mustFail(t, p.model(t, gemini.Config{}), hello())
	if got.Status != http.StatusTemporaryRedirect || !got.Permanent() || p.Count() != 1 ||
		!strings.Contains(got.Message, "/elsewhere") {
		t.Errorf("got %v", got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()

	m, err := gemini.New(gemini.Config{Model: testModel, BaseURL: "http://127.0.0.1:9", APIKey: "key-of-the-test"})
	if err != nil {
		t.Fatal(err)
	}
	if got := mustFail(t, m, hello()); got.Permanent() || !strings.HasPrefix(got.Message, "reach 127.0.0.1:9: ") {
		t.Errorf("got %v", got)
	}
}
