package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// The values of [SchedulePolicy.Overlap] are those of [spool.WhenBusy], and this one.
const OverlapSkip = "skip" // No start while the run of the last tick is active.

// MissedPolicy says which of the due times that were missed a schedule starts.
type MissedPolicy string

// The policies for missed due times.
const (
	MissedSkip   MissedPolicy = "skip"   // None of them.
	MissedLatest MissedPolicy = "latest" // The last of them.
	MissedAll    MissedPolicy = "all"    // The last 100 of them, in their order.
)

// ScheduleRule says when a schedule comes due. It has exactly one of cron, every and at.
type ScheduleRule struct {
	// A cron pattern of five fields: minute, hour, day of the month, month and day of the week.
	Cron string `example:"0 9 * * 1-5" json:"cron,omitempty"`
	// The time zone of cron, of the IANA database. A cron needs one.
	Zone string `example:"Europe/Berlin" json:"zone,omitempty"`
	// A duration between two due times, at least a minute, counted in real time.
	Every string `example:"15m" json:"every,omitempty"`
	// The first due time of every. Left out: one duration after it was made.
	From time.Time `json:"from,omitzero"`
	// The only due time.
	At time.Time `json:"at,omitzero"`
}

// ScheduleStart is what each tick of a schedule starts.
type ScheduleStart struct {
	Prompt string `example:"Write the report of yesterday." json:"prompt"` // The text of the user turn.
	// Agent is the agent that runs. Left out: the server's first.
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"` // The model. Left out: the agent's.
	// The thread of all runs, which the first one makes. Left out: a new thread for each run.
	ThreadID spool.ThreadID    `json:"threadId,omitempty"`
	Title    string            `json:"title,omitempty"`  // The title of a thread that a tick makes.
	Labels   map[string]string `json:"labels,omitempty"` // The labels of a thread that a tick makes.
	// How many tokens each run and its nested runs may use. Zero: the agent's budget.
	TokenBudget int64 `json:"tokenBudget,omitempty" minimum:"0"`
	// The budget of each run, in millionths of the server's currency. Zero: the agent's budget.
	CostBudgetMicros int64 `json:"costBudgetMicros,omitempty" minimum:"0"`
	// How often each run may call tools. Zero: the agent's budget.
	ToolCallBudget int64 `json:"toolCallBudget,omitempty" minimum:"0"`
	// How long each run may execute, in milliseconds, without its waits. Zero: the agent's budget.
	WallTimeMs int64 `json:"wallTimeMs,omitempty" minimum:"0"`
}

// Budget returns the budget of a run.
func (s ScheduleStart) Budget() spool.Budget {
	return spool.Budget{
		Tokens: s.TokenBudget, CostMicros: s.CostBudgetMicros, ToolCalls: s.ToolCallBudget,
		WallTime: time.Duration(s.WallTimeMs) * time.Millisecond,
	}
}

// SchedulePolicy says what a schedule does about due times that it cannot keep.
type SchedulePolicy struct {
	// What a tick does while a run is active: skip, or a value of whenBusy. Left out: skip, which starts nothing while
	// the run of the last tick is active.
	Overlap string `enum:"skip,reject,enqueue,latest,interrupt,rollback,steer" json:"overlap,omitempty"`
	// Which missed due times are started. Left out: latest.
	Missed MissedPolicy `enum:"skip,latest,all" json:"missed,omitempty"`
	// Ticks come up to this duration later than they are due, less than a day. Left out: not later.
	Jitter string `example:"30s" json:"jitter,omitempty"`
	// A due time is missed if its tick comes later than this, jitter apart: a second to 30 days. Left out: a minute.
	Grace string `example:"5m" json:"grace,omitempty"`
}

// ScheduleRequest asks for a schedule.
type ScheduleRequest struct {
	Name string `example:"nightly-report" json:"name"` // An id that is unique in the tenant.
	ScheduleRule
	ScheduleStart
	SchedulePolicy

	Paused bool `json:"paused,omitempty"` // Whether it begins paused.
	// HostState is the [StartRequest.HostState] of the runs. It comes from the host, and nobody sees it.
	HostState json.RawMessage `json:"-"`
}

// ScheduleChange changes a schedule. A field that is nil does not change. A cron, every or at takes the place of the
// rule that the schedule has. Labels replace all labels.
type ScheduleChange struct {
	// The pattern.
	Cron *string `json:"cron,omitempty"`
	// The time zone of cron.
	Zone *string `json:"zone,omitempty"`
	// The duration.
	Every *string `json:"every,omitempty"`
	// The first due time of every.
	From *time.Time `json:"from,omitempty"`
	// The only due time.
	At *time.Time `json:"at,omitempty"`
	// The text of the user turn.
	Prompt *string `json:"prompt,omitempty"`
	// The agent.
	Agent *string `json:"agent,omitempty"`
	// The model.
	Model *string `json:"model,omitempty"`
	// The thread of all runs. Empty: a new one for each.
	ThreadID *spool.ThreadID `json:"threadId,omitempty"`
	// The title of a thread that a tick makes.
	Title *string `json:"title,omitempty"`
	// The labels of a thread that a tick makes.
	Labels *map[string]string `json:"labels,omitempty"`
	// The tokens of each run.
	TokenBudget *int64 `json:"tokenBudget,omitempty" minimum:"0"`
	// The budget of each run.
	CostBudgetMicros *int64 `json:"costBudgetMicros,omitempty" minimum:"0"`
	// The calls of each run.
	ToolCallBudget *int64 `json:"toolCallBudget,omitempty" minimum:"0"`
	// The milliseconds of each run.
	WallTimeMs *int64 `json:"wallTimeMs,omitempty" minimum:"0"`
	// What a tick does while a run is active.
	Overlap *string `json:"overlap,omitempty"`
	// Which missed due times are started.
	Missed *MissedPolicy `json:"missed,omitempty"`
	// By how much ticks may come later.
	Jitter *string `json:"jitter,omitempty"`
	// From when on a due time is missed.
	Grace *string `json:"grace,omitempty"`
}

// Schedule starts runs by itself.
type Schedule struct {
	Name string `example:"nightly-report" json:"name"` // Names the schedule in its tenant.
	ScheduleRule
	ScheduleStart
	SchedulePolicy

	// The rule as an English sentence, or as its pattern if there is no short sentence.
	InWords string `example:"at 09:00 on Monday to Friday (Europe/Berlin)" json:"inWords"`
	// Whether it is paused: nothing comes due.
	Paused       bool      `json:"paused,omitempty"`
	PausedReason string    `json:"pausedReason,omitempty"` // Why it is paused, for a person.
	PausedAt     time.Time `json:"pausedAt,omitzero"`      // Since when it is paused.
	// Whether the configuration has it, so that it cannot be changed or removed here.
	FromFile  bool        `json:"fromFile,omitempty"`
	MadeBy    string      `json:"madeBy,omitempty"`   // The subject as which its runs start.
	CreatedAt time.Time   `json:"createdAt"`          // When it was made.
	EndsAt    time.Time   `json:"endsAt,omitzero"`    // When the right of its maker ends. Left out: not known.
	NextAt    time.Time   `json:"nextAt,omitzero"`    // Its next due time. Left out: nothing comes due.
	Next      []time.Time `json:"next,omitempty"`     // Up to five next due times.
	LastDueAt time.Time   `json:"lastDueAt,omitzero"` // The last due time that was seen to. Left out: none was.
	// Last is the last tick, also one of run now. Left out: there was none.
	Last *ScheduleTick `json:"last,omitempty" nullable:"false"`
}

// ScheduleResult is what became of a tick.
type ScheduleResult string

// The results of ticks.
const (
	ScheduleStarted ScheduleResult = "started" // It started a run.
	ScheduleRefused ScheduleResult = "refused" // The start was refused.
	ScheduleOverlap ScheduleResult = "overlap" // The run of the last tick was active.
	ScheduleMissed  ScheduleResult = "missed"  // The due times were missed.
)

// ScheduleTick is what became of a due time of a schedule.
type ScheduleTick struct {
	Seq int64 `json:"seq"` // Counts the ticks of a schedule, from 1.
	// When it was due. Left out: somebody asked for it. Of several due times that were missed, the last one.
	DueAt time.Time `json:"dueAt,omitzero"`
	At    time.Time `json:"at"` // When it came.
	// Result is what became of it.
	Result ScheduleResult `enum:"started,refused,overlap,missed" json:"result"`
	// Reason is why nothing was started, for a person.
	Reason   string         `json:"reason,omitempty"`
	RunID    spool.RunID    `json:"runId,omitempty"`    // The run that it started.
	ThreadID spool.ThreadID `json:"threadId,omitempty"` // The thread of the run.
	// How many due times the line is about. Left out: one.
	Count int `json:"count,omitempty"`
}

// ScheduleQuery selects schedules of a tenant, in the order of their names.
type ScheduleQuery struct {
	Tenant spool.Tenant
	After  string // Only later names. Empty: from the first.
	Limit  int    // Bounds how many are returned. Zero: all.
}
