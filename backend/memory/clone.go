package memory

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// now returns the clock's time as precisely as databases keep it, so that a test that passes in
// memory does not fail on a database.
func (m *memory) now() time.Time { return m.clock.Now().UTC().Truncate(time.Microsecond) }

// The clone functions keep what is in the store apart from what callers hold.

func cloneRun(r spool.Run) spool.Run {
	if r.Draft != nil {
		draft := *r.Draft
		draft.Message = cloneMessage(draft.Message)
		r.Draft = &draft
	}
	if r.Result != nil {
		result := *r.Result
		r.Result = &result
	}
	if r.Ending != nil {
		ending := *r.Ending
		r.Ending = &ending
	}
	if r.Context != nil {
		counted := *r.Context
		r.Context = &counted
	}
	if r.Allowance != nil {
		allowance := *r.Allowance
		allowance.Holds = slices.Clone(allowance.Holds)
		r.Allowance = &allowance
	}
	if r.Wait != nil {
		wait := *r.Wait
		wait.Content = slices.Clone(wait.Content)
		r.Wait = &wait
	}
	r.HostState = slices.Clone(r.HostState)
	r.ProviderOptions = slices.Clone(r.ProviderOptions)
	r.Scopes = slices.Clone(r.Scopes)
	if r.Client != nil {
		r.Client = &spool.ClientInput{Tools: slices.Clone(r.Client.Tools), Context: slices.Clone(r.Client.Context)}
		for i, t := range r.Client.Tools {
			r.Client.Tools[i].Parameters = slices.Clone(t.Parameters)
		}
	}
	return r
}

func cloneMessage(m spool.Message) spool.Message {
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		p.Args, p.Result, p.Provider = slices.Clone(p.Args), slices.Clone(p.Result), slices.Clone(p.Provider)
		m.Content[i] = p
	}
	return m
}

func cloneEntry(e spool.Entry) spool.Entry {
	e.Payload = slices.Clone(e.Payload)
	return e
}

func clonePark(p spool.Park) spool.Park {
	p.Args, p.Shown = slices.Clone(p.Args), slices.Clone(p.Shown)
	p.Frames = slices.Clone(p.Frames)
	p.Answer, p.Before = cloneAnswer(p.Answer), cloneAnswer(p.Before)
	return p
}

func cloneAnswer(a *spool.Answer) *spool.Answer {
	if a == nil {
		return nil
	}
	answer := *a
	answer.Payload, answer.Args = slices.Clone(a.Payload), slices.Clone(a.Args)
	return &answer
}

func cloneEffect(e spool.Effect) spool.Effect {
	e.Result = slices.Clone(e.Result)
	return e
}

func cloneUsageRow(r spool.UsageRow) spool.UsageRow {
	r.Usage, r.Guess = cloneUsage(r.Usage), cloneUsage(r.Guess)
	if r.Cost != nil {
		cost := *r.Cost
		r.Cost = &cost
	}
	return r
}

func cloneUsage(u spool.Usage) spool.Usage {
	return spool.Usage{
		Input: cloneCount(u.Input), CacheRead: cloneCount(u.CacheRead), CacheWrite: cloneCount(u.CacheWrite),
		Output: cloneCount(u.Output), Reasoning: cloneCount(u.Reasoning),
	}
}

func cloneCount(n *int64) *int64 {
	if n == nil {
		return nil
	}
	value := *n
	return &value
}
