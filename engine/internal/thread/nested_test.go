package thread

import (
	"errors"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestNested(t *testing.T) {
	t.Parallel()
	ends := func(ending store.Ending) func(s *scene) string {
		return func(s *scene) string {
			return s.inNested(func(n *Tx) error { return FinishNested(n, ending, "found") })
		}
	}
	check(t, []row{
		{"begins", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				return Spawn(tx, store.RunRow{Run: wire.Run{ID: "n1", RootID: "r", ParentID: "r", Depth: 1, State: wire.Running}},
					"look")
			})
		}, `
			ok
			run r Children=1
			+ run n1 ParentID=r RootID=r Depth=1 State=RUNNING
			+ message msg2 AgentID=n1 Role=user Content=[{Type=text Text=look}] RunID=n1`},
		{"begins with an id that is used", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				return Spawn(tx, store.RunRow{Run: wire.Run{ID: "r", RootID: "r", Depth: 1, State: wire.Running}}, "look")
			})
		}, `
			refused: run_id_used: Run id already used`},
		{"completes", and(running, nests), ends(complete), `
			ok
			item after 1 {type:SUBAGENT_FINISHED,subagentId:n1,status:completed,offset:1-1}
			run n1 State=COMPLETED StopReason=completed EndedAt=0s Result={Text=found}`},
		{"fails", and(running, nests, with("n1",
			func(r *store.RunRow) { r.Draft = &store.Draft{Usage: spool.TokenCount{TotalTokens: 2}} })), ends(fail), `
			ok
			item after 1 {type:SUBAGENT_FINISHED,subagentId:n1,status:failed,error:no,offset:1-1}
			run r TotalTokens=2
			run n1 State=FAILED StopReason=failed Error=no EndedAt=0s TotalTokens=2 Draft=-`},
		{"is cancelled, with a question of its own and one of its parent", and(running, nests, func(s *scene) {
			own, other := question("c1"), question("c2")
			own.RunID, own.AgentID, other.RunID = "r", "n1", "r"
			s.work(func(tx *Tx) error { return tx.Write(store.Changes{Parks: []store.Park{own, other}}) })
		}), ends(Cancelled), `
			ok
			item after 1 {type:SUBAGENT_FINISHED,subagentId:n1,status:cancelled,offset:1-1}
			run n1 State=CANCELLED StopReason=cancelled EndedAt=0s
			+ message msg3 AgentID=n1 Role=tool Content=[{Type=tool-result ToolCallID=c1 ToolName=send Result={cancelled:true,reason:stopped}}] RunID=n1
			park c1 State=closed Landed=true`},
		{"cannot end twice", and(running, nests), func(s *scene) string {
			return s.inNested(func(n *Tx) error {
				return errors.Join(FinishNested(n, complete, ""), FinishNested(n, complete, ""))
			})
		}, `
			error: Internal error
			item after 1 {type:SUBAGENT_FINISHED,subagentId:n1,status:completed,offset:1-1}`},
		{
			"has ended, and its agent goes on",
			and(running, nests, with("n1", func(r *store.RunRow) { r.State = wire.Cancelled })), func(s *scene) string {
				return s.work(func(tx *Tx) error {
					_, err := tx.ForRun(store.RunRow{Run: wire.Run{ID: "n1", RootID: "r"}})
					return err
				})
			}, `
			error: another worker owns the thread`,
		},
		{"is unknown", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				_, err := tx.ForRun(store.RunRow{Run: wire.Run{ID: "n1", RootID: "r"}})
				return err
			})
		}, `
			error: Run not found`},
		{"is not: the dispatched run", running, func(s *scene) string {
			return s.work(func(tx *Tx) error {
				root, err := tx.ForRun(tx.Run)
				if root != tx || root.IsNested() {
					t.Error("it is another transaction")
				}
				return err
			})
		}, `
			ok`},
	})
}
