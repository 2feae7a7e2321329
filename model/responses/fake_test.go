package responses_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/responses"
)

// serve starts a strict server that answers by a script.
func serve(t *testing.T, script func(r *fake.Request) fake.Answer) (*fake.Server, *httptest.Server) {
	t.Helper()

	f := fake.New(script)
	return f, listen(t, f)
}

func listen(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()

	server := httptest.NewServer(handler)
	limit := time.AfterFunc(2*testwait.Limit, func() {
		t.Errorf("a model server was used for %s", 2*testwait.Limit)
		server.CloseClientConnections()
	})
	t.Cleanup(func() { limit.Stop() })
	t.Cleanup(server.Close)
	return server
}

// always answers each request in the same way.
func always(items ...fake.Item) func(*fake.Request) fake.Answer {
	return func(*fake.Request) fake.Answer { return fake.Answer{Items: items} }
}

// open returns a model of a server.
func open(t *testing.T, server *httptest.Server, config responses.Config) *responses.Model {
	t.Helper()

	config.BaseURL = server.URL + "/v1"
	if config.Model == "" {
		config.Model = "test-model"
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	m, err := responses.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask returns the events of an answer, and its error.
func ask(ctx context.Context, m spool.Model, r spool.ModelRequest) ([]spool.ModelEvent, error) {
	var events []spool.ModelEvent
	for event, err := range m.Stream(ctx, r) {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	return events, nil
}

func mustAsk(t *testing.T, m spool.Model, r spool.ModelRequest) []spool.ModelEvent {
	t.Helper()

	events, err := ask(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func hello() spool.ModelRequest {
	return spool.ModelRequest{Messages: []spool.Message{user("Hello?")}}
}

func user(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

func only[T spool.ModelEvent](events []spool.ModelEvent) []T {
	var out []T
	for _, event := range events {
		if e, ok := event.(T); ok {
			out = append(out, e)
		}
	}
	return out
}

func finishOf(t *testing.T, events []spool.ModelEvent) spool.Finish {
	t.Helper()

	all := only[spool.Finish](events)
	if len(all) != 1 || events[len(events)-1] != spool.ModelEvent(all[0]) {
		t.Fatalf("%d finishes in %v", len(all), events)
	}
	return all[0]
}

func textOf(events []spool.ModelEvent) string {
	var b strings.Builder
	for _, d := range only[spool.TextDelta](events) {
		b.WriteString(d.Text)
	}
	return b.String()
}

func reasoningOf(events []spool.ModelEvent) string {
	var b strings.Builder
	for _, d := range only[spool.ReasoningDelta](events) {
		b.WriteString(d.Text)
	}
	return b.String()
}

func modelError(t *testing.T, err error) *spool.ModelError {
	t.Helper()

	m, ok := errors.AsType[*spool.ModelError](err)
	if !ok {
		t.Fatalf("got %v, want a ModelError", err)
	}
	return m
}

// content folds the events of an answer into a message, as the engine does.
func content(events []spool.ModelEvent) spool.Content {
	var c spool.Content
	open := spool.PartType("")
	extend := func(kind spool.PartType, text string) {
		if open != kind {
			c = append(c, spool.Part{Type: kind})
		}
		open = kind
		c[len(c)-1].Text += text
	}
	for _, event := range events {
		switch e := event.(type) {
		case spool.TextDelta:
			extend(spool.PartText, e.Text)
		case spool.ReasoningDelta:
			extend(spool.PartReasoning, e.Text)
		case spool.TextEnd:
			c[len(c)-1].Provider, open = e.Provider, ""
		case spool.ReasoningEnd:
			if open != spool.PartReasoning {
				c = append(c, spool.Part{Type: spool.PartReasoning})
			}
			c[len(c)-1].Provider, open = e.Provider, ""
		case spool.ProviderPart:
			c, open = append(c, spool.Part{Type: spool.PartProvider, Provider: e.Provider}), ""
		case spool.FileMade:
			c, open = append(c, spool.Part{
				Type: spool.PartImage, Image: "data:" + e.MediaType + ";base64," + base64.StdEncoding.EncodeToString(e.Data),
				MIMEType: e.MediaType, Provider: e.Provider,
			}), ""
		case spool.ToolCallEnd:
			c, open = append(c, spool.Part{
				Type: spool.PartToolCall, ToolCallID: e.ID, ToolName: e.Name, Args: []byte(e.Args), Provider: e.Provider,
			}), ""
		}
	}
	return c
}

// next returns a request that goes on after an answer: with the results of its calls, or with another turn.
func next(r spool.ModelRequest, answer spool.Content) spool.ModelRequest {
	r.Messages = append(slices.Clone(r.Messages), spool.Message{Role: spool.RoleAssistant, Content: answer})
	results := spool.Message{Role: spool.RoleTool}
	for _, p := range (spool.Message{Content: answer}).ToolCalls() {
		results.Content = append(results.Content, spool.Part{
			Type: spool.PartToolResult, ToolCallID: p.ToolCallID, ToolName: p.ToolName, Result: []byte(`{"ok":true}`),
		})
	}
	if len(results.Content) > 0 {
		r.Messages = append(r.Messages, results)
	} else {
		r.Messages = append(r.Messages, user("Go on."))
	}
	return r
}
