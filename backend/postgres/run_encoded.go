package postgres

import (
	"encoding/json"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// givenRun has the columns of a run that come from the start.
type givenRun struct{ startKey, startHash, nonce, scopes, hostState, options, client string }

// givenOf returns the columns of a run with the JSON of what its client has brought.
func givenOf(r *store.RunRow, client json.RawMessage) givenRun {
	return givenRun{
		startKey: r.StartKey, startHash: r.StartHash, nonce: r.Nonce, scopes: string(form.EncodeScopes(r.Scopes)),
		hostState: string(r.HostState), options: string(r.ProviderOptions), client: string(client),
	}
}

// args returns the values of the columns in the order of [form.RunStateColumns], without the first.
func (g *givenRun) args() []any {
	return []any{g.startKey, g.startHash, g.nonce, g.scopes, g.hostState, g.options, g.client}
}

// storedRun has the stored values with which an update of a run is compared.
type storedRun struct {
	form.StoredRun

	given givenRun
}

// storedOf returns the stored values of a run that was read.
func storedOf(r *store.RunRow) (storedRun, error) {
	client, err := form.EncodeClient(r.Client)
	return storedRun{form.StoredOf(r), givenOf(r, client)}, err
}
