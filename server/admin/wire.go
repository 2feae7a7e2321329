package admin

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// AuditEntry is an entry of an audit log.
type AuditEntry struct {
	Seq        int64             `doc:"Numbers the tenant's entries from 1, without a gap."                                                      json:"seq"`
	At         time.Time         `doc:"When it was done."                                                                                        json:"at"`
	Action     spool.AuditAction `doc:"What was done."                                                                                           enum:"answer,raise_budget,stop,delete_thread,prune_thread,redrive_job,purge_jobs,change_owner,failed_authentication" json:"action"`
	By         string            `doc:"The subject who did it. Left out: not known, the server itself, or an operator of another tenant."        json:"by,omitempty"`
	ByTenant   spool.Tenant      `doc:"The tenant of an operator who did it. Only for operators."                                                json:"byTenant,omitempty"`
	Operator   bool              `doc:"Whether somebody did it who operates the server."                                                         json:"operator,omitempty"`
	ThreadID   spool.ThreadID    `doc:"The thread."                                                                                              json:"threadId,omitempty"`
	RunID      spool.RunID       `doc:"The run."                                                                                                 json:"runId,omitempty"`
	ToolCallID spool.ToolCallID  `doc:"The call that was answered."                                                                              json:"toolCallId,omitempty"`
	JobID      int64             `doc:"The dead job."                                                                                            json:"jobId,omitempty"`
	Approved   *bool             `doc:"Of an answer: whether it allowed the call."                                                               json:"approved,omitempty"`
	Digest     string            `doc:"Of an answer: the digest of what was answered."                                                           json:"digest,omitempty"`
	Reason     string            `doc:"Why, in the words of who did it. Of a prune: retention, where the server did it by itself."               json:"reason,omitempty"`
	Count      int64             `doc:"How many attempts the entry stands for. Left out: one."                                                   json:"count,omitempty"`
	Address    string            `doc:"Of refused credentials: the address that they came from."                                                 json:"address,omitempty"`
	Detail     json.RawMessage   `doc:"More, as an object: of a raised budget its new bounds, of a purge how long the jobs must have been dead." json:"detail,omitempty"`
}
