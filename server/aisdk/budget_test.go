package aisdk_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// newFrugal returns an engine whose runs ask when they have used 600 tokens.
func newFrugal(t *testing.T, turns ...spooltest.Turn) *engine.Engine {
	t.Helper()
	lookup := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "lookup"},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`{"found":1}`), nil
		},
	}
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: []spool.Tool{lookup}, MaxOutputTokens: 40, Budget: spool.Budget{Tokens: 600},
			OnBudget: spool.BudgetPark,
			Spawn:    &spool.Spawn{Profiles: map[string]spool.Profile{"mailer": {Tools: []spool.Tool{lookup}}}},
		}},
		Models: map[string]spool.Model{"m": spooltest.NewModel(turns...)}, Stream: option.Stream{FlushEvery: -1},
		Log: slog.New(slog.DiscardHandler), ParkTTL: 15 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// questions reads what the runs of an engine have asked.
func questions(e *engine.Engine) aisdk.Questions {
	return func(run spool.RunID) ([]wire.ParkDetail, error) {
		return e.Parks(context.Background(), key, run)
	}
}

// open returns the question for which the run waits.
func open(t *testing.T, e *engine.Engine) wire.ParkDetail {
	t.Helper()
	all, err := questions(e)("r1")
	at := slices.IndexFunc(all, func(p wire.ParkDetail) bool { return p.State == wire.ParkOpen })
	if at < 0 {
		t.Fatalf("nothing waits in %v: %v", all, err)
	}
	return all[at]
}

// A reloaded page, and one that resumes, show each question about a budget in its place, and what became of it. So
// does the page of the person who has answered.
func TestBudget(t *testing.T) {
	t.Parallel()

	const yes = `tool-budget output-available {"approved":true}`
	step := func(words string, calls ...spooltest.Call) spooltest.Turn {
		return spooltest.Turn{Text: []string{words}, Calls: calls, Usage: spooltest.Tokens(500, 10)}
	}
	look := func(id spool.ToolCallID) spooltest.Call { return spooltest.Call{ID: id, Name: "lookup"} }
	stopRun := func(t *testing.T, e *engine.Engine) {
		t.Helper()
		if got, err := e.Stop(t.Context(), key); err != nil || !got.Accepted {
			t.Fatal(got, err)
		}
	}
	for name, c := range map[string]struct {
		turns []spooltest.Turn
		// payloads are the answers, one after another. Empty: no.
		payloads []string
		// other has the answer of somebody else count, who says the opposite.
		other bool
		play  func(*testing.T, *engine.Engine)
		want  []string
	}{
		"Raised": {
			turns: []spooltest.Turn{step("One.", look("c1")), step("Two.")}, payloads: []string{`{"tokenBudget":5000}`},
			want: []string{
				"step-start", "text One.", `tool-lookup output-available {"found":1}`, yes, "step-start", "text Two.",
			},
		},
		"Denied": {
			turns: []spooltest.Turn{step("One.", look("c1"))}, payloads: []string{""},
			want: []string{"step-start", "text One.", `tool-lookup output-available {"found":1}`, "tool-budget output-denied"},
		},
		"Twice": {
			turns:    []spooltest.Turn{step("One.", look("c1")), step("Two.", look("c2"))},
			payloads: []string{`{"tokenBudget":1300}`, ""},
			want: []string{
				"step-start", "text One.", `tool-lookup output-available {"found":1}`, yes,
				"step-start", "text Two.", `tool-lookup output-available {"found":1}`, "tool-budget output-denied",
			},
		},
		"SomebodyElse": {
			turns: []spooltest.Turn{step("One.", look("c1"))}, payloads: []string{""}, other: true,
			want: []string{"step-start", "text One.", `tool-lookup output-available {"found":1}`, "tool-budget output-denied"},
		},
		"Expired": {
			turns: []spooltest.Turn{step("One.", look("c1"))}, play: func(*testing.T, *engine.Engine) { settle(time.Hour) },
			want: []string{
				"step-start", "text One.", `tool-lookup output-available {"found":1}`,
				`tool-budget output-available {"responded":false,"cancelled":true,"reason":"timeout"}`,
			},
		},
		"Stopped": {
			turns: []spooltest.Turn{step("One.", look("c1"))}, play: stopRun,
			want: []string{
				"step-start", "text One.", `tool-lookup output-available {"found":1}`,
				`tool-budget output-available {"cancelled":true}`,
			},
		},
		"Nested": {
			turns: []spooltest.Turn{
				{
					Calls: []spooltest.Call{{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mail ann."}`}},
					Usage: spooltest.Tokens(10, 5),
				},
				step("I look.", look("c1")), step("I look again.", look("c2")), step("Written."), step("Done."),
			},
			payloads: []string{`{"tokenBudget":5000}`},
			want: []string{
				"step-start", "data-subagent", `dynamic-tool output-available {"found":1}`, yes,
				`dynamic-tool output-available {"found":1}`, "step-start", "text Done.",
			},
		},
	} {
		for _, v := range []aisdk.Version{aisdk.V6, aisdk.V7} {
			t.Run(name+string(rune('0'+v)), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e := newFrugal(t, c.turns...)
					defer e.Close()
					if got, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil ||
						!got.Accepted {
						t.Fatal(got, err)
					}
					stop := sync.OnceFunc(work(t, e))
					defer stop()
					settle(time.Second)
					page := come(t, e, aisdk.Options{Version: v, Questions: questions(e)}).saw()
					for _, payload := range c.payloads {
						page = answerBudget(t, e, v, page, payload, c.other)
					}
					if c.play != nil {
						c.play(t, e)
					}
					settle(time.Minute)
					stop()
					kept, resumed := savedWith(t, e, v, questions(e)),
						come(t, e, aisdk.Options{Version: v, Questions: questions(e)}).saw()
					saved := lines(kept)
					if diff := cmp.Diff(c.want, saved); diff != "" {
						t.Errorf("-want +saved\n%s", diff)
					}
					if diff := cmp.Diff(saved, lines(resumed)); diff != "" {
						t.Errorf("-saved +resumed\n%s", diff)
					}
					if got, want := resumed.Metadata.Expired, kept.Metadata.Expired; got != want ||
						(got.Questions == 1) != (name == "Expired") {
						t.Errorf("the mark is %v, and of the saved message %v", got, want)
					}
					if diff := cmp.Diff(saved, lines(page)); diff != "" && c.play == nil {
						t.Errorf("-saved +page\n%s", diff)
					}
				})
			})
		}
	}
}

// answerBudget answers the open question about a budget at a page, which then goes on with its copy of the message.
func answerBudget(
	t *testing.T, e *engine.Engine, v aisdk.Version, page aisdk.Message, payload string, other bool,
) aisdk.Message {
	t.Helper()
	s, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	from := s.Runs[len(s.Runs)-1] // the oldest, and so the parent
	asked := open(t, e)
	copied := map[spool.ToolCallID]aisdk.Part{}
	for i, p := range page.Parts {
		if p.ToolCallID == asked.ToolCallID {
			said := (payload != "") != other
			p.State, p.Approval = "approval-responded", &aisdk.Approval{ID: p.Approval.ID, Approved: &said}
			page.Parts[i] = p
		}
		if p.ToolCallID != "" {
			copied[p.ToolCallID] = p
		}
	}
	answer := wire.Response{ToolCallID: asked.ToolCallID, Approved: payload != ""}
	if answer.Approved {
		answer.Payload = json.RawMessage(payload)
	}
	got, err := e.Respond(t.Context(), key, answer)
	if err != nil || !got.Delivered {
		t.Fatal(got, err)
	}
	c := come(t, e, aisdk.Options{Version: v, Copied: copied, From: &from, Questions: questions(e)})
	settle(time.Second)
	c.saw()
	for chunk := range strings.SplitSeq(string(c.text), "\n\n") {
		var one aisdk.Chunk
		if data, ok := strings.CutPrefix(chunk, "data: "); ok && json.Unmarshal([]byte(data), &one) == nil {
			page.Apply(one)
		}
	}
	return page
}

// savedWith returns the message of the run as the thread has it.
func savedWith(t *testing.T, e *engine.Engine, v aisdk.Version, asked aisdk.Questions) aisdk.Message {
	t.Helper()
	s, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := aisdk.Messages(v, s, asked, address)
	if err != nil {
		t.Fatal(err)
	}
	return messages[len(messages)-1]
}

// lines returns what a page shows of a message.
func lines(m aisdk.Message) (out []string) {
	for _, p := range m.Parts {
		words := []string{p.Type}
		if p.ToolCallID != "" {
			words = append(words, p.State)
		}
		if p.Text != nil {
			words = append(words, *p.Text)
		}
		if p.Output != nil {
			words = append(words, string(p.Output))
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}
