package sqlite

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The jobs of a queue are in lanes: one for the jobs that need no agent, and one for the tickets of each
// agent. The indexes of the claim begin with queue and lane, so a claim never reads a job that its worker
// may not take, and a lane costs it one index lookup.

// The beginning of a statement, which has the lanes of a claim as the table wanted: q is the queue, and l
// the lane. NULL is no lane.
const (
	// listedLanes takes the names of the queues and those of the lanes, each as a JSON array.
	listedLanes = `WITH RECURSIVE wanted(q, l) AS (
		SELECT queues.value, lanes.value FROM json_each(?) AS queues CROSS JOIN json_each(?) AS lanes
	)`
	// listedQueues takes the names of the queues, as the table queues. allQueues finds those that have jobs, with one
	// index lookup each.
	listedQueues = `WITH RECURSIVE queues(q) AS (
		SELECT value FROM json_each(?)
	), `
	allQueues = `WITH RECURSIVE queues(q) AS (
		SELECT min(queue) FROM job INDEXED BY job_due
		UNION ALL
		SELECT (SELECT min(queue) FROM job INDEXED BY job_due WHERE queue > queues.q) FROM queues WHERE queues.q IS NOT NULL
	), `
	// lanesOfQueues finds the lanes of the queues in the same way. lanesOfAgents leaves out jobs that need no agent.
	lanesOfQueues = `wanted(q, l) AS (
		SELECT q, (SELECT min(lane) FROM job INDEXED BY job_due WHERE queue = queues.q) FROM queues` + nextLanes
	lanesOfAgents = `wanted(q, l) AS (
		SELECT q, (SELECT min(lane) FROM job INDEXED BY job_due WHERE queue = queues.q AND lane > '') FROM queues` + nextLanes
	nextLanes = `
		UNION ALL
		SELECT q, (SELECT min(lane) FROM job INDEXED BY job_due WHERE queue = wanted.q AND lane > wanted.l) FROM wanted WHERE wanted.l IS NOT NULL
	)`
)

// lane names a lane.
type lane struct{ queue, name string }

// laneOf returns the name of the lane of a job.
func laneOf(j *wire.Job) string {
	if !j.NeedsAgent() {
		return ""
	}
	return ticketsOf(j.Agent)
}

// ticketsOf returns the name of the lane of an agent's tickets.
func ticketsOf(agent string) string { return "=" + agent }

// lanes selects lanes in a statement.
type lanes struct {
	with string // the beginning of the statement
	args []any  // the values that it takes
}

// lanesOf returns the lanes that a claim may take jobs from.
func lanesOf(q store.ClaimQuery) lanes {
	queues := queuesOf(q)
	if q.Agents == nil {
		return lanesIn(queues, lanesOfQueues)
	}
	wanted := []string{laneOf(&wire.Job{})} // that of events
	for _, agent := range q.Agents {
		wanted = append(wanted, ticketsOf(agent))
	}
	return lanes{listedLanes, []any{names(queues), names(wanted)}}
}

// queuesOf returns the queues of a claim.
func queuesOf(q store.ClaimQuery) []string {
	if q.Queues == nil {
		return []string{""}
	}
	return q.Queues
}

// lanesIn returns the lanes of the queues, or those of all queues for nil: lanesOfQueues or lanesOfAgents.
func lanesIn(queues []string, lanesOf string) lanes {
	if queues == nil {
		return lanes{with: allQueues + lanesOf}
	}
	return lanes{listedQueues + lanesOf, []any{names(queues)}}
}

// listed returns the lanes of the list, and those with the queue of one and the name of another.
func listed(list []lane) lanes {
	queues, wanted := make([]string, len(list)), make([]string, len(list))
	for i, l := range list {
		queues[i], wanted[i] = l.queue, l.name
	}
	return lanes{listedLanes, []any{names(queues), names(wanted)}}
}

// names returns the JSON of a list, in which each name is once.
func names(list []string) json.RawMessage {
	list = slices.Clone(list)
	slices.Sort(list)
	text, _ := json.Marshal(slices.Compact(list)) //nolint:errchkjson // texts have always a JSON form
	return text
}

// queryFunc runs a statement that reads.
type queryFunc func(query string, scan func(r *row) error, args ...any) error

// query runs a statement that begins with the lanes.
func (l lanes) query(run queryFunc, rest string, scan func(r *row) error, args ...any) error {
	return run(l.with+rest, scan, append(slices.Clip(l.args), args...)...)
}
