package mcp_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/tool/mcp"
)

// TestPagesOfSession has a server make new cursors for each list. The SDK keeps every page for the life of a
// session, so sessions end. A call under way keeps its own.
func TestPagesOfSession(t *testing.T) {
	t.Parallel()

	p := newPeer()
	began, finish := make(chan bool, 1), make(chan bool)
	p.add("wait", nil, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
		began <- true
		<-finish
		return said("waited"), nil
	})
	p.server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			p.count(method)
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			return &sdk.ListToolsResult{
				Tools:      []*sdk.Tool{{Name: "wait", InputSchema: map[string]any{"type": "object"}}},
				NextCursor: fmt.Sprint("page", p.counted(method)),
			}, nil
		}
	})
	s := client(t, p.serve(t, stateless).URL)
	wait := tools(t, s, mcp.Selection{})["wait"]
	answer := make(chan string, 1)
	go func() {
		got, err := call(t, wait, `{"text":""}`)
		answer <- fmt.Sprint(got, err)
	}()
	testwait.For(t, began, "the call")
	for range 7 {
		if _, err := s.List(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := p.counted("server/discover"); got != 2 {
		t.Errorf("%d sessions for %d pages: %v", got, p.counted("tools/list"), p.calls)
	}
	close(finish)
	if got := testwait.For(t, answer, "the answer"); got != `"waited"<nil>` {
		t.Errorf("the call under way: %s", got)
	}
}
