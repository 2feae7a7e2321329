package chat

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

type fixtureCase struct {
	Name     string
	Snapshot *wire.Snapshot
	Frames   []struct {
		ID    *string
		Frame wire.Frame
	}
}

func fixtures(t *testing.T) map[string]fixtureCase {
	t.Helper()

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "spec", "fixtures", "views.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Views []fixtureCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]fixtureCase)
	for _, c := range file.Views {
		all[c.Name] = c
	}
	return all
}

// show returns what a printer prints while the frames of a case come.
func show(t *testing.T, c fixtureCase, p *Printer) string {
	t.Helper()

	var b strings.Builder
	p.Out = &b
	v := view.New(c.Snapshot)
	p.Show(v)
	for _, f := range c.Frames {
		if err := v.Apply(f.Frame); err != nil {
			t.Fatal(err)
		}
		p.Show(v)
	}
	p.endLine()
	return b.String()
}

func TestPrinter(t *testing.T) {
	t.Parallel()

	all := fixtures(t)
	for name, want := range map[string]string{
		"in the middle of a text": "> Hello\nI send \n",
		"a whole transcript": "> Hello\nI send it.\n→ send {\"to\":\"ann@example.com\"}\n← send {\"sent\":true}\nSent.\n" +
			"… 4 messages were taken out of the conversation\n> Hello again\nHello.\n",
		"reasoning, text and half of the arguments of a call": "> Hello\nGrüße, \"Ann\" 👋\n<b> & more\n",
		"the redone step is saved once":                       "> Hello\n→ look {}\n← look 1\nIt is one\n… the step has failed, and what it said does not count\nIt is 1.\n",
		"a step is redone":                                    "> Hello\n→ look {}\n← look 1\nIt is one\n… the step has failed, and what it said does not count\nIt is 1.\n",
		"a steer stands between two steps":                    "> Hello\nStep one.\n> In French\nÉtape deux\n",
		"a run is stopped in the middle of a text":            "> Hello\nI was about to\n",
		"a text that a snapshot began is saved":               "> Hello\nHalf of it.\n",
		"a snapshot replaces what was missed":                 "> Hello\nHello, Ann.\n",
		"one nested run has finished, and one has failed": "> Hello\n→ spawn {\"agent\":\"clerk\"}\n→ spawn {\"agent\":\"scout\"}\n  clerk:\n  I look\n  → look {}\n  ← look 1\n" +
			"  One\n  scout:\n  Never saved\n… the step has failed, and what it said does not count\n" +
			"← spawn {\"agentId\":\"n1\",\"result\":\"One\"}\n← spawn {\"agentId\":\"n2\",\"error\":\"model: no (status 400)\"}\n",
		"an edit drops a turn and what follows it": "> One\n1\n> Two\n2\n… 2 messages were taken out of the conversation\n> Three\n",
		"a summary is a message":                   "> One\n1\n… earlier messages are summarised for the model\n> Two\n",
	} {
		c, ok := all[name]
		if !ok {
			t.Errorf("there is no case %q", name)
			continue
		}
		if diff := cmp.Diff(want, show(t, c, &Printer{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// What is only printed when it is saved never has to be taken back.
	for name, c := range all {
		if got := show(t, c, &Printer{Whole: true}); strings.Contains(got, "does not count") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := show(
		t, all["in the middle of a text"], &Printer{Thinking: true, Style: true},
	); got != "\x1b[1m> Hello\x1b[0m\nI send \n" {
		t.Errorf("%q", got)
	}
	if got := show(
		t, all["reasoning, text and half of the arguments of a call"], &Printer{Thinking: true},
	); !strings.Contains(got, "Let me see.Grüße") {
		t.Errorf("%q", got)
	}
}

// What a model says cannot control the terminal, and a call or a result is one line.
func TestClean(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		"plain\ttext\nof two lines":   "plain\ttext\nof two lines",
		"\x1b]0;title\x07\x1b[2J":     "]0;title[2J",
		"\u009b31m\u0085next":         "31mnext",
		"a\rb\x00c\x7f":               "abc",
		"left\u202eright\u2066\u200f": "leftright",
		"bad\xffutf":                  "bad\ufffdutf",
		"👋 ångström":                  "👋 ångström",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Line("one\n\ttwo "+strings.Repeat("x", 50), 20); got != "one two xxxxxxxxxxx…" {
		t.Errorf("%q", got)
	}
}

func TestAnswerCheck(t *testing.T) {
	t.Parallel()

	ask := func(reason, args string) wire.InputRequired {
		return wire.InputRequired{Reason: reason, Arguments: json.RawMessage(args)}
	}
	budget := ask(wire.ParkBudget,
		`{"exhausted":"token_budget","budget":{"tokenBudget":600,"costBudgetMicros":5},"currency":"USD"}`)
	if got := Larger(budget); got != `{"tokenBudget":8792}` {
		t.Errorf("larger: %s", got)
	}
	used := ask(wire.ParkBudget,
		`{"exhausted":"cost_budget","budget":{"costBudgetMicros":5},"spent":{"costBudgetMicros":70}}`)
	if got := Larger(used); got != `{"costBudgetMicros":210}` {
		t.Errorf("larger: %s", got)
	}
	for name, c := range map[string]struct {
		q    wire.InputRequired
		a    Answer
		want string
	}{
		"an approval": {ask(wire.ParkApproval, `{}`), Answer{Approve: true}, ""},
		"other arguments": {
			ask(wire.ParkApproval, `{}`), Answer{Approve: true, Arguments: json.RawMessage(`{"a":1}`)}, "",
		},
		"arguments of a denial": {
			ask(wire.ParkApproval, `{}`), Answer{Arguments: json.RawMessage(`{}`)}, "arguments go with an approval",
		},
		"no object": {
			ask(wire.ParkApproval, `{}`),
			Answer{Approve: true, Arguments: json.RawMessage(`7`)},
			"the arguments must be a JSON object",
		},
		"a payload that is no JSON": {
			ask("job", `{}`), Answer{Approve: true, Payload: json.RawMessage(`{`)}, "the payload must be JSON",
		},
		"a budget without a total": {
			budget, Answer{Approve: true}, `a larger budget is needed, such as {"tokenBudget":8792}`,
		},
		"a budget that stays": {budget, Answer{}, ""},
		"a client's tool, no result": {
			ask(wire.ParkClientTool, `{}`), Answer{Approve: true}, "the result of the call is needed, as JSON",
		},
	} {
		if err := c.a.Check(c.q); (err != nil) != (c.want != "") || err != nil && spool.MessageOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Keys come in any pieces, and escape sequences are no text.
func TestParse(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		reads []string
		want  []rune
	}{
		"text":               {[]string{"ab\r"}, []rune{'a', 'b', keyEnter}},
		"a character in two": {[]string{"\xf0\x9f", "\x91\x8b!"}, []rune{'👋', '!'}},
		"arrows and keys":    {[]string{"\x1b[A\x1b[1;5Cx\x1bOPy\x1bz"}, []rune{'x', 'y'}},
		"control":            {[]string{"\x03\x04\x7f\x15\x01"}, []rune{keyInterrupt, keyEnd, keyBackspace, keyClear}},
	} {
		var term Terminal
		var got []rune
		for _, read := range c.reads {
			got = append(got, term.parse([]byte(read))...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A server that cannot be reached is told with its address, and the error of a server as it says it.
func TestTold(t *testing.T) {
	t.Parallel()

	c, err := client.New("http://127.0.0.1:1", client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Run(t.Context(), client.RunRequest{Prompt: "Hello"})
	if got := describeError(err); !strings.Contains(got, "cannot be reached") || !strings.Contains(got, "127.0.0.1:1/") {
		t.Errorf("told %q of %v", got, err)
	}
	if got := describeError(spool.Wrap(
		spool.Conflict, "the run was refused", errors.New("busy"),
	)); got != "the run was refused" {
		t.Errorf("told %q", got)
	}
}
