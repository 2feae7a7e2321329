package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var ownTests = map[string]func(s ownTest){
	"Hidden": testOwnHidden,
	"Starts": testOwnStarts,
	"Keys":   testOwnKeys,
	"Lists":  testOwnLists,
}

// ownTest is the fixture of the cases about actors that see only their own threads.
type ownTest struct{ *engineTest }

// as returns a context for calls of an actor that sees only its own threads.
func (s ownTest) as(subject string) context.Context {
	return engine.WithActor(context.Background(), wire.Actor{Subject: subject, OwnOnly: true})
}

// verbs returns the operations on a thread whose run r1 and message are known by their ids. Each
// returns its result as a text.
func (s ownTest) verbs(
	e *engine.Engine, message spool.MessageID,
) map[string]func(ctx context.Context, key spool.ThreadKey) string {
	title, none := "mine", "ben"
	told := func(v any, err error) string {
		text, bad := json.Marshal(v)
		if bad != nil {
			s.Error(bad)
		}
		return fmt.Sprintf("%s %q %q", text, spool.CodeOf(err), spool.MessageOf(err))
	}
	type verb = func(ctx context.Context, key spool.ThreadKey) string
	return map[string]verb{
		"Thread":        func(ctx context.Context, key spool.ThreadKey) string { return told(e.Thread(ctx, key)) },
		"Snapshot":      func(ctx context.Context, key spool.ThreadKey) string { return told(e.Snapshot(ctx, key, nil)) },
		"Outcome":       func(ctx context.Context, key spool.ThreadKey) string { return told(e.Outcome(ctx, key, "r1")) },
		"Usage":         func(ctx context.Context, key spool.ThreadKey) string { return told(e.Usage(ctx, key)) },
		"Branches":      func(ctx context.Context, key spool.ThreadKey) string { return told(e.Branches(ctx, key)) },
		"RestoreBranch": func(ctx context.Context, key spool.ThreadKey) string { return told(e.RestoreBranch(ctx, key, 1)) },
		"Compact":       func(ctx context.Context, key spool.ThreadKey) string { return told(e.Compact(ctx, key)) },
		"Stop":          func(ctx context.Context, key spool.ThreadKey) string { return told(e.Stop(ctx, key)) },
		"StopRun":       func(ctx context.Context, key spool.ThreadKey) string { return told(e.StopRun(ctx, key, "r1")) },
		"DeleteThread":  func(ctx context.Context, key spool.ThreadKey) string { return told(e.DeleteThread(ctx, key)) },
		"DeleteIdle":    func(ctx context.Context, key spool.ThreadKey) string { return told(e.DeleteIdleThread(ctx, key)) },
		"Branch": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.Branch(ctx, key, 1, nil))
		},
		"EncodedSnapshot": func(ctx context.Context, key spool.ThreadKey) string {
			_, err := e.EncodedSnapshot(ctx, key, nil)
			return told(nil, err)
		},
		"UserTurns": func(ctx context.Context, key spool.ThreadKey) string {
			_, turns, err := e.UserTurns(ctx, key)
			return told(turns, err)
		},
		"BeforeSegment": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.BeforeSegment(ctx, key, "r1", 1))
		},
		"Parks": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.Parks(ctx, key, "r1"))
		},
		"Events": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.Events(ctx, key, wire.EventQuery{}))
		},
		"Respond": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.Respond(ctx, key, wire.Response{ToolCallID: "c1", Approved: true}))
		},
		"UpdateThread": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.UpdateThread(ctx, key, wire.ThreadChange{Title: &title, Owner: &none}))
		},
		"PublishEvent": func(ctx context.Context, key spool.ThreadKey) string {
			return told(e.PublishEvent(ctx, key, "CUSTOM_TICK", 1, wire.PublishOptions{Durable: true}))
		},
		"Edit": func(ctx context.Context, key spool.ThreadKey) string {
			_, err := e.Run(ctx, key, wire.StartRequest{Prompt: "no", EditMessageID: message, RunID: "edit"})
			return told(nil, err)
		},
		"SSE": func(ctx context.Context, key spool.ThreadKey) string {
			_, err := e.SSE(ctx, key, wire.SSEOptions{})
			return told(nil, err)
		},
		"Follow": func(ctx context.Context, key spool.ThreadKey) string {
			for frame, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
				return told(frame, err)
			}
			return "nothing"
		},
		"FollowRecord": func(ctx context.Context, key spool.ThreadKey) string {
			for entry, err := range e.FollowRecord(ctx, key, 0) {
				return told(entry, err)
			}
			return "nothing"
		},
		"ReadStream": func(ctx context.Context, key spool.ThreadKey) string {
			for item, err := range e.ReadStream(ctx, key, "r1:1", wire.Offset{}) {
				return told(item.Offset, err)
			}
			return "nothing"
		},
	}
}

// For each operation, another subject's thread looks as if it did not exist, and does not change.
func testOwnHidden(s ownTest) {
	m := spooltest.NewModel(spooltest.Say("hi"), spooltest.Say("hello"),
		spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent"))
	e := s.working(s.config(m, approved("send", `"sent"`)))
	s.startAs(e, chat, wire.StartRequest{Prompt: "one", RunID: "r0", By: "ann"})
	s.ended(wire.Completed)
	first := s.messagesOf(chat)[0].ID
	// the edit leaves a branch
	s.startAs(e, chat, wire.StartRequest{Prompt: "uno", RunID: "r2", By: "ann", EditMessageID: first})
	s.ended(wire.Completed)
	s.startAs(e, chat, wire.StartRequest{Prompt: "two", RunID: "r1", By: "ann"})
	s.becomes(wire.WaitingForInput)
	before := s.all(chat, "r1")

	nowhere := of(chat.Tenant, "nowhere")
	for name, do := range s.verbs(e, before.Messages[0].ID) {
		for _, who := range []string{"ben", ""} {
			ctx, cancel := context.WithTimeout(s.as(who), quiet)
			s.same(name, do(ctx, chat), strings.ReplaceAll(do(ctx, nowhere), string(nowhere.ID), string(chat.ID)))
			cancel()
		}
	}
	s.same("the thread", s.all(chat, "r1"), before)
	s.same("a thread that nobody made", s.all(nowhere, "").Found, false)

	// The thread's owner continues it.
	r, err := e.Respond(s.as("ann"), chat, wire.Response{ToolCallID: "c1", Approved: true})
	if err != nil || !r.Delivered {
		s.Errorf("its owner answers: %+v, %v", r, err)
	}
	s.ended(wire.Completed)
}

// A start with the id of another subject's thread is refused. A start with a new id creates a thread
// that the starter owns.
func testOwnStarts(s ownTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("hi"), spooltest.Say("hello"))))
	s.startAs(e, chat, wire.StartRequest{Prompt: "one", RunID: "r1", By: "ann"})
	s.ended(wire.Completed)
	got, err := e.Run(s.as("ben"), chat, wire.StartRequest{Prompt: "two", RunID: "r2", By: "ben"})
	if err != nil || got.Accepted || got.Reason != wire.ReasonNotFound {
		s.Errorf("a start on the thread of another: %+v, %v", got, err)
	}
	own := of(chat.Tenant, "own")
	s.keys = append(s.keys, own)
	got, err = e.Run(s.as("ben"), own, wire.StartRequest{Prompt: "two", RunID: "r2", By: "ben"})
	if err != nil || !got.Accepted {
		s.Errorf("a start on a new thread: %+v, %v", got, err)
	}
	s.history.Started(own, "r2")
	s.until("its end", func() bool { return s.threadOf(own).State == wire.Completed })
	s.same("its owner", s.threadOf(own).Owner, "ben")
}

// Two subjects use the same idempotency key, and each gets its own run, once.
func testOwnKeys(s ownTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"))))
	for range 2 {
		for _, who := range []string{"ann", "ben"} {
			key := of(chat.Tenant, spool.ThreadID("of-"+who))
			r, err := e.Run(s.as(who), key, wire.StartRequest{Prompt: "go", By: who, IdempotencyKey: "key"})
			if err != nil || !r.Accepted || r.ThreadID != key.ID {
				s.Errorf("a start of %s: %+v, %v", who, r, err)
			}
			s.until("the end of "+who, func() bool { return s.threadOf(key).State == wire.Completed })
			s.same("the runs of "+who, len(s.runsOf(key)), 1)
		}
	}
	s.keys = []spool.ThreadKey{of(chat.Tenant, "of-ann"), of(chat.Tenant, "of-ben")}
}

func testOwnLists(s ownTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Say("1"), spooltest.Say("2"))))
	for _, who := range []string{"ann", "ben"} {
		key := of(chat.Tenant, spool.ThreadID("of-"+who))
		s.startAs(e, key, wire.StartRequest{Prompt: "go", RunID: spool.RunID("r-" + who), By: who})
		s.until("the end of "+who, func() bool { return s.threadOf(key).State == wire.Completed })
	}
	for _, c := range []struct{ who, owner, want string }{
		{"ann", "", "of-ann"}, {"ben", "ben", "of-ben"}, {"ben", "ann", ""}, {"eve", "", ""}, {"", "", ""},
	} {
		list, err := e.Threads(s.as(c.who), chat.Tenant, wire.ThreadQuery{Owner: c.owner})
		var ids []string
		for _, t := range list {
			ids = append(ids, string(t.ID))
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			s.Errorf("%q lists the threads of %q: %q, %v, want %q", c.who, c.owner, got, err, c.want)
		}
	}
	s.keys = []spool.ThreadKey{of(chat.Tenant, "of-ann"), of(chat.Tenant, "of-ben")}
}
