package thread

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// redrives continues the work of a dead job of a run.
func redrives(run spool.RunID, kind spool.JobKind) func(s *scene) string {
	return func(s *scene) string {
		return s.on(func(tx *Tx) (string, error) {
			moved, err := Redrive(tx, spool.QueuedJob{Job: spool.Job{RunID: run, Kind: kind, Key: "settle:r"}, JobID: 5}, "fresh")
			return "goes on as " + string(moved), err
		})
	}
}

func TestRedrive(t *testing.T) {
	t.Parallel()
	deadJobs := func(s *scene) { s.Rows.Dead = []spool.QueuedJob{{JobID: 5}, {JobID: 6}} }
	failed := and(ended(spool.Failed), deadJobs, after(time.Second))
	unsettled := and(settles, ended(spool.Completed), with("r", func(r *spool.RunRow) { r.State = spool.Completed }), deadJobs)
	check(t, []row{
		{"a failed run", failed, redrives("r", spool.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=1s StartedAt=1s Continues=r
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=1s State=ready
			- dead 5`},
		{"a failed run with the request of its start", and(failed, with("r", func(r *spool.RunRow) {
			r.MaxSteps, r.HostState, r.Scopes, r.ProviderOptions = 7, []byte(`{"h":1}`), []string{"x"}, []byte(`{"p":1}`)
			r.Client = &spool.ClientInput{Context: []spool.ClientContext{{Description: "d", Value: "v"}}}
			r.StartKey, r.Steps, r.Children, r.Saved = "k", 3, 1, spool.Offset{Fence: 1, N: 1}
			r.Output = &spool.RunOutput{Schema: &spool.OutputSchema{Name: "o"}, Problem: "wrong"}
			r.Allowance = &spool.Allowance{Budget: spool.Budget{Tokens: 9}, Spent: spool.Spent{Tokens: 9}}
			r.Handovers = []spool.Handover{{From: "b", To: "a"}}
		})), redrives("r", spool.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=1s StartedAt=1s MaxSteps=7 Allowance={Budget={Tokens=9}} HostState={h:1} ProviderOptions={p:1} Client={Context=[{Description=d Value=v}]} Scopes=[x] Continues=r Held=true Output={Schema={Name=o}}
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=1s State=ready
			- dead 5`},
		{
			"a failed run whose output is of its agent", and(failed, with("r", func(r *spool.RunRow) { r.Output = &spool.RunOutput{Problem: "wrong"} })),
			redrives("r", spool.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=1s StartedAt=1s Continues=r
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=1s State=ready
			- dead 5`,
		},
		{"a run that was redriven and has failed again", and(ended(spool.Failed), redriven, func(s *scene) {
			s.on(func(tx *Tx) (string, error) {
				_, err := Dead(tx, spool.Job{RunID: "redriven"}, 1, "no")
				return "", err
			})
		}, deadJobs), redrives("redriven", spool.JobStart), `
			goes on as fresh, note redrive_job of fresh
			thread State=QUEUED RunID=fresh
			+ run fresh Agent=a Model=m State=QUEUED StartedBy=ann EnqueuedAt=0s StartedAt=0s Continues=r
			+ job run:fresh:1 RunID=fresh Model=m Agent=a Kind=start Segment=1 Subject=ann Queue=of a DueAt=0s State=ready
			- dead 5`},
		{"a job that is not dead any more", ended(spool.Failed), redrives("r", spool.JobStart), `
			error: Dead job not found`},
		{"a run that is gone", failed, redrives("other", spool.JobStart), `
			error: Run not found`},
		{"a run that has completed", and(ended(spool.Completed), deadJobs), redrives("r", spool.JobStart), `
			refused: moved_on: The run did not fail: it is COMPLETED`},
		{"a run after which another has failed", and(failed, queuedAgain, func(s *scene) {
			s.on(func(tx *Tx) (string, error) {
				_, err := Dead(tx, spool.Job{RunID: "again"}, 1, "no")
				return "", err
			})
		}), redrives("r", spool.JobStart), `
			refused: moved_on: A later run has had the thread`},
		{"a run while another has the thread", and(failed, queuedAgain), redrives("r", spool.JobStart), `
			refused: active_run: Thread has an active run`},
		{"a run whose new id is used", and(failed, func(s *scene) { s.Rows.Elsewhere = []spool.RunRow{{Run: spool.Run{ID: "fresh"}}} }), redrives("r", spool.JobStart), `
			refused: run_id_used: Run id already used`},
		{"the cancelling of a call's work", failed, redrives("r", spool.JobCancel), `
			refused: moved_on: The work of a call is cancelled only once`},
		{"a settlement", unsettled, redrives("r", spool.JobSettle), `
			goes on as r, note redrive_job of r
			+ job settle:r RunID=r Model=m Agent=a Kind=settle Subject=ann Queue=of a DueAt=0s State=ready
			- dead 5`},
		{"a settlement without a hook", and(ended(spool.Completed), deadJobs), redrives("r", spool.JobSettle), `
			refused: moved_on: There is nothing to settle`},
		{"a settlement that has succeeded", and(unsettled, with("r", func(r *spool.RunRow) { r.SettledAt = r.StartedAt })), redrives("r", spool.JobSettle), `
			refused: moved_on: There is nothing to settle`},
		{"a settlement of a run that has not ended", and(settles, queued, deadJobs), redrives("r", spool.JobSettle), `
			refused: moved_on: There is nothing to settle`},
	})
}
