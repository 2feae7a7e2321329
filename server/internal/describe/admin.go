package describe

import (
	"github.com/spoolhq/spool"
)

// Texts of the document about the admin endpoints, in Markdown.
const (
	aboutOverview = `The numbers of a tenant's threads, runs and jobs, what its runs have used, and the runs that are not over. The
server keeps these sums up to date and does not count on request: a request costs the same for any amount of data.`

	aboutRuns = `A tenant's runs across its threads, the last accepted run first. The parameter before gets the next page. A run must
pass all filters; use the same filters for the next page. Runs that are accepted in the meantime belong before the first page.
A state, a thread or a time is looked up in an index. With another filter alone, the server reads on until the page is full.`

	aboutRun = `Everything about one run: its steps with their usage and calls, the runs that it spawned, its entries of the record,
its waits for an answer, and each request to a model. No list has more than 1000 elements.`

	aboutOperatorStop = `Stops a run, or the run of a thread and all runs that wait for it, as stopRun does, for an operator of the
server. A caller that is not an operator needs the scope stop as well as admin. The audit log names the caller as an operator.`

	aboutOperatorRespond = `Answers a call that waits, as respond does, for an operator of the server. A caller that is not an operator
needs the scope approve as well as admin. The audit log names the caller as an operator. If an operator of another tenant answers, the
thread's record says operator instead of the name.`

	aboutJobs = `A tenant's dead jobs, the last one that died first, or its other jobs, the one that has been due longest first. A
stuck job has been due for a while and is not done: no worker claims it, no worker has its agent, it fails again and again, or a tool
does not return.`

	aboutRedrive = `Restarts the work of a dead job, or of all dead jobs. A settlement is queued again. For any other job, whose run failed
with it, a new run continues where that run ended, with the same agent, model and limits, and without a new user turn. It does not repeat
what was saved.

A redrive is refused, and the job stays dead, while the thread has a run that is not over (` + "`active_run`" + `), and if
nothing is left to do (` + "`moved_on`" + `): the run did not fail, or a later run has had the thread.`

	aboutPurge = `Forgets one dead job, or all dead jobs. Their runs do not change.`

	aboutPrune = `Deletes threads in which nothing has happened for a while, each with everything that belongs to it. A thread stays if
it has a run that is not over, a worker or a job, or if it becomes active in the meantime. With dryRun, nothing is deleted.`

	aboutRevisions = `Agents as workers have executed runs with them, by the agents' names, and of an agent the last one first. The
parameter before gets the next page. A new revision begins when the content of an agent changes: its instructions, its model, its tools
or its bounds. Only an operator may read revisions, because they belong to no tenant.`

	aboutRevision = `One revision of an agent. The payload of RUN_STARTED, getRun and the audit log's entry of an answer have its id. It has no
secrets: they are hidden. Revisions never change, and are never deleted.`

	aboutAudit = `A tenant's audit log, the last entry first. The parameter before gets the next page. It has answers, stops, deletions,
raised budgets and the actions of operators, each with the person and the time. Entries never change, and they stay when their thread is
deleted. They have no text of prompts, messages or arguments; an answer's reason is there as it was given. With server, an
operator gets the entries that belong to no tenant: refused credentials, by address.`
)

// adminTexts explain the statuses of one operation.
var adminTexts = map[string]map[string]string{
	"getOverview": {"200": "The numbers."},
	"listRuns":    {"200": "The runs. If next is missing, this is the last page."},
	"getRun":      {"200": "The run.", "404": "The run does not exist, or belongs to another tenant."},
	"operatorStop": {
		"200": "The stop is on disk.", "404": "The run or the thread does not exist.", "409": "There is no run to stop.",
	},
	"operatorRespond": {
		"200": "This answer counts.", "404": "The run or the thread does not exist.",
		"409": "Nothing waits for this answer, or another one counted.",
	},
	"listJobs": {"200": "The jobs. If next is missing, this is the last page."},
	"redriveJobs": {
		"200": "The result for each job.", "404": "The given job is not dead, or does not exist.",
		"409": "The given job cannot be redriven, for the reason in the body. Nothing was changed.",
	},
	"purgeJobs":    {"200": "The jobs are forgotten.", "404": "The given job is not dead, or does not exist."},
	"pruneThreads": {"200": "The threads are deleted, or would be."},
	"listRevisions": {
		"200": "The revisions. If next is missing, this is the last page.", "403": "The caller is not an operator.",
	},
	"getRevision": {
		"200": "The revision.", "403": "The caller is not an operator.", "404": "No worker has used such a revision.",
		"409": "Several ids begin with the text.",
	},
	"listAudit": {"200": "The entries. If next is missing, this is the last page."},
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
		"getRevision": {
			"404": failure("Revision not found", spool.NotFound),
			"409": failure("several revisions begin with rev_6f1d0c", spool.Conflict),
		},
		"listRevisions": {"400": failure("limit must be an integer from 1 to 1000", spool.Invalid)},
		"listAudit": {"200": object{"entries": []object{{
			"seq": 7, "at": "2026-01-02T03:04:05Z", "action": "answer", "by": "ann", "threadId": "t1", "runId": "r1",
			"toolCallId": "call_1", "approved": true, "digest": "sha256:2c26b46b68ffc68f", "reason": "it is Monday",
		}}}, "400": failure("limit must be an integer from 1 to 1000", spool.Invalid)},
		"redriveJobs": {
			"200": object{
				"redriven": 1, "refused": 0,
				"results": []object{{"accepted": true, "jobId": 12, "threadId": "t1", "runId": "run_2"}},
			},
			"400": failure("either jobId or all is required", spool.Invalid),
			"404": object{
				"redriven": 0, "refused": 1,
				"results": []object{{"accepted": false, "jobId": 12, "reason": "not_found", "error": "Dead job not found"}},
			},
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
