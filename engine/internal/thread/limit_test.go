package thread

import (
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// exhausts notes that a budget or a limit is exhausted, by the run or by the nested run n1.
func exhausts(reason wire.StopReason, inNested bool) func(s *scene) string {
	return func(s *scene) string {
		note := func(tx *Tx) error { return NoteExhausted(tx, reason, budget.Limits{WallTimeMS: 5000, TenantBytes: 77}) }
		if inNested {
			return s.inNested(note)
		}
		return s.work(note)
	}
}

// spent is a run whose budgets are used up.
func spent(s *scene) {
	with("r", func(r *store.RunRow) {
		r.Allowance = &wire.Allowance{
			Budget: spool.Budget{Tokens: 100, CostMicros: 9, Currency: "USD", ToolCalls: 3, WallTime: time.Minute},
			Spent:  wire.Spent{Tokens: 101, CostMicros: 10, ToolCalls: 3, WallTime: time.Minute}, Since: s.At,
		}
	})(s)
}

func TestNoteExhausted(t *testing.T) {
	t.Parallel()
	given := and(running, nests, spent, after(2*time.Second))
	check(t, []row{
		{"tokens", given, exhausts(wire.StopTokenBudget, false), `
			ok
			+ entry 2 Type=TOKEN_BUDGET_EXHAUSTED Payload={agentId:null,tokensUsed:101,tokenBudget:100} RunID=r Stream=r:1 After=1-0`},
		{"tokens, by a nested run", given, exhausts(wire.StopTokenBudget, true), `
			ok
			+ entry 2 Type=TOKEN_BUDGET_EXHAUSTED Payload={agentId:n1,tokensUsed:101,tokenBudget:100} RunID=r Stream=r:1 After=1-0`},
		{"costs", given, exhausts(wire.StopCostBudget, false), `
			ok
			+ entry 2 Type=COST_BUDGET_EXHAUSTED Payload={agentId:null,costMicros:10,costBudgetMicros:9,currency:USD} RunID=r Stream=r:1 After=1-0`},
		{
			"costs, in the currency of the run", and(given, with("r", func(r *store.RunRow) { r.Currency = "EUR" })),
			exhausts(wire.StopCostBudget, true), `
			ok
			+ entry 2 Type=COST_BUDGET_EXHAUSTED Payload={agentId:n1,costMicros:10,costBudgetMicros:9,currency:EUR} RunID=r Stream=r:1 After=1-0`,
		},
		{"tool calls", given, exhausts(wire.StopToolCallBudget, true), `
			ok
			+ entry 2 Type=TOOL_CALL_BUDGET_EXHAUSTED Payload={agentId:n1,toolCalls:3,toolCallBudget:3} RunID=r Stream=r:1 After=1-0`},
		{"time", given, exhausts(wire.StopTimeBudget, true), `
			ok
			+ entry 2 Type=TIME_BUDGET_EXHAUSTED Payload={agentId:n1,wallTimeMs:62000,wallTimeBudgetMs:60000} RunID=r Stream=r:1 After=1-0`},
		{"the time of any run", given, exhausts(wire.StopTimeLimit, false), `
			ok
			+ entry 2 Type=TIME_LIMIT_REACHED Payload={wallTimeMs:2000,wallTimeLimitMs:5000} RunID=r Stream=r:1 After=1-0`},
		{"the storage of the tenant", given, exhausts(wire.StopStorageLimit, false), `
			ok
			+ entry 2 Type=STORAGE_LIMIT_REACHED Payload={bytesLimit:77} RunID=r Stream=r:1 After=1-0`},
	})
}

func TestParkForBudget(t *testing.T) {
	t.Parallel()
	forTokens := func(distinct bool) func(s *scene) string {
		return func(s *scene) string {
			return s.work(func(tx *Tx) error { return ParkForBudget(tx, wire.StopTokenBudget, distinct) })
		}
	}
	nestedForTokens := func(s *scene) string {
		return s.inNested(func(tx *Tx) error { return ParkForBudget(tx, wire.StopTokenBudget, false) })
	}
	forTime := func(s *scene) string { return s.work(func(tx *Tx) error { return AskForTime(tx, true) }) }
	check(t, []row{
		{"a run", and(running, spent, with("r", func(r *store.RunRow) { r.Revision, r.Steps = "v1", 4 })), forTokens(true), `
			ok
			item after 2 {type:INPUT_REQUIRED,toolCallId:budget2,toolName:budget,agentId:null,arguments:{exhausted:token_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD},inputSchema:null,frames:[],reason:approval,about:budget_reached,revision:v1,digest:sha256,expiresAt:1h0m0s,distinctApprover:true,offset:1-1}
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-2} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT Allowance={Budget={Tokens=100 CostMicros=9 Currency=USD ToolCalls=3 WallTime=1m0s} Spent={Tokens=101 CostMicros=10 ToolCalls=3 WallTime=1m0s} Parks=1} WorkerSince=-
			+ entry 2 Type=INPUT_REQUIRED Payload={toolCallId:budget2,toolName:budget,agentId:null,arguments:{exhausted:token_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD},inputSchema:null,frames:[],reason:approval,about:budget_reached,revision:v1,digest:sha256,expiresAt:1h0m0s,distinctApprover:true} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-2
			+ park budget2 RunID=r ToolCallID=budget2 ToolName=budget Step=4 Args={exhausted:token_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD} Reason=budget_reached Revision=v1 Digest=sha256 State=open CreatedAt=0s ExpiresAt=1h0m0s Expiry={Then=deny TTL=1h0m0s Warn=12m0s} DistinctApprover=true
			+ job hitl-expiry:r:budget2 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed`},
		{"a nested run", and(running, nests, spent), nestedForTokens, `
			ok
			run r Allowance={Budget={Tokens=100 CostMicros=9 Currency=USD ToolCalls=3 WallTime=1m0s} Spent={Tokens=101 CostMicros=10 ToolCalls=3 WallTime=1m0s} Since=0s Parks=1}
			run n1 State=WAITING_FOR_INPUT
			+ park budget3 RunID=r ToolCallID=budget3 ToolName=budget Args={exhausted:token_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD} Reason=budget_reached Digest=sha256 State=open CreatedAt=0s Expiry={Then=deny TTL=1h0m0s Warn=12m0s}`},
		{"the second of a tree", and(running, nests, spent, func(s *scene) { nestedForTokens(s) }), forTokens(false), `
			ok
			item after 2 {type:INPUT_REQUIRED,toolCallId:budget3,toolName:budget,agentId:null,arguments:{exhausted:token_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD},inputSchema:null,frames:[],reason:approval,about:budget_reached,digest:sha256,expiresAt:1h0m0s,offset:1-1}
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-2} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT Allowance={Budget={Tokens=100 CostMicros=9 Currency=USD ToolCalls=3 WallTime=1m0s} Spent={Tokens=101 CostMicros=10 ToolCalls=3 WallTime=1m0s} Parks=1} WorkerSince=-
			+ entry 2 Type=INPUT_REQUIRED Payload={toolCallId:budget3,toolName:budget,agentId:null,arguments:{exhausted:token_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD},inputSchema:null,frames:[],reason:approval,about:budget_reached,digest:sha256,expiresAt:1h0m0s} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-2
			park budget3 ExpiresAt=1h0m0s
			+ job hitl-expiry:r:budget3 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed`},
		{"for time, when the answers are there", and(running, nests, spent), forTime, `
			ok
			+ park budget3 RunID=r ToolCallID=budget3 ToolName=budget Args={exhausted:time_budget,spent:{tokenBudget:101,costBudgetMicros:10,toolCallBudget:3,wallTimeMs:60000},budget:{tokenBudget:100,costBudgetMicros:9,toolCallBudget:3,wallTimeMs:60000},currency:USD} Reason=budget_reached Digest=sha256 State=open CreatedAt=0s Expiry={Then=deny TTL=1h0m0s Warn=12m0s} DistinctApprover=true`},
		{"for time, with a question that is open", and(running, spent, asked(question("c1"))), forTime, `
			ok`},
	})
}

// Rows of the ledger count towards the run and its budget.
func TestCharge(t *testing.T) {
	t.Parallel()
	priced := func(currency string) wire.UsageRow {
		return wire.UsageRow{
			RunID: "r", Agent: "a", Kind: spool.UsageStep, Model: "m", Outcome: wire.OutcomeFinished,
			Usage: spool.Usage{Input: new(int64(5)), Output: new(int64(2))}, Cost: &spool.Cost{Currency: currency, Micros: 3},
		}
	}
	charge := func(rows ...wire.UsageRow) func(s *scene) string {
		return func(s *scene) string {
			return s.work(func(tx *Tx) error { return errors.Join(tx.Charge(rows...), tx.Put()) })
		}
	}
	check(t, []row{
		{"the first price", running, charge(priced("USD"), priced("USD")), `
			ok
			run r CostMicros=6 Currency=USD
			+ usage 1 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2} Cost={Micros=3 Currency=USD}
			+ usage 2 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2} Cost={Micros=3 Currency=USD}`},
		{"a price in another currency", and(running,
			with("r", func(r *store.RunRow) { r.Currency, r.CostMicros = "USD", 9 })), charge(priced("EUR")), `
			ok
			+ usage 1 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2}`},
		{"a price in another currency than the budget's", and(running, spent), charge(priced("EUR")), `
			ok
			run r Allowance={Budget={Tokens=100 CostMicros=9 Currency=USD ToolCalls=3 WallTime=1m0s} Spent={Tokens=108 CostMicros=10 ToolCalls=3 WallTime=1m0s} Reservations=[] Unreported=m Since=0s}
			+ usage 1 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2}`},
		{"a call that has reserved", and(running, reserves), charge(priced("USD")), `
			ok
			run r CostMicros=3 Currency=USD Allowance={Budget={Tokens=100} Spent={Tokens=7 CostMicros=3} Reservations=[{AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Input=5 Tokens=20}]}
			+ usage 1 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2} Cost={Micros=3 Currency=USD}`},
		{"by a nested run", and(running, nests), func(s *scene) string {
			return s.inNested(func(n *Tx) error {
				n.Add(spool.TokenCount{InputTokens: 1, TotalTokens: 1})
				return errors.Join(n.Charge(priced("USD")), n.Put())
			})
		}, `
			ok
			run r InputTokens=1 TotalTokens=1 CostMicros=3 Currency=USD
			run n1 InputTokens=1 TotalTokens=1
			+ usage 1 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2} Cost={Micros=3 Currency=USD}`},
		{"for summaries", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				return errors.Join(tx.ChargeCompactions([]wire.UsageRow{priced("USD")}), tx.PutUnseen())
			})
		}, `
			ok, unseen
			run r InputTokens=5 OutputTokens=2 TotalTokens=7 CostMicros=3 Currency=USD
			+ usage 1 RunID=r Agent=a Kind=step Model=m Outcome=finished Usage={Input=5 Output=2} Cost={Micros=3 Currency=USD}`},
		{"for an answer that is not asked for again", and(running, resumable("r")), func(s *scene) string {
			return s.work(func(tx *Tx) error { return errors.Join(tx.AbandonAnswer(wire.OutcomeError), tx.Put()) })
		}, `
			ok
			run r CostMicros=4 Currency=USD Resume=-
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Requested=m-1 Outcome=error Guess={Input=9} Cost={Micros=4 Currency=USD}`},
		{"for no answer", running, func(s *scene) string {
			return s.work(func(tx *Tx) error { return errors.Join(tx.AbandonAnswer(wire.OutcomeError), tx.Put()) })
		}, `
			ok`},
	})
}

// What a dead worker may have been asking a model is charged as lost.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	lostNested := and(running, nests, after(2*time.Minute))
	reclaim := claims(wire.JobReclaim, 0)
	check(t, []row{
		{"of a nested run, and not of the run that waits for it", lostNested, reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r AgentID=n1 Agent=b Kind=step Step=1 Model=m2 Outcome=lost`},
		{
			"of no run: the nested one has a draft",
			and(lostNested, with("n1", func(r *store.RunRow) { r.Draft = &store.Draft{} })), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`,
		},
		{"of no run: the nested one waits for its call", and(lostNested, func(s *scene) {
			p := question("c1")
			p.RunID, p.AgentID = "r", "n1"
			s.Rows.Parks = []store.Park{p}
		}), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`},
		{
			"of the run, whose nested one has ended",
			and(lostNested, with("n1", func(r *store.RunRow) { r.State = wire.Completed })), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`,
		},
		{"of an answer that is asked for again", and(lost, resumable("r")), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r`},
		{"with reservations", and(lostNested, reserves), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r CostMicros=3 Currency=USD Allowance={Budget={Tokens=100} Spent={Tokens=12 CostMicros=3} Reservations=[] Since=2m0s} Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost Guess={Input=7} Cost={Micros=3 Currency=USD}
			+ usage 2 RunID=r AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Outcome=lost Guess={Input=5}`},
		{"with a reservation of an answer that is asked for again", and(lostNested, reserves, resumable("r")), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Allowance={Budget={Tokens=100} Spent={Tokens=5} Reservations=[] Since=2m0s} Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r AgentID=n1 Agent=b Kind=compaction Step=1 Model=m2 Outcome=lost Guess={Input=5}`},
		{"with a budget that reserves nothing", and(lost, with("r", func(r *store.RunRow) {
			r.Allowance = &wire.Allowance{Budget: spool.Budget{WallTime: time.Hour}, Since: r.WorkerSince}
		})), reclaim, `
			carry r:2 from 3, close r:1 at 0-0
			thread Fence=2 LeaseUntil=3m0s
			run r Allowance={Budget={WallTime=1h0m0s} Spent={WallTime=1m0s} Reservations=[] Since=2m0s} Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r Agent=a Kind=step Step=1 Model=m Outcome=lost`},
		{"after the nested run has saved a step", and(lostNested, with("n1", func(r *store.RunRow) {
			r.Segments, r.Saved = 1, wire.Offset{Fence: 1, N: 8}
		})), reclaim, `
			carry r:2 from 3, close r:1 at 1-10
			thread Fence=2 LeaseUntil=3m0s
			run r Segments=2 WallTime=1m0s WorkerSince=2m0s Deaths=1
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:lost,error:the worker went away} RunID=r Stream=r:1 After=1-10
			+ entry 3 Type=RUN_STARTED Payload={runId:r,streamId:r:2,segment:2,enqueuedAt:0s} RunID=r
			+ usage 1 RunID=r AgentID=n1 Agent=b Kind=step Step=1 Model=m2 Outcome=lost`},
	})
}
