package describe

import "github.com/spoolhq/spool"

// plannedTexts explain the statuses of the operations of webhooks and schedules.
var plannedTexts = map[string]map[string]string{
	"listWebhooks": {"200": "The endpoints."},
	"createWebhook": {
		"201": "The endpoint, with its secret: no other answer has it.",
		"403": "The credentials lack a scope: an approver needs approve, too.", "409": "The name is in use.",
		"429": "The tenant has as many endpoints as it may.",
	},
	"getWebhook": {"200": "The endpoint.", "404": noEndpoint},
	"changeWebhook": {
		"200": "The endpoint.", "403": "A scope is missing, or the configuration has the endpoint.", "404": noEndpoint,
		"409": "Somebody else has changed the endpoint.",
	},
	"removeWebhook": {
		"204": "The endpoint is gone.", "403": "A scope is missing, or the configuration has the endpoint.",
		"404": noEndpoint,
	},
	"rotateWebhookSecret": {
		"201": "The endpoint, with its new secret: no other answer has it.",
		"403": "A scope is missing, or the configuration has the endpoint.", "404": noEndpoint,
		"409": "The endpoint has two secrets already.",
	},
	"dropWebhookSecret": {
		"200": "The endpoint.", "403": "A scope is missing, or the configuration has the endpoint.", "404": noEndpoint,
		"409": "The endpoint has one secret only.",
	},
	"listWebhookAttempts": {"200": "The attempts.", "404": noEndpoint},
	"listDeadWebhooks":    {"200": "The events.", "404": noEndpoint},
	"replayWebhooks": {
		"200": "How many events are delivered again.", "404": noEndpoint, "409": "The endpoint is disabled.",
	},
	"testWebhook":   {"200": "What became of the attempt.", "404": noEndpoint},
	"listSchedules": {"200": "The schedules."},
	"createSchedule": {
		"201": "The schedule.", "403": "A scope is missing, or nobody could look up later what the caller may do.",
		"409": "The name is in use.", "429": "The tenant has as many schedules as it may.",
	},
	"previewSchedule": {"200": "The due times."},
	"getSchedule":     {"200": "The schedule.", "404": noSchedule},
	"changeSchedule": {
		"200": "The schedule.", "403": "A scope is missing, or nobody could look up later what the caller may do.",
		"404": noSchedule, "409": "The configuration has the schedule.",
	},
	"removeSchedule":    {"204": "The schedule is gone.", "404": noSchedule, "409": "The configuration has the schedule."},
	"pauseSchedule":     {"200": "The schedule, which is paused.", "404": noSchedule},
	"resumeSchedule":    {"200": "The schedule.", "404": noSchedule},
	"runSchedule":       {"200": "What became of it.", "404": noSchedule},
	"listScheduleTicks": {"200": "The history.", "404": noSchedule},
}

const (
	noEndpoint = "There is no such endpoint, it belongs to another tenant, or the caller may not see it."
	noSchedule = "There is no such schedule, it belongs to another tenant, or the caller may not see it."
)

// examples of bodies, by operation: of the request, and of answers by status.
var (
	plannedRequests = map[string]any{
		"createWebhook": object{
			"name": "billing", "url": "https://hooks.example.com/spool", "events": []string{"run.waiting", "run.failed"},
		},
		"changeWebhook":  object{"disabled": true},
		"replayWebhooks": object{"since": "2026-01-02T03:00:00Z"},
		"createSchedule": object{
			"name": "nightly-report", "cron": "0 3 * * *", "zone": "Europe/Berlin", "prompt": "Write the report of yesterday.",
		},
		"changeSchedule":  object{"cron": "0 4 * * *", "zone": "Europe/Berlin"},
		"previewSchedule": object{"cron": "0 9 * * 1-5", "zone": "Europe/Berlin"},
		"pauseSchedule":   object{"reason": "The report moves to Mondays"},
	}
	plannedAnswers = map[string]map[string]any{
		"createWebhook": {
			"400": failure("url must be an https URL", spool.Invalid),
			"403": failure(`the scope "approve" is required for an approver`, spool.Forbidden),
			"409": failure("the tenant has an endpoint with this name", spool.Conflict),
		},
		"createSchedule": {
			"400": failure("cron never comes due: none of its months has one of its days", spool.Invalid),
			"403": failure(
				"You cannot make a schedule, because the server could not look up later what you may do", spool.Forbidden,
			),
			"409": failure("there is a schedule with this name", spool.Conflict),
		},
	}
)
