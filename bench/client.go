package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// request sends a request and decodes the answer into out, which may be nil.
func request(ctx context.Context, method, url string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, url, answer.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// start starts a run. For an empty thread, it starts the run on a new thread. It returns the thread.
func (c *child) start(thread spool.ThreadID, prompt string) (spool.ThreadID, error) {
	var result struct {
		ThreadID spool.ThreadID `json:"threadId"`
	}
	request := map[string]any{"prompt": prompt}
	if thread != "" {
		request["threadId"] = thread
	}
	err := c.post("/api/agent/run", request, &result)
	return result.ThreadID, err
}

// finished starts a run on a new thread and waits for its end.
func (c *child) finished() (spool.ThreadID, error) {
	thread, err := c.start("", "hello")
	if err != nil {
		return "", err
	}
	e, err := c.follow("/api/agent/stream?threadId=" + string(thread))
	if err != nil {
		return "", err
	}
	defer e.close()
	return thread, e.until(`"state":"COMPLETED"`)
}

// events reads an event stream, line by line.
type events struct {
	lines  *bufio.Reader
	body   io.Closer
	cancel context.CancelFunc
}

// follow opens an event stream. The stream ends by itself if its reader waits too long.
func (c *child) follow(path string) (*events, error) { return c.followFor(path, patience) }

// followFor opens an event stream that ends by itself after some time.
func (c *child) followFor(path string, d time.Duration) (*events, error) {
	ctx, cancel := context.WithTimeout(c.ctx, d)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Public+path, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req) //nolint:bodyclose // by events.close
	if err != nil {
		cancel()
		return nil, err
	}
	e := &events{bufio.NewReaderSize(answer.Body, 64<<10), answer.Body, cancel}
	if answer.StatusCode != http.StatusOK {
		e.close()
		return nil, fmt.Errorf("GET %s: %s", path, answer.Status)
	}
	return e, nil
}

// data returns the next data line, without its name.
func (e *events) data() (string, error) {
	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			return "", err
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return data, nil
		}
	}
}

// until reads events until one contains all the texts.
func (e *events) until(texts ...string) error {
	for {
		data, err := e.data()
		if err != nil {
			return fmt.Errorf("wait for %s: %w", texts, err)
		}
		if containsAll(data, texts) {
			return nil
		}
	}
}

func containsAll(s string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(s, text) {
			return false
		}
	}
	return true
}

func (e *events) close() {
	_ = e.body.Close()
	e.cancel()
}
