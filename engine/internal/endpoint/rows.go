package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// rowKind is the kind of a tenant's rows about endpoints. The key of an endpoint is its name.
	rowKind = "webhook"
	// stateKey begins the key of the row about an endpoint of the configuration that is disabled.
	stateKey = "@"
	// turnKey is the row that each endpoint that is made replaces, so that their bound holds.
	turnKey = "#"
	// listKind is the kind of the row of the installation that has the tenants with endpoints, and listKey its key.
	listKind, listKey = "webhook_tenants", "all"
	// maxTries is how often a change is tried again that somebody else was faster with.
	maxTries = 20
)

// stored is the value of an endpoint's row.
type stored struct {
	wire.WebhookEndpoint

	// Sealed is a secrets that the vault has sealed.
	Sealed []byte `json:"sealed"`
	// Maker is the maker, with the credentials of its last change. Nil: its right is not looked up.
	Maker *wire.Maker `json:"maker,omitempty"`
}

// secrets are what nobody sees of an endpoint. The oldest secret comes first.
type secrets struct {
	URL     string   `json:"url"`
	Secrets []string `json:"secrets"`
}

// state is the value of the row about an endpoint of the configuration.
type state struct {
	Definition string    `json:"definition"`
	DisabledAt time.Time `json:"disabledAt"`
	Reason     string    `json:"reason"`
}

// list is the value of the row of the installation.
type list struct {
	Tenants []spool.Tenant `json:"tenants"`
}

func decode[T any](row store.Row) (value T, err error) {
	if err = json.Unmarshal(row.Value, &value); err != nil {
		err = spool.Wrap(spool.Internal, "a row about the endpoint of a webhook cannot be read", err)
	}
	return value, err
}

// rowOf returns a row with a value.
func rowOf(key string, version int64, value any) store.Row {
	return store.Row{Kind: rowKind, Key: key, Value: encode(value), Version: version}
}

func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic("spool: encode an endpoint: " + err.Error()) // nothing in it cannot be encoded
	}
	return text
}

// row returns one row of a tenant. Its version is zero if there is none.
func (b *Book) row(ctx context.Context, tenant spool.Tenant, key string) (store.Row, error) {
	rows, err := b.store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: rowKind, Key: key, Limit: 1})
	if err != nil || len(rows) == 0 {
		return store.Row{}, err
	}
	return rows[0], nil
}

// rows is what a tenant has in the store.
type rows struct {
	endpoints map[string]store.Row
	states    map[string]state
	turn      int64 // the version of the row of turnKey, zero if there is none
}

// rowsOf reads all rows of a tenant.
func (b *Book) rowsOf(ctx context.Context, tenant spool.Tenant) (rows, error) {
	all, err := b.store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: rowKind})
	found := rows{endpoints: make(map[string]store.Row), states: make(map[string]state)}
	for _, row := range all {
		switch of, isState := strings.CutPrefix(row.Key, stateKey); {
		case isState:
			if found.states[of], err = decode[state](row); err != nil {
				return rows{}, err
			}
		case row.Key == turnKey:
			found.turn = row.Version
		default:
			found.endpoints[row.Key] = row
		}
	}
	return found, err
}

// seal encrypts the secrets of an endpoint.
func (b *Book) seal(tenant spool.Tenant, endpoint string, s secrets) ([]byte, error) {
	return b.config.Vault.Seal(useOf(tenant, endpoint), encode(s))
}

// open decrypts the secrets of an endpoint.
func (b *Book) open(tenant spool.Tenant, e stored) (s secrets, err error) {
	if b.config.Vault == nil {
		return s, errNoVault
	}
	text, err := b.config.Vault.Open(useOf(tenant, e.Name), e.Sealed)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, spool.Wrap(spool.Internal, "the secrets of a webhook's endpoint cannot be read", err)
	}
	return s, nil
}

// useOf is what the secrets of an endpoint are sealed for, so that those of another one cannot stand in its row.
func useOf(tenant spool.Tenant, endpoint string) string {
	return "webhook\x00" + string(tenant) + "\x00" + endpoint
}

// readList reads the tenants that have endpoints, and the version of their row.
func (b *Book) readList(ctx context.Context) (l list, version int64, err error) {
	found, err := b.store.Rows(ctx, store.RowQuery{Kind: listKind, Key: listKey, Limit: 1})
	if err != nil || len(found) == 0 {
		return l, 0, err
	}
	l, err = decode[list](found[0])
	return l, found[0].Version, err
}

// enlist writes that a tenant has endpoints. It writes the row even if it says so already: see delist. Call it behind
// the write of the endpoint, and before anybody is told that there is one.
func (b *Book) enlist(ctx context.Context, tenant spool.Tenant) error {
	err := b.again(ctx, func() error {
		l, version, err := b.readList(ctx)
		if err != nil {
			return err
		}
		if at, found := slices.BinarySearch(l.Tenants, tenant); !found {
			l.Tenants = slices.Insert(l.Tenants, at, tenant)
		}
		return b.writeList(ctx, l, version)
	})
	b.listed.forget()
	return err
}

// delist takes a tenant without endpoints from the list. An endpoint that is made meanwhile is seen here, or its enlist
// comes behind the read of the list, and this write fails.
func (b *Book) delist(ctx context.Context, tenant spool.Tenant) error {
	return b.again(ctx, func() error {
		l, version, err := b.readList(ctx)
		if err != nil {
			return err
		}
		found, err := b.rowsOf(ctx, tenant)
		at, listed := slices.BinarySearch(l.Tenants, tenant)
		if err != nil || !listed || len(found.endpoints) > 0 {
			return err
		}
		l.Tenants = slices.Delete(l.Tenants, at, at+1)
		return b.writeList(ctx, l, version)
	})
}

func (b *Book) writeList(ctx context.Context, l list, version int64) error {
	return b.store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{{Kind: listKind, Key: listKey, Value: encode(l), Version: version}},
		})
	})
}

// again tries a change until nobody else was faster.
func (b *Book) again(ctx context.Context, change func() error) error {
	for try := 1; ; try++ {
		err := change()
		if !errors.Is(err, store.ErrRowChanged) || try == maxTries || ctx.Err() != nil {
			return err
		}
	}
}
