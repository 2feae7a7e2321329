package admin

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// AuditEntry is an entry of an audit log.
type AuditEntry struct {
	Seq        int64            `doc:"The number of the entry, from 1 without gaps."                                                                                   json:"seq"`
	At         time.Time        `doc:"When it was done."                                                                                                               json:"at"`
	Action     wire.AuditAction `doc:"The action."                                                                                                                     enum:"answer,raise_budget,stop,delete_thread,prune_thread,redrive_job,purge_jobs,change_owner,failed_authentication" json:"action"`
	By         string           `doc:"The subject who did it. Left out: not known, the server itself, or an operator of another tenant."                               json:"by,omitempty"`
	ByTenant   spool.Tenant     `doc:"The tenant of an operator who did it. Only for operators."                                                                       json:"byTenant,omitempty"`
	Operator   bool             `doc:"Whether an operator of the server did it."                                                                                       json:"operator,omitempty"`
	ThreadID   spool.ThreadID   `doc:"The thread."                                                                                                                     json:"threadId,omitempty"`
	RunID      spool.RunID      `doc:"The run."                                                                                                                        json:"runId,omitempty"`
	ToolCallID spool.ToolCallID `doc:"The call that was answered."                                                                                                     json:"toolCallId,omitempty"`
	JobID      int64            `doc:"The dead job."                                                                                                                   json:"jobId,omitempty"`
	Approved   *bool            `doc:"Whether the answer allowed the call. Only for answers."                                                                          json:"approved,omitempty"`
	Digest     string           `doc:"The digest of the question. Only for answers."                                                                                   json:"digest,omitempty"`
	Reason     string           `doc:"The reason, in the words of the person. For a prune by the server itself: retention."                                            json:"reason,omitempty"`
	Count      int64            `doc:"The number of attempts that the entry counts. Left out: one."                                                                    json:"count,omitempty"`
	Address    string           `doc:"The address of the client. Only for refused credentials."                                                                        json:"address,omitempty"`
	Detail     json.RawMessage  `doc:"More, as an object: the revision of the agent that asked, the new limits of a raised budget, or the minimum age of purged jobs." json:"detail,omitempty"`
}
