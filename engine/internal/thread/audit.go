package thread

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// note adds an audit entry. The transaction appends it after all its other writes.
func (tx *Tx) note(entry spool.AuditEntry) {
	entry.ThreadID = tx.Thread.ID
	tx.Follow.Audit = append(tx.Follow.Audit, &entry)
}

// noteStop notes that a subject stops a run. Run is the run before the stop. A second stop is not
// noted.
func (tx *Tx) noteStop(run spool.RunRow, by string) {
	if run.StopAt.IsZero() {
		tx.note(spool.AuditEntry{Action: spool.AuditStop, RunID: run.ID, By: by})
	}
}

// noteAnswer notes the answer to a park, and the raised budget if the answer raises it.
func noteAnswer(tx *Tx, park spool.Park, r Response) {
	approved := r.Approved
	entry := spool.AuditEntry{
		Action: spool.AuditAnswer, By: r.By, RunID: tx.Run.ID, ToolCallID: r.ToolCallID,
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
	if park.Reason == spool.ParkBudget && approved {
		entry.Action, entry.Approved = spool.AuditRaiseBudget, nil
		entry.Detail = toolresult.JSON(budget.Ask(tx.Run, "", tx.Now).Budget)
		tx.note(entry)
	}
}
