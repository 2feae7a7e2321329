package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

var missedAt = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// absence is a server whose thread t1 a client has seen with the run r1 under way. Then the client was away. It is for
// bubbles of testing/synctest.
type absence struct {
	// connections have the events of the streams. A further one brings nothing.
	connections []string
	// history answers the requests for snapshots behind the first one. The last answer stays. Nil: the server fails.
	history [][]wire.Run

	mu sync.Mutex
	// asked are the limits of the requests for snapshots, and at is when they came.
	asked []string
	at    []time.Time
}

// RoundTrip implements [http.RoundTripper].
func (a *absence) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	res := fails(http.StatusServiceUnavailable, spool.Unavailable)
	if strings.HasSuffix(r.URL.Path, "/stream") {
		var events string
		if len(a.connections) > 0 {
			events, a.connections = a.connections[0], a.connections[1:]
		}
		res = stalls(r, events)
	} else {
		runs := []wire.Run{missedRun("r1", wire.Running)}
		if len(a.asked) > 0 {
			runs = a.history[0]
			a.history = a.history[min(1, len(a.history)-1):]
		}
		if runs != nil {
			s := wire.Snapshot{Thread: wire.Thread{ID: "t1", State: wire.Running}, Runs: runs}
			text, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			res = says(http.StatusOK, "application/json", string(text))
		}
		a.asked, a.at = append(a.asked, r.URL.Query().Get("limit")), append(a.at, time.Now())
	}
	return &http.Response{StatusCode: res.Status, Header: res.Header, Body: res.Body, Request: r}, nil
}

// missedRun returns a run as a snapshot has it.
func missedRun(id spool.RunID, state wire.State) wire.Run {
	r := wire.Run{ID: id, ThreadID: "t1", Agent: "a", Model: "m", State: state, StartedAt: missedAt}
	if state.Terminal() {
		r.EndedAt, r.TotalTokens = missedAt, 7
	}
	return r
}

func nestedRun(id, parent spool.RunID, state wire.State) wire.Run {
	r := missedRun(id, state)
	r.ParentID, r.Depth = parent, 1
	return r
}

func undated(r wire.Run) wire.Run {
	r.EndedAt = time.Time{}
	return r
}

// has returns the event of a record entry about a run.
func has(seq int, kind wire.EntryType, run, more string) string {
	return fmt.Sprintf("id: %d - -\ndata: {\"kind\":\"thread\",\"event\":{\"threadId\":\"t1\",\"seq\":%d,\"runId\":%q,\"type\":%q,"+
		"\"createdAt\":\"2026-11-21T09:40:00Z\",\"payload\":{\"runId\":%q,\"streamId\":\"%s:1\",\"segment\":1%s}}}\n\n",
		seq, seq, run, kind, run, run, more)
}

// present returns the event that says which run has the thread.
func present(run string, more string) string {
	return notice(wire.NoticeStateChange, fmt.Sprintf(`{"state":"RUNNING","runId":%q%s}`, run, more))
}

// shownRuns returns what a view shows of its runs.
func shownRuns(v *view.Thread) (lines []string) {
	for _, r := range v.Runs() {
		line := fmt.Sprintf("%s %s %d", r.ID, r.State, r.TotalTokens)
		if r.EndedAt.Equal(missedAt) {
			line += " timed"
		}
		lines = append(lines, line)
	}
	return lines
}

// A client that comes back learns how the runs have ended that went on without it, although no frame says so. It asks
// once, a second later, and does not ask for what it knows.
func TestWatchMissedRuns(t *testing.T) {
	t.Parallel()

	finished := `,"status":"finished"`
	for name, c := range map[string]struct {
		connections []string
		history     [][]wire.Run
		want        []string
		asked       int
	}{
		"Lost": {
			[]string{present("r9", "") + has(1, wire.EntryRunEnded, "r1", `,"status":"lost"`)},
			[][]wire.Run{{missedRun("r9", wire.Running), missedRun("r1", wire.Failed)}},
			[]string{"r9 RUNNING 0", "r1 FAILED 7 timed"},
			1,
		},
		"WaitedForAnotherAttempt": {
			[]string{
				present("r9", "") + has(1, wire.EntryRunEnded, "r1", `,"status":"error","error":"overloaded","retryAfterMs":2000`),
			},
			[][]wire.Run{{missedRun("r9", wire.Running), missedRun("r1", wire.Cancelled)}},
			[]string{"r9 RUNNING 0", "r1 CANCELLED 7 timed"},
			1,
		},
		"CameAndWent": {
			[]string{present("r9", `,"enqueuedAt":"2026-11-21T09:50:00Z"`) + has(1, wire.EntryRunEnded, "r1", finished) +
				has(2, wire.EntryRunStarted, "r3", "") +
				has(3, wire.EntryRunEnded, "r3", finished)},
			[][]wire.Run{{missedRun("r9", wire.Running), missedRun("r3", wire.Completed), missedRun("r1", wire.Completed)}},
			[]string{"r9 RUNNING 0", "r3 COMPLETED 7 timed", "r1 COMPLETED 7 timed"},
			1,
		},
		"Nested": {
			[]string{"id: 0 r1:1 1-1\ndata: {\"kind\":\"stream\",\"streamId\":\"r1:1\",\"item\":{\"offset\":\"1-1\",\"type\":\"SUBAGENT_STARTED\"," +
				"\"subagentId\":\"n1\",\"name\":\"clerk\",\"depth\":1,\"parentRunId\":\"r1\"}}\n\n" +
				notice(wire.NoticeStateChange, `{"state":"FAILED","runId":"r1","endedAt":"2026-11-21T09:30:00Z"}`)},
			[][]wire.Run{{missedRun("r1", wire.Failed), nestedRun("n1", "r1", wire.Completed)}},
			[]string{"n1 COMPLETED 7 timed", "r1 FAILED 0 timed"},
			1,
		},
		"ServerFails": {
			[]string{present("r9", "") + has(1, wire.EntryRunEnded, "r1", `,"status":"lost"`)},
			[][]wire.Run{nil, nil, {missedRun("r1", wire.Failed)}},
			[]string{"r9 RUNNING 0", "r1 FAILED 7 timed"},
			3,
		},
		"ServerDoesNotKnow": {
			[]string{
				present("r9", "") + has(1, wire.EntryRunEnded, "r1", `,"status":"lost"`),
				has(2, wire.EntryMessagesDropped, "r9", ""),
			},
			[][]wire.Run{{missedRun("r9", wire.Running)}},
			[]string{"r9 RUNNING 0", "r1 RUNNING 0"},
			1,
		},
		"NoTimes": {
			[]string{
				present("r9", "") + has(1, wire.EntryRunEnded, "r1", finished),
				present("r10", "") + has(2, wire.EntryRunEnded, "r9", finished),
			},
			[][]wire.Run{{undated(missedRun("r1", wire.Completed))}},
			[]string{"r10 RUNNING 0", "r9 COMPLETED 0", "r1 COMPLETED 7"},
			1,
		},
		"NothingMissed": {
			[]string{present("r1", `,"queue":[{"runId":"q1","position":1,"whenBusy":"enqueue"}]`) +
				notice(wire.NoticeStateChange, `{"state":"COMPLETED","runId":"r1","endedAt":"2026-11-21T09:30:00Z"}`) +
				has(1, wire.EntryRunEnded, "r1", finished) + present("q1", "")},
			nil,
			[]string{"q1 RUNNING 0", "r1 COMPLETED 0 timed"},
			0,
		},
		"ToldInTime": {
			[]string{present("r9", "") + present("r1", "")},
			[][]wire.Run{{missedRun("r9", wire.Completed)}},
			[]string{"r9 COMPLETED 7 timed", "r1 RUNNING 0"},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				a := &absence{connections: c.connections, history: c.history}
				watched, err := client.New("http://spool.test", client.Options{HTTPClient: &http.Client{Transport: a}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				began := time.Now()
				var runs []string
				var changed time.Duration
				for v, err := range watched.Watch(ctx, "t1", client.WatchOptions{}) {
					if err != nil && spool.CodeOf(err) != spool.Canceled {
						t.Fatal(err)
					}
					now := shownRuns(v)
					if cmp.Diff(runs, now) != "" && changed < time.Second {
						changed = time.Since(began)
					}
					runs = now
				}
				if diff := cmp.Diff(c.want, runs); diff != "" {
					t.Errorf("runs (-want +got):\n%s", diff)
				}
				if got := a.asked[1:]; len(got) != c.asked {
					t.Fatalf("asked %d times, want %d", len(got), c.asked)
				}
				if c.asked > 0 && (a.asked[1] != "1" || a.at[1].Sub(a.at[0]) != time.Second) {
					t.Errorf("asked for %s messages after %s", a.asked[1], a.at[1].Sub(a.at[0]))
				}
				if told := strings.Contains(strings.Join(c.want, ""), " 7"); told && changed < time.Second {
					t.Errorf("what was told was shown after %s", changed)
				}
			})
		})
	}
}

// A loop that ends while a request is due, or under way, ends at once.
func TestWatchMissedEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		asked := 0
		a := &absence{connections: []string{present("r9", "")}}
		c, err := client.New("http://spool.test",
			client.Options{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/history") {
					if asked++; asked > 1 {
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
				}
				return a.RoundTrip(r)
			})}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var last error
		for _, err := range c.Watch(ctx, "t1", client.WatchOptions{}) {
			last = err
		}
		if spool.CodeOf(last) != spool.Canceled || asked != 2 || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %s and %d requests", last, time.Since(began), asked)
		}
	})
}
