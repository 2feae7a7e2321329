package deliver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// logKind is the kind of the rows of the log. Each endpoint has logLines rows of one attempt each, and one that says
	// which of them is the next.
	logKind  = "webhook_log"
	logLines = 100
	// keepLog is how long an attempt is in the log.
	keepLog = 30 * 24 * time.Hour
	// maxPending is how many lines wait at the most. Further ones are lost, which a log may do.
	maxPending = 1000
	// maxWrite is how many lines a transaction writes at the most.
	maxWrite = 50
	// gather is how long the first line waits for others, because a transaction costs more than a line.
	gather = 100 * time.Millisecond
	// writeTimeout bounds a write of the log.
	writeTimeout = 10 * time.Second
	// maxTurns is how often a write is tried while others write the log of the same endpoint.
	maxTurns = 5
)

// line is a line of the log.
type line struct {
	wire.WebhookAttempt

	tenant  spool.Tenant
	subject string
	// body is the key of a body that nobody needs any more. Empty: none.
	body string
}

// journal has the lines that are not written yet. They are written behind the acknowledgements, many at once.
type journal struct {
	mu      sync.Mutex
	pending []line
	wake    chan struct{}
}

func (j *journal) add(l line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.pending) < maxPending {
		j.pending = append(j.pending, l)
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// take returns lines of one tenant.
func (j *journal) take() (lines []line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rest := j.pending[:0]
	for _, l := range j.pending {
		if len(lines) < maxWrite && (len(lines) == 0 || l.tenant == lines[0].tenant) {
			lines = append(lines, l)
			continue
		}
		rest = append(rest, l)
	}
	clear(j.pending[len(rest):])
	j.pending = rest
	return lines
}

// keepJournal writes lines until done is closed, and then the last ones.
func (d *Deliverer) keepJournal(ctx context.Context, done <-chan struct{}) {
	for ended := false; !ended; {
		select {
		case <-d.journal.wake:
			select {
			case <-time.After(gather):
			case <-done:
				ended = true
			}
		case <-done:
			ended = true
		}
		for lines := d.journal.take(); len(lines) > 0; lines = d.journal.take() {
			writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
			if err := d.write(writing, lines); err != nil {
				d.Log.WarnContext(writing, "write the log of webhooks", "lines", len(lines), "error", err)
			}
			cancel()
		}
	}
}

// write writes lines of one tenant to the rings of their endpoints, and removes the bodies.
func (d *Deliverer) write(ctx context.Context, lines []line) (err error) {
	for range maxTurns {
		if err = d.writeOnce(ctx, lines); !errors.Is(err, store.ErrRowChanged) {
			return err
		}
	}
	return err
}

func (d *Deliverer) writeOnce(ctx context.Context, lines []line) error {
	tenant := lines[0].tenant
	until := time.Now().Add(keepLog)
	heads := make(map[string]*logHead)
	var rows []store.Row
	for _, l := range lines {
		head := heads[l.subject]
		if head == nil {
			var err error
			if head, err = d.logHead(ctx, tenant, l.subject); err != nil {
				return err
			}
			heads[l.subject] = head
		}
		value, err := json.Marshal(l.WebhookAttempt)
		if err != nil {
			return err
		}
		rows = append(rows, store.Row{
			Tenant: tenant, Kind: logKind, Key: fmt.Sprintf("%s/%02d", l.subject, head.Next), Value: value,
			Version: store.AnyVersion, ExpiresAt: until,
		})
		head.Next = (head.Next + 1) % logLines
		if l.body != "" {
			rows = append(rows, store.Row{Tenant: tenant, Kind: bodyKind, Key: l.body, Version: store.AnyVersion})
		}
	}
	for subject, head := range heads {
		value, err := json.Marshal(head)
		if err != nil {
			return err
		}
		rows = append(rows, store.Row{
			Tenant: tenant, Kind: logKind, Key: subject + "/", Value: value, Version: head.version, ExpiresAt: until,
		})
	}
	slices.SortStableFunc(rows, func(a, b store.Row) int { // two writers lock rows in one order
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return d.Store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: rows})
	})
}

// logHead is the row that says where the ring of an endpoint goes on.
type logHead struct {
	Next    int `json:"next"`
	version int64
}

func (d *Deliverer) logHead(ctx context.Context, tenant spool.Tenant, subject string) (*logHead, error) {
	rows, err := d.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: logKind, Key: subject + "/", Limit: 1})
	head := &logHead{}
	if err == nil && len(rows) > 0 {
		err = json.Unmarshal(rows[0].Value, head)
		head.version = rows[0].Version
	}
	return head, err
}

// Attempts returns the last attempts of an endpoint, the newest first: up to a hundred of the last 30 days. It returns
// a [spool.NotFound] error for an endpoint that is not known. A line comes a moment after its event.
func (d *Deliverer) Attempts(
	ctx context.Context, tenant spool.Tenant, name string, limit int,
) ([]wire.WebhookAttempt, error) {
	of, err := d.Endpoints.Find(ctx, tenant, name)
	if err != nil {
		return nil, err
	}
	rows, err := d.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: logKind, After: name + "/", Limit: logLines})
	if err != nil {
		return nil, err
	}
	attempts := []wire.WebhookAttempt{}
	for _, row := range rows {
		if !strings.HasPrefix(row.Key, name+"/") {
			break
		}
		var a wire.WebhookAttempt
		if err := json.Unmarshal(row.Value, &a); err != nil {
			return nil, spool.Wrap(spool.Internal, "the log of the endpoint cannot be read", err)
		}
		if !a.At.Before(of.CreatedAt) { // others are of an endpoint that had the name before
			attempts = append(attempts, a)
		}
	}
	slices.SortStableFunc(attempts, func(a, b wire.WebhookAttempt) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Attempt, a.Attempt))
	})
	if limit > 0 {
		attempts = attempts[:min(limit, len(attempts))]
	}
	return attempts, nil
}
