package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var argumentTests = map[string]func(s approveTest){
	"Refused":  testArgumentsRefused,
	"Repaired": testArgumentsRepaired,
	"Signed":   testArgumentsSigned,
	"Same":     testArgumentsSame,
	"Edited":   testArgumentsEdited,
	"Old":      testArgumentsOld,
}

// twofold has arguments that different readers of JSON read differently.
var twofold = map[string]string{
	"twice":   `{"to":"bob","to":"eve"}`,
	"escaped": `{"to":"bob","t\u006f":"eve"}`,
	"deep":    `{"to":"bob","cc":[{"x":1,"x":2}]}`,
	"half":    `{"to":"bob\ud83d"}`,
	"nul":     `{"to":"bob\u0000eve"}`,
}

// testArgumentsRefused has a model that writes such arguments. The call is neither shown for approval
// nor run: the model reads what is wrong with it.
func testArgumentsRefused(s approveTest) {
	var calls []spooltest.Call
	for _, name := range []string{"twice", "escaped", "deep", "half", "nul"} {
		calls = append(calls, spooltest.Call{ID: spool.ToolCallID("c-" + name), Name: "send", Args: twofold[name]},
			spooltest.Call{ID: spool.ToolCallID("p-" + name), Name: "plain", Args: twofold[name]})
	}
	e := s.working(s.config(spooltest.NewModel(spooltest.Use(calls...), spooltest.Say("done")), checked(),
		plain("plain", "1")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	messages := s.messagesOf(chat)
	results := messages[len(messages)-2].ToolResults()
	if s.executed() != 0 || len(results) != len(calls) {
		s.Errorf("%d calls ran, and there are %d results", s.executed(), len(results))
	}
	for _, p := range results {
		if !strings.Contains(string(p.Result), "error: the JSON of the arguments has ") {
			s.Errorf("the result of %s is %s", p.ToolCallID, p.Result)
		}
	}
}

// typed returns a tool whose arguments have types.
func typed(s approveTest, t spool.Tool) spool.Tool {
	t.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	schema, err := argschema.Compile(t.Parameters)
	if err != nil {
		s.Fatal(err)
	}
	t.Check = schema.Check
	return t
}

// testArgumentsRepaired has a model that writes arguments in other forms. The question, the tool, the stream and the
// message have the repaired ones, and the message what was sent too. Another process goes on with them.
func testArgumentsRepaired(s approveTest) {
	c := s.config(spooltest.NewReplayModel(spooltest.Use(
		spooltest.Call{ID: "c1", Name: "send", Args: "```json\n{\"n\":\"5\",}\n```"},
		spooltest.Call{ID: "c2", Name: "plain", Args: "null"},
		spooltest.Call{ID: "c3", Name: "plain", Args: `{"n":"five"}`},
		spooltest.Call{ID: "c4", Name: "plain", Args: `{"n":"six"}`},
	), spooltest.Say("done")), typed(s, approved("send", "1")), typed(s, plain("plain", "2")))
	c.Agents[0].RepairArguments = func(_ context.Context, call spool.ToolCall, problem error) (json.RawMessage, error) {
		if call.Name != "plain" || call.RunID != "r1" || call.Step != 1 || problem == nil {
			s.Errorf("the hook gets %+v and %v", call, problem)
		}
		if string(call.Args) == `{"n":"six"}` {
			return nil, errors.New("no idea")
		}
		return json.RawMessage(`{"n": 5}`), nil
	}
	first := s.engine(c)
	stop := s.work(first)
	s.start(first, "r1", "go")
	s.becomes(wire.WaitingForInput)
	if park := s.parksOf(chat, "r1")[0]; string(park.Args) != `{"n":5}` {
		s.Errorf("the question has %s", park.Args)
	}
	items, err := s.backend.Live.Read(context.Background(), store.StreamKey{Thread: chat, ID: "r1:1"}, wire.Offset{}, 0)
	if err != nil {
		s.Fatal(err)
	}
	told := make(map[spool.ToolCallID]string)
	for _, item := range items.Items {
		var p wire.ToolEnded
		if item.Type == wire.ItemToolEnd && json.Unmarshal(item.Data, &p) == nil {
			told[p.ToolCallID] = string(p.Args) + " " + string(p.SentArgs)
		}
	}
	stop()
	s.answer(s.working(c), "c1", true, "")
	s.ended(wire.Completed)
	saved := make(map[spool.ToolCallID]string)
	for _, p := range s.messagesOf(chat)[1].ToolCalls() {
		saved[p.ToolCallID] = string(p.Args) + " " + string(p.SentArgs)
	}
	want := map[spool.ToolCallID]string{
		"c1": `{"n":5} "` + "```json\\n{\\\"n\\\":\\\"5\\\",}\\n```" + `"`, "c2": "{} null", "c3": `{"n":5} {"n":"five"}`,
		"c4": `{"n":"six"} `,
	}
	s.same("stream", told, want)
	s.same("messages", saved, want)
	if got := s.called("send").Args; string(got) != `{"n":5}` || s.executed() != 3 {
		s.Errorf("the tool got %s in one of %d calls", got, s.executed())
	}
}

// testArgumentsSigned has calls with the data of a provider, which may sign the arguments. The model gets an object
// back as it has sent it, and anything else as it was read.
func testArgumentsSigned(s approveTest) {
	data := []byte(`{"scripted":{"of":"<model>"}}`)
	m := spooltest.NewReplayModel(spooltest.Use(
		spooltest.Call{ID: "c1", Name: "plain", Args: `{"n":"5"}`, Provider: data},
		spooltest.Call{ID: "c2", Name: "plain", Args: "null", Provider: data},
		spooltest.Call{ID: "c3", Name: "plain", Args: `{"n":"5"}`},
	), spooltest.Say("done"))
	s.start(s.working(s.config(m, typed(s, plain("plain", "2")))), "r1", "go")
	s.ended(wire.Completed)
	var sent []string
	for _, p := range m.Requests()[1].Messages[1].ToolCalls() {
		sent = append(sent, string(p.Args))
	}
	s.same("the next request", sent, []string{`{"n":"5"}`, "{}", `{"n":5}`})
	for _, p := range s.messagesOf(chat)[1].ToolCalls() {
		if p.ToolCallID == "c1" && string(p.Args) != `{"n":5}` {
			s.Errorf("the message has %s", p.Args)
		}
	}
}

// testArgumentsSame has a model that formats arguments unusually. The stream, the message, the question
// for approval and the tool all get the same bytes, also in another process.
func testArgumentsSame(s approveTest) {
	const wrote = "{ \"to\" : \"<b\\u00f6b> & \u2028\\/\\ud83d\\ude00\",\n\"n\" : 1.0e2, \"z\":[ ] , \"a\": {} }"
	c := s.config(
		spooltest.NewReplayModel(
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: wrote},
				spooltest.Call{ID: "c2", Name: "plain", Args: wrote}),
			spooltest.Say("done"),
		),
		checked(), plain("plain", "1"),
	)
	first := s.engine(c)
	stop := s.work(first)
	s.start(first, "r1", "go")
	s.becomes(wire.WaitingForInput)
	seen := make(map[string]json.RawMessage)
	park := s.parksOf(chat, "r1")[0]
	seen["park"] = park.Args
	snapshot, err := first.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	for _, entry := range snapshot.ActiveEvents {
		if entry.Type == wire.EntryInputRequired {
			var p wire.InputRequired
			if err := json.Unmarshal(entry.Payload, &p); err != nil {
				s.Fatal(err)
			}
			seen["question"] = p.Arguments
		}
	}
	items, err := s.backend.Live.Read(context.Background(), store.StreamKey{Thread: chat, ID: "r1:1"}, wire.Offset{}, 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, item := range items.Items {
		if item.Type == wire.ItemToolEnd {
			var p wire.ToolEnded
			if err := json.Unmarshal(item.Data, &p); err != nil {
				s.Fatal(err)
			}
			seen["stream "+string(p.ToolCallID)] = p.Args
		}
	}
	stop()
	s.answer(s.working(c), "c1", true, "")
	s.ended(wire.Completed)
	for _, m := range s.messagesOf(chat) {
		for _, p := range m.ToolCalls() {
			seen["message "+string(p.ToolCallID)] = p.Args
		}
	}
	for _, tool := range []string{"send", "plain"} {
		seen[tool] = s.called(tool).Args
	}
	if len(seen) != 8 {
		s.Errorf("the arguments were seen in %d places: %s", len(seen), seen)
	}
	for where, args := range seen {
		if !bytes.Equal(args, seen["send"]) {
			s.Errorf("%s has %s, and the tool got %s", where, args, seen["send"])
		}
	}
}

// testArgumentsEdited has a person who answers with such arguments. The answer is refused with the name
// of the field, and changes nothing.
func testArgumentsEdited(s approveTest) {
	e := s.working(s.config(sending(), checked()))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	for name, text := range twofold {
		for field, r := range map[string]wire.Response{
			"arguments": edit(text),
			"payload":   {ToolCallID: "c1", Approved: true, Payload: json.RawMessage(text)},
		} {
			if _, err := s.respondWith(e, r); spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), field+" ") {
				s.Errorf("%s in %s: %v", name, field, err)
			}
		}
	}
	if s.thread().State != wire.WaitingForInput || s.executed() != 0 {
		s.Errorf("the thread is %s after %d calls", s.thread().State, s.executed())
	}
	s.delivered(e, edit(" {\n\"to\" : \"<eve>\"}"))
	s.ended(wire.Completed)
	if got := s.called("send").Args; string(got) != `{"to":"\u003ceve\u003e"}` {
		s.Errorf("the tool got %s", got)
	}
}

// testArgumentsOld answers a call that an older version let park with a repeated key, which its digest
// does not show. The answer counts, but the tool does not run.
func testArgumentsOld(s approveTest) {
	e := s.parked(sending(), checked())
	p := s.park()
	p.Args = json.RawMessage(`{"to":"eve","to":"bob"}`)
	s.putPark(p)
	s.delivered(e, wire.Response{ToolCallID: "c1", Approved: true})
	s.work(e)
	s.ended(wire.Completed)
	if last := s.script()[2]; s.executed() != 0 || !strings.Contains(last, "twice") {
		s.Errorf("%d calls ran, and the model reads %s", s.executed(), last)
	}
}
