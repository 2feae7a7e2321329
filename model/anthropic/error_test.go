package anthropic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
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

	type body = func(kind, message string) *fake.Error
	status := func(status int) body {
		return func(kind, message string) *fake.Error {
			return &fake.Error{Status: status, Type: kind, Message: message}
		}
	}
	spent := status(429)("rate_limit_error", "You have reached your limit.")
	spent.Header = http.Header{"X-Should-Retry": {"false"}}
	for name, c := range map[string]struct {
		error     *fake.Error
		want      spool.ModelError
		permanent bool
	}{
		"overflow": {
			status(400)("invalid_request_error", "prompt is too long: 210032 tokens > 200000 maximum"),
			spool.ModelError{
				Status: 400, Type: "invalid_request_error", Message: "prompt is too long: 210032 tokens > 200000 maximum",
				ContextOverflow: true,
			},
			true,
		},
		"with the answer": {
			status(400)("invalid_request_error", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
			spool.ModelError{
				Status: 400, Type: "invalid_request_error",
				Message: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", ContextOverflow: true,
			},
			true,
		},
		"bytes": {
			status(413)("request_too_large", "Request exceeds the maximum size"),
			spool.ModelError{
				Status: 413, Type: "request_too_large", Message: "Request exceeds the maximum size", ContextOverflow: true,
			},
			true,
		},
		"other": {
			status(400)("invalid_request_error", "max_tokens: 99999 > 64000"),
			spool.ModelError{Status: 400, Type: "invalid_request_error", Message: "max_tokens: 99999 > 64000"},
			true,
		},
		"overloaded": {
			status(529)("overloaded_error", "Overloaded"),
			spool.ModelError{Status: 529, Type: "overloaded_error", Message: "Overloaded"},
			false,
		},
		"spent": {
			spent,
			spool.ModelError{Status: 429, Type: "rate_limit_error", Message: "You have reached your limit.", NoRetry: true},
			true,
		},
		"text": {
			&fake.Error{Status: 502, Body: "<h1>oops</h1>\n"},
			spool.ModelError{Status: 502, Message: "<h1>oops</h1>"},
			false,
		},
		"cloud": {
			&fake.Error{Status: 403, Body: `{"message":"no access"}`},
			spool.ModelError{Status: 403, Message: "no access"},
			true,
		},
		"no text": {&fake.Error{Status: 529, Body: " "}, spool.ModelError{Status: 529, Message: "status 529"}, false},
		"key": {
			&fake.Error{Status: 401, Body: `{"error":"key sk-0123456789 is wrong, and so is team-secret and salt-secret"}`},
			spool.ModelError{Status: 401, Message: "key [redacted] is wrong, and so is [redacted] and [redacted]"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, url := newPeer(t, say(fake.Answer{Error: c.error}))
			config := anthropic.Config{APIKey: "sk-0123456789", Headers: map[string]string{"X-Team": "team-secret"}}
			r := asks("Hi?")
			r.Extra = map[string]any{"auth": "salt-secret"}
			_, err := stream(t, newModel(t, url, config), r)
			if got := modelError(t, err); *got != c.want || got.Permanent() != c.permanent {
				t.Errorf("got %+v, permanent %t", *got, got.Permanent())
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestErrorsInTheStream(t *testing.T) {
	t.Parallel()

	for kind, want := range map[string]struct {
		status    int
		permanent bool
	}{
		"overloaded_error": {529, false}, "rate_limit_error": {429, false}, "api_error": {500, false},
		"timeout_error": {504, false}, "invalid_request_error": {400, true}, "throttlingException": {429, false},
		"new_error": {0, false},
	} {
		a := blocks(fake.Text("Half"))
		a.Fault, a.After, a.Late = fake.FaultError, 4, fake.Error{Type: kind, Message: "oh, sk-0123456789"}
		_, url := newPeer(t, say(a))
		_, err := stream(t, newModel(t, url, anthropic.Config{APIKey: "sk-0123456789"}), asks("Hi?"))
		got := modelError(t, err)
		if got.Status != want.status || got.Type != kind || got.Message != "oh, [redacted]" ||
			got.Permanent() != want.permanent {
			t.Errorf("%s: got %+v, permanent %t", kind, *got, got.Permanent())
		}
	}
}

// The key and the conversation stay with the host that was configured.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()

	other := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the other host got a request")
	}))
	first := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	_, err := stream(t, newModel(t, first.URL, anthropic.Config{APIKey: "sk-0123456789"}), asks("Hi?"))
	if got := modelError(t, err); got.Status != http.StatusTemporaryRedirect || !strings.Contains(got.Message, "BaseURL") {
		t.Errorf("got %+v", got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()

	web := serve(t, http.NotFoundHandler())
	web.Close()
	_, err := stream(t, newModel(t, web.URL+"/?key=query-secret", anthropic.Config{}), asks("Hi?"))
	if got := modelError(t, err); got.Permanent() || strings.Contains(err.Error()+got.Err.Error(), "query-secret") ||
		strings.Contains(err.Error(), "/v1") {
		t.Errorf("got %+v", got)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()

	think := func(t anthropic.Thinking) anthropic.Config { return anthropic.Config{Model: "m", Thinking: t} }
	for want, config := range map[string]anthropic.Config{
		"Model is required":                    {},
		"BaseURL is not an http or https URL":  {Model: "m", BaseURL: "localhost:80"},
		"BaseURL must not have a user":         {Model: "m", BaseURL: "http://a:b@localhost"},
		"APIKey has a blank":                   {Model: "m", APIKey: "a b"},
		"ContextWindow must not be negative":   {Model: "m", ContextWindow: -1},
		"MaxOutputTokens must not be negative": {Model: "m", MaxOutputTokens: -1},
		"Cache must be":                        {Model: "m", Cache: "2h"},
		"Output must be":                       {Model: "m", Output: "json"},
		"Thinking.Mode must be":                think(anthropic.Thinking{Mode: "on"}),
		"Thinking.Budget must be at least 1024": think(anthropic.Thinking{
			Mode: anthropic.ThinkingBudget, Budget: 1023,
		}),
		"Thinking.Budget is only for": think(anthropic.Thinking{
			Mode: anthropic.ThinkingAdaptive, Budget: 2000,
		}),
		"Thinking.Display is only for": think(anthropic.Thinking{Display: anthropic.DisplayOmitted}),
		"Thinking.Display must be": think(anthropic.Thinking{
			Mode: anthropic.ThinkingAdaptive, Display: "all",
		}),
		"MaxOutputTokens must be larger than Thinking.Bu": {Model: "m", MaxOutputTokens: 2000, Thinking: budget},
	} {
		if _, err := anthropic.New(config); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]int{
		"claude-sonnet-4-5": 200_000, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0": 200_000,
		"claude-opus-4-1@20250805": 200_000, "other": 0,
	} {
		m, err := anthropic.New(anthropic.Config{Model: name})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Describe().Window("none", 0); got != want {
			t.Errorf("%s: %d", name, got)
		}
	}
}
