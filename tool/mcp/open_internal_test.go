package mcp

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
)

// Over one pipe, nothing says which call asks. The question waits until only one call could, and is nobody's if that
// does not come: it must not be shown in the run of another tenant.
func TestClaim(t *testing.T) {
	t.Parallel()

	session, another := new(sdk.ClientSession), new(sdk.ClientSession)
	begun := func(id string, in *sdk.ClientSession, run spool.RunID, tool string) *openCall {
		return &openCall{id: id, session: in, tool: tool, call: spool.ToolCall{RunID: run}, cancel: func() {}}
	}
	question := func(of string) *sdk.ElicitParams {
		return &sdk.ElicitParams{Meta: sdk.Meta{metaCall: of}, Message: "Why?"}
	}
	for name, c := range map[string]struct {
		open  []*openCall
		of    string
		ends  string // the call that ends while the question waits
		want  string
		after time.Duration
	}{
		"Only": {open: []*openCall{begun("a", session, "r1", "t"), begun("b", another, "r1", "t")}, want: "a"},
		"Named": {
			open: []*openCall{begun("a", session, "r1", "t"), begun("b", session, "r2", "t")}, of: "b", want: "b",
		},
		"NamedElsewhere": {open: []*openCall{begun("a", another, "r1", "t"), begun("b", session, "r2", "t")}, of: "a"},
		"Equal":          {open: []*openCall{begun("a", session, "r1", "t"), begun("b", session, "r1", "t")}, want: "a"},
		"OtherTool": {
			open: []*openCall{begun("a", session, "r1", "t"), begun("b", session, "r1", "u")}, after: time.Minute,
		},
		"OtherRun": {open: []*openCall{begun("a", session, "r1", "t"), begun("b", session, "r2", "t")}, after: time.Minute},
		"OneEnds":  {open: []*openCall{begun("a", session, "r1", "t"), begun("b", session, "r2", "t")}, ends: "a", want: "b"},
		"None":     {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				s := &Server{config: Config{Timeout: time.Minute, Log: slog.New(slog.DiscardHandler)}, open: c.open}
				began := time.Now()
				got := ""
				done := make(chan struct{})
				go func() {
					defer close(done)
					if o, answer := s.claim(t.Context(), session, question(c.of)); o != nil && answer != nil {
						got = o.id
						o.expiry.Stop()
					}
				}()
				synctest.Wait()
				if c.ends != "" {
					if got != "" {
						t.Errorf("the question was given to %s", got)
					}
					s.leave(s.opened(c.ends))
				}
				if held := s.until(canceled(t), func() bool { return s.unclaimed[session] > 0 }); held != (c.after > 0) &&
					c.ends == "" {
					t.Errorf("new calls wait: %v", held)
				}
				<-done
				if got != c.want || time.Since(began) != c.after {
					t.Errorf("the question is that of %q after %s", got, time.Since(began))
				}
			})
		})
	}
}

func canceled(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
