package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Answer answers several parks of the thread's run at once.
func (h *Handler) Answer(
	ctx context.Context, key spool.ThreadKey, responses []wire.Response,
) ([]wire.RespondResult, error) {
	responses = slices.Clone(responses)
	for i := range responses {
		if err := checkResponse(&responses[i]); err != nil {
			return nil, err
		}
	}
	if _, err := h.Reclaim(ctx, key); err != nil {
		return nil, err
	}
	for _, r := range responses {
		if err := h.checkEdit(ctx, key, r); err != nil {
			return nil, err
		}
	}
	answers := make([]thread.Response, len(responses))
	for i, r := range responses {
		answers[i] = thread.Response(r)
	}
	out, err := change.Update(ctx, h.Threads, key,
		func(tx *thread.Tx) (thread.Answers, error) { return thread.Answer(tx, answers) })
	switch {
	case record.Missing(err):
		out.Refused = slices.Repeat([]*thread.RefusedError{thread.ErrNoPark}, len(responses))
	case err != nil && !errors.Is(err, thread.ErrUnchanged):
		return nil, err
	}
	if out.Resumed {
		h.Live.Wake(store.JobsTopic, store.WakeJobs, nil)
	}
	results := make([]wire.RespondResult, len(responses))
	for i, no := range out.Refused {
		if no == nil {
			results[i].Delivered = true
		} else {
			results[i].Reason, results[i].Error = no.Reason, no.Text
		}
	}
	return results, nil
}

const (
	// maxReason bounds the reason of an answer, which stays in the record.
	maxReason = 4096
	// maxAnswer bounds the payload and the arguments of an answer.
	maxAnswer = 256 << 10
)

// checkResponse validates a response without reading its park. It treats a JSON null as absent.
func checkResponse(r *wire.Response) error {
	if err := spool.CheckID("toolCallId", string(r.ToolCallID)); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text *json.RawMessage
	}{{"payload", &r.Payload}, {"arguments", &r.Args}} {
		if *f.text == nil {
			continue
		}
		if err := spool.CheckArguments(f.name, *f.text); err != nil {
			return err
		}
		if *f.text = bytes.TrimSpace(*f.text); string(*f.text) == "null" {
			*f.text = nil
		}
		if len(*f.text) > maxAnswer {
			return spool.Errorf(spool.Invalid, "%s is longer than %d bytes", f.name, maxAnswer)
		}
	}
	if r.Args != nil {
		r.Args = toolresult.JSON(r.Args) // the stored form of arguments: see registry.CallArgs
	}
	switch {
	case len(r.Reason) > maxReason:
		return spool.Errorf(spool.Invalid, "reason is longer than %d bytes", maxReason)
	case r.Args != nil && !r.Approved:
		return spool.Errorf(spool.Invalid, "arguments are only for an approved call")
	}
	return nil
}

// checkEdit checks edited arguments with the tool that would get them, and the payload of an approving answer
// with the park's schema. The tool's check is application code, so it runs outside the transaction. If no park
// waits for the response, checkEdit accepts it and the transaction refuses it later.
func (h *Handler) checkEdit(ctx context.Context, key spool.ThreadKey, r wire.Response) error {
	if !r.Approved {
		return nil
	}
	var tool spool.Tool
	var park store.Park
	found, known := false, false
	err := h.Store.View(ctx, key, func(v store.View) error {
		thread, err := v.Thread()
		if err != nil || thread.RunID == "" {
			return err
		}
		run, err := store.FindRun(v, thread.RunID)
		if err != nil {
			return err
		}
		parks, err := v.Parks(run.ID)
		for _, p := range parks {
			if p.ToolCallID != r.ToolCallID || p.State != wire.ParkOpen {
				continue
			}
			found, park = true, p
			if r.Args == nil {
				continue
			}
			agent, err := h.Registry.OfRun(v, p.CallerID())
			if err != nil {
				return err
			}
			if agent != nil {
				tool, known = agent.Tool(p.ToolName)
			}
		}
		return err
	})
	switch {
	case record.Missing(err), err == nil && !found:
		return nil
	case err != nil:
		return err
	case park.Schema != nil && park.Reason != wire.ParkApproval:
		return checkSchema("payload", park.Schema, r.Payload)
	case r.Args == nil:
		return nil
	case !known && park.Schema != nil:
		return checkSchema("arguments", park.Schema, r.Args)
	case !known:
		return spool.Errorf(spool.Invalid, "arguments cannot be edited: this server does not have the tool")
	}
	return registry.CheckEdited(h.Log, tool, r.Args)
}

// checkSchema checks a value with the schema of a park.
func checkSchema(field string, schema, value json.RawMessage) error {
	s, err := argschema.Foreign(schema)
	if err != nil { // the tool of the call checks the value again
		return nil //nolint:nilerr // a schema that nobody can read allows every value
	}
	if err := s.Check(value); err != nil {
		return spool.Errorf(spool.Invalid, "%s: %s", field, spool.MessageOf(err))
	}
	return nil
}
