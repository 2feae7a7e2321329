package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/openai"
	"github.com/spoolhq/spool/model/openai"
)

// echoTool is the tool of the matrix.
var echoTool = []spool.ToolSpec{{Name: "echo", Description: "Repeats the text.", Parameters: json.RawMessage(
	`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)}}

// TestMatrix runs each profile against a strict server that speaks the profile's dialect and checks what comes back.
func TestMatrix(t *testing.T) {
	t.Parallel()

	for _, d := range fake.Dialects() {
		t.Run(d.Profile, func(t *testing.T) {
			t.Parallel()

			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				d.ServeHTTP(&watched{w, t, d.Older}, r)
			}))
			t.Cleanup(server.Close)
			transport := new(http.Transport)
			t.Cleanup(transport.CloseIdleConnections)
			m, err := openai.New(openai.Config{
				Model: d.Model, Profile: d.Profile, BaseURL: server.URL + "/v1", Transport: transport,
			})
			if err != nil {
				t.Fatal(err)
			}
			runMatrix(t, m, &d)
		})
	}
	t.Run("live", func(t *testing.T) {
		t.Parallel()

		tried := 0
		for _, d := range fake.Dialects() {
			if m := live(t, d); m != nil {
				tried++
				runMatrix(t, m, nil)
			}
		}
		if tried == 0 {
			t.Skip("no SPOOL_LIVE_<PROFILE> has a key")
		}
	})
}

// watched fails the test when the server refuses a request: a profile spares the refusal.
type watched struct {
	http.ResponseWriter

	t *testing.T
	// may allows refusals.
	may bool
}

func (w *watched) WriteHeader(status int) {
	if !w.may {
		w.t.Errorf("the server answers with %d", status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// runMatrix runs a thread of two steps, a bounded answer and a thread of another provider. With a dialect, it also
// checks what the model makes of the answers, and each finish word.
func runMatrix(t *testing.T, m *openai.Model, d *fake.Dialect) {
	t.Helper()

	asks := []spool.Message{userSays("Call echo with an emoji.")}
	first := answerOf(t, m, spool.ModelRequest{Messages: asks, Tools: echoTool})
	calls := first.ToolCalls()
	if len(calls) == 0 {
		t.Fatalf("no call in %+v", first)
	}
	steps := slices.Concat(asks, []spool.Message{first, resultOf(calls[0])})
	second := answerOf(t, m, spool.ModelRequest{Messages: steps, Tools: echoTool})
	// A third request has the answer without calls.
	answerOf(t, m, spool.ModelRequest{Messages: append(steps, second, userSays("Call echo again.")), Tools: echoTool})
	// A message that steers a run comes directly behind results, and so does the one that asks for the last answer.
	answerOf(t, m, spool.ModelRequest{
		Messages: append(steps, userSays("Call echo again, and then say a word.")), Tools: echoTool,
	})
	last := answerOf(t, m, spool.ModelRequest{
		Messages: append(steps, userSays("Say a word.")), Tools: echoTool, NoCalls: true,
	})
	if len(last.ToolCalls()) > 0 || last.Text() == "" {
		t.Errorf("the last answer is %+v", last)
	}

	if answer := answerOf(
		t, m, spool.ModelRequest{Messages: []spool.Message{userSays("Say a word.")}, MaxOutputTokens: 2048},
	); answer.Text() == "" {
		t.Errorf("the bounded answer is %+v", answer)
	}
	answerOf(t, m, spool.ModelRequest{Messages: foreignThread(), Tools: echoTool})
	if d == nil {
		return
	}
	want := fake.DialectThought
	if d.Thinks == "" {
		want = ""
	}
	for i, message := range []spool.Message{first, second} {
		if got := reasoningIn(message); got != want {
			t.Errorf("the reasoning %d is %q, want %q", i, got, want)
		}
	}
	if calls[0].ToolName != "echo" || string(calls[0].Args) != fake.DialectArgs || second.Text() != fake.DialectText ||
		first.Text() != "" {
		t.Errorf("got the call %s %s, and the text %q", calls[0].ToolName, calls[0].Args, second.Text())
	}
	for word, meaning := range d.FinishWords() {
		events, err := stream(t, m, spool.ModelRequest{Messages: []spool.Message{userSays("end as " + word)}})
		if meaning == "broken" {
			if e, ok := errors.AsType[*spool.ModelError](err); !ok || e.Permanent() || !strings.Contains(e.Message, word) {
				t.Errorf("%s: %v", word, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", word, err)
		}
		finish := finishOf(t, events)
		if string(finish.Reason) != meaning {
			t.Errorf("%q means %q, want %q", word, finish.Reason, meaning)
		}
		if u := finish.Usage; u.Input == nil || u.Output == nil || *u.Input != fake.DialectPrompt ||
			*u.Output != fake.DialectAnswer+fake.DialectReasoning {
			t.Errorf("%q has the usage %+v", word, u)
		}
	}
}

func userSays(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

func resultOf(call spool.Part) spool.Message {
	return spool.Message{Role: spool.RoleTool, Content: spool.Content{
		{Type: spool.PartToolResult, ToolCallID: call.ToolCallID, ToolName: call.ToolName, Result: json.RawMessage(`"done"`)},
	}}
}

// foreignThread is a thread of another provider: reasoning with a signature, calls that were made up, and ids of a
// form that few servers take.
func foreignThread() []spool.Message {
	call := func(id spool.ToolCallID, name string) spool.Part {
		return spool.Part{Type: spool.PartToolCall, ToolCallID: id, ToolName: name, Args: json.RawMessage(`{"text":"a"}`)}
	}
	one, two := call("toolu_01AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", "echo"),
		call("functions.echo:1", "no such<|channel|>tool")
	thought := spool.Part{
		Type: spool.PartReasoning, Text: "Theirs.",
		Provider: json.RawMessage(`{"anthropic":{"model":"claude","signature":"c2ln"}}`),
	}
	return []spool.Message{
		userSays("Look."),
		{Role: spool.RoleAssistant, Content: spool.Content{thought, {Type: spool.PartText, Text: "I look."}, one, two}},
		{Role: spool.RoleTool, Content: append(resultOf(one).Content, resultOf(two).Content...)},
		{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartText, Text: "Seen."}}},
		userSays("Say a word."),
	}
}

// answerOf returns an answer as the engine keeps it.
func answerOf(t *testing.T, m *openai.Model, r spool.ModelRequest) spool.Message {
	t.Helper()

	events, err := stream(t, m, r)
	if err != nil {
		t.Fatal(err)
	}
	finishOf(t, events)
	out := spool.Message{Role: spool.RoleAssistant}
	add := func(kind spool.PartType, text string) {
		if n := len(out.Content) - 1; n < 0 || out.Content[n].Type != kind {
			out.Content = append(out.Content, spool.Part{Type: kind})
		}
		out.Content[len(out.Content)-1].Text += text
	}
	for _, event := range events {
		switch e := event.(type) {
		case spool.TextDelta:
			add(spool.PartText, e.Text)
		case spool.ReasoningDelta:
			add(spool.PartReasoning, e.Text)
		case spool.ReasoningEnd:
			if e.Provider != nil {
				add(spool.PartReasoning, "")
				out.Content[len(out.Content)-1].Provider = e.Provider
			}
		case spool.ToolCallEnd:
			out.Content = append(out.Content, spool.Part{
				Type: spool.PartToolCall, ToolCallID: e.ID, ToolName: e.Name, Args: json.RawMessage(e.Args), Provider: e.Provider,
			})
		default:
		}
	}
	return out
}

func reasoningIn(message spool.Message) string {
	var b strings.Builder
	for _, p := range message.Content {
		if p.Type == spool.PartReasoning {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// live returns a model of the service itself, or nil without a key: SPOOL_LIVE_DEEPSEEK=key, and further variables with
// the same beginning for the _URL and the _MODEL. SPOOL_LIVE_OUT names a folder for a recording, which has no headers.
func live(t *testing.T, d fake.Dialect) *openai.Model {
	t.Helper()

	name := "SPOOL_LIVE_" + strings.ToUpper(strings.ReplaceAll(d.Profile, "-", "_"))
	key := os.Getenv(name)
	if key == "" {
		return nil
	}
	model := d.Model
	if set := os.Getenv(name + "_MODEL"); set != "" {
		model = set
	}
	m, err := openai.New(openai.Config{
		Model: model, APIKey: key, Profile: d.Profile, BaseURL: os.Getenv(name + "_URL"),
		Transport: &recorder{profile: d.Profile, secret: key},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// The recording of a live run has what was said, and not the key.
func TestLive(t *testing.T) {
	d := fake.Dialects()[0]
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	t.Setenv("SPOOL_LIVE_OUT", folder)
	t.Setenv("SPOOL_LIVE_DEEPSEEK", "sk-of-the-service")
	t.Setenv("SPOOL_LIVE_DEEPSEEK_URL", server.URL+"/v1?key=sk-of-the-service")
	runMatrix(t, live(t, d), nil)
	record, err := os.ReadFile(filepath.Join(folder, "deepseek.txt"))
	if err != nil || !bytes.Contains(record, []byte(`"reasoning_content":"Thinking`)) ||
		bytes.Contains(record, []byte("sk-of")) {
		t.Errorf("the recording is %s, %v", record, err)
	}
}

// recorder appends the bodies of a conversation to a file, without the key.
type recorder struct{ profile, secret string }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent []byte
	if request.Body != nil {
		var err error
		if sent, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	folder := os.Getenv("SPOOL_LIVE_OUT")
	if err != nil || folder == "" {
		return response, err
	}
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(got))
	file, err := os.OpenFile(filepath.Join(folder, r.profile+".txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	record := string(sent) + "\n\n" + response.Status + "\n" + string(got) + "\n\n"
	_, err = io.WriteString(file, strings.ReplaceAll(record, r.secret, "[key]"))
	return response, err
}
