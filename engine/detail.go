package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// detailLimit bounds each list of a [RunDetail].
const detailLimit = 1000

// RunDetail is all that is known of one run, as one consistent state. None of its lists has
// more than 1,000 elements.
type RunDetail struct {
	Run spool.Run `doc:"The run." json:"run"`
	// Steps are the run's own, the one in hand included.
	Steps []StepRecord `doc:"Its steps, the one in hand included." json:"steps"`
	// Children are the runs that this one has spawned.
	Children []spool.Run `doc:"The runs that it has spawned." json:"children"`
	// Entries are the run's part of the thread's record, the oldest first. That of a nested
	// run is in its dispatched run's.
	Entries []spool.Entry `doc:"Its part of the thread's record." json:"entries"`
	// Parks are the run's waits for an answer, in the order of their creation.
	Parks []ParkDetail `doc:"Its waits for an answer." json:"parks"`
	// Usage are the run's rows of the ledger, for a dispatched run with those of the runs
	// under it.
	Usage []spool.UsageRow `doc:"Each question to a model, also of the runs under it." json:"usage"`
}

// StepRecord is one step of a run, as the ledgers of usage and side effects tell it.
type StepRecord struct {
	// TokenCount sums what all attempts have used.
	spool.TokenCount

	RunID    spool.RunID    `doc:"The run."    json:"runId"`
	ThreadID spool.ThreadID `doc:"Its thread." json:"threadId"`
	// Agent is the name of the agent.
	Agent string `doc:"The agent." json:"agent"`
	// Index counts from 1.
	Index int `doc:"The number of the step, from 1." json:"index"`
	// Attempts counts the questions to the model, those that failed included.
	Attempts int `doc:"How often the model was asked." json:"attempts"`
	// Outcome is how the last of them ended.
	Outcome spool.Outcome `doc:"How the last of these ended." enum:"finished,aborted,error,lost" json:"outcome"`
	// Calls are the tool calls that were about to run or had to wait.
	Calls []CallRecord `doc:"The tool calls that were about to run or had to wait." json:"calls"`
	// At is when the model had answered.
	At time.Time `doc:"When the model had answered." json:"at"`
	// DurationMS is the time until then, from the answer of the step before or from when a
	// worker picked the run up, whichever was later. The tools of the step before are in it.
	DurationMS int64 `doc:"The time until then from the answer before, or from when a worker took the run." json:"durationMs"`
}

// CallRecord is what became of a tool call.
type CallRecord struct {
	ToolCallID spool.ToolCallID `doc:"The call." json:"toolCallId"`
	// ToolName is empty where the message that has the call is not in the thread's view.
	ToolName string `doc:"The tool. Left out: the message with the call is not in view." json:"toolName,omitempty"`
	// Effect is where its effect is. Empty: it has not been about to run.
	Effect spool.EffectState `doc:"Where its effect is. Left out: it has not been about to run." enum:"pending,done,void,waiting" json:"effect,omitempty"`
	// Park is where its wait for an answer is. Empty: it did not wait.
	Park spool.ParkState `doc:"Where its wait is. Left out: it did not wait." enum:"open,answered,expired,closed" json:"park,omitempty"`
}

// ParkDetail is a wait for an answer.
type ParkDetail struct {
	ToolCallID spool.ToolCallID `doc:"The call that waits." json:"toolCallId"`
	ToolName   string           `doc:"Its tool."            json:"toolName"`
	Step       int              `doc:"Its step."            json:"step"`
	Reason     string           `doc:"Why it waits."        json:"reason"`
	State      spool.ParkState  `doc:"Where the wait is."   enum:"open,answered,expired,closed" json:"state"`
	// Digest names what is asked: see [spool.Park.DigestOf].
	Digest string `doc:"Names what is asked. Send it back with the answer." json:"digest,omitempty"`
	// Asked is what a person is shown: never arguments that the tool keeps to itself.
	Asked     json.RawMessage `doc:"What a person is shown."                  json:"asked,omitempty"`
	Answer    *spool.Answer   `doc:"The answer that counted. Left out: none." json:"answer,omitempty"   nullable:"false"`
	CreatedAt time.Time       `doc:"Since when it waits."                     json:"createdAt"`
	ExpiresAt time.Time       `doc:"Until when."                              json:"expiresAt,omitzero"`
}

// RunDetail returns what is known of a run. It returns a [spool.NotFound] error for a run
// that the tenant does not have.
func (e *Engine) RunDetail(ctx context.Context, tenant spool.Tenant, id spool.RunID) (RunDetail, error) {
	var d RunDetail
	key, err := e.runKey(ctx, spool.ThreadKey{Tenant: tenant}, id)
	if err != nil {
		return d, err
	}
	err = e.store.View(ctx, key, func(v spool.View) error {
		d = RunDetail{}
		return d.read(v, id)
	})
	if record.Missing(err) { // it went with its thread in between
		err = spool.Errorf(spool.NotFound, runNotFound)
	}
	return d, err
}

const runNotFound = "Run not found"

func (d *RunDetail) read(v spool.View, id spool.RunID) (err error) {
	if d.Run, err = v.Run(id); err != nil {
		return err
	}
	under, err := v.Nested(d.Run.Root())
	if err != nil {
		return err
	}
	d.Children = []spool.Run{}
	for _, r := range under[:min(len(under), detailLimit)] {
		if r.ParentID == id {
			d.Children = append(d.Children, r)
		}
	}
	if d.Entries, err = v.Entries(spool.EntryQuery{Run: id, Limit: detailLimit}); err != nil {
		return err
	}
	usage := spool.UsageQuery{Run: d.Run.Root(), Limit: detailLimit}
	if agent := d.Run.AgentID(); agent != "" {
		usage.Agent = &agent
	}
	if d.Usage, err = v.UsageRows(usage); err != nil {
		return err
	}
	parks, err := v.Parks(d.Run.Root()) // of which those of a nested run are
	if err != nil {
		return err
	}
	d.Parks = []ParkDetail{}
	for _, p := range parks {
		if p.CallerID() == id && len(d.Parks) < detailLimit {
			d.Parks = append(d.Parks, parkDetail(p))
		}
	}
	if err := d.readSteps(v); err != nil {
		return err
	}
	return d.readCalls(v)
}

func parkDetail(p spool.Park) ParkDetail {
	asked := p.Shown
	if asked == nil {
		asked = p.Args
	}
	return ParkDetail{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Step: p.Step, Reason: p.Reason, State: p.State, Digest: p.Digest,
		Asked: asked, Answer: p.Answer, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt,
	}
}

// readSteps makes steps of the run's own rows of the ledger.
func (d *RunDetail) readSteps(v spool.View) error {
	began := []time.Time{d.Run.StartedAt}
	for _, e := range d.Entries {
		if e.Type == spool.EntryRunStarted {
			began = append(began, e.CreatedAt)
		}
	}
	d.Steps = []StepRecord{}
	at := make(map[int]int)
	for _, row := range d.Usage {
		if row.Step == 0 || row.AgentID != d.Run.AgentID() || row.Kind != spool.UsageStep {
			continue
		}
		i, known := at[row.Step]
		if !known {
			i = len(d.Steps)
			at[row.Step] = i
			d.Steps = append(d.Steps, StepRecord{
				RunID: d.Run.ID, ThreadID: d.Run.ThreadID, Agent: row.Agent, Index: row.Step, Calls: []CallRecord{},
			})
		}
		step := &d.Steps[i]
		step.Attempts++
		step.Add(row.Usage.Count())
		step.Outcome, step.At = row.Outcome, row.CreatedAt
	}
	for i := range d.Steps {
		from := time.Time{}
		if i > 0 {
			from = d.Steps[i-1].At
		}
		for _, b := range began {
			if b.After(from) && !b.After(d.Steps[i].At) {
				from = b
			}
		}
		d.Steps[i].DurationMS = d.Steps[i].At.Sub(from).Milliseconds()
	}
	for i := range d.Steps {
		effects, err := v.Effects(d.Run.ID, d.Steps[i].Index)
		if err != nil {
			return err
		}
		for _, e := range effects {
			d.Steps[i].call(e.ToolCallID).Effect = e.State
		}
		for _, p := range d.Parks {
			if p.Step == d.Steps[i].Index {
				c := d.Steps[i].call(p.ToolCallID)
				c.Park, c.ToolName = p.State, p.ToolName
			}
		}
	}
	return nil
}

// call returns the step's record of a call, which it adds if there is none.
func (s *StepRecord) call(id spool.ToolCallID) *CallRecord {
	for i := range s.Calls {
		if s.Calls[i].ToolCallID == id {
			return &s.Calls[i]
		}
	}
	s.Calls = append(s.Calls, CallRecord{ToolCallID: id})
	return &s.Calls[len(s.Calls)-1]
}

// readCalls names the calls after the messages that have them.
func (d *RunDetail) readCalls(v spool.View) error {
	agent := d.Run.AgentID()
	messages, err := v.Messages(spool.MessageQuery{Role: spool.RoleAssistant, Agent: &agent, Limit: detailLimit})
	if err != nil {
		return err
	}
	names := make(map[spool.ToolCallID]string)
	for _, m := range messages {
		for _, c := range m.ToolCalls() {
			names[c.ToolCallID] = c.ToolName
		}
	}
	for i := range d.Steps {
		for j := range d.Steps[i].Calls {
			if c := &d.Steps[i].Calls[j]; c.ToolName == "" {
				c.ToolName = names[c.ToolCallID]
			}
		}
	}
	return nil
}
