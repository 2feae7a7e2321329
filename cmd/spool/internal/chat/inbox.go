package chat

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// Asked says in one line what a question of the inbox is about.
func Asked(q wire.Question) string {
	in := q.InputRequired
	if q.ArgumentsBytes > 0 {
		in.Arguments = json.RawMessage(q.ArgumentsPreview)
	}
	return approvalQuestion(in)
}

// Inbox shows one question after the other in a terminal, and answers them with keys.
type Inbox struct {
	Client *client.Client
	Term   *Terminal
	// List returns the questions that wait.
	List func(ctx context.Context) ([]wire.Question, error)
	// Editor is the command that edits arguments. Empty: they are typed.
	Editor string
	Style  bool

	print Printer
	all   []wire.Question
	at    int
	line  input
	// ask takes the line that is being typed. Nil: keys are commands.
	ask func(text string) error
}

// Run answers until the person leaves, or no question waits.
func (b *Inbox) Run(ctx context.Context) error {
	b.print = Printer{Out: b.Term, Style: b.Style, Width: b.Term.Width}
	b.line.to = b.Term
	if err := b.load(ctx); err != nil || len(b.all) == 0 {
		return err
	}
	b.print.line(
		b.print.style("2",
			"a approve · d deny · e edit · r with a reason · j next · k before · l load again · q leave"),
		"",
	)
	b.show()
	b.Term.wanted <- struct{}{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case read, ok := <-b.Term.keys:
			if !ok {
				return nil
			}
			for _, k := range b.Term.parse(read) {
				if leave := b.key(ctx, k); leave {
					return nil
				}
			}
			b.Term.wanted <- struct{}{}
		}
	}
}

// load reads the list.
func (b *Inbox) load(ctx context.Context) error {
	all, err := b.List(ctx)
	if err != nil {
		return err
	}
	b.all, b.at = all, 0
	if len(all) == 0 {
		b.print.line("No question waits for an answer.", "")
	}
	return nil
}

func (b *Inbox) show() {
	if b.at >= len(b.all) {
		return
	}
	q := b.all[b.at]
	b.print.line(fmt.Sprintf("[%d of %d] %s  %s", b.at+1, len(b.all), Line(string(q.ThreadID), 40), Line(q.Title, 60)), "")
	b.print.line(b.print.style("1", "? "+Asked(q)), "  ")
}

// key handles one key. It reports whether the person leaves.
func (b *Inbox) key(ctx context.Context, k rune) (leave bool) {
	if b.ask != nil {
		return b.typed(k)
	}
	switch k {
	case 'q', keyInterrupt, keyEnd:
		return true
	case 'j':
		b.at = min(b.at+1, len(b.all)-1)
	case 'k':
		b.at = max(b.at-1, 0)
	case 'l':
		if err := b.load(ctx); err != nil {
			b.print.note(spool.MessageOf(err))
		}
	case 'a', 'd', 'e', 'g', 'r':
		if b.at < len(b.all) {
			b.choose(ctx, k, b.all[b.at])
		}
		return len(b.all) == 0
	default:
		return false
	}
	b.show()
	return len(b.all) == 0
}

// typed handles a key of a line.
func (b *Inbox) typed(k rune) bool {
	switch {
	case k == keyInterrupt || k == keyEscape:
		b.ask, b.line.text = nil, nil
		b.print.line("", "")
		b.show()
	case k == keyEnter:
		ask, text := b.ask, string(b.line.text)
		b.ask, b.line.text = nil, nil
		b.print.line("", "")
		if err := ask(text); err != nil {
			b.print.note(spool.MessageOf(err))
			b.show()
		}
	case k == keyBackspace:
		b.line.back()
	case k == keyClear:
		b.line.clear()
	case k >= 0:
		b.line.put(k)
	}
	return b.ask == nil && len(b.all) == 0
}

func (b *Inbox) read(label, with string, then func(text string) error) {
	b.print.write(b.Term, label)
	for _, r := range with {
		b.line.put(r)
	}
	b.ask = then
}

// choose handles the key of an answer.
func (b *Inbox) choose(ctx context.Context, k rune, q wire.Question) {
	checked := func(a Answer) error {
		if err := a.Check(q.InputRequired); err != nil {
			return err
		}
		return b.answer(ctx, q, a)
	}
	var err error
	switch {
	case k == 'd':
		err = checked(Answer{})
	case k == 'r':
		b.read("reason: ", "", func(reason string) error {
			b.read("approve (y/n): ", "", func(yes string) error {
				approve, err := decided(yes)
				if err != nil {
					return err
				}
				return checked(Answer{Approve: approve, Reason: reason})
			})
			return nil
		})
	case k == 'a':
		label, with := approvalLine(q.InputRequired)
		if label == "" {
			err = checked(Answer{Approve: true})
			break
		}
		b.read(label, with, func(text string) error {
			return checked(Answer{Approve: true, Payload: json.RawMessage(text)})
		})
	case k == 'g' && q.Reason == wire.ParkOutcomeUnknown:
		b.read(givesResult, "", func(text string) error {
			return checked(Answer{Payload: json.RawMessage(text)})
		})
	case k == 'g':
		err = spool.Errorf(spool.Invalid, "only a call whose outcome is unknown gets a result")
	case q.Reason != wire.ParkApproval || !editable(q.Arguments):
		err = spool.Errorf(spool.Invalid, "the arguments of this question cannot be edited here")
	case b.Editor == "":
		b.read("arguments: ", oneLine(q.Arguments, 1<<20), func(text string) error {
			return checked(Answer{Approve: true, Arguments: json.RawMessage(text)})
		})
	default:
		var args json.RawMessage
		if err = b.Term.lend(func() (err error) {
			args, err = edit(ctx, b.Editor, q.Arguments)
			return err
		}); err == nil {
			err = checked(Answer{Approve: true, Arguments: args})
		}
	}
	if err != nil {
		b.print.note(spool.MessageOf(err))
		b.show()
	}
}

// answer sends an answer, and goes on with the next question.
func (b *Inbox) answer(ctx context.Context, q wire.Question, a Answer) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	r, err := b.Client.Respond(ctx, q.ThreadID, a.Request(q.InputRequired))
	switch {
	case err != nil:
		return err
	case !r.Delivered:
		b.print.note("the answer does not count: " + r.Error)
	default:
		b.print.note(map[bool]string{true: "approved ", false: "denied "}[a.Approve] + q.ToolName)
	}
	b.all = append(b.all[:b.at:b.at], b.all[b.at+1:]...)
	b.at = max(0, min(b.at, len(b.all)-1))
	if len(b.all) == 0 {
		b.print.line("No further question waits for an answer.", "")
		return nil
	}
	b.show()
	return nil
}
