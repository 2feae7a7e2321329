package store

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// MarshalStored writes the part of a delta that stores and archives keep as one JSON text: all fields but
// Version, Seq and At. It leaves out the thread of the runs, and every field of a run that is zero. It writes without
// the reflection of package encoding/json, because every commit that changes a run pays for it.
func (c *SnapshotDelta) MarshalStored() ([]byte, error) {
	w := &objectWriter{text: make([]byte, 0, 768)}
	w.open()
	if t := c.Thread; t != nil {
		w.key("thread")
		w.thread(t)
	}
	w.string("runId", string(c.RunID))
	if len(c.Runs) > 0 {
		w.key("runs")
		list(w, c.Runs, w.run)
	}
	if len(c.View) > 0 {
		w.key("view")
		list(w, c.View, w.viewChange)
	}
	if len(c.Parks) > 0 {
		w.key("parks")
		list(w, c.Parks, w.park)
	}
	w.end()
	return w.text, w.err
}

// UnmarshalStored reads what MarshalStored writes of a delta of a thread. It leaves Version, Seq and At alone, and
// ignores fields that it does not know.
func (c *SnapshotDelta) UnmarshalStored(b []byte, of spool.ThreadID) error {
	var s storedDelta
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	for i := range s.Runs {
		s.Runs[i].ThreadID = of
	}
	c.Thread, c.RunID, c.Runs, c.View, c.Parks = s.Thread, s.RunID, s.Runs, s.View, s.Parks
	return nil
}

type storedDelta struct {
	Thread *DeltaThread `json:"thread,omitempty"`
	RunID  spool.RunID  `json:"runId,omitempty"`
	Runs   []DeltaRun   `json:"runs,omitempty"`
	View   []ViewChange `json:"view,omitempty"`
	Parks  []DeltaPark  `json:"parks,omitempty"`
}

// objectWriter writes JSON objects. It keeps the first error.
type objectWriter struct {
	text []byte
	err  error
}

func (w *objectWriter) open() { w.text = append(w.text, '{') }

func (w *objectWriter) end() { w.text = append(w.text, '}') }

func (w *objectWriter) key(name string) {
	if w.text[len(w.text)-1] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(append(append(w.text, '"'), name...), '"', ':')
}

// string writes a text, unless it is empty.
func (w *objectWriter) string(name, value string) {
	if value != "" {
		w.anyString(name, value)
	}
}

func (w *objectWriter) anyString(name, value string) {
	w.key(name)
	w.quote(value)
}

// quote writes a text. A text with a character that may need an escape is left to package encoding/json.
func (w *objectWriter) quote(value string) {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			w.value(value)
			return
		}
	}
	w.text = append(append(append(w.text, '"'), value...), '"')
}

// number writes a number, unless it is zero.
func (w *objectWriter) number(name string, n int64) {
	if n != 0 {
		w.key(name)
		w.text = strconv.AppendInt(w.text, n, 10)
	}
}

// time writes a time, unless it is zero.
func (w *objectWriter) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.key(name)
	if _, offset := t.Zone(); offset != 0 || t.Year() < 0 || t.Year() > 9999 {
		w.value(t)
		return
	}
	w.text = append(t.AppendFormat(append(w.text, '"'), time.RFC3339Nano), '"')
}

// value writes what is too rare for code of its own.
func (w *objectWriter) value(v any) {
	text, err := marshalUnescaped(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.text = append(w.text, text...)
}

// list writes objects.
func list[T any](w *objectWriter, all []T, write func(*T)) {
	for i := range all {
		w.text = append(w.text, "[,"[min(i, 1)])
		write(&all[i])
	}
	w.text = append(w.text, ']')
}

func (w *objectWriter) thread(t *DeltaThread) {
	w.open()
	w.anyString("state", string(t.State))
	w.anyString("model", t.Model)
	w.anyString("title", t.Title)
	w.string("owner", t.Owner)
	if len(t.Labels) > 0 {
		w.key("labels")
		w.value(t.Labels)
	}
	w.end()
}

func (w *objectWriter) run(r *DeltaRun) {
	w.open()
	w.anyString("id", string(r.ID))
	w.string("parentRunId", string(r.ParentID))
	w.string("parentToolCallId", string(r.CallID))
	w.number("depth", int64(r.Depth))
	w.string("agent", r.Agent)
	w.string("model", r.Model)
	w.string("state", string(r.State))
	w.string("stopReason", string(r.StopReason))
	w.string("error", r.Error)
	if r.Expired != (wire.Expired{}) {
		w.key("expired")
		w.value(r.Expired)
	}
	w.string("startedBy", r.StartedBy)
	w.time("enqueuedAt", r.EnqueuedAt)
	w.time("startedAt", r.StartedAt)
	w.time("endedAt", r.EndedAt)
	w.number("maxSteps", int64(r.MaxSteps))
	w.number("steps", int64(r.Steps))
	w.number("attempts", int64(r.Attempts))
	w.number("inputTokens", r.InputTokens)
	w.number("cachedInputTokens", r.CachedInputTokens)
	w.number("outputTokens", r.OutputTokens)
	w.number("totalTokens", r.TotalTokens)
	w.string("prompt", r.Prompt)
	if r.Result != nil {
		w.key("result")
		w.value(r.Result)
	}
	w.number("costMicros", r.CostMicros)
	w.string("currency", r.Currency)
	w.number("durationMs", r.DurationMS)
	w.number("queuedMs", r.QueuedMS)
	w.number("tokenBudget", r.TokenBudget)
	w.number("costBudgetMicros", r.CostBudgetMicros)
	w.number("toolCallBudget", r.ToolCallBudget)
	w.number("wallTimeMs", r.WallTimeMS)
	w.number("place", r.Place)
	if r.Wait != nil {
		w.key("wait")
		w.value(r.Wait)
	}
	w.end()
}

func (w *objectWriter) viewChange(v *ViewChange) {
	w.open()
	if len(v.Add) > 0 {
		w.key("add")
		for i, id := range v.Add {
			w.text = append(w.text, "[,"[min(i, 1)])
			w.quote(string(id))
		}
		w.text = append(w.text, ']')
	}
	w.number("drop", int64(v.Drop))
	w.number("restore", int64(v.Restore))
	w.string("from", string(v.From))
	w.end()
}

func (w *objectWriter) park(p *DeltaPark) {
	w.open()
	w.anyString("runId", string(p.RunID))
	w.anyString("toolCallId", string(p.ToolCallID))
	w.anyString("state", string(p.State))
	w.end()
}
