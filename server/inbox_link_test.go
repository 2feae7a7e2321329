package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const (
	linksPath   = inboxPath + "/links"
	answersPath = inboxPath + "/answers"
)

// linkAnswer is the answer to a request for a link.
type linkAnswer struct {
	URL       string
	ExpiresAt time.Time
}

// keyed serves with a key that signs links.
func keyed(t *testing.T) *bundle {
	t.Helper()
	b := setup(t, server.Config{StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}})
	b.work(t)
	return b
}

// question returns the question of a thread that waits for one.
func (b *bundle) question(t *testing.T, token, thread string) wire.Question {
	t.Helper()
	_, page := b.inbox(t, token, "?threadId="+thread)
	if len(page.Questions) != 1 {
		t.Fatalf("%d questions of %s", len(page.Questions), thread)
	}
	return page.Questions[0]
}

// link makes a link for the question of a thread.
func (b *bundle) link(t *testing.T, token, thread, approver string) string {
	t.Helper()
	q := b.question(t, token, thread)
	got := b.as(t, token, http.MethodPost, linksPath,
		fmt.Sprintf(`{"threadId":%q,"toolCallId":%q,"digest":%q,"approver":%q}`, thread, q.ToolCallID, q.Digest, approver))
	if got.status != http.StatusOK || got.header.Get("Cache-Control") != "no-store" ||
		got.header.Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("%d %s %v", got.status, got.body, got.header)
	}
	return into[linkAnswer](t, got).URL
}

// posts sends the form of a link, as a browser does from a page without a referrer.
func (b *bundle) posts(t *testing.T, link string, form url.Values) answer {
	t.Helper()
	return b.do(t, call{method: http.MethodPost, path: link, body: form.Encode(), header: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Origin": "null",
		"Sec-Fetch-Site": "same-origin",
	}})
}

func (b *bundle) shows(t *testing.T, link, accept string) answer {
	t.Helper()
	return b.do(t, call{method: http.MethodGet, path: link, header: map[string]string{"Accept": accept}})
}

// A link shows its question however often somebody looks, answers it once in the name of its approver, and does not
// work any more then.
func TestInboxLink(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	b.asks(t, tokenA, "t1")
	link := b.link(t, tokenA, "t1", "cleo@example.com")
	before := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
		got := b.do(t, call{method: method, path: link, header: map[string]string{"Accept": "text/html,*/*"}})
		if got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", method, got.status, got.body)
		}
		policy := got.header.Get("Content-Security-Policy")
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if have := got.header.Get(name); have != want {
				t.Errorf("%s is %q, want %q", name, have, want)
			}
		}
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") ||
			strings.Contains(policy, "script") {
			t.Errorf("the policy is %q", policy)
		}
		if method == http.MethodGet {
			for _, want := range []string{
				"send", "&#34;to&#34;: &#34;t1&#34;", "cleo@example.com", `<form method="post"`, `value="approve"`, "anna",
			} {
				if !strings.Contains(got.body, want) {
					t.Errorf("the page lacks %q: %s", want, got.body)
				}
			}
		}
	}
	shown := b.shows(t, link, "application/json")
	var asked struct {
		Approver, ToolName, Reason string
		Arguments                  json.RawMessage
		ExpiresAt                  time.Time
	}
	if err := json.Unmarshal([]byte(shown.body), &asked); err != nil || asked.Approver != "cleo@example.com" ||
		asked.ToolName != "send" ||
		asked.Reason != wire.ParkApproval || string(asked.Arguments) != `{"to":"t1"}` {
		t.Errorf("as JSON: %s, %v", shown.body, err)
	}
	if left := time.Until(asked.ExpiresAt); left > 15*time.Minute || left < 14*time.Minute {
		t.Errorf("the link lasts %s, and the question 15 minutes", left)
	}
	if after := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body; after != before {
		t.Errorf("looking at a link changed the thread:\n%s\n%s", before, after)
	}

	// A wrong answer changes nothing, and shows the question again.
	for name, form := range map[string]url.Values{
		"neither":    {"reason": {"x"}},
		"both":       {"decision": {"approve", "deny"}},
		"long":       {"decision": {"approve"}, "reason": {strings.Repeat("x", 5000)}},
		"no JSON":    {"decision": {"deny"}, "payload": {"{"}},
		"other word": {"decision": {"APPROVE"}},
	} {
		if got := b.posts(t, link, form); got.status != http.StatusBadRequest ||
			!strings.Contains(got.body, `<form method="post"`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for body, kind := range map[string]string{
		`{"approved":"true"}`: "application/json", `{"Approved":true}`: "application/json",
		`{"approved":false,"approved":true}`: "application/json", `[]`: "application/json", `{"approved":true}`: "text/plain",
		"decision=approve": "multipart/form-data; boundary=x",
	} {
		got := b.do(t, call{
			method: http.MethodPost, path: link, body: body,
			header: map[string]string{"Content-Type": kind, "Accept": "application/json"},
		})
		if got.status != http.StatusBadRequest && got.status != http.StatusUnsupportedMediaType {
			t.Errorf("%s %s: %d %s", kind, body, got.status, got.body)
		}
	}
	if after := b.as(t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "").body; after != before {
		t.Errorf("a wrong answer changed the thread:\n%s\n%s", before, after)
	}

	if got := b.posts(
		t, link, url.Values{"decision": {"approve"}, "reason": {"she asked"}},
	); got.status != http.StatusOK || !strings.Contains(got.body, "said yes") {
		t.Fatalf("the answer: %d %s", got.status, got.body)
	}
	b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, state(wire.Completed))
	if got := b.as(
		t, tokenA, http.MethodGet, historyPath+"?threadId=t1", "",
	).body; !strings.Contains(got, `"reason":"she asked"`) {
		t.Errorf("the model has not read the reason: %s", got)
	}
	audit := b.as(t, tokenA, http.MethodGet, "/api/admin/audit?action=answer", "").body
	for _, want := range []string{`"by":"cleo@example.com"`, `"via":"link"`, `"viaBy":"anna"`, `"approved":true`} {
		if !strings.Contains(audit, want) {
			t.Errorf("the audit log lacks %s: %s", want, audit)
		}
	}

	// It works once.
	for _, got := range []answer{
		b.shows(t, link, "text/html"), b.posts(t, link, url.Values{"decision": {"deny"}}),
		b.do(t, call{
			method: http.MethodPost, path: link, body: `{"approved":true}`,
			header: map[string]string{"Accept": "application/json", "Content-Type": "application/json"},
		}),
	} {
		if got.status != http.StatusGone || saysWhat(got.body) {
			t.Errorf("a used link: %d %s", got.status, got.body)
		}
	}
	token := link[strings.LastIndex(link, "/")+1:]
	if logged := b.logged.String(); strings.Contains(logged, token) || strings.Contains(logged, token[:40]) {
		t.Errorf("the log has the token: %s", logged)
	}
}

// saysWhat reports whether a page has something of what tenant a has.
func saysWhat(page string) bool {
	for _, secret := range []string{"send", "t1", "anna", "cleo", "call_", "demo_"} {
		if strings.Contains(page, secret) {
			return true
		}
	}
	return false
}

// A program answers with JSON. A denial counts as well.
func TestInboxLinkJSON(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	b.asks(t, tokenA, "t1")
	link := b.link(t, tokenA, "t1", "cleo")
	got := b.do(t, call{
		method: http.MethodPost, path: link, body: `{"approved":false,"reason":"no"}`,
		header: map[string]string{"Accept": "application/json", "Content-Type": "application/json"},
	})
	if got.status != http.StatusOK || got.body != `{"delivered":true}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if used := b.shows(t, link, "application/json"); used.status != http.StatusGone ||
		used.body != `{"error":"this question has an answer already, or it does not wait any more","code":"gone"}` {
		t.Errorf("a used link: %d %s", used.status, used.body)
	}
}

// Whatever is wrong with a link, it says nothing of what it was about, and changes nothing.
func TestAttackInboxLink(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	b.asks(t, tokenA, "t1")
	b.asks(t, tokenA, "t2")
	link, other := b.link(t, tokenA, "t1", "cleo"), b.link(t, tokenA, "t2", "cleo")
	base, token := link[:strings.LastIndex(link, "/")+1], link[strings.LastIndex(link, "/")+1:]
	payload, signature, _ := strings.Cut(token, ".")
	otherPayload, otherSignature, _ := strings.Cut(other[len(base):], ".")
	before := b.as(t, tokenA, http.MethodGet, inboxPath, "").body
	wrong := map[string]string{
		"a byte more": token + "A", "a byte less": token[:len(token)-1], "no signature": payload,
		"an empty signature": payload + ".", "another signature": payload + "." + otherSignature,
		"another payload": otherPayload + "." + signature, "twice": token + "." + signature,
		"a stream token": b.streamToken(t, tokenA, "t1"), "nothing like it": "x", "upper case": strings.ToUpper(token),
		"padded": token + "=",
	}
	for i := range token {
		if i%7 == 0 {
			changed := []byte(token)
			changed[i] ^= 1
			if changed[i] == '/' || changed[i] == '?' || changed[i] == '#' || changed[i] == '%' {
				continue
			}
			wrong[fmt.Sprint("another byte at ", i)] = string(changed)
		}
	}
	for name, text := range wrong {
		for _, got := range []answer{
			b.shows(t, base+text, "text/html"), b.posts(t, base+text, url.Values{"decision": {"approve"}}),
		} {
			if got.status != http.StatusForbidden || saysWhat(got.body) ||
				!strings.Contains(got.body, "This link is not valid.") {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
	}
	if after := b.as(t, tokenA, http.MethodGet, inboxPath, "").body; after != before {
		t.Errorf("a forged link changed something:\n%s\n%s", before, after)
	}

	// The question goes away: the thread is deleted, and made again with the same ids.
	if got := b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t1", ""); got.status != http.StatusOK {
		t.Fatal(got.status, got.body)
	}
	for range 2 {
		for _, got := range []answer{b.shows(t, link, "text/html"), b.posts(t, link, url.Values{"decision": {"approve"}})} {
			if got.status != http.StatusGone || saysWhat(got.body) {
				t.Errorf("after the thread is gone: %d %s", got.status, got.body)
			}
		}
		if threads, _ := b.inbox(t, tokenA, ""); !strings.Contains(threads, "t1") {
			b.asks(t, tokenA, "t1")
		}
	}
	if threads, _ := b.inbox(t, tokenA, ""); !strings.Contains(threads, "t1") {
		t.Errorf("the new question: %s", threads)
	}
}

func TestInboxLinkRefused(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	b.asks(t, tokenA, "t1")
	id := string(b.question(t, tokenA, "t1").ToolCallID)
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"threadId":"t1","toolCallId":"` + id + `","approver":""}`:                    {400, "approver is required"},
		`{"threadId":"t1","toolCallId":"` + id + `"}`:                                  {400, "approver is required"},
		`{"threadId":"t1","toolCallId":"` + id + `","approver":"a\u202eb"}`:            {400, "approver must have"},
		`{"threadId":"t1","toolCallId":"` + id + `","approver":" a"}`:                  {400, "approver must have"},
		`{"threadId":"t1","toolCallId":"` + id + `","approver":"a","expiresIn":"25h"}`: {400, "expiresIn must be"},
		`{"threadId":"t1","toolCallId":"` + id + `","approver":"a","expiresIn":"1s"}`:  {400, "expiresIn must be"},
		`{"threadId":"t1","toolCallId":"` + id + `","approver":"a","digest":"sha256:0"}`: {
			409, "not the one that was shown",
		},
		`{"threadId":"t1","toolCallId":"none","approver":"a"}`:                               {404, "Nothing waits"},
		`{"threadId":"none","toolCallId":"` + id + `","approver":"a"}`:                       {404, "Thread not found"},
		`{"threadId":"t1","toolCallId":"` + id + `","approver":"` + strings.Repeat("a", 300): {400, ""},
	} {
		if got := b.as(t, tokenA, http.MethodPost, linksPath, body); got.status != want.status ||
			!strings.Contains(got.body, want.text) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if got := b.as(
		t, readOnlyA, http.MethodPost, linksPath, `{"threadId":"t1","toolCallId":"`+id+`","approver":"a"}`,
	); got.status != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", got.status, got.body)
	}
}

// For a question that is for somebody else than the starter, the starter can neither make a link nor answer with one.
func TestInboxLinkDistinct(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","agent":"strict","prompt":"use send with {\"to\":\"x\"}"}`)
	b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, entry(wire.EntryInputRequired))
	id := string(b.question(t, tokenA, "t1").ToolCallID)
	for _, c := range []struct {
		token, approver string
		status          int
	}{{tokenA, "cleo", 409}, {secondA, "anna", 409}, {namelessA, "cleo", 409}, {secondA, "cleo", 200}} {
		got := b.as(t, c.token, http.MethodPost, linksPath,
			`{"threadId":"t1","toolCallId":"`+id+`","approver":"`+c.approver+`"}`)
		if got.status != c.status {
			t.Errorf("%s for %s: %d %s", c.token, c.approver, got.status, got.body)
		}
	}
	r, err := b.engine.Respond(t.Context(), spool.ThreadKey{Tenant: "a", ID: "t1"}, wire.Response{
		ToolCallID: spool.ToolCallID(id), Approved: true, By: "cleo", Via: "link", ViaBy: "anna",
	})
	if err != nil || r.Reason != wire.ReasonSameApprover {
		t.Errorf("the way of the starter: %+v, %v", r, err)
	}
	if got := b.posts(
		t, b.link(t, secondA, "t1", "cleo"), url.Values{"decision": {"approve"}},
	); got.status != http.StatusOK {
		t.Errorf("somebody else: %d %s", got.status, got.body)
	}
}

// Of answers that come at once by a link and by the API, exactly one counts.
func TestRaceInboxLink(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	for i := range 5 {
		thread := fmt.Sprint("t", i)
		b.asks(t, tokenA, thread)
		q := b.question(t, tokenA, thread)
		link, second := b.link(t, tokenA, thread, "cleo"), b.link(t, tokenA, thread, "carl")
		body := fmt.Sprintf(`{"threadId":%q,"toolCallId":%q,"digest":%q,"approved":true}`, thread, q.ToolCallID, q.Digest)
		var at sync.WaitGroup
		var mu sync.Mutex
		counted := 0
		race := func(send func() answer, counts func(answer) bool) {
			at.Go(func() {
				got := send()
				if counts(got) {
					mu.Lock()
					counted++
					mu.Unlock()
				} else if got.status != http.StatusGone && got.status != http.StatusConflict && got.status != http.StatusOK {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
		ok := func(a answer) bool { return a.status == http.StatusOK }
		for range 2 {
			race(func() answer { return b.posts(t, link, url.Values{"decision": {"deny"}}) }, ok)
			race(func() answer { return b.posts(t, second, url.Values{"decision": {"approve"}}) }, ok)
			race(func() answer { return b.as(t, tokenA, http.MethodPost, respondPath, body) }, ok)
			race(func() answer { return b.as(t, tokenA, http.MethodPost, answersPath, `{"answers":[`+body+`]}`) },
				func(a answer) bool { return strings.Contains(a.body, `"delivered":true`) })
		}
		at.Wait()
		if counted != 1 {
			t.Errorf("%d answers counted", counted)
		}
	}
}

// On a server for one machine, without credentials, a browser opens links and answers with them.
func TestInboxLinkLoopback(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Insecure: true, Loopback: true})
	b.work(t)
	asks := func(method, path, body string) answer {
		return b.do(t, call{
			method: method, path: path, body: body, header: map[string]string{"Content-Type": "application/json"},
		})
	}
	asks(http.MethodPost, runPath, `{"threadId":"t1","prompt":"use send with {\"to\":\"x\"}"}`)
	b.stream(t, call{path: streamPath + "?threadId=t1"}).until(t, entry(wire.EntryInputRequired))
	q := into[inboxAnswer](t, asks(http.MethodGet, inboxPath, "")).Questions[0]
	link := into[linkAnswer](t, asks(http.MethodPost, linksPath,
		fmt.Sprintf(`{"threadId":"t1","toolCallId":%q,"approver":"me"}`, q.ToolCallID))).URL
	if got := b.do(
		t,
		call{
			method: http.MethodGet, path: link,
			header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
		},
	); got.status != http.StatusOK {
		t.Errorf("from a mail: %d %s", got.status, got.body)
	}
	if got := b.posts(t, link, url.Values{"decision": {"approve"}}); got.status != http.StatusOK {
		t.Errorf("the answer: %d %s", got.status, got.body)
	}
}

// Each of several answers is on its own, and the same answers again change nothing.
func TestInboxAnswers(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	for _, thread := range []string{"t1", "t2", "t3", "t4"} {
		b.asks(t, tokenA, thread)
	}
	b.asks(t, tokenB, "of-b")
	var answers []string
	for thread, more := range map[string]string{
		"t1": `"approved":true,"reason":"fine"`, "t2": `"approved":false`, "t3": `"approved":true,"arguments":{"too":1}`,
	} {
		q := b.question(t, tokenA, thread)
		answers = append(answers, fmt.Sprintf(`{"threadId":%q,"toolCallId":%q,"digest":%q,%s}`, thread, q.ToolCallID,
			q.Digest, more))
	}
	theirs := b.question(t, tokenB, "of-b")
	answers = append(answers,
		fmt.Sprintf(`{"threadId":"of-b","toolCallId":%q,"digest":%q,"approved":true}`, theirs.ToolCallID, theirs.Digest),
		fmt.Sprintf(`{"threadId":"t4","toolCallId":%q,"digest":"sha256:0","approved":true}`,
			b.question(t, tokenA, "t4").ToolCallID),
		`{"threadId":"none","toolCallId":"c","digest":"sha256:0","approved":true}`,
	)
	body := `{"answers":[` + strings.Join(append(answers, answers...), ",") + `]}`
	type results struct {
		Results []struct {
			ThreadID            spool.ThreadID
			Delivered           bool
			Reason, Error, Code string
		}
	}
	for round := range 2 {
		got := b.as(t, tokenA, http.MethodPost, answersPath, body)
		if got.status != http.StatusOK {
			t.Fatal(got.status, got.body)
		}
		list := into[results](t, got).Results
		if len(list) != 12 {
			t.Fatalf("%d results: %s", len(list), got.body)
		}
		for i, r := range list {
			first := i < 6 && round == 0
			want := map[spool.ThreadID]string{
				"t1": "already_answered", "t2": "already_answered", "t3": "invalid", "t4": "changed", "of-b": "no_park",
				"none": "no_park",
			}[r.ThreadID]
			if r.ThreadID == "t1" || r.ThreadID == "t2" {
				if first {
					want = ""
				} else if r.Reason == "no_park" { // its run has gone on
					want = "no_park"
				}
			}
			if r.Reason+r.Code != want || r.Delivered != (want == "") || (want == "") != (r.Error == "") {
				t.Errorf("round %d, result %d: %+v, want %q", round, i, r, want)
			}
		}
	}
	if threads, _ := b.inbox(t, tokenA, ""); threads != "t3 t4" {
		t.Errorf("still waiting: %s", threads)
	}

	before := b.as(t, tokenA, http.MethodGet, inboxPath, "").body
	q := b.question(t, tokenA, "t3")
	good := fmt.Sprintf(`{"threadId":"t3","toolCallId":%q,"digest":%q,"approved":true}`, q.ToolCallID, q.Digest)
	for list, want := range map[string]string{
		``:                          `answers must have from 1 to 100 elements`,
		good + `,{"threadId":"t4"}`: `toolCallId`,
		good + `,{"threadId":"t4","toolCallId":"c","approved":true}`:               `answers`,
		good + `,{"threadId":"t4","toolCallId":"c","approved":true,"digest":""}`:   `answers[1].digest is required`,
		good + `,{"threadId":"","toolCallId":"c","approved":true,"digest":"x"}`:    `answers[1].threadId`,
		good + `,{"threadId":"t","toolCallId":"a b","approved":true,"digest":"x"}`: `answers[1].toolCallId`,
		good +
			strings.Repeat(","+good, 100): `answers must have from 1 to 100 elements`,
	} {
		if got := b.as(
			t, tokenA, http.MethodPost, answersPath, `{"answers":[`+list+`]}`,
		); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%.80s: %d %s", list, got.status, got.body)
		}
	}
	if after := b.as(t, tokenA, http.MethodGet, inboxPath, "").body; after != before {
		t.Errorf("a wrong request changed something:\n%s\n%s", before, after)
	}
	if got := b.as(
		t, readOnlyA, http.MethodPost, answersPath, `{"answers":[`+good+`]}`,
	); got.status != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", got.status, got.body)
	}
}

// A field of another form of answer is not ignored: the call would run in another way than the person has said.
func TestAnswersOfOtherForms(t *testing.T) {
	t.Parallel()

	b := keyed(t)
	b.asks(t, tokenA, "t1")
	q := b.question(t, tokenA, "t1")
	link := b.link(t, tokenA, "t1", "cleo")
	ids := fmt.Sprintf(`"threadId":"t1","toolCallId":%q,"digest":%q,"approved":true`, q.ToolCallID, q.Digest)
	resume := func(payload string) string {
		return fmt.Sprintf(
			`{"threadId":"t1","runId":"r9","messages":[],"resume":[{"interruptId":%q,"status":"resolved","payload":{"approved":true,%s}}]}`,
			q.ToolCallID, payload,
		)
	}
	chat := func(approval, detail string) string {
		return fmt.Sprintf(`{"id":"t1","messages":[{"id":%q,"role":"assistant","parts":[{"type":"tool-send","toolCallId":%q,"state":"approval-responded","approval":{"id":"%s#%s","approved":true%s}}]}],"answers":{%q:{%s}}}`,
			q.RunID, q.ToolCallID, q.ToolCallID, q.Digest, approval, q.ToolCallID, detail)
	}
	for _, c := range []struct{ path, body, field string }{
		{link, `{"approved":true,"arguments":{"to":"x"}}`, "arguments"},
		{link, `{"approved":true,"editedArgs":{"to":"x"}}`, "editedArgs"},
		{link, `{"approved":true,"decision":"deny"}`, "decision"},
		{link, `{"approved":true,"digest":"sha256:0"}`, "digest"},
		{link, `{"approved":true,"threadId":"t2"}`, "threadId"},
		{link, `{"approved":true,"toolCallId":"c2"}`, "toolCallId"},
		{respondPath, `{` + ids + `,"editedArgs":{"to":"x"}}`, "editedArgs"},
		{respondPath, `{` + ids + `,"decision":"deny"}`, "decision"},
		{adminRespondPath, `{` + ids + `,"editedArgs":{"to":"x"}}`, "editedArgs"},
		{adminRespondPath, `{` + ids + `,"decision":"deny"}`, "decision"},
		{answersPath, `{"answers":[{` + ids + `,"editedArgs":{"to":"x"}}]}`, "answers[0].editedArgs"},
		{aguiPath, resume(`"arguments":{"to":"x"}`), "arguments"},
		{aguiPath, resume(`"decision":"deny"`), "decision"},
		{chatPath, chat("", `"editedArgs":{"to":"x"}`), "editedArgs"},
		{chatPath, chat("", `"approved":false`), "approved"},
		{chatPath, chat("", `"decision":"deny"`), "decision"},
		{chatPath, chat("", `"digest":"sha256:0"`), "digest"},
		{chatPath, chat("", `"reason":"no"`), "reason"},
		{chatPath, chat(`,"arguments":{"to":"x"}`, ""), "arguments"},
		{chatPath, chat(`,"editedArgs":{"to":"x"}`, ""), "editedArgs"},
		{chatPath, chat(`,"decision":"deny"`, ""), "decision"},
		{chatPath, chat(`,"digest":"sha256:0"`, ""), "digest"},
		{chatPath, chat(`,"payload":{"a":1}`, ""), "payload"},
	} {
		got := b.do(t, call{
			method: http.MethodPost, path: c.path, token: tokenA, body: c.body,
			header: map[string]string{"Accept": "application/json"},
		})
		if got.status != http.StatusBadRequest ||
			!strings.Contains(got.body, c.field+" is a field of another form of answer") {
			t.Errorf("%s %s: %d %s", c.path, c.body, got.status, got.body)
		}
	}
	for _, field := range []string{"approved", "arguments", "editedArgs"} {
		if got := b.posts(t, link, url.Values{"decision": {"approve"}, field: {"x"}}); got.status != http.StatusBadRequest {
			t.Errorf("a form with %s: %d %s", field, got.status, got.body)
		}
	}
	if _, page := b.inbox(t, tokenA, "?threadId=t1"); len(page.Questions) != 1 {
		t.Fatal("the question has an answer")
	}
	got := b.do(t, call{
		method: http.MethodPost, path: link, body: `{"approved":true,"later":1}`,
		header: map[string]string{"Accept": "application/json"},
	})
	if got.status != http.StatusOK {
		t.Errorf("an unknown field: %d %s", got.status, got.body)
	}
	if record := b.as(
		t, tokenA, http.MethodGet, recordPath+"?threadId=t1", "",
	).body; !strings.Contains(record, `"answeredBy":"cleo","via":"link","viaBy":"anna"`) {
		t.Errorf("the record: %s", record)
	}
}

// A link is listed and revoked by its maker and by an admin, and seen by nobody else.
func TestInboxLinks(t *testing.T) {
	t.Parallel()

	const approver = "approver-token-of-a"
	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{
			Token: approver,
			Principal: access.Principal{
				Tenant: "a", Subject: "otto", Scopes: []access.Scope{access.ScopeRead, access.ScopeApprove},
			},
		},
		{
			Token: secondA,
			Principal: access.Principal{
				Tenant: "a", Subject: "rita", Scopes: []access.Scope{access.ScopeRead, access.ScopeApprove},
			},
		},
		{Token: tokenB, Principal: access.Principal{Tenant: "b", Subject: "otto", Scopes: access.AllScopes()}},
		{
			Token: readOnlyA,
			Principal: access.Principal{
				Tenant: "a", Subject: "sue", Scopes: []access.Scope{access.ScopeApprove}, Until: time.Now().Add(2 * time.Minute),
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{
		Authenticator:   auth,
		StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))},
		LinkApprovers:   []string{"cleo", "*@example.com"},
	})
	b.work(t)
	b.asks(t, tokenA, "t1")
	links := []string{
		b.link(t, approver, "t1", "cleo"), b.link(t, approver, "t1", "ann@example.com"), b.link(t, tokenA, "t1", "cleo"),
	}
	listed := func(token, query string) []wire.QuestionLink {
		return into[struct{ Links []wire.QuestionLink }](t, b.as(t, token, http.MethodGet, linksPath+query, "")).Links
	}
	own, all := listed(approver, ""), listed(tokenA, "")
	if len(own) == 2 {
		if page := listed(approver, "?limit=1&after="+string(own[0].ID)); len(page) != 1 || page[0].ID != own[1].ID {
			t.Errorf("the next page: %+v", page)
		}
	}
	// ids have milliseconds
	slices.SortFunc(own, func(a, b wire.QuestionLink) int { return a.CreatedAt.Compare(b.CreatedAt) })
	if len(own) != 2 || own[0].Approver != "cleo" || own[0].MadeBy != "otto" || own[0].ThreadID != "t1" ||
		own[0].CreatedAt.IsZero() || own[1].Approver != "ann@example.com" || len(all) != 3 {
		t.Fatalf("the maker's %+v\nthe admin's %+v", own, all)
	}
	if len(listed(secondA, "")) > 0 || len(listed(tokenB, "")) > 0 {
		t.Error("somebody else has links")
	}
	revoke := func(token string, link wire.QuestionLink) int {
		return b.as(t, token, http.MethodDelete, linksPath+"?linkId="+string(link.ID), "").status
	}
	for _, token := range []string{secondA, tokenB} {
		if got := revoke(token, own[0]); got != http.StatusNotFound {
			t.Errorf("%s revokes: %d", token, got)
		}
	}
	for i, token := range []string{approver, tokenA} {
		if got := b.shows(t, links[i], "text/html"); got.status != http.StatusOK {
			t.Fatalf("before: %d %s", got.status, got.body)
		}
		if got := revoke(token, own[i]); got != http.StatusOK {
			t.Errorf("%s revokes: %d", token, got)
		}
		if got := b.posts(t, links[i], url.Values{"decision": {"approve"}}); got.status != http.StatusGone ||
			saysWhat(got.body) {
			t.Errorf("a revoked link: %d %s", got.status, got.body)
		}
		if got := revoke(token, own[i]); got != http.StatusNotFound {
			t.Errorf("%s revokes again: %d", token, got)
		}
	}
	q := b.question(t, tokenA, "t1")
	for approver, want := range map[string]int{
		"cleo": 200, "bob@example.com": 200, "@example.com": 403, "eve": 403, "bob@example.com.evil": 403,
		"*@example.com": 200,
	} {
		got := b.as(t, tokenA, http.MethodPost, linksPath,
			fmt.Sprintf(`{"threadId":"t1","toolCallId":%q,"approver":%q}`, q.ToolCallID, approver))
		if got.status != want {
			t.Errorf("for %s: %d %s", approver, got.status, got.body)
		}
	}

	// A link ends with the credentials that made it: when they end, and when the token of its maker is gone.
	short := into[linkAnswer](t, b.as(t, readOnlyA, http.MethodPost, linksPath,
		fmt.Sprintf(`{"threadId":"t1","toolCallId":%q,"approver":"cleo"}`, q.ToolCallID)))
	if left := time.Until(short.ExpiresAt); left > 2*time.Minute || left < time.Minute {
		t.Errorf("a link of credentials that end lasts %s", left)
	}
	last := b.link(t, approver, "t1", "cleo")
	err = auth.Replace([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.posts(t, last, url.Values{"decision": {"approve"}}); got.status != http.StatusGone || saysWhat(got.body) {
		t.Errorf("the link of a token that is gone: %d %s", got.status, got.body)
	}
	if got := b.posts(t, links[2], url.Values{"decision": {"approve"}}); got.status != http.StatusOK {
		t.Errorf("the link of a token that stays: %d %s", got.status, got.body)
	}
}
