package loop

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// script is a model that gives these answers, and then the last one again.
type script struct {
	answers []answer
	asked   []spool.ModelRequest
}

// answer is events, and then an error, if any.
type answer struct {
	events []spool.ModelEvent
	err    error
}

func (m *script) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	next := m.answers[min(len(m.asked), len(m.answers)-1)]
	m.asked = append(m.asked, r)
	return func(yield func(spool.ModelEvent, error) bool) {
		for _, event := range next.events {
			if !yield(event, nil) {
				return
			}
		}
		if next.err != nil {
			yield(nil, next.err)
		}
	}
}

// says is an answer with a text, if any.
func says(text string, reason spool.FinishReason) answer {
	a := answer{events: []spool.ModelEvent{spool.Finish{Reason: reason, Usage: spool.Usage{Output: new(int64(1))}}}}
	if text != "" {
		a.events = append([]spool.ModelEvent{spool.TextDelta{Text: text}}, a.events...)
	}
	return a
}

// plays lets the scene's models give answers, in this window.
func (s *scene) plays(c history.Context, models map[string]*script) {
	s.asker.models.Attachments, s.asker.models.Chat.MaxAnswerBytes = &attach.Files{}, 1000
	for name, m := range models {
		s.Host().Registry.Models[name] = m
	}
	s.asker.model = s.Host().Registry.Models[s.Row().ModelInUse()]
	s.asker.models.Compactor = &compact.Compactor{
		Threads: s.Host().Threads, Registry: s.Host().Registry, Context: c, Chat: s.asker.models.Chat,
	}
}

// thinks is an answer without words.
func thinks() answer {
	a := says("", spool.FinishStop)
	a.events = append(
		[]spool.ModelEvent{spool.ReasoningDelta{Text: "hm"}, spool.ReasoningEnd{Provider: []byte(`{"a":1}`)}}, a.events...,
	)
	return a
}

// An answer without words is asked for once more, unless its reason explains it. Both are charged.
func TestAskSpeaking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []answer
		text    string // with the reasoning in parentheses
		asked   int
		failed  bool
	}{
		"speaks": {answers: []answer{says("hello", spool.FinishStop)}, text: "hello", asked: 1},
		"speaks then": {
			answers: []answer{says("", spool.FinishStop), says("hello", spool.FinishStop)}, text: "hello", asked: 2,
		},
		"never speaks": {answers: []answer{says("", spool.FinishStop), says(" ", spool.FinishStop)}, text: " ", asked: 2},
		"was cut off":  {answers: []answer{says("", spool.FinishLength)}, asked: 1},
		"was filtered": {answers: []answer{says("", spool.FinishFilter)}, asked: 1},
		"thinks first": {answers: []answer{thinks(), says("hello", spool.FinishStop)}, text: "(hm)hello", asked: 2},
		"fails":        {answers: []answer{{err: stage.ErrDown}}, asked: 1, failed: true},
		"thinks, breaks": {
			answers: []answer{thinks(), {events: []spool.ModelEvent{spool.TextDelta{Text: "he"}}, err: stage.ErrDown}},
			text:    "(hm)he", asked: 2, failed: true,
		},
	} {
		s, m := newScene(t, spool.Agent{}, store.RunRow{}), &script{answers: c.answers}
		s.plays(history.Context{}, map[string]*script{"m": m})
		turn, err := s.asker.askSpeaking(t.Context(), history.New(nil, 0, nil))
		cut, failed := errors.AsType[*chat.CutOffError](err)
		if failed {
			turn = cut.Turn
		}
		got := ""
		for _, p := range turn.Message.Content {
			if got += p.Text; p.Type == spool.PartReasoning {
				got = "(" + got + ")"
			}
			if p.Provider != nil {
				t.Errorf("%s: data of one answer is in another: %s", name, p.Provider)
			}
		}
		if got != c.text || len(m.asked) != c.asked || failed != c.failed || len(s.Rows.Rows.Usage) != c.asked-1 {
			t.Errorf("%s: %q, asked %d times, %d charged, %v", name, got, len(m.asked), len(s.Rows.Rows.Usage), err)
		}
	}
}

// A run asks its models in turn. If clients have seen a part of a failed answer, the segment ends in between.
func TestAskModels(t *testing.T) {
	t.Parallel()
	half := answer{events: []spool.ModelEvent{spool.TextDelta{Text: "half"}}, err: stage.ErrDown}
	down, key, hello := answer{err: stage.ErrDown}, answer{err: stage.ErrKey}, says("hello", spool.FinishStop)
	for name, c := range map[string]struct {
		m, spare, last answer
		nested, stop   bool
		text           string
		done, failed   bool
		uses           string
		state          wire.State
	}{
		"answers": {m: hello, text: "hello", uses: "m", state: wire.Running},
		"down":    {m: down, spare: hello, text: "hello", uses: "spare", state: wire.Running},
		"refuses": {
			m: says("", spool.FinishFilter), spare: hello, text: "hello", uses: "spare", state: wire.Running,
		},
		"two fail": {m: down, spare: key, last: hello, text: "hello", uses: "last", state: wire.Running},
		"all fail": {m: down, spare: key, last: down, failed: true, uses: "last", state: wire.Running},
		"all refuse to answer": {
			m: says("", spool.FinishFilter), spare: says("", spool.FinishFilter), last: says("nor may I", spool.FinishFilter),
			text: "nor may I", uses: "last", state: wire.Running,
		},
		"a part was seen":      {m: half, done: true, uses: "spare", state: wire.Queued},
		"seen of a nested run": {m: half, nested: true, failed: true, uses: "spare", state: wire.Running},
		"stopped meanwhile":    {m: down, stop: true, failed: true, uses: "m", state: wire.Running},
	} {
		s := newScene(t, spool.Agent{Fallbacks: []string{"spare", "last"}, Spawn: &spool.Spawn{Open: true}}, store.RunRow{})
		if c.nested {
			s = s.nested(store.RunRow{Run: wire.Run{Model: "m"}})
		}
		if c.stop {
			s.Rows.Rows.Runs[0].StopAt = stage.Noon
		}
		s.plays(history.Context{}, map[string]*script{
			"m":     {answers: []answer{c.m}},
			"spare": {answers: []answer{c.spare}},
			"last":  {answers: []answer{c.last}},
		})
		turn, done, err := s.asker.askModels(t.Context(), history.New(nil, 0, nil))
		run := s.Saved()
		if turn.Message.Text() != c.text || done != c.done || (err != nil) != c.failed || run.ModelInUse() != c.uses ||
			run.State != c.state {
			t.Errorf("%s: %q, done %t, %v, the run uses %s and is %s", name, turn.Message.Text(), done, err, run.ModelInUse(),
				run.State)
		}
		if (s.Screen.Woken == 1) != (c.state == wire.Queued) {
			t.Errorf("%s: workers were woken %d times", name, s.Screen.Woken)
		}
		if again, ok := errors.AsType[*calls.AttemptError](err); ok != c.nested || ok && again.Attempts != 0 {
			t.Errorf("%s: the segment ends with %+v", name, again)
		}
	}
}

// A prompt that is too long is summarised where that helps, and otherwise shortened.
func TestFit(t *testing.T) {
	t.Parallel()
	window := history.Context{Ceiling: 6000, OutputReserve: 1000, CompactionTrigger: 0.8, TailShare: 0.3}
	resume := store.RunRow{RunState: store.RunState{Resume: &store.ResumableAnswer{}}}
	for name, c := range map[string]struct {
		messages  int // of about 1000 tokens each
		window    history.Context
		run       store.RunRow
		must      bool
		failed    int64 // the prompt's size when a summary last failed
		err       error // of the summary
		asked     bool
		shortened bool
	}{
		"fits":                     {messages: 3, window: window},
		"too long":                 {messages: 6, window: window, asked: true},
		"never":                    {messages: 6},
		"was refused":              {messages: 3, window: window, must: true, asked: true},
		"summary fails":            {messages: 6, window: window, err: stage.ErrDown, asked: true, shortened: true},
		"failed before":            {messages: 6, window: window, failed: 6600, shortened: true},
		"failed much before":       {messages: 6, window: window, failed: 5000, asked: true},
		"answer is asked again":    {messages: 6, window: window, run: resume, shortened: true},
		"again, but was refused":   {messages: 3, window: window, run: resume, must: true, asked: true},
		"one message, was refused": {messages: 1, window: window, must: true},
	} {
		s := newScene(t, spool.Agent{}, c.run)
		m := &script{answers: []answer{says("so far", spool.FinishStop)}}
		if m.answers[0].err = c.err; c.err != nil {
			m.answers[0].events = nil
		}
		s.plays(c.window, map[string]*script{"m": m})
		var messages []spool.Message
		for i := range c.messages {
			role := []spool.Role{spool.RoleUser, spool.RoleAssistant}[i%2]
			id := spool.MessageID("m" + string(rune('1'+i)))
			messages = append(messages, spool.Message{
				ID: id, Role: role, RunID: "before", Content: spool.TextContent(strings.Repeat("word ", 964)),
			})
		}
		s.asker.failed = c.failed
		to := c.window.LimitsOf("m", m, 0)
		r, err := s.asker.fit(t.Context(), history.New(messages, 0, nil), to, c.must)
		s.Check(err)
		size := history.NewMeter(nil).Of(r.weight)
		if (len(m.asked) > 0) != c.asked || c.window.Ceiling > 0 && size > to.Budget {
			t.Errorf("%s: a summary was asked for: %t, and the prompt has %d tokens", name, len(m.asked) > 0, size)
		}
		whole := len(r.Messages) == c.messages && r.Messages[0].Text() == messages[0].Text()
		summarised := c.asked && c.err == nil
		if whole != (!summarised && !c.shortened) || summarised != (len(s.Rows.Rows.Messages) == 1) ||
			(s.asker.failed > 0) != (c.failed > 0 && !c.asked || c.err != nil) {
			t.Errorf("%s: %d messages, %d summaries, failed at %d", name, len(r.Messages), len(s.Rows.Rows.Messages),
				s.asker.failed)
		}
	}
}

// A provider that refuses a prompt as too long gets a shorter one, once.
func TestAskFitting(t *testing.T) {
	t.Parallel()
	over := answer{err: &spool.ModelError{Status: 400, Message: "too long", ContextOverflow: true}}
	midway := answer{events: []spool.ModelEvent{spool.TextDelta{Text: "half"}}, err: over.err}
	summary, hello := says("so far", spool.FinishStop), says("hello", spool.FinishStop)
	for name, c := range map[string]struct {
		trigger float64
		answers []answer
		text    string
		asked   int
		rows    int
	}{
		"fits":          {trigger: 0.8, answers: []answer{hello}, text: "hello", asked: 1},
		"refused once":  {trigger: 0.8, answers: []answer{over, summary, hello}, text: "hello", asked: 3, rows: 2},
		"refused twice": {trigger: 0.8, answers: []answer{over, summary, over}, asked: 3, rows: 2},
		"never shorter": {answers: []answer{over}, asked: 1},
		"midway":        {trigger: 0.8, answers: []answer{midway}, asked: 1},
	} {
		s, m := newScene(t, spool.Agent{}, store.RunRow{}), &script{answers: c.answers}
		s.plays(history.Context{Ceiling: 6000, OutputReserve: 1000, CompactionTrigger: c.trigger, TailShare: 0.3},
			map[string]*script{"m": m})
		var messages []spool.Message
		for i, role := range []spool.Role{spool.RoleUser, spool.RoleAssistant, spool.RoleUser} {
			messages = append(messages, spool.Message{
				ID: spool.MessageID("m" + string(rune('1'+i))), Role: role, RunID: "before",
				Content: spool.TextContent(strings.Repeat("word ", 964)),
			})
		}
		turn, err := s.asker.askFitting(t.Context(), history.New(messages, 0, nil))
		if (turn.Reason == "") != (c.text == "") || c.text != "" && turn.Message.Text() != c.text ||
			(err == nil) != (c.text != "") || len(m.asked) != c.asked || len(s.Rows.Rows.Usage) != c.rows {
			t.Errorf("%s: %q, %v, asked %d times, %d rows", name, turn.Message.Text(), err, len(m.asked), len(s.Rows.Rows.Usage))
		}
	}
}
