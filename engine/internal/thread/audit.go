package thread

import (
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// note adds an audit entry. The transaction appends it after all its other writes.
func (tx *Tx) note(entry wire.AuditEntry) {
	entry.ThreadID = tx.Thread.ID
	tx.Follow.Audit = append(tx.Follow.Audit, &entry)
}

// noteStop notes that a subject stops a run. Run is the run before the stop. A second stop is not
// noted.
func (tx *Tx) noteStop(run store.RunRow, by string) {
	if run.StopAt.IsZero() {
		tx.note(wire.AuditEntry{Action: wire.AuditStop, RunID: run.ID, By: by})
	}
}

// noteAnswer notes the answer to a park, and the raised budget if the answer raises it.
func noteAnswer(tx *Tx, park store.Park, r Response) {
	approved := r.Approved
	entry := wire.AuditEntry{
		Action: wire.AuditAnswer, By: r.By, RunID: tx.Run.ID, ToolCallID: r.ToolCallID,
		Approved: &approved, Digest: park.Answer.Digest, Reason: r.Reason,
	}
	detail := make(map[string]string)
	for key, value := range map[string]string{"revision": string(park.Revision), "via": r.Via, "viaBy": r.ViaBy} {
		if value != "" {
			detail[key] = value
		}
	}
	if len(detail) > 0 {
		entry.Detail = toolresult.JSON(detail)
	}
	tx.note(entry)
	if park.Reason == wire.ParkBudget && approved {
		entry.Action, entry.Approved = wire.AuditRaiseBudget, nil
		entry.Detail = toolresult.JSON(budget.Ask(tx.Run, "", tx.Now).Budget)
		tx.note(entry)
	}
}
