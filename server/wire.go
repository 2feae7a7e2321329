package server

import (
	"reflect"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/agui"
)

// The types of this file are the bodies of answers as they are on the wire, for the
// document: what they stand for writes itself, or has no room for the words.

type runResult struct {
	Accepted bool           `doc:"Whether the run was accepted."                                                           example:"true"                                                  json:"accepted"`
	ThreadID spool.ThreadID `doc:"The thread, also a new one."                                                             example:"t1"                                                    json:"threadId"`
	RunID    spool.RunID    `doc:"The run that was accepted."                                                              example:"r1"                                                    json:"runId,omitempty"`
	State    spool.State    `doc:"QUEUED for an accepted run."                                                             example:"QUEUED"                                                json:"state,omitempty"`
	Position int            `doc:"The place among the runs that wait for the thread, from 1. Left out: it waits for none." json:"position,omitempty"`
	Reason   string         `doc:"Why the run was refused, for a program."                                                 enum:"active_run,queue_full,run_id_used,not_found,not_editable" json:"reason,omitempty"`
	Error    string         `doc:"Why the run was refused, for a person."                                                  json:"error,omitempty"`
}

// runRefusal is an error of a start, or its result where there is too much to do.
type runRefusal struct {
	Error    string         `doc:"What is wrong, for a person."                                                    example:"Too many runs wait for a worker" json:"error"`
	Code     spool.Code     `doc:"What is wrong, for a program: queue_full with the fields below, or unavailable." example:"queue_full"                      json:"code"`
	Accepted *bool          `doc:"Always false."                                                                   json:"accepted,omitempty"                 nullable:"false"`
	ThreadID spool.ThreadID `doc:"The thread."                                                                     json:"threadId,omitempty"`
	Reason   string         `doc:"As the code."                                                                    enum:"queue_full"                         json:"reason,omitempty"`
}

type attachment struct {
	URL       string `doc:"An http, https or data URL." example:"https://example.com/cat.png" json:"url"`
	MediaType string `doc:"The type of the image."      example:"image/png"                   json:"mediaType,omitempty"`
}

type compactResult struct {
	Compacted          bool   `doc:"Whether a summary stands for older messages now."            example:"true"                                         json:"compacted"`
	Reason             string `doc:"Why not, for a program."                                     enum:"active_run,not_found,nothing_to_compact,changed" json:"reason,omitempty"`
	Error              string `doc:"Why not, for a person."                                      json:"error,omitempty"`
	SummarizedMessages int    `doc:"How many messages the model sees no more as they were said." json:"summarizedMessages,omitempty"`
}

type stopResult struct {
	Accepted bool   `doc:"Whether the run stops."          example:"true"         json:"accepted"`
	Reason   string `doc:"Why it does not, for a program." enum:"not_active"      json:"reason,omitempty"`
	Error    string `doc:"Why it does not, for a person."  json:"error,omitempty"`
}

type respondResult struct {
	Delivered bool   `doc:"Whether this is the answer that counts." example:"true"                                                     json:"delivered"`
	Reason    string `doc:"Why it does not count, for a program."   enum:"already_answered,no_park,changed,same_approver,not_editable" json:"reason,omitempty"`
	Error     string `doc:"Why it does not count, for a person."    json:"error,omitempty"`
}

type deleteResult struct {
	Accepted bool   `doc:"Whether the thread is gone."   example:"true"              json:"accepted"`
	Reason   string `doc:"Why it is not, for a program." enum:"not_found,active_run" json:"reason,omitempty"`
	Error    string `doc:"Why it is not, for a person."  json:"error,omitempty"`
}

// job is a ticket for a run.
type job struct {
	Tenant   spool.Tenant   `doc:"Who the run belongs to. Defaults to the default tenant." json:"tenant,omitempty"`
	ThreadID spool.ThreadID `doc:"The thread, as the start returned it."                   example:"t1"             json:"threadId"`
	RunID    spool.RunID    `doc:"The run, as the start returned it."                      example:"r1"             json:"runId"`
	Agent    string         `doc:"The agent that runs."                                    example:"assistant"      json:"agent"`
	Model    string         `doc:"The model of the run."                                   json:"model,omitempty"`
	Kind     spool.JobKind  `doc:"What the job is for. Leave it out."                      json:"kind,omitempty"`
	Segment  int            `doc:"The segment that the job is for. Leave it out: any."     json:"segment,omitempty"`
	Key      string         `doc:"What the queue knows the job by."                        json:"key,omitempty"`
	DueAt    time.Time      `doc:"When the job may be carried out."                        json:"dueAt,omitzero"`
}

type thread struct {
	ID        spool.ThreadID    `doc:"The thread's id."                                                            example:"t1"                                                            json:"id"`
	State     spool.State       `doc:"Where its run is."                                                           enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	Model     string            `doc:"The model of the last run."                                                  example:"demo"                                                          json:"model"`
	Title     string            `doc:"The beginning of the first prompt, or what somebody has given in its place." example:"Hello"                                                         json:"title"`
	Owner     string            `doc:"The subject who made it. Left out: not known."                               example:"ann"                                                           json:"owner,omitempty"`
	Labels    map[string]string `doc:"What people have written on it."                                             json:"labels,omitempty"`
	CreatedAt time.Time         `doc:"When it was made."                                                           json:"createdAt"`
	UpdatedAt time.Time         `doc:"When it changed last."                                                       json:"updatedAt"`
}

type run struct {
	ID                spool.RunID      `doc:"The run's id."                                                             json:"id"`
	ThreadID          spool.ThreadID   `doc:"Its thread."                                                               json:"threadId"`
	ParentID          spool.RunID      `doc:"The run that made this one, if one did."                                   json:"parentRunId,omitempty"`
	CallID            spool.ToolCallID `doc:"The tool call of that run which made this one."                            json:"parentToolCallId,omitempty"`
	Depth             int              `doc:"Zero for a run that was started over HTTP."                                json:"depth"`
	Agent             string           `doc:"The agent that runs."                                                      json:"agent"`
	Model             string           `doc:"The model that was asked for, or the agent's."                             json:"model"`
	State             spool.State      `doc:"Where the run is."                                                         json:"state"`
	StopReason        spool.StopReason `doc:"Why it ended."                                                             json:"stopReason,omitempty"`
	Error             string           `doc:"Why it failed, for a person."                                              json:"error,omitempty"`
	StartedBy         string           `doc:"Who started it, by their credentials."                                     json:"startedBy,omitempty"`
	EnqueuedAt        time.Time        `doc:"When it was accepted."                                                     json:"enqueuedAt,omitzero"`
	StartedAt         time.Time        `doc:"When a worker picked it up first."                                         json:"startedAt"`
	EndedAt           time.Time        `doc:"When it ended."                                                            json:"endedAt,omitzero"`
	MaxSteps          int              `doc:"The cap that the start asked for."                                         json:"maxSteps,omitempty"`
	Steps             int              `doc:"How many steps are finished."                                              json:"steps"`
	Attempts          int              `doc:"How many attempts failed since the last finished step."                    json:"attempts"`
	InputTokens       int64            `doc:"Tokens that the model read, cached ones included."                         json:"inputTokens"`
	CachedInputTokens int64            `doc:"Those of them that came from a cache."                                     json:"cachedInputTokens"`
	OutputTokens      int64            `doc:"Tokens that the model wrote."                                              json:"outputTokens"`
	TotalTokens       int64            `doc:"Both."                                                                     json:"totalTokens"`
	CostMicros        int64            `doc:"What the run and those under it cost, in millionths of the currency."      json:"costMicros,omitempty"`
	Currency          string           `doc:"That of costMicros. Left out: nothing was priced."                         example:"USD"                     json:"currency,omitempty"`
	TokenBudget       int64            `doc:"How many tokens the run may use, with all under it. Left out: any number." json:"tokenBudget,omitempty"`
	CostBudgetMicros  int64            `doc:"What it may cost, in millionths."                                          json:"costBudgetMicros,omitempty"`
	ToolCallBudget    int64            `doc:"How often it may call tools."                                              json:"toolCallBudget,omitempty"`
	WallTimeMs        int64            `doc:"How long workers may carry it, in milliseconds."                           json:"wallTimeMs,omitempty"`
	Prompt            string           `doc:"The brief of a nested run, cut short."                                     json:"prompt,omitempty"`
	Result            *nestedResult    `doc:"What a nested run told the one that made it."                              json:"result,omitempty"           nullable:"false"`
	DurationMs        *int64           `doc:"How long it ran."                                                          json:"durationMs,omitempty"       nullable:"false"`
	QueuedMs          *int64           `doc:"How long it waited for a worker."                                          json:"queuedMs,omitempty"         nullable:"false"`
}

type nestedResult struct {
	Text string `doc:"Its last answer, which may be cut short." json:"text"`
}

// eventPage is a page of an application's durable events.
type eventPage struct {
	Events []applicationEvent `doc:"The events, in the order of their seq."                                                                        json:"events"`
	Next   int64              `doc:"What after has to be for the next page, which may have events although this has few. Left out: there is none." json:"next,omitempty"`
}

type snapshot struct {
	Thread         thread                   `doc:"The thread."                                                                                    json:"thread"`
	Messages       []message                `doc:"Its messages."                                                                                  json:"messages"`
	AfterMessageID *spool.MessageID         `doc:"Only in a frame of one run: the message before those of the run."                               json:"afterMessageId,omitempty" nullable:"false"`
	Runs           []run                    `doc:"Its newest runs, the newest first."                                                             json:"runs"`
	LastEventSeq   int64                    `doc:"The last seq of the record, -1 when there is none."                                             json:"lastEventSeq"`
	ActiveEvents   []rest.OneOf[event]      `doc:"The entries of the run that is not finished, less those about calls that do not wait any more." json:"activeEvents"`
	Queue          []queuedRun              `doc:"The runs that wait for the thread, the next one first. Left out: none does."                    json:"queue,omitempty"`
	Stream         rest.Opt[streamSnapshot] `doc:"What the run says at the moment, as far as the messages lack it. Null: nothing."                json:"stream"                   required:"true"`
}

type queuedRun struct {
	RunID           spool.RunID    `doc:"The run's id."                          json:"runId"`
	Position        int            `doc:"Its place, from 1, which is the next."  json:"position"`
	WhenBusy        spool.WhenBusy `doc:"What its start asked for."              enum:"enqueue,latest,interrupt,rollback" json:"whenBusy"`
	ClientMessageID string         `doc:"The client's own name for its turn."    json:"clientMessageId,omitempty"`
	Content         *content       `doc:"Its turn, as the content of a message." json:"content,omitempty"`
	EnqueuedAt      time.Time      `doc:"When it was accepted."                  json:"enqueuedAt"`
}

type streamSnapshot struct {
	StreamID spool.StreamID     `doc:"The stream's id."                       json:"streamId"`
	RunID    spool.RunID        `doc:"The run that writes it."                json:"runId"`
	Items    []rest.OneOf[item] `doc:"Its items, in order."                   json:"items"`
	End      *rest.OneOf[item]  `doc:"Its last item. Null: it has not ended." json:"end"      required:"true"`
	Offset   *string            `doc:"The offset of its last item."           json:"offset"   required:"true"`
}

type threadUsage struct {
	Tokens  usageTotals  `doc:"What the thread has used."       json:"tokens"`
	Context contextUsage `doc:"How full the model's window is." json:"context"`
	Model   string       `doc:"The model of the last call."     json:"model"`
}

type usageTotals struct {
	InputTokens       int64          `doc:"Tokens that models read, cached ones included."                              json:"inputTokens"`
	CachedInputTokens int64          `doc:"Those of them that came from a cache."                                       json:"cachedInputTokens"`
	OutputTokens      int64          `doc:"Tokens that models wrote."                                                   json:"outputTokens"`
	TotalTokens       int64          `doc:"Both."                                                                       json:"totalTokens"`
	CostMicros        int64          `doc:"What the calls in the currency cost, in millionths of it."                   json:"costMicros"`
	Currency          string         `doc:"The first currency that a call was priced in. Left out: none was."           example:"USD"            json:"currency,omitempty"`
	Unpriced          int64          `doc:"Calls that costMicros lacks: no price is known, or one in another currency." json:"unpriced"`
	Costs             []currencyCost `doc:"The sum in each currency. Left out: no call was priced."                     json:"costs,omitempty"`
	Lines             []usageLine    `doc:"The same by agent, model and currency."                                      json:"lines"`
}

type currencyCost struct {
	Currency   string `doc:"The currency."                     example:"USD"     json:"currency"`
	CostMicros int64  `doc:"The sum in millionths of it."      json:"costMicros"`
	Calls      int64  `doc:"The calls that were priced in it." json:"calls"`
}

type usageLine struct {
	AgentID               *spool.AgentID `doc:"The agent's id, if it has one."                                                                                  json:"agentId"                         required:"true"`
	AgentName             string         `doc:"The agent."                                                                                                      json:"agentName"`
	Model                 string         `doc:"The model that was asked for."                                                                                   json:"model"`
	ModelID               string         `doc:"What its provider calls it."                                                                                     json:"modelId"`
	Currency              string         `doc:"That of costMicros. Left out: the line has calls without a price."                                               example:"USD"                          json:"currency,omitempty"`
	InputTokens           int64          `doc:"Tokens that it read, those from and into a cache included."                                                      json:"inputTokens"`
	CacheReadInputTokens  int64          `doc:"Those of them that came from a cache."                                                                           json:"cacheReadInputTokens"`
	CacheWriteInputTokens int64          `doc:"Those of them that went into a cache."                                                                           json:"cacheWriteInputTokens"`
	OutputTokens          int64          `doc:"Tokens that it wrote."                                                                                           json:"outputTokens"`
	ReasoningTokens       int64          `doc:"Those of them that were reasoning."                                                                              json:"reasoningTokens"`
	Calls                 int64          `doc:"How often it was called."                                                                                        json:"calls"`
	Estimated             int64          `doc:"How many calls were cut off before their provider had counted them. Their guesses are apart, and in costMicros." json:"estimated"`
	EstimatedInputTokens  int64          `doc:"Guesses of what such calls read."                                                                                json:"estimatedInputTokens,omitempty"`
	EstimatedOutputTokens int64          `doc:"Guesses of what they wrote."                                                                                     json:"estimatedOutputTokens,omitempty"`
	CostMicros            int64          `doc:"The price in millionths of the currency."                                                                        json:"costMicros"`
}

type contextUsage struct {
	UsedTokens      int64 `doc:"The last prompt and answer as the provider counted them, with an estimate of what was said since." json:"usedTokens"`
	BudgetTokens    int64 `doc:"The window, less what is kept for the answer."                                                     json:"budgetTokens"`
	CompactAtTokens int64 `doc:"Where older turns would be summarised. Zero: nowhere."                                             json:"compactAtTokens"`
	Messages        int   `doc:"How many messages there are, those that are summarised included."                                  json:"messages"`
}

// frame is one message of a live stream.
type frame struct {
	_ struct{} `doc:"One message of the stream, by its kind. Ignore a kind that you do not know."`

	Thread   *threadFrame
	Stream   *streamFrame
	Snapshot *snapshotFrame
}

type (
	threadFrame struct {
		Kind  spool.FrameKind   `const:"thread"                             json:"kind"`
		Event rest.OneOf[event] `doc:"An entry of the record, or a notice." json:"event"`
	}

	streamFrame struct {
		Kind     spool.FrameKind  `const:"stream"           json:"kind"`
		StreamID spool.StreamID   `doc:"The stream."        json:"streamId"`
		Item     rest.OneOf[item] `doc:"What the run says." json:"item"`
	}

	snapshotFrame struct {
		Kind     spool.FrameKind `const:"snapshot"                json:"kind"`
		Snapshot snapshot        `doc:"All that you have missed." json:"snapshot"`
	}
)

// writtenAs says which types stand for which in the document.
func writtenAs(api *rest.API) {
	schemas := api.Huma().OpenAPI().Components.Schemas
	for _, c := range []struct{ is, wire reflect.Type }{
		{reflect.TypeFor[startAnswer](), reflect.TypeFor[runResult]()},
		{reflect.TypeFor[engine.Attachment](), reflect.TypeFor[attachment]()},
		{reflect.TypeFor[engine.StopResult](), reflect.TypeFor[stopResult]()},
		{reflect.TypeFor[engine.RespondResult](), reflect.TypeFor[respondResult]()},
		{reflect.TypeFor[engine.DeleteResult](), reflect.TypeFor[deleteResult]()},
		{reflect.TypeFor[spool.Branch](), reflect.TypeFor[branch]()},
		{reflect.TypeFor[engine.BranchMessages](), reflect.TypeFor[branchMessages]()},
		{reflect.TypeFor[engine.EventPage](), reflect.TypeFor[eventPage]()},
		{reflect.TypeFor[engine.CompactResult](), reflect.TypeFor[compactResult]()},
		{reflect.TypeFor[engine.RestoreResult](), reflect.TypeFor[restoreResult]()},
		{reflect.TypeFor[engine.Overview](), reflect.TypeFor[overview]()},
		{reflect.TypeFor[engine.Outcome](), reflect.TypeFor[runOutcome]()},
		{reflect.TypeFor[engine.RunDetail](), reflect.TypeFor[runDetail]()},
		{reflect.TypeFor[engine.RedriveResult](), reflect.TypeFor[redriveResult]()},
		{reflect.TypeFor[spool.Run](), reflect.TypeFor[run]()},
		{reflect.TypeFor[spool.Job](), reflect.TypeFor[job]()},
		{reflect.TypeFor[spool.Thread](), reflect.TypeFor[thread]()},
		{reflect.TypeFor[spool.ThreadUsage](), reflect.TypeFor[threadUsage]()},
		{reflect.TypeFor[spool.TokenCount](), reflect.TypeFor[tokenCount]()},
		{reflect.TypeFor[spool.Money](), reflect.TypeFor[money]()},
		{reflect.TypeFor[spool.Snapshot](), reflect.TypeFor[snapshot]()},
		{reflect.TypeFor[agui.Result](), reflect.TypeFor[agentResult]()},
		{reflect.TypeFor[agui.Outcome](), reflect.TypeFor[agentOutcome]()},
		{reflect.TypeFor[agui.Interrupt](), reflect.TypeFor[agentInterrupt]()},
		{reflect.TypeFor[agui.Operation](), reflect.TypeFor[agentOperation]()},
		{reflect.TypeFor[agui.ThreadState](), reflect.TypeFor[agentThreadState]()},
		{reflect.TypeFor[agui.ToolCall](), reflect.TypeFor[agentToolCall]()},
		{reflect.TypeFor[agui.Function](), reflect.TypeFor[agentFunction]()},
		{reflect.TypeFor[agui.Part](), reflect.TypeFor[agentPart]()},
		{reflect.TypeFor[agui.Source](), reflect.TypeFor[agentSource]()},
	} {
		schemas.RegisterTypeAlias(c.is, c.wire)
	}
}
