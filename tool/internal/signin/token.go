package signin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/internal/oauth"
)

const (
	// keptFor is how long a token is kept after its sign-in or its last refresh.
	keptFor = 180 * 24 * time.Hour
	// refreshFor is how long a process may take to refresh a token. After that, another one tries.
	refreshFor = 45 * time.Second
	// lookEvery is how often a process looks whether another one has refreshed a token.
	lookEvery = 100 * time.Millisecond
	// maxSeen bounds how many tokens are remembered.
	maxSeen = 8
)

// held is a token as its row has it, encrypted.
type held struct {
	oauth.Grant

	Resource string `json:"resource"`
}

// stored is the value of a token's row.
type stored struct {
	Sealed string `json:"sealed"`
	// By names the process that refreshes the token, until the time Lapses of the store. Empty: none does.
	By     string    `json:"by,omitempty"`
	Lapses time.Time `json:"lapses,omitzero"`
}

// Tokens has the token of an owner. It is safe for concurrent use.
type Tokens struct {
	book  *Book
	owner Owner

	mu      sync.Mutex
	refused string   // the token that the server has refused last
	seen    []string // the last tokens, the newest first
}

// Tokens returns the token of an owner.
func (b *Book) Tokens(o Owner) *Tokens { return &Tokens{book: b, owner: o} }

// found is a token's row.
type found struct {
	held
	stored

	version int64
}

// Token returns a token of the owner. It refreshes one that is about to end or that the server has refused. Of all
// processes only one does so at a time, as an authorization server may take a refresh token once. Token returns a
// [NeededError] error if the owner has to sign in.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	if err := t.book.Check(t.owner); err != nil {
		return "", err
	}
	for {
		f, err := t.read(ctx)
		if err != nil {
			return "", err
		}
		if t.good(f) {
			return t.use(f.Access), nil
		}
		if f.Refresh == "" {
			return "", t.needed()
		}
		f, err = t.claim(ctx, f)
		switch {
		case err == nil:
			err = t.refresh(ctx, f)
		case errors.Is(err, errBusy):
			err = pause(ctx)
		case errors.Is(err, store.ErrRowChanged):
			err = nil
		}
		if err != nil {
			return "", err
		}
	}
}

// Forget removes the token of an owner, and reports whether there was one.
func (b *Book) Forget(ctx context.Context, o Owner) (bool, error) {
	rows, err := b.config.Store.Rows(ctx, store.RowQuery{Tenant: o.Tenant, Kind: tokenKind, Key: o.key(), Limit: 1})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	err = b.config.Store.Update(ctx, spool.ThreadKey{Tenant: o.Tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: []store.Row{{Kind: tokenKind, Key: o.key(), Version: store.AnyVersion}}})
	})
	return err == nil, err
}

// good reports whether a token can be used.
func (t *Tokens) good(f found) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := f.Until
	if f.Refresh == "" {
		end = f.Ends
	}
	return f.Access != t.refused && (end.IsZero() || time.Now().Before(end))
}

// use notes a token that texts must not have.
func (t *Tokens) use(token string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.seen, token) {
		t.seen = append([]string{token}, t.seen...)
		t.seen = t.seen[:min(len(t.seen), maxSeen)]
	}
	return token
}

// Refused says that the server has refused a token.
func (t *Tokens) Refused(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = token
}

// Seen returns the last tokens, which must not get into texts that others see.
func (t *Tokens) Seen() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen)
}

func (t *Tokens) needed() *NeededError {
	return &NeededError{Server: t.owner.Server, Link: t.book.Link(t.owner)}
}

// read reads the row. It returns a [NeededError] error if there is none that can be read.
func (t *Tokens) read(ctx context.Context) (found, error) {
	b := t.book
	rows, err := b.config.Store.Rows(ctx,
		store.RowQuery{Tenant: t.owner.Tenant, Kind: tokenKind, Key: t.owner.key(), Limit: 1})
	if err != nil {
		return found{}, err
	}
	if len(rows) == 0 {
		return found{}, t.needed()
	}
	f := found{version: rows[0].Version}
	err = json.Unmarshal(rows[0].Value, &f.stored)
	if err == nil {
		var sealed json.RawMessage
		if sealed, err = json.Marshal(f.Sealed); err == nil {
			err = b.opened(sealed, &f.held, t.owner.words(tokenKind)...)
		}
	}
	if err != nil {
		b.config.Log.WarnContext(ctx,
			"a stored sign-in cannot be read with the configured keys; its subject has to sign in again",
			"server", t.owner.Server, "tenant", t.owner.Tenant, "subject", t.owner.Subject)
		n := t.needed()
		n.Unreadable = true
		return found{}, n
	}
	return f, nil
}

// errBusy is the error of a claim while another process refreshes the token.
var errBusy = errors.New("another process refreshes the token")

// claim makes this process the one that refreshes the token. It returns [store.ErrRowChanged] if the row is another
// one by now.
func (t *Tokens) claim(ctx context.Context, f found) (found, error) {
	by := rand.Text()
	err := t.book.config.Store.Update(ctx, spool.ThreadKey{Tenant: t.owner.Tenant}, 0, func(tx store.Tx) error {
		if f.By != "" && f.Lapses.After(tx.Now()) {
			return errBusy
		}
		row, err := t.row(stored{Sealed: f.Sealed, By: by, Lapses: tx.Now().Add(refreshFor)}, f.version, tx.Now())
		if err != nil {
			return err
		}
		return tx.Write(store.Changes{Rows: []store.Row{row}})
	})
	if err != nil {
		return found{}, err
	}
	f, err = t.read(ctx)
	if err == nil && f.By != by {
		err = store.ErrRowChanged
	}
	return f, err
}

// refresh replaces the token. This process has claimed it. The end of ctx does not stop a request under way, as the
// old refresh token may be gone with it.
func (t *Tokens) refresh(ctx context.Context, f found) error {
	b := t.book
	client := b.clients[t.owner.Server]
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshFor)
	defer cancel()
	g, err := client.Refresh(ctx, f.Refresh, f.Resource)
	switch {
	case err == nil:
		err = b.put(ctx, t.owner, held{Grant: g, Resource: f.Resource}, f.version)
	case errors.Is(err, oauth.ErrGrant):
		if wrong := t.write(ctx, nil, f.version); wrong != nil {
			return wrong
		}
		return nil // the next look finds no row, or that of a new sign-in
	default:
		if wrong := t.write(ctx, &stored{Sealed: f.Sealed}, f.version); wrong != nil {
			b.config.Log.WarnContext(ctx, "the refresh of a sign-in could not be given up", "server", t.owner.Server, "error",
				wrong)
		}
		return err
	}
	if errors.Is(err, store.ErrRowChanged) { // the person has signed in anew
		return nil
	}
	return err
}

// write replaces or removes the row of a version. It is no error if the row is another one by now.
func (t *Tokens) write(ctx context.Context, s *stored, version int64) error {
	err := t.book.config.Store.Update(ctx, spool.ThreadKey{Tenant: t.owner.Tenant}, 0, func(tx store.Tx) error {
		row := store.Row{Kind: tokenKind, Key: t.owner.key(), Version: version}
		if s != nil {
			var err error
			if row, err = t.row(*s, version, tx.Now()); err != nil {
				return err
			}
		}
		return tx.Write(store.Changes{Rows: []store.Row{row}})
	})
	if errors.Is(err, store.ErrRowChanged) {
		return nil
	}
	return err
}

func (t *Tokens) row(s stored, version int64, now time.Time) (store.Row, error) {
	value, err := json.Marshal(s)
	if err != nil {
		return store.Row{}, spool.Wrap(spool.Internal, "encode a sign-in", err)
	}
	return store.Row{Kind: tokenKind, Key: t.owner.key(), Value: value, Version: version, ExpiresAt: now.Add(keptFor)}, nil
}

// put stores a token.
func (b *Book) put(ctx context.Context, o Owner, h held, version int64) error {
	text, err := json.Marshal(h)
	if err != nil {
		return spool.Wrap(spool.Internal, "encode a sign-in", err)
	}
	sealed := b.config.Vault.Seal(text, o.words(tokenKind)...)
	t := Tokens{book: b, owner: o}
	return b.config.Store.Update(ctx, spool.ThreadKey{Tenant: o.Tenant}, 0, func(tx store.Tx) error {
		row, err := t.row(stored{Sealed: sealed}, version, tx.Now())
		if err != nil {
			return err
		}
		return tx.Write(store.Changes{Rows: []store.Row{row}})
	})
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
