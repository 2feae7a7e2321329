package thread

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// saves writes a step of the run, and its row.
func saves(content, results spool.Content, reason string) func(s *scene) string {
	return func(s *scene) string {
		return s.work(func(tx *Tx) error {
			tx.Item(wire.ItemCustom, wire.Custom{Name: "before"})
			saved, err := SaveStep(tx, content, results, spool.TokenCount{InputTokens: 2, TotalTokens: 2}, reason)
			if want := min(len(content), 1) + min(len(results), 1); err == nil && len(saved) != want {
				err = fmt.Errorf("it returns %d messages", len(saved))
			}
			return errors.Join(err, tx.Put())
		})
	}
}

func TestSaveStep(t *testing.T) {
	t.Parallel()
	call := spool.Content{{Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "look"}}
	result := spool.Content{{Type: spool.PartToolResult, ToolCallID: "c1", Result: []byte(`1`)}}
	check(t, []row{
		{"an answer", running, saves(spool.TextContent("hi"), nil, "stop"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Saved=1-1
			+ message msg2 Role=assistant Content=[{Type=text Text=hi}] RunID=r`},
		{"calls and their results", and(running, drafted), saves(call, result, "tool-calls"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:tool-calls,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Saved=1-1 Draft=-
			+ message msg2 Role=assistant Content=[{Type=tool-call ToolCallID=c1 ToolName=look}] RunID=r
			+ message msg3 Role=tool Content=[{Type=tool-result ToolCallID=c1 Result=1}] RunID=r`},
		{"nothing", running, saves(nil, nil, "stop"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Saved=1-1`},
		{"an answer that its provider has paused", running, saves(spool.TextContent("hi"), nil, string(spool.FinishPause)), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:pause,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Saved=1-1 Paused=true
			+ message msg2 Role=assistant Content=[{Type=text Text=hi}] RunID=r`},
		{
			"an answer after one that was paused", and(running, with("r", func(r *store.RunRow) { r.Paused = true })),
			saves(nil, nil, "stop"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Saved=1-1 Paused=-`,
		},
		{"after failures and deaths", and(running, with("r", func(r *store.RunRow) {
			r.Attempts, r.Deaths, r.Isolated, r.IsolatedDeaths = 2, 3, true, 1
			r.Fallback = &store.RunFallback{Attempts: 1, Failed: []store.ModelFailure{{Model: "m"}}}
		})), saves(nil, nil, "stop"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 Attempts=- InputTokens=2 TotalTokens=2 Saved=1-1 Fallback=- Deaths=- Isolated=- IsolatedDeaths=-`},
		{"of the model that was fallen back to", and(running, with("r", func(r *store.RunRow) {
			r.Fallback = &store.RunFallback{Model: "m2", Attempts: 1, Failed: []store.ModelFailure{{Model: "m"}}}
		})), saves(nil, nil, "stop"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Saved=1-1 Fallback={Model=m2}`},
		{"after an answer that a budget has cut", and(running, with("r", func(r *store.RunRow) {
			r.Allowance = &wire.Allowance{Budget: spool.Budget{Tokens: 9}, Cut: true}
		})), saves(nil, nil, "stop"), `
			ok
			item after 1 {type:CUSTOM,name:before,value:null,offset:1-1}
			item after 1 {type:STEP_FINISHED,step:1,agentId:null,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-2}
			run r Steps=1 InputTokens=2 TotalTokens=2 Allowance={Budget={Tokens=9}} Saved=1-1`},
		{"of a nested run", and(running, nests, with("r",
			func(r *store.RunRow) { r.Deaths, r.Isolated, r.IsolatedDeaths = 1, true, 1 }), with("n1", func(r *store.RunRow) {
			r.Deaths, r.Allowance = 1, &wire.Allowance{Cut: true}
		})), func(s *scene) string {
			return s.inNested(func(n *Tx) error {
				_, err := SaveStep(n, spool.TextContent("hi"), nil, spool.TokenCount{InputTokens: 2, TotalTokens: 2}, "stop")
				return errors.Join(err, n.Put())
			})
		}, `
			ok
			item after 1 {type:STEP_FINISHED,step:1,agentId:n1,finishReason:stop,usage:{inputTokens:2,cachedInputTokens:0,outputTokens:0,totalTokens:2},offset:1-1}
			run r InputTokens=2 TotalTokens=2 Deaths=- Isolated=- IsolatedDeaths=-
			run n1 Steps=1 InputTokens=2 TotalTokens=2 Allowance=- Segments=1 Saved=1-0 Deaths=-
			+ message msg3 AgentID=n1 Role=assistant Content=[{Type=text Text=hi}] RunID=n1`},
		{"results of calls that have waited", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				saved, err := SaveResults(tx, result)
				if err == nil && len(saved) != 1 {
					err = fmt.Errorf("it returns %d messages", len(saved))
				}
				return errors.Join(err, tx.Put())
			})
		}, `
			ok
			item after 1 {type:STEP_FINISHED,step:0,agentId:null,finishReason:tool-calls,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},offset:1-1}
			run r Saved=1-0
			+ message msg2 Role=tool Content=[{Type=tool-result ToolCallID=c1 Result=1}] RunID=r`},
		{"no results of calls that have waited", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				_, err := SaveResults(tx, nil)
				return errors.Join(err, tx.Put())
			})
		}, `
			ok
			item after 1 {type:STEP_FINISHED,step:0,agentId:null,finishReason:tool-calls,usage:{inputTokens:0,cachedInputTokens:0,outputTokens:0,totalTokens:0},offset:1-1}
			run r Saved=1-0`},
	})
}

// A limit that cuts an answer leaves a note, where nothing else says so.
func TestNoteCut(t *testing.T) {
	t.Parallel()
	cut := func(s *scene) string { return s.work(func(tx *Tx) error { NoteCut(tx); return tx.Put() }) }
	check(t, []row{
		{"a run with a budget", and(running, reserves), cut, `
			ok
			run r Allowance={Budget={Tokens=100} Reservations=[{Agent=a Kind=step Step=1 Model=m Input=7 Tokens=50 Prompt={Micros=3 Currency=USD}} {AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Input=5 Tokens=20}] Cut=true}`},
		{"a run without a budget", running, cut, `
			ok`},
		{"a nested run", and(running, nests), func(s *scene) string {
			return s.inNested(func(n *Tx) error { NoteCut(n); return n.Put() })
		}, `
			ok
			run n1 Allowance={Cut=true}`},
	})
}

// A worker gives the run up.
func TestHandBack(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"now", and(running, after(time.Second)), func(s *scene) string {
			return s.work(func(tx *Tx) error { return HandBack(tx, time.Time{}, WorkerDied) })
		}, `
			ok
			item after 1 {type:RUN_ERROR,status:lost,error:the worker went away,offset:1-1} end
			thread State=QUEUED LeaseUntil=-
			run r State=QUEUED WallTime=1s WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1 After=1-1
			+ job run:r:2 RunID=r Model=m Agent=a Kind=hand_back Segment=2 Subject=ann Queue=of a DueAt=1s State=ready`},
		{"for later", running, func(s *scene) string {
			return s.work(func(tx *Tx) error { return HandBack(tx, s.At.Add(time.Minute), "room") })
		}, `
			ok
			item after 1 {type:RUN_ERROR,status:lost,error:room,offset:1-1} end
			thread State=QUEUED LeaseUntil=-
			run r State=QUEUED WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:room} RunID=r Stream=r:1 After=1-1
			+ job run:r:2 RunID=r Model=m Agent=a Kind=hand_back Segment=2 Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{"to try again", running, func(s *scene) string {
			return s.work(func(tx *Tx) error { return RetryLater(tx, time.Minute, "no") })
		}, `
			ok
			item after 1 {type:RUN_ERROR,status:error,error:no,retryAfterMs:60000,offset:1-1} end
			thread State=QUEUED LeaseUntil=-
			run r State=QUEUED WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:error,error:no,retryAfterMs:60000} RunID=r Stream=r:1 After=1-1
			+ job run:r:2 RunID=r Model=m Agent=a Kind=retry Segment=2 Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{"with reservations", and(running, reserves), func(s *scene) string {
			return s.work(func(tx *Tx) error { return RetryLater(tx, time.Minute, "no") })
		}, `
			ok
			item after 1 {type:RUN_ERROR,status:error,error:no,retryAfterMs:60000,offset:1-1} end
			thread State=QUEUED LeaseUntil=-
			run r State=QUEUED CostMicros=3 Currency=USD Allowance={Budget={Tokens=100} Spent={Tokens=12 CostMicros=3} Reservations=[]} WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:error,error:no,retryAfterMs:60000} RunID=r Stream=r:1 After=1-1
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=aborted Guess={Input=7} Cost={Micros=3 Currency=USD}
			+ usage 2 RunID=r AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Outcome=aborted Guess={Input=5}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=retry Segment=2 Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{
			"with a reservation of an answer that it asks for again", and(running, nests, reserves, resumable("r")),
			func(s *scene) string {
				return s.work(func(tx *Tx) error { return HandBack(tx, time.Time{}, "no") })
			}, `
			ok
			item after 1 {type:RUN_ERROR,status:lost,error:no,offset:1-1} end
			thread State=QUEUED LeaseUntil=-
			run r State=QUEUED Allowance={Budget={Tokens=100} Spent={Tokens=5} Reservations=[]} WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:no} RunID=r Stream=r:1 After=1-1
			+ usage 1 RunID=r AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Outcome=aborted Guess={Input=5}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=hand_back Segment=2 Subject=ann Queue=of a DueAt=0s State=ready`,
		},
		{"a run that is not running", parked, func(s *scene) string {
			return s.work(func(tx *Tx) error { return HandBack(tx, time.Time{}, "no") })
		}, `
			error: Internal error
			item after 3 {type:RUN_ERROR,status:lost,error:no,offset:1-1} end`},
	})
}

func TestHandOver(t *testing.T) {
	t.Parallel()
	over := func(history spool.TransferHistory) func(s *scene) string {
		return func(s *scene) string {
			return s.work(func(tx *Tx) error {
				return HandOver(tx, Successor{Agent: "b", Model: "m2", History: history, Brief: "go on", Last: "last", Messages: 3})
			})
		}
	}
	state := with("r", func(r *store.RunRow) {
		r.Steps, r.Revision, r.Fallback, r.Context, r.Continues = 2, "v1", &store.RunFallback{Model: "m3"},
			&store.ContextCount{Tokens: 1}, "r0"
	})
	check(t, []row{
		{"with all messages", and(running, state), over(spool.TransferAll), `
			ok
			item after 2 {type:RUN_ERROR,status:lost,error:the agent b takes over,offset:1-1} end
			thread State=QUEUED Model=m2 LeaseUntil=-
			run r Agent=b Model=m2 State=QUEUED Revision=- Fallback=- Handovers=[{Step=2 From=a To=b}] Context=- WorkerSince=-
			+ entry 2 Type=HANDED_OVER Payload={step:2,from:a,to:b,history:all} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the agent b takes over} RunID=r Stream=r:1 After=1-1
			+ job run:r:2 RunID=r Model=m2 Agent=b Kind=hand_back Segment=2 Subject=ann Queue=of b DueAt=0s State=ready`},
		{"with a brief", and(running, state), over(spool.TransferBrief), `
			ok
			item after 3 {type:RUN_ERROR,status:lost,error:the agent b takes over,offset:1-1} end
			thread State=QUEUED Model=m2 LeaseUntil=-
			run r Agent=b Model=m2 State=QUEUED Revision=- Fallback=- Handovers=[{Step=2 From=a To=b}] Context=- WorkerSince=-
			+ message msg2 Role=system Content=[{Type=CONTEXT_SUMMARY Text=go on ThroughMessageID=last}] RunID=r0
			+ entry 2 Type=HANDED_OVER Payload={step:2,from:a,to:b,history:brief} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=CONTEXT_COMPACTED Payload={summarizedMessages:3,messageId:msg2} RunID=r Stream=r:1 After=1-0
			+ entry 4 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the agent b takes over} RunID=r Stream=r:1 After=1-1
			+ job run:r:2 RunID=r Model=m2 Agent=b Kind=hand_back Segment=2 Subject=ann Queue=of b DueAt=0s State=ready`},
	})
}
