package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

var (
	errNoThread  = spool.Errorf(spool.NotFound, "Thread not found")
	errNoRun     = spool.Errorf(spool.NotFound, "Run not found")
	errNoMessage = spool.Errorf(spool.NotFound, "Message not found")
)

// threadData is a thread and everything that belongs to it. Committed data never changes: a transaction
// works on a fork. A slice that only grows may share its memory with the fork: the older state keeps
// its own length, and so never sees the new elements. Every other change copies the slice first.
type threadData struct {
	// thread is nil if the thread does not exist. Then everything else is empty.
	thread   *spool.Thread
	runs     []spool.RunRow
	messages []spool.Message
	entries  []spool.Entry
	parks    []spool.Park
	effects  []spool.Effect
	usage    []spool.UsageRow
	// added has all messages in the order in which they were added, also those of branches.
	added []spool.Message
	// branches are the branches of the thread, in the order of their ids.
	branches []branch
}

func (d *threadData) fork() *threadData {
	next := *d
	if d.thread != nil {
		thread := *d.thread
		next.thread = &thread
	}
	return &next
}

func (d *threadData) findRun(id spool.RunID) (spool.RunRow, error) {
	if at := d.runAt(id); at >= 0 {
		return cloneRow(d.runs[at]), nil
	}
	return spool.RunRow{}, errNoRun
}

func (d *threadData) runAt(id spool.RunID) int {
	return slices.IndexFunc(d.runs, func(r spool.RunRow) bool { return r.ID == id })
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

// view reads one state of a thread.
type view struct {
	key  spool.ThreadKey
	now  time.Time
	data *threadData
}

// end makes any later use of the view panic.
func (v *view) end() { v.data = nil }

// Now returns the time at which the view was taken.
func (v *view) Now() time.Time { return v.now }

// Thread returns the thread's row.
func (v *view) Thread() (spool.Thread, error) {
	if v.data.thread == nil {
		return spool.Thread{}, errNoThread
	}
	return cloneThread(*v.data.thread), nil
}

// Run returns a run of the thread.
func (v *view) Run(id spool.RunID) (spool.RunRow, error) { return v.data.findRun(id) }

// Runs returns runs in the reverse order of their insertion.
func (v *view) Runs(limit int) ([]spool.Run, error) {
	found := make([]spool.Run, 0, len(v.data.runs))
	for _, r := range slices.Backward(v.data.runs) {
		found = append(found, cloneRun(r.Run))
	}
	return found[:bounded(len(found), limit)], nil
}

// Nested returns the runs of a tree in the order of their insertion.
func (v *view) Nested(root spool.RunID) ([]spool.RunRow, error) {
	found := []spool.RunRow{}
	for _, r := range v.data.runs {
		if r.RootID == root && root != "" {
			found = append(found, cloneRow(r))
		}
	}
	return found, nil
}

// Waiting returns the runs that wait for the thread, the next one first.
func (v *view) Waiting() ([]spool.RunRow, error) {
	found := []spool.RunRow{}
	for _, r := range v.data.runs {
		if r.QueuePosition > 0 {
			found = append(found, cloneRow(r))
		}
	}
	slices.SortFunc(found, func(a, b spool.RunRow) int { return cmp.Compare(a.QueuePosition, b.QueuePosition) })
	return found, nil
}

// Messages returns messages in order.
func (v *view) Messages(q spool.MessageQuery) ([]spool.Message, error) {
	if q.Turns {
		return v.data.turns(q), nil
	}
	all := v.data.messages
	if q.Branch != 0 {
		all = v.data.branched(q.Branch)
	}
	from, to := 0, len(all)
	if at := messageAt(all, q.After); at >= 0 {
		from = at + 1
	}
	if at := messageAt(all, q.Before); at >= 0 {
		to = max(at, from)
	}
	found := []spool.Message{}
	for _, m := range all[from:to] {
		if m.AfterSeq >= q.SinceSeq && (q.Role == "" || m.Role == q.Role) &&
			(q.Run == "" || m.RunID == q.Run) && (q.Agent == nil || m.AgentID == *q.Agent) {
			found = append(found, cloneMessage(m))
		}
	}
	return found[len(found)-bounded(len(found), q.Limit):], nil
}

// Message returns a message that has not been dropped.
func (v *view) Message(id spool.MessageID) (spool.Message, error) {
	if at := messageAt(v.data.messages, id); at >= 0 {
		return cloneMessage(v.data.messages[at]), nil
	}
	return spool.Message{}, errNoMessage
}

// Entries returns record entries in the order of their seq.
func (v *view) Entries(q spool.EntryQuery) ([]spool.Entry, error) {
	found := []spool.Entry{}
	for _, e := range v.data.entries {
		if e.Seq > q.After && (q.Run == "" || e.RunID == q.Run) && (q.Type == "" || e.Type == q.Type) {
			found = append(found, cloneEntry(e))
		}
	}
	if q.Last {
		slices.Reverse(found)
	}
	return found[:bounded(len(found), q.Limit)], nil
}

// Parks returns the parks of a run.
func (v *view) Parks(run spool.RunID) ([]spool.Park, error) {
	found := []spool.Park{}
	for _, p := range v.data.parks {
		if p.RunID == run {
			found = append(found, clonePark(p))
		}
	}
	return found, nil
}

// Effects returns the effects of a step.
func (v *view) Effects(run spool.RunID, step int) ([]spool.Effect, error) {
	found := []spool.Effect{}
	for _, e := range v.data.effects {
		if e.RunID == run && e.Step == step {
			found = append(found, cloneEffect(e))
		}
	}
	return found, nil
}

// Usage sums the ledger. Rows with the same two model names form one line.
func (v *view) Usage() ([]spool.UsageLine, error) {
	type group struct {
		agentID                         spool.AgentID
		agent, model, modelID, currency string
	}
	lines := []spool.UsageLine{}
	at := make(map[group]int)
	for _, row := range v.data.usage {
		g := group{row.AgentID, row.Agent, row.Model, row.ModelID, ""}
		if row.Cost != nil {
			g.currency = row.Cost.Currency
		}
		i, ok := at[g]
		if !ok {
			i = len(lines)
			at[g] = i
			line := spool.UsageLine{AgentName: row.Agent, Model: row.Model, ModelID: row.ModelID, Currency: g.currency}
			if row.AgentID != "" {
				line.AgentID = &g.agentID
			}
			lines = append(lines, line)
		}
		lines[i].Add(row)
	}
	return lines, nil
}

// UsageRows returns rows of the ledger.
func (v *view) UsageRows(q spool.UsageQuery) ([]spool.UsageRow, error) {
	found := []spool.UsageRow{}
	for _, row := range v.data.usage {
		switch {
		case q.Run != "" && row.RunID != q.Run,
			q.Agent != nil && row.AgentID != *q.Agent,
			q.Kind != "" && row.Kind != q.Kind,
			q.Counted && row.Usage.Input == nil:
		default:
			found = append(found, cloneUsageRow(row))
		}
	}
	if q.Last {
		slices.Reverse(found)
	}
	return found[:bounded(len(found), q.Limit)], nil
}
