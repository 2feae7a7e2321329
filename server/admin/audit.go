package admin

import (
	"context"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// AuditInput asks for a page of an audit log.
type AuditInput struct {
	oneTenant
	auditFilter

	// Server is true lists the entries that belong to no tenant, such as refused credentials. Only for an operator.
	Server bool   `query:"server"`
	Limit  int    `default:"50"   maximum:"1000" minimum:"1" query:"limit"` // The size of a page.
	Before string `query:"before"`                                          // The field next of the page before.
}

// auditFilter selects entries of a list. An entry must pass all fields.
type auditFilter struct {
	// Only entries of this action.
	Action wire.AuditAction `example:"answer" maxLength:"64" query:"action"`
	// Only entries about this thread.
	ThreadID spool.ThreadID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId"`
	// Only entries of this subject.
	By string `maxLength:"512" query:"by"`
	// Only entries of this time or later.
	Since time.Time `example:"2026-01-02T03:04:05Z" query:"since"`
	// Only entries before this time.
	Until time.Time `example:"2026-01-02T03:04:05Z" query:"until"`
}

// AuditList is the answer to a list of entries.
type AuditList struct {
	Entries []AuditEntry `json:"entries"` // The entries, the last written one first.
	// Next is the value of before for the next page. Left out: this is the last page.
	Next string `json:"next,omitempty"`
}

// Audit answers with a tenant's audit log, the last entry first. The parameter before gets the next page. It has
// answers, stops, deletions, raised budgets and the actions of operators, each with the person and the time. Entries
// never change, and they stay when their thread is deleted. They have no text of prompts, messages or arguments; an
// answer's reason is there as it was given. With server, an operator gets the entries that belong to no tenant: refused
// credentials, by address.
func (c Controller) Audit(ctx context.Context, in AuditInput) (AuditList, error) {
	operator := call.By(ctx).Operator
	tenant, err := c.tenant(ctx, in.Tenant)
	switch {
	case err != nil:
		return AuditList{}, err
	case in.Server && in.Tenant != "":
		return AuditList{}, spool.Errorf(spool.Invalid, "server and tenant exclude each other")
	case in.Server && !operator && !call.Open(ctx):
		return AuditList{}, spool.Errorf(spool.Forbidden, "only an operator may list what belongs to no tenant")
	case in.Server:
		tenant = ""
	}
	q := wire.AuditQuery{
		Action: in.Action, ThreadID: in.ThreadID, By: in.By, Since: in.Since, Until: in.Until, Limit: in.Limit,
	}
	if in.Before != "" {
		if q.Before, err = strconv.ParseInt(in.Before, 10, 64); err != nil || q.Before < 1 {
			return AuditList{}, call.ErrMark
		}
	}
	list, err := c.Engine.Audit(ctx, tenant, q)
	if err != nil {
		return AuditList{}, aboutTenant(ctx, err, tenant)
	}
	out := AuditList{Entries: []AuditEntry{}}
	for _, e := range list {
		out.Entries = append(out.Entries, auditEntryOf(e, operator))
	}
	if len(list) == q.Limit {
		out.Next = strconv.FormatInt(list[len(list)-1].Seq, 10)
	}
	return out, nil
}

// auditEntryOf returns the wire form of an entry. It hides the name of an operator of another tenant from the
// tenant.
func auditEntryOf(e wire.AuditEntry, operator bool) AuditEntry {
	out := AuditEntry{
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
