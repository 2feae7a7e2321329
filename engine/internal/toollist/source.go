package toollist

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

const (
	sourceKind = "tool_source"

	// maxNewLists and maxNewBytes bound the new lists of a source that are stored in a day. Each is kept for keepFor.
	maxNewLists = 200
	maxNewBytes = 32 << 20
	// maxRecent bounds how many lists of a source are known to be its own.
	maxRecent = 8
	// maxTries bounds how often a write is tried that meets those of other processes.
	maxTries = 5
)

// sourceRow is what the store has about a source.
type sourceRow struct {
	// Recent are the ids of the last lists, the newest at the end.
	Recent []string `json:"recent"`
	// Day is the day, in UTC, of the new lists that are counted.
	Day   string `json:"day"`
	Lists int    `json:"lists"`
	Bytes int    `json:"bytes"`
}

// note makes a list one of the recent ones of its source, and stores it if it is new. It returns the id of the list
// before it, if the source has not had this one lately.
func (l *Lists) note(
	ctx context.Context, source, id string, list json.RawMessage, isNew bool,
) (before string, err error) {
	for try := 1; ; try++ {
		if isNew && try > 1 { // perhaps another process has stored it
			_, err := l.Get(ctx, id)
			isNew = spool.CodeOf(err) == spool.NotFound
		}
		rows, err := l.Store.Rows(ctx, store.RowQuery{Kind: sourceKind, Key: source, Limit: 1})
		if err != nil {
			return "", err
		}
		var known sourceRow
		var version int64
		if len(rows) > 0 {
			version = rows[0].Version
			if err := json.Unmarshal(rows[0].Value, &known); err != nil {
				known = sourceRow{} // as if it had none
			}
		}
		recent := slices.Contains(known.Recent, id)
		if recent && !isNew {
			return "", nil
		}
		if before = ""; !recent && len(known.Recent) > 0 {
			before = known.Recent[len(known.Recent)-1]
		}
		err = l.Store.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) error {
			next, err := known.with(source, id, list, isNew, tx.Now())
			if err != nil {
				return err
			}
			value, err := json.Marshal(next)
			if err != nil {
				return spool.Wrap(spool.Internal, "encode a source of tools", err)
			}
			written := []store.Row{
				{Kind: sourceKind, Key: source, Value: value, Version: version, ExpiresAt: tx.Now().Add(keepFor)},
			}
			if isNew {
				row, err := rowOf(id, list, tx.Now())
				if err != nil {
					return err
				}
				written = append(written, row)
			}
			return tx.Write(store.Changes{Rows: written})
		})
		if err == nil || !errors.Is(err, store.ErrRowChanged) || try == maxTries {
			return before, err
		}
	}
}

// with returns the row with one more list. It returns a [spool.Limit] error if there are too many new ones.
func (r sourceRow) with(source, id string, list json.RawMessage, isNew bool, now time.Time) (sourceRow, error) {
	r.Recent = append(slices.DeleteFunc(slices.Clone(r.Recent), func(other string) bool { return other == id }), id)
	r.Recent = r.Recent[max(0, len(r.Recent)-maxRecent):]
	if !isNew {
		return r, nil
	}
	if day := now.UTC().Format(time.DateOnly); r.Day != day {
		r.Day, r.Lists, r.Bytes = day, 0, 0
	}
	r.Lists++
	r.Bytes += len(list)
	if r.Lists > maxNewLists || r.Bytes > maxNewBytes {
		return r, spool.Errorf(spool.Limit,
			"the tools of %s changed too often today: %d different lists of together %d bytes", source, r.Lists, r.Bytes)
	}
	return r, nil
}
