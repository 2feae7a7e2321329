package chat

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// describe returns the parts of a message: text as it is, reasoning in parentheses, calls with their arguments.
func describe(c spool.Content) string {
	var parts []string
	for _, p := range c {
		text := p.Text
		switch p.Type {
		case spool.PartReasoning:
			text = "(" + p.Text + ")"
		case spool.PartToolCall:
			text = string(p.ToolCallID) + "=" + p.ToolName + string(p.Args)
		case spool.PartProvider:
			text = "data"
		default:
		}
		parts = append(parts, text+string(p.Provider))
	}
	return strings.Join(parts, " ")
}

// The events of a model become one message.
func TestAskContent(t *testing.T) {
	t.Parallel()
	data := json.RawMessage(`{ "a": 1 }`)
	done, called := spool.Finish{Reason: spool.FinishStop}, spool.Finish{Reason: spool.FinishToolCalls}
	for name, c := range map[string]struct {
		events []spool.ModelEvent
		want   string
		reason spool.FinishReason
	}{
		"pieces":       {[]spool.ModelEvent{say("hel"), say(""), say("lo"), done}, "hello", spool.FinishStop},
		"no reason":    {[]spool.ModelEvent{say("hello"), spool.Finish{}}, "hello", spool.FinishStop},
		"other reason": {[]spool.ModelEvent{say("hello"), spool.Finish{Reason: "why"}}, "hello", "why"},
		"reasoning": {
			[]spool.ModelEvent{spool.ReasoningDelta{Text: "hm"}, spool.ReasoningEnd{Provider: data}, say("hello"), done},
			`(hm){"a":1} hello`, spool.FinishStop,
		},
		"two blocks": {
			[]spool.ModelEvent{say("a"), spool.TextEnd{Provider: data}, say("b"), done}, `a{"a":1} b`, spool.FinishStop,
		},
		"part": {
			[]spool.ModelEvent{say("a"), spool.ProviderPart{Provider: data}, spool.ProviderPart{}, say("b"), done},
			`a data{"a":1} b`, spool.FinishStop,
		},
		"call": {
			[]spool.ModelEvent{
				spool.ToolCallStart{ID: "c1", Name: "look"},
				spool.ToolCallDelta{ID: "c1", Args: "{}"},
				spool.ToolCallEnd{ID: "c1", Name: "look", Args: "{ }"},
				called,
			},
			"c1=look{}", spool.FinishToolCalls,
		},
		"only the end": {
			[]spool.ModelEvent{spool.ToolCallEnd{ID: "c1", Name: "look", Provider: data}, called},
			`c1=look{}{"a":1}`,
			spool.FinishToolCalls,
		},
		"bad arguments": {
			[]spool.ModelEvent{spool.ToolCallEnd{ID: "c1", Name: "look", Args: "{"}, called},
			`c1=look"{"`,
			spool.FinishToolCalls,
		},
		"call without name": {
			[]spool.ModelEvent{
				spool.ToolCallStart{ID: "c1"},
				spool.ToolCallDelta{ID: "c1", Args: "{}"},
				spool.ToolCallEnd{ID: "c1", Args: "{}"},
				called,
			},
			"", spool.FinishToolCalls,
		},
		"nothing after end": {[]spool.ModelEvent{say("a"), done, say("b")}, "a", spool.FinishStop},
		"calls side by side": {
			[]spool.ModelEvent{
				spool.ToolCallStart{ID: "c1", Name: "look"},
				spool.ToolCallStart{ID: "c2", Name: "send"},
				spool.ToolCallEnd{ID: "c2", Name: "send"},
				spool.ToolCallEnd{ID: "c1", Name: "look"},
				called,
			},
			"c2=send{} c1=look{}", spool.FinishToolCalls,
		},
	} {
		turn, err := newScene(t).ask(t.Context(), &script{events: c.events}, spool.ModelRequest{})
		if got := describe(turn.Message.Content); err != nil || got != c.want || turn.Reason != c.reason ||
			turn.Message.Role != spool.RoleAssistant {
			t.Errorf("%s: %s, %s, %v", name, got, turn.Reason, err)
		}
	}
}

// Clients see the blocks of an answer, each closed before the next one. They see no call without a name.
func TestAskItems(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	_, err := s.ask(t.Context(), &script{events: []spool.ModelEvent{
		spool.ReasoningDelta{Text: "hm"},
		say("a"),
		spool.ToolCallStart{ID: "c0"},
		say("b"),
		spool.ToolCallDelta{ID: "c0", Args: "{}"},
		spool.ToolCallEnd{ID: "c0"},
		spool.ToolCallStart{ID: "c1", Name: "look"},
		spool.ToolCallDelta{ID: "c1", Args: "{}"},
		spool.ToolCallEnd{ID: "c1", Name: "look", Args: "{}"},
		spool.Finish{Reason: spool.FinishToolCalls},
	}}, spool.ModelRequest{})
	want := []wire.ItemType{
		wire.ItemReasoningStart, wire.ItemReasoningContent, wire.ItemReasoningEnd, wire.ItemTextStart, wire.ItemTextContent,
		wire.ItemTextContent, wire.ItemTextEnd, wire.ItemToolStart, wire.ItemToolArgs, wire.ItemToolEnd,
	}
	if diff := cmp.Diff(want, s.screen.items); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// An answer that is too long ends there: its open calls are closed, and it says so.
func TestAskCutShort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []spool.ModelEvent
		want   string
	}{
		"text": {[]spool.ModelEvent{say(strings.Repeat("x", 9000))}, strings.Repeat("x", 8998)},
		"data": {
			[]spool.ModelEvent{say("a"), spool.TextEnd{Provider: json.RawMessage(`{"a":1}`)}, say(strings.Repeat("x", 9000))},
			"a " + strings.Repeat("x", 8988),
		},
		"open calls": {
			[]spool.ModelEvent{
				spool.ToolCallStart{ID: "c2", Name: "send"},
				spool.ToolCallDelta{ID: "c2", Args: `{"b`},
				spool.ToolCallStart{ID: "c1", Name: "look"},
				spool.ToolCallStart{ID: "c3", Name: "look"},
			},
			`c2=send"{\"b" c1=look""`,
		},
	} {
		s := newScene(t)
		s.MaxAnswerBytes = 8999
		c.events = append([]spool.ModelEvent{spool.UsageSeen{Usage: spool.Usage{}}}, c.events...)
		turn, err := s.ask(t.Context(), &script{events: append(c.events, say("more"), spool.Finish{})}, spool.ModelRequest{})
		if got := describe(turn.Message.Content); err != nil || got != c.want || turn.Reason != spool.FinishLength ||
			!turn.Exceeded() || turn.Calls() {
			t.Errorf("%s: %.40s (%d), %s, %v", name, got, len(got), turn.Reason, err)
		}
		starts, ends := 0, 0
		for _, item := range s.screen.items {
			starts += map[wire.ItemType]int{wire.ItemToolStart: 1}[item]
			ends += map[wire.ItemType]int{wire.ItemToolEnd: 1}[item]
		}
		if starts != ends || !turn.Seen() || len(turn.ids) != 0 {
			t.Errorf("%s: %d calls begin and %d end", name, starts, ends)
		}
		if turn.row.Guess.Output == nil || turn.row.Guess.Input == nil {
			t.Errorf("%s: the usage that nobody reported is not estimated: %+v", name, turn.row.Guess)
		}
	}
}

// What goes wrong in an answer becomes a cut-off with the part that arrived.
func TestAskFails(t *testing.T) {
	t.Parallel()
	down := &spool.ModelError{Status: 503, Message: "down"}
	over := &spool.ModelError{Status: 400, ContextOverflow: true}
	gone := &spool.ModelError{Status: 404, Gone: true}
	point := spool.ResumePoint{Data: json.RawMessage(`{ "id": 1 }`)}
	for name, c := range map[string]struct {
		model                           script
		resume                          bool // the request asks for an answer again
		saving                          error
		want                            string // of the error
		text                            string
		permanent                       bool
		seen, overflowed, gone, resumes bool
		guessed                         bool
	}{
		"before the answer": {model: script{err: down}, want: "model: down (status 503)"},
		"midway": {
			model: script{events: []spool.ModelEvent{say("half")}, err: down}, want: "model: down (status 503)", text: "half",
			seen: true, guessed: true,
		},
		"in a call": {
			model: script{events: []spool.ModelEvent{spool.ToolCallStart{ID: "c1", Name: "look"}}, err: over},
			want:  "model:  (status 400)", permanent: true, seen: true,
		},
		"no finish": {
			model: script{events: []spool.ModelEvent{say("half")}}, want: "model: the answer ended without a finish",
			text: "half", seen: true, guessed: true,
		},
		"nothing at all": {model: script{}, want: "model: the answer ended without a finish"},
		"overflow":       {model: script{err: over}, want: "model:  (status 400)", permanent: true, overflowed: true},
		"overflow midway": {
			model: script{events: []spool.ModelEvent{say("half")}, err: over}, want: "model:  (status 400)", text: "half",
			permanent: true, seen: true, guessed: true,
		},
		"panics": {
			model: script{events: []spool.ModelEvent{say("half")}, after: func() { panic("boom") }},
			want:  "model: the model adapter panicked (status 400)", text: "half", permanent: true, seen: true, guessed: true,
		},
		"data is no object": {
			model: script{events: []spool.ModelEvent{spool.TextEnd{Provider: json.RawMessage("1")}}},
			want:  "model: the model adapter gave data that cannot be stored", permanent: true,
		},
		"can be resumed": {
			model: script{events: []spool.ModelEvent{point}, err: down}, want: "model: down (status 503)", resumes: true,
			guessed: true,
		},
		"point is empty": {
			model: script{events: []spool.ModelEvent{spool.ResumePoint{}}, err: down}, want: "model: down (status 503)",
		},
		"point is too large": {
			model: script{
				events: []spool.ModelEvent{
					spool.ResumePoint{Data: json.RawMessage(`{"a":"` + strings.Repeat("x", maxResume) + `"}`)},
				},
			},
			want: "model: the model adapter gave a resume point of more than 16384 bytes", permanent: true,
		},
		"point is not saved": {
			model: script{events: []spool.ModelEvent{point}}, saving: errors.New("no store"), want: "no store",
		},
		"resumed, fails again": {
			model: script{err: down}, resume: true, want: "model: down (status 503)", resumes: true, guessed: true,
		},
		"resumed, and gone": {
			model: script{err: gone}, resume: true, want: "model:  (status 404)", gone: true, guessed: true,
		},
		"resumed, gone midway": {
			model: script{events: []spool.ModelEvent{say("half")}, err: gone}, resume: true, want: "model:  (status 404)",
			text: "half", seen: true, guessed: true,
		},
		"gone, but not resumed": {model: script{err: gone}, want: "model:  (status 404)"},
	} {
		s, r := newScene(t), spool.ModelRequest{}
		if s.saving = c.saving; c.resume {
			r.Resume = json.RawMessage(`{"id":1}`)
		}
		_, err := s.ask(t.Context(), &c.model, r)
		cut, ok := errors.AsType[*CutOffError](err)
		if !ok || cut.Error() != c.want || cut.Turn.Message.Text() != c.text {
			t.Errorf("%s: %v with %q", name, err, cut.Turn.Message.Text())
			continue
		}
		if e, ok := errors.AsType[*spool.ModelError](err); ok && e.Permanent() != c.permanent {
			t.Errorf("%s: permanent: %t", name, e.Permanent())
		}
		turn := cut.Turn
		if turn.Seen() != c.seen || turn.Overflowed(err) != c.overflowed || turn.Gone(err) != c.gone ||
			cut.Resumable() != c.resumes {
			t.Errorf("%s: seen %t, overflowed %t, gone %t, can be asked for again %t", name, turn.Seen(), turn.Overflowed(err),
				turn.Gone(err), cut.Resumable())
		}
		if (turn.row.Guess.Input != nil) != c.guessed {
			t.Errorf("%s: the estimate is %+v", name, turn.row.Guess)
		}
	}
	s := newScene(t)
	if _, err := s.ask(
		t.Context(), &script{events: []spool.ModelEvent{point, spool.Finish{}}}, spool.ModelRequest{},
	); err != nil || len(s.saved) != 1 || s.saved[0] != `{"id":1}` {
		t.Errorf("the resume points are %q, %v", s.saved, err)
	}
}

// A run that ends cuts its answer off, unless the answer has just ended. Without a reservation no model is asked.
func TestAskEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []spool.ModelEvent
		ended  bool
	}{
		"in between":    {[]spool.ModelEvent{say("half")}, true},
		"after its end": {[]spool.ModelEvent{say("whole"), spool.Finish{Usage: tokens(5, 1)}}, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		turn, err := newScene(t).ask(ctx, &script{events: c.events}, spool.ModelRequest{})
		if errors.Is(err, context.Canceled) != c.ended || !c.ended && err != nil || (turn.row.Guess.Input != nil) != c.ended {
			t.Errorf("%s: %v, %+v", name, err, turn.row)
		}
	}
	s := newScene(t)
	short := errors.New("no room")
	_, err := s.Ask(t.Context(), Question{
		Model: &script{after: func() { t.Error("the model was asked") }}, Past: s.past,
		Reserve: func(context.Context, *spool.ModelRequest) (wire.StopReason, error) { return "", short },
	})
	if !errors.Is(err, short) || errors.As(err, new(*CutOffError)) {
		t.Errorf("without a reservation: %v", err)
	}
}

// The ledger has the last usage that the provider reported, and estimates only for what it has not.
func TestAskUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model     script
		in, out   int64 // of the ledger; -1 for none
		gin, gout int64 // estimates
	}{
		"reported": {
			script{
				events: []spool.ModelEvent{spool.UsageSeen{Usage: tokens(5, 1)}, say("abcd"), spool.Finish{Usage: tokens(5, 3)}},
			},
			5, 3, -1, -1,
		},
		"not reported": {script{events: []spool.ModelEvent{say("abcd"), spool.Finish{}}}, -1, -1, 134, 2},
		"cut, seen before": {
			script{events: []spool.ModelEvent{spool.UsageSeen{Usage: tokens(5, 1)}, say("abcd")}}, 5, 1, -1, -1,
		},
		"cut, half seen": {
			script{events: []spool.ModelEvent{spool.UsageSeen{Usage: spool.Usage{Input: new(int64(5))}}, say("abcd")}},
			5, -1,
			-1, 2,
		},
		"cut, not seen": {script{events: []spool.ModelEvent{say("abcd")}}, -1, -1, 134, 2},
		"refused":       {script{err: errors.New("no")}, -1, -1, -1, -1},
		"negative": {
			script{
				events: []spool.ModelEvent{
					spool.UsageSeen{Usage: tokens(-5, -1)}, say("abcd"), spool.Finish{Usage: tokens(-5, -3)},
				},
			},
			-1, -1, 134, 2,
		},
		"huge": {
			script{
				events: []spool.ModelEvent{
					spool.UsageSeen{Usage: tokens(math.MaxInt64, 1)},
					say("abcd"),
					spool.Finish{Usage: tokens(1e9+1, 1e9)},
				},
			},
			-1, 1e9, 134, -1,
		},
	} {
		turn, _ := newScene(t).ask(t.Context(), &c.model, spool.ModelRequest{})
		row := turn.row
		for i, p := range []*int64{row.Usage.Input, row.Usage.Output, row.Guess.Input, row.Guess.Output} {
			got, want := int64(-1), []int64{c.in, c.out, c.gin, c.gout}[i]
			if p != nil {
				got = *p
			}
			if got != want {
				t.Errorf("%s: count %d is %d, want %d", name, i, got, want)
			}
		}
	}
}

// A count of the prompt that cannot be true is kept, but an estimate counts for money and for the next prompts.
func TestAskDenied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ counted, best int64 }{"too few": {1400, 3000}, "few": {1500, 1500}} {
		s := newScene(t)
		s.weight = history.Weight{Bytes: 9000, PlainBytes: 9000}
		s.Pricer = pricer(func(c price.Charge) (spool.Cost, error) {
			return spool.Cost{Micros: *c.Usage.Input, Currency: "USD"}, nil
		})
		turn, err := s.ask(t.Context(), &script{
			events: []spool.ModelEvent{say("hi"), spool.Finish{Usage: tokens(c.counted, 3)}},
		}, spool.ModelRequest{})
		if err != nil || *turn.row.Usage.Input != c.counted || *turn.row.Best().Input != c.best ||
			turn.row.Cost.Micros != c.best || turn.row.Estimated() != (c.best != c.counted) {
			t.Errorf("%s: %+v, %v", name, turn.row, err)
		}
		tx, _ := transaction(t)
		if turn.CountPrompt(tx); tx.Run.Context.Tokens != c.best {
			t.Errorf("%s: the next prompts are measured by %+v", name, tx.Run.Context)
		}
	}
}

// Each call of a thread has an id of its own, also if its provider counts from zero or sends none.
func TestCallIDs(t *testing.T) {
	t.Parallel()
	call := func(id spool.ToolCallID) spool.ModelEvent { return spool.ToolCallEnd{ID: id, Name: "look"} }
	s := newScene(t)
	s.past.Add(spool.Message{Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "c0"}}})
	long := spool.ToolCallID(strings.Repeat("x", spool.MaxIDLen))
	turn, err := s.ask(t.Context(), &script{events: []spool.ModelEvent{
		call("c0"), call("c1"), call("c1"), call(""), call("a b"), call(long), spool.Finish{Reason: spool.FinishToolCalls},
	}}, spool.ModelRequest{})
	seen := map[spool.ToolCallID]bool{"c0": true}
	for i, p := range turn.Message.ToolCalls() {
		if seen[p.ToolCallID] || spool.CheckID("id", string(p.ToolCallID)) != nil || (p.ToolCallID == "c1") != (i == 1) {
			t.Errorf("call %d is %q", i, p.ToolCallID)
		}
		seen[p.ToolCallID] = true
	}
	if len(seen) != 7 || err != nil {
		t.Errorf("the calls are %v, %v", seen, err)
	}
	s.run = store.RunRow{Run: wire.Run{ID: "sub_0123456789", RootID: "r"}}
	turn, err = s.ask(t.Context(), &script{events: []spool.ModelEvent{call("c1"), call(long[4:]), spool.Finish{}}},
		spool.ModelRequest{})
	calls := turn.Message.ToolCalls()
	if err != nil || calls[0].ToolCallID != "c1-456789" || spool.CheckID("id", string(calls[1].ToolCallID)) != nil {
		t.Errorf("the calls of a nested run are %q and %q, %v", calls[0].ToolCallID, calls[1].ToolCallID, err)
	}
}
