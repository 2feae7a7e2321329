package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// input is what an AG-UI client posts.
type input struct {
	ThreadID       string         `json:"threadId"`
	RunID          string         `json:"runId"`
	State          map[string]any `json:"state"`
	Messages       []message      `json:"messages"`
	Tools          []any          `json:"tools"`
	Context        []any          `json:"context"`
	ForwardedProps map[string]any `json:"forwardedProps"`
}

type message struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Content string `json:"content"`
}

// load makes clients post runs, each on its own thread, and read each run to its end.
type load struct {
	client  *http.Client
	url     string
	clients int
	next    atomic.Int64
}

func newLoad(url string, clients int) *load {
	return &load{url: url, clients: clients, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients},
	}}
}

// run does the given number of runs.
func (l *load) run(ctx context.Context, runs int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(runs))
	var clients sync.WaitGroup
	for range l.clients {
		clients.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if err := l.one(ctx); err != nil {
					cancel(err)
				}
			}
		})
	}
	clients.Wait()
	return context.Cause(ctx)
}

// one executes one run. It counts the run, and fails if a part of its stream is missing.
func (l *load) one(ctx context.Context) error {
	id := strconv.FormatInt(l.next.Add(1), 10)
	body, err := json.Marshal(input{
		ThreadID: "thread-" + id, RunID: "run-" + id, State: map[string]any{}, Tools: []any{}, Context: []any{},
		ForwardedProps: map[string]any{},
		Messages:       []message{{ID: "m-" + id, Role: "user", Content: "What is there to see at the sea?"}},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	said, result, finished := 0, false, false
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if os.Getenv("SPOOL_PEERS_SHOW") != "" {
			fmt.Fprintln(os.Stderr, line)
		}
		said += strings.Count(line, piece)
		// A client that comes late gets the result among the messages.
		result = result || strings.Contains(line, `"TOOL_CALL_RESULT"`) || strings.Contains(line, `"role":"tool"`)
		finished = finished || strings.Contains(line, `"RUN_FINISHED"`)
	}
	switch err := lines.Err(); {
	case err != nil:
		return err
	case said < deltas || !result || !finished:
		return errors.Join(fmt.Errorf("run %s told %d deltas, result: %t, finished: %t", id, said, result, finished))
	}
	return nil
}
