package describe

import "github.com/spoolhq/spool"

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
