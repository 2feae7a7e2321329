package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// resumeData returns the data with which a request asks for an interrupted answer again, or nil. If the run has such an
// answer to another request, resumed charges it, because nobody will ask for it.
func (a *asker) resumeData(ctx context.Context, r spool.ModelRequest) (json.RawMessage, error) {
	answer := a.run.Row().Resume
	if answer == nil {
		return nil, nil
	}
	if isAnswerTo(a.run.Row(), r) {
		return answer.Data, nil
	}
	err := a.run.Update(ctx, func(tx *thread.Tx) error {
		if err := tx.AbandonAnswer(wire.OutcomeError); err != nil {
			return err
		}
		return tx.PutUnseen()
	})
	return nil, err
}

// isAnswerTo reports whether the run's interrupted answer is one to this request for its next step.
func isAnswerTo(run store.RunRow, r spool.ModelRequest) bool {
	a := run.Resume
	return a.Request != "" && a.Model == run.ModelInUse() && a.Step == run.Steps+1 && a.Request == digestOf(r)
}

// saveResume makes the data of a resume point durable.
func (a *asker) saveResume(
	ctx context.Context, r weightedRequest, row wire.UsageRow, prompt int64, data json.RawMessage,
) error {
	row.Guess.Input = &prompt
	answer := &store.ResumableAnswer{
		Model: row.Model, Requested: row.Requested, Step: row.Step, Request: digestOf(r.ModelRequest), Room: r.room,
		Data: data, Prompt: prompt, Cost: a.models.Chat.Price(ctx, a.model, r.ModelRequest, row, nil),
	}
	return a.run.Update(ctx, func(tx *thread.Tx) error {
		tx.Run.Resume = answer
		return tx.PutUnseen()
	})
}

// chargeGone charges an answer that its provider no longer has.
func (a *asker) chargeGone(ctx context.Context, cause error) error {
	return a.run.Update(ctx, func(tx *thread.Tx) error {
		if err := chargeCutOff(tx, cause, wire.OutcomeError, false); err != nil {
			return err
		}
		return tx.PutUnseen()
	})
}

// digestOf identifies a request. It is the same for requests that a provider must answer in the same way. The bound of
// the answer is not a part of it, because it depends on what is left of a budget.
func digestOf(r spool.ModelRequest) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	err := e.Encode([]any{r.Instructions, r.Tools, r.Output, r.Kind, r.Extra})
	for _, m := range r.Messages {
		content, failed := m.Content.MarshalStored()
		if err != nil || failed != nil {
			return ""
		}
		err = e.Encode([]any{m.Role, string(content)})
	}
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
