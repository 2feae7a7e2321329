package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/anthropic"
)

const modelName = "claude-test-4"

// newPeer starts a strict fake that records requests.
func newPeer(t *testing.T, answer func(fake.Request) fake.Answer) (*fake.Server, string) {
	t.Helper()

	server := fake.New(fake.Config{Answer: answer, Record: true})
	return server, serve(t, server).URL
}

func serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()

	web := httptest.NewServer(handler)
	// Who waits for what the server never sends has an end.
	limit := time.AfterFunc(2*testwait.Limit, func() {
		t.Errorf("a model server was used for %s", 2*testwait.Limit)
		web.CloseClientConnections()
	})
	t.Cleanup(func() { limit.Stop() })
	t.Cleanup(web.Close)
	return web
}

// newModel returns a model of a server.
func newModel(t *testing.T, url string, config anthropic.Config) *anthropic.Model {
	t.Helper()

	config.BaseURL = url
	if config.Model == "" {
		config.Model = modelName
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	m, err := anthropic.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// say returns a script of one answer.
func say(a fake.Answer) func(fake.Request) fake.Answer {
	return func(fake.Request) fake.Answer { return a }
}

func blocks(list ...fake.Block) fake.Answer { return fake.Answer{Blocks: list} }

// stream collects the events of one answer.
func stream(t *testing.T, m spool.Model, r spool.ModelRequest) (events []spool.ModelEvent, err error) {
	t.Helper()

	for event, e := range m.Stream(testwait.Context(t, "an answer"), r) {
		if e != nil {
			return events, e
		}
		events = append(events, event)
	}
	return events, nil
}

// only returns the events of one type.
func only[T spool.ModelEvent](events []spool.ModelEvent) []T {
	var out []T
	for _, e := range events {
		if got, ok := e.(T); ok {
			out = append(out, got)
		}
	}
	return out
}

func texts(events []spool.ModelEvent) string {
	var text strings.Builder
	for _, e := range only[spool.TextDelta](events) {
		text.WriteString(e.Text)
	}
	return text.String()
}

func finishOf(t *testing.T, events []spool.ModelEvent) spool.Finish {
	t.Helper()

	if len(events) == 0 {
		t.Fatal("no events")
	}
	finish, ok := events[len(events)-1].(spool.Finish)
	if !ok {
		t.Fatalf("the last event is %T", events[len(events)-1])
	}
	return finish
}

func user(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

func asks(texts ...string) spool.ModelRequest {
	var r spool.ModelRequest
	for _, text := range texts {
		r.Messages = append(r.Messages, user(text))
	}
	return r
}

// fold returns the content that is saved of an answer.
func fold(events []spool.ModelEvent) spool.Content {
	var content spool.Content
	last := func(kind spool.PartType) *spool.Part {
		if n := len(content) - 1; n >= 0 && content[n].Type == kind {
			return &content[n]
		}
		return nil
	}
	closed := true // the last part takes no more text
	extend := func(kind spool.PartType, text string) {
		if p := last(kind); p != nil && !closed {
			p.Text += text
		} else {
			content = append(content, spool.Part{Type: kind, Text: text})
		}
		closed = false
	}
	end := func(kind spool.PartType, provider []byte) {
		if p := last(kind); p != nil && !closed {
			p.Provider = provider
		} else if provider != nil {
			content = append(content, spool.Part{Type: kind, Provider: provider})
		}
		closed = true
	}
	for _, event := range events {
		switch e := event.(type) {
		case spool.TextDelta:
			extend(spool.PartText, e.Text)
		case spool.ReasoningDelta:
			extend(spool.PartReasoning, e.Text)
		case spool.TextEnd:
			end(spool.PartText, e.Provider)
		case spool.ReasoningEnd:
			end(spool.PartReasoning, e.Provider)
		case spool.ProviderPart:
			content, closed = append(content, spool.Part{Type: spool.PartProvider, Provider: e.Provider}), true
		case spool.ToolCallEnd:
			content, closed = append(content, spool.Part{
				Type: spool.PartToolCall, ToolCallID: e.ID, ToolName: e.Name, Args: []byte(e.Args), Provider: e.Provider,
			}), true
		}
	}
	return content
}

func answerOf(events []spool.ModelEvent) spool.Message {
	return spool.Message{Role: spool.RoleAssistant, Content: fold(events)}
}

// results answers all calls of a message.
func results(m spool.Message) spool.Message {
	out := spool.Message{Role: spool.RoleTool}
	for _, c := range m.ToolCalls() {
		out.Content = append(out.Content, spool.Part{
			Type: spool.PartToolResult, ToolCallID: c.ToolCallID, ToolName: c.ToolName, Result: []byte(`{"ok":true}`),
		})
	}
	return out
}
