package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// marker is in all that tenant a has said, and nowhere else.
const marker = "marker-of-a"

// walkCase is how a tenant asks an operation for what belongs to another. In query, path and
// body, THREAD, RUN, MESSAGE, CALL, BRANCH, JOB, EVENT, ARTIFACT and MARK stand for what tenant a has: a
// thread that waits, its run, its first turn, the call that waits, a branch, a dead job, the
// key of an event, and the mark of a page of its list.
type walkCase struct {
	query, body string
	header      map[string]string
	// owner is what tenant a gets: that proves that the request is a good one.
	owner int
	// other is what tenant b gets, whether tenant a has all this or not.
	other int
}

// walk has every operation of the document that looks at what a tenant has. A new one gets a
// case for each kind of id that it takes.
var walk = map[string][]walkCase{
	"startRun": { // makes a thread of b's own, and is walked last
		{body: `{"threadId":"THREAD","runId":"RUN","prompt":"x","editMessageId":"MESSAGE"}`, owner: 409, other: 409},
		{
			body: `{"threadId":"new","runId":"of-b","prompt":"x"}`, header: map[string]string{"Idempotency-Key": "key-of-a"},
			owner: 409, other: 202,
		},
		{body: `{"threadId":"THREAD","runId":"RUN","prompt":"x"}`, owner: 409, other: 202},
	},
	"getRunOutcome": {
		{query: "runId=RUN", owner: 200, other: 404},
		{query: "runId=RUN&wait=10s", owner: 200, other: 404},
	},
	"listDelayedStarts": {{owner: 200, other: 200}, {query: "threadId=THREAD&after=a&limit=5", owner: 200, other: 200}},
	"getDelayedStart":   {{query: "runId=LATER1", owner: 200, other: 404}, {query: "runId=none", owner: 404, other: 404}},
	"moveDelayedStart": {
		{query: "runId=LATER1", body: `{"startAt":"SOON"}`, owner: 200, other: 404},
		{query: "runId=none", body: `{"startAt":"SOON"}`, owner: 404, other: 404},
	},
	"cancelDelayedStart": {{query: "runId=LATER2", owner: 200, other: 404}, {query: "runId=none", owner: 404, other: 404}},
	"stopRun": {
		{body: `{"threadId":"THREAD"}`, owner: 200, other: 409},
		{body: `{"threadId":"THREAD","runId":"RUN"}`, owner: 200, other: 409},
		{body: `{"threadId":"new","runId":"RUN"}`, owner: 409, other: 409},
	},
	"respond": {
		{body: `{"threadId":"THREAD","toolCallId":"CALL","approved":true}`, owner: 200, other: 409},
		{body: `{"threadId":"THREAD","toolCallId":"CALL","approved":true,"arguments":{"too":1}}`, owner: 400, other: 409},
	},
	"listInbox": {
		{owner: 200, other: 200},
		{
			query: "threadId=THREAD&agent=assistant&tool=send&reason=approval&startedBy=anna&owner=anna&order=expiry",
			owner: 200, other: 200,
		},
		{query: "after=age~2020-01-02T03:04:05Z~RUN~CALL&limit=1", owner: 200, other: 200},
	},
	"answerInbox": {
		{
			body:  `{"answers":[{"threadId":"THREAD","toolCallId":"CALL","digest":"sha256:0","approved":true},{"threadId":"none","toolCallId":"CALL","digest":"sha256:0","approved":false}]}`,
			owner: 200, other: 200,
		},
		{
			body:  `{"answers":[{"threadId":"THREAD","toolCallId":"CALL","digest":"sha256:0","approved":true,"arguments":{"too":1}}]}`,
			owner: 200, other: 200,
		},
	},
	"createInboxLink": {
		{body: `{"threadId":"THREAD","toolCallId":"CALL","approver":"anna"}`, owner: 200, other: 404},
		{body: `{"threadId":"THREAD","toolCallId":"none","approver":"anna"}`, owner: 404, other: 404},
	},
	"listInboxLinks": {{owner: 200, other: 200}, {query: "after=x&limit=5", owner: 200, other: 200}},
	"revokeInboxLink": {
		{query: "linkId=LINK", owner: 200, other: 404}, {query: "linkId=none", owner: 404, other: 404},
	},
	"listWebhooks":        {{owner: 200, other: 200}},
	"createWebhook":       {{body: `{"name":"hook","url":"ftp://h.example/"}`, owner: 400, other: 400}},
	"getWebhook":          {{query: "name=hook", owner: 200, other: 404}},
	"changeWebhook":       {{query: "name=hook", body: `{"disabled":true}`, owner: 200, other: 404}},
	"removeWebhook":       {{query: "name=hook", owner: 204, other: 404}},
	"rotateWebhookSecret": {{query: "name=hook", owner: 201, other: 404}},
	"dropWebhookSecret":   {{query: "name=hook", owner: 409, other: 404}},
	"listWebhookAttempts": {{query: "name=hook", owner: 200, other: 404}},
	"listDeadWebhooks":    {{query: "name=hook", owner: 200, other: 404}},
	"replayWebhooks": {
		{query: "name=hook", body: `{"since":"2026-01-02T03:04:05Z"}`, owner: 200, other: 404},
		{query: "name=hook", body: `{"eventId":"none"}`, owner: 404, other: 404},
	},
	"testWebhook":       {{query: "name=hook", owner: 200, other: 404}},
	"listSchedules":     {{owner: 200, other: 200}, {query: "after=a&limit=5", owner: 200, other: 200}},
	"createSchedule":    {{body: `{"name":"plan","at":"2200-01-02T03:04:05Z"}`, owner: 400, other: 400}},
	"previewSchedule":   {{body: `{"at":"2200-01-02T03:04:05Z"}`, owner: 200, other: 200}},
	"getSchedule":       {{query: "name=plan", owner: 200, other: 404}},
	"changeSchedule":    {{query: "name=plan", body: `{"prompt":"x"}`, owner: 200, other: 404}},
	"removeSchedule":    {{query: "name=plan", owner: 204, other: 404}},
	"pauseSchedule":     {{query: "name=plan", body: `{}`, owner: 200, other: 404}},
	"resumeSchedule":    {{query: "name=plan", owner: 200, other: 404}},
	"runSchedule":       {{query: "name=plan", owner: 200, other: 404}},
	"listScheduleTicks": {{query: "name=plan", owner: 200, other: 404}},
	"runAgent": {
		{body: `{"threadId":"THREAD","runId":"RUN","messages":[]}`, owner: 200, other: 404},
		{
			body:  `{"threadId":"THREAD","runId":"new","messages":[],"resume":[{"interruptId":"CALL","status":"cancelled"}]}`,
			owner: 200, other: 404,
		},
		{
			body:  `{"threadId":"THREAD","runId":"new","messages":[{"id":"x","role":"tool","toolCallId":"CALL","content":"y"}]}`,
			owner: 409, other: 404,
		},
	},
	"connectAgent": { // a thread that is not there is shown as one without messages
		{body: `{"threadId":"THREAD","runId":"new","messages":[]}`, owner: 200, other: 200},
	},
	"postChat": {
		{
			body:  `{"id":"THREAD","trigger":"submit-message","messages":[{"id":"RUN","role":"assistant","parts":[{"type":"tool-x","toolCallId":"CALL","state":"approval-responded","approval":{"id":"CALL#x","approved":true}}]}]}`,
			owner: 409, other: 404,
		},
		{body: `{"id":"THREAD","trigger":"regenerate-message","messageId":"MESSAGE","messages":[]}`, owner: 409, other: 404},
	},
	"getChat": { // a chat that is not there has no messages
		{query: "id=THREAD", owner: 200, other: 200},
		{query: "id=THREAD&before=MESSAGE", owner: 200, other: 200},
	},
	"resumeChat": { // the thread waits
		{query: "id=THREAD", owner: 204, other: 204},
		{query: "id=THREAD&replay=last", owner: 200, other: 204},
	},
	"stopChat": {
		{query: "id=THREAD", owner: 200, other: 409},
	},
	"publishEvent": {
		{body: `{"threadId":"THREAD","type":"note","durable":true}`, owner: 200, other: 404},
		{body: `{"threadId":"THREAD","type":"note"}`, owner: 202, other: 404},
	},
	"listEvents": {
		{query: "threadId=THREAD", owner: 200, other: 404},
		{query: "threadId=THREAD&after=1&limit=1", owner: 200, other: 404},
	},
	"getHistory": {
		{query: "threadId=THREAD", owner: 200, other: 404},
		{query: "threadId=THREAD&before=MESSAGE&lastMessageId=MESSAGE&limit=1", owner: 200, other: 404},
		{query: "threadId=THREAD&version=1", owner: 200, other: 404},
		{query: "threadId=THREAD&seq=1", owner: 200, other: 404},
	},
	"getRecord": {{query: "threadId=THREAD", owner: 200, other: 404}},
	"forkThread": {
		{body: `{"threadId":"THREAD","version":1}`, owner: 200, other: 404},
		{body: `{"threadId":"THREAD","version":1,"newThreadId":"THREAD"}`, owner: 409, other: 404},
	},
	"streamThread": {
		{query: "threadId=THREAD", owner: 200, other: 404},
		{query: "threadId=THREAD&wireFormat=ag-ui", owner: 200, other: 404},
		{query: "threadId=THREAD&cursor=1+RUN:1+1-1&lastMessageId=MESSAGE", owner: 200, other: 404},
		{query: "threadId=THREAD&token=TOKEN", owner: 401, other: 401},
	},
	"createStreamToken": {{body: `{"threadId":"THREAD"}`, owner: 200, other: 404}},
	"getUsage":          {{query: "threadId=THREAD", owner: 200, other: 404}},
	"getArtifact":       {{query: "threadId=THREAD&artifactId=ARTIFACT", owner: 200, other: 404}},
	"uploadArtifact":    {{query: "threadId=THREAD", body: "marker", owner: 201, other: 404}},
	"createArtifactUrl": {{query: "threadId=THREAD&artifactId=ARTIFACT", owner: 200, other: 404}},
	"getArtifactByUrl":  {{query: "artifactId=ARTIFACT&token=TOKEN", owner: 403, other: 403}},
	"listBranches":      {{query: "threadId=THREAD", owner: 200, other: 404}},
	"getBranch":         {{query: "threadId=THREAD&branchId=BRANCH", owner: 200, other: 404}},
	"restoreBranch":     {{body: `{"threadId":"THREAD","branchId":BRANCH}`, owner: 409, other: 409}},
	"listThreads": {
		{owner: 200, other: 200},
		{query: "before=MARK&limit=5&q=marker", owner: 200, other: 200},
	},
	"updateThread": {
		{body: `{"threadId":"THREAD","title":"x","labels":{"k":"v"}}`, owner: 200, other: 404},
		{body: `{"threadId":"THREAD","owner":"bert"}`, owner: 200, other: 404},
	},
	"compactThread": {{body: `{"threadId":"THREAD"}`, owner: 409, other: 409}}, // its run is not over
	"deleteThread":  {{query: "threadId=THREAD", owner: 200, other: 404}},
	"getOverview": {
		{query: "tenant=a", owner: 200, other: 403},
	},
	"listRuns": {
		{query: "threadId=THREAD", owner: 200, other: 200},
		{query: "tenant=a&threadId=THREAD", owner: 200, other: 403},
	},
	"getRun": {
		{query: "runId=RUN", owner: 200, other: 404},
		{query: "runId=RUN&tenant=a", owner: 200, other: 403},
	},
	"operatorStop": {
		{body: `{"runId":"RUN"}`, owner: 200, other: 404},
		{body: `{"threadId":"THREAD"}`, owner: 200, other: 404},
		{body: `{"runId":"RUN","tenant":"a"}`, owner: 200, other: 403},
	},
	"operatorRespond": {
		{body: `{"runId":"RUN","toolCallId":"CALL","approved":false}`, owner: 200, other: 404},
		{body: `{"threadId":"THREAD","toolCallId":"CALL","approved":false}`, owner: 200, other: 404},
		{body: `{"runId":"RUN","toolCallId":"CALL","approved":false,"tenant":"a"}`, owner: 200, other: 403},
	},
	"listJobs": {
		{query: "state=dead", owner: 200, other: 200},
		{query: "tenant=a", owner: 200, other: 403},
	},
	"redriveJobs": {
		{body: `{"jobId":JOB}`, owner: 409, other: 404}, // the run has found another way
		{body: `{"jobId":JOB,"tenant":"a"}`, owner: 409, other: 403},
	},
	"purgeJobs": {
		{body: `{"jobId":JOB}`, owner: 200, other: 404},
		{body: `{"all":true,"tenant":"a"}`, owner: 200, other: 403},
	},
	"listAudit": {
		{query: "threadId=THREAD", owner: 200, other: 200},
		{query: "tenant=a", owner: 200, other: 403},
		{query: "server=true", owner: 403, other: 403},
	},
	"listRevisions": {{query: "agent=x", owner: 403, other: 403}},
	"getRevision":   {{query: "revision=rev_1", owner: 403, other: 403}},
	"pruneThreads":  {{body: `{"olderThan":"1ms","tenant":"a"}`, owner: 200, other: 403}},
}

// unwalked are the operations that no tenant asks, and why.
var unwalked = map[string]string{
	"beginSignIn":  "it takes an encrypted link, which names its subject: see signin_test.go",
	"deliverJob":   "a queue signs it, with the tenant: see queue_test.go",
	"getHealth":    "it is about the process",
	"getReadiness": "it is about the process",
}

// operation is one of the document.
type operation struct{ id, method, path string }

// operations returns all of the document, those that make something last.
func (b *bundle) operations(t *testing.T) (all []operation) {
	t.Helper()

	text, err := b.server.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Paths) < 10 {
		t.Fatal(len(doc.Paths), err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			all = append(all, operation{op.OperationID, strings.ToUpper(method), path})
		}
	}
	slices.SortFunc(all, func(x, y operation) int {
		switch {
		case x.id == y.id:
			return 0
		case x.id == "startRun":
			return 1
		case y.id == "startRun":
			return -1
		default:
			return strings.Compare(x.id, y.id)
		}
	})
	return all
}

// walked is a server to walk over, and what stands for what tenant a has.
type walked struct {
	*bundle

	names *strings.Replacer
}

// newWalked makes a server on which tenant a has everything that there is to have.
func newWalked(t *testing.T) walked {
	t.Helper()
	w := newWalkedOn(t, setupPlanned(t, server.Config{StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}}))
	makes[wire.WebhookMade](t, w.bundle, webhooksPath, tokenA, `{"name":"hook","url":"https://127.0.0.1:1/`+marker+`"}`)
	makes[wire.Schedule](t, w.bundle, schedulesPath, tokenA,
		`{"name":"plan","at":"2200-01-02T03:04:05Z","prompt":"`+marker+`"}`)
	return w
}

func newWalkedOn(t *testing.T, b *bundle) walked {
	t.Helper()

	start := func(body string) { b.as(t, tokenA, http.MethodPost, runPath, body) }
	start(`{"threadId":"dead","runId":"r-dead","prompt":"` + marker + `"}`)
	taken, _, err := b.backend.Store.Claim(t.Context(), store.ClaimQuery{Limit: 1, Lease: time.Hour})
	if err != nil || len(taken) != 1 ||
		b.backend.Store.Ack(t.Context(), taken[0], store.Ack{Kind: store.AckDead, Cause: marker}) != nil {
		t.Fatal(taken, err)
	}
	b.work(t)
	b.stream(t, call{path: streamPath + "?threadId=dead", token: tokenA}).until(t, state(wire.Completed))
	b.says(t, "kept", marker, "")
	b.says(t, "kept", marker+" again", string(reads[wire.Snapshot](t, b, historyPath+"?threadId=kept").Messages[0].ID))
	branch := reads[branchAnswer](t, b, branchesPath+"?threadId=kept").Branches[0].ID
	turn := reads[wire.Snapshot](t, b, historyPath+"?threadId=kept").Messages[0].ID
	b.as(t, tokenA, http.MethodPost, eventsPath,
		`{"threadId":"kept","type":"`+marker+`","payload":{"x":"`+marker+`"},"durable":true}`)
	b.do(t, call{
		method: http.MethodPost, path: runPath, token: tokenA, header: map[string]string{"Idempotency-Key": "key-of-a"},
		body: `{"threadId":"kept","runId":"r-kept","prompt":"use send with {\"to\":\"` + marker +
			`\"}","clientMessageId":"` + marker + `"}`,
	})
	kept := b.stream(t, call{path: streamPath + "?threadId=kept", token: tokenA})
	asked := toolCallID(t, kept.until(t, entry(wire.EntryInputRequired)))
	kept.until(t, entry(wire.EntryRunEnded)) // nothing more of the run comes
	artifact, err := b.engine.SaveArtifact(t.Context(), spool.ThreadKey{Tenant: "a", ID: "kept"},
		spool.NewArtifact{Data: strings.NewReader(marker)})
	if err != nil {
		t.Fatal(err)
	}
	link, err := b.engine.AddLink(t.Context(), "a", wire.QuestionLink{
		ThreadID: "kept", ToolCallID: spool.ToolCallID(asked), Approver: marker, MadeBy: "anna",
		ExpiresAt: time.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, run := range []string{"r-later1", "r-later2"} {
		start(`{"threadId":"kept","runId":"` + run + `","prompt":"` + marker + `","startAt":"` + soon + `"}`)
	}
	return walked{b, strings.NewReplacer(
		"LATER", "r-later", "SOON", soon,
		"LINK", string(link.ID),
		"ARTIFACT", string(artifact.ID), "THREAD", "kept", "RUN", "r-kept", "MESSAGE", string(turn), "CALL", asked, "BRANCH",
		fmt.Sprint(branch),
		"JOB", strconv.FormatInt(taken[0].JobID, 10), "MARK",
		url.QueryEscape(time.Now().UTC().Format(time.RFC3339Nano)+"~kept"),
		"TOKEN", b.streamToken(t, tokenA, "dead"),
	)}
}

// ask sends a case's request. The answer is read to its end, or, of a stream that goes on, not
// at all.
func (w walked) ask(t *testing.T, token string, o operation, c walkCase, names *strings.Replacer) answer {
	t.Helper()

	query, err := url.ParseQuery(names.Replace(c.query))
	if err != nil {
		t.Fatal(err)
	}
	path := o.path
	for name := range query {
		if in := "{" + name + "}"; strings.Contains(path, in) {
			path = strings.ReplaceAll(path, in, query.Get(name))
			query.Del(name)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	header := map[string]string{"X-Request-ID": "walk"}
	maps.Copy(header, c.header)
	if query.Has("token") {
		token = ""
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := w.request(t, call{method: o.method, path: path, body: names.Replace(c.body), token: token, header: header})
	res, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var text []byte
	if res.Header.Get("Content-Type") == "application/json; charset=utf-8" {
		if text, err = io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
	}
	res.Header.Del("Date")
	return answer{res.StatusCode, res.Header, strings.TrimSpace(string(text))}
}

// Whatever a tenant asks with the ids of another is answered as if the other had nothing: the
// same bytes as on a server where it has nothing. Nothing of the other is in an answer or in
// the log, and nothing of it changes.
//
// The operations are those of the document: one that nobody has thought of fails the test.
func TestWalk(t *testing.T) {
	t.Parallel()

	full := newWalked(t)
	empty := setupPlanned(t, server.Config{StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}})
	full.clock.hold()
	before := full.everything(t)
	since := len(full.logged.String())
	seen := make(map[string]bool)
	for _, o := range full.operations(t) {
		seen[o.id] = true
		if cases := walk[o.id]; len(cases) == 0 && unwalked[o.id] == "" {
			t.Errorf("%s %s (%s) is not walked: add to walk, in walk_test.go, how a tenant asks it for what another one has,"+
				" with a case for each id that it takes; or to unwalked, why no tenant does", o.method, o.path, o.id)
		}
		for i, c := range walk[o.id] {
			name := fmt.Sprintf("%s %s, case %d", o.method, o.path, i)
			got := full.ask(t, tokenB, o, c, full.names)
			want := walked{bundle: empty}.ask(t, tokenB, o, c, full.names)
			if got.status != c.other {
				t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.other)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("%s tells what another tenant has: -nothing +something\n%s", name, diff)
			}
			if all := fmt.Sprint(got); strings.Contains(all, marker) || strings.Contains(all, "anna") {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
	for id := range walk {
		if !seen[id] {
			t.Errorf("walk has %s, which is no operation any more", id)
		}
	}
	if text := full.logged.String()[since:]; strings.Contains(text, marker) || strings.Contains(text, "anna") {
		t.Errorf("the log has what another tenant said:\n%s", text)
	}
	// What b has made since, on the ids of a, is b's.
	after := full.everything(t)
	if diff := cmp.Diff(before[:len(before)/2], after[:len(after)/2]); diff != "" {
		t.Errorf("another tenant changed something: -before +after\n%s", diff)
	}
	if own := strings.Join(after[len(after)/2:], ""); strings.Contains(own, marker) || strings.Contains(own, "anna") {
		t.Errorf("tenant b reads what tenant a said: %s", own)
	}
}

// The requests of the walk are good ones: who owns what they ask for gets it.
func TestWalkOwner(t *testing.T) {
	t.Parallel()

	all := setup(t, server.Config{}).operations(t) // a document costs as much as the rest of a case
	for id, cases := range walk {
		for i, c := range cases {
			t.Run(fmt.Sprint(id, " ", i), func(t *testing.T) {
				t.Parallel()

				w := newWalked(t)
				for _, o := range all {
					if o.id != id {
						continue
					}
					if got := w.ask(t, tokenA, o, c, w.names); got.status != c.owner {
						t.Errorf("%d %s, want %d", got.status, got.body, c.owner)
					}
				}
			})
		}
	}
}
