// Package schedule starts runs when they come due. It touches the rows of schedules, their ticks in the outbox, and the
// start of runs.
//
// A schedule is a row. Its next tick is a job, whose key has the turn of the row in it: a number that each write
// raises which sets the next due time. A tick acts only if its turn is the row's. It replaces the row by its version,
// adds the next tick and writes the history in the transaction that starts the run, or without a start in one of its
// own. So each due time is seen to exactly once, whatever dies and however many workers have the tick.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Queue is the queue of the ticks.
const Queue = "spool.schedules"

// The kinds of rows.
const (
	Kind      = "schedule"
	kindTick  = "schedule_tick"  // a line of the history
	kindMaker = "schedule_maker" // the runs of a maker
	kindTurn  = "schedule_turn"  // what each schedule that is made replaces, so that their bound holds
	kindFile  = "schedule_file"  // the tenants with schedules of the configuration
)

// Schedules has the schedules of all tenants. It is safe for concurrent use.
type Schedules struct {
	Store   store.Store
	Live    store.Live
	Log     *slog.Logger
	Random  random.Source
	Options option.Schedules
	Rights  right.Lookup // Looks up what makers may do.
	// Start starts a run, and calls also in its transaction: see intake.Handler.
	Start func(
		ctx context.Context, key spool.ThreadKey, r wire.StartRequest, also func(tx store.Tx) error,
	) (wire.RunResult, error)
	// Check returns an [spool.Invalid] error for what Start would never accept.
	Check  func(ctx context.Context, key spool.ThreadKey, r wire.StartRequest) error
	Paused TellPaused // Nil: nothing is told.

	synced atomic.Bool
}

// TellPaused prepares what is told of a schedule that pauses by itself: add writes it in the transaction, and behind is
// called after the commit.
type TellPaused func(ctx context.Context, tenant spool.Tenant, s wire.Schedule) (
	add func(tx store.Tx) error, behind func(), err error)

// definition is what somebody has asked for.
type definition struct {
	Rule      wire.ScheduleRule   `json:"rule"`
	Start     wire.ScheduleStart  `json:"start"`
	Policy    wire.SchedulePolicy `json:"policy"`
	HostState json.RawMessage     `json:"hostState,omitempty"`
}

// state is the value of a schedule's row.
type state struct {
	definition

	Maker wire.Maker `json:"maker"`
	// Born is a random text, so that a schedule that is made again has other keys and runs.
	Born      string    `json:"born"`
	CreatedAt time.Time `json:"createdAt"`
	// Hash is that of the definition of the configuration. Empty: the schedule is not of the configuration.
	Hash string `json:"hash,omitempty"`

	// Turn is raised by each write that sets Due.
	Turn int64 `json:"turn"`
	// Due is the next due time. Zero: nothing comes due.
	Due          time.Time `json:"due,omitzero"`
	PausedAt     time.Time `json:"pausedAt,omitzero"`
	PausedReason string    `json:"pausedReason,omitempty"`

	// Lines counts the lines of the history, which keeps the last ones.
	Lines     int64              `json:"lines,omitempty"`
	LastDueAt time.Time          `json:"lastDueAt,omitzero"`
	Last      *wire.ScheduleTick `json:"last,omitempty"`
	LastRun   runRef             `json:"lastRun,omitzero"`
}

// runRef names a run.
type runRef struct {
	Thread spool.ThreadID `json:"thread"`
	Run    spool.RunID    `json:"run"`
}

// row is a schedule as the store has it.
type row struct {
	state

	tenant  spool.Tenant
	name    string
	version int64
}

// ticket is the payload of a tick.
type ticket struct {
	Name string `json:"name"`
	Born string `json:"born"`
	Turn int64  `json:"turn"`
}

var errNotFound = &spool.Error{Code: spool.NotFound, Message: "Schedule not found"}

// find returns a schedule, or errNotFound.
func (s *Schedules) find(ctx context.Context, tenant spool.Tenant, name string) (*row, error) {
	if name == "" {
		return nil, errNotFound
	}
	rows, err := s.Store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: Kind, Key: name, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errNotFound
	}
	return decode(tenant, rows[0])
}

func decode(tenant spool.Tenant, from store.Row) (*row, error) {
	r := &row{tenant: tenant, name: from.Key, version: from.Version}
	if err := json.Unmarshal(from.Value, &r.state); err != nil {
		return nil, spool.Wrap(spool.Internal, "read the schedule "+from.Key, err)
	}
	return r, nil
}

// encode returns the JSON of a value of this package, which always has one.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic("spool: encode a schedule: " + err.Error())
	}
	return text
}

// now returns the store's time.
func (s *Schedules) now(ctx context.Context, tenant spool.Tenant) (time.Time, error) {
	return right.StoreTime(ctx, s.Store, tenant)
}

// change is what a transaction writes for a schedule: the row and the lines of its history, and another tick if the
// turn has changed.
type change struct {
	was, next *row // was is nil for a new one
	lines     []wire.ScheduleTick
	maker     *store.Row       // the row of the maker's runs. Nil: it does not change.
	turn      *store.Row       // the row of the bound of schedules. Nil: no schedule is made.
	audit     *wire.AuditEntry // the entry of the audit log. Nil: none.
	// inTick says that the tick of the turn before makes the change, so that it need not be cancelled.
	inTick bool
	// byItself says that the change pauses the schedule, and that nobody has asked for that.
	byItself bool
}

// line adds a line to the history.
func (c *change) line(t wire.ScheduleTick) {
	c.next.Lines++
	t.Seq = c.next.Lines
	c.lines = append(c.lines, t)
	c.next.Last = &t
	if !t.DueAt.IsZero() {
		c.next.LastDueAt = t.DueAt
	}
}

// changes returns what a transaction on a thread, or on none, writes. The row fails with [store.ErrRowChanged] if
// somebody else has changed it.
func (c *change) changes(thread spool.ThreadID) store.Changes {
	next := c.next
	out := store.Changes{Rows: []store.Row{{Kind: Kind, Key: next.name, Value: encode(next.state), Version: next.version}}}
	for _, beside := range []*store.Row{c.maker, c.turn} {
		if beside != nil {
			out.Rows = append(out.Rows, *beside)
		}
	}
	for _, t := range c.lines {
		out.Rows = append(out.Rows, store.Row{
			Kind: kindTick, Key: tickKey(next.name, t.Seq), Value: encode(t), Version: store.AnyVersion,
		})
	}
	if c.was != nil && c.was.Turn == next.Turn {
		return out
	}
	if c.was != nil && !c.inTick {
		out.CancelJobs = []string{c.was.jobKey()}
	}
	if !next.Due.IsZero() {
		job := next.job()
		job.ThreadID = thread // the store sets it anyway; the tick outlives the thread
		out.Jobs = []wire.Job{job}
	}
	return out
}

// job returns the next tick.
func (r *row) job() wire.Job {
	return wire.Job{
		Tenant: r.tenant, Queue: Queue, Subject: r.Maker.Subject, Key: r.jobKey(),
		DueAt: r.Due.Add(r.jitter(r.Due)), Payload: encode(ticket{Name: r.name, Born: r.Born, Turn: r.Turn}),
	}
}

// jobKey names the tick of the row's turn. If it were the same for each turn, the store would drop a tick that is added
// while the one before is in flight, and the schedule would end.
func (r *row) jobKey() string {
	return "schedule/" + r.name + "/" + r.Born + "/" + strconv.FormatInt(r.Turn, 10)
}

// clone returns a copy for the changes of a transaction.
func (r *row) clone() *row {
	next := *r
	return &next
}

// setDue sets the next due time.
func (r *row) setDue(due time.Time) {
	r.Due = due
	r.Turn++
}

// pause ends the schedule until somebody resumes it.
func (r *row) pause(now time.Time, reason string) {
	r.PausedAt, r.PausedReason = now.UTC(), reason
	r.setDue(time.Time{})
}

func (r *row) paused() bool { return !r.PausedAt.IsZero() }

// write saves a change in a transaction of its own.
func (s *Schedules) write(ctx context.Context, c *change) (err error) {
	tell, told := func(store.Tx) error { return nil }, func() {}
	if c.byItself && s.Paused != nil {
		if tell, told, err = s.Paused(ctx, c.next.tenant, c.next.shown()); err != nil {
			return err
		}
	}
	err = s.Store.Update(ctx, spool.ThreadKey{Tenant: c.next.tenant}, 0, func(tx store.Tx) error {
		if err := s.add(ctx, tx, c, ""); err != nil {
			return err
		}
		return tell(tx)
	})
	if err == nil {
		s.added(ctx, c)
		told()
	}
	return err
}

// add writes a change in a transaction on a thread, or on none.
func (s *Schedules) add(ctx context.Context, tx store.Tx, c *change, thread spool.ThreadID) error {
	if err := tx.Write(c.changes(thread)); err != nil || c.audit == nil {
		return err
	}
	return actor.Audit(ctx, tx, c.next.tenant, c.audit)
}

// added does the work behind the commit of a change.
func (s *Schedules) added(ctx context.Context, c *change) {
	if c.audit != nil {
		actor.Log(ctx, s.Log, c.audit)
	}
	if c.was == nil || c.was.Turn != c.next.Turn {
		s.Live.Wake(store.EventsTopic, store.WakeJobs, nil)
	}
}

// maxRaces bounds how often a change is decided again because somebody else was faster.
const maxRaces = 20

// again calls decide until nobody else has changed the row meanwhile.
func again(decide func() error) (err error) {
	for range maxRaces {
		if err = decide(); !errors.Is(err, store.ErrRowChanged) {
			return err
		}
	}
	return spool.Wrap(spool.Unavailable, "the schedule changes too often: try again", err)
}
