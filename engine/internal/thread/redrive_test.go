package thread

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// redrives continues the work of a dead job of a run.
func redrives(run spool.RunID, kind wire.JobKind) func(s *scene) string {
	return func(s *scene) string {
		return s.on(func(tx *Tx) (string, error) {
			moved, err := Redrive(tx, wire.QueuedJob{Job: wire.Job{RunID: run, Kind: kind, Key: "settle:r"}, JobID: 5}, "fresh")
			return "goes on as " + string(moved), err
		})
	}
}

func TestRedrive(t *testing.T) {
	t.Parallel()
	deadJobs := func(s *scene) { s.Rows.Dead = []wire.QueuedJob{{JobID: 5}, {JobID: 6}} }
	failed := and(ended(wire.Failed), deadJobs, after(time.Second))
	unsettled := and(settles, ended(wire.Completed), with("r", func(r *store.RunRow) { r.State = wire.Completed }),
		deadJobs)
	check(t, []row{
		{"a failed run", failed, redrives("r", wire.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=1s StartedAt=1s Continues=r
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=1s State=ready
			- dead 5`},
		{"a failed run with the request of its start", and(failed, with("r", func(r *store.RunRow) {
			r.MaxSteps, r.HostState, r.Scopes, r.ProviderOptions = 7, []byte(`{"h":1}`), []string{"x"}, []byte(`{"p":1}`)
			r.Client = &wire.ClientInput{Context: []wire.ClientContext{{Description: "d", Value: "v"}}}
			r.StartKey, r.Steps, r.Children, r.Saved = "k", 3, 1, wire.Offset{Fence: 1, N: 1}
			r.Output = &store.RunOutput{Schema: &spool.OutputSchema{Name: "o"}, Problem: "wrong"}
			r.Allowance = &wire.Allowance{Budget: spool.Budget{Tokens: 9}, Spent: wire.Spent{Tokens: 9}}
			r.Handovers = []store.Handover{{From: "b", To: "a"}}
			r.Options = &wire.StartOptions{MaxSteps: 3}
		})), redrives("r", wire.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=1s StartedAt=1s MaxSteps=7 Allowance={Budget={Tokens=9}} HostState={h:1} ProviderOptions={p:1} Client={Context=[{Description=d Value=v}]} Scopes=[x] Continues=r Held=true Options={MaxSteps=3} Output={Schema={Name=o}}
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=1s State=ready
			- dead 5`},
		{
			"a failed run whose output is of its agent",
			and(failed, with("r", func(r *store.RunRow) { r.Output = &store.RunOutput{Problem: "wrong"} })),
			redrives("r", wire.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=1s StartedAt=1s Continues=r
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=1s State=ready
			- dead 5`,
		},
		{"a run that was redriven and has failed again", and(ended(wire.Failed), redriven, func(s *scene) {
			s.on(func(tx *Tx) (string, error) {
				_, err := Dead(tx, wire.Job{RunID: "redriven"}, 1, "no")
				return "", err
			})
		}, deadJobs), redrives("redriven", wire.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Continues=r
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- dead 5`},
		{"a job that is not dead any more", ended(wire.Failed), redrives("r", wire.JobStart), `
			error: Dead job not found`},
		{"a run that is gone", failed, redrives("other", wire.JobStart), `
			error: Run not found`},
		{"a run that has completed", and(ended(wire.Completed), deadJobs), redrives("r", wire.JobStart), `
			refused: moved_on: The run did not fail: it is COMPLETED`},
		{"a run after which another has failed", and(failed, queuedAgain, func(s *scene) {
			s.on(func(tx *Tx) (string, error) {
				_, err := Dead(tx, wire.Job{RunID: "again"}, 1, "no")
				return "", err
			})
		}), redrives("r", wire.JobStart), `
			refused: moved_on: A later run has had the thread`},
		{"a run while another has the thread", and(failed, queuedAgain), redrives("r", wire.JobStart), `
			refused: active_run: Thread has an active run`},
		{"a run whose new id is used", and(failed,
			func(s *scene) { s.Rows.Elsewhere = []store.RunRow{{Run: wire.Run{ID: "fresh"}}} }), redrives("r", wire.JobStart), `
			refused: run_id_used: Run id already used`},
		{"the cancelling of a call's work", failed, redrives("r", wire.JobCancel), `
			refused: moved_on: The work of a call is cancelled only once`},
		{"a settlement", unsettled, redrives("r", wire.JobSettle), `
			goes on as r, note redrive_job of r
			+ job settle:r RunID=r Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=0s State=ready
			- dead 5`},
		{"a settlement without a hook", and(ended(wire.Completed), deadJobs), redrives("r", wire.JobSettle), `
			refused: moved_on: There is nothing to settle`},
		{
			"a settlement that has succeeded", and(unsettled, with("r", func(r *store.RunRow) { r.SettledAt = r.StartedAt })),
			redrives("r", wire.JobSettle), `
			refused: moved_on: There is nothing to settle`,
		},
		{"a settlement of a run that has not ended", and(settles, queued, deadJobs), redrives("r", wire.JobSettle), `
			refused: moved_on: There is nothing to settle`},
	})
}
