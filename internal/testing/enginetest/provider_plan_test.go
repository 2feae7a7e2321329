package enginetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/internal/testing/fake/openai"
	"github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/spooltest"
)

// plan is what a provider answers to one request. Each fake says it in its own words.
type plan struct {
	thoughts []string
	// sealed adds a thought that nobody can read, searched a part that only the provider understands, and cited
	// signs the text.
	sealed, searched, cited bool
	// signed signs the first call of an interface that needs no signatures.
	signed bool
	text   string
	calls  []spooltest.Call
	// pauses says that the answer goes on in the next one, if the interface has that.
	pauses bool
	// status is that of a refusal, zero for none. cut is after how many events the connection breaks, zero for not.
	status, cut int
	// slow is the wait between two events.
	slow time.Duration
}

// ask is what a plan depends on.
type ask struct {
	provider string
	// turn is the latest text of a user, and step is how many answers came after it.
	turn string
	step int
	// summary is true for a request without tools: it asks for a summary.
	summary bool
}

// plan waits, and returns what a provider answers.
func (p *peers) plan(a ask) plan {
	c := p.campaign
	seed := c.draws.seed
	if len(a.turn) > 40 {
		a.turn = fmt.Sprintf("long%d", chance(1e6, a.turn))
	}
	c.trace.addf("a model is asked: %+v", a)
	<-time.After(time.Duration(c.n(1500, "model", a)) * time.Millisecond)
	out := plan{
		text: strings.TrimSpace(a.turn) + "/" + strconv.Itoa(a.step) + strings.Repeat(" word", 1+c.n(9, "text", a)),
	}
	switch c.n(16, "model fails", a) {
	case 0:
		out.status = http.StatusServiceUnavailable
	case 1:
		out.status = http.StatusTooManyRequests
	case 2:
		out.status = http.StatusForbidden
	case 3:
		out.cut = 1 + c.n(20, "cut", a)
	}
	if c.n(3, "slow", a) == 0 {
		out.slow = 20 * time.Millisecond
	}
	for i := range c.n(3, "thoughts", a) {
		out.thoughts = append(out.thoughts, fmt.Sprintf("Hm %d of %s.", i, a.turn))
	}
	out.sealed = c.n(4, "sealed", a) == 0
	if a.summary {
		return out
	}
	out.searched, out.cited, out.signed = c.n(6, "searched", a) == 0, c.n(4, "cited", a) == 0, c.n(2, "signed", a) == 0
	out.pauses = c.n(8, "pauses", a) == 0
	if a.step < 4 && chance(5, seed, a.turn, a.step, "calls") > 0 {
		names := []string{"look", "once", "send", "ask", "show", "nope"}
		if c.config.Agents[0].Spawn != nil {
			names = append(names, "helper", "lead")
		}
		for i := range 1 + chance(3, seed, a.turn, a.step, "how many") {
			name := names[chance(uint64(len(names)), seed, a.turn, a.step, i)]
			call := spooltest.Call{Name: name, Args: fmt.Sprintf(`{"n":%d,"text":"<%s>"}`, i, a.turn)}
			if name == "helper" || name == "lead" {
				call = spawn("", name, fmt.Sprintf("%s.%d.%d", a.turn, a.step, i))
			}
			out.calls = append(out.calls, call)
		}
		if c.n(3, "silent", a) == 0 {
			out.text = ""
		}
	}
	return out
}

func (p *peers) asOpenAI(r *openai.Request) openai.Answer {
	a := ask{provider: r.Model, summary: len(r.Tools) == 0}
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			a.turn, a.step = m.Text, 0
		case "assistant":
			a.step++
		}
	}
	said := p.plan(a)
	out := openai.Answer{
		Reasoning: said.thoughts, Sealed: said.sealed, Signed: said.signed, Text: said.text, Status: said.status,
		Cut: said.cut > 0,
	}
	for _, c := range said.calls {
		out.Calls = append(out.Calls, openai.Call{Name: c.Name, Args: c.Args})
	}
	return out
}

func (p *peers) asResponses(r *responses.Request) responses.Answer {
	tools, _ := r.Body["tools"].([]any)
	a := ask{provider: r.Model, turn: r.LastText(), summary: len(tools) == 0}
	for _, in := range r.Input {
		switch {
		case in.Type == "message" && in.Role == "user":
			a.step = 0
		case in.Type == "function_call_output":
			a.step++
		}
	}
	said := p.plan(a)
	if said.status != 0 {
		return responses.Answer{HTTP: &responses.Failure{Status: said.status, Message: http.StatusText(said.status)}}
	}
	out := responses.Answer{Usage: &responses.Usage{Input: 10 * len(r.Input), Output: 5}, CutAfter: said.cut}
	for _, t := range said.thoughts {
		out.Items = append(out.Items, responses.Reason(t))
	}
	if said.searched {
		out.Items = append(out.Items, responses.Own(fmt.Sprintf(
			`{"type":"web_search_call","status":"completed","action":{"type":"search","query":%q}}`,
			fmt.Sprintf("<%d of %s>", len(r.Raw), r.Model))))
	}
	if said.sealed {
		out.Items = append(out.Items, responses.Reason())
	}
	switch {
	case said.text != "" && said.cited && len(said.calls) > 0:
		out.Items = append(out.Items, responses.Phase("commentary", said.text))
	case said.text != "":
		out.Items = append(out.Items, responses.Text(said.text[:1], said.text[1:]))
	}
	for _, c := range said.calls {
		out.Items = append(out.Items, responses.Call("", c.Name, c.Args))
	}
	return out
}

func (p *peers) asAnthropic(r anthropic.Request) anthropic.Answer {
	a := ask{provider: r.Model, summary: len(r.Tools) == 0}
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			a.step++
			continue
		}
		for _, b := range m.Content {
			if b.Type == "text" {
				a.turn, a.step = *b.Text, 0
			}
		}
	}
	goesOn := r.Messages[len(r.Messages)-1].Role == "assistant"
	said := p.plan(a)
	if said.status != 0 {
		return anthropic.Answer{
			Error: &anthropic.Error{Status: said.status, Type: "api_error", Message: http.StatusText(said.status)},
		}
	}
	out := anthropic.Answer{Pause: said.slow}
	if said.cut > 0 {
		out.Fault, out.After = anthropic.FaultCut, said.cut
	}
	switch {
	case r.Thinking == "" || r.Thinking == "disabled":
		said.thoughts, said.sealed = nil, false
	case r.Thinking == "enabled" && len(said.thoughts) == 0 && !goesOn:
		said.thoughts = []string{"I must think first."}
	}
	for i, t := range said.thoughts {
		block := anthropic.Thinking(t)
		if said.sealed && i == 0 {
			block = anthropic.Redacted(t)
		}
		out.Blocks = append(out.Blocks, block)
	}
	if said.searched {
		out.Blocks = append(out.Blocks, anthropic.Search("<x>")...)
		if said.sealed {
			out.Blocks = append(out.Blocks, anthropic.Thinking("I have searched."))
		}
	}
	if said.text != "" {
		block := anthropic.Text(said.text)
		block.Cited = said.cited
		out.Blocks = append(out.Blocks, block)
	}
	for _, c := range said.calls {
		out.Blocks = append(out.Blocks, anthropic.Call(c.Name, c.Args))
	}
	if said.pauses && len(said.calls) == 0 && !a.summary {
		out.Stop = "pause_turn"
	}
	return out
}

func (p *peers) asGemini(r *gemini.Request) gemini.Answer {
	a := ask{provider: r.Model, summary: len(r.Functions) == 0}
	for _, content := range r.Contents {
		if content.Role == "model" {
			a.step++
			continue
		}
		for _, part := range content.Parts {
			if part.Text != nil {
				a.turn, a.step = *part.Text, 0
			}
		}
	}
	said := p.plan(a)
	if said.status != 0 {
		return gemini.Answer{
			Error: &gemini.Error{Status: said.status, Code: "UNAVAILABLE", Message: http.StatusText(said.status)},
		}
	}
	out := gemini.Answer{Usage: &gemini.Usage{Prompt: 10 * len(r.Contents), Candidates: 5}, Delay: said.slow}
	if said.cut > 0 {
		out.End = gemini.EndCut
	}
	if r.Thoughts {
		for _, t := range said.thoughts {
			out.Parts = append(out.Parts, gemini.Thought(t))
		}
	}
	if said.text != "" {
		out.Parts = append(out.Parts, gemini.Text(said.text))
	}
	for _, c := range said.calls {
		out.Parts = append(out.Parts, gemini.FunctionCall(c.Name, c.Args))
	}
	return out
}

// refusals returns why the fakes have answered 400.
func (p *peers) refusals() (all []string) {
	add := func(name string, problems []string) {
		for _, why := range problems {
			all = append(all, name+": "+why)
		}
	}
	add("openai", p.openai.Problems())
	add("anthropic", p.anthropic.Problems())
	add("gemini", p.gemini.Refused())
	for _, r := range p.responses.Requests() {
		if r.Status == http.StatusBadRequest {
			all = append(all, "responses: "+r.Raw)
		}
	}
	return all
}

// asked returns how many requests the fakes got.
func (p *peers) asked() int {
	passed, refused := p.anthropic.Counts()
	return int(passed+refused) + p.openai.Count() + p.gemini.Count() + len(p.responses.Requests())
}
