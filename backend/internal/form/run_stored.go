package form

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// StoredRun has the stored values of a run that an update is compared with, because the tally and the thread's size
// count them.
type StoredRun struct {
	ID     spool.RunID
	Depth  int
	State  wire.State
	Place  int64 // among the runs that wait for the thread, 0 for none
	Tokens spool.TokenCount
	Wait   int // the size of the user turn with which the run waits, in bytes
}

// StoredOf returns the values of a run.
func StoredOf(r *store.RunRow) StoredRun {
	s := StoredRun{ID: r.ID, Depth: r.Depth, State: r.State, Place: r.QueuePosition, Tokens: r.TokenCount}
	if r.Wait != nil {
		text, _ := json.Marshal(r.Wait) //nolint:errchkjson // it was or will be encoded with the run
		s.Wait = len(text)
	}
	return s
}

// TokensOf returns the tokens that the tally counts for n runs with these values. N is negative for runs that are
// taken out. The tokens of a dispatched run include those of its nested runs, which therefore count none.
func (r *StoredRun) TokensOf(n int64) spool.TokenCount {
	if r.Depth != 0 {
		return spool.TokenCount{}
	}
	return spool.TokenCount{
		InputTokens: n * r.Tokens.InputTokens, CachedInputTokens: n * r.Tokens.CachedInputTokens,
		OutputTokens: n * r.Tokens.OutputTokens, TotalTokens: n * r.Tokens.TotalTokens,
	}
}

// WaitGrowth returns how many bytes a thread grows when these values of a run are replaced by next. Once the run has
// its turn, the turn is a message, so the thread does not shrink.
func (r *StoredRun) WaitGrowth(next *StoredRun) int {
	if next.Wait == 0 {
		return 0
	}
	return next.Wait - r.Wait
}

// storedState reads the JSON of a [store.RunState]. The message of a draft has no method of its own here, so that its
// text is not scanned again: each step with calls reads one.
type storedState struct {
	store.RunState

	Draft *storedDraft `json:"draft"`
}

type storedDraft struct {
	Message draftMessage     `json:"message"`
	Usage   spool.TokenCount `json:"usage"`
}

type (
	plainMessage spool.Message
	draftMessage struct {
		plainMessage

		AgentID spool.AgentID `json:"agentId"`
	}
)

// state returns the state.
func (s storedState) state() store.RunState {
	if d := s.Draft; d != nil {
		d.Message.plainMessage.AgentID = d.Message.AgentID
		s.RunState.Draft = &store.Draft{Message: spool.Message(d.Message.plainMessage), Usage: d.Usage}
	}
	return s.RunState
}
