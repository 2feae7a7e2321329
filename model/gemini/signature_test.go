package gemini_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/model/gemini"
)

// Each signature of an answer is on a part of its own, exactly as it was received, and goes back there.
func TestSignatures(t *testing.T) {
	t.Parallel()

	for _, signing := range []fake.Signing{fake.SignAsGemini3, fake.SignAll} {
		for _, noIDs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%t", signing, noIDs), func(t *testing.T) {
				t.Parallel()

				p := newPeer(t, fake.Config{Signing: signing, NoIDs: noIDs, Answer: func(r *fake.Request) fake.Answer {
					if len(r.Responses()) > 0 {
						return fake.Answer{Parts: []fake.Part{fake.Thought("I have it all."), fake.Text("Oslo is sunny at noon.")}}
					}
					return fake.Answer{
						Parts: []fake.Part{fake.Thought("I need both."), fake.Text("Looking."), weather(), clock(), weather()},
					}
				}})
				m := p.model(t, gemini.Config{})
				messages := []spool.Message{user("How is Oslo?")}
				for range 3 {
					called := mustAsk(t, m, spool.ModelRequest{Messages: messages})
					if called.finish.Reason != spool.FinishToolCalls || len(called.message.ToolCalls()) != 3 {
						t.Fatalf("got %+v", called)
					}
					messages = append(messages, called.message, resultsOf(called.message))
					said := mustAsk(t, m, spool.ModelRequest{Messages: messages})
					if said.message.Text() != "Oslo is sunny at noon." {
						t.Fatalf("got %+v", said)
					}
					messages = append(messages, said.message, user("And now?"))
				}
				if refused := p.Refused(); len(refused) > 0 {
					t.Errorf("refused: %q", refused)
				}
			})
		}
	}
}

// The signature of a thought that came in pieces keeps the pieces before it.
func TestSignedThoughtInPieces(t *testing.T) {
	t.Parallel()

	p := newPeer(t, fake.Config{Signing: fake.SignNone, Answer: func(*fake.Request) fake.Answer {
		return fake.Answer{
			Parts: []fake.Part{fake.Thought("A"), signed(fake.Thought("B"), "sig/+A=="), fake.Thought("C"), fake.Text("D")},
			Whole: true,
		}
	}})
	m := p.model(t, gemini.Config{})
	got := mustAsk(t, m, hello())
	mustAsk(t, m, spool.ModelRequest{Messages: []spool.Message{user("Hello?"), got.message, user("Sure?")}})
	const want = `{"role":"model","parts":[{"text":"A","thought":true},{"text":"B","thought":true,"thoughtSignature":"sig/+A=="},{"text":"D"}]}`
	if body := p.Requests()[1]; !strings.Contains(body, want) {
		t.Errorf("%s is not in %s", want, body)
	}
}

// A part without a text, but with a signature, is an empty text.
func TestSignatureAlone(t *testing.T) {
	t.Parallel()

	p := newPeer(t, answerWith(fake.Answer{
		Parts: []fake.Part{fake.Text("Done.")}, Whole: true,
		Raw: []string{`{"candidates":[{"content":{"parts":[{"thoughtSignature":"c2lnbg=="}]}}]}`},
	}))
	got := mustAsk(t, p.model(t, gemini.Config{}), hello()).message.Content
	last := got[len(got)-1]
	if last.Type != spool.PartText || last.Text != "" ||
		string(last.Provider) != `{"gemini":{"model":"`+testModel+`","signature":"c2lnbg=="}}` {
		t.Errorf("got %+v", got)
	}
}

// Large numbers in arguments stay as they are.
func TestExactArguments(t *testing.T) {
	t.Parallel()

	const args = `{"b":12345678901234567890,"a":1e2}`
	p := newPeer(t, fake.Config{
		Answer: func(r *fake.Request) fake.Answer { return afterResponses(r, fake.FunctionCall("weather", args)) },
	})
	m := p.model(t, gemini.Config{})
	got := mustAsk(t, m, hello())
	if calls := got.message.ToolCalls(); len(calls) != 1 || string(calls[0].Args) != args {
		t.Fatalf("got %+v", got.message)
	}
	mustAsk(t, m, spool.ModelRequest{Messages: []spool.Message{user("Hello?"), got.message, resultsOf(got.message)}})
	if body := p.Requests()[1]; !strings.Contains(body, args) {
		t.Errorf("%s is not in %s", args, body)
	}
}

// The server must notice each mistake, or the other tests would prove nothing.
func TestFakeIsStrict(t *testing.T) {
	t.Parallel()

	p := newPeer(t, fake.Config{Answer: func(r *fake.Request) fake.Answer {
		return afterResponses(r, fake.Text("Looking."), weather(), clock())
	}})
	m := p.model(t, gemini.Config{})
	got := mustAsk(t, m, hello())
	send := func(change func(spool.Content) spool.Content) error {
		content := change(slices.Clone(got.message.Content))
		return ask(t.Context(), m, spool.ModelRequest{
			Messages: []spool.Message{user("Hello?"), {Role: spool.RoleAssistant, Content: content}, resultsOf(got.message)},
		}).err
	}
	if err := send(func(c spool.Content) spool.Content { return c }); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(spool.Content) spool.Content{
		"altered": func(c spool.Content) spool.Content {
			c[1].Provider = json.RawMessage(strings.Replace(string(c[1].Provider), `"signature":"`, `"signature":"AAAA`, 1))
			return c
		},
		"moved": func(c spool.Content) spool.Content {
			c[1].Provider, c[2].Provider = c[2].Provider, c[1].Provider
			return c
		},
		"other arguments":   func(c spool.Content) spool.Content { c[1].Args = json.RawMessage(`{"city":"Rome"}`); return c },
		"other text before": func(c spool.Content) spool.Content { c[0].Text = "Looking"; return c },
		"other order":       func(c spool.Content) spool.Content { c[1], c[2] = c[2], c[1]; return c },
		"signature of another model": func(c spool.Content) spool.Content {
			other := mustAsk(t, p.model(t, gemini.Config{Model: "gemini-3-other"}), hello()).message.Content[1].Provider
			c[1].Provider = json.RawMessage(strings.ReplaceAll(string(other), "gemini-3-other", testModel))
			return c
		},
		"replaced": func(c spool.Content) spool.Content {
			var data struct{ Gemini map[string]string }
			if err := json.Unmarshal(c[1].Provider, &data); err != nil {
				t.Fatal(err)
			}
			c[1].Provider = json.RawMessage(`{"gemini":{"model":"` + testModel + `","id":"` + data.Gemini["id"] + `"}}`)
			return c
		},
	} {
		if err := send(change); err == nil {
			t.Errorf("%s: the server accepts it", name)
		}
	}
}

// A thread can change between models at every step, with any history, and is never refused.
func TestChangingModels(t *testing.T) {
	t.Parallel()

	p := newPeer(t, fake.Config{Keep: -1, Signing: fake.SignAll, Answer: randomAnswer})
	models := []spool.Model{foreignModel{"openai"}, foreignModel{""}}
	for _, name := range []string{testModel, "gemini-3-other", "gemini-2.5-old"} {
		models = append(models, p.model(t, gemini.Config{Model: name}))
	}
	for seed := range 300 {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		messages := []spool.Message{user("Begin.")}
		model := models[random.IntN(len(models))]
		for step := range 12 {
			if random.IntN(3) == 0 {
				model = models[random.IntN(len(models))]
			}
			got := ask(t.Context(), model, spool.ModelRequest{
				Messages: messages, Tools: []spool.ToolSpec{{Name: "weather"}, {Name: "clock"}},
			})
			if got.err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, got.err)
			}
			messages = append(messages, got.message)
			if len(got.message.ToolCalls()) > 0 {
				messages = append(messages, shuffledResults(random, got.message)...)
			} else {
				messages = append(messages, user(fmt.Sprintf("Turn %d.", step)))
			}
			if random.IntN(8) == 0 { // a steering message, a summary in place of the past, or a cut
				messages = cut(random, append(messages, user("By the way.")))
			}
		}
	}
	if refused := p.Refused(); len(refused) > 0 || p.Count() < 1000 {
		t.Errorf("%d requests, refused: %q", p.Count(), refused)
	}
}

// randomAnswer depends on the request only.
func randomAnswer(r *fake.Request) fake.Answer {
	random := rand.New(rand.NewPCG(uint64(len(r.Body)), 2))
	choices := [][]fake.Part{
		{fake.Text("Fine, thanks.")},
		{fake.Thought("Hm, what now?"), fake.Text("Well then.")},
		{weather()},
		{weather(), clock(), weather()},
		{fake.Thought("First this."), fake.Text("Looking."), clock(), weather()},
		{
			fake.Text("Code:"),
			{Code: []byte(`{"code":"1+1","language":"PYTHON"}`)},
			{CodeResult: []byte(`{"outcome":"OUTCOME_OK"}`)},
			fake.Text("It is two."),
		},
	}
	return fake.Answer{Parts: choices[random.IntN(len(choices))]}
}

// shuffledResults returns the results of an answer's calls in any order, in one message or in several.
func shuffledResults(random *rand.Rand, m spool.Message) []spool.Message {
	all := resultsOf(m)
	random.Shuffle(len(all.Content), func(i, j int) { all.Content[i], all.Content[j] = all.Content[j], all.Content[i] })
	if random.IntN(2) == 0 {
		return []spool.Message{all}
	}
	var out []spool.Message
	for _, p := range all.Content {
		out = append(out, spool.Message{Role: spool.RoleTool, Content: spool.Content{p}})
	}
	return out
}

// cut drops the messages before an answer, perhaps with a summary in their place.
func cut(random *rand.Rand, messages []spool.Message) []spool.Message {
	var answers []int
	for i, m := range messages {
		if m.Role != spool.RoleTool {
			answers = append(answers, i)
		}
	}
	rest := slices.Clone(messages[answers[random.IntN(len(answers))]:])
	switch random.IntN(3) {
	case 0:
		return append(
			[]spool.Message{{Role: spool.RoleSystem, Content: spool.Content{{Type: spool.PartSummary, Text: "Before."}}}},
			rest...,
		)
	case 1:
		return rest
	default:
		return messages
	}
}

// foreignModel answers as another adapter does. Its format is the name of its data.
type foreignModel struct{ format string }

func (m foreignModel) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		var data json.RawMessage
		if m.format != "" {
			data = json.RawMessage(`{"` + m.format + `":{"model":"x","data":"foreign+"}}`)
		}
		n := len(r.Messages)
		events := []spool.ModelEvent{
			spool.ReasoningDelta{Text: "Foreign thought."},
			spool.ReasoningEnd{Provider: data},
			spool.TextDelta{Text: "Foreign text."},
			spool.TextEnd{Provider: data},
		}
		if n%3 != 0 {
			for i := range n % 3 {
				id := spool.ToolCallID(fmt.Sprintf("call_%d_%d", n, i))
				events = append(events, spool.ToolCallStart{ID: id, Name: "clock"},
					spool.ToolCallEnd{ID: id, Name: "clock", Args: []string{`{}`, `[1]`}[i], Provider: data})
			}
		}
		for _, e := range append(events, spool.Finish{Reason: spool.FinishStop}) {
			if !yield(e, nil) {
				return
			}
		}
	}
}
