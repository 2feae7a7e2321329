package thread

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// edits is a start that replaces the message at an index.
func edits(id spool.RunID, busy spool.WhenBusy, at int) func(s *scene) string {
	return func(s *scene) string {
		r := request(id, busy)
		r.EditMessageID = "unknown"
		if at >= 0 {
			r.EditMessageID = s.Rows.Messages[at].ID
		}
		return s.start(r)
	}
}

// answered is a thread whose run has answered.
func said(s *scene) {
	running(s)
	s.work(func(tx *Tx) error {
		if _, err := SaveStep(tx, spool.TextContent("done"), nil, spool.TokenCount{}, "stop"); err != nil {
			return err
		}
		return Finish(tx, store.Ending{State: wire.Completed, Reason: wire.StopCompleted})
	})
}

func TestStart(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"of a new thread", nil, begin("r", ""), `
			position 0
			+ thread State=QUEUED Model=m Title=a title Owner=ann RunID=r
			+ run r Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg1 Role=user Content=[{Type=text Text=go r}] RunID=r
			+ job run:r:1 RunID=r Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"of a new thread, which edits a turn", nil, edits("r", "", -1), `
			refused: not_found: Message not found`},
		{"of a new thread with labels", nil, func(s *scene) string {
			r := request("r", "")
			r.Labels, r.ClientMessageID = map[string]string{"a": "b"}, "mine"
			return s.start(r)
		}, `
			position 0
			+ thread State=QUEUED Model=m Title=a title Owner=ann Labels=map[a:b] RunID=r
			+ run r Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg1 Role=user Content=[{Type=text Text=go r}] ClientMessageID=mine RunID=r
			+ job run:r:1 RunID=r Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"by a worker that takes it", nil, func(s *scene) string {
			r := request("r", "")
			r.ReserveWorker = func(wire.Job) *ClaimOnStart { return &ClaimOnStart{Revision: "v1"} }
			return s.start(r)
		}, `
			position 0, taken at 1 with 1 messages
			+ thread State=RUNNING Model=m Title=a title Owner=ann RunID=r Fence=1 LeaseUntil=1m0s
			+ run r Agent=a Model=m State=RUNNING StartedBy=ann EnqueuedAt=0s StartedAt=0s Segments=1 Revision=v1 WorkerSince=0s
			+ message msg1 Role=user Content=[{Type=text Text=go r}] RunID=r
			+ entry 1 Type=RUN_STARTED Payload={runId:r,streamId:r:1,segment:1,revision:v1,enqueuedAt:0s} RunID=r
			+ job run:r:1 RunID=r Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=inflight Attempts=1`},
		{"by a worker that takes it, of a thread that exists", said, func(s *scene) string {
			r := request("next", "")
			r.ReserveWorker = func(wire.Job) *ClaimOnStart { return &ClaimOnStart{} }
			return s.start(r)
		}, `
			position 0, taken at 3 with 0 messages
			thread State=RUNNING RunID=next Fence=2 LeaseUntil=1m0s
			+ run next Agent=a Model=m State=RUNNING StartedBy=ann EnqueuedAt=0s StartedAt=0s Segments=1 WorkerSince=0s
			+ message msg3 Role=user Content=[{Type=text Text=go next}] RunID=next
			+ entry 3 Type=RUN_STARTED Payload={runId:next,streamId:next:1,segment:1,enqueuedAt:0s} RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=inflight Attempts=1`},
		{"by a worker that is not ready", nil, func(s *scene) string {
			r := request("r", "")
			r.ReserveWorker = func(wire.Job) *ClaimOnStart { return nil }
			return s.start(r)
		}, `
			position 0
			+ thread State=QUEUED Model=m Title=a title Owner=ann RunID=r
			+ run r Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg1 Role=user Content=[{Type=text Text=go r}] RunID=r
			+ job run:r:1 RunID=r Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"of an idle thread, whose count of the prompt goes on", and(said, with("r", func(r *store.RunRow) {
			r.Context = &store.ContextCount{Tokens: 7}
		})), begin("next", ""), `
			position 0
			thread State=QUEUED RunID=next
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Context={Tokens=7}
			+ message msg3 Role=user Content=[{Type=text Text=go next}] RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"that edits a turn, by no worker", said, func(s *scene) string {
			r := request("next", "")
			r.EditMessageID = s.Rows.Messages[0].ID
			r.ReserveWorker = func(wire.Job) *ClaimOnStart { s.t.Error("a worker was asked"); return nil }
			return s.start(r)
		}, `
			position 0
			thread State=QUEUED RunID=next
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg3 Role=user Content=[{Type=text Text=go next}] RunID=next
			- message msg1
			- message msg2
			+ branch 3 RunID=next Messages=[{Role=user Content=[{Type=text Text=go r}] RunID=r} {Role=assistant Content=[{Type=text Text=done}] RunID=r}]
			+ entry 3 Type=MESSAGES_DROPPED Payload={fromMessageId:msg1} RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"that edits an answer", said, edits("next", "", 1), `
			refused: not_editable: Only a user message can be edited`},
		{"that edits an unknown message", said, edits("next", "", -1), `
			refused: not_found: Message not found`},
		{"of a failed run's thread", ended(wire.Failed), begin("next", ""), `
			position 0
			thread State=QUEUED RunID=next
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg2 Role=user Content=[{Type=text Text=go next}] RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`},
		{
			"of a thread whose last run has questions that nobody answered", and(ended(wire.Completed), marked),
			begin("next", ""), `
			position 0
			thread State=QUEUED Expired=- RunID=next
			+ run next Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s
			+ message msg2 Role=user Content=[{Type=text Text=go next}] RunID=next
			+ job run:next:1 RunID=next Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready`,
		},
		{"with the id of a run before", said, begin("r", ""), `
			refused: run_id_used: Run id already used`},
		{"with the id of a run elsewhere", func(s *scene) {
			s.Rows.Elsewhere = []store.RunRow{{Run: wire.Run{ID: "r"}}}
		}, begin("r", ""), `
			refused: run_id_used: Run id already used`},
		{"with the key of a start elsewhere", func(s *scene) {
			s.Rows.Elsewhere = []store.RunRow{{RunState: store.RunState{StartKey: "k"}}}
		}, func(s *scene) string {
			r := request("r", "")
			r.Run.StartKey = "k"
			return s.start(r)
		}, `
			refused: active_run: Thread has an active run`},
	})
}

// Conflicts of the store are refusals, whether a change or the commit fails. Other errors are none.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{store.ErrRunIDUsed, wire.ReasonRunIDUsed},
		{&spool.Error{Code: spool.Conflict, Message: "of the driver", Err: store.ErrRunIDUsed}, wire.ReasonRunIDUsed},
		{store.ErrActiveRun, wire.ReasonActiveRun},
		{store.ErrStartKeyUsed, wire.ReasonActiveRun},
		{Refuse("r", "t"), "r"},
		{nil, ""},
		{ErrUnchanged, ""},
		{store.ErrFenced, ""},
		{store.ErrMessageIDUsed, ""},
	} {
		got := Refusal(c.err)
		if no, ok := got.(*RefusedError); ok { //nolint:errorlint // the refusal itself
			if no.Reason != c.want {
				t.Errorf("%v is refused with %q, want %q", c.err, no.Reason, c.want)
			}
		} else if c.want != "" || got != c.err { //nolint:errorlint // the very same error
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
}
