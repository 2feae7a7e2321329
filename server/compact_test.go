package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

func TestCompact(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	for i := range 8 {
		b.says(t, "t1", strings.Repeat(fmt.Sprintf("turn %d ", i), 50), "")
	}
	before := reads[wire.Snapshot](t, b, historyPath+"?threadId=t1")
	used := reads[wire.ThreadUsage](t, b, usagePath+"?threadId=t1").Context
	got := b.as(t, tokenA, http.MethodPost, compactPath, `{"threadId":"t1"}`)
	if got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"compacted":true,"summarizedMessages":`) {
		t.Fatalf("compact: %d %s", got.status, got.body)
	}
	after := reads[wire.Snapshot](t, b, historyPath+"?threadId=t1")
	if n := len(before.Messages); len(after.Messages) != n+1 || after.Messages[n-1].ID != before.Messages[n-1].ID ||
		after.LastEventSeq != before.LastEventSeq+1 {
		t.Errorf("there are %d messages and %d entries, behind %d and %d", len(after.Messages), after.LastEventSeq, n,
			before.LastEventSeq)
	}
	summary := after.Messages[len(after.Messages)-1]
	if part, ok := summary.Content.Summary(); !ok || summary.Role != spool.RoleSystem || part.ThroughMessageID == "" {
		t.Errorf("the summary is %+v", summary)
	}
	if now := reads[wire.ThreadUsage](t, b, usagePath+"?threadId=t1").Context; now.UsedTokens >= used.UsedTokens ||
		now.CompactAtTokens == 0 || now.BudgetTokens == 0 {
		t.Errorf("the context is %+v, and was %+v", now, used)
	}
}
