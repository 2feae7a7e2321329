package server

import (
	"context"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
)

// auditInput asks for a page of an audit log.
type auditInput struct {
	oneTenant
	auditFilter

	Server bool   `doc:"Whether to list what belongs to no tenant, such as credentials that were refused. Only for an operator." query:"server"`
	Limit  int    `default:"50"                                                                                                  doc:"The size of a page." maximum:"1000" minimum:"1" query:"limit"`
	Before string `doc:"The next of the page before."                                                                            query:"before"`
}

// auditFilter leaves entries out of a list. What is left has to pass all of it.
type auditFilter struct {
	Action   spool.AuditAction `doc:"Only entries of this action."              example:"answer"               maxLength:"64"               query:"action"`
	ThreadID spool.ThreadID    `doc:"Only entries about this thread."           maxLength:"128"                pattern:"^[A-Za-z0-9._:-]+$" query:"threadId"`
	By       string            `doc:"Only what this subject did."               maxLength:"512"                query:"by"`
	Since    time.Time         `doc:"Only what was done at this time or later." example:"2026-01-02T03:04:05Z" query:"since"`
	Until    time.Time         `doc:"Only what was done before this time."      example:"2026-01-02T03:04:05Z" query:"until"`
}

// auditList is the answer to a list of entries.
type auditList struct {
	Entries []auditEntry `doc:"The entries, the last written one first." json:"entries"`
	// Next is the before parameter of the next page. Empty: there is none.
	Next string `doc:"What before has to be for the next page. Left out: there is none." json:"next,omitempty"`
}

// audit answers GET /api/admin/audit with a page of a tenant's audit log, or of the server's.
func (c admin) audit(ctx context.Context, in auditInput) (auditList, error) {
	operator := c.asking(ctx).Operator
	tenant, err := c.tenant(ctx, in.Tenant)
	switch {
	case err != nil:
		return auditList{}, err
	case in.Server && in.Tenant != "":
		return auditList{}, spool.Errorf(spool.Invalid, "server and tenant exclude each other")
	case in.Server && !operator && c.everybody == nil:
		return auditList{}, spool.Errorf(spool.Forbidden, "only an operator may list what belongs to no tenant")
	case in.Server:
		tenant = ""
	}
	q := spool.AuditQuery{
		Action: in.Action, ThreadID: in.ThreadID, By: in.By, Since: in.Since, Until: in.Until, Limit: in.Limit,
	}
	if in.Before != "" {
		if q.Before, err = strconv.ParseInt(in.Before, 10, 64); err != nil || q.Before < 1 {
			return auditList{}, errMark
		}
	}
	list, err := c.engine.Audit(ctx, tenant, q)
	if err != nil {
		return auditList{}, aboutTenant(ctx, err, tenant)
	}
	out := auditList{Entries: []auditEntry{}}
	for _, e := range list {
		out.Entries = append(out.Entries, auditEntryOf(e, operator))
	}
	if len(list) == q.Limit {
		out.Next = strconv.FormatInt(list[len(list)-1].Seq, 10)
	}
	return out, nil
}

// auditEntryOf returns an entry as it is on the wire. A tenant learns that an operator of
// another tenant acted, and not who that was.
func auditEntryOf(e spool.AuditEntry, operator bool) auditEntry {
	out := auditEntry{
		Seq: e.Seq, At: e.At, Action: e.Action, By: e.By, ByTenant: e.ByTenant, Operator: e.ByTenant != "",
		ThreadID: e.ThreadID, RunID: e.RunID, ToolCallID: e.ToolCallID, JobID: e.JobID, Approved: e.Approved,
		Digest: e.Digest, Reason: e.Reason, Count: e.Count, Address: e.Address, Detail: e.Detail,
	}
	if !operator {
		if out.Operator && e.ByTenant != e.Tenant {
			out.By = ""
		}
		out.ByTenant = ""
	}
	return out
}
