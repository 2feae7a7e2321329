package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// now returns the clock's time as precisely as databases keep it, so that a test that passes in
// memory does not fail on a database.
func (m *memory) now() time.Time { return m.clock.Now().UTC().Truncate(time.Microsecond) }

// The clone functions copy rows, so that the store and its callers share no memory.

func cloneRun(r wire.Run) wire.Run {
	if r.Result != nil {
		r.Result = new(*r.Result)
	}
	if r.Allowance != nil {
		r.Allowance = new(*r.Allowance)
		r.Allowance.Reservations = slices.Clone(r.Allowance.Reservations)
	}
	return r
}

func cloneRow(r store.RunRow) store.RunRow {
	r.Run = cloneRun(r.Run)
	if r.Draft != nil {
		r.Draft = new(*r.Draft)
		r.Draft.Message = cloneMessage(r.Draft.Message)
	}
	if r.Resume != nil {
		r.Resume = new(*r.Resume)
		r.Resume.Data = slices.Clone(r.Resume.Data)
	}
	if r.Ending != nil {
		r.Ending = new(*r.Ending)
	}
	if r.Context != nil {
		r.Context = new(*r.Context)
	}
	if r.Output != nil {
		r.Output = new(*r.Output)
	}
	if r.Wait != nil {
		r.Wait = new(*r.Wait)
		r.Wait.Content = slices.Clone(r.Wait.Content)
	}
	r.HostState = slices.Clone(r.HostState)
	r.ProviderOptions = slices.Clone(r.ProviderOptions)
	r.Scopes = slices.Clone(r.Scopes)
	r.ToolLists = slices.Clone(r.ToolLists)
	if r.Client != nil {
		r.Client = &wire.ClientInput{Tools: slices.Clone(r.Client.Tools), Context: slices.Clone(r.Client.Context)}
		for i, t := range r.Client.Tools {
			r.Client.Tools[i].Parameters = slices.Clone(t.Parameters)
		}
	}
	return r
}

func cloneMessage(m spool.Message) spool.Message {
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		p.Args, p.SentArgs, p.Result, p.Provider = slices.Clone(p.Args), slices.Clone(p.SentArgs), slices.Clone(p.Result),
			slices.Clone(p.Provider)
		m.Content[i] = p
	}
	return m
}

func cloneEntry(e wire.Entry) wire.Entry {
	e.Payload = slices.Clone(e.Payload)
	return e
}

func clonePark(p store.Park) store.Park {
	p.Args, p.Shown = slices.Clone(p.Args), slices.Clone(p.Shown)
	p.Schema, p.Resume = slices.Clone(p.Schema), slices.Clone(p.Resume)
	p.Frames = slices.Clone(p.Frames)
	p.Answer, p.Before = cloneAnswer(p.Answer), cloneAnswer(p.Before)
	if p.Pending != nil {
		pending := *p.Pending
		pending.State = slices.Clone(pending.State)
		p.Pending = &pending
	}
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

func cloneEffect(e store.Effect) store.Effect {
	e.Result = slices.Clone(e.Result)
	return e
}

func cloneUsageRow(r wire.UsageRow) wire.UsageRow {
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

// storedDelta returns a copy of a thread's delta in the form that databases return.
func storedDelta(c store.SnapshotDelta, of spool.ThreadID) store.SnapshotDelta {
	stored, err := c.MarshalStored()
	if err != nil {
		panic(err) // its fields have no values that JSON cannot have
	}
	copied := store.SnapshotDelta{Version: c.Version, Seq: c.Seq, At: c.At}
	if err := copied.UnmarshalStored(stored, of); err != nil {
		panic(err)
	}
	return copied
}

func cloneDelta(c store.SnapshotDelta) store.SnapshotDelta {
	if c.Thread != nil {
		c.Thread = new(*c.Thread)
		c.Thread.Labels = maps.Clone(c.Thread.Labels)
	}
	c.Runs, c.View, c.Parks = slices.Clone(c.Runs), slices.Clone(c.View), slices.Clone(c.Parks)
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.Result != nil {
			r.Result = new(*r.Result)
		}
		if r.Wait != nil {
			r.Wait = new(*r.Wait)
			r.Wait.Content = slices.Clone(r.Wait.Content)
		}
	}
	for i := range c.View {
		c.View[i].Add = slices.Clone(c.View[i].Add)
	}
	return c
}
