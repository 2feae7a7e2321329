package enginetest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// nestedTest is the fixture of the cases about nested runs.
type nestedTest struct{ *engineTest }

var nestedTests = map[string]func(s nestedTest){
	"Result":        testNestedResult,
	"Stream":        testNestedStream,
	"Refused":       testNestedRefused,
	"Persona":       testNestedPersona,
	"MaxSteps":      testNestedMaxSteps,
	"ResultCap":     testNestedResultCap,
	"Slots":         testNestedSlots,
	"Order":         testNestedOrder,
	"SameCallIDs":   testNestedSameCallIDs,
	"Fails":         testNestedFails,
	"Retried":       testNestedRetried,
	"RetriesEnd":    testNestedRetriesEnd,
	"Usage":         testNestedUsage,
	"Edit":          testNestedEdit,
	"Park":          testNestedPark,
	"ParkDeep":      testNestedParkDeep,
	"ParkSeveral":   testNestedParkSeveral,
	"ParkAgain":     testNestedParkAgain,
	"ParkExpires":   testNestedParkExpires,
	"ParkEdited":    testNestedParkEdited,
	"Distinct":      testNestedDistinct,
	"FailUnwinding": testNestedFailUnwinding,
	"ProfileGone":   testNestedProfileGone,
	"StopRunning":   testNestedStopRunning,
	"StopParked":    testNestedStopParked,
	"StopDead":      testNestedStopDead,
	"StopDeadDeep":  testNestedStopDeadDeep,
	"FailedRoot":    testNestedFailedRoot,
	"HandBack":      testNestedHandBack,
	"Killed":        testNestedKilled,
	"Unknown":       testNestedUnknown,
	"Snapshot":      testNestedSnapshot,
	"FollowNow":     testNestedFollowNow,
	"Delete":        testNestedDelete,
}

// casting returns a model for a tree of agents. The text of an agent's last user turn, which for a
// nested run is its brief, selects its turns.
func casting(scripts map[string][]spooltest.Turn) *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		return turnAt(scripts[roleOf(r)], spooltest.StepOf(r))
	})
}

func roleOf(r spool.ModelRequest) string {
	messages := r.Messages
	// it asks for the answer behind the last step
	if last := len(messages) - 1; r.NoCalls && messages[last].Role == spool.RoleUser {
		messages = messages[:last]
	}
	for _, m := range slices.Backward(messages) {
		if m.Role == spool.RoleUser {
			return m.Text()
		}
	}
	return ""
}

// askedAs counts the requests of one role.
func askedAs(m *spooltest.Model, role string) (n int) {
	for _, r := range m.Requests() {
		if roleOf(r) == role {
			n++
		}
	}
	return n
}

// spawn returns a call that spawns.
func spawn(id spool.ToolCallID, name, brief string) spooltest.Call {
	return spooltest.Call{ID: id, Name: spool.SpawnTool, Args: fmt.Sprintf(`{"name":%q,"instructions":%q}`, name, brief)}
}

// treeConfig returns a configuration whose agent has the profiles helper, which may not
// spawn, and lead, which may. All of them have the tools.
func (s nestedTest) treeConfig(m spool.Model, tools ...spool.Tool) engine.Config {
	c := s.config(m, tools...)
	all := c.Agents[0].Tools
	c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{
		"helper": {Description: "Helps.", Instructions: "Help.", Tools: all},
		"lead":   {Description: "Leads.", Tools: all, Spawns: true},
	}}
	return c
}

// nested returns the nested runs of r1 by their briefs.
func (s nestedTest) nested() map[string]store.RunRow {
	s.Helper()
	byBrief := make(map[string]store.RunRow)
	s.view(func(v store.View) error {
		runs, err := v.Runs(wire.RunQuery{RootID: "r1", Whole: true})
		for _, r := range runs {
			byBrief[r.Prompt] = r
		}
		return err
	})
	return byBrief
}

// waiting returns the open parks by the names of the agent and the tool, such as "helper:send".
func (s nestedTest) waiting() map[string]store.Park {
	s.Helper()
	open := make(map[string]store.Park)
	s.view(func(v store.View) error {
		parks, err := v.Parks("r1")
		for _, p := range parks {
			if p.State != wire.ParkOpen {
				continue
			}
			run, err := store.FindRun(v, p.CallerID())
			if err != nil {
				return err
			}
			who := run.Prompt
			if who == "" {
				who = "main"
			}
			open[who+":"+p.ToolName] = p
		}
		return err
	})
	return open
}

// answerAs answers an open park by its name in waiting.
func (s nestedTest) answerAs(e *engine.Engine, who string, approve bool) {
	s.Helper()
	p, ok := s.waiting()[who]
	if !ok {
		s.Fatalf("%s does not wait: %v", who, s.waiting())
	}
	s.answer(e, p.ToolCallID, approve, "")
}

var (
	nestedSuffix = regexp.MustCompile(`\b(c[0-9]+)-[0-9a-z]{6}\b`)
	nestedRunID  = regexp.MustCompile(`sub_[0-9a-z]{26}`)
)

// plainly removes from a line the parts that only name nested runs.
func plainly(line string) string {
	return nestedRunID.ReplaceAllString(nestedSuffix.ReplaceAllString(line, "$1"), "ID")
}

// tree returns a line for each part of all agents' messages, with those of nested runs after their
// briefs.
func (s nestedTest) tree() (lines []string) {
	s.Helper()
	s.view(func(v store.View) error {
		messages, err := v.Messages(store.MessageQuery{})
		for _, m := range messages {
			line := messageLine(m)
			if m.AgentID != "" {
				run, err := store.FindRun(v, spool.RunID(m.AgentID))
				if err != nil {
					return err
				}
				line = run.Prompt + ": " + line
			}
			lines = append(lines, plainly(line))
		}
		return err
	})
	return lines
}

// of returns the lines of the tree for one brief, or for the main agent if brief is "".
func (s nestedTest) of(brief string) (lines []string) {
	s.Helper()
	for _, line := range s.tree() {
		who, said, nested := strings.Cut(line, ": ")
		switch {
		case nested && who == brief:
			lines = append(lines, said)
		case brief == "" && (!nested || strings.ContainsAny(who, "{\" ")):
			lines = append(lines, line)
		}
	}
	return lines
}

func testNestedResult(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "helper", "find"), spooltest.Call{ID: "c2", Name: "look"}), spooltest.Say("found it"),
		},
		"find": {spooltest.Use(spooltest.Call{ID: "c9", Name: "look"}), spooltest.Say("it is ", "here")},
	})
	e := s.working(s.treeConfig(m, plain("look", `"seen"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages of the main agent", s.of(""), "user go",
		`assistant c1=spawnSubagent{"instructions":"find","name":"helper"} c2=look{}`,
		`tool c1:{"agentId":"ID","result":"it is here"} c2:"seen"`, "assistant found it")
	s.lines("messages of the nested run", s.of("find"), "user find", "assistant c9=look{}", `tool c9:"seen"`,
		"assistant it is here")
	root, run := s.run("r1"), s.nested()["find"]
	if run.State != wire.Completed || run.StopReason != wire.StopCompleted || run.EndedAt.IsZero() || run.Steps != 2 ||
		run.ParentID != "r1" || run.RootID != "r1" || run.CallID != "c1" || run.Depth != 1 || run.Agent != "helper" ||
		run.Model != "m" {
		s.Errorf("the nested run: %+v", run)
	}
	if run.Result == nil || run.Result.Text != "it is here" || run.Prompt != "find" || root.Children != 1 ||
		root.Steps != 2 {
		s.Errorf("result %+v of %q, %d children of %d steps", run.Result, run.Prompt, root.Children, root.Steps)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
	for _, r := range m.Requests() {
		if roleOf(r) == "find" && (r.Instructions != "Help." || r.Messages[0].Text() != "find") {
			s.Errorf("the nested run was asked with %q and %d messages", r.Instructions, len(r.Messages))
		}
	}
}

// testNestedStream checks the items about nested runs: their content is wrapped once with their own id
// at any depth; their steps are not.
func testNestedStream(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":    {{Text: []string{"one"}, Calls: []spooltest.Call{spawn("c1", "lead", "above")}}, spooltest.Say("end")},
		"above": {spooltest.Use(spawn("c2", "helper", "below")), spooltest.Say("up")},
		"below": {{Reasoning: []string{"hm"}, Text: []string{"down"}}},
	})
	e := s.engine(s.treeConfig(m))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	names := map[spool.AgentID]string{}
	for brief, run := range s.nested() {
		names[run.AgentID()] = brief
	}
	var lines []string
	for _, f := range client() {
		if f.Kind != wire.FrameStream || f.Item.Type == wire.ItemToolArgs {
			continue
		}
		var p struct {
			SubagentID, AgentID spool.AgentID
			Name, Status        string
			Depth               int
			Event               *wire.Item
			Delta, ToolCallID   string
			ParentToolCallID    string
		}
		_ = f.Item.Decode(&p)
		line := string(f.Item.Type)
		if who := names[p.SubagentID] + names[p.AgentID]; who != "" {
			line += " " + who
		}
		if p.Event != nil {
			var in struct{ Delta, ToolCallID, Offset string }
			_ = p.Event.Decode(&in)
			if in.Offset != "" {
				s.Errorf("a wrapped item has the offset %s", in.Offset)
			}
			if p.Event.Type == wire.ItemToolArgs {
				continue
			}
			line = names[p.SubagentID] + ": " + string(p.Event.Type) + " " + in.Delta + in.ToolCallID
		}
		lines = append(lines, strings.TrimSpace(plainly(line+" "+p.Name+p.Delta+p.ToolCallID+p.Status+" "+
			p.ParentToolCallID)))
	}
	s.lines("items", lines, "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT one", "TEXT_MESSAGE_END",
		"TOOL_CALL_START c1", "TOOL_CALL_END c1", "SUBAGENT_STARTED above lead c1", "above: TOOL_CALL_START c2",
		"above: TOOL_CALL_END c2",
		"SUBAGENT_STARTED below helper c2", "below: REASONING_START", "below: REASONING_CONTENT hm", "below: REASONING_END",
		"below: TEXT_MESSAGE_START", "below: TEXT_MESSAGE_CONTENT down", "below: TEXT_MESSAGE_END",
		"STEP_FINISHED below", "SUBAGENT_FINISHED below completed", "above: TOOL_CALL_RESULT c2", "STEP_FINISHED above",
		"above: TEXT_MESSAGE_START", "above: TEXT_MESSAGE_CONTENT up", "above: TEXT_MESSAGE_END", "STEP_FINISHED above",
		"SUBAGENT_FINISHED above completed", "TOOL_CALL_RESULT c1", "STEP_FINISHED",
		"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT end", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED finished")
}

// testNestedRefused makes calls that must not spawn a run.
func testNestedRefused(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "nobody", "x"), spawn("c2", "helper", ""), spawn("c3", "", "x"),
				spooltest.Call{ID: "c4", Name: spool.SpawnTool, Args: `{"name":1}`}, spawn("c5", "lead", "one")),
			spooltest.Say("oh"),
		},
		"one": {spooltest.Use(spawn("c1", "lead", "two")), spooltest.Say("1")},
		"two": {spooltest.Use(spawn("c1", "lead", "three")), spooltest.Say("2")},
	})
	e := s.working(s.treeConfig(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if n := len(s.nested()); n != 2 {
		s.Errorf("%d nested runs", n)
	}
	text := strings.Join(s.tree(), "\n")
	for _, want := range []string{
		`c1:"error: there is no agent \"nobody\": the choices are helper, lead"`, `c2:"error: instructions are required"`,
		`c3:"error: name is required: the choices are helper, lead"`,
		`c4:"error: the arguments are name, instructions and model, all of them strings"`,
		`two: tool c1:"error: runs may not be nested deeper than 2"`,
	} {
		if !strings.Contains(text, want) {
			s.Errorf("no %s in\n%s", want, text)
		}
	}
}

// testNestedPersona lets a model make up an agent, which has the tools of the spawning agent but cannot
// spawn.
func testNestedPersona(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "critic", "read")), spooltest.Say("ok")},
		"read": {spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}, spawn("c2", "critic", "more")), spooltest.Say("bad")},
	})
	c := s.treeConfig(m, plain("look", `"seen"`))
	c.Agents[0].Spawn = &spool.Spawn{Open: true}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages", s.of("read"), "user read",
		`assistant c1=look{} c2=spawnSubagent{"instructions":"more","name":"critic"}`,
		`tool c1:"seen" c2:"error: unknown tool spawnSubagent"`, "assistant bad")
	for _, r := range m.Requests() {
		if roleOf(r) == "read" && !strings.Contains(r.Instructions, "critic") {
			s.Errorf("instructions %q", r.Instructions)
		}
	}
}

func testNestedMaxSteps(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("ok")},
		"find": {
			spooltest.Turn{Text: []string{"so far"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
			spooltest.Use(spooltest.Call{ID: "c2", Name: "look"}), spooltest.Say("found"),
		},
	})
	c := s.treeConfig(m, plain("look", `"seen"`))
	c.Agents[0].Spawn.MaxSteps = 2
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if got := s.nested()["find"]; got.State != wire.Completed || got.StopReason != wire.StopMaxSteps || got.Steps != 2 {
		s.Errorf("the nested run: %+v", got)
	}
	if want := `tool c1:{"agentId":"ID","note":"it ended early: max steps","result":"found"}`; s.of("")[2] != want {
		s.Errorf("the result is %s, want %s", s.of("")[2], want)
	}
}

func testNestedResultCap(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("ok")},
		"find": {spooltest.Say("äöü", "äöü")},
	})
	c := s.treeConfig(m)
	c.Agents[0].Spawn.ResultCap = 4
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if want := `tool c1:{"agentId":"ID","result":"äöüä… [2 more characters were cut]"}`; s.of("")[2] != want {
		s.Errorf("the result is %s, want %s", s.of("")[2], want)
	}
}

// testNestedSlots has more nested runs than may be active at once.
func testNestedSlots(s nestedTest) {
	gate := make(chan struct{})
	script := map[string][]spooltest.Turn{"go": {spooltest.Use(
		spawn("c1", "helper", "a"), spawn("c2", "helper", "b"), spawn("c3", "helper", "c"), spawn("c4", "helper", "d"),
	), spooltest.Say("ok")}}
	for _, brief := range []string{"a", "b", "c", "d"} {
		script[brief] = []spooltest.Turn{{Text: []string{brief}, Gate: gate}}
	}
	m := casting(script)
	c := s.treeConfig(m)
	c.Agents[0].Spawn.MaxConcurrent = 2
	e := s.working(c)
	s.start(e, "r1", "go")
	s.until("two nested runs", func() bool { return m.Asked() == 3 })
	if n := len(s.nested()); n != 2 {
		s.Errorf("%d nested runs are at work", n)
	}
	close(gate)
	s.ended(wire.Completed)
	if n := len(s.nested()); n != 4 {
		s.Errorf("%d nested runs", n)
	}
}

// testNestedOrder has steps that spawn several runs at once, at two depths, more than may be active. The runs
// of a step begin in the order of its calls. The stream announces all of them in the order of the store, so a
// client that follows has them as a snapshot has them.
func testNestedOrder(s nestedTest) {
	script := map[string][]spooltest.Turn{}
	var leads []spooltest.Call
	for i := range 6 {
		lead := fmt.Sprintf("lead %d", i)
		leads = append(leads, spawn(spool.ToolCallID(fmt.Sprintf("c%d", i)), "lead", lead))
		script[lead] = []spooltest.Turn{
			spooltest.Use(spawn("c1", "helper", lead+" a"), spawn("c2", "helper", lead+" b"), spawn("c3", "helper", lead+" c")),
			spooltest.Say("up"),
		}
		for _, brief := range []string{" a", " b", " c"} {
			script[lead+brief] = []spooltest.Turn{spooltest.Say("down")}
		}
	}
	script["go"] = []spooltest.Turn{spooltest.Use(leads...), spooltest.Say("end")}
	c := s.treeConfig(casting(script))
	c.Agents[0].Spawn.MaxConcurrent = 4
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)

	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	var saved, announced []string
	briefs, ofParent := map[spool.AgentID]string{}, map[spool.RunID][]string{}
	for _, run := range slices.Backward(snap.Runs) {
		if run.ParentID != "" {
			briefs[run.AgentID()] = run.Prompt
			saved = append(saved, run.Prompt)
			ofParent[run.ParentID] = append(ofParent[run.ParentID], run.Prompt)
		}
	}
	for _, f := range client() {
		if f.Kind == wire.FrameStream && f.Item.Type == wire.ItemSubagentStarted {
			var p wire.SubagentStarted
			_ = f.Item.Decode(&p)
			announced = append(announced, briefs[p.SubagentID])
		}
	}
	if len(saved) != 24 || len(ofParent) != 7 {
		s.Fatalf("%d nested runs of %d runs", len(saved), len(ofParent))
	}
	s.lines("announcements", announced, saved...)
	for parent, runs := range ofParent {
		if !slices.IsSorted(runs) {
			s.Errorf("the runs of %s are not in the order of their calls: %q", parent, runs)
		}
	}
}

// testNestedSameCallIDs has a model that counts its calls from one in each agent.
func testNestedSameCallIDs(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "helper", "a"), spawn("c2", "helper", "b"), spooltest.Call{ID: "c3", Name: "look"}),
			spooltest.Say("ok"),
		},
		"a": {spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("a")},
		"b": {spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("b")},
	})
	e := s.working(s.treeConfig(m, plain("look", `"seen"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	seen := make(map[spool.ToolCallID]bool)
	for _, message := range s.messagesOf(chat) {
		for _, p := range message.ToolCalls() {
			if seen[p.ToolCallID] {
				s.Errorf("two calls have the id %s", p.ToolCallID)
			}
			seen[p.ToolCallID] = true
		}
	}
}
