package chat

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// transaction returns a transaction of the run "r".
func transaction(t *testing.T) (*thread.Tx, *maptx.Tx) {
	t.Helper()
	rows := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, noon)
	rows.Rows.Thread = &wire.Thread{RunID: "r", State: wire.Running}
	rows.Rows.Runs = []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Running}}}
	tx, err := thread.Open(rows, thread.Rules{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	tx.SetList(order.New("r:1", 1, order.Mark{}))
	return tx, rows
}

// What the model has said, and why it stopped, decides how the run goes on.
func TestTurnEnds(t *testing.T) {
	t.Parallel()
	data := json.RawMessage(`{"a":1}`)
	text, blank := spool.TextContent("hello"), spool.TextContent(" \n")
	call := spool.Content{{Type: spool.PartToolCall, ToolCallID: "c1"}}
	thought := spool.Content{{Type: spool.PartReasoning, Text: "hm"}}
	signed := spool.Content{{Type: spool.PartReasoning, Text: "hm", Provider: data}}
	search := spool.Content{{Type: spool.PartProvider, Provider: data}}
	marked := spool.Content{{Type: spool.PartText, Provider: data}}
	stop, calls, length, filter, pause := spool.FinishStop, spool.FinishToolCalls, spool.FinishLength, spool.FinishFilter,
		spool.FinishPause
	for name, c := range map[string]struct {
		content              spool.Content
		reason               spool.FinishReason
		empty, paused, calls bool
		want                 wire.StopReason
	}{
		"answer":               {content: text, reason: stop, want: wire.StopCompleted},
		"other reason":         {content: text, reason: "why", want: wire.StopUnknown},
		"nothing":              {reason: stop, empty: true, want: wire.StopEmpty},
		"blank":                {content: blank, reason: stop, empty: true, want: wire.StopEmpty},
		"thought":              {content: signed, reason: stop, empty: true, want: wire.StopEmpty},
		"search":               {content: search, reason: stop, empty: true, want: wire.StopEmpty},
		"nothing, too long":    {content: thought, reason: length, want: wire.StopLength},
		"nothing, filtered":    {reason: filter, want: wire.StopFilter},
		"too long":             {content: text, reason: length, want: wire.StopLength},
		"filtered":             {content: text, reason: filter, want: wire.StopFilter},
		"calls":                {content: call, reason: calls, calls: true, want: wire.StopCompleted},
		"calls, but stopped":   {content: call, reason: stop, want: wire.StopCompleted},
		"calls, too long":      {content: call, reason: length, want: wire.StopLength},
		"calls without a call": {content: text, reason: calls, want: wire.StopCompleted},
		"paused":               {content: text, reason: pause, paused: true, want: wire.StopCompleted},
		"paused with calls":    {content: call, reason: pause, calls: true, want: wire.StopCompleted},
		"paused in a search":   {content: search, reason: pause, paused: true, want: wire.StopCompleted},
		"paused in a thought":  {content: signed, reason: pause, paused: true, want: wire.StopCompleted},
		"paused in a text":     {content: marked, reason: pause, paused: true, want: wire.StopCompleted},
		"paused in nothing":    {content: thought, reason: pause, empty: true, want: wire.StopEmpty},
	} {
		turn := Turn{Message: spool.Message{Content: c.content}, Reason: c.reason}
		if turn.Empty() != c.empty || turn.Paused() != c.paused || turn.Calls() != c.calls {
			t.Errorf("%s: empty %t, paused %t, calls %t", name, turn.Empty(), turn.Paused(), turn.Calls())
		}
		if got := turn.Completion(); got != (store.Ending{State: wire.Completed, Reason: c.want}) {
			t.Errorf("%s: it ends with %+v", name, got)
		}
	}
}

// Of an interrupted answer, the text and the reasoning before it can become a message.
func TestSaveCut(t *testing.T) {
	t.Parallel()
	data := json.RawMessage(`{"a":1}`)
	text := spool.Part{Type: spool.PartText, Text: "half", Provider: data}
	thought := spool.Part{Type: spool.PartReasoning, Text: "hm", Provider: data}
	call := spool.Part{Type: spool.PartToolCall, ToolCallID: "c1"}
	for name, c := range map[string]struct {
		content spool.Content
		want    string
	}{
		"text":          {spool.Content{text}, "half"},
		"with thought":  {spool.Content{thought, text}, "(hm) half"},
		"with calls":    {spool.Content{text, call}, "half"},
		"only thought":  {spool.Content{thought}, ""},
		"only calls":    {spool.Content{call}, ""},
		"only data":     {spool.Content{{Type: spool.PartProvider, Provider: data}}, ""},
		"nothing":       {nil, ""},
		"text is empty": {spool.Content{{Type: spool.PartText, Provider: data}}, ""},
	} {
		tx, rows := transaction(t)
		turn := Turn{Message: spool.Message{Content: c.content}, Usage: tokens(5, 2)}
		saved, err := turn.SaveCut(tx)
		got := ""
		if messages := rows.Rows.Messages; len(messages) > 0 {
			got = describe(messages[0].Content)
		}
		if err != nil || got != c.want || saved != (c.want != "") || tx.Run.TotalTokens != 7 || (tx.Run.Steps == 1) != saved {
			t.Errorf("%s: %q, saved %t, %d tokens, %v", name, got, saved, tx.Run.TotalTokens, err)
		}
	}
}

// A finished answer is charged once, and its prompt is the measure of the next one.
func TestCharge(t *testing.T) {
	t.Parallel()
	tx, rows := transaction(t)
	tx.Run.Resume = &store.ResumableAnswer{}
	turn := Turn{
		Usage: tokens(50, 2), row: wire.UsageRow{RunID: "r", Model: "m"}, weight: history.Weight{Bytes: 400, Images: 1},
		messages: 3, newest: "m3",
	}
	if err := turn.Charge(tx, wire.OutcomeAborted); err != nil || tx.Run.Resume != nil || len(rows.Rows.Usage) != 1 ||
		rows.Rows.Usage[0].Outcome != wire.OutcomeAborted {
		t.Errorf("the ledger has %+v, %v", rows.Rows.Usage, err)
	}
	turn.CountPrompt(tx)
	want := &store.ContextCount{Tokens: 50, Answer: 2, Bytes: 400, Images: 1, Messages: 3, LastMessageID: "m3"}
	if diff := cmp.Diff(want, tx.Run.Context); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, usage := range map[string]spool.Usage{"not counted": {}, "counted as none": tokens(0, 1)} {
		turn.Usage = usage
		if turn.CountPrompt(tx); tx.Run.Context.Tokens != 50 {
			t.Errorf("%s: %+v", name, tx.Run.Context)
		}
	}
}

// Each call of an answer that ends the run gets a result.
func TestCancelledCalls(t *testing.T) {
	t.Parallel()
	turn := Turn{Message: spool.Message{Content: spool.Content{
		{Type: spool.PartText, Text: "x"},
		{Type: spool.PartToolCall, ToolCallID: "c1", ToolName: "look"},
		{Type: spool.PartToolCall, ToolCallID: "c2", ToolName: "send"},
	}}}
	got := turn.CancelledCalls()
	if len(got) != 2 || got[0].ToolCallID != "c1" || got[1].ToolCallID != "c2" || got[1].ToolName != "send" ||
		got[0].Type != spool.PartToolResult {
		t.Errorf("%+v", got)
	}
}
