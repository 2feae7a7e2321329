package command

import (
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// TestMoveWebhooks moves an endpoint. It gets no events of the other database, unless it should go on there.
func TestMoveWebhooks(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	endpointIn(t, data, "acme")
	file := filepath.Join(dir, "spool.jsonl")
	if got := command(nil, "export", "--data", data, file); got.code != exitOK {
		t.Fatalf("%+v", got)
	}

	off, kept := t.TempDir(), t.TempDir()
	endpointIn(t, kept, "other") // the row that lists the tenants is there already
	for range 2 {
		if got := command(nil, "import", "--data", off, file); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		if got := command(nil, "import", "--keep-webhooks", "--data", kept, file); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
	for folder, want := range map[string]struct {
		disabled bool
		events   int
	}{off: {true, 0}, kept: {false, 1}} {
		e, done := endpointed(t, folder)
		got, err := e.Webhook(t.Context(), "acme", "billing")
		if err != nil || got.DisabledAt.IsZero() == want.disabled || (got.DisabledReason != "") != want.disabled {
			t.Errorf("the endpoint is %+v, %v", got, err)
		}
		key := spool.ThreadKey{Tenant: "acme", ID: "t"}
		if _, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "Hello"}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Stop(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		events, err := e.Jobs(t.Context(), "acme", wire.JobQuery{Subject: "billing"})
		if err != nil || len(events) != want.events {
			t.Errorf("the events that wait are %+v, %v", events, err)
		}
		if want.disabled {
			on := false
			got, err = e.ChangeWebhook(t.Context(), "acme", "billing", wire.WebhookChange{Disabled: &on})
			if err != nil || !got.DisabledAt.IsZero() {
				t.Errorf("enabled, the endpoint is %+v, %v", got, err)
			}
		}
		done()
	}
}

// endpointIn makes an endpoint in the database of a folder.
func endpointIn(t *testing.T, data string, tenant spool.Tenant) {
	t.Helper()
	e, done := endpointed(t, data)
	defer done()
	_, err := e.CreateWebhook(t.Context(), tenant, wire.WebhookCreate{Name: "billing", URL: "https://hooks.example.com/"})
	if err != nil {
		t.Fatal(err)
	}
}

// endpointed returns an engine over a database of a folder that can open the secrets of endpoints.
func endpointed(t *testing.T, data string) (e *engine.Engine, done func()) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(data, databaseName), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": spooltest.NewModel()},
	}
	c.SingleProcess = true
	if c.Webhooks.Sender, err = webhook.NewSender(webhook.Config{}); err != nil {
		t.Fatal(err)
	}
	if c.Webhooks.Vault, err = server.NewVault([][]byte{[]byte("0123456789abcdef0123456789abcdef")}); err != nil {
		t.Fatal(err)
	}
	if e, err = engine.New(db.Backend(), c); err != nil {
		t.Fatal(err)
	}
	return e, func() {
		e.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
