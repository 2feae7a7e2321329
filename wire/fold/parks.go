package fold

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Park is a question that waits for an answer.
type Park struct {
	wire.InputRequired

	// RunID is the run that waits.
	RunID spool.RunID `json:"runId"`
	// AskedAt is the time of the question.
	AskedAt time.Time `json:"askedAt,omitzero"`
}

// Parks are open questions, in the order in which they were asked.
type Parks []Park

// After returns the questions that are open after what [Entry] or [Item] has returned. The result may use the memory
// of p.
func (p Parks) After(said any) Parks {
	switch said := said.(type) {
	case Park: // it replaces an earlier question of the same call
		return put(p, said, func(q Park) bool { return q.ToolCallID == said.ToolCallID && q.RunID == said.RunID })
	case wire.InputExtended:
		for i := range p {
			if p[i].ToolCallID == said.ToolCallID {
				p[i].ExpiresAt = said.ExpiresAt
			}
		}
	case Settled:
		return slices.DeleteFunc(p, func(q Park) bool { return q.ToolCallID == said.ToolCallID })
	}
	return p
}

// put returns the list with a value in the place of the first that matches, or behind all others.
func put[T any](list []T, value T, matches func(T) bool) []T {
	if i := slices.IndexFunc(list, matches); i >= 0 {
		list[i] = value
		return list
	}
	return append(list, value)
}

// Of returns the questions of one run.
func (p Parks) Of(run spool.RunID) Parks {
	return slices.DeleteFunc(p, func(q Park) bool { return q.RunID != run })
}

// Questions returns the questions without their runs.
func (p Parks) Questions() []wire.InputRequired {
	var out []wire.InputRequired
	for _, q := range p {
		out = append(out, q.InputRequired)
	}
	return out
}

// OpenIn returns the questions that the active events of a snapshot leave open. It leaves out what cannot be read,
// because the rest of the snapshot is still right.
func OpenIn(s *wire.Snapshot) (open Parks) {
	for _, e := range s.ActiveEvents {
		if said, err := Entry(e); err == nil {
			open = open.After(said)
		}
	}
	return open
}
