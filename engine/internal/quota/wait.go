package quota

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// waitKind is the kind of the rows with the waiting calls. Each engine has a row for each group.
const waitKind = "provider_wait"

const (
	// maxShown bounds the calls in a row.
	maxShown = 500
	// showEvery is how often a row is written that has not changed, and showFor how long it counts.
	showEvery, showFor = 5 * time.Second, 15 * time.Second
)

// waits is the value of a row of waiting calls.
type waits struct {
	Group string `json:"group"`
	// For is what they wait for, as a part of a sentence.
	For   string `json:"for"`
	Calls []wait `json:"calls"`
}

// wait is a call that waits.
type wait struct {
	Tenant spool.Tenant `json:"tenant,omitempty"`
	Run    spool.RunID  `json:"run,omitempty"`
	Root   spool.RunID  `json:"root,omitempty"`
	Since  int64        `json:"since"`
}

// publish writes which calls wait, so that operators see it. A failure does no harm.
func (g *group) publish() {
	g.mu.Lock()
	now := g.clock.now()
	var calls []wait
	for _, w := range g.waiters {
		if now-w.began >= Visible && w.since != 0 && len(calls) < maxShown {
			calls = append(calls, wait{w.Tenant, w.Run, w.Root, w.since})
		}
	}
	fresh := now-g.shownAt < showEvery && (slices.Equal(calls, g.shown) || now-g.shownAt < longPoll)
	if len(calls) == 0 && !g.published || fresh {
		g.mu.Unlock()
		return
	}
	g.shown, g.shownAt, g.published = calls, now, len(calls) > 0
	row := store.Row{Kind: waitKind, Key: g.name + "/" + g.me, Version: store.AnyVersion}
	waiting := waits{Group: g.name, For: g.limit.text(g.blocked()), Calls: calls}
	g.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	err := g.db.Update(ctx, spool.ThreadKey{}, 0, func(tx store.Tx) (err error) {
		if len(calls) > 0 {
			if row.Value, err = json.Marshal(waiting); err != nil {
				return err
			}
		}
		row.ExpiresAt = tx.Now().Add(showFor)
		return tx.Write(store.Changes{Rows: []store.Row{row}})
	})
	if err != nil {
		g.log.WarnContext(ctx, "write the calls that wait for a provider's limit", "error", err)
	}
}

// text returns what a call waits for.
func (l Limit) text(why Reason) string {
	switch why {
	case Tokens:
		return "waits for the provider's limit of " + several(l.Tokens, "token") + " a minute"
	case Concurrent:
		return "waits for the provider's limit of " + several(l.Concurrent, "request") + " at the same time"
	case Refused:
		return "waits because the provider has refused requests for a time"
	default:
		return "waits for the provider's limit of " + several(l.Requests, "request") + " a minute"
	}
}

// several returns a number of things, in words.
func several(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Explain returns a sentence that says what a run waits for, or "" if it does not wait for a provider's limit.
// A run that dispatched others also waits for their calls.
func Explain(ctx context.Context, s store.Store, run wire.Run) (string, error) {
	rows, err := s.Rows(ctx, store.RowQuery{Kind: waitKind})
	if err != nil {
		return "", err
	}
	all := make([]waits, 0, len(rows))
	var mine waits
	since := int64(0)
	for _, row := range rows {
		var w waits
		if json.Unmarshal(row.Value, &w) != nil {
			continue
		}
		all = append(all, w)
		for _, c := range w.Calls {
			if c.Tenant == run.Tenant && (c.Run == run.ID || c.Root == run.ID) && (since == 0 || c.Since < since) {
				mine, since = w, c.Since
			}
		}
	}
	if since == 0 {
		return "", nil
	}
	before := 0
	for _, w := range all {
		for _, c := range w.Calls {
			if w.Group == mine.Group && c.Since < since {
				before++
			}
		}
	}
	switch before {
	case 0:
		return mine.For + "; it is next", nil
	case 1:
		return mine.For + "; 1 run is before it", nil
	default:
		return fmt.Sprintf("%s; %d runs are before it", mine.For, before), nil
	}
}
