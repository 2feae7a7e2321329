package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

// TestEndlessAnswer has answers that grow without end in what stays buffered. The model cuts the answer,
// and the server notices it.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()

	const endless = 1_000_000 // more than the connection itself can hold
	piece := strings.Repeat("x", 256<<10)
	for name, chunk := range map[string]func(n int) string{
		"arguments of a call without a name": func(int) string {
			return deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"` + piece + `"}}]}`)
		},
		"calls": func(n int) string {
			return deltaChunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":"1"}}]}`, n))
		},
		"details": func(n int) string {
			return deltaChunk(fmt.Sprintf(`{"reasoning_details":[{"type":"reasoning.encrypted","index":%d,"data":"%s"}]}`, n,
				piece))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var sent atomic.Int64
			p := newPeer(t, func(w http.ResponseWriter, r *http.Request, _ string) {
				for n := 0; n < endless && r.Context().Err() == nil; n++ {
					send(w, chunk(n))
					sent.Store(int64(n))
				}
			})
			events, err := stream(t, p.model(t, openai.Config{}), spool.ModelRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if got := finishOf(t, events); got.Reason != spool.FinishLength {
				t.Errorf("the answer ends with %s", got.Reason)
			}
			if len(only[spool.ToolCallEnd](events)) > 0 || sent.Load() == endless-1 {
				t.Errorf("%d events after %d chunks", len(events), sent.Load())
			}
		})
	}
}
