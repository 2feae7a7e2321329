package server_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/aisdkapi"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The fields of a start that a client may send, by the route. The routes refuse state and hostState. Whoever may start
// runs may send each of the others, so what only the host may say is none of them: who starts a run, its scopes and its
// state.
const (
	startOptions = "agent maxSteps model output providerOptions webhook"
	runFields    = "attachments clientMessageId costBudgetMicros editMessageId hostState labels prompt runId startAt state threadId title tokenBudget toolCallBudget wallTimeMs whenBusy"
	aguiFields   = "onDisconnect state whenBusy"
	chatFields   = "answers hostState id messageId messages state tools trigger whenBusy"
)

func TestStartFields(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		body any
		want string
	}{
		{wire.StartOptions{}, startOptions},
		{runs.RunRequest{}, startOptions + " " + runFields},
		{agui.Wishes{}, startOptions + " " + aguiFields},
		{aisdkapi.ChatRequest{}, startOptions + " " + chatFields},
	} {
		var got []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.body)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous && name != "-" {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a client may send other fields in %T (-want +got):\n%s", c.body, diff)
		}
	}
}

// Names of what only the host says do nothing in a request.
func TestStartOfTheHost(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{HostState: func(*http.Request, access.Principal) (json.RawMessage, error) {
		return json.RawMessage(`{"account":1}`), nil
	}})
	b.work(t)
	const host = `,"by":"eve","startedBy":"eve","owner":"eve","subject":"eve","tenant":"b","scopes":["admin"],"mayNotStop":true,` +
		`"idempotencyKey":"k","startKey":"k","startHash":"h","client":{"context":[{"value":"v"}]},"options":{"maxSteps":1},"host":{"by":"eve"}}`
	type said struct {
		Run            wire.Run
		Owner, Key     string
		Scopes         []string
		HostState      string
		Client, Others bool
	}
	start := func(thread, path, body string) (s said) {
		got := b.do(t, call{
			method: http.MethodPost, path: path, token: tokenA, body: strings.ReplaceAll(body, "THREAD", thread),
		})
		if got.status/100 != 2 {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		err := b.backend.Store.View(t.Context(), spool.ThreadKey{Tenant: "a", ID: spool.ThreadID(thread)},
			func(v store.View) error {
				th, err := v.Thread()
				if err != nil {
					return err
				}
				rows, err := v.Runs(wire.RunQuery{Whole: true})
				if err != nil || len(rows) != 1 {
					t.Errorf("%s: %d runs", path, len(rows))
					return err
				}
				r := rows[0]
				s = said{
					Run:   wire.Run{Tenant: r.Tenant, Agent: r.Agent, Model: r.Model, MaxSteps: r.MaxSteps, StartedBy: r.StartedBy},
					Owner: th.Owner, Key: r.StartKey + r.StartHash, Scopes: r.Scopes, HostState: string(r.HostState),
					Client: r.Client != nil, Others: r.Options != nil,
				}
				return nil
			})
		if err != nil {
			t.Error(path, err)
		}
		return s
	}
	for name, c := range map[string][2]string{
		"run": {runPath, `{"threadId":"THREAD","prompt":"hi"`},
		"ag-ui": {
			"/api/agent/ag-ui",
			`{"threadId":"THREAD","runId":"THREAD","messages":[{"id":"m","role":"user","content":"hi"}],"forwardedProps":{"spool":{"agent":""`,
		},
		"ai-sdk": {chatPath, `{"id":"THREAD","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}]`},
	} {
		end := ""
		if name == "ag-ui" {
			end = "}}"
		}
		plain := start(name, c[0], c[1]+"}"+end)
		if plain.Run.StartedBy == "" || plain.HostState == "" {
			t.Errorf("%s: the host has said nothing: %+v", name, plain)
		}
		if diff := cmp.Diff(plain, start(name+"-host", c[0], c[1]+host+end)); diff != "" {
			t.Errorf("%s takes what the host says from a client (-plain +got):\n%s", name, diff)
		}
	}
}
