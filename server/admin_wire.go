package server

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
)

// The bodies of the admin endpoints as they are on the wire, for the document.

type overview struct {
	Tenant      spool.Tenant          `doc:"The tenant."                                                    json:"tenant"`
	Threads     int64                 `doc:"How many threads it has."                                       json:"threads"`
	Runs        int64                 `doc:"How many runs, nested ones included."                           json:"runs"`
	RunsByState map[spool.State]int64 `doc:"How many of them are in each state. A state without is absent." json:"runsByState"`
	Tokens      tokenCount            `doc:"What all of them have used."                                    json:"tokens"`
	Bytes       int64                 `doc:"How many bytes it stores, about."                               json:"bytes"`
	BytesLimit  int64                 `doc:"How many it may. Left out: any number."                         json:"bytesLimit,omitempty"`
	Queue       queueStats            `doc:"Its jobs."                                                      json:"queue"`
	Active      []run                 `doc:"Its newest runs that are not over, up to 50."                   json:"active"`
}

type tokenCount struct {
	InputTokens       int64 `doc:"Tokens that models read, cached ones included." json:"inputTokens"`
	CachedInputTokens int64 `doc:"Those of them that came from a cache."          json:"cachedInputTokens"`
	OutputTokens      int64 `doc:"Tokens that models wrote."                      json:"outputTokens"`
	TotalTokens       int64 `doc:"Both."                                          json:"totalTokens"`
}

type queueStats struct {
	Ready    int             `doc:"Jobs that wait for a worker."                     json:"ready"`
	Delayed  int             `doc:"Jobs that are not due yet, or again."             json:"delayed"`
	InFlight int             `doc:"Jobs that a worker has."                          json:"inFlight"`
	Dead     int             `doc:"Jobs that were given up."                         json:"dead"`
	OldestMS int64           `doc:"For how long the oldest job that is ready waits." json:"oldestReadyMs"`
	Extra    json.RawMessage `doc:"What the queue has to add."                       json:"extra,omitempty"`
}

type redriveResult struct {
	Accepted bool           `doc:"Whether it moves again."                                          example:"true"                       json:"accepted"`
	JobID    int64          `doc:"The dead job."                                                    json:"jobId"`
	ThreadID spool.ThreadID `doc:"Its thread."                                                      json:"threadId,omitempty"`
	RunID    spool.RunID    `doc:"The run that moves: a new one, or the one that is settled again." json:"runId,omitempty"`
	Reason   string         `doc:"Why it does not, for a program."                                  enum:"not_found,active_run,moved_on" json:"reason,omitempty"`
	Error    string         `doc:"Why it does not, for a person."                                   json:"error,omitempty"`
}

type runDetail struct {
	Run      run                 `doc:"The run."                                             json:"run"`
	Steps    []stepRecord        `doc:"Its steps, the one in hand included."                 json:"steps"`
	Children []run               `doc:"The runs that it has spawned."                        json:"children"`
	Entries  []rest.OneOf[event] `doc:"Its part of the thread's record."                     json:"entries"`
	Parks    []parkDetail        `doc:"Its waits for an answer."                             json:"parks"`
	Usage    []usageRow          `doc:"Each question to a model, also of the runs under it." json:"usage"`
}

type stepRecord struct {
	tokenCount

	RunID      spool.RunID    `doc:"The run."                                                                        json:"runId"`
	ThreadID   spool.ThreadID `doc:"Its thread."                                                                     json:"threadId"`
	Agent      string         `doc:"The agent."                                                                      json:"agent"`
	Index      int            `doc:"The number of the step, from 1."                                                 json:"index"`
	Attempts   int            `doc:"How often the model was asked."                                                  json:"attempts"`
	Outcome    spool.Outcome  `doc:"How the last of these ended."                                                    enum:"finished,aborted,error,lost" json:"outcome"`
	Calls      []callRecord   `doc:"The tool calls that were about to run or had to wait."                           json:"calls"`
	At         time.Time      `doc:"When the model had answered."                                                    json:"at"`
	DurationMS int64          `doc:"The time until then from the answer before, or from when a worker took the run." json:"durationMs"`
}

type callRecord struct {
	ToolCallID spool.ToolCallID  `doc:"The call."                                                     json:"toolCallId"`
	ToolName   string            `doc:"The tool. Left out: the message with the call is not in view." json:"toolName,omitempty"`
	Effect     spool.EffectState `doc:"Where its effect is. Left out: it has not been about to run."  enum:"pending,done,void,waiting"    json:"effect,omitempty"`
	Park       spool.ParkState   `doc:"Where its wait is. Left out: it did not wait."                 enum:"open,answered,expired,closed" json:"park,omitempty"`
}

type parkDetail struct {
	ToolCallID spool.ToolCallID `doc:"The call that waits."                               json:"toolCallId"`
	ToolName   string           `doc:"Its tool."                                          json:"toolName"`
	Step       int              `doc:"Its step."                                          json:"step"`
	Reason     string           `doc:"Why it waits."                                      json:"reason"`
	State      spool.ParkState  `doc:"Where the wait is."                                 enum:"open,answered,expired,closed" json:"state"`
	Digest     string           `doc:"Names what is asked. Send it back with the answer." json:"digest,omitempty"`
	Asked      json.RawMessage  `doc:"What a person is shown."                            json:"asked,omitempty"`
	Answer     *parkAnswer      `doc:"The answer that counted. Left out: none."           json:"answer,omitempty"             nullable:"false"`
	CreatedAt  time.Time        `doc:"Since when it waits."                               json:"createdAt"`
	ExpiresAt  time.Time        `doc:"Until when."                                        json:"expiresAt,omitzero"`
}

type parkAnswer struct {
	Approved bool            `doc:"Whether the call was allowed."           json:"approved"`
	Args     json.RawMessage `doc:"What it was allowed with, where edited." json:"args,omitempty"`
	Reason   string          `doc:"Why."                                    json:"reason,omitempty"`
	Digest   string          `doc:"The digest of what was answered."        json:"digest,omitempty"`
	Payload  json.RawMessage `doc:"What the answer carried."                json:"payload,omitempty"`
	By       string          `doc:"Who answered."                           json:"by,omitempty"`
	At       time.Time       `doc:"When."                                   json:"at"`
}

type usageRow struct {
	RunID     spool.RunID     `doc:"The dispatched run."                            json:"runId"`
	AgentID   spool.AgentID   `doc:"The run under it that asked. Left out: itself." json:"agentId,omitempty"`
	Agent     string          `doc:"The agent."                                     json:"agentName"`
	Kind      spool.UsageKind `doc:"What the model was asked for."                  enum:"step,compaction,tool"        json:"kind"`
	Step      int             `doc:"The step, from 1. Zero: none."                  json:"step"`
	Model     string          `doc:"The model that was asked for."                  json:"model"`
	ModelID   string          `doc:"What its provider calls it."                    json:"modelId"`
	Outcome   spool.Outcome   `doc:"How it ended."                                  enum:"finished,aborted,error,lost" json:"outcome"`
	Usage     usageCounts     `doc:"What the provider counted."                     json:"usage"`
	Guess     *usageCounts    `doc:"Estimates of what it did not count."            json:"guess,omitempty"             nullable:"false"`
	Cost      *usageCost      `doc:"What it cost. Left out: no price is known."     json:"cost,omitempty"              nullable:"false"`
	CreatedAt time.Time       `doc:"When it ended."                                 json:"createdAt"`
}

type usageCounts struct {
	Input      *int64 `doc:"Tokens of the prompt, those of a cache included. Left out: not counted." json:"inputTokens,omitempty"           nullable:"false"`
	CacheRead  *int64 `doc:"Those of them that came from a cache. Left out: not counted."            json:"cacheReadInputTokens,omitempty"  nullable:"false"`
	CacheWrite *int64 `doc:"Those of them that were written to a cache. Left out: not counted."      json:"cacheWriteInputTokens,omitempty" nullable:"false"`
	Output     *int64 `doc:"Tokens that the model wrote, reasoning included. Left out: not counted." json:"outputTokens,omitempty"          nullable:"false"`
	Reasoning  *int64 `doc:"Those of them that were reasoning. Left out: not counted."               json:"reasoningTokens,omitempty"       nullable:"false"`
}

type usageCost struct {
	Micros   int64            `doc:"Millionths of the currency."                                                                   json:"micros"`
	Currency string           `doc:"Its code, such as USD."                                                                        json:"currency"`
	Source   spool.CostSource `doc:"A price table, the provider's own word, or a price table with counts of which one is a guess." enum:"table,receipt,estimate" json:"source,omitempty"`
	Version  string           `doc:"The price table that was used. Left out: none was."                                            json:"version,omitempty"`
}

type auditEntry struct {
	Seq        int64             `doc:"Numbers the tenant's entries from 1, without a gap."                                                      json:"seq"`
	At         time.Time         `doc:"When it was done."                                                                                        json:"at"`
	Action     spool.AuditAction `doc:"What was done."                                                                                           enum:"answer,raise_budget,stop,delete_thread,prune_thread,redrive_job,purge_jobs,change_owner,failed_authentication" json:"action"`
	By         string            `doc:"The subject who did it. Left out: not known, the server itself, or an operator of another tenant."        json:"by,omitempty"`
	ByTenant   spool.Tenant      `doc:"The tenant of an operator who did it. Only for operators."                                                json:"byTenant,omitempty"`
	Operator   bool              `doc:"Whether somebody did it who operates the server."                                                         json:"operator,omitempty"`
	ThreadID   spool.ThreadID    `doc:"The thread."                                                                                              json:"threadId,omitempty"`
	RunID      spool.RunID       `doc:"The run."                                                                                                 json:"runId,omitempty"`
	ToolCallID spool.ToolCallID  `doc:"The call that was answered."                                                                              json:"toolCallId,omitempty"`
	JobID      int64             `doc:"The dead job."                                                                                            json:"jobId,omitempty"`
	Approved   *bool             `doc:"Of an answer: whether it allowed the call."                                                               json:"approved,omitempty"`
	Digest     string            `doc:"Of an answer: the digest of what was answered."                                                           json:"digest,omitempty"`
	Reason     string            `doc:"Why, in the words of who did it. Of a prune: retention, where the server did it by itself."               json:"reason,omitempty"`
	Count      int64             `doc:"How many attempts the entry stands for. Left out: one."                                                   json:"count,omitempty"`
	Address    string            `doc:"Of refused credentials: the address that they came from."                                                 json:"address,omitempty"`
	Detail     json.RawMessage   `doc:"More, as an object: of a raised budget its new bounds, of a purge how long the jobs must have been dead." json:"detail,omitempty"`
}
