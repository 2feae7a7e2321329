package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
)

// mostSeeds is how many campaigns may pass until one finds a planted defect.
const mostSeeds = 60

// defects are mistakes of an adapter or of the engine. Each alters the messages of a request for the named model, which
// are a copy.
var defects = map[string]func(model string, messages []spool.Message) []spool.Message{
	"Dropped":   dropData,
	"Moved":     moveData,
	"Altered":   alterText,
	"Foreign":   sendForeign,
	"Adapter":   sendOtherAdapters,
	"Cut":       cutAnswer,
	"Reordered": reorderParts,
	"NoResult":  dropResult,
}

// TestProvidersBroken plants a defect in all models, and the campaigns of [TestProviders] have to find it.
func TestProvidersBroken(t *testing.T) {
	t.Parallel()

	first := uint64(time.Now().UnixNano()) & 0xffffff
	for name, defect := range defects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrap := func(name string, m spool.Model) spool.Model { return &brokenModel{m, name, defect} }
			for n := range uint64(mostSeeds) {
				var found []string
				t.Run(fmt.Sprintf("SPOOL_SEED=%d", first+n), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						_, p := providerCampaign(newEngineTest(t, inMemory), first+n, nil, wrap)
						found = p.refusals()
					})
				})
				if len(found) > 0 {
					t.Logf("campaign %d finds it: %.300s", n+1, found[0])
					return
				}
			}
			t.Errorf("%d campaigns from seed %d on have not found the defect", mostSeeds, first)
		})
	}
}

// brokenModel is a model with a defect.
type brokenModel struct {
	spool.Model

	name   string
	defect func(model string, messages []spool.Message) []spool.Message
}

func (m *brokenModel) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].Content = slices.Clone(r.Messages[i].Content)
	}
	r.Messages = m.defect(m.name, r.Messages)
	return m.Model.Stream(ctx, r)
}

// own returns the indexes of the parts of a message that have data of the model.
func own(model string, m spool.Message) (at []int) {
	for i, p := range m.Content {
		if bytes.Contains(p.Provider, []byte(`"model":"`+model+`"`)) {
			at = append(at, i)
		}
	}
	return at
}

// dropData drops the data of the last part that has some.
func dropData(model string, messages []spool.Message) []spool.Message {
	for _, message := range slices.Backward(messages) {
		if at := own(model, message); len(at) > 0 {
			message.Content[at[len(at)-1]].Provider = nil
			return messages
		}
	}
	return messages
}

// moveData exchanges the data of two parts of one kind.
func moveData(model string, messages []spool.Message) []spool.Message {
	last := make(map[spool.PartType]*spool.Part)
	for i := range messages {
		for _, n := range own(model, messages[i]) {
			p := &messages[i].Content[n]
			if before := last[p.Type]; before != nil {
				before.Provider, p.Provider = p.Provider, before.Provider
			}
			last[p.Type] = p
		}
	}
	return messages
}

// alterText changes a letter of a signed text, and of the arguments of a signed call.
func alterText(model string, messages []spool.Message) []spool.Message {
	for i := range messages {
		for _, n := range own(model, messages[i]) {
			p := &messages[i].Content[n]
			if p.Text != "" {
				p.Text += "."
			}
			if p.Type == spool.PartToolCall {
				p.Args = json.RawMessage(`{"altered":true}`)
			}
		}
	}
	return messages
}

// partner returns the other model of an adapter.
func partner(model string) string {
	last := len(model) - 1
	if model == "gemini-2.5-b" {
		return "gemini-3-a"
	}
	return model[:last] + map[byte]string{'a': "b", 'b': "a"}[model[last]]
}

// sendForeign sends the data of the adapter's other model, as if the adapter did not look at the model's name.
func sendForeign(model string, messages []spool.Message) []spool.Message {
	for i := range messages {
		for n := range messages[i].Content {
			p := &messages[i].Content[n]
			p.Provider = bytes.ReplaceAll(p.Provider, []byte(`"model":"`+partner(model)+`"`), []byte(`"model":"`+model+`"`))
		}
	}
	return messages
}

// sendOtherAdapters sends the signatures of other adapters, as if all of them were of one form.
func sendOtherAdapters(model string, messages []spool.Message) []spool.Message {
	for i := range messages {
		for n := range messages[i].Content {
			p := &messages[i].Content[n]
			var data map[string]struct {
				Signature string `json:"signature"`
			}
			if p.Type != spool.PartReasoning || json.Unmarshal(p.Provider, &data) != nil {
				continue
			}
			for adapter, saved := range data {
				form := `{"%s":{"model":"%s","signature":"%s"}}`
				switch {
				case saved.Signature == "":
				case adapter == "anthropic":
					p.Provider = fmt.Appendf(nil, form, "gemini", model, saved.Signature)
				case adapter == "gemini":
					p.Provider = fmt.Appendf(nil, form, "anthropic", model, saved.Signature)
				}
			}
		}
	}
	return messages
}

// cutAnswer cuts the history between a call and what stands before it in its answer, as a careless compaction could.
func cutAnswer(model string, messages []spool.Message) []spool.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		first := slices.IndexFunc(messages[i].Content, func(p spool.Part) bool { return p.Type == spool.PartToolCall })
		if at := own(model, messages[i]); len(at) > 0 && first > at[0] {
			messages[i].Content = messages[i].Content[first:]
			return append(slices.Clone(messages[:1]), messages[max(i, 1):]...)
		}
	}
	return messages
}

// reorderParts puts the last part of a signed answer first.
func reorderParts(model string, messages []spool.Message) []spool.Message {
	for i := range messages {
		if c := messages[i].Content; len(c) > 1 && len(own(model, messages[i])) > 0 {
			messages[i].Content = append(spool.Content{c[len(c)-1]}, c[:len(c)-1]...)
		}
	}
	return messages
}

// dropResult drops the last result of a tool.
func dropResult(_ string, messages []spool.Message) []spool.Message {
	for i, message := range slices.Backward(messages) {
		if message.Role == spool.RoleTool {
			return slices.Delete(messages, i, i+1)
		}
	}
	return messages
}
