package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/internal/sse"
)

// maxRequest bounds a request about a task. Two of them fit into a look of the engine.
const maxRequest = 45 * time.Second

// The codes with which a server says that it does not have a task, or the method.
const (
	codeNoMethod      = -32601
	codeInvalidParams = -32602
)

// rpcError is the error of JSON-RPC that a server answers with.
type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("the server answered with error %d: %s", e.Code, cut(e.Message, maxErrorText))
}

// request sends a request that the SDK does not know, and returns its result. In the present revision each request
// stands for itself, so it needs no connection of the SDK. The name is for the header Mcp-Name. The error is an
// [rpcError] if the server answered with one.
func (s *Server) request(ctx context.Context, method, name string, params map[string]any) (json.RawMessage, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	ctx, cancel := context.WithTimeout(ctx, min(s.config.Timeout, maxRequest))
	defer cancel()
	offered := capabilities(true) // its own JSON would have roots
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": revision,
		"io.modelcontextprotocol/clientInfo":      map[string]string{"name": clientName, "version": clientVersion},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{
			"elicitation": offered.Elicitation, "extensions": offered.Extensions,
		},
	}
	id := s.requests.Add(1)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", revision)
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", headerValue(name))
	response, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return readAnswer(response, id)
}

// readAnswer reads the result of the request with an id.
func readAnswer(response *http.Response, id int64) (json.RawMessage, error) {
	type message struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	own := strconv.FormatInt(id, 10)
	var m message
	switch kind {
	case "application/json": // the round tripper has bounded it
		if err := json.NewDecoder(response.Body).Decode(&m); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
	case "text/event-stream":
		events := sse.NewReader(response.Body, maxMessage)
		for string(m.ID) != own || m.Result == nil && m.Error == nil {
			event, err := events.Next()
			if err != nil {
				return nil, fmt.Errorf("read the answer: %w", err)
			}
			m = message{}
			if err := json.Unmarshal([]byte(event.Data), &m); err != nil {
				return nil, fmt.Errorf("read the answer: %w", err)
			}
		}
	default:
		return nil, fmt.Errorf("the answer has the type %q", cut(kind, 100))
	}
	switch {
	case m.Error != nil: // which may have no id
		return nil, m.Error
	case string(m.ID) != own || m.Result == nil:
		return nil, errors.New("the answer belongs to another request")
	default:
		return m.Result, nil
	}
}

// headerValue returns a text as a header has it: in base64 if it is not plain ASCII, or looks like base64.
func headerValue(text string) string {
	const before, after = "=?base64?", "?="
	plain := strings.Trim(text, " \t") == text &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	if plain && (!strings.HasPrefix(text, before) || !strings.HasSuffix(text, after)) {
		return text
	}
	return before + base64.StdEncoding.EncodeToString([]byte(text)) + after
}
