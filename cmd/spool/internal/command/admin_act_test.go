package command

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

// askingTool is a tool that asks before each call.
func askingTool() spool.Tool {
	type in struct {
		To string `json:"to"`
	}
	send := tool.New("send", "Sends nothing.",
		func(_ context.Context, in in) (string, error) { return "sent to " + in.To, nil })
	send.Approval = spool.AlwaysApprove
	return send
}

// works has a worker execute runs until the test ends.
func (o *operated) works(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.engine.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("work: %v", err)
		}
	})
}

// parks starts a run, and waits until it waits or is over.
func (o *operated) parks(t *testing.T, thread spool.ThreadID, run spool.RunID, prompt string) wire.RunOutcome {
	t.Helper()
	key := spool.ThreadKey{Tenant: "acme", ID: thread}
	if got, err := o.engine.Run(t.Context(), key, wire.StartRequest{Prompt: prompt, RunID: run, By: "bob"}); err != nil ||
		!got.Accepted {
		t.Fatalf("start: %+v, %v", got, err)
	}
	return o.awaits(t, thread, run)
}

func (o *operated) awaits(t *testing.T, thread spool.ThreadID, run spool.RunID) wire.RunOutcome {
	t.Helper()
	out, err := o.engine.Await(patiently(t), spool.ThreadKey{Tenant: "acme", ID: thread}, run)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAdminAnswer(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	o.works(t)
	const send = `use send with {"to":"ann"}`
	if out := o.parks(t, "t1", "r1", send); len(out.Parks) != 1 {
		t.Fatalf("%+v", out)
	}
	o.shows(t, "run r1", "waits", "send: approval, open", "call", "asks", `{"to":"ann"}`)
	for args, want := range map[string]string{
		"answer r1":                                `wants either --approve or --deny`,
		"answer r1 --approve --deny":               `wants either --approve or --deny`,
		"answer --approve":                         `admin answer wants the id of a run`,
		"answer r1 --deny --arguments {}":          `--arguments: goes with --approve`,
		"answer r1 --approve --arguments nonsense": `--arguments: "nonsense" is not JSON`,
	} {
		if got := o.admin(strings.Fields(args)...); got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("admin %s: %+v", args, got)
		}
	}
	for args, want := range map[string]string{
		"answer none --approve":             "the server refused (404): Run not found",
		"answer r1 --approve --call other":  "run r1 has no such call that waits for an answer",
		`answer r1 --approve --arguments 7`: "the server refused (400): the arguments are not a JSON object",
	} {
		if got := o.admin(strings.Fields(args)...); got.code != exitFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("admin %s: %+v", args, got)
		}
	}
	o.shows(t, `answer r1 --approve --reason fine --arguments {"to":"eve"}`, "approved", "send", `{"to":"ann"}`)
	if out := o.awaits(t, "t1", "r1"); out.State != wire.Completed || !strings.Contains(out.Text, "sent to eve") {
		t.Errorf("after the answer: %+v", out)
	}
	if got := o.admin("answer", "r1", "--approve"); got.code != exitFailure ||
		!strings.Contains(got.stderr, "no such call") {
		t.Errorf("a second answer: %+v", got)
	}
	o.shows(t, "audit --action answer", "ann (operator)", "approved", "(fine)")

	// Several at once have to be named, and a call below is the run's as well.
	out := o.parks(t, "t2", "r2", send+` and use send with {"to":"ben"}`)
	if len(out.Parks) != 2 {
		t.Fatalf("%+v", out)
	}
	second := string(out.Parks[1].ToolCallID)
	if got := o.admin("answer", "r2", "--deny"); got.code != exitFailure ||
		!strings.Contains(got.stderr, "waits with several calls") || !strings.Contains(got.stderr, second) {
		t.Errorf("without --call: %+v", got)
	}
	o.shows(t, "answer r2 --deny --call "+second, "denied", second, `{"to":"ben"}`)
	o.shows(t, "answer r2 --deny --json", `{"delivered":true}`)

	out = o.parks(t, "t3", "r3",
		`use spawnSubagent with {"name":"mailer","instructions":"use send with {\"to\":\"ann\"}"}`)
	if len(out.Parks) != 1 || out.Parks[0].Nested == nil {
		t.Fatalf("%+v", out)
	}
	nested := fmt.Sprint(out.Parks[0].Nested.AgentID)
	if got := o.admin("stop", nested); got.code != exitFailure ||
		!strings.Contains(got.stderr, "is nested in run r3: stop that one") {
		t.Errorf("stop of a nested run: %+v", got)
	}
	o.shows(t, "answer r3 --approve", "approved", "send")
}

func TestAdminStop(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	for i := range 4 {
		o.start(t, spool.ThreadID(fmt.Sprint("t", i)), spool.RunID(fmt.Sprint("r", i)), false)
	}
	o.shows(t, "stop r0", "stopped  run r0")
	o.shows(t, "stop t1", "stopped  thread t1")
	o.shows(t, "stop --thread t2 --json", `{"accepted":true}`)
	o.shows(t, "stop r3 --tenant acme --token of-olga", "stopped  run r3")
	o.shows(t, "runs --state CANCELLED", "r0", "r1", "r2", "r3")
	for args, want := range map[string]string{
		"stop r0":            "the server refused (409): Cannot stop run in state CANCELLED",
		"stop t1":            "the server refused (409): Cannot stop thread in state CANCELLED",
		"stop none":          "the server refused (404): there is neither a run nor a thread none",
		"stop --thread none": "the server refused (404): Thread not found",
	} {
		if got := o.admin(strings.Fields(args)...); got.code != exitFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("admin %s: %+v", args, got)
		}
	}
	for _, args := range []string{"stop", "stop r0 --thread t0"} {
		if got := o.admin(strings.Fields(args)...); got.code != exitUsage ||
			!strings.Contains(got.stderr, "wants either the id of a run or --thread") {
			t.Errorf("admin %s: %+v", args, got)
		}
	}
	o.shows(t, "audit --action stop", "ann (operator)", "an operator", "r3")
}
