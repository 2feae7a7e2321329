package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/tool/mcp"
)

// works is a call of the tool of a server whose tools work in tasks.
type works struct {
	*fake.Server

	t    *testing.T
	url  string
	tool spool.Tool
	call spool.ToolCall
}

// newWorks opens a server. At the end it must have got only requests that the protocol allows.
func newWorks(t *testing.T, server *fake.Server, change ...func(*mcp.Config)) *works {
	t.Helper()

	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	w := &works{Server: server, t: t, url: at.URL}
	w.move(change...)
	w.call = spool.ToolCall{RunID: "r1", Step: 1, ID: "c1", Name: w.tool.Name, Args: json.RawMessage(`{"year":2025}`)}
	t.Cleanup(func() {
		if wrong := server.Wrong(); len(wrong) > 0 {
			t.Errorf("the protocol does not allow %q", wrong)
		}
	})
	return w
}

// move lets another process go on.
func (w *works) move(change ...func(*mcp.Config)) {
	w.t.Helper()
	w.tool = tools(w.t, client(w.t, w.url, change...), mcp.Selection{})[fake.Tool]
}

// do calls the tool. If the call is pending, it keeps the state.
func (w *works) do() (string, error) {
	result, err := w.tool.Call(w.t.Context(), w.call)
	if still, ok := errors.AsType[*spool.PendingError](err); ok {
		w.call.Pending, w.call.Answer, w.call.Resume = still.State, nil, nil
	}
	return string(result), err
}

// look looks as the engine does between segments.
func (w *works) look() (string, error) {
	w.call.Looking = true
	defer func() { w.call.Looking = false }()
	return w.do()
}

// still calls fn and returns the error of a call that is pending.
func (w *works) still(fn func() (string, error)) *spool.PendingError {
	w.t.Helper()
	result, err := fn()
	still, ok := errors.AsType[*spool.PendingError](err)
	if !ok {
		w.t.Fatalf("the call is not pending: %s, %v", result, err)
	}
	return still
}

// waits calls fn, whose call must be pending.
func (w *works) waits(fn func() (string, error)) {
	w.t.Helper()
	_ = w.still(fn)
}

// begin begins the work.
func (w *works) begin() *fake.Task {
	w.t.Helper()
	w.waits(w.do)
	tasks := w.Tasks()
	return tasks[len(tasks)-1]
}

// asks returns the question of the call.
func (w *works) asks() *spool.ParkRequest {
	w.t.Helper()
	if result, err := w.look(); spool.CodeOf(err) == "" && result != "" {
		w.t.Errorf("a look has %s, %v", result, err)
	}
	_, err := w.do()
	park, ok := errors.AsType[*spool.ParkRequest](err)
	if !ok {
		w.t.Fatalf("the call does not ask: %v", err)
	}
	return park
}

// answers lets a person answer, on another process.
func (w *works) answers(park *spool.ParkRequest, answer *spool.Answer) {
	w.move()
	w.call.Resume, w.call.Answer = park.Resume, answer
}

func accept(payload string) *spool.Answer {
	return &spool.Answer{Approved: true, Payload: json.RawMessage(payload)}
}

// unknown checks that the outcome of the call is unknown.
func (w *works) unknown(fn func() (string, error), want string) {
	w.t.Helper()
	result, err := fn()
	if _, ok := errors.AsType[*spool.OutcomeUnknownError](err); !ok || !strings.Contains(err.Error(), want) {
		w.t.Errorf("got %s, %v, want an unknown outcome: %s", result, err, want)
	}
}

// fails checks that the call has failed.
func (w *works) fails(want string) {
	w.t.Helper()
	for range 2 { // a look, and the call for the result
		result, err := w.do()
		if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			w.t.Errorf("got %s, %v, want %s", result, err, want)
		}
	}
}

func TestTask(t *testing.T) {
	t.Parallel()

	for name, events := range map[string]bool{"JSON": false, "Events": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorks(t, &fake.Server{Events: events, Begin: func(task *fake.Task) {
				task.Last(3_600_000, 2000)
				task.Works("begun")
			}})
			if still := w.still(w.do); still.After != 2*time.Second || still.Note != "begun" {
				t.Errorf("the call is pending for %s: %s", still.After, still.Note)
			}
			task := w.Tasks()[0]
			task.Works("half")
			w.move()
			if still := w.still(w.look); still.After != 2*time.Second || still.Note != "half" {
				t.Errorf("the call is pending for %s: %s", still.After, still.Note)
			}
			task.Complete(fake.Said("all is well"))
			if result, err := w.look(); result != "" || err != nil {
				t.Errorf("a look has %s, %v", result, err)
			}
			if result, err := w.do(); result != `"all is well"` || err != nil {
				t.Errorf("got %s, %v", result, err)
			}
			if w.Started() != 1 || task.Looks() != 3 || task.Cancels() != 0 || string(task.Args) != `{"year":2025}` {
				t.Errorf("%d starts, %d looks, arguments %s", w.Started(), task.Looks(), task.Args)
			}
		})
	}
}

// The task's id is for a header, too.
func TestTaskID(t *testing.T) {
	t.Parallel()

	for _, id := range []string{"täsk 1", " x", "=?base64?eA==?=", "a\nb"} {
		w := newWorks(t, &fake.Server{Begin: func(task *fake.Task) { task.ID = id }})
		w.begin().Complete(fake.Said("found"))
		if result, err := w.do(); result != `"found"` || err != nil {
			t.Errorf("%q: %s, %v", id, result, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 2000)} {
		w := newWorks(t, &fake.Server{Begin: func(task *fake.Task) { task.ID = id }})
		w.unknown(w.do, "a task that cannot be read")
	}
}

func TestTaskEnds(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		end  func(*fake.Task)
		want string
	}{
		"Fails": {
			func(task *fake.Task) { task.Fail(-32603, "no paper") }, "MCP server shop: its task failed: no paper",
		},
		"FailsSecret": {
			func(task *fake.Task) { task.Fail(-32603, "the key is sesame-street") },
			"MCP server shop: its task failed: the key is [redacted]",
		},
		"FailsLong": {
			func(task *fake.Task) { task.Fail(-32603, strings.Repeat("x", 9000)) },
			"MCP server shop: its task failed: " + strings.Repeat("x", 2000),
		},
		"Cancelled": {
			func(task *fake.Task) { task.Cancel("the shop closes") }, "MCP server shop: its task was cancelled: the shop closes",
		},
		"Silently": {func(task *fake.Task) { task.Cancel("") }, "MCP server shop: its task was cancelled"},
		"Error": {func(task *fake.Task) {
			task.Complete(map[string]any{
				"isError": true, "content": []any{map[string]any{"type": "text", "text": "no such year"}},
			})
		}, "no such year"},
		"NoResult": {
			func(task *fake.Task) { task.Complete(nil) }, "MCP server shop: its task ended with a result that cannot be read",
		},
		"Garbage": {
			func(task *fake.Task) { task.Complete("yes") }, "MCP server shop: its task ended with a result that cannot be read",
		},
		"Asks": {
			func(task *fake.Task) { task.Complete(map[string]any{"resultType": "input_required"}) },
			"MCP server shop: its task ended with a result that cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorks(t, &fake.Server{}, func(c *mcp.Config) {
				c.Headers = map[string]string{"Authorization": "Bearer sesame-street"}
			})
			c.end(w.begin())
			w.fails(c.want)
		})
	}
}

func TestTaskQuestion(t *testing.T) {
	t.Parallel()

	w := newWorks(t, &fake.Server{})
	task := w.begin()
	w.waits(w.look)
	task.Ask("q1", "reason", 2)
	park := w.asks()
	shown, err := json.Marshal(park.Payload)
	if err != nil || string(shown) != `{"server":"shop","tool":"audit","mode":"form","message":"Which reason?"}` ||
		park.Reason != mcp.ParkElicitation {
		t.Errorf("shown: %s, %v", shown, err)
	}
	if !strings.Contains(string(park.Schema), `"reason"`) {
		t.Errorf("the schema is %s", park.Schema)
	}
	w.answers(park, accept(`{"reason":"rain"}`))
	w.waits(w.do)
	w.waits(w.look) // the server still asks
	w.waits(w.look)
	task.Ask("q2", "colour", 0)
	w.answers(w.asks(), &spool.Answer{})
	w.waits(w.do)
	task.Ask("q3", "day", 0)
	w.answers(w.asks(), nil) // nobody has answered in time
	w.waits(w.do)
	task.Complete(fake.Said("audited"))
	if result, err := w.do(); result != `"audited"` || err != nil {
		t.Errorf("got %s, %v", result, err)
	}
	got, err := json.Marshal(task.Answers())
	want := `{"q1":{"action":"accept","content":{"reason":"rain"}},"q2":{"action":"decline"},"q3":{"action":"cancel"}}`
	if err != nil || string(got) != want || w.Started() != 1 {
		t.Errorf("the answers are %s, %v, after %d starts", got, err, w.Started())
	}
}

// An answer that breaks, or that the server refuses, is sent again as long as the server asks, also by another process
// that knows only what was stored before. Nobody is asked again, and the task gets one answer.
func TestTaskAnswerBreaks(t *testing.T) {
	t.Parallel()

	for name, set := range map[string]func(s *fake.Server, first func(method string) bool){
		"Request": func(s *fake.Server, first func(string) bool) {
			s.Before = func(m string) bool { return !first(m) }
		},
		"Acknowledgement": func(s *fake.Server, first func(string) bool) {
			s.After = func(m string) bool { return !first(m) }
		},
		"AcknowledgementOnce": func(s *fake.Server, first func(string) bool) {
			s.Once, s.After = true, func(m string) bool { return !first(m) }
		},
		"Busy": func(s *fake.Server, first func(string) bool) {
			s.Status = func(m string) int { return map[bool]int{true: http.StatusServiceUnavailable}[first(m)] }
		},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "Killed"}[killed], func(t *testing.T) {
				t.Parallel()

				var updates atomic.Int64
				server := &fake.Server{}
				set(server, func(method string) bool { return method == "tasks/update" && updates.Add(1) == 1 })
				w := newWorks(t, server)
				task := w.begin()
				task.Ask("q1", "reason", 2)
				w.answers(w.asks(), accept(`{"reason":"rain"}`))
				before := w.call
				w.waits(w.do)
				if killed {
					w.call = before
					w.waits(w.do)
				}
				w.move()
				for range 3 {
					w.waits(w.look)
				}
				task.Complete(fake.Said("audited"))
				if result, err := w.do(); result != `"audited"` || err != nil || len(task.Answers()) != 1 || updates.Load() > 3 {
					t.Errorf("got %s, %v, answers %s in %d requests", result, err, task.Answers(), updates.Load())
				}
			})
		}
	}
}

// A server takes an answer and does not acknowledge it in time.
func TestTaskAnswerTimeout(t *testing.T) {
	t.Parallel()

	var updates atomic.Int64
	gate := make(chan struct{})
	w := newWorks(t, &fake.Server{After: func(method string) bool {
		if method == "tasks/update" && updates.Add(1) == 1 {
			<-gate
		}
		return true
	}})
	defer close(gate)
	task := w.begin()
	task.Ask("q1", "reason", 2)
	w.answers(w.asks(), accept(`{"reason":"rain"}`))
	w.move(func(c *mcp.Config) { c.Timeout = time.Second })
	w.waits(w.do)
	w.move()
	w.waits(w.look)
	task.Complete(fake.Said("audited"))
	if result, err := w.do(); result != `"audited"` || err != nil || len(task.Answers()) != 1 {
		t.Errorf("got %s, %v, answers %s", result, err, task.Answers())
	}
}

// The server withdraws a question between the look and the answer. The call goes on.
func TestTaskAnswerLate(t *testing.T) {
	t.Parallel()

	var asking atomic.Pointer[fake.Task]
	w := newWorks(t, &fake.Server{Before: func(method string) bool {
		if task := asking.Load(); method == "tasks/update" {
			task.Withdraw("q1")
			task.Works("on")
		}
		return true
	}})
	task := w.begin()
	asking.Store(task)
	task.Ask("q1", "reason", 0)
	w.answers(w.asks(), accept(`{"reason":"rain"}`))
	w.waits(w.do)
	w.waits(w.look)
	task.Complete(fake.Said("audited"))
	if result, err := w.do(); result != `"audited"` || err != nil || len(task.Answers()) != 0 {
		t.Errorf("got %s, %v, answers %s", result, err, task.Answers())
	}
}

// A server that asks on and refuses each answer loses the call: a person decides. Only the call cancels the task.
func TestTaskAnswerRefused(t *testing.T) {
	t.Parallel()

	var updates atomic.Int64
	w := newWorks(t, &fake.Server{
		Once: true, After: func(method string) bool { return method != "tasks/update" || updates.Add(1) > 1 },
	})
	task := w.begin()
	task.Ask("q1", "reason", 99)
	w.answers(w.asks(), accept(`{"reason":"rain"}`))
	for range 5 {
		w.waits(w.do)
	}
	w.unknown(w.look, "does not take the answer to its question: the answer is there")
	if task.Cancels() != 0 {
		t.Error("a look has cancelled the task")
	}
	w.unknown(w.do, "does not take the answer to its question: the answer is there")
	if task.Cancels() != 1 {
		t.Errorf("cancelled %d times", task.Cancels())
	}
}

// An answer breaks, and the server then asks another question instead. The answer is not sent for that one.
func TestTaskWithdrawn(t *testing.T) {
	t.Parallel()

	var updates atomic.Int64
	w := newWorks(t, &fake.Server{
		Before: func(method string) bool { return method != "tasks/update" || updates.Add(1) > 1 },
	})
	task := w.begin()
	task.Ask("q1", "reason", 0)
	w.answers(w.asks(), accept(`{"reason":"rain"}`))
	w.waits(w.do)
	task.Withdraw("q1")
	task.Ask("q2", "colour", 0)
	w.waits(w.look)
	w.answers(w.asks(), accept(`{"colour":"red"}`))
	w.waits(w.do)
	if got := task.Answers(); len(got) != 1 || string(got["q2"]) != `{"action":"accept","content":{"colour":"red"}}` {
		t.Errorf("the answers are %s", got)
	}
}

// Requests about tasks obey the egress policy and have the headers, and what a server repeats of them is not shown.
func TestTaskRequests(t *testing.T) {
	t.Parallel()

	server := &fake.Server{Begin: func(task *fake.Task) { task.Works("the key is sesame-street") }}
	keyless := new(atomic.Int64)
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame-street" {
			keyless.Add(1)
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(at.Close)
	key := func(c *mcp.Config) { c.Headers = map[string]string{"Authorization": "Bearer sesame-street"} }
	w := &works{Server: server, t: t, url: at.URL}
	w.move(key)
	w.call = spool.ToolCall{RunID: "r1", Step: 1, ID: "c1", Args: json.RawMessage(`{"year":2025}`)}
	for _, fn := range []func() (string, error){w.do, w.look} {
		if still := w.still(fn); still.Note != "the key is [redacted]" {
			t.Errorf("the note is %q", still.Note)
		}
	}
	list := must(json.Marshal(must(client(t, at.URL, key).List(t.Context()))))
	refused := client(t, at.URL, key, func(c *mcp.Config) { c.Egress = egress.Policy{} })
	w.tool = must(must(refused.Tools(mcp.Selection{})).Tools(list))[0]
	looks := server.Tasks()[0].Looks()
	if still := w.still(w.look); server.Tasks()[0].Looks() != looks || !strings.Contains(still.Note, "cannot be asked") {
		t.Errorf("the policy was not obeyed: %s", still.Note)
	}
	if keyless.Load() != 0 || len(server.Wrong()) > 0 {
		t.Errorf("%d requests without the header, wrong are %q", keyless.Load(), server.Wrong())
	}
	_ = refused.Close()
	if still := w.still(w.look); !strings.Contains(still.Note, "cannot be asked") {
		t.Errorf("a closed client: %s", still.Note)
	}
}

// Requests about tasks have access tokens, and a new one when the server refuses the old one.
func TestTaskTokens(t *testing.T) {
	t.Parallel()

	server := &fake.Server{}
	g := guard(t, stateless)
	g.before = func(w http.ResponseWriter, r *http.Request) bool {
		server.ServeHTTP(w, r)
		return true
	}
	w := &works{Server: server, t: t, url: g.url, tool: tools(t, g.client(t), mcp.Selection{})[fake.Tool]}
	w.call = spool.ToolCall{RunID: "r1", Step: 1, ID: "c1", Args: json.RawMessage(`{"year":2025}`)}
	task := w.begin()
	w.waits(w.look)
	g.checkIssued(t, 1)
	g.issuer.Revoke()
	task.Complete(fake.Said("audited"))
	if result, err := w.do(); result != `"audited"` || err != nil {
		t.Errorf("got %s, %v", result, err)
	}
	g.checkIssued(t, 2)
}

// A question that no person can answer ends the call, and its task is cancelled.
func TestTaskBadQuestion(t *testing.T) {
	t.Parallel()

	for name, method := range map[string]string{"Offered": "sampling/createMessage", "Known": "weather/get"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorks(t, &fake.Server{})
			task := w.begin()
			task.AskRaw("q1", 0, map[string]any{"method": method, "params": map[string]any{"messages": []any{}, "maxTokens": 5}})
			if _, err := w.look(); spool.CodeOf(err) != spool.Invalid || task.Cancels() != 0 {
				t.Errorf("a look: %v", err)
			}
			_, err := w.do()
			if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), "does not offer") ||
				task.Cancels() != 1 {
				t.Errorf("got %v, cancelled %d times", err, task.Cancels())
			}
		})
	}
}

func TestTaskGone(t *testing.T) {
	t.Parallel()

	w := newWorks(t, &fake.Server{})
	w.begin()
	w.Drop()
	w.unknown(w.look, "does not have the task any more")
	w.unknown(w.do, "does not have the task any more")
	if err := w.tool.Cancel(t.Context(), w.call); err != nil {
		t.Errorf("a cancellation: %v", err)
	}
	// The operator lets calls be repeated: the model reads an error, and may call again.
	w.tool = tools(t, client(t, w.url), mcp.Selection{Idempotent: []string{fake.Tool}})[fake.Tool]
	_, err := w.do()
	if _, unknown := errors.AsType[*spool.OutcomeUnknownError](err); unknown || spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("an idempotent tool: %v", err)
	}
	if w.Started() != 1 {
		t.Errorf("%d starts", w.Started())
	}
}

// A look finds the server down. The call goes on once the server is up.
func TestTaskDown(t *testing.T) {
	t.Parallel()

	var down atomic.Bool
	w := newWorks(t, &fake.Server{
		Before: func(method string) bool { return method != "tasks/get" || !down.Load() },
		Begin:  func(task *fake.Task) { task.Last(3_600_000, 10_000) },
	})
	task := w.begin()
	down.Store(true)
	for _, seconds := range []float64{10, 20, 40, 60, 60} {
		if still := w.still(w.look); still.After.Seconds() != seconds ||
			still.Note != "MCP server shop cannot be asked how far it is" {
			t.Errorf("the call is pending for %s, want %gs: %s", still.After, seconds, still.Note)
		}
	}
	w.waits(w.do)
	down.Store(false)
	if still := w.still(w.look); still.After != 10*time.Second || still.Note != "" {
		t.Errorf("the call is pending for %s: %s", still.After, still.Note)
	}
	down.Store(true)
	if still := w.still(w.look); still.After != 10*time.Second {
		t.Errorf("the call is pending for %s after a look that did not fail", still.After)
	}
	down.Store(false)
	task.Complete(fake.Said("audited"))
	if result, err := w.do(); result != `"audited"` || err != nil || w.Started() != 1 {
		t.Errorf("got %s, %v", result, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.tool.Call(ctx, w.call); !errors.Is(err, context.Canceled) {
		t.Errorf("a shutdown: %v", err)
	}
}

// A server may drop a task when its time is over. A task that is not done by then is given up.
func TestTaskTime(t *testing.T) {
	t.Parallel()

	t.Run("Works", func(t *testing.T) {
		t.Parallel()

		w := newWorks(t, &fake.Server{})
		task := w.begin()
		w.waits(w.look)
		task.Last(0, 1000)
		w.unknown(w.look, "did not end the task within its time")
		if task.Cancels() != 0 {
			t.Error("a look has cancelled the task")
		}
		w.unknown(w.do, "did not end the task within its time")
		if task.Cancels() != 1 {
			t.Errorf("cancelled %d times", task.Cancels())
		}
	})
	t.Run("Done", func(t *testing.T) {
		t.Parallel()

		w := newWorks(t, &fake.Server{Begin: func(task *fake.Task) { task.Last(0, 1000) }})
		w.begin().Complete(fake.Said("late"))
		if result, err := w.do(); result != `"late"` || err != nil {
			t.Errorf("got %s, %v", result, err)
		}
	})
	t.Run("Down", func(t *testing.T) {
		t.Parallel()

		w := newWorks(t, &fake.Server{
			Begin:  func(task *fake.Task) { task.Last(0, 1000) },
			Before: func(method string) bool { return method != "tasks/get" },
		})
		w.begin()
		w.unknown(w.look, "whose time is over")
	})
	for name, c := range map[string]struct {
		ttl, every int64
		least      time.Duration
		most       time.Duration
	}{
		"Often":  {3_600_000, 1, spool.MinPending, spool.MinPending},
		"Seldom": {1 << 62, 1 << 62, spool.DefaultPendingTimeout, 0},
		"Hours":  {1 << 50, 36_000_000, spool.MaxPending, spool.MaxPending},
		"Short":  {60_000, 3_600_000, 25 * time.Second, 30 * time.Second},
		"Wrong":  {3_600_000, -5, spool.MinPending, spool.MinPending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorks(t, &fake.Server{Begin: func(task *fake.Task) { task.Last(c.ttl, c.every) }})
			if name == "Seldom" { // too long to count
				c.least, c.most = 5*time.Second, 5*time.Second
			}
			if still := w.still(w.do); still.After < c.least || still.After > c.most {
				t.Errorf("the call is pending for %s, want %s to %s", still.After, c.least, c.most)
			}
		})
	}
}

// A stopped run cancels its task, also if the first request breaks.
func TestTaskCancel(t *testing.T) {
	t.Parallel()

	var cancels atomic.Int64
	w := newWorks(t, &fake.Server{
		Before: func(method string) bool { return method != "tasks/cancel" || cancels.Add(1) > 1 },
	})
	task := w.begin()
	if err := w.tool.Cancel(t.Context(), w.call); err != nil || task.Cancels() != 1 {
		t.Errorf("%v, cancelled %d times", err, task.Cancels())
	}
	w.fails("MCP server shop: its task was cancelled")
}

// A task that is done when it begins is looked at soon. The call does not wait for a look, so that the id is durable.
func TestTaskAtOnce(t *testing.T) {
	t.Parallel()

	w := newWorks(t, &fake.Server{Begin: func(task *fake.Task) {
		task.Last(3_600_000, 60_000)
		task.Complete(fake.Said("done"))
	}})
	if still := w.still(w.do); still.After != spool.MinPending || w.Tasks()[0].Looks() != 0 {
		t.Errorf("the call is pending for %s", still.After)
	}
	if result, err := w.do(); result != `"done"` || err != nil {
		t.Errorf("got %s, %v", result, err)
	}
}

func TestTaskTimeout(t *testing.T) {
	t.Parallel()

	w := newWorks(t, &fake.Server{}, func(c *mcp.Config) { c.TaskTimeout = time.Hour })
	if w.tool.PendingTimeout != time.Hour {
		t.Errorf("the timeout is %s", w.tool.PendingTimeout)
	}
}

// A server that does not know the extension, or must not use it, answers in the call.
func TestTaskInCall(t *testing.T) {
	t.Parallel()

	for name, w := range map[string]*works{
		"Server":  newWorks(t, &fake.Server{InCall: true}),
		"NoTasks": newWorks(t, &fake.Server{}, func(c *mcp.Config) { c.NoTasks = true }),
	} {
		if result, err := w.do(); result != `"in the call"` || err != nil {
			t.Errorf("%s: %s, %v", name, result, err)
		}
	}
	p := newPeer()
	offered := make(chan map[string]any, 1)
	p.add("offers", nil, func(_ context.Context, r *sdk.CallToolRequest, _ text) (*sdk.CallToolResult, error) {
		offered <- r.Session.InitializeParams().Capabilities.Extensions
		return said("in the call"), nil
	})
	// A server with sessions has an older revision.
	if result, err := call(
		t, tools(t, client(t, p.serve(t, nil).URL), mcp.Selection{})["offers"], `{"text":""}`,
	); result != `"in the call"` || err != nil {
		t.Errorf("got %s, %v", result, err)
	}
	if got := <-offered; len(got) != 0 {
		t.Errorf("an older server is offered %v", got)
	}
}
