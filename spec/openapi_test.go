package spec_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

var update = flag.Bool("update", false, "write openapi.json and the tables of events.md again")

// The document of this folder is the one that a server with tokens serves.
func TestOpenAPI(t *testing.T) {
	t.Parallel()

	got := document(t)
	if !bytes.Equal(got, document(t)) {
		t.Fatal("two servers of one configuration have two documents")
	}
	if *update {
		if err := os.WriteFile("openapi.json", got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Error("openapi.json is not what the server says; write it with: go test ./spec -run OpenAPI -update")
	}
}

func document(t *testing.T) []byte {
	t.Helper()

	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	auth, err := access.Tokens(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(e, server.Config{Authenticator: auth})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text, err := s.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
