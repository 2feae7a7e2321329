package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

func modelError(t *testing.T, err error) *spool.ModelError {
	t.Helper()

	m, ok := errors.AsType[*spool.ModelError](err)
	if !ok {
		t.Fatalf("got %v, want a ModelError", err)
	}
	return m
}

func TestStatusErrors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status    int
		body      string
		want      spool.ModelError
		permanent bool
	}{
		"quota": {
			429, `{"error":{"message":"no money","type":"insufficient_quota","code":"insufficient_quota"}}`,
			spool.ModelError{Status: 429, Type: "insufficient_quota", Message: "no money", NoRetry: true},
			true,
		},
		"overflow": {
			400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error"}}`,
			spool.ModelError{
				Status: 400, Type: "invalid_request_error", Message: "Your input exceeds the context window of this model.",
				ContextOverflow: true,
			},
			true,
		},
		"type only": {
			400, `{"error":{"message":"bad","type":"invalid_request_error","code":null}}`,
			spool.ModelError{Status: 400, Type: "invalid_request_error", Message: "bad"},
			true,
		},
		"number": {502, `{"error":{"message":"down","code":502}}`, spool.ModelError{Status: 502, Message: "down"}, false},
		"text":   {404, `{"error":"model not found"}`, spool.ModelError{Status: 404, Message: "model not found"}, true},
		"top level": {
			400, `{"object":"error","message":"too long","type":"BadRequestError","code":400}`,
			spool.ModelError{Status: 400, Type: "BadRequestError", Message: "too long"},
			true,
		},
		"gone": {
			410, `{"error":"model was retired"}`, spool.ModelError{Status: 410, Message: "model was retired"}, true,
		},
		"no JSON":    {500, "<h1>oops</h1>\n", spool.ModelError{Status: 500, Message: "<h1>oops</h1>"}, false},
		"other JSON": {500, `{"detail":"x"}`, spool.ModelError{Status: 500, Message: `{"detail":"x"}`}, false},
		"empty":      {503, "", spool.ModelError{Status: 503, Message: "Service Unavailable"}, false},
		"key": {
			401, `{"error":"key sk-0123456789 is wrong, and so is team-secret"}`,
			spool.ModelError{Status: 401, Message: "key [redacted] is wrong, and so is [redacted]"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			config := openai.Config{APIKey: "sk-0123456789", Headers: map[string]string{"X-Team": "team-secret"}}
			_, err := stream(t, p.model(t, config), spool.ModelRequest{})
			if c.status == http.StatusNotFound {
				c.want.Message += " (POST " + p.URL + "/v1/chat/completions)"
			}
			if got := modelError(t, err); *got != c.want || got.Permanent() != c.permanent {
				t.Errorf("got %+v, permanent %t", *got, got.Permanent())
			}
		})
	}
}

func TestErrorsInTheStream(t *testing.T) {
	t.Parallel()

	for chunk, want := range map[string]spool.ModelError{
		`{"error":{"message":"down","code":502}}`:                {Status: 502, Message: "down"},
		`{"error":{"message":"full","type":"overloaded_error"}}`: {Type: "overloaded_error", Message: "full"},
		`{"error":"gone"}`: {Message: "gone"},
		`{"error":{"message":"long","code":"context_length_exceeded"}}`: {
			Type: "context_length_exceeded", Message: "long", ContextOverflow: true,
		},
		`{"object":"error","message":"x","code":40303}`: {Message: "x"},
		`{"error":{"message":"m","code":"server_error"},"choices":[{"finish_reason":"error"}]}`: {
			Type: "server_error", Message: "m",
		},
	} {
		_, err := say(t, textChunk("Half"), chunk, finishChunk("stop"), "[DONE]")
		if got := modelError(t, err); *got != want {
			t.Errorf("%s: got %+v", chunk, *got)
		}
	}
	_, err := say(t, textChunk("Half"), `{"choices":[{"delta":`)
	if got := modelError(t, err); got.Permanent() || !strings.Contains(got.Message, "malformed chunk") {
		t.Errorf("got %+v", got)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()

	at := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for value, want := range map[string][2]time.Duration{
		"7":                             {7 * time.Second, 7 * time.Second},
		"1.5":                           {1500 * time.Millisecond, 1500 * time.Millisecond},
		at:                              {80 * time.Second, 90 * time.Second},
		"Wed, 21 Oct 2015 07:28:00 GMT": {0, 0},
		"-3":                            {0, 0},
		"NaN":                           {0, 0},
		"soon":                          {0, 0},
		"1e300":                         {24 * time.Hour, 24 * time.Hour},
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
		if got := modelError(t, err).After; got < want[0] || got > want[1] {
			t.Errorf("%s: got %s", value, got)
		}
	}
}

// The key and the conversation stay with the host that was configured.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()

	other := newPeer(t, func(http.ResponseWriter, *http.Request, string) { t.Error("the other host got a request") })
	p := newPeer(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := stream(t, p.model(t, openai.Config{APIKey: "sk-0123456789"}), spool.ModelRequest{})
	if got := modelError(t, err); got.Status != http.StatusTemporaryRedirect || !strings.Contains(got.Message, "BaseURL") {
		t.Errorf("got %+v", got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(http.ResponseWriter, *http.Request, string) {})
	p.Close()
	m, err := openai.New(openai.Config{
		Model: "m", BaseURL: p.URL + "/v1?key=query-secret", Transport: new(http.Transport),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream(t, m, spool.ModelRequest{})
	if got := modelError(t, err); got.Permanent() || strings.Contains(err.Error()+got.Err.Error(), "query-secret") {
		t.Errorf("got %+v", got)
	}
}

// roundTripper answers without a network, so that time can be played.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTimeouts(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		pauses []time.Duration
		// slow is how long the caller takes over each event.
		slow time.Duration
		want string
	}{
		"headers":    {[]time.Duration{121 * time.Second}, 0, "within 2m0s"},
		"first byte": {[]time.Duration{0, 121 * time.Second}, 0, "silent for 2m0s"},
		"later byte": {[]time.Duration{0, 100 * time.Second, 61 * time.Second}, 0, "silent for 1m0s"},
		"slow, within bound": {
			[]time.Duration{119 * time.Second, 119 * time.Second, 59 * time.Second, 59 * time.Second}, 0, "",
		},
		"slow caller": {[]time.Duration{0, 0, 0, 0}, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				m, err := openai.New(openai.Config{Model: "m", Transport: paced(c.pauses)})
				if err != nil {
					t.Fatal(err)
				}
				var last error
				for event, err := range m.Stream(t.Context(), spool.ModelRequest{}) {
					last = err
					if _, ok := event.(spool.TextDelta); ok && c.slow > 0 {
						<-time.After(c.slow)
					}
				}
				if c.want == "" {
					if last != nil {
						t.Errorf("got %v", last)
					}
					return
				}
				if got := modelError(t, last); got.Permanent() || !strings.Contains(got.Message, c.want) ||
					!errors.Is(last, context.DeadlineExceeded) {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// paced returns a transport that takes the first pause before its headers and one of the
// others before each piece of the body, and then finishes.
func paced(pauses []time.Duration) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		wait := func(d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-r.Context().Done():
				return r.Context().Err()
			}
		}
		if err := wait(pauses[0]); err != nil {
			return nil, err
		}
		body, writer := io.Pipe()
		go func() {
			for _, d := range pauses[1:] {
				if wait(d) != nil {
					return
				}
				_, _ = io.WriteString(writer, "data: "+textChunk("a")+"\n\n")
			}
			_, _ = io.WriteString(writer, "data: "+finishChunk("stop")+"\n\ndata: [DONE]\n\n")
			_ = writer.Close()
		}()
		return &http.Response{StatusCode: http.StatusOK, Header: make(http.Header), Body: body}, nil
	}
}
