package chat

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

const (
	// shownTurns is how many turns of a thread are shown when a chat goes on.
	shownTurns = 3
	// patience is how long a run may wait for a worker until that is worth a line.
	patience = 2 * time.Second
	// requestTime bounds a request that a key sends.
	requestTime = 30 * time.Second
)

// unmark takes the mark of a line back.
var unmark = []byte("\b\b" + strings.Repeat(" ", 2) + "\b\b")

// Session is a conversation in a terminal.
type Session struct {
	Client *client.Client
	// Reach is the client's transport.
	Reach *Reach
	Term  *Terminal
	Print *Printer
	// Thread is the thread. Empty: the first turn makes one.
	Thread spool.ThreadID
	// Agent answers. Empty: the server's first, or the thread's.
	Agent string
	// Editor is the command that edits arguments. Empty: they are typed.
	Editor string

	views   chan *view.Thread
	seen    chan struct{}
	notices chan string
	results chan func() error

	// has says that a view was shown, and state and parks are those of the last one.
	has   bool
	state wire.State
	parks []fold.Park
	err   error

	line input
	// ask takes the line that is being typed. Nil: it is a turn.
	ask func(text string) error
	// chosen is the question that is answered now. Nil: none.
	chosen *fold.Park
	typing bool // a turn, although a question waits
	asked  string
	// first is the prompt that the chat begins with, until the thread is known and no question waits.
	first    string
	busy     bool
	stopped  bool // a stop was sent
	prompted bool
	watching bool
	leave    bool
	// knocks says that knock is at work.
	knocks atomic.Bool
	// late fires when a run has waited long for a worker. Nil: none waits.
	late <-chan time.Time
}

// Run talks until the person leaves or ctx ends. An empty prompt begins with what the thread says.
func (s *Session) Run(ctx context.Context, prompt string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.views, s.seen = make(chan *view.Thread), make(chan struct{})
	s.notices, s.results = make(chan string, 8), make(chan func() error, 1)
	s.line.to = s.Term
	s.Print.Mine = make(map[string]bool)
	s.Reach.Notify(func(text string) { s.notice(ctx, text) })
	switch {
	case s.Thread != "":
		s.first = prompt
		s.watch(ctx)
	case prompt != "":
		s.send(ctx, prompt)
	default:
		s.idle()
		s.knock(ctx)
	}
	s.Term.wanted <- struct{}{}
	for !s.leave {
		views, notices := s.views, s.notices
		if len(s.line.text) > 0 || s.ask != nil {
			views, notices = nil, nil // what comes meanwhile waits until the line is done
		}
		select {
		case <-ctx.Done():
			return nil
		case read, ok := <-s.Term.keys:
			if !ok {
				return nil
			}
			for _, k := range s.Term.parse(read) {
				s.key(ctx, k)
			}
			s.Term.wanted <- struct{}{}
		case v := <-views:
			s.show(ctx, v)
			s.seen <- struct{}{}
		case <-s.late:
			s.late = nil
			s.Print.State(noWorker)
		case text := <-notices:
			s.endPrompt()
			s.Print.State(text)
			s.idle()
		case result := <-s.results:
			s.busy = false
			if err := result(); err != nil {
				s.endPrompt()
				s.Print.note(describeError(err))
				s.idle()
			}
		}
	}
	s.endPrompt()
	s.Print.endLine()
	if s.first != "" {
		s.Print.note("your message was not sent")
	}
	return s.err
}

// watch follows the thread, once it exists.
func (s *Session) watch(ctx context.Context) {
	if s.watching {
		return
	}
	s.watching = true
	go func() {
		o := client.WatchOptions{OnRetry: func(err error, _ time.Duration) { s.Reach.Lost(err) }}
		for v, err := range s.Client.Watch(ctx, s.Thread, o) {
			if err != nil {
				s.fail(ctx, err, v == nil && spool.CodeOf(err) == spool.NotFound)
				return
			}
			select {
			case s.views <- v:
			case <-ctx.Done():
				return
			}
			select {
			case <-s.seen:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// knock sends requests until the server can be reached, so that a person without a thread knows whether it can.
func (s *Session) knock(ctx context.Context) {
	if !s.knocks.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer s.knocks.Store(false)
		for ctx.Err() == nil {
			if _, _, err := s.Client.ThreadPage(ctx, client.ThreadFilter{PageSize: 1}, ""); !away(err) {
				return
			}
		}
	}()
}

// away reports whether a request has failed because the server cannot be reached.
func away(err error) bool { return spool.CodeOf(err) == spool.Unavailable && client.StatusOf(err) == 0 }

func (s *Session) notice(ctx context.Context, text string) {
	select {
	case s.notices <- text:
	case <-ctx.Done():
	default: // somebody types while the server comes and goes
	}
}

// fail ends the session with an error. It ignores the error of a fresh thread that does not exist yet.
func (s *Session) fail(ctx context.Context, err error, fresh bool) {
	select {
	case s.results <- func() error {
		s.watching = false
		if fresh {
			if !s.begin(ctx) {
				s.idle()
			}
			return nil
		}
		s.leave, s.err = true, err
		return nil
	}:
	case <-ctx.Done():
	}
}

// do sends a request beside the keys.
func (s *Session) do(ctx context.Context, request func(ctx context.Context) (func() error, error)) {
	s.busy = true
	go func() {
		limited, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		then, err := request(limited)
		if err != nil {
			then = func() error { return err }
		}
		select {
		case s.results <- then:
		case <-ctx.Done():
		}
	}()
}

// send starts a run, or steers the one that is active.
func (s *Session) send(ctx context.Context, text string) {
	in := client.RunRequest{
		Prompt: text, ThreadID: s.Thread, StartOptions: wire.StartOptions{Agent: s.Agent},
		ClientMessageID: "chat-" + rand.Text(), IdempotencyKey: rand.Text(),
	}
	if s.active() {
		in.WhenBusy = spool.BusySteer
	}
	s.Print.Mine[in.ClientMessageID] = true
	s.typing, s.stopped = false, false
	s.do(ctx, func(limited context.Context) (func() error, error) {
		r, err := s.Client.Run(limited, in)
		if away(err) && in.ThreadID == "" {
			s.knock(ctx)
		}
		return func() error {
			if !r.Accepted {
				return spool.Errorf(spool.Conflict, "the run was refused: %s", r.Error)
			}
			s.Thread = r.ThreadID
			s.watch(ctx)
			return nil
		}, err
	})
}

// begin sends the first prompt. It reports false if there is none.
func (s *Session) begin(ctx context.Context) bool {
	text := s.first
	if s.first = ""; text != "" {
		s.send(ctx, text)
	}
	return text != ""
}

// describeError returns an error in words. If the server cannot be reached, the words name the server and the cause.
func describeError(err error) string {
	if away(err) {
		return err.Error()
	}
	return spool.MessageOf(err)
}

func (s *Session) active() bool { return s.state.Active() }

// show prints what is new.
func (s *Session) show(ctx context.Context, v *view.Thread) {
	if !s.has {
		s.Print.Skip(v, shownTurns)
	}
	s.has, s.state, s.parks = true, v.State(), slices.Clone(v.Parks())
	if v.Settled() && s.prompted && len(s.parks) == 0 && s.asked == "" {
		s.Print.Show(v)
		return
	}
	s.endPrompt()
	s.Print.Show(v)
	run := spool.RunID("")
	if q := v.Queue(); len(q) > 0 {
		run = q[len(q)-1].RunID
	}
	switch {
	case s.waits():
		s.askFor(s.parks[0])
	case s.begin(ctx): // a view of what follows comes
	case v.Settled() && !s.active():
		s.ended(v)
	default:
		s.asked = ""
		why := Why(v, run)
		s.Print.State(why)
		if s.late = nil; s.state == wire.Queued && why == "" {
			s.late = time.After(patience)
		}
	}
}

// waits reports whether a question waits for an answer now.
func (s *Session) waits() bool { return len(s.parks) > 0 && s.state == wire.WaitingForInput }

// askFor shows a question with its keys, once.
func (s *Session) askFor(p fold.Park) {
	id := string(p.ToolCallID) + p.Digest
	if s.asked == id {
		return
	}
	s.asked = id
	s.Print.endLine()
	s.Print.line(s.Print.style("1", "? "+Asks(p)), "")
	keys := "a approve · d deny · r with a reason"
	switch {
	case p.Reason == wire.ParkBudget:
		keys = "a raise the budget · d end the run"
	case p.Reason == wire.ParkClientTool:
		keys = "a give the result · d deny"
	case p.Reason == wire.ParkOutcomeUnknown:
		keys = "a run it again · d do not · g give its result · r with a reason"
	case p.Reason == wire.ParkApproval && editable(p.Arguments):
		keys = "a approve · d deny · e edit the arguments · r with a reason"
	}
	s.Print.line(s.Print.style("2", "  "+keys+" · t type a message"), "")
	if s.first != "" {
		s.Print.note("your message is sent after the answer")
	}
}

// ended says how the last run ended, and waits for a turn.
func (s *Session) ended(v *view.Thread) {
	s.asked = ""
	for _, r := range v.Runs() {
		if r.ParentID != "" {
			continue
		}
		switch {
		case r.State == wire.Failed:
			s.Print.State("the run has failed: " + r.Error)
		case r.State == wire.Cancelled:
			s.Print.State("the run was stopped")
		case earlyEnd(r.StopReason) != "":
			s.Print.State("the run ended early: " + earlyEnd(r.StopReason))
		default:
			s.Print.State("")
		}
		break
	}
	s.stopped = false
	s.idle()
}

// idle shows where to type.
func (s *Session) idle() {
	if s.prompted || s.active() {
		return
	}
	s.Print.endLine()
	_, _ = s.Term.Write([]byte("> "))
	s.prompted = true
}

// endPrompt takes the mark of an empty line back.
func (s *Session) endPrompt() {
	if s.prompted {
		_, _ = s.Term.Write(unmark)
	}
	s.prompted = false
}

// key handles one key.
func (s *Session) key(ctx context.Context, k rune) {
	switch {
	case k == keyInterrupt:
		s.interrupt(ctx)
	case k == keyEscape:
		if len(s.line.text) > 0 || s.ask != nil || s.typing {
			s.interrupt(ctx)
		}
	case k == keyEnd && len(s.line.text) == 0:
		s.leave = true
	case k == keyEnter:
		s.enter(ctx)
	case k == keyBackspace:
		s.line.back()
		if len(s.line.text) == 0 && s.ask == nil && s.active() {
			_, _ = s.Term.Write(unmark)
		}
	case k == keyClear:
		for len(s.line.text) > 0 {
			s.key(ctx, keyBackspace)
		}
	case k < 0:
	case s.ask == nil && !s.typing && len(s.line.text) == 0 && s.waits():
		if !s.busy {
			s.choose(ctx, k)
		}
	default:
		if len(s.line.text) == 0 && s.ask == nil && !s.prompted {
			s.Print.endLine()
			_, _ = s.Term.Write([]byte("» "))
		}
		s.line.put(k)
	}
}

// interrupt clears the line and leaves what it was for, stops the run and forgets the first prompt, or leaves.
func (s *Session) interrupt(ctx context.Context) {
	switch {
	case len(s.line.text) > 0 || s.ask != nil || s.typing:
		s.ask, s.chosen, s.typing, s.asked = nil, nil, false, ""
		s.line.text = nil
		_, _ = s.Term.Write([]byte("\n"))
		s.prompted = false
		s.again()
	case s.active() && !s.stopped:
		s.stopped = true
		what := "stopping"
		if s.first != "" {
			s.first, what = "", "stopping, and your message is not sent"
		}
		s.Print.note(what + "; Ctrl-C again leaves, and lets the run be")
		s.do(ctx, func(limited context.Context) (func() error, error) {
			_, err := s.Client.Stop(limited, s.Thread, "")
			return func() error { return nil }, err
		})
	default:
		s.leave = true
	}
}

// again shows the question, or where to type.
func (s *Session) again() {
	if s.waits() {
		s.askFor(s.parks[0])
	} else {
		s.idle()
	}
}

// enter sends the line.
func (s *Session) enter(ctx context.Context) {
	text := string(s.line.text)
	if text == "" && s.ask == nil {
		return
	}
	s.line.text = nil
	_, _ = s.Term.Write([]byte("\n"))
	s.prompted = false
	if ask := s.ask; ask != nil {
		s.ask = nil
		if err := ask(text); err != nil {
			s.Print.note(spool.MessageOf(err))
			s.asked = ""
			s.again()
		}
		return
	}
	s.send(ctx, text)
}

// choose handles the key of an answer.
func (s *Session) choose(ctx context.Context, k rune) {
	p := s.parks[0]
	p.Arguments = slices.Clone(p.Arguments)
	switch k {
	case 'a':
		s.approve(ctx, p)
	case 'd':
		s.answer(ctx, p, Answer{})
	case 'e':
		if p.Reason == wire.ParkApproval && editable(p.Arguments) {
			s.edit(ctx, p)
		}
	case 'g':
		if p.Reason == wire.ParkOutcomeUnknown {
			s.answerWithValue(ctx, p, givesResult, "", false)
		}
	case 'r':
		s.read("reason: ", "", func(reason string) error {
			s.read("approve (y/n): ", "", func(yes string) error {
				approve, err := decided(yes)
				if err == nil {
					s.answer(ctx, p, Answer{Approve: approve, Reason: reason})
				}
				return err
			})
			return nil
		})
	case 't':
		s.typing = true
		s.Print.endLine()
		_, _ = s.Term.Write([]byte("» "))
		s.prompted = true
	}
}

// approve asks for what an approval needs, and answers.
func (s *Session) approve(ctx context.Context, p fold.Park) {
	label, with := approvalLine(p.InputRequired)
	if label == "" {
		s.answer(ctx, p, Answer{Approve: true})
		return
	}
	s.answerWithValue(ctx, p, label, with, true)
}

// answerWithValue asks for a value, and answers with it.
func (s *Session) answerWithValue(ctx context.Context, p fold.Park, label, with string, approve bool) {
	s.read(label, with, func(text string) error {
		a := Answer{Approve: approve, Payload: json.RawMessage(text)}
		if err := a.Check(p.InputRequired); err != nil {
			return err
		}
		s.answer(ctx, p, a)
		return nil
	})
}

// edit lets the person change the arguments.
func (s *Session) edit(ctx context.Context, p fold.Park) {
	if s.Editor == "" {
		s.read("arguments: ", oneLine(p.Arguments, 1<<20), func(text string) error {
			a := Answer{Approve: true, Arguments: json.RawMessage(text)}
			if err := a.Check(p.InputRequired); err != nil {
				return err
			}
			s.answer(ctx, p, a)
			return nil
		})
		return
	}
	var args json.RawMessage
	err := s.Term.lend(func() (err error) {
		args, err = edit(ctx, s.Editor, p.Arguments)
		return err
	})
	if err != nil {
		s.Print.note(err.Error())
		s.asked = ""
		s.again()
		return
	}
	s.answer(ctx, p, Answer{Approve: true, Arguments: args})
}

// read asks for a line, which begins with a text.
func (s *Session) read(label, with string, then func(text string) error) {
	s.Print.endLine()
	_, _ = fmt.Fprint(s.Term, label)
	for _, r := range with {
		s.line.put(r)
	}
	s.ask = then
}

// answer sends an answer.
func (s *Session) answer(ctx context.Context, p fold.Park, a Answer) {
	what := "denied"
	if a.Approve {
		what = "approved"
	}
	s.do(ctx, func(limited context.Context) (func() error, error) {
		r, err := s.Client.Respond(limited, s.Thread, a.Request(p.InputRequired))
		return func() error {
			if !r.Delivered {
				s.asked = ""
				return spool.Errorf(spool.Conflict, "the answer does not count: %s", r.Error)
			}
			s.Print.note(what + " " + p.ToolName)
			return nil
		}, err
	})
}
