package intake

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/admission"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// desk is a handler over one thread, and a request that it accepts.
type desk struct {
	*Handler

	rows  *maptx.Tx
	store *startStore
	r     wire.StartRequest
	key   spool.ThreadKey
}

// startStore has what a start reads outside its thread.
type startStore struct {
	maptx.Store

	started []store.RunRow // by the keys of their starts
	ready   int
	fails   error // of Runs
}

func (s *startStore) Runs(_ context.Context, q wire.RunQuery) ([]store.RunRow, error) {
	return slices.DeleteFunc(slices.Clone(s.started), func(r store.RunRow) bool { return r.StartKey != q.StartKey }),
		s.fails
}

func (*startStore) Rows(context.Context, store.RowQuery) ([]store.Row, error) { return nil, nil }

func (s *startStore) Stats(context.Context, wire.StatsQuery) (wire.Stats, error) {
	return wire.Stats{Queue: wire.QueueStats{Ready: s.ready}}, nil
}

// noArtifacts is a store without artifacts.
type noArtifacts struct{ store.ArtifactStore }

func (noArtifacts) OpenArtifact(
	context.Context, spool.ThreadKey, spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "Artifact not found")
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	tool := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "own"},
		Call:     func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, nil },
	}
	agents, err := registry.New(registry.Config{
		Agents: []spool.Agent{
			{
				Name: "a", Model: "m", Tools: []spool.Tool{tool}, ProviderOptions: []string{"seed"}, FixedOutput: true,
				Budget: spool.Budget{ToolCalls: 9},
			},
			{Name: "secret", Model: "m", Access: spool.Access{Scopes: []string{"boss"}}},
		},
		Models:      map[string]spool.Model{"m": model{}, "dear": model{}},
		ModelAccess: map[string]spool.Access{"dear": {Scopes: []string{"boss"}}},
		WhenBusy:    spool.BusyReject,
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := attach.New(option.Attachments{MaxCount: 1, MaxBytes: 100, MediaTypes: []string{"image/png"}})
	if err != nil {
		t.Fatal(err)
	}
	files.Artifacts = noArtifacts{}
	key := spool.ThreadKey{Tenant: "t", ID: "c"}
	rows := maptx.New(key, maptx.Start)
	s := &startStore{Store: maptx.Store{Tx: rows}}
	return &desk{
		Handler: &Handler{
			Threads: &change.Threads{
				Store: s, Live: inprocess.NewLive(0), Log: slog.New(slog.DiscardHandler),
				Rules: thread.Rules{
					Lease: time.Minute, QueueOf: func(string) string { return "" }, Parameters: agents.Parameters,
				},
			},
			Registry: agents, Attachments: files, Admission: &admission.Counts{Store: s},
			CheckRoom:      func(context.Context, spool.Tenant) error { return nil },
			ReserveWorker:  func(wire.Job) *ReservedWorker { return nil },
			AfterStop:      func(context.Context, spool.ThreadKey, thread.Stopped) error { return nil },
			MaxPromptBytes: 10, StrictOptions: true,
			Budget: option.Budget{Default: spool.Budget{Tokens: 100}, Max: spool.Budget{Tokens: 50}},
		},
		rows: rows, store: s, key: key, r: wire.StartRequest{Prompt: "hello", RunID: "r", IdempotencyKey: "k"},
	}
}

type model struct{ spool.Model }

// start starts the request, and says how it was refused.
func (d *desk) start() string {
	result, err := d.Start(context.Background(), d.key, d.r)
	switch {
	case err != nil:
		return string(spool.CodeOf(err)) + ": " + spool.MessageOf(err)
	case !result.Accepted:
		return "refused: " + result.Reason + ": " + result.Error
	case result.RunID != "r":
		return "accepted before: " + string(result.RunID)
	}
	return "accepted"
}

// checks are the checks of a start in their order: how a request breaks each of them, and what it is told.
var checks = []struct {
	breaks func(d *desk)
	want   string
}{
	{func(d *desk) { d.key.ID = "a b" }, "invalid: threadId"},
	{func(d *desk) { d.r.RunID = "a\nb" }, "invalid: runId"},
	{func(d *desk) { d.r.EditMessageID = "ä" }, "invalid: editMessageId"},
	{func(d *desk) { d.r.ClientMessageID = "a b" }, "invalid: clientMessageId"},
	{func(d *desk) { d.r.IdempotencyKey = strings.Repeat("k", 129) }, "invalid: Idempotency-Key"},
	{func(d *desk) { d.r.Title = "a\nb" }, "invalid: title"},
	{func(d *desk) { d.r.Labels = map[string]string{"a": ""} }, "invalid: labels.a"},
	{func(d *desk) { d.r.Agent = "nobody" }, `invalid: agent: there is none of the name "nobody"`},
	{func(d *desk) { d.r.Agent = "secret" }, `invalid: agent: there is none of the name "secret"`},
	{func(d *desk) { d.r.Model = "none" }, `invalid: model: there is none of the name "none"`},
	{func(d *desk) { d.r.Model = "dear" }, `invalid: model: there is none of the name "dear"`},
	{func(d *desk) { d.r.Prompt, d.r.Attachments = "", nil }, "invalid: prompt is required"},
	{func(d *desk) { d.r.Prompt = "12345678901" }, "invalid: prompt is longer than 10 bytes"},
	{func(d *desk) { d.r.Prompt = "\xff" }, "invalid: prompt is not valid UTF-8"},
	{func(d *desk) { d.r.WhenBusy = "drop" }, "invalid: whenBusy must be"},
	{func(d *desk) { d.r.MaxSteps = -1 }, "invalid: maxSteps"},
	{func(d *desk) { d.r.Budget.Tokens = -1 }, "invalid: tokenBudget"},
	{func(d *desk) { d.r.Budget = spool.Budget{CostMicros: 1} }, "invalid: costBudgetMicros"},
	{func(d *desk) { d.r.HostState = json.RawMessage(`[]`) }, "invalid: hostState"},
	{func(d *desk) { d.r.ProviderOptions = json.RawMessage(`{"top":1}`) }, "invalid: providerOptions.top"},
	{func(d *desk) { d.r.Output = &spool.OutputSchema{} }, "invalid: output is not allowed"},
	{func(d *desk) { d.r.Client.Tools = []wire.ClientTool{{Name: "own"}} }, "invalid: tools[0].name"},
	{func(d *desk) { d.r.Attachments = make([]wire.Attachment, 2) }, "invalid: attachments has more than 1 files"},
	{func(d *desk) { d.r.Attachments = []wire.Attachment{{URL: "ftp://x"}} }, "invalid: attachments[0].url"},
	{func(d *desk) { d.store.fails = spool.Errorf(spool.Unavailable, "no store") }, "unavailable: no store"},
	{func(d *desk) {
		d.store.started = []store.RunRow{{Run: wire.Run{ID: "first"}, RunState: store.RunState{StartKey: "k"}}}
	}, "accepted before: first"},
	{func(d *desk) {
		d.CheckRoom = func(context.Context, spool.Tenant) error { return spool.Errorf(spool.Limit, "full") }
	}, "limit: full"},
	{func(d *desk) { d.Admission.Most, d.store.ready = 1, 1 }, "refused: queue_full: Too many runs wait for a worker"},
	{func(d *desk) {
		d.r.Attachments = []wire.Attachment{{ArtifactID: spool.ArtifactID("art_" + strings.Repeat("0", 32))}}
	}, "invalid: attachments[0].artifactId is no artifact of the thread"},
	{func(d *desk) { d.rows.Rows.Thread, d.r.EditMessageID = nil, "gone" }, "refused: not_found: Message not found"},
}

// A request that breaks a check, and all checks behind it, is told about the first. It changes nothing.
func TestChecksOfAStart(t *testing.T) {
	t.Parallel()
	if d := newDesk(t); d.start() != "accepted" || d.rows.Rows.Thread == nil {
		t.Fatal("a request that breaks nothing is refused")
	}
	for i, check := range checks {
		for _, breaks := range [][]int{{i}, {i, i + 1}, nil} {
			d := newDesk(t)
			if breaks == nil {
				for j := range checks[i:] {
					breaks = append(breaks, i+j)
				}
			}
			for _, j := range slices.Backward(breaks) {
				if j < len(checks) {
					checks[j].breaks(d)
				}
			}
			before := d.rows.Clone()
			if got := d.start(); !strings.HasPrefix(got, check.want) {
				t.Errorf("checks %v are broken: %s, want %s", breaks, got, check.want)
			}
			if diff := maptx.Diff(before, d.rows); diff != "" {
				t.Errorf("checks %v are broken, and the start has changed the thread:\n%s", breaks, diff)
			}
		}
	}
}

// What a start leaves out is filled in.
func TestDefaultsOfAStart(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, c := range []struct {
		name   string
		change func(r *wire.StartRequest)
		want   func(r *thread.StartRequest)
	}{
		{"nothing", func(*wire.StartRequest) {}, func(*thread.StartRequest) {}},
		{"a title", func(r *wire.StartRequest) { r.Title = "t" }, func(r *thread.StartRequest) { r.Title = "t" }},
		{
			"a smaller budget", func(r *wire.StartRequest) { r.Budget = spool.Budget{Tokens: 7, ToolCalls: 3} },
			func(r *thread.StartRequest) {
				r.Run.Allowance.Budget = spool.Budget{Tokens: 7, ToolCalls: 3}
			},
		},
		{
			"a larger budget",
			func(r *wire.StartRequest) { r.Budget = spool.Budget{Tokens: 70} },
			func(*thread.StartRequest) {},
		},
		{
			"how it waits",
			func(r *wire.StartRequest) { r.WhenBusy = spool.BusyInterrupt },
			func(r *thread.StartRequest) { r.WhenBusy = spool.BusyInterrupt },
		},
		{
			"how it waits, by somebody who may not stop",
			func(r *wire.StartRequest) { r.WhenBusy, r.MayNotStop = spool.BusyInterrupt, true }, func(r *thread.StartRequest) {
				r.MayNotStop = true
			},
		},
		{
			"how it waits without a stop, by somebody who may not stop",
			func(r *wire.StartRequest) { r.WhenBusy, r.MayNotStop = spool.BusyLatest, true }, func(r *thread.StartRequest) {
				r.WhenBusy, r.MayNotStop = spool.BusyLatest, true
			},
		},
		{
			"empty options",
			func(r *wire.StartRequest) { r.ProviderOptions = json.RawMessage(` {} `) },
			func(*thread.StartRequest) {},
		},
		{"its request", func(r *wire.StartRequest) {
			r.By, r.Scopes, r.MaxSteps, r.IdempotencyKey, r.HostState = "ann", []string{"x"}, 3, "k", json.RawMessage(`{}`)
			r.ProviderOptions, r.Client.Context = json.RawMessage(`{"seed":1}`),
				[]wire.ClientContext{{Description: "d", Value: "v"}}
			r.Labels, r.ClientMessageID, r.EditMessageID = map[string]string{"a": "b"}, "mine", "m1"
		}, func(r *thread.StartRequest) {
			r.Run.StartedBy, r.Run.Scopes, r.Run.MaxSteps, r.Run.StartKey, r.Run.HostState = "ann", []string{"x"}, 3, "k",
				json.RawMessage(`{}`)
			r.Run.ProviderOptions = json.RawMessage(`{"seed":1}`)
			r.Run.Client = &wire.ClientInput{Context: []wire.ClientContext{{Description: "d", Value: "v"}}}
			r.Labels, r.ClientMessageID, r.EditMessageID = map[string]string{"a": "b"}, "mine", "m1"
		}},
	} {
		r := wire.StartRequest{Prompt: " hi\nyou", RunID: "r"}
		c.change(&r)
		want := thread.StartRequest{
			Run: store.RunRow{Run: wire.Run{
				ID: "r", Agent: "a", Model: "m", Allowance: &wire.Allowance{Budget: spool.Budget{Tokens: 50, ToolCalls: 9}},
			}},
			Content: spool.TextContent(" hi\nyou"), Title: "hi", WhenBusy: spool.BusyReject,
		}
		c.want(&want)
		agent, _, _, err := d.checkStart(d.key, &r)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(want, transitionOf(r, agent)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Ids that a start leaves out are made up, and differ.
func TestIDsOfAStart(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var made [2]spool.ThreadKey
	var runs [2]wire.StartRequest
	for i := range made {
		if err := d.checkIDs(&made[i], &runs[i]); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(
			spool.CheckID("threadId", string(made[i].ID)), spool.CheckID("runId", string(runs[i].RunID)),
		); err != nil {
			t.Error(err)
		}
	}
	d.key.ID, d.r.RunID = "", ""
	if result, err := d.Start(t.Context(), d.key, d.r); err != nil || result.ThreadID == "" || result.RunID == "" {
		t.Errorf("a start without ids: %+v, %v", result, err)
	}
	if made[0] == made[1] || runs[0].RunID == runs[1].RunID {
		t.Errorf("two starts have the same ids: %v, %v", made, runs)
	}
}

// A start that was accepted under its key is answered as it was, also if the thread refuses it now. Subjects that see
// only their own threads do not share keys.
func TestStartedBefore(t *testing.T) {
	t.Parallel()
	waited := &store.Wait{Position: 2, Steers: "s"}
	first := store.RunRow{
		Run:      wire.Run{ID: "first", ThreadID: "other"},
		RunState: store.RunState{StartKey: "k", Wait: waited},
	}
	for _, c := range []struct {
		name  string
		given func(d *desk)
		ctx   context.Context
		want  wire.RunResult
	}{
		{"a run that waited", func(d *desk) { d.store.started = []store.RunRow{first} }, context.Background(), wire.RunResult{
			Accepted: true, ThreadID: "other", RunID: "first", State: wire.Queued, Position: 2, Steers: "s",
		}},
		{
			"the key of somebody else", func(d *desk) { d.store.started = []store.RunRow{first} },
			actor.With(context.Background(), wire.Actor{Subject: "ann", OwnOnly: true}),
			wire.RunResult{
				Accepted: true, ThreadID: "c", RunID: "r", State: wire.Queued,
			},
		},
		{"without a key", func(d *desk) {
			d.r.IdempotencyKey, first.StartKey = "", ""
			d.store.started = []store.RunRow{first}
		}, context.Background(), wire.RunResult{Accepted: true, ThreadID: "c", RunID: "r", State: wire.Queued}},
	} {
		d := newDesk(t)
		c.given(d)
		got, err := d.Start(c.ctx, d.key, d.r)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", c.name, diff, err)
		}
	}
}
