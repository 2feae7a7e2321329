// Package later keeps the starts that wait for their time. Each is a row with what one sees of it, a row with the whole
// start, a row for its idempotency key if it has one, and a job that is due at its time. The package touches only rows
// and jobs of the store, and knows nothing of runs.
package later

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Queue is the queue of the jobs.
const Queue = "spool.starts"

const (
	// Max bounds how many starts of a tenant wait for their time. As many more may wait as were asked for at the same
	// time: each counts those that were stored before it.
	Max = 10_000
	// MaxBytes bounds the JSON of a start, with its prompt and its attachments.
	MaxBytes = 1 << 20
	// keepRefused is how long a start that was refused can be seen.
	keepRefused = 24 * time.Hour

	startKind = "delayed_start"
	askedKind = "delayed_asked"
	keyKind   = "delayed_key"

	// jobSubject is the subject of all jobs, so that those of one thread can be asked for at no more than their cost.
	jobSubject = "start"
	listPage   = 200
)

var errNone = spool.Errorf(spool.NotFound, "Delayed start not found")

// Start is a start that waits for its time.
type Start struct {
	wire.DelayedStart

	// Turn is a number that each new time raises. A job counts only for the turn that it names.
	Turn int64 `json:"turn"`
	// KeyRow is the key of the row of the idempotency key. Empty: there is none.
	KeyRow string `json:"keyRow,omitempty"`

	tenant  spool.Tenant
	version int64 // of the row
}

// Asked is what was asked for, and by whom.
type Asked struct {
	Request wire.StartRequest `json:"request"`
	Actor   wire.Actor        `json:"actor"`
}

// Key is what a repeated start with the same idempotency key is answered with. Hash tells whether it is the same one.
type Key struct {
	RunID    spool.RunID    `json:"runId"`
	ThreadID spool.ThreadID `json:"threadId"`
	StartAt  time.Time      `json:"startAt"`
	Hash     string         `json:"hash"`
}

// Job is the payload of a job.
type Job struct {
	RunID  spool.RunID `json:"runId"`
	Turn   int64       `json:"turn"`
	KeyRow string      `json:"keyRow,omitempty"`
}

// KeyRow returns the key of the row of an idempotency key, "" for none.
func KeyRow(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// Free returns rows whose write fails with [store.ErrRowChanged] while a start with the run id or the idempotency key
// waits for its time. Either may be empty.
func Free(run spool.RunID, key string) []store.Row {
	var rows []store.Row
	if run != "" {
		rows = append(rows, store.Row{Kind: startKind, Key: string(run)})
	}
	if key != "" {
		rows = append(rows, store.Row{Kind: keyKind, Key: KeyRow(key)})
	}
	return rows
}

// New returns what a new start writes. The write fails with [store.ErrRowChanged] if its run id or its idempotency
// key is taken. Hash is kept with the key.
func New(tenant spool.Tenant, s Start, asked Asked, hash string) (store.Changes, error) {
	s.tenant, s.Turn = tenant, 1
	text, err := json.Marshal(asked)
	switch {
	case err != nil:
		return store.Changes{}, spool.Wrap(spool.Internal, "store delayed start", err)
	case len(text) > MaxBytes:
		return store.Changes{}, spool.Errorf(spool.Invalid,
			"startAt: a start that waits has up to %d bytes with its prompt and its attachments", MaxBytes)
	}
	rows := []store.Row{
		{Kind: startKind, Key: string(s.RunID), Value: encoded(s)},
		{Kind: askedKind, Key: string(s.RunID), Value: text, Version: store.AnyVersion},
	}
	if s.KeyRow != "" {
		rows = append(rows, store.Row{
			Kind: keyKind, Key: s.KeyRow, Value: encoded(Key{s.RunID, s.ThreadID, s.StartAt, hash}),
		})
	}
	return store.Changes{Rows: rows, Jobs: []wire.Job{s.job()}}, nil
}

// Remove returns what ends the start. The write fails with [store.ErrRowChanged] if the start is not as it was read.
func (s Start) Remove() store.Changes {
	return store.Changes{Rows: s.none(s.version), CancelJobs: []string{s.job().Key}}
}

// none returns rows that remove those of the start.
func (s Start) none(version int64) []store.Row {
	rows := []store.Row{
		{Kind: startKind, Key: string(s.RunID), Version: version},
		{Kind: askedKind, Key: string(s.RunID), Version: store.AnyVersion},
	}
	if s.KeyRow != "" {
		rows = append(rows, store.Row{Kind: keyKind, Key: s.KeyRow, Version: store.AnyVersion})
	}
	return rows
}

// job returns the job of the start's turn.
func (s Start) job() wire.Job {
	return wire.Job{
		Tenant: s.tenant, ThreadID: s.ThreadID, Queue: Queue, Subject: jobSubject, DueAt: s.StartAt,
		Key:     "start:" + string(s.RunID) + ":" + strconv.FormatInt(s.Turn, 10),
		Payload: encoded(Job{s.RunID, s.Turn, s.KeyRow}),
	}
}

// Store reads and writes starts.
type Store struct{ store.Store }

// Find returns a start, or a [spool.NotFound] error.
func (d Store) Find(ctx context.Context, tenant spool.Tenant, run spool.RunID) (s Start, err error) {
	if err = d.one(ctx, store.RowQuery{Tenant: tenant, Kind: startKind, Key: string(run)}, func(r store.Row) error {
		s, err = startOf(r)
		return err
	}); err != nil {
		return Start{}, err
	}
	return s, nil
}

// Asked returns what a start asked for, or a [spool.NotFound] error.
func (d Store) Asked(ctx context.Context, tenant spool.Tenant, run spool.RunID) (a Asked, err error) {
	err = d.one(ctx, store.RowQuery{Tenant: tenant, Kind: askedKind, Key: string(run)}, func(r store.Row) error {
		return decoded(r.Value, &a)
	})
	if string(a.Request.HostState) == "null" { // it has no omitempty, as a client never sends it
		a.Request.HostState = nil
	}
	return a, err
}

// Key returns what is kept with an idempotency key, or a [spool.NotFound] error.
func (d Store) Key(ctx context.Context, tenant spool.Tenant, key string) (k Key, err error) {
	err = d.one(ctx, store.RowQuery{Tenant: tenant, Kind: keyKind, Key: KeyRow(key)}, func(r store.Row) error {
		return decoded(r.Value, &k)
	})
	return k, err
}

func (d Store) one(ctx context.Context, q store.RowQuery, use func(r store.Row) error) error {
	if q.Key == "" { // it would select all
		return errNone
	}
	q.Limit = 1
	rows, err := d.Rows(ctx, q)
	if err == nil && len(rows) == 0 {
		err = errNone
	}
	if err != nil {
		return err
	}
	return use(rows[0])
}

// List returns starts, also those that were refused. Only leaves out those for which it returns false.
func (d Store) List(ctx context.Context, q wire.DelayedQuery, only func(s Start) bool) ([]Start, error) {
	list := []Start{}
	for after := string(q.After); ; {
		rows, err := d.Rows(ctx, store.RowQuery{Tenant: q.Tenant, Kind: startKind, After: after, Limit: listPage})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			s, err := startOf(r)
			if err != nil {
				return nil, err
			}
			if (q.ThreadID == "" || s.ThreadID == q.ThreadID) && only(s) {
				list = append(list, s)
			}
			if q.Limit > 0 && len(list) == q.Limit {
				return list, nil
			}
			after = r.Key
		}
		if len(rows) < listPage {
			return list, nil
		}
	}
}

// Waiting returns how many starts of a tenant wait for their time.
func (d Store) Waiting(ctx context.Context, tenant spool.Tenant) (int, error) {
	stats, err := d.Stats(ctx, wire.StatsQuery{Tenant: tenant, Queue: true, Queues: []string{Queue}})
	return stats.Queue.Ready + stats.Queue.Delayed + stats.Queue.InFlight, err
}

// OfThread returns what ends all starts of a thread that wait for their time.
func (d Store) OfThread(ctx context.Context, key spool.ThreadKey) (c store.Changes, err error) {
	queue := Queue
	jobs, err := d.Jobs(ctx, wire.JobQuery{Tenant: key.Tenant, ThreadID: key.ID, Queue: &queue, Subject: jobSubject})
	for _, j := range jobs {
		var of Job
		if err := decoded(j.Payload, &of); err != nil {
			return store.Changes{}, err
		}
		s := Start{DelayedStart: wire.DelayedStart{RunID: of.RunID}, KeyRow: of.KeyRow}
		c.CancelJobs = append(c.CancelJobs, j.Key)
		c.Rows = append(c.Rows, s.none(store.AnyVersion)...)
	}
	return c, err
}

// Refuse keeps a start that came due for a day, with the reason of its refusal. It returns [store.ErrRowChanged] if the
// start is not as it was read.
func (d Store) Refuse(ctx context.Context, s Start, reason, text string) error {
	return d.put(ctx, s.nobody(), s, func(tx store.Tx, s *Start) (store.Changes, time.Time) {
		s.RefusedAt, s.Reason, s.Error = tx.Now().UTC(), reason, text
		return store.Changes{}, tx.Now().Add(keepRefused)
	})
}

// nobody is the key of transactions that touch no thread.
func (s Start) nobody() spool.ThreadKey { return spool.ThreadKey{Tenant: s.tenant} }

// Move gives a start another time, in a transaction on its thread, which need not exist. It returns
// [store.ErrRowChanged] if the start is not as it was read.
func (d Store) Move(
	ctx context.Context, s Start, at time.Time, also func(tx store.Tx) error,
) (moved Start, err error) {
	key := spool.ThreadKey{Tenant: s.tenant, ID: s.ThreadID} // of the new job
	err = d.put(ctx, key, s, func(_ store.Tx, s *Start) (store.Changes, time.Time) {
		old := s.job().Key
		s.Turn++
		s.StartAt, s.RefusedAt, s.Reason, s.Error = at, time.Time{}, "", ""
		moved = *s
		return store.Changes{CancelJobs: []string{old}, Jobs: []wire.Job{s.job()}}, time.Time{}
	}, also)
	return moved, err
}

// put replaces the rows of a start with those of what change has made of it. They expire at the time that it returns.
func (d Store) put(
	ctx context.Context, key spool.ThreadKey, before Start,
	change func(tx store.Tx, s *Start) (store.Changes, time.Time),
	also ...func(tx store.Tx) error,
) error {
	rows := make([]store.Row, 0, len(before.none(0)))
	for _, r := range before.none(before.version) {
		found, err := d.Rows(ctx, store.RowQuery{Tenant: before.tenant, Kind: r.Kind, Key: r.Key, Limit: 1})
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return store.ErrRowChanged
		}
		r.Value = found[0].Value
		rows = append(rows, r)
	}
	return d.Update(ctx, key, 0, func(tx store.Tx) error {
		after := before
		c, expires := change(tx, &after)
		c.Rows = append(c.Rows, rows...)
		c.Rows[0].Value = encoded(after)
		for i := range c.Rows {
			c.Rows[i].ExpiresAt = expires
		}
		if err := tx.Write(c); err != nil {
			return err
		}
		for _, fn := range also {
			if err := fn(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func startOf(r store.Row) (s Start, err error) {
	err = decoded(r.Value, &s)
	s.tenant, s.version = r.Tenant, r.Version
	return s, err
}

func decoded(text json.RawMessage, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return spool.Wrap(spool.Internal, "the delayed start cannot be read", err)
	}
	return nil
}

// encoded returns the JSON of a value that has one.
func encoded(v any) json.RawMessage {
	text, _ := json.Marshal(v) //nolint:errchkjson // the values have only texts, numbers and times of this millennium
	return text
}
