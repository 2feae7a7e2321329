package admin

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// operatorTarget is the target of an operator's action: a run, or the present run of a thread.
type operatorTarget struct {
	// Tenant is the tenant. Defaults to the caller's own; only an operator may name another one.
	Tenant   spool.Tenant   `json:"tenant,omitempty"`
	RunID    spool.RunID    `example:"r1"              json:"runId,omitempty"` // The run. Either this or threadId.
	ThreadID spool.ThreadID `json:"threadId,omitempty"`                        // The thread.
}

// Validate implements [rest.Validator].
func (q *operatorTarget) Validate(context.Context) error {
	if (q.RunID == "") == (q.ThreadID == "") {
		return spool.Errorf(spool.Invalid, "either runId or threadId is required")
	}
	for _, id := range []struct{ field, value string }{
		{"tenant", string(q.Tenant)}, {"runId", string(q.RunID)}, {"threadId", string(q.ThreadID)},
	} {
		if err := call.CheckOptionalID(id.field, id.value); err != nil {
			return err
		}
	}
	return nil
}

// OperatorStopRequest is the body of a stop by an operator.
type OperatorStopRequest struct{ operatorTarget }

// OperatorRespondRequest is the body of an answer by an operator.
type OperatorRespondRequest struct {
	operatorTarget
	call.OtherAnswer

	// ToolCallID is the call that waits.
	ToolCallID spool.ToolCallID `example:"call_1" json:"toolCallId" maxLength:"512" minLength:"1"`
	// True: the call runs (again, if it parked itself). False: the model reads that it was denied.
	Approved bool `example:"true" json:"approved" required:"true"`
	// Payload is any JSON, for the tool.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Arguments is an object of arguments with which an approved call runs instead of its own. The tool must accept
	// it.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Reason is the reason, in up to 4096 bytes. The model reads it, and the record keeps it.
	Reason string `example:"not on a Friday" json:"reason,omitempty"`
	// Digest is the digest of what was shown. An answer to anything else does not count.
	Digest string `json:"digest,omitempty"`
}

// Validate implements [rest.Validator].
func (in *OperatorRespondRequest) Validate(ctx context.Context) error {
	if err := in.operatorTarget.Validate(ctx); err != nil {
		return err
	}
	if err := call.CheckToolCall(in.ToolCallID); err != nil {
		return err
	}
	return in.Check()
}

// actAs returns the context for an operator's action, the key of the thread, and the dispatched run, "" for a
// thread. A caller that is not an operator needs the scope.
func (c Controller) actAs(
	ctx context.Context, need access.Scope, target operatorTarget,
) (context.Context, spool.ThreadKey, spool.RunID, error) {
	key := spool.ThreadKey{}
	p := call.By(ctx)
	if !p.Operator && !p.May(need) {
		return ctx, key, "", spool.Errorf(spool.Forbidden, "the scope %q is required, or an operator", need)
	}
	tenant, err := c.tenant(ctx, target.Tenant)
	if err != nil {
		return ctx, key, "", err
	}
	key = spool.ThreadKey{Tenant: tenant, ID: target.ThreadID}
	ctx = engine.WithActor(ctx, wire.Actor{Subject: p.Subject, Tenant: p.Tenant, Operator: true})
	if target.RunID == "" {
		_, err = c.Engine.Thread(ctx, key)
		return ctx, key, "", err
	}
	found, err := c.Engine.Runs(ctx, tenant, wire.RunQuery{ID: target.RunID})
	if err != nil {
		return ctx, key, "", err
	}
	if len(found) == 0 {
		return ctx, key, "", spool.Errorf(spool.NotFound, "Run not found")
	}
	key.ID = found[0].ThreadID
	return ctx, key, found[0].Root(), nil
}

// Stop stops a run, or the run of a thread and all runs that wait for it, as stopRun does, for an operator of the
// server. A caller that is not an operator needs the scope stop as well as admin. The audit log names the caller as an
// operator.
func (c Controller) Stop(ctx context.Context, in OperatorStopRequest) (wire.StopResult, error) {
	target := in.operatorTarget
	acting, key, root, err := c.actAs(ctx, access.ScopeStop, target)
	call.Concerns(ctx, key, target.RunID)
	var result wire.StopResult
	switch {
	case err != nil:
	case root == "":
		result, err = c.Engine.Stop(acting, key)
	case root != target.RunID:
		result = wire.StopResult{
			Reason: wire.ReasonNotActive, Error: "Run " + string(target.RunID) + " is nested in run " + string(root) +
				": stop that one",
		}
	default:
		result, err = c.Engine.StopRun(acting, key, root)
	}
	return call.Result(ctx, result, result.Accepted, err, key, target.RunID)
}

// operatorName replaces the name of an operator of another tenant in a thread's record.
const operatorName = "operator"

// Respond answers a call that waits, as respond does, for an operator of the server. A caller that is not an operator
// needs the scope approve as well as admin. The audit log names the caller as an operator. If an operator of another
// tenant answers, the thread's record says operator instead of the name.
func (c Controller) Respond(ctx context.Context, in OperatorRespondRequest) (wire.RespondResult, error) {
	q, p := &in, call.By(ctx)
	acting, key, root, err := c.actAs(ctx, access.ScopeApprove, q.operatorTarget)
	call.Concerns(ctx, key, q.RunID)
	by := p.Subject
	if by != "" && key.Tenant != p.Tenant {
		by = operatorName
	}
	var result wire.RespondResult
	if err == nil && root != "" {
		var thread wire.Thread
		if thread, err = c.Engine.Thread(acting, key); err == nil && thread.RunID != root {
			result = wire.RespondResult{Reason: wire.ReasonNoPark, Error: "No matching pending input request"}
		}
	}
	if err == nil && result.Reason == "" {
		result, err = c.Engine.Respond(acting, key, wire.Response{
			ToolCallID: q.ToolCallID, Approved: q.Approved, By: by, Payload: q.Payload, Args: q.Arguments, Reason: q.Reason,
			Digest: q.Digest,
		})
	}
	return call.Result(ctx, result, result.Delivered, err, key, q.RunID)
}
