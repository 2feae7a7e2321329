// Package toollist stores the lists of tool sources, each once, and reads them. They belong to no tenant.
package toollist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

const kind = "tool_list"

const (
	// keepFor is how long a list is kept after its last use. A run that waits for longer gets a new list.
	keepFor = 400 * 24 * time.Hour
	// renewAfter is how old the last note of a use may be.
	renewAfter = 24 * time.Hour
	// maxCached bounds how many lists a process keeps in memory.
	maxCached = 64
	// maxList bounds a list, in bytes.
	maxList = 4 << 20
)

// Lists keeps and reads lists. It is safe for concurrent use.
type Lists struct {
	Store store.Store
	Log   *slog.Logger

	mu     sync.Mutex
	cached map[string]cached
	last   map[string]string // the id of the last list by the names of the sources
}

type cached struct {
	list json.RawMessage
	used time.Time // when the store last noted a use
}

// Keep stores the list of a source unless the store has it, and returns its id. If the source has not had this list
// lately, Keep also returns the id of the list before it. It returns a [spool.Limit] error for a list that is too
// large, and for a source that has made too many lists today.
func (l *Lists) Keep(ctx context.Context, source string, list json.RawMessage) (id, before string, err error) {
	if len(list) == 0 {
		list = json.RawMessage("null")
	}
	if len(list) > maxList {
		return "", "", spool.Errorf(spool.Limit, "the list of the tools of %s is larger than %d bytes", source, maxList)
	}
	sum := sha256.Sum256(list)
	id = "tools_" + hex.EncodeToString(sum[:])
	_, err = l.Get(ctx, id)
	isNew := spool.CodeOf(err) == spool.NotFound
	if err != nil && !isNew {
		return "", "", err
	}
	l.mu.Lock()
	same := l.last[source] == id
	l.mu.Unlock()
	if same && !isNew {
		return id, "", nil
	}
	if before, err = l.note(ctx, source, id, list, isNew); err != nil {
		return "", "", err
	}
	if isNew {
		l.remember(id, cached{list: list, used: time.Now()})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = make(map[string]string)
	}
	l.last[source] = id
	return id, before, nil
}

// Get returns a list, or a [spool.NotFound] error. It must not be changed.
func (l *Lists) Get(ctx context.Context, id string) (json.RawMessage, error) {
	l.mu.Lock()
	found, ok := l.cached[id]
	l.mu.Unlock()
	if !ok {
		rows, err := l.Store.Rows(ctx, store.RowQuery{Kind: kind, Key: id, Limit: 1})
		switch {
		case err != nil:
			return nil, err
		case len(rows) == 0:
			return nil, spool.Errorf(spool.NotFound, "the list of tools %s is not stored", id)
		}
		var text string
		if err := json.Unmarshal(rows[0].Value, &text); err != nil {
			return nil, spool.Wrap(spool.Internal, "read a list of tools", err)
		}
		found = cached{list: json.RawMessage(text), used: rows[0].UpdatedAt}
		l.remember(id, found)
	}
	if time.Since(found.used) >= renewAfter {
		if err := l.renew(ctx, id, found.list); err != nil { // the list is there, and the next use tries again
			l.Log.WarnContext(ctx, "the use of a list of tools could not be noted", "list", id, "error", err)
		}
	}
	return found.list, nil
}

// renew lets the store keep a list for longer.
func (l *Lists) renew(ctx context.Context, id string, list json.RawMessage) error {
	err := l.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		row, err := rowOf(id, list, tx.Now())
		if err != nil {
			return err
		}
		return tx.Write(store.Changes{Rows: []store.Row{row}})
	})
	if err != nil && !errors.Is(err, store.ErrRowChanged) {
		return err
	}
	l.remember(id, cached{list: list, used: time.Now()})
	return nil
}

// rowOf returns the row of a list. The list is a JSON string, because a store may change the form of other JSON and
// the id is a hash of the bytes.
func rowOf(id string, list json.RawMessage, now time.Time) (store.Row, error) {
	value, err := json.Marshal(string(list))
	if err != nil {
		return store.Row{}, spool.Wrap(spool.Internal, "encode a list of tools", err)
	}
	return store.Row{Kind: kind, Key: id, Value: value, Version: store.AnyVersion, ExpiresAt: now.Add(keepFor)}, nil
}

func (l *Lists) remember(id string, c cached) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cached == nil || len(l.cached) >= maxCached {
		l.cached = make(map[string]cached)
	}
	l.cached[id] = c
}
