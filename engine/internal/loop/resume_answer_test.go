package loop

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func prompt(text string) spool.ModelRequest {
	return spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(text)}}}
}

// Requests that a provider must answer in the same way have the same digest, and no others.
func TestDigestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(r *spool.ModelRequest)
		same   bool
	}{
		"nothing":      {func(*spool.ModelRequest) {}, true},
		"bound":        {func(r *spool.ModelRequest) { r.MaxOutputTokens = 7 }, true},
		"cache":        {func(r *spool.ModelRequest) { r.CacheKey, r.CacheMarks = "k", []int{1} }, true},
		"instructions": {func(r *spool.ModelRequest) { r.Instructions = "be brief" }, false},
		"tools":        {func(r *spool.ModelRequest) { r.Tools = []spool.ToolSpec{{Name: "look"}} }, false},
		"schema":       {func(r *spool.ModelRequest) { r.Output = degrees }, false},
		"kind":         {func(r *spool.ModelRequest) { r.Kind = spool.UsageCompaction }, false},
		"options":      {func(r *spool.ModelRequest) { r.Extra = map[string]any{"top_p": 1} }, false},
		"text":         {func(r *spool.ModelRequest) { r.Messages = prompt("stay").Messages }, false},
		"role":         {func(r *spool.ModelRequest) { r.Messages[0].Role = spool.RoleSystem }, false},
		"more":         {func(r *spool.ModelRequest) { r.Messages = append(r.Messages, r.Messages[0]) }, false},
		"data": {func(r *spool.ModelRequest) {
			r.Messages[0].Content[0].Provider = json.RawMessage(`{"a":1}`)
		}, false},
	} {
		r := prompt("go")
		c.change(&r)
		if got := digestOf(r); got == "" || (got == digestOf(prompt("go"))) != c.same {
			t.Errorf("%s: the digest is %q", name, got)
		}
	}
	if got := digestOf(spool.ModelRequest{Extra: map[string]any{"f": func() {}}}); got != "" {
		t.Errorf("a request that cannot be encoded: %q", got)
	}
}

// An interrupted answer is asked for again with the same request for the same step. Otherwise it is charged.
func TestResumed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(r *store.RunRow)
		again  bool
		rows   int
	}{
		"same request":  {func(*store.RunRow) {}, true, 0},
		"none":          {func(r *store.RunRow) { r.Resume = nil }, false, 0},
		"other request": {func(r *store.RunRow) { r.Resume.Request = digestOf(prompt("stay")) }, false, 1},
		"not known":     {func(r *store.RunRow) { r.Resume.Request = "" }, false, 1},
		"other step":    {func(r *store.RunRow) { r.Resume.Step = 2 }, false, 1},
		"other model":   {func(r *store.RunRow) { r.Fallback = &store.RunFallback{Model: "spare"} }, false, 1},
	} {
		run := store.RunRow{Run: wire.Run{Steps: 2}, RunState: store.RunState{
			Resume: &store.ResumableAnswer{Model: "m", Step: 3, Request: digestOf(prompt("go")), Data: json.RawMessage("7")},
		}}
		c.change(&run)
		s := newScene(t, spool.Agent{}, run)
		data, err := s.asker.resumeData(t.Context(), prompt("go"))
		s.Check(err)
		if (string(data) == "7") != c.again || len(s.Rows.Rows.Usage) != c.rows || (s.Saved().Resume != nil) != c.again {
			t.Errorf("%s: %s, %d rows", name, data, len(s.Rows.Rows.Usage))
		}
	}
}
