package chat

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// Once is one turn without a person who answers.
type Once struct {
	Client *client.Client
	// Reach is the client's transport.
	Reach *Reach
	// Print prints the answer. Nil: Lines has everything.
	Print *Printer
	// Lines gets the result of the start, each frame and the outcome, as JSON in one line each. Nil: Print is used.
	Lines io.Writer
	// Thread is the thread. Empty: a new one.
	Thread spool.ThreadID
	// Agent answers. Empty: the server's first, or the thread's.
	Agent string
}

// Run sends a prompt and prints the answer. It returns the outcome of the run: its state is terminal, or Parks has the
// questions that somebody has to answer. When ctx ends, it stops the run.
func (o Once) Run(ctx context.Context, prompt string) (wire.RunOutcome, error) {
	in := client.RunRequest{
		Prompt: prompt, ThreadID: o.Thread, StartOptions: wire.StartOptions{Agent: o.Agent},
		ClientMessageID: "chat-" + rand.Text(), IdempotencyKey: rand.Text(),
	}
	before := &wire.Cursor{}
	if in.ThreadID == "" {
		in.ThreadID = spool.ThreadID("chat-" + strings.ToLower(rand.Text()[:12]))
	} else if o.Lines != nil {
		switch s, err := o.Client.Snapshot(ctx, in.ThreadID, wire.SnapshotOptions{Limit: 1}); {
		case err == nil:
			before.Seq = s.LastEventSeq
		case spool.CodeOf(err) != spool.NotFound:
			return wire.RunOutcome{}, err
		}
	}
	started, err := o.Client.Run(ctx, in)
	if err != nil {
		return wire.RunOutcome{}, err
	}
	if err := o.json(started); err != nil {
		return wire.RunOutcome{}, err
	}
	if !started.Accepted {
		return wire.RunOutcome{}, spool.Errorf(spool.Conflict, "the run was refused: %s", started.Error)
	}
	if o.Lines != nil {
		err = o.frames(ctx, started, before)
	} else {
		err = o.follow(ctx, started, in.ClientMessageID)
	}
	if err != nil {
		if ctx.Err() != nil {
			o.stop(context.WithoutCancel(ctx), started)
		}
		return wire.RunOutcome{}, err
	}
	outcome, err := o.Client.Outcome(ctx, started.RunID)
	if err != nil {
		return outcome, err
	}
	return outcome, o.json(outcome)
}

// frames prints each frame behind a cursor as a line, until the run has ended or waits.
func (o Once) frames(ctx context.Context, started wire.RunResult, before *wire.Cursor) error {
	seq := before.Seq
	for f, err := range o.Client.Follow(ctx, started.ThreadID, client.FollowOptions{Cursor: before, OnRetry: o.lost}) {
		if err == nil {
			err = o.json(f)
		}
		if err != nil {
			return err
		}
		if f.Cursor != nil {
			seq = f.Cursor.Seq
		}
		if endOf(f, started.RunID) {
			return nil
		}
		if MayEnd(f) {
			// If it fails, a further frame or the next connection asks again.
			s, err := o.Client.Snapshot(ctx, started.ThreadID, wire.SnapshotOptions{})
			if err == nil && s.LastEventSeq <= seq && settled(view.New(s), started.RunID) {
				return nil
			}
		}
	}
	return nil
}

// MayEnd reports whether a run may be over, or may wait, with a frame.
func MayEnd(f wire.Frame) bool {
	return f.Snapshot != nil || f.Event != nil &&
		(f.Event.Type == wire.NoticeStateChange || f.Event.Type == wire.EntryRunEnded)
}

// follow prints until the run has ended or waits.
func (o Once) follow(ctx context.Context, started wire.RunResult, mine string) error {
	over := false
	p := o.Print
	p.Mine = map[string]bool{mine: true}
	w := client.WatchOptions{
		OnFrame: func(f wire.Frame) { over = over || endOf(f, started.RunID) },
		OnRetry: o.lost,
	}
	first := true
	for v, err := range o.Client.Watch(ctx, started.ThreadID, w) {
		if err != nil {
			return err
		}
		if first {
			o.skip(v, started.RunID)
		}
		first = false
		o.Reach.While(func() {
			p.Show(v)
			p.State(Why(v, started.RunID))
		})
		if over || settled(v, started.RunID) {
			break
		}
	}
	o.Reach.While(p.endLine)
	return nil
}

func (o Once) lost(err error, _ time.Duration) { o.Reach.Lost(err) }

// skip marks what was said before the run as printed.
func (o Once) skip(v *view.Thread, run spool.RunID) {
	p := o.Print
	p.seen = make(map[spool.MessageID]*printed)
	for _, m := range v.Messages() {
		if m.RunID == run {
			break
		}
		p.seen[m.ID] = &printed{id: m.ID, role: m.Role, agent: m.AgentID, run: m.RunID, text: m.Text(), saved: true}
		p.order = append(p.order, m.ID)
	}
}

// endOf reports whether a frame ends the run, or lets it wait.
func endOf(f wire.Frame, run spool.RunID) bool {
	if f.Event == nil || f.Event.RunID != run {
		return false
	}
	payload, _ := fold.Entry(*f.Event)
	end, ended := payload.(fold.Ended)
	return ended && (end.State == wire.Completed || end.State == wire.Cancelled)
}

// settled reports whether the run has ended or waits, and the view has all of it.
func settled(v *view.Thread, run spool.RunID) bool {
	for _, r := range v.Runs() {
		if r.ID == run {
			return v.Settled() && (r.State.Terminal() || r.State == wire.WaitingForInput && len(v.Parks()) > 0)
		}
	}
	return false
}

// stop stops the run of a person who has left.
func (o Once) stop(ctx context.Context, started wire.RunResult) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, _ = o.Client.Stop(ctx, started.ThreadID, started.RunID)
}

// json prints a value as a line, if that is wanted.
func (o Once) json(v any) error {
	if o.Lines == nil {
		return nil
	}
	if f, ok := v.(wire.Frame); ok {
		return WriteFrame(o.Lines, f)
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Lines, "%s\n", line)
	return err
}

// WriteFrame prints a frame as a line of JSON: that of the wire, with the cursor behind it as id.
func WriteFrame(to io.Writer, f wire.Frame) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if f.Cursor != nil {
		id, err := json.Marshal(f.Cursor.String())
		if err != nil {
			return err
		}
		text = append(append(append([]byte(`{"id":`), id...), ','), text[1:]...)
	}
	_, err = fmt.Fprintf(to, "%s\n", text)
	return err
}

// Waiting says what a run waits for, a line for each question.
func Waiting(o wire.RunOutcome) string {
	var lines []string
	for _, p := range o.Parks {
		lines = append(lines, "waits for an answer: "+approvalQuestion(p))
	}
	return strings.Join(lines, "\n")
}
