package openapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/tool/openapi"
)

// books is a controller with parameters in each place and a body.
type books struct{}

type book struct {
	Title string   `json:"title"          maxLength:"20"`
	Tags  []string `json:"tags,omitempty"`
}

type bookIn struct {
	Shelf string   `path:"shelf"`
	Sort  []string `query:"sort"`
	Trace string   `header:"X-Trace"`
}

type newBook struct {
	bookIn
	book
}

func (books) Routes(r *rest.Routes) {
	rest.Get(r, "/shelves/{shelf}/books", func(_ context.Context, in bookIn) (string, error) {
		return in.Shelf + "|" + strings.Join(in.Sort, "+") + "|" + in.Trace, nil
	})
	rest.Post(r, "/shelves/{shelf}/books", func(_ context.Context, in newBook) (book, error) {
		return book{Title: in.Shelf + ": " + in.Title, Tags: in.Tags}, nil
	})
}

// TestRest uses an API that was made with package rest, by the document that it serves.
func TestRest(t *testing.T) {
	t.Parallel()

	api := rest.New(rest.Title("Books"))
	api.Register(books{}, rest.Tags("books"))
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	link := s.URL + "/openapi.json"
	text, err := openapi.Load(t.Context(), link, loopback)
	if err != nil {
		t.Fatal(err)
	}
	made, err := openapi.New(openapi.Config{
		Document: text, DocumentURL: link, Operations: []string{"tag:books"}, Egress: loopback,
		Headers: map[string]string{"X-Team": "blue"},
	})
	if err != nil || len(made) != 2 {
		t.Fatal(len(made), err)
	}
	for i, c := range []struct{ args, want string }{
		{`{"shelf":"a/b","sort":["x","y"],"X-Trace":"t"}`, `"a/b|x+y|t"`},
		{`{"shelf":"a","body":{"title":"T","tags":["n"]}}`, `{"title":"a: T","tags":["n"]}`},
	} {
		got, err := made[i].Call(t.Context(), spool.ToolCall{Args: json.RawMessage(c.args)})
		if err != nil || string(got) != c.want {
			t.Errorf("%s %s: %s, %v", made[i].Method, made[i].Path, got, err)
		}
	}
	_, err = made[1].Call(t.Context(), spool.ToolCall{
		Args: json.RawMessage(`{"shelf":"a","body":{"title":"` + strings.Repeat("T", 21) + `"}}`),
	})
	if spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), "argument body.title") {
		t.Errorf("a long title: %v", err)
	}
}

// TestOwnDocument starts a run of a server by the operation of its own document, and reads the thread.
func TestOwnDocument(t *testing.T) {
	t.Parallel()

	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}},
		Models: map[string]spool.Model{"m": spooltest.NewModel(spooltest.Say("hello"))}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	surface, err := server.New(e, server.Config{Authenticator: access.Anonymous("acme")})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(surface)
	t.Cleanup(func() {
		s.Close()
		if err := surface.Close(); err != nil {
			t.Error(err)
		}
	})
	text, err := os.ReadFile("../../spec/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	tools := open(t, openapi.Config{
		Document: text, Operations: []string{"*"}, BaseURL: s.URL, Egress: loopback,
		Auth: map[string]openapi.Credential{"bearer": {Token: "a-token-that-is-long"}},
	})
	if len(tools) < 30 {
		t.Errorf("there are only %d tools", len(tools))
	}
	for _, c := range []struct{ tool, args, want string }{
		{"startRun", `{"body":{"threadId":"t1","runId":"r1","prompt":"go"}}`, `"accepted":true,"threadId":"t1"`},
		{"getHistory", `{"threadId":"t1"}`, `"go"`},
		{"getRunOutcome", `{"runId":"r1"}`, `"QUEUED"`},
	} {
		got, err := tools[c.tool].Call(t.Context(),
			spool.ToolCall{RunID: "r", Step: 1, ID: spool.ToolCallID(c.tool), Args: json.RawMessage(c.args)})
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s: %s, %v", c.tool, got, err)
		}
	}
	if tools["startRun"].Idempotent || !tools["getHistory"].Idempotent {
		t.Error("the wrong tools are idempotent")
	}
}
