package thread

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func parks(s *scene) string { return s.work(Park) }

// asked stores questions of the running run, which nobody can answer before the run parks.
func asked(parks ...store.Park) func(s *scene) {
	return func(s *scene) { s.work(func(tx *Tx) error { return ask(tx, parks...) }) }
}

func TestPark(t *testing.T) {
	t.Parallel()
	own := question("c1")
	own.Reason, own.Shown, own.Schema, own.DistinctApprover, own.Occurrence = "own", []byte(`{"seen":1}`),
		[]byte(`{"type":"object"}`), true, 2
	own.Expiry = spool.Expiry{Then: spool.ExpireFail, TTL: 10 * time.Minute, Warn: time.Minute}
	framed := question("c1")
	framed.Frames = []wire.ParkFrame{{ToolCallID: "c9"}}
	old, ready, soon := question("c2"), pendingCall("c3"), pendingCall("c4")
	old.ExpiresAt = own.ExpiresAt.AddDate(2100, 0, 0)
	ready.Pending.Ready, ready.Pending.NextAt = true, old.ExpiresAt
	soon.Pending.Until = pendingCall("").Pending.Until.Add(-24*time.Hour + time.Second)
	check(t, []row{
		{"for an approval", and(running, asked(question("c1"))), parks, `
			ok
			item after 2 {type:INPUT_REQUIRED,toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:1h0m0s,offset:1-1}
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-2} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:1h0m0s} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-2
			park c1 CreatedAt=0s ExpiresAt=1h0m0s
			+ job hitl-expiry:r:c1 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed`},
		{"for the tool's own question", and(running, asked(own)), parks, `
			ok
			item after 2 {type:INPUT_REQUIRED,toolCallId:c1,toolName:send,agentId:null,arguments:{seen:1},inputSchema:{type:object},frames:[],reason:own,occurrence:2,expiresAt:10m0s,onExpiry:fail,distinctApprover:true,offset:1-1}
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-2} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:null,arguments:{seen:1},inputSchema:{type:object},frames:[],reason:own,occurrence:2,expiresAt:10m0s,onExpiry:fail,distinctApprover:true} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-2
			park c1 CreatedAt=0s ExpiresAt=10m0s
			+ job hitl-expiry:r:c1 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=9m0s State=delayed`},
		{"for a tool that is not done", and(running, asked(pendingCall("c1"))), parks, `
			ok
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-1} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=CALL_PENDING Payload={toolCallId:c1,toolName:build,note:began,until:24h0m0s} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-1
			park c1 Pending={State=1 After=1m0s NextAt=1m0s Until=24h0m0s Note=began}
			+ job poll:r:c1 RunID=r Model=m Agent=a Kind=poll Subject=ann Queue=of a DueAt=1m0s State=delayed`},
		{"for a tool whose time is nearly over", and(running, asked(soon)), parks, `
			ok
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-1} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=CALL_PENDING Payload={toolCallId:c4,toolName:build,note:began,until:1s} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-1
			park c4 Pending={State=1 After=1m0s NextAt=1s Until=1s Note=began}
			+ job poll:r:c4 RunID=r Model=m Agent=a Kind=poll Subject=ann Queue=of a DueAt=1s State=delayed`},
		{"for a tool that was found ready meanwhile", and(running, asked(ready)), parks, `
			ok
			item after 1 {type:RUN_FINISHED,status:parked,offset:1-1} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-1
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready`},
		{"for a tool that was found ready meanwhile, and a question", and(running, asked(ready, question("c1"))), parks, `
			ok
			item after 2 {type:INPUT_REQUIRED,toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:1h0m0s,offset:1-1}
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-2} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:1h0m0s} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-2
			park c1 CreatedAt=0s ExpiresAt=1h0m0s
			+ job hitl-expiry:r:c1 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed`},
		{"with a question that is open already", and(running, asked(old)), parks, `
			ok
			item after 1 {type:RUN_FINISHED,status:parked,offset:1-1} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-1`},
		{"with the question of a nested run", and(running, nests, func(s *scene) {
			framed.RunID, framed.AgentID = "r", "n1"
			s.work(func(tx *Tx) error { return tx.Write(store.Changes{Parks: []store.Park{framed}}) })
		}), parks, `
			ok
			item after 2 {type:INPUT_REQUIRED,toolCallId:c1,toolName:send,agentId:n1,arguments:{to:1},inputSchema:{of:tool},frames:[{agentId:null,toolCallId:c9}],nested:{agentId:n1,name:b,model:m2,depth:1},reason:approval,expiresAt:1h0m0s,offset:1-1}
			item after 2 {type:RUN_FINISHED,status:parked,offset:1-2} end
			thread State=WAITING_FOR_INPUT LeaseUntil=-
			run r State=WAITING_FOR_INPUT WorkerSince=-
			+ entry 2 Type=INPUT_REQUIRED Payload={toolCallId:c1,toolName:send,agentId:n1,arguments:{to:1},inputSchema:{of:tool},frames:[{agentId:null,toolCallId:c9}],nested:{agentId:n1,name:b,model:m2,depth:1},reason:approval,expiresAt:1h0m0s} RunID=r Stream=r:1 After=1-0
			+ entry 3 Type=RUN_ENDED Payload={runId:r,streamId:r:1,segment:1,status:parked} RunID=r Stream=r:1 After=1-2
			park c1 CreatedAt=0s ExpiresAt=1h0m0s
			+ job hitl-expiry:r:c1 RunID=r Model=m Agent=a Kind=expiry Subject=ann Queue=of a DueAt=48m0s State=delayed`},
		{"with a tool whose schema cannot be read", and(running, asked(question("c1")), func(s *scene) {
			s.rules.Parameters = func(store.View, store.Park) (json.RawMessage, error) { return nil, errors.New("no") }
		}), parks, `
			error: Internal error`},
		{"of a run that is not running", and(queued,
			func(s *scene) { s.work(func(tx *Tx) error { return ask(tx, question("c1")) }) }), parks, `
			error: Internal error
			item after 1 {type:INPUT_REQUIRED,toolCallId:c1,toolName:send,agentId:null,arguments:{to:1},inputSchema:{of:tool},frames:[],reason:approval,expiresAt:1h0m0s,offset:0-1}
			item after 1 {type:RUN_FINISHED,status:parked,offset:0-2} end`},
		{"of a nested run", and(running, nests), func(s *scene) string {
			return s.inNested(ParkNested)
		}, `
			ok
			run n1 State=WAITING_FOR_INPUT`},
		{"of a nested run, and back", and(running, nests), func(s *scene) string {
			return s.inNested(func(n *Tx) error { return errors.Join(ParkNested(n), ResumeNested(n)) })
		}, `
			ok`},
	})
}
