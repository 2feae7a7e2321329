package cloud_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/model/anthropic/cloud"
)

const secret = "aws-secret-key-0815"

// peer plays a cloud: it takes requests in the cloud's form, and lets the strict fake answer them.
type peer struct {
	*httptest.Server

	paths   []string
	headers []http.Header
	bodies  []string
}

// newPeer starts a cloud. ModelOf returns the model that a path names, and write the fake's answer in the form of the
// cloud.
func newPeer(
	t *testing.T, modelOf func(path string) string, write func(w http.ResponseWriter, answer *httptest.ResponseRecorder),
) *peer {
	t.Helper()

	behind := fake.New(fake.Config{Answer: fake.Echo})
	p := new(peer)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.paths, p.headers, p.bodies = append(p.paths, r.URL.Path), append(p.headers, r.Header.Clone()),
			append(p.bodies, string(raw))
		var fields map[string]any
		if json.Unmarshal(raw, &fields) != nil || fields["model"] != nil || fields["anthropic_version"] == nil {
			http.Error(w, `{"message":"not in the form of the cloud"}`, http.StatusBadRequest)
			return
		}
		fields["model"], fields["stream"] = modelOf(r.URL.Path), true
		body, err := json.Marshal(fields)
		if err != nil {
			return
		}
		inner := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/v1/messages", bytes.NewReader(body))
		inner.Header.Set("Anthropic-Version", "2023-06-01")
		answer := httptest.NewRecorder()
		behind.ServeHTTP(answer, inner)
		write(w, answer)
	}))
	t.Cleanup(p.Close)
	return p
}

// asEventStream writes an answer in the binary form of AWS.
func asEventStream(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	if answer.Code != http.StatusOK {
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, `{"message":"refused"}`)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	encoder := eventstream.NewEncoder()
	for line := range strings.Lines(answer.Body.String()) {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if !ok {
			continue
		}
		payload := `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(data)) + `"}`
		_ = encoder.Encode(w, message("event", ":event-type", "chunk", payload))
	}
}

func message(kind, name, value, payload string) eventstream.Message {
	return eventstream.Message{
		Headers: eventstream.Headers{
			{Name: ":message-type", Value: eventstream.StringValue(kind)},
			{Name: name, Value: eventstream.StringValue(value)},
		},
		Payload: []byte(payload),
	}
}

func asItIs(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// ask asks for an answer, and once more with the answer in the prompt.
func ask(t *testing.T, m spool.Model) {
	t.Helper()

	r := spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}}}
	for _, want := range []string{"You said: Hello", "You said: Again"} {
		answer := spool.Message{Role: spool.RoleAssistant}
		var thought, text strings.Builder
		for event, err := range m.Stream(t.Context(), r) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := event.(type) {
			case spool.ReasoningDelta:
				thought.WriteString(e.Text)
			case spool.ReasoningEnd:
				answer.Content = append(answer.Content,
					spool.Part{Type: spool.PartReasoning, Text: thought.String(), Provider: e.Provider})
			case spool.TextDelta:
				text.WriteString(e.Text)
			}
		}
		if text.String() != want || len(answer.Content) != 1 {
			t.Errorf("%q, %+v", text.String(), answer)
		}
		answer.Content = append(answer.Content, spool.Part{Type: spool.PartText, Text: text.String()})
		r.Messages = append(r.Messages, answer, spool.Message{Role: spool.RoleUser, Content: spool.TextContent("Again")})
	}
}

func credentials() aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: secret}, nil
	})
}

func config(model, url string) anthropic.Config {
	return anthropic.Config{
		Model: model, BaseURL: url, Thinking: anthropic.Thinking{Mode: anthropic.ThinkingAdaptive},
		Headers: map[string]string{"Anthropic-Beta": "one,two"},
	}
}

func TestBedrock(t *testing.T) {
	t.Parallel()

	const name = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	p := newPeer(t, func(path string) string { return strings.Split(path, "/")[2] }, asEventStream)
	m, err := cloud.NewBedrock(config(name, p.URL), aws.Config{Region: "eu-central-1", Credentials: credentials()})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, m)
	if p.paths[0] != "/model/"+name+"/invoke-with-response-stream" {
		t.Errorf("path %s", p.paths[0])
	}
	signature := p.headers[0].Get("Authorization")
	if !strings.HasPrefix(signature, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") ||
		!strings.Contains(signature, "/eu-central-1/bedrock/aws4_request") {
		t.Errorf("signed by %s", signature)
	}
	if !strings.Contains(p.bodies[0], `"anthropic_beta":["one","two"]`) ||
		strings.Contains(p.bodies[0], "eager_input_streaming") {
		t.Errorf("body %s", p.bodies[0])
	}
}

// The errors of Bedrock are those of its own interface.
func TestBedrockErrors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		write     func(w http.ResponseWriter)
		want      spool.ModelError
		permanent bool
	}{
		"overflow": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"message":"Input is too long for requested model."}`)
		}, spool.ModelError{Status: 400, Message: "Input is too long for requested model.", ContextOverflow: true}, true},
		"throttled": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
			_ = eventstream.NewEncoder().Encode(w,
				message("exception", ":exception-type", "throttlingException", `{"message":"Too many tokens."}`))
		}, spool.ModelError{Status: 429, Type: "throttlingException", Message: "Too many tokens."}, false},
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/other")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, spool.ModelError{Status: 307, Message: "redirected to /other, which is not followed; set BaseURL"}, true},
		"busy": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"message":"Too many connections."}`)
		}, spool.ModelError{Status: 503, Message: "Too many connections."}, false},
		"endless": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			for err := error(nil); err == nil; {
				_, err = io.WriteString(w, strings.Repeat("x", 64<<10))
			}
		}, spool.ModelError{}, true},
		"garbage": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
			_, _ = io.WriteString(w, strings.Repeat("no event stream", 100))
		}, spool.ModelError{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPeer(t, func(string) string { return "m" },
				func(w http.ResponseWriter, _ *httptest.ResponseRecorder) { c.write(w) })
			m, err := cloud.NewBedrock(config("m", p.URL), aws.Config{Region: "eu-central-1", Credentials: credentials()})
			if err != nil {
				t.Fatal(err)
			}
			got := failure(t, m)
			if got.Permanent() != c.permanent || strings.Contains(got.Error(), secret) ||
				c.want.Message != "" && *got != c.want {
				t.Errorf("got %+v", got)
			}
			if len(p.paths) != 1 {
				t.Errorf("%d requests", len(p.paths))
			}
		})
	}
}

func failure(t *testing.T, m spool.Model) *spool.ModelError {
	t.Helper()

	var last error
	r := spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent("Hello")}}}
	for _, err := range m.Stream(t.Context(), r) {
		last = err
	}
	got, ok := errors.AsType[*spool.ModelError](last)
	if !ok {
		t.Fatalf("got %v", last)
	}
	return got
}

func TestVertex(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(path string) string {
		return strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ":streamRawPredict")
	}, asItIs)
	m, err := cloud.NewVertex(t.Context(), config("claude-sonnet-4-5@20250929", p.URL), cloud.VertexAccess{
		Region: "europe-west1", Project: "project-1",
		Credentials: &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "token-1"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, m)
	if want := "/v1/projects/project-1/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"; p.paths[0] != want {
		t.Errorf("path %s", p.paths[0])
	}
	if got := p.headers[0].Get("Authorization"); got != "Bearer token-1" {
		t.Errorf("authorization %q", got)
	}
}

// A silent cloud, and a caller that goes away, end an answer in time.
func TestIdle(t *testing.T) {
	t.Parallel()

	gone := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(web.Close)
	c := config("m", web.URL)
	c.HeaderTimeout = 50 * time.Millisecond
	m, err := cloud.NewBedrock(c, aws.Config{Region: "eu-central-1", Credentials: credentials()})
	if err != nil {
		t.Fatal(err)
	}
	if got := failure(t, m); got.Permanent() || !errors.Is(got, context.DeadlineExceeded) {
		t.Errorf("got %+v", got)
	}
	<-gone
}

// The SDK can find keys, URLs, headers and whole profiles by itself. The models must not.
func TestEnvironmentIsNotRead(t *testing.T) { //nolint:paralleltest // it sets the environment
	dir := t.TempDir()
	profile := filepath.Join(dir, "configs", "default.json")
	if err := os.MkdirAll(filepath.Dir(profile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(
		profile, []byte(`{"base_url":"http://127.0.0.1:1","api_key":"sk-profile-0815","authentication":{"type":"api_key"}}`),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-environment-0815", "ANTHROPIC_AUTH_TOKEN": "token-environment-0815",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_CUSTOM_HEADERS": "X-Env: yes", "ANTHROPIC_PROFILE": "default",
		"ANTHROPIC_CONFIG_DIR": dir,
	} {
		t.Setenv(name, value)
	}
	for name, open := range clouds(t, "eu-central-1") {
		var got *http.Request
		m, err := open(anthropic.Config{Model: "m", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r
			return nil, errors.New("no route")
		})})
		if err != nil {
			t.Fatal(err)
		}
		if err := failure(t, m); err.Message != "reach "+strings.ToLower(name)+": no route" {
			t.Error(err)
		}
		if got.URL.Scheme != "https" || strings.Contains(got.Header.Get("Authorization"), "environment") {
			t.Errorf("%s: %s, %v", name, got.URL, got.Header)
		}
		for _, header := range []string{"X-Api-Key", "X-Env", "Traceparent"} {
			if got.Header.Get(header) != "" {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
	}
}

func TestWrongAccess(t *testing.T) {
	t.Parallel()

	good := &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "t"})}
	for want, open := range map[string]func() (*anthropic.Model, error){
		"APIKey is not for Bedrock": func() (*anthropic.Model, error) {
			return cloud.NewBedrock(anthropic.Config{Model: "m", APIKey: "x"}, aws.Config{})
		},
		"Region of": func() (*anthropic.Model, error) { return cloud.NewBedrock(anthropic.Config{Model: "m"}, aws.Config{}) },
		"Credentials of": func() (*anthropic.Model, error) {
			return cloud.NewBedrock(anthropic.Config{Model: "m"}, aws.Config{Region: "r"})
		},
		"Model is required": func() (*anthropic.Model, error) {
			return cloud.NewBedrock(anthropic.Config{}, aws.Config{Region: "r", Credentials: credentials()})
		},
		"APIKey is not for Vertex": func() (*anthropic.Model, error) {
			return cloud.NewVertex(t.Context(), anthropic.Config{APIKey: "x"}, cloud.VertexAccess{})
		},
		"Project of": func() (*anthropic.Model, error) {
			return cloud.NewVertex(t.Context(), anthropic.Config{}, cloud.VertexAccess{Region: "r", Credentials: good})
		},
	} {
		if _, err := open(); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
