package chat

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// answerTokens is the estimate of an answer's tokens if nothing bounds it.
const answerTokens = 1000

// estimate returns the tokens that a request will need.
func estimate(prompt int64, r spool.ModelRequest) int64 {
	if r.MaxOutputTokens > 0 {
		return prompt + int64(r.MaxOutputTokens)
	}
	return prompt + answerTokens
}

// reported returns the tokens of a call, or nil if the provider did not report them.
func reported(u spool.Usage) *int64 {
	if u.Input == nil && u.Output == nil {
		return nil
	}
	return new(u.Count().TotalTokens)
}

// waitOf returns the item of a run that waits.
func waitOf(run store.RunRow, why quota.Reason) wire.ProviderWait {
	return wire.ProviderWait{AgentID: record.AgentOf(run), Limit: string(why)}
}

// turn is a call that waits for the limits of its provider.
type turn struct {
	*Client
	quota.Call

	reserve func(ctx context.Context) error
}

func (c *Client) turn(call quota.Call, reserve func(ctx context.Context) error) turn {
	return turn{c, call, reserve}
}

// wait waits until the limits allow the call. It then reserves budget, so that a run that waits has reserved
// none, and returns the context of the call. The caller must call Done.
func (t turn) wait(ctx context.Context) (context.Context, *quota.Permit, error) {
	for reserved := false; ; {
		permit, err := t.acquire(ctx)
		if err != nil {
			return ctx, nil, err
		}
		if !reserved && t.reserve != nil {
			if err := t.reserve(ctx); err != nil {
				permit.Done(quota.Usage{})
				return ctx, nil, err
			}
			reserved = true
		}
		if calling, ok := permit.Begin(ctx); ok {
			return calling, permit, nil
		}
		permit.Done(quota.Usage{}) // it has expired while the budget was reserved
	}
}

// acquire waits for a permit, and measures the wait.
func (t turn) acquire(ctx context.Context) (*quota.Permit, error) {
	if !t.Limits.Limits(t.Model) {
		return nil, nil //nolint:nilnil // a nil Permit has no limit
	}
	defer t.Telemetry.ProviderWait(ctx, t.Model)()
	return t.Limits.Acquire(ctx, t.Call)
}

// lapsed returns why a call was cancelled whose caller's context has not ended, or nil.
func lapsed(ctx, calling context.Context) error {
	if ctx.Err() == nil && calling.Err() != nil {
		return context.Cause(calling)
	}
	return nil
}
