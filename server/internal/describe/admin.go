package describe

import (
	"github.com/spoolhq/spool"
)

// What the document says of the admin endpoints, in Markdown.
const (
	aboutOverview = `How many threads, runs and jobs a tenant has, what its runs have used, and which of them are not over. The
sums are kept and not counted: asking costs the same, however much there is.`

	aboutRuns = `A tenant's runs across its threads, the last accepted one first, in pages that before continues. A run has
to pass all filters; the next page needs the same ones. Runs that are accepted meanwhile belong before the first page.
With a state, a thread or a time the list comes from an index; with another filter alone, the server reads on until the
page is full.`

	aboutRun = `All that is known of one run: its steps with what they used and called, the runs that it has spawned, its
part of the record, its waits for an answer, and each question to a model. No list has more than 1000 elements.`

	aboutOperatorStop = `Stops a run, or the run of a thread and all those that wait for it, as stopRun does, for one who operates the
server. Who is no operator needs the scope stop beside admin. The audit log says who it was, as an operator.`

	aboutOperatorRespond = `Answers a call that waits, as respond does, for one who operates the server. Who is no operator needs the
scope approve beside admin. The audit log says who it was, as an operator. The record of the thread names an operator of another tenant as
operator, and nobody by name.`

	aboutJobs = `A tenant's jobs: those that are dead, the last that died first, or those that are not, the one that has been
due longest first. Those that are stuck have been due for a while and are not done: nobody takes them, no worker has
their agent, they fail again and again, or a tool does not come back.`

	aboutRedrive = `Gets going again what died with a job, or with all dead jobs. A settlement is queued again. Any other job's
run has failed with it: a new run goes on where that one ended, with the same agent, model and bounds, and without a new
turn of the user; what was saved is not done again.

A redrive is refused, and the job stays dead, while the thread has a run that is not over (` + "`active_run`" + `), and where
nothing is left to be done (` + "`moved_on`" + `): the run did not fail, or a later one has had the thread.`

	aboutPurge = `Forgets one dead job, or all of them. Their runs stay as they are.`

	aboutPrune = `Removes threads in which nothing has happened for a while, each whole, with all that belongs to it. A thread
that has a run which is not over, a worker or a job stays, and one that moves meanwhile does too. With dryRun nothing is
removed.`

	aboutAudit = `A tenant's audit log, the last entry first, in pages that before continues: answers, stops, deletions, raised
budgets and what operators did, each with who and when. Nothing changes an entry, and it stays when its thread is deleted.
Entries have no text of prompts, messages or arguments; the reason of an answer is there as it was given. With server,
an operator gets what belongs to no tenant: credentials that were refused, by address.`
)

// adminTexts say what a status means for one operation.
var adminTexts = map[string]map[string]string{
	"getOverview":  {"200": "What there is."},
	"listRuns":     {"200": "The runs. Without next, there are no more."},
	"getRun":       {"200": "The run.", "404": "The run does not exist, or belongs to another tenant."},
	"operatorStop": {"200": "The stop is on disk.", "404": "The run or the thread does not exist.", "409": "There is no run to stop."},
	"operatorRespond": {
		"200": "This is the answer that counts.", "404": "The run or the thread does not exist.",
		"409": "Nothing waits for this answer, or another one counted.",
	},
	"listJobs":     {"200": "The jobs. Without next, there are no more that are dead."},
	"redriveJobs":  {"200": "What became of each job.", "404": "The one job is not dead, or not there.", "409": "The one job cannot be redriven, for the reason that the body names. Nothing was changed."},
	"purgeJobs":    {"200": "The jobs are gone.", "404": "The one job is not dead, or not there."},
	"pruneThreads": {"200": "The threads are gone, or would be."},
	"listAudit":    {"200": "The entries. Without next, there are no more."},
}

// examples of bodies, by operation: of the request, and of answers by status.
var (
	adminRequests = map[string]any{
		"operatorStop":    object{"runId": "r1"},
		"operatorRespond": object{"runId": "r1", "toolCallId": "call_1", "approved": false, "reason": "not on a Friday"},
		"redriveJobs":     object{"jobId": 12},
		"purgeJobs":       object{"all": true, "olderThan": "720h"},
		"pruneThreads":    object{"olderThan": "720h", "dryRun": true},
	}
	adminAnswers = map[string]map[string]any{
		"operatorStop": {
			"200": object{"accepted": true}, "400": failure("either runId or threadId is required", spool.Invalid),
			"404": failure("Run not found", spool.NotFound),
			"409": object{"accepted": false, "reason": "not_active", "error": "Cannot stop run in state COMPLETED"},
		},
		"operatorRespond": {
			"200": object{"delivered": true}, "400": failure("either runId or threadId is required", spool.Invalid),
			"404": failure("Run not found", spool.NotFound),
			"409": object{"delivered": false, "reason": "already_answered", "error": "This request was already answered"},
		},
		"getRun":   {"404": failure("Run not found", spool.NotFound)},
		"listRuns": {"400": failure("limit must be an integer from 1 to 1000", spool.Invalid)},
		"listAudit": {"200": object{"entries": []object{{
			"seq": 7, "at": "2026-01-02T03:04:05Z", "action": "answer", "by": "ann", "threadId": "t1", "runId": "r1",
			"toolCallId": "call_1", "approved": true, "digest": "sha256:2c26b46b68ffc68f", "reason": "it is Monday",
		}}}, "400": failure("limit must be an integer from 1 to 1000", spool.Invalid)},
		"redriveJobs": {
			"200": object{"redriven": 1, "refused": 0, "results": []object{{"accepted": true, "jobId": 12, "threadId": "t1", "runId": "run_2"}}},
			"400": failure("either jobId or all is required", spool.Invalid),
			"404": object{"redriven": 0, "refused": 1, "results": []object{{"accepted": false, "jobId": 12, "reason": "not_found", "error": "Dead job not found"}}},
			"409": object{"redriven": 0, "refused": 1, "results": []object{{
				"accepted": false, "jobId": 12, "threadId": "t1", "reason": "moved_on", "error": "A later run has had the thread",
			}}},
		},
		"purgeJobs": {
			"200": object{"purged": 3}, "400": failure("either jobId or all is required", spool.Invalid),
			"404": failure("Dead job not found", spool.NotFound),
		},
		"pruneThreads": {
			"200": object{"dryRun": true, "threads": 1, "threadIds": []string{"t1"}, "more": false},
			"400": failure("olderThan is required", spool.Invalid),
		},
	}
)
