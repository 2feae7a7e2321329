package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// leftOut has the operations of the server that the client does not have, and why.
var leftOut = map[string]string{
	"connectAgent":     "AG-UI has clients of its own",
	"runAgent":         "AG-UI has clients of its own",
	"postChat":         "the AI SDK has a client of its own",
	"stopChat":         "the AI SDK has a client of its own",
	"resumeChat":       "the AI SDK has a client of its own",
	"getChat":          "the AI SDK has a client of its own",
	"deliverJob":       "an external queue calls it, with credentials of its own",
	"getArtifactByUrl": "the URL of ArtifactURL needs no client and no credentials",
}

func drain[T any](list func(func(T, error) bool)) {
	for _, err := range list {
		_ = err
		return
	}
}

// operations has a call of each operation of the client, by the operation's name in the server's document.
var operations = map[string]func(ctx context.Context, c *client.Client){
	"listWebhooks":  func(ctx context.Context, c *client.Client) { _, _ = c.Webhooks(ctx) },
	"getWebhook":    func(ctx context.Context, c *client.Client) { _, _ = c.Webhook(ctx, "x") },
	"removeWebhook": func(ctx context.Context, c *client.Client) { _ = c.RemoveWebhook(ctx, "x") },
	"createWebhook": func(ctx context.Context, c *client.Client) { _, _ = c.CreateWebhook(ctx, wire.WebhookCreate{}) },
	"changeWebhook": func(ctx context.Context, c *client.Client) {
		_, _ = c.ChangeWebhook(ctx, "x", wire.WebhookChange{})
	},
	"rotateWebhookSecret": func(ctx context.Context, c *client.Client) { _, _ = c.RotateWebhookSecret(ctx, "x") },
	"dropWebhookSecret":   func(ctx context.Context, c *client.Client) { _, _ = c.DropWebhookSecret(ctx, "x") },
	"listWebhookAttempts": func(ctx context.Context, c *client.Client) { _, _ = c.WebhookAttempts(ctx, "x") },
	"listDeadWebhooks":    func(ctx context.Context, c *client.Client) { drain(c.DeadWebhooks(ctx, "x")) },
	"replayWebhooks": func(ctx context.Context, c *client.Client) {
		_, _ = c.ReplayWebhooks(ctx, "x", wire.WebhookReplay{})
	},
	"testWebhook":   func(ctx context.Context, c *client.Client) { _, _ = c.TestWebhook(ctx, "x") },
	"listSchedules": func(ctx context.Context, c *client.Client) { drain(c.Schedules(ctx)) },
	"createSchedule": func(ctx context.Context, c *client.Client) {
		_, _ = c.CreateSchedule(ctx, wire.ScheduleRequest{})
	},
	"previewSchedule": func(ctx context.Context, c *client.Client) {
		_, _ = c.PreviewSchedule(ctx, wire.ScheduleRule{})
	},
	"getSchedule": func(ctx context.Context, c *client.Client) { _, _ = c.Schedule(ctx, "x") },
	"changeSchedule": func(ctx context.Context, c *client.Client) {
		_, _ = c.ChangeSchedule(ctx, "x", wire.ScheduleChange{})
	},
	"removeSchedule":    func(ctx context.Context, c *client.Client) { _ = c.RemoveSchedule(ctx, "x") },
	"pauseSchedule":     func(ctx context.Context, c *client.Client) { _, _ = c.PauseSchedule(ctx, "x", "") },
	"resumeSchedule":    func(ctx context.Context, c *client.Client) { _, _ = c.ResumeSchedule(ctx, "x") },
	"runSchedule":       func(ctx context.Context, c *client.Client) { _, _ = c.RunSchedule(ctx, "x") },
	"listScheduleTicks": func(ctx context.Context, c *client.Client) { _, _ = c.ScheduleTicks(ctx, "x") },
	"listAudit":         func(ctx context.Context, c *client.Client) { drain(c.Audit(ctx, client.AuditFilter{})) },
	"listJobs":          func(ctx context.Context, c *client.Client) { drain(c.Jobs(ctx, client.JobFilter{})) },
	"purgeJobs":         func(ctx context.Context, c *client.Client) { _, _ = c.PurgeAll(ctx, time.Hour) },
	"redriveJobs":       func(ctx context.Context, c *client.Client) { _, _ = c.Redrive(ctx, 1) },
	"getOverview":       func(ctx context.Context, c *client.Client) { _, _ = c.Overview(ctx) },
	"pruneThreads":      func(ctx context.Context, c *client.Client) { _, _ = c.Prune(ctx, client.PruneRequest{}) },
	"listRevisions":     func(ctx context.Context, c *client.Client) { drain(c.Revisions(ctx, "")) },
	"getRevision":       func(ctx context.Context, c *client.Client) { _, _ = c.Revision(ctx, "x") },
	"listRuns":          func(ctx context.Context, c *client.Client) { drain(c.Runs(ctx, client.RunFilter{})) },
	"getRun":            func(ctx context.Context, c *client.Client) { _, _ = c.RunDetail(ctx, "x") },
	"operatorStop":      func(ctx context.Context, c *client.Client) { _, _ = c.OperatorStop(ctx, client.Target{RunID: "x"}) },
	"operatorRespond": func(ctx context.Context, c *client.Client) {
		_, _ = c.OperatorRespond(ctx, client.Target{RunID: "x"}, client.RespondRequest{})
	},

	"uploadArtifact": func(ctx context.Context, c *client.Client) {
		_, _ = c.UploadArtifact(ctx, "t", spool.NewArtifact{})
	},
	"createArtifactUrl": func(ctx context.Context, c *client.Client) { _, _ = c.ArtifactURL(ctx, "t", "x", 0) },
	"getArtifact": func(ctx context.Context, c *client.Client) {
		if _, data, err := c.OpenArtifact(ctx, "t", "x"); err == nil {
			_ = data.Close()
		}
	},
	"listBranches":  func(ctx context.Context, c *client.Client) { _, _ = c.Branches(ctx, "t") },
	"getBranch":     func(ctx context.Context, c *client.Client) { _, _ = c.Branch(ctx, "t", 1, wire.BranchOptions{}) },
	"restoreBranch": func(ctx context.Context, c *client.Client) { _, _ = c.RestoreBranch(ctx, "t", 1) },
	"forkThread":    func(ctx context.Context, c *client.Client) { _, _ = c.Fork(ctx, "t", wire.ForkRequest{}) },
	"getRecord": func(ctx context.Context, c *client.Client) {
		if file, err := c.Record(ctx, "t"); err == nil {
			_ = file.Close()
		}
	},
	"compactThread": func(ctx context.Context, c *client.Client) { _, _ = c.Compact(ctx, "t") },
	"stopRun":       func(ctx context.Context, c *client.Client) { _, _ = c.Stop(ctx, "t", "") },
	"listEvents":    func(ctx context.Context, c *client.Client) { drain(c.Events(ctx, "t", 0)) },
	"publishEvent":  func(ctx context.Context, c *client.Client) { _, _ = c.Publish(ctx, "t", spool.Event{}) },
	"getHistory": func(ctx context.Context, c *client.Client) {
		_, _ = c.Snapshot(ctx, "t", wire.SnapshotOptions{})
		_, _ = c.SnapshotAt(ctx, "t", 1)
		_, _ = c.SnapshotAtSeq(ctx, "t", 1)
	},
	"respond": func(ctx context.Context, c *client.Client) {
		_, _ = c.Respond(ctx, "t", client.RespondRequest{})
	},
	"listInbox": func(ctx context.Context, c *client.Client) { drain(c.Inbox(ctx, client.InboxFilter{})) },
	"answerInbox": func(ctx context.Context, c *client.Client) {
		_, _ = c.AnswerAll(ctx, make([]client.InboxAnswer, 1))
	},
	"listInboxLinks":    func(ctx context.Context, c *client.Client) { drain(c.Links(ctx)) },
	"revokeInboxLink":   func(ctx context.Context, c *client.Client) { _ = c.RevokeLink(ctx, "l") },
	"createInboxLink":   func(ctx context.Context, c *client.Client) { _, _ = c.CreateLink(ctx, client.LinkRequest{}) },
	"startRun":          func(ctx context.Context, c *client.Client) { _, _ = c.Run(ctx, client.RunRequest{}) },
	"listDelayedStarts": func(ctx context.Context, c *client.Client) { drain(c.DelayedStarts(ctx, "t")) },
	"getDelayedStart":   func(ctx context.Context, c *client.Client) { _, _ = c.DelayedStart(ctx, "x") },
	"moveDelayedStart": func(ctx context.Context, c *client.Client) {
		_, _ = c.MoveDelayedStart(ctx, "x", time.Now())
	},
	"cancelDelayedStart": func(ctx context.Context, c *client.Client) { _, _ = c.CancelDelayedStart(ctx, "x") },
	"getRunOutcome":      func(ctx context.Context, c *client.Client) { _, _ = c.Outcome(ctx, "x") },
	"beginSignIn":        func(ctx context.Context, c *client.Client) { _, _ = c.BeginSignIn(ctx, "x") },
	"streamThread":       func(ctx context.Context, c *client.Client) { drain(c.Follow(ctx, "t", client.FollowOptions{})) },
	"createStreamToken":  func(ctx context.Context, c *client.Client) { _, _ = c.StreamToken(ctx, "t") },
	"getUsage":           func(ctx context.Context, c *client.Client) { _, _ = c.Usage(ctx, "t") },
	"deleteThread":       func(ctx context.Context, c *client.Client) { _, _ = c.DeleteThread(ctx, "t") },
	"listThreads":        func(ctx context.Context, c *client.Client) { drain(c.Threads(ctx, client.ThreadFilter{})) },
	"updateThread": func(ctx context.Context, c *client.Client) {
		_, _ = c.UpdateThread(ctx, "t", wire.ThreadChange{})
	},
	"getHealth":    func(ctx context.Context, c *client.Client) { _ = c.Healthy(ctx) },
	"getReadiness": func(ctx context.Context, c *client.Client) { _ = c.Ready(ctx) },
}

// The client has every operation of the server's document, or the reason why not. Each of its calls sends the request
// that the document describes.
func TestOperations(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("..", "spec", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	known := 0
	for path, methods := range document.Paths {
		for method, raw := range methods {
			var operation struct{ OperationID string }
			if json.Unmarshal(raw, &operation) != nil || operation.OperationID == "" {
				continue
			}
			id := operation.OperationID
			call, has := operations[id]
			if _, out := leftOut[id]; has == out {
				t.Errorf("%s (%s %s): the client has it: %v, the table says that it leaves it out: %v", id, strings.ToUpper(method),
					path, has, out)
				continue
			}
			known++
			if !has {
				continue
			}
			got := sent(t, call)
			want := regexp.MustCompile("^" + strings.ToUpper(method) + " " +
				regexp.MustCompile(`\\\{[a-zA-Z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			if !want.MatchString(got) {
				t.Errorf("%s sends %q, want %s", id, got, want)
			}
		}
	}
	if known != len(operations)+len(leftOut) {
		t.Errorf("%d of the table's %d operations are in the document", known, len(operations)+len(leftOut))
	}
}

// sent returns the method and the path of the first request of a call.
func sent(t *testing.T, call func(ctx context.Context, c *client.Client)) string {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var once sync.Once
	got := ""
	c, err := client.New("http://127.0.0.1:1", client.Options{Retries: -1, HTTPClient: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			once.Do(func() { got = r.Method + " " + r.URL.Path })
			if r.Method == http.MethodPost && r.Header.Get("Content-Type") == "" {
				t.Errorf("%s %s has no Content-Type, which a server without tokens refuses", r.Method, r.URL.Path)
			}
			cancel()
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				Body: io.NopCloser(strings.NewReader("{}")),
			}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	call(ctx, c)
	return got
}
