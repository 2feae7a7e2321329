package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// secret is in all data of strict models. No client and no log may see it.
const secret = "signed-<in>-secret"

// seal is the data of a part that a strict model has made.
type seal struct {
	Secret string `json:"secret"`
	Model  string `json:"model"`
	Answer int    `json:"answer"`
	// Part is the number of the part, and Of is the number of the answer's parts.
	Part int `json:"part"`
	Of   int `json:"of"`
	// After is the paused answer that this one continues, and Paused is true for one that is paused.
	After  int  `json:"after,omitempty"`
	Paused bool `json:"paused,omitempty"`
	// Sum is the checksum of all this and of the part.
	Sum string `json:"sum,omitempty"`
}

// strictModel is a model and its adapter. It signs every part of an answer, and refuses a prompt in which a
// sealed part is altered, moved, or away from what was sealed together with it.
type strictModel struct {
	*spooltest.Model

	name string

	mu       sync.Mutex
	answers  int
	refusals []string
}

// newStrictModel returns a strict model that signs the turns of answer.
func newStrictModel(name string, answer func(r spool.ModelRequest) spooltest.Turn) *strictModel {
	m := &strictModel{name: name}
	m.Model = spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if r.Kind == spool.UsageCompaction {
			return spooltest.Say("a summary")
		}
		if why := m.refusal(r); why != "" {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.refusals = append(m.refusals, why)
			return spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: why}}
		}
		return m.sealed(r, answer(r))
	})
	return m
}

// accepts checks that the model has refused no prompt.
func (m *strictModel) accepts(s *engineTest) {
	s.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, why := range m.refusals {
		s.Errorf("%s refuses: %s", m.name, why)
	}
}

// sealed returns the turn with data in each of its parts.
func (m *strictModel) sealed(r spool.ModelRequest, t spooltest.Turn) spooltest.Turn {
	m.mu.Lock()
	m.answers++
	base := seal{Secret: secret, Model: m.name, Answer: m.answers, Paused: t.FinishReason == spool.FinishPause}
	m.mu.Unlock()
	if n := len(r.Messages); n > 0 {
		if last := m.sealsOf(r.Messages[n-1]); len(last) > 0 && last[0].Paused {
			base.After = last[0].Answer
		}
	}
	var parts []spool.Part
	if len(t.Reasoning) > 0 {
		parts = append(parts, spool.Part{Type: spool.PartReasoning, Text: strings.Join(t.Reasoning, "")})
	}
	parts = append(parts, spool.Part{Type: spool.PartText, Text: strings.Join(t.Text, "")},
		spool.Part{Type: spool.PartProvider})
	for _, c := range t.Calls {
		parts = append(parts, spool.Part{
			Type: spool.PartToolCall, ToolName: c.Name, Args: json.RawMessage(strings.ReplaceAll("{}"+c.Args, "{}{", "{")),
		})
	}
	data := make([][]byte, len(parts))
	for i, p := range parts {
		own := base
		own.Part, own.Of = i, len(parts)
		own.Sum = own.sum(p)
		text := plainJSON(map[string]seal{"strict": own})
		data[i] = text
	}
	if len(t.Reasoning) > 0 {
		t.Provider, data = data[0], data[1:]
	}
	t.TextProvider, t.Parts = data[0], data[1:2]
	t.Calls = slices.Clone(t.Calls)
	for i := range t.Calls {
		t.Calls[i].Provider = data[2+i]
	}
	return t
}

// plainJSON returns JSON without escapes for HTML, which a store must not add.
func plainJSON(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) //nolint:errchkjson // its values have a JSON form
	return []byte(strings.TrimSpace(b.String()))
}

func (s seal) sum(p spool.Part) string {
	s.Sum = ""
	sum := sha256.Sum256(fmt.Appendf(nil, "%v %s %q %s %s", s, p.Type, p.Text, p.ToolName, p.Args))
	return hex.EncodeToString(sum[:8])
}

// sealsOf returns the seals of a message's parts that this model has made.
func (m *strictModel) sealsOf(msg spool.Message) (all []seal) {
	for _, p := range msg.Content {
		var data struct{ Strict seal }
		if json.Unmarshal(p.Provider, &data) == nil && data.Strict.Model == m.name {
			all = append(all, data.Strict)
		}
	}
	return all
}

// refusal returns what is wrong with a prompt, or "".
func (m *strictModel) refusal(r spool.ModelRequest) string {
	turn := 0 // the present one begins here
	for i, msg := range r.Messages {
		if msg.Role == spool.RoleUser {
			turn = i
		}
	}
	for i, msg := range r.Messages {
		if msg.Role != spool.RoleAssistant {
			continue
		}
		seals := m.sealsOf(msg)
		if why := m.altered(msg, seals); why != "" {
			return fmt.Sprintf("message %d: %s", i, why)
		}
		switch {
		case len(seals) == 0 && i > turn && len(msg.ToolCalls()) > 0 &&
			!slices.ContainsFunc(msg.Content, func(p spool.Part) bool { return p.Provider != nil }):
			return fmt.Sprintf("message %d: the calls of this turn are stripped of their data", i)
		case len(seals) == 0:
			continue
		case seals[0].Paused && len(msg.ToolCalls()) == 0 && i+1 < len(r.Messages) &&
			!m.continues(r.Messages[i+1], seals[0]) && r.Messages[i+1].Role == spool.RoleAssistant &&
			len(m.sealsOf(r.Messages[i+1])) > 0:
			return fmt.Sprintf("message %d: something stands between a paused answer and its end", i)
		case seals[0].After > 0 && (i == 0 || !m.is(r.Messages[i-1], seals[0].After)):
			return fmt.Sprintf("message %d: the beginning of a paused answer is missing", i)
		}
	}
	return ""
}

func (m *strictModel) is(msg spool.Message, answer int) bool {
	seals := m.sealsOf(msg)
	return len(seals) > 0 && seals[0].Answer == answer
}

func (m *strictModel) continues(msg spool.Message, paused seal) bool {
	seals := m.sealsOf(msg)
	return len(seals) > 0 && seals[0].After == paused.Answer
}

// altered returns what is wrong with the sealed parts of a message, or "".
func (m *strictModel) altered(msg spool.Message, seals []seal) string {
	at := 0
	for _, p := range msg.Content {
		if !strings.Contains(string(p.Provider), `"model":"`+m.name+`"`) {
			continue
		}
		s := seals[at]
		switch {
		case s.Answer != seals[0].Answer:
			return "parts of several answers"
		case s.Part != at || s.Of != len(seals):
			return fmt.Sprintf("part %d of %d is part %d of %d", at, len(seals), s.Part, s.Of)
		case s.Sum != s.sum(p), s.Secret != secret:
			return fmt.Sprintf("part %d is altered: %s %q %s", at, p.Type, p.Text, p.Args)
		}
		at++
	}
	return ""
}
