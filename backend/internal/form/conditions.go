package form

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Conditions are the text of a WHERE, and the values of its places in their order. The functions that return them
// leave to the databases what depends on a planner: names of indexes, the order and the limit.
type Conditions struct {
	Text string
	Args []any
}

// And adds a condition. The first one has no AND before it.
func (c *Conditions) And(condition string, args ...any) {
	if c.Text != "" {
		c.Text += " AND "
	}
	c.Text += condition
	c.Args = append(c.Args, args...)
}

// ofThread returns the conditions of the rows of a thread.
func ofThread(key spool.ThreadKey) (c Conditions) {
	c.And("tenant = ? AND thread_id = ?", key.Tenant, key.ID)
	return c
}

// EntryConditions returns the conditions of a query for entries of a thread.
func EntryConditions(key spool.ThreadKey, q store.EntryQuery) Conditions {
	c := ofThread(key)
	if q.After > 0 {
		c.And("seq > ?", q.After)
	}
	if q.Run != "" {
		c.And("run_id = ?", q.Run)
	}
	if q.Type != "" {
		c.And("type = ?", string(q.Type))
	}
	return c
}

// UsageConditions returns the conditions of a query for rows of a thread's ledger.
func UsageConditions(key spool.ThreadKey, q wire.UsageQuery) Conditions {
	c := ofThread(key)
	if q.Run != "" {
		c.And("run_id = ?", q.Run)
	}
	if q.Agent != nil {
		c.And("agent_id = ?", *q.Agent)
	}
	if q.Kind != "" {
		c.And("kind = ?", string(q.Kind))
	}
	if q.Counted {
		c.And("input IS NOT NULL")
	}
	return c
}

// MessageConditions returns the conditions of a query for messages of a thread, which may have none for turns. Table
// is the name of the table of messages. Every part of the query walks the primary key, or the index of the branch. The
// query first turns ids into positions in the order. after_seq never falls along the order, so a walk from the end
// stops at the first message that SinceSeq leaves out.
func MessageConditions(key spool.ThreadKey, table string, q store.MessageQuery) Conditions {
	c := ofThread(key)
	switch {
	case q.ID != "":
		c.And("dropped IS NULL AND id = ?", q.ID)
		return c
	case q.Branch != 0:
		c.And("dropped = ?", int64(q.Branch))
	default:
		c.And("dropped IS NULL")
	}
	place, of := "(SELECT ord FROM "+table+" WHERE "+c.Text+" AND id = ?)", slices.Clip(c.Args)
	if q.After != "" {
		c.And("ord > coalesce("+place+", 0)", append(of, q.After)...)
	}
	if q.Before != "" {
		c.And("ord < coalesce("+place+", 9223372036854775807)", append(of, q.Before)...)
	}
	if q.SinceSeq > 0 {
		c.And("ord > coalesce((SELECT ord FROM "+table+` WHERE tenant = ? AND thread_id = ? AND after_seq < ?
			ORDER BY ord DESC LIMIT 1), 0)`, key.Tenant, key.ID, q.SinceSeq)
	}
	switch q.Role {
	case "":
	case spool.RoleSystem: // a literal, so that the index of summaries can be used
		c.And("role = 'system'")
	default:
		c.And("role = ?", string(q.Role))
	}
	if q.Run != "" {
		c.And("run_id = ?", q.Run)
	}
	if q.Agent != nil {
		c.And("agent_id = ?", *q.Agent)
	}
	return c
}

// AuditConditions returns the conditions of a query for entries of the audit log, except those of their times.
func AuditConditions(q wire.AuditQuery) (c Conditions) {
	c.And("tenant = ?", q.Tenant)
	if q.ThreadID != "" {
		c.And("thread_id = ?", q.ThreadID)
	}
	if q.Before > 0 {
		c.And("seq < ?", q.Before)
	}
	if q.Action != "" {
		c.And("action = ?", string(q.Action))
	}
	if q.By != "" {
		c.And("actor = ?", q.By)
	}
	return c
}

// ValueConditions returns the conditions of a query for rows outside threads, except that they have not expired.
func ValueConditions(q store.RowQuery) (c Conditions) {
	c.And("tenant = ? AND kind = ?", q.Tenant, q.Kind)
	if q.Key != "" {
		c.And("key = ?", q.Key)
	}
	if q.After != "" {
		c.And("key > ?", q.After)
	}
	return c
}

// DeadConditions returns the conditions of a query for dead jobs.
func DeadConditions(q wire.JobQuery) (c Conditions) {
	c.And("tenant = ?", q.Tenant)
	c.AndJobs(q)
	if !q.Before.IsZero() {
		c.And("(died_at, id) < (?, ?)", q.Before, q.BeforeID)
	}
	if !q.DiedBefore.IsZero() {
		c.And("died_at < ?", RoundedUp(q.DiedBefore))
	}
	return c
}

// AndJobs adds the conditions of a query for jobs that hold for dead ones, too.
func (c *Conditions) AndJobs(q wire.JobQuery) {
	if q.ThreadID != "" {
		c.And("thread_id = ?", q.ThreadID)
	}
	if q.Queue != nil {
		c.And("queue = ?", *q.Queue)
	}
	if NamesQueue(q) { // the condition of the index
		c.And("queue <> ''")
	}
	if q.Subject != "" {
		c.And("subject = ?", q.Subject)
	}
	if q.JobID != 0 {
		c.And("id = ?", q.JobID)
	}
}

// NamesQueue reports whether a query is for the jobs of a queue that is not the default one.
func NamesQueue(q wire.JobQuery) bool { return q.Queue != nil && *q.Queue != "" }

// AndFirstDue adds the conditions of a query for jobs about when they were due for the first time.
func (c *Conditions) AndFirstDue(q wire.JobQuery) {
	if !q.DueBefore.IsZero() {
		c.And("first_due < ?", RoundedUp(q.DueBefore))
	}
	if !q.DueSince.IsZero() {
		c.And("first_due >= ?", RoundedUp(q.DueSince))
	}
}

// Marked is the condition of the indexes of threads and runs with questions that nobody answered in time.
const Marked = "expired_questions > 0"

// AndRuns adds the conditions of a query for runs of a tenant that no index starts with: how deep a run is, whether it
// waits for its thread, and when it was created.
func (c *Conditions) AndRuns(q wire.RunQuery) {
	if q.Waiting {
		c.And("place > 0")
	}
	if q.Expired { // the condition of the index
		c.And(Marked)
	}
	if q.Depth != nil {
		c.And("depth = ?", *q.Depth)
	}
	if !q.Before.IsZero() {
		c.And("(created_at, id) < (?, ?)", q.Before, q.BeforeID)
	}
	if !q.CreatedAfter.IsZero() {
		c.And("created_at > ?", q.CreatedAfter)
	}
	if !q.CreatedBefore.IsZero() {
		c.And("created_at < ?", RoundedUp(q.CreatedBefore))
	}
}
