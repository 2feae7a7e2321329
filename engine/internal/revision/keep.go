// Package revision stores the revisions of agents, each once, and reads them. They belong to no tenant.
package revision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The kinds of the rows. A revision has one row of each kind. The list has what a list of revisions shows,
// in the order of the agents' names and, within an agent, the revision that was first used last.
const (
	kindContent = "agent_revision"
	kindList    = "agent_revision_list"
)

// maxCached bounds how many contents a process keeps in memory.
const maxCached = 64

// Revisions keeps and reads revisions. It is safe for concurrent use.
type Revisions struct {
	Store store.Store

	mu      sync.Mutex
	kept    map[wire.RevisionID]bool
	content map[wire.RevisionID]wire.AgentContent
}

// Kept reports whether the store is known to have the revision.
func (r *Revisions) Kept(id wire.RevisionID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[id]
}

// Keep stores a revision unless the store has it.
func (r *Revisions) Keep(ctx context.Context, content wire.AgentContent) error {
	id := content.Revision()
	if r.Kept(id) {
		return nil
	}
	rows, err := r.Store.Rows(ctx, store.RowQuery{Kind: kindContent, Key: string(id), Limit: 1})
	if err == nil && len(rows) == 0 {
		err = r.add(ctx, id, content)
	}
	if err != nil && !errors.Is(err, store.ErrRowChanged) { // another process has stored it
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = make(map[wire.RevisionID]bool)
	}
	r.kept[id] = true
	return nil
}

func (r *Revisions) add(ctx context.Context, id wire.RevisionID, content wire.AgentContent) error {
	text, err := json.Marshal(content)
	if err != nil {
		return spool.Wrap(spool.Internal, "encode an agent's revision", err)
	}
	return r.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
		summary := wire.RevisionSummary{
			ID: id, Agent: content.Name, FirstUsedAt: tx.Now().UTC(), Model: content.Model.Name, Tools: len(content.Tools),
		}
		entry, err := json.Marshal(summary)
		if err != nil {
			return err
		}
		// Keys rise, and the latest revision of an agent comes first.
		key := fmt.Sprintf("%s%019d/%s", prefixOf(content.Name), math.MaxInt64-summary.FirstUsedAt.UnixMicro(), id)
		return tx.Write(store.Changes{Rows: []store.Row{
			{Kind: kindContent, Key: string(id), Value: text},
			{Kind: kindList, Key: key, Value: entry, Version: store.AnyVersion},
		}})
	})
}

// prefixOf returns the prefix of the agent's keys in the list. A name has no slash.
func prefixOf(agent string) string { return agent + "/" }

// shortest is how long the beginning of an id must be for [Revisions.Find].
const shortest = 12

// Find returns the revision whose id is the given text or, if only one does, begins with it. It returns a
// [spool.NotFound] error if there is none. A beginning needs at least 12 characters.
func (r *Revisions) Find(ctx context.Context, id wire.RevisionID) (wire.Revision, error) {
	found, err := r.Get(ctx, id)
	if spool.CodeOf(err) != spool.NotFound || len(id) < shortest {
		return found, err
	}
	rows, err := r.Store.Rows(ctx, store.RowQuery{Kind: kindContent, After: string(id), Limit: 2})
	if err != nil {
		return found, err
	}
	rows = slices.DeleteFunc(rows, func(row store.Row) bool { return !strings.HasPrefix(row.Key, string(id)) })
	switch len(rows) {
	case 0:
		return found, errNotFound
	case 1:
		return revisionOf(rows[0])
	default:
		return found, spool.Errorf(spool.Conflict, "several revisions begin with %s", id)
	}
}

// Get returns a revision, or a [spool.NotFound] error.
func (r *Revisions) Get(ctx context.Context, id wire.RevisionID) (wire.Revision, error) {
	if id == "" {
		return wire.Revision{}, errNotFound
	}
	rows, err := r.Store.Rows(ctx, store.RowQuery{Kind: kindContent, Key: string(id), Limit: 1})
	switch {
	case err != nil:
		return wire.Revision{}, err
	case len(rows) == 0:
		return wire.Revision{}, errNotFound
	}
	return revisionOf(rows[0])
}

func revisionOf(row store.Row) (wire.Revision, error) {
	revision := wire.Revision{ID: wire.RevisionID(row.Key), FirstUsedAt: row.UpdatedAt}
	err := json.Unmarshal(row.Value, &revision.Agent)
	return revision, spool.Wrap(spool.Internal, "read a revision", err)
}

var errNotFound = &spool.Error{Code: spool.NotFound, Message: "Revision not found"}

// Content returns the content of a revision, or a [spool.NotFound] error. It must not be changed.
func (r *Revisions) Content(ctx context.Context, id wire.RevisionID) (wire.AgentContent, error) {
	r.mu.Lock()
	content, ok := r.content[id]
	r.mu.Unlock()
	if ok {
		return content, nil
	}
	revision, err := r.Get(ctx, id)
	if err != nil {
		return content, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.content == nil || len(r.content) >= maxCached {
		r.content = make(map[wire.RevisionID]wire.AgentContent)
	}
	r.content[id] = revision.Agent
	return revision.Agent, nil
}

// List returns the revisions that the query selects, in the order of the agents' names. The revision of an
// agent that was first used last comes first.
func (r *Revisions) List(ctx context.Context, q wire.RevisionQuery) ([]wire.RevisionSummary, error) {
	rows := store.RowQuery{Kind: kindList, After: q.After, Limit: q.Limit}
	if q.Agent != "" {
		rows.After = max(rows.After, prefixOf(q.Agent))
	}
	found, err := r.Store.Rows(ctx, rows)
	if err != nil {
		return nil, err
	}
	list := make([]wire.RevisionSummary, 0, len(found))
	for _, row := range found {
		if q.Agent != "" && !strings.HasPrefix(row.Key, prefixOf(q.Agent)) {
			break
		}
		summary := wire.RevisionSummary{Mark: row.Key}
		if err := json.Unmarshal(row.Value, &summary); err != nil {
			return nil, spool.Wrap(spool.Internal, "read the list of revisions", err)
		}
		list = append(list, summary)
	}
	return list, nil
}
