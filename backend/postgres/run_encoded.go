package postgres

import (
	"encoding/json"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// startColumns has the columns of a run that come from the start.
type startColumns struct{ startKey, startHash, nonce, scopes, hostState, options, client string }

// startColumnsOf returns the start's columns of a run. Client is the JSON of the client's tools and context.
func startColumnsOf(r *store.RunRow, client json.RawMessage) startColumns {
	return startColumns{
		startKey: r.StartKey, startHash: r.StartHash, nonce: r.Nonce, scopes: string(form.EncodeScopes(r.Scopes)),
		hostState: string(r.HostState), options: string(r.ProviderOptions), client: string(client),
	}
}

// args returns the values of the columns in the order of [form.RunStateColumns], without the first.
func (g *startColumns) args() []any {
	return []any{g.startKey, g.startHash, g.nonce, g.scopes, g.hostState, g.options, g.client}
}

// storedRun has the stored values with which an update of a run is compared.
type storedRun struct {
	form.StoredRun

	start startColumns
}

// storedOf returns the stored values of a run that was read.
func storedOf(r *store.RunRow) (storedRun, error) {
	client, err := form.EncodeClient(r.Client)
	return storedRun{form.StoredOf(r), startColumnsOf(r, client)}, err
}
