package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

const (
	branchesPath = "/api/agent/branches"
	branchPath   = "/api/agent/branches/messages"
	restorePath  = "/api/agent/branches/restore"
)

// says runs prompts of tenant a to their ends; one with an id before it edits that turn.
func (b *bundle) says(t *testing.T, thread, prompt, edit string) {
	t.Helper()

	run := b.as(t, tokenA, http.MethodPost, runPath,
		fmt.Sprintf(`{"threadId":%q,"prompt":%q,"editMessageId":%q}`, thread, prompt, edit))
	var started struct{ RunID spool.RunID }
	if err := json.Unmarshal([]byte(run.body), &started); err != nil || run.status != http.StatusAccepted {
		t.Fatalf("start: %d %s", run.status, run.body)
	}
	b.stream(t, call{path: streamPath + "?threadId=" + thread, token: tokenA}).until(t, func(m message) bool {
		return state(wire.Completed)(m) && m.frame.Event.RunID == started.RunID
	})
}

// reads gets a JSON answer of tenant a.
func reads[T any](t *testing.T, b *bundle, path string) (v T) {
	t.Helper()

	got := b.as(t, tokenA, http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(got.body), &v); err != nil || got.status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	return v
}

type branchAnswer struct{ Branches []wire.Branch }

// Who has edited a turn looks at the old answer, goes back to it, and forward again.
func TestBranches(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.says(t, "t1", "hello", "")
	b.says(t, "t1", "two", "")
	messages := func() []spool.Message {
		t.Helper()
		return reads[wire.Snapshot](t, b, historyPath+"?threadId=t1").Messages
	}
	if got := b.as(t, tokenA, http.MethodGet, branchesPath+"?threadId=t1", ""); got.body != `{"branches":[]}` {
		t.Errorf("no branch: %d %s", got.status, got.body)
	}
	first := messages()
	b.says(t, "t1", "three", string(first[2].ID))
	second := messages()

	all := reads[branchAnswer](t, b, branchesPath+"?threadId=t1").Branches
	if len(all) != 1 || all[0].Preview != "two" || all[0].MessageCount != 2 || all[0].FromMessageID != first[2].ID ||
		!all[0].Restorable() {
		t.Fatalf("branches: %+v", all)
	}
	one := reads[wire.BranchMessages](t, b, fmt.Sprintf("%s?threadId=t1&branchId=%d", branchPath, all[0].ID))
	if diff := cmp.Diff(wire.BranchMessages{Branch: all[0], Messages: first[2:]}, one); diff != "" {
		t.Errorf("the branch: -want +got\n%s", diff)
	}
	page := reads[wire.BranchMessages](t, b,
		fmt.Sprintf("%s?threadId=t1&branchId=%d&limit=1&before=%s", branchPath, all[0].ID, first[3].ID))
	if diff := cmp.Diff(first[2:3], page.Messages); diff != "" {
		t.Errorf("a page: -want +got\n%s", diff)
	}

	restore := func(id wire.BranchID) answer {
		return b.as(t, tokenA, http.MethodPost, restorePath, fmt.Sprintf(`{"threadId":"t1","branchId":%d}`, id))
	}
	following := b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA})
	back := restore(all[0].ID)
	var result wire.RestoreResult
	if err := json.Unmarshal([]byte(back.body), &result); err != nil || back.status != http.StatusOK || !result.Accepted ||
		result.DroppedBranchID <= all[0].ID {
		t.Fatalf("restore: %d %s", back.status, back.body)
	}
	if diff := cmp.Diff(first, messages()); diff != "" {
		t.Errorf("restored: -want +got\n%s", diff)
	}
	told := following.until(t, entry(wire.EntryMessagesRestored))
	if dropped := told[len(told)-2].frame.Event; dropped == nil || dropped.Seq != int64(result.DroppedBranchID) {
		t.Errorf("before the restore: %s", told[len(told)-2].raw)
	}
	if again := restore(all[0].ID); again.status != http.StatusConflict ||
		again.body != fmt.Sprintf(`{"accepted":false,"branchId":%d,"reason":"not_found","error":"Branch not found"}`,
			all[0].ID) {
		t.Errorf("restored twice: %d %s", again.status, again.body)
	}
	if forth := restore(result.DroppedBranchID); forth.status != http.StatusOK {
		t.Fatalf("restore: %d %s", forth.status, forth.body)
	}
	if diff := cmp.Diff(second, messages()); diff != "" {
		t.Errorf("restored: -want +got\n%s", diff)
	}
}

func TestRestoreRefused(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.says(t, "t1", "hello", "")
	turn := func() string {
		return string(reads[wire.Snapshot](t, b, historyPath+"?threadId=t1").Messages[0].ID)
	}
	b.says(t, "t1", "two", "")
	second := reads[wire.Snapshot](t, b, historyPath+"?threadId=t1").Messages[2].ID
	b.says(t, "t1", "three", string(second))
	inner := reads[branchAnswer](t, b, branchesPath+"?threadId=t1").Branches[0].ID
	b.says(t, "t1", "four", turn())
	outer := reads[branchAnswer](t, b, branchesPath+"?threadId=t1").Branches[0].ID
	restore := func(token string, id wire.BranchID) answer {
		return b.as(t, token, http.MethodPost, restorePath, fmt.Sprintf(`{"threadId":"t1","branchId":%d}`, id))
	}
	if got := restore(tokenA, inner); got.status != http.StatusConflict ||
		got.body != fmt.Sprintf(
			`{"accepted":false,"branchId":%d,"reason":"not_restorable","error":"Branch %d has to be restored first"}`, inner,
			outer,
		) {
		t.Errorf("nested: %d %s", got.status, got.body)
	}
	if got := restore(readOnlyA, outer); got.status != http.StatusForbidden {
		t.Errorf("with the scope to read: %d %s", got.status, got.body)
	}
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"use send with {\"to\":\"bob\"}"}`)
	b.stream(t, call{path: streamPath + "?threadId=t1", token: tokenA}).until(t, state(wire.WaitingForInput))
	if got := restore(tokenA, outer); got.status != http.StatusConflict ||
		!strings.Contains(got.body, `"reason":"active_run"`) {
		t.Errorf("active: %d %s", got.status, got.body)
	}
}
