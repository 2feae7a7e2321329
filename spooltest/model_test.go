package spooltest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// ask returns the events of one answer, and its error, as text.
func ask(ctx context.Context, m spool.Model, r spool.ModelRequest) []string {
	var got []string
	for event, err := range m.Stream(ctx, r) {
		if err != nil {
			return append(got, "error: "+err.Error())
		}
		got = append(got, fmt.Sprintf("%T %s", event, summary(event)))
	}
	return got
}

func summary(event spool.ModelEvent) string {
	switch e := event.(type) {
	case spool.TextDelta:
		return e.Text
	case spool.ReasoningDelta:
		return e.Text
	case spool.ToolCallDelta:
		return e.Args
	case spool.ToolCallEnd:
		return fmt.Sprintf("%s %s %s", e.ID, e.Name, e.Args)
	case spool.Finish:
		return string(e.Reason)
	default:
		return ""
	}
}

func prompt(roles ...spool.Role) spool.ModelRequest {
	var r spool.ModelRequest
	for _, role := range roles {
		r.Messages = append(r.Messages, spool.Message{Role: role, Content: spool.TextContent("x")})
	}
	return r
}

func TestModelTurn(t *testing.T) {
	t.Parallel()

	m := spooltest.NewModel(spooltest.Turn{
		Reasoning: []string{"hm", "m"},
		Text:      []string{"a", "b"},
		Calls:     []spooltest.Call{{ID: "c1", Name: "look", Args: `{"a":1}`}},
		Usage:     spooltest.Tokens(3, 4),
	}, spooltest.Say("done"))
	got := ask(t.Context(), m, prompt(spool.RoleUser))
	want := []string{
		"spool.ReasoningDelta hm", "spool.ReasoningDelta m", "spool.ReasoningEnd ",
		"spool.TextDelta a", "spool.TextDelta b",
		"spool.ToolCallStart ", `spool.ToolCallDelta {"a`, `spool.ToolCallDelta ":1}`, `spool.ToolCallEnd c1 look {"a":1}`,
		"spool.UsageSeen ", "spool.Finish tool-calls",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := ask(t.Context(), m, prompt()),
		[]string{"spool.TextDelta done", "spool.Finish stop"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = ask(t.Context(), m, prompt())
	if want := []string{"error: model: the script has no turn left (status 400)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if m.Asked() != 3 || len(m.Requests()[0].Messages) != 1 {
		t.Errorf("remembers %v", m.Requests())
	}
}

func TestModelEnds(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")
	for name, test := range map[string]struct {
		turn spooltest.Turn
		want []string
	}{
		"Err": {spooltest.Turn{Text: []string{"a"}, Err: boom}, []string{"spool.TextDelta a", "error: boom"}},
		"Cut": {spooltest.Turn{Text: []string{"a"}, Cut: true}, []string{"spool.TextDelta a"}},
		"Before": {
			spooltest.Turn{Text: []string{"a"}, Before: func(context.Context) error { return boom }},
			[]string{"error: boom"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := ask(t.Context(), spooltest.NewModel(test.turn), prompt()); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestModelGate(t *testing.T) {
	t.Parallel()

	gate := make(chan struct{})
	turn := spooltest.Turn{Text: []string{"a"}, Gate: gate}
	m := spooltest.NewModel(turn, turn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for event, err := range m.Stream(ctx, prompt()) {
		got = append(got, fmt.Sprint(event, err))
		cancel()
	}
	if want := []string{"{a} <nil>", "<nil> context canceled"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	close(gate)
	if got := ask(t.Context(), m, prompt()); len(got) != 2 {
		t.Errorf("got %q after an open gate", got)
	}
}

func TestModelContext(t *testing.T) {
	t.Parallel()

	m := spooltest.NewModel(spooltest.Say("a", "b", "c"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for _, err := range m.Stream(ctx, prompt()) {
		if seen++; seen == 2 && !errors.Is(err, context.Canceled) {
			t.Errorf("event after the cancellation has error %v", err)
		}
		cancel()
	}
	if seen != 2 {
		t.Errorf("saw %d events, want 2", seen)
	}
}

func TestReplayModel(t *testing.T) {
	t.Parallel()

	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c", Name: "n"}), spooltest.Say("b"))
	second := prompt(spool.RoleUser, spool.RoleAssistant, spool.RoleUser, spool.RoleAssistant, spool.RoleTool)
	for range 2 {
		if got := ask(t.Context(), m, second); got[0] != "spool.TextDelta b" {
			t.Errorf("got %q for the second step", got)
		}
		if got := ask(t.Context(), m, prompt(spool.RoleUser)); got[0] != "spool.ToolCallStart " {
			t.Errorf("got %q for the first step", got)
		}
	}
}
