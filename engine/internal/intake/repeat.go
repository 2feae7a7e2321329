package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// repeat recognizes a start that comes again under its idempotency key.
type repeat struct {
	// key is the idempotency key as the store has it. Empty: the start has none.
	key string
	// thread and run are the ids that the request names, if any.
	thread spool.ThreadID
	run    spool.RunID
	// sent and meant are the hashes of the request without and with its defaults. A default may change between two
	// attempts of a client, and a client may write a default out.
	sent, meant string
}

// repeatOf returns the repeat of a request without its defaults.
func repeatOf(ctx context.Context, thread spool.ThreadID, r wire.StartRequest) repeat {
	if r.IdempotencyKey == "" {
		return repeat{}
	}
	return repeat{key: actor.StartKey(actor.Of(ctx), r.IdempotencyKey), thread: thread, run: r.RunID, sent: hashOf(r)}
}

// hash returns what the store keeps with the key.
func (p repeat) hash() string {
	if p.key == "" {
		return ""
	}
	return p.sent + "." + p.meant
}

// of reports whether the same request has started the run. A run of an older version has no hash, and counts as started
// by it.
func (p repeat) of(run store.RunRow) bool {
	sent, meant, hashed := strings.Cut(run.StartHash, ".")
	return !hashed ||
		(p.sent == sent || p.meant == meant) && (p.thread == "" || p.thread == run.ThreadID) &&
			(p.run == "" || p.run == run.ID)
}

// started returns the result of the start that was accepted under the idempotency key, if any.
func (h *Handler) started(ctx context.Context, tenant spool.Tenant, p repeat) (wire.RunResult, bool, error) {
	if p.key == "" {
		return wire.RunResult{}, false, nil
	}
	runs, err := h.Store.Runs(ctx, wire.RunQuery{Tenant: tenant, StartKey: p.key, Whole: true, Limit: 1})
	if err != nil || len(runs) == 0 {
		return wire.RunResult{}, false, err
	}
	run := runs[0]
	if !p.of(run) {
		return keyReused(run.ThreadID, run.ID), true, nil
	}
	result := wire.RunResult{Accepted: true, ThreadID: run.ThreadID, RunID: run.ID, State: wire.Queued}
	if run.Wait != nil {
		result.Position, result.Steers = run.Wait.Position, run.Wait.Steers
	}
	return result, true, nil
}

// hashOf returns a hash of what a client asks for, without the ids of the thread and the run.
func hashOf(r wire.StartRequest) string {
	asked := hashedStart{
		Prompt: r.Prompt, Agent: r.Agent, Model: r.Model, Title: r.Title, EditMessageID: r.EditMessageID,
		ClientMessageID: r.ClientMessageID, MaxSteps: r.MaxSteps, Budget: r.Budget,
		ProviderOptions: ordered(r.ProviderOptions), Client: r.Client, WhenBusy: r.WhenBusy,
		Options: otherOptions(r.StartOptions),
	}
	if !r.StartAt.IsZero() {
		asked.StartAt = r.StartAt.UnixMicro()
	}
	if len(r.Labels) > 0 {
		asked.Labels = r.Labels
	}
	if len(r.Attachments) > 0 {
		asked.Attachments = r.Attachments
	}
	if r.Output != nil {
		output := *r.Output
		output.Schema = ordered(output.Schema)
		asked.Output = &output
	}
	asked.Client.Tools = slices.Clone(r.Client.Tools)
	for i := range asked.Client.Tools {
		asked.Client.Tools[i].Parameters = ordered(asked.Client.Tools[i].Parameters)
	}
	text, _ := json.Marshal(asked) //nolint:errchkjson // invalid JSON is refused later
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// hashedStart is what a hash is made of. The stored hashes are of its JSON, so its fields keep their names and order.
type hashedStart struct {
	Prompt          string
	Agent           string
	Model           string
	RunID           spool.RunID
	Title           string
	Labels          map[string]string
	EditMessageID   spool.MessageID
	ClientMessageID string
	MaxSteps        int
	Attachments     []wire.Attachment
	HostState       json.RawMessage
	By              string
	Scopes          []string
	IdempotencyKey  string
	Budget          spool.Budget
	ProviderOptions json.RawMessage
	Output          *spool.OutputSchema
	Client          wire.ClientInput
	WhenBusy        spool.WhenBusy
	MayNotStop      bool
	Options         *wire.StartOptions `json:",omitempty"` //nolint:tagliatelle // the stored hashes have Go names
	StartAt         int64              `json:",omitempty"` //nolint:tagliatelle // as above; in microseconds
}

// otherOptions returns the options that have no field of their own in a [store.RunRow]. Nil: none of them is set.
func otherOptions(o wire.StartOptions) *wire.StartOptions {
	o.Agent, o.Model, o.MaxSteps, o.ProviderOptions, o.Output = "", "", 0, nil, nil
	if reflect.ValueOf(o).IsZero() {
		return nil
	}
	return &o
}

// ordered returns JSON with the keys of each object in their order, nil for null. A client may write them in any order.
func ordered(text json.RawMessage) json.RawMessage {
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil || value == nil {
		return nil // invalid JSON is refused later
	}
	out, _ := json.Marshal(value) //nolint:errchkjson // it was decoded from JSON
	return out
}
