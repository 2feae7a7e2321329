package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/mcp"
)

// TestLease has the worker lose its lease before a call is sent. The server does not get the call.
func TestLease(t *testing.T) {
	t.Parallel()

	lapsed := errors.New("the lease has lapsed")
	p := newPeer()
	for name, s := range map[string]*mcp.Server{"HTTP": client(t, p.serve(t, stateless).URL), "child": child(t)} {
		echo := tools(t, s, mcp.Selection{})["echo"]
		for good := range int32(2) { // a child has no connection that is checked once more
			if name == "child" && good > 0 {
				continue
			}
			var asked atomic.Int32
			_, err := echo.Call(t.Context(), spool.ToolCall{Args: json.RawMessage(`{"text":"a"}`), LeaseFunc: func(context.Context) error {
				if asked.Add(1) > good {
					return lapsed
				}
				return nil
			}})
			if !errors.Is(err, lapsed) {
				t.Errorf("%s, good %d times: %v", name, good, err)
			}
		}
		if got, err := echo.Call(t.Context(), spool.ToolCall{Args: json.RawMessage(`{"text":"b"}`), Fence: 7}); err != nil || string(got) != `"b"` {
			t.Errorf("%s: the next call: %s, %v", name, got, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fences) != 1 || p.fences[0] != 7 {
		t.Errorf("the server got calls with the fences %v", p.fences)
	}
}
