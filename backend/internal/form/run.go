package form

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// RunColumns are the columns of [wire.Run], and RunStateColumns those of [store.RunState]: engine_state changes while
// the run goes on, and the start sets the others.
const (
	RunColumns = `tenant, id, thread_id, created_at, parent_id, depth, agent, started_by, model, state, stop_reason, error,
	enqueued_at, started_at, ended_at, max_steps, steps, attempts,
	input_tokens, cached_input_tokens, output_tokens, total_tokens,
	segments, place, root_id, nested, cost_micros, currency, allowance,
	expired_questions, expired_since`
	RunStateColumns = `engine_state, start_key, start_hash, nonce, scopes, host_state, provider_options, client`
	WholeRunColumns = RunColumns + ", " + RunStateColumns
)

// ScanRun reads RunColumns. The run has no state.
func ScanRun(r Row) store.RunRow {
	run := wire.Run{
		Tenant: spool.Tenant(r.Text()), ID: spool.RunID(r.Text()), ThreadID: spool.ThreadID(r.Text()),
		CreatedAt: r.Time(), ParentID: spool.RunID(r.Text()), Depth: r.Int(), Agent: r.Text(), StartedBy: r.Text(),
		Model: r.Text(), State: wire.State(r.Text()), StopReason: wire.StopReason(r.Text()), Error: r.Text(),
		EnqueuedAt: r.Time(), StartedAt: r.Time(), EndedAt: r.Time(), MaxSteps: r.Int(), Steps: r.Int(), Attempts: r.Int(),
		TokenCount: spool.TokenCount{
			InputTokens: r.Int64(), CachedInputTokens: r.Int64(), OutputTokens: r.Int64(), TotalTokens: r.Int64(),
		},
		Segments: r.Int(), QueuePosition: r.Int64(), RootID: spool.RunID(r.Text()),
	}
	n := decode[nestedRun](r, "the nested run")
	run.CallID, run.Prompt, run.Result = n.CallID, n.Prompt, n.Result
	run.CostMicros, run.Currency = r.Int64(), r.Text()
	run.Allowance = decode[*wire.Allowance](r, "the run's budget")
	run.Expired = scanExpired(r)
	return store.RunRow{Run: run}
}

// ScanWholeRun reads WholeRunColumns.
func ScanWholeRun(r Row) store.RunRow {
	run := ScanRun(r)
	run.RunState = decode[storedState](r, "the run's state").state()
	run.StartKey, run.StartHash, run.Nonce, run.Scopes = r.Text(), r.Text(), r.Text(), scanScopes(r)
	run.HostState, run.ProviderOptions = r.JSON(), r.JSON()
	run.Client = decode[*wire.ClientInput](r, "what the run's client has brought")
	return run
}

func scanScopes(r Row) []string {
	text := r.Borrowed()
	if text == nil {
		return nil
	}
	if scopes, ok := plainStrings(string(text)); ok {
		return scopes
	}
	var scopes []string
	if err := json.Unmarshal(text, &scopes); err != nil {
		r.Fail(spool.Wrap(spool.Internal, "the run's scopes cannot be read", err))
	}
	return scopes
}
