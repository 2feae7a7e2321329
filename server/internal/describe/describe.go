// Package describe has what the server's OpenAPI document says besides the types: the titles of the operations, the
// texts of their answers, and examples, all by the operations' ids. What an operation does stands at its handler: the
// description is the doc comment of that, which the table of comments has.
package describe

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// API is the description of the whole API, in Markdown.
const API = `Spool runs agents durably. Every accepted prompt comes to an end, whatever happens to the
process that executes it, and clients follow each token and each tool call live.

* Start a run, and follow its thread with the id in the answer.
* A run that needs a person's decision parks: answer it.
* A 409 is not an error. It has the operation's own result with the reason for the refusal, and nothing was changed.
* An error has a sentence for a person, and a code for a program. Codes do not change.
* Ignore fields that you do not know. New ones may come.

The tenant comes from the credentials, never from the request. A thread of another tenant gets exactly the
same answer as a thread that does not exist.`

// Groups are the descriptions of the groups of operations.
var Groups = map[string]string{
	"Runs":       "Start runs, answer what they ask, and stop them: natively, over AG-UI and with the AI SDK.",
	"Inbox":      "The questions that wait for an answer, over all threads.",
	"Webhooks":   "Who is told of what happens to runs.",
	"Schedules":  "Runs that start by themselves.",
	"Threads":    "What is in a thread: messages, live events, branches, artifacts and usage.",
	"Operations": "For operators of the server, its queue and its probes.",
}

// Words are the group and the title of an operation.
type Words struct{ Group, Summary string }

// Operation returns the words of an operation.
func Operation(id string) Words { return words[id] }

var words = map[string]Words{
	"startRun":            {"Runs", "Start a run"},
	"getRunOutcome":       {"Runs", "Get the outcome of a run"},
	"stopRun":             {"Runs", "Stop a run"},
	"compactThread":       {"Runs", "Summarise the older messages of a thread"},
	"publishEvent":        {"Runs", "Publish an event of your own"},
	"respond":             {"Runs", "Answer a run that waits"},
	"listInbox":           {"Inbox", "List the questions that wait"},
	"answerInbox":         {"Inbox", "Answer several questions"},
	"createInboxLink":     {"Inbox", "Get a link to one question"},
	"listInboxLinks":      {"Inbox", "List links to questions"},
	"revokeInboxLink":     {"Inbox", "Revoke a link to a question"},
	"listWebhooks":        {"Webhooks", "List endpoints"},
	"createWebhook":       {"Webhooks", "Make an endpoint"},
	"getWebhook":          {"Webhooks", "Show an endpoint"},
	"changeWebhook":       {"Webhooks", "Change an endpoint"},
	"removeWebhook":       {"Webhooks", "Remove an endpoint"},
	"rotateWebhookSecret": {"Webhooks", "Make another secret"},
	"dropWebhookSecret":   {"Webhooks", "Drop the older secret"},
	"listWebhookAttempts": {"Webhooks", "List attempts to deliver"},
	"listDeadWebhooks":    {"Webhooks", "List events that were not delivered"},
	"replayWebhooks":      {"Webhooks", "Deliver dead events again"},
	"testWebhook":         {"Webhooks", "Send a test event"},
	"listSchedules":       {"Schedules", "List schedules"},
	"createSchedule":      {"Schedules", "Make a schedule"},
	"previewSchedule":     {"Schedules", "Show when a rule comes due"},
	"getSchedule":         {"Schedules", "Show a schedule"},
	"changeSchedule":      {"Schedules", "Change a schedule"},
	"removeSchedule":      {"Schedules", "Remove a schedule"},
	"pauseSchedule":       {"Schedules", "Pause a schedule"},
	"resumeSchedule":      {"Schedules", "Resume a schedule"},
	"runSchedule":         {"Schedules", "Run a schedule now"},
	"listScheduleTicks":   {"Schedules", "Read the history of a schedule"},
	"getHistory":          {"Threads", "Take a snapshot of a thread"},
	"beginSignIn":         {"Runs", "Sign in to a server of tools"},
	"createStreamToken":   {"Threads", "Get a token for a stream"},
	"streamThread":        {"Threads", "Follow a thread live"},
	"listEvents":          {"Threads", "List your own events"},
	"getUsage":            {"Threads", "Count the tokens of a thread"},
	"listThreads":         {"Threads", "List threads"},
	"updateThread":        {"Threads", "Change a thread"},
	"deleteThread":        {"Threads", "Delete a thread"},
	"deliverJob":          {"Operations", "Take a delivery of a queue"},
	"getHealth":           {"Operations", "Is it up?"},
	"getReadiness":        {"Operations", "Is it ready?"},
	"runAgent":            {"Runs", "Run an agent over AG-UI"},
	"connectAgent":        {"Runs", "Show a thread over AG-UI"},
	"postChat":            {"Runs", "Send a message with the AI SDK"},
	"getChat":             {"Threads", "List the messages of a chat of the AI SDK"},
	"resumeChat":          {"Threads", "Resume a chat of the AI SDK"},
	"stopChat":            {"Runs", "Stop a chat of the AI SDK"},
	"uploadArtifact":      {"Threads", "Upload a file"},
	"createArtifactUrl":   {"Threads", "Get a signed URL of an artifact"},
	"getArtifactByUrl":    {"Threads", "Get the data of an artifact by a signed URL"},
	"getArtifact":         {"Threads", "Get the data of an artifact"},
	"listBranches":        {"Threads", "List the branches of a thread"},
	"getBranch":           {"Threads", "Read a branch"},
	"getRecord":           {"Threads", "Get the record of a thread"},
	"forkThread":          {"Threads", "Fork a thread"},
	"restoreBranch":       {"Threads", "Show a branch again"},
	"getOverview":         {"Operations", "Get an overview of a tenant"},
	"listRuns":            {"Operations", "List runs"},
	"getRun":              {"Operations", "Get the details of a run"},
	"operatorStop":        {"Operations", "Stop any run"},
	"operatorRespond":     {"Operations", "Answer any run that waits"},
	"listJobs":            {"Operations", "List jobs"},
	"redriveJobs":         {"Operations", "Redrive dead jobs"},
	"purgeJobs":           {"Operations", "Forget dead jobs"},
	"pruneThreads":        {"Operations", "Delete old threads"},
	"listRevisions":       {"Operations", "List revisions of agents"},
	"getRevision":         {"Operations", "Show a revision of an agent"},
	"listAudit":           {"Operations", "Read the audit log"},
}

// statusTexts explain the statuses of errors, for all operations.
var statusTexts = map[string]string{
	"400": "The body, a field or a parameter is wrong, and the error names it. Nothing was changed.",
	"401": "Credentials are missing or wrong.",
	"403": "The caller may not do this: a scope is missing, or on loopback, the request came by another name or from a page of another origin.",
	"404": "The thread does not exist, or belongs to another tenant.",
	"413": "The body is too large.",
	"415": "The body was not declared as application/json.",
	"429": "Too many requests, or too many open streams of the caller. Retry-After says when to try again.",
	"500": "A defect of the server. Its log has more.",
	"503": "The request failed this time. Retry-After says when to try again.",
	"507": "The tenant stores as many bytes as it may. Deleting threads makes room. Nothing was changed.",
}

// statusExamples are examples of errors, by status.
var statusExamples = map[string]any{
	"400": failure("threadId is required", spool.Invalid),
	"401": failure("a bearer token is required", spool.Unauthorized),
	"403": failure(`the scope "read" is required`, spool.Forbidden),
	"404": failure("Thread not found", spool.NotFound),
	"413": failure("the body is larger than 33554432 bytes", call.CodeTooLarge),
	"415": failure("the Content-Type must be application/json", call.CodeMediaType),
	"429": failure("too many starts: 600 a minute are allowed", spool.Limit),
	"500": failure("Internal error", spool.Internal),
	"503": failure("the store is busy", spool.Unavailable),
	"507": failure("the tenant stores as many bytes as it may (1073741824): delete threads to make room",
		spool.StorageFull),
}

const noDelayed = "No such start waits: it has become a run, was cancelled, or is somebody else's."

// answerTexts explain the statuses of one operation.
var answerTexts = map[string]map[string]string{
	"startRun": {
		"200": "The run has ended, or waits for somebody. Only with wait.", "202": "The run is on disk.",
		"409": "The run was refused, for the reason in the body. Nothing was changed.",
		"503": "The server is too busy, or the request failed this time. Retry-After says when to try again.",
	},
	"getRunOutcome": {
		"200": "The outcome.", "404": "The run does not exist, its thread was deleted, or it belongs to another tenant.",
	},
	"compactThread": {"200": "The summary is on disk.", "409": "Nothing was summarised, for the reason in the body."},
	"stopRun":       {"200": "The stop is on disk.", "409": "There is no run to stop."},
	"respond":       {"200": "This answer counts.", "409": "Nothing waits for this answer, or another one counted."},
	"listInbox":     {"200": "The questions. If next is missing, this is the last page."},
	"answerInbox":   {"200": "The results. They say which answers count."},
	"createInboxLink": {
		"200": "The link. It lets anybody answer the question: keep it out of logs.",
		"403": "The credentials lack the scope, or the configuration allows no links for this approver.",
		"404": "Nothing waits for an answer to this call, or the thread does not exist or belongs to another tenant.",
		"409": "The question has changed, or is for somebody else.",
	},
	"listInboxLinks": {"200": "The links."},
	"revokeInboxLink": {
		"200": "The link that opens nothing any more.", "404": "There is no such link, it is over, or somebody else made it.",
	},
	"publishEvent": {"200": "The event is in the record.", "202": "The event was sent to the clients that follow now."},
	"listEvents":   {"200": "The page."},
	"getHistory":   {"200": "The snapshot."},
	"streamThread": {"200": "The frames, each sent at once."},
	"getUsage":     {"200": "The counts."},
	"getArtifact": {
		"200": "The data.", "404": "The thread does not have the artifact or does not exist, or belongs to another tenant.",
	},
	"uploadArtifact": {
		"201": "The artifact is on disk.",
		"404": "The thread does not exist or belongs to another tenant, or the server stores no artifacts.",
		"413": "The file is larger than the server stores.", "415": "The body has a Content-Encoding.",
		"429": "Too many uploads of the caller are under way.", "507": "The tenant has no room for the file.",
	},
	"createArtifactUrl": {
		"200": "The URL. It lets anybody read the artifact: keep it out of logs.",
		"404": "The thread does not have the artifact or does not exist, or belongs to another tenant.",
	},
	"getArtifactByUrl": {"200": "The data.", "403": "The URL does not work, or not any more."},
	"listBranches":     {"200": "The branches."},
	"getBranch": {
		"200": "The branch.", "404": "The branch or the thread does not exist, or the thread belongs to another tenant.",
	},
	"getRecord": {"200": "The record, as JSON lines."},
	"forkThread": {
		"200": "There is a new thread.", "409": "There is no new thread, for the reason in the body. Nothing was changed.",
	},
	"restoreBranch": {
		"200": "The branch is shown again.",
		"409": "The branch cannot be restored, for the reason in the body. Nothing was changed.",
	},
	"listThreads":  {"200": "The threads. If next is missing, this is the last page."},
	"updateThread": {"200": "The thread as it is now.", "403": "Only the scope admin may change the owner."},
	"deleteThread": {"200": "The thread is gone.", "409": "The thread has a run that is not over: stop it first."},
	"deliverJob": {
		"200": "The delivery was taken.", "401": "The queue did not sign the delivery, or no queue may deliver.",
	},
	"getHealth":         {"200": "The process is up."},
	"getReadiness":      {"200": "The process is ready.", "503": "The process is not ready, for the reasons in the body."},
	"beginSignIn":       {"200": "Where the browser goes now.", "404": "The link is not for this caller, or too old."},
	"createStreamToken": {"200": "The token. It lets anybody read the thread: keep it out of logs."},

	"listDelayedStarts":  {"200": "The starts."},
	"getDelayedStart":    {"200": "The start.", "404": noDelayed},
	"moveDelayedStart":   {"200": "The start with its new time.", "404": noDelayed},
	"cancelDelayedStart": {"200": "The start, which is gone.", "404": noDelayed},
}

// exampleArtifact is the id of an artifact.
const exampleArtifact = "art_0c6c38ccc5b7f5ac8a8cd0a53ab3d6b5"

// examples of bodies, by operation: of the request, and of answers by status.
var (
	requestExamples = map[string]any{
		"startRun":          object{"threadId": "t1", "prompt": "Hello"},
		"stopRun":           object{"threadId": "t1"},
		"moveDelayedStart":  object{"startAt": "2026-01-02T09:00:00Z"},
		"updateThread":      object{"threadId": "t1", "title": "Invoices", "labels": object{"team": "sales", "draft": nil}},
		"compactThread":     object{"threadId": "t1"},
		"publishEvent":      object{"threadId": "t1", "type": "receipt", "payload": object{"cents": 500}, "durable": true},
		"respond":           object{"threadId": "t1", "toolCallId": "call_1", "approved": true},
		"deliverJob":        object{"threadId": "t1", "runId": "r1", "agent": "assistant"},
		"forkThread":        object{"threadId": "t1", "version": 7},
		"restoreBranch":     object{"threadId": "t1", "branchId": 7},
		"beginSignIn":       object{"url": "https://agents.example/oauth/sign-in?ticket=v1.0a1b2c3d.text"},
		"createStreamToken": object{"threadId": "t1"},
		"answerInbox": object{
			"answers": []object{{"threadId": "t1", "toolCallId": "call_1", "digest": exampleDigest, "approved": true}},
		},
		"createInboxLink": object{"threadId": "t1", "toolCallId": "call_1", "approver": "ann@example.com", "expiresIn": "2h"},
	}
	delayedExample = object{
		"runId": "r1", "threadId": "t1", "startAt": "2026-01-02T09:00:00Z", "agent": "assistant", "title": "Good morning",
		"startedBy": "anna", "createdAt": "2026-01-02T03:04:05.123456Z",
	}
	answerExamples = map[string]map[string]any{
		"listDelayedStarts": {"200": object{"starts": []object{delayedExample}}},
		"getDelayedStart": {
			"200": delayedExample, "404": failure("Delayed start not found", spool.NotFound),
		},
		"moveDelayedStart":   {"200": delayedExample},
		"cancelDelayedStart": {"200": delayedExample},

		"startRun": {
			"200": startedExample,
			"202": object{"accepted": true, "threadId": "t1", "runId": "r1", "state": "QUEUED"},
			"409": object{"accepted": false, "threadId": "t1", "reason": "active_run", "error": "Thread has an active run"},
			"503": object{
				"accepted": false, "threadId": "t1", "reason": "queue_full", "error": "Too many runs wait for a worker",
				"code": "queue_full",
			},
		},
		"getRunOutcome": {
			"200": outcomeExample,
			"400": failure(`wait must be a duration above zero and up to 1m, such as "30s"`, spool.Invalid),
			"404": failure("Run not found", spool.NotFound),
		},
		"compactThread": {
			"200": object{"compacted": true, "summarizedMessages": 12},
			"409": object{"compacted": false, "reason": "nothing_to_compact", "error": "There is nothing to summarise"},
		},
		"stopRun": {
			"200": object{"accepted": true},
			"409": object{"accepted": false, "reason": "not_active", "error": "Cannot stop thread in state COMPLETED"},
		},
		"listInbox": {
			"200": object{"questions": []object{exampleQuestion}, "next": "age~2026-01-02T03:04:05.123456Z~r1~call_1"},
			"400": failure("after must be the next of an earlier page of the same order", spool.Invalid),
		},
		"answerInbox": {
			"200": object{"results": []object{
				{"threadId": "t1", "toolCallId": "call_1", "delivered": true},
				{
					"threadId": "t2", "toolCallId": "call_7", "delivered": false, "reason": "already_answered",
					"error": "This request was already answered",
				},
			}},
			"400": failure("answers[1].digest is required", spool.Invalid),
		},
		"createInboxLink": {
			"200": object{
				"url": "https://agents.example/api/agent/inbox/links/eyJ0Ijoi...Q.pT2x...", "expiresAt": "2026-01-02T03:19:05Z",
				"linkId": "0a1b2c3d4e5f6071.link_06gzt8jh3b9x6mwq5xt6wvpebg",
			},
			"400": failure(`expiresIn must be a duration from 1m to 24h, such as "2h"`, spool.Invalid),
			"404": failure("Nothing waits for this answer", spool.NotFound),
			"409": failure("This request is not the one that was shown", spool.Conflict),
		},
		"listEvents": {
			"200": object{"events": []object{{
				"threadId": "t1", "seq": 7, "type": "receipt", "payload": object{"cents": 500},
				"createdAt": "2026-01-02T03:04:05.123456Z", "runId": "r1", "published": true, "publishedBy": "anna",
			}}, "next": 7},
		},
		"publishEvent": {
			"200": object{"accepted": true, "seq": 7},
			"202": object{"accepted": true},
		},
		"respond": {
			"200": object{"delivered": true},
			"409": object{"delivered": false, "reason": "already_answered", "error": "This request was already answered"},
		},
		"uploadArtifact": {
			"201": object{"id": exampleArtifact, "name": "cities.csv", "mediaType": "text/csv", "size": 108894},
			"404": failure("Thread not found", spool.NotFound),
			"413": failure("the artifact is larger than 67108864 bytes", call.CodeTooLarge),
			"415": failure("The body must not have a Content-Encoding: send the bytes of the file.", call.CodeMediaType),
			"507": failure(
				"the artifacts of the tenant have 990 of at most 1000 bytes, and 20 more have no room: delete threads to make room",
				spool.StorageFull,
			),
		},
		"createArtifactUrl": {
			"200": object{
				"url":       "/api/agent/artifacts/" + exampleArtifact + "/data?token=eyJ0Ijoi...Q.pT2x...",
				"expiresAt": "2026-01-02T03:09:05Z",
			},
			"400": failure(`expiresIn must be a duration from 1s to 1h, such as "10m"`, spool.Invalid),
		},
		"getArtifactByUrl": {"403": failure("the URL is not valid, or not any more", spool.Forbidden)},
		"listBranches":     {"200": object{"branches": []object{exampleBranch}}},
		"getBranch": {
			"200": object{"branch": exampleBranch, "messages": []object{
				{
					"id": "msg_3", "threadId": "t1", "agentId": nil, "role": "user", "content": "Hello",
					"createdAt": "2026-01-02T03:04:05.123456Z", "runId": "r1",
				},
				{
					"id": "msg_4", "threadId": "t1", "agentId": nil, "role": "assistant", "content": "Hi",
					"createdAt": "2026-01-02T03:04:06.123456Z", "runId": "r1",
				},
			}},
			"404": failure("Branch not found", spool.NotFound),
		},
		"forkThread": {
			"200": object{"accepted": true, "threadId": "t2", "messages": 4},
			"400": failure("version: there is no version 9, the thread has 1 to 7", spool.Invalid),
			"409": object{
				"accepted": false, "threadId": "t2", "messages": 0, "reason": "thread_id_used",
				"error": "There is a thread with this id",
			},
		},
		"restoreBranch": {
			"200": object{"accepted": true, "branchId": 7, "droppedBranchId": 10},
			"409": object{
				"accepted": false, "branchId": 7, "reason": "not_restorable", "error": "Branch 9 has to be restored first",
			},
		},
		"beginSignIn": {
			"200": object{
				"url": "https://login.example/authorize?response_type=code&state=text", "expiresAt": "2026-01-02T03:14:05Z",
			},
			"404": failure("this link does not open a sign-in: it is not yours, or too old", spool.NotFound),
		},
		"createStreamToken": {
			"200": object{"token": "payload.signature", "expiresAt": "2026-01-02T03:14:05Z"},
		},
		"listThreads": {
			"200": object{
				"threads": []object{{
					"id": "t1", "state": "COMPLETED", "model": "demo", "title": "Hello",
					"createdAt": "2026-01-02T03:04:05.123456Z", "updatedAt": "2026-01-02T03:04:06.123456Z",
				}},
				"next": "2026-01-02T03:04:06.123456Z~t1",
			},
			"400": failure("limit must be an integer from 1 to 1000", spool.Invalid),
		},
		"deliverJob": {
			"401": failure("the delivery is not signed by the queue", spool.Unauthorized),
			"503": failure("too many deliveries at the same time", spool.Unavailable),
		},
		"getReadiness": {
			"200": object{"status": "ok", "checks": object{"shutdown": "ok", "store": "ok", "worker": "ok"}},
			"503": object{
				"status": "unavailable", "checks": object{"shutdown": "the server shuts down", "store": "ok", "worker": "ok"},
				"error": "shutdown: the server shuts down", "code": "unavailable",
			},
		},
		"deleteThread": {
			"200": object{"accepted": true},
			"400": call.DeleteRefusal{Error: "threadId is required", Code: spool.Invalid},
			"404": object{"accepted": false, "reason": "not_found", "error": "Thread not found"},
			"409": object{
				"accepted": false, "reason": "active_run", "error": "Thread has an active run — stop it before deleting",
			},
		},
	}
)

type object map[string]any

func failure(text string, code spool.Code) call.ErrorBody {
	return call.ErrorBody{Error: text, Code: code}
}

// outcomeExample is the outcome of a run that has ended. startedExample is the same, as the answer to its start.
var (
	outcomeExample = object{
		"threadId": "t1", "runId": "r1", "state": "COMPLETED", "stopReason": "completed", "text": "Hi",
		"message": object{
			"id": "msg_2", "threadId": "t1", "agentId": nil, "role": "assistant", "content": "Hi",
			"createdAt": "2026-01-02T03:04:06.123456Z", "runId": "r1",
		},
		"parks": []object{}, "usage": object{"inputTokens": 12, "cachedInputTokens": 0, "outputTokens": 2, "totalTokens": 14},
		"steps": 1, "enqueuedAt": "2026-01-02T03:04:05.123456Z", "startedAt": "2026-01-02T03:04:05.223456Z",
		"endedAt": "2026-01-02T03:04:06.123456Z",
	}
	startedExample = func() object {
		o := maps.Clone(outcomeExample)
		o["accepted"] = true
		return o
	}()
)

// exampleBranch is a branch of two messages.
var exampleBranch = object{
	"id": 7, "fromMessageId": "msg_3", "baseMessageId": "msg_2", "preview": "Hello", "messageCount": 2,
	"createdAt": "2026-01-02T03:05:00.123456Z", "runId": "r2",
}

const exampleDigest = "sha256:1d01206bcb74e421911a2fa5e9c70f1d9396a3f0067a70cd9e62cf8c4280d526"

// exampleQuestion is a question that waits for an answer.
var exampleQuestion = object{
	"threadId": "t1", "title": "Send the invoice", "owner": "ann", "labels": object{"team": "sales"}, "runId": "r1",
	"startedBy": "ann", "agent": "assistant", "path": []string{"assistant"}, "askedAt": "2026-01-02T03:04:05.123456Z",
	"toolCallId": "call_1", "toolName": "send_email", "agentId": nil, "arguments": object{"to": "bob@example.com"},
	"inputSchema": nil, "frames": []object{}, "reason": "approval", "digest": exampleDigest,
	"expiresAt": "2026-01-02T03:19:05.123456Z",
}

// Document adds to the document of an API what the types of its routes cannot express.
func Document(api *rest.API, loopback bool) {
	doc := api.Huma().OpenAPI()
	for _, schema := range doc.Components.Schemas.Map() {
		if schema.AdditionalProperties == false {
			schema.AdditionalProperties = nil // both sides ignore unknown fields
		}
	}
	for _, path := range doc.Paths {
		for _, op := range present(path.Get, path.Post, path.Patch, path.Delete) {
			id := op.OperationID
			if op.RequestBody != nil {
				op.RequestBody.Required = true
				if text := op.RequestBody.Content["application/json"]; text != nil { // an upload has none
					text.Example = cmp.Or(requestExamples[id], adminRequests[id], plannedRequests[id])
				}
			}
			if id != "uploadArtifact" && (!loopback || id == "deliverJob") {
				delete(op.Responses, "415")
			}
			for status, answer := range op.Responses {
				answer.Description = cmp.Or(
					answerTexts[id][status], adminTexts[id][status], plannedTexts[id][status], statusTexts[status],
				)
				if json := answer.Content["application/json"]; json != nil {
					json.Example = cmp.Or(
						answerExamples[id][status], adminAnswers[id][status], plannedAnswers[id][status], statusExamples[status],
					)
				}
			}
		}
	}
}

// present returns the values that are not nil.
func present[T any](all ...*T) []*T {
	return slices.DeleteFunc(all, func(v *T) bool { return v == nil })
}

// Comments returns the option with the texts of fields and routes, which are comments of Go.
func Comments() rest.APIOption { return rest.CommentTable(comments) }
