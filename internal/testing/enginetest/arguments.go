package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
)

var argumentTests = map[string]func(s approveTest){
	"Refused": testArgumentsRefused,
	"Same":    testArgumentsSame,
	"Edited":  testArgumentsEdited,
	"Old":     testArgumentsOld,
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
		calls = append(calls, spooltest.Call{ID: spool.ToolCallID("c-" + name), Name: "send", Args: twofold[name]}, spooltest.Call{ID: spool.ToolCallID("p-" + name), Name: "plain", Args: twofold[name]})
	}
	e := s.working(s.config(spooltest.NewModel(spooltest.Use(calls...), spooltest.Say("done")), checked(), plain("plain", "1")))
	s.start(e, "r1", "go")
	s.ended(spool.Completed)
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

// testArgumentsSame has a model that formats arguments unusually. The stream, the message, the question
// for approval and the tool all get the same bytes, also in another process.
func testArgumentsSame(s approveTest) {
	const wrote = "{ \"to\" : \"<b\\u00f6b> & \u2028\\/\\ud83d\\ude00\",\n\"n\" : 1.0e2, \"z\":[ ] , \"a\": {} }"
	c := s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: wrote}, spooltest.Call{ID: "c2", Name: "plain", Args: wrote}), spooltest.Say("done")), checked(), plain("plain", "1"))
	first := s.engine(c)
	stop := s.work(first)
	s.start(first, "r1", "go")
	s.becomes(spool.WaitingForInput)
	seen := make(map[string]json.RawMessage)
	park := s.parksOf(chat, "r1")[0]
	seen["park"] = park.Args
	snapshot, err := first.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	for _, entry := range snapshot.ActiveEvents {
		if entry.Type == spool.EntryInputRequired {
			var p spool.InputRequired
			if err := json.Unmarshal(entry.Payload, &p); err != nil {
				s.Fatal(err)
			}
			seen["question"] = p.Arguments
		}
	}
	items, err := s.backend.Live.Read(context.Background(), spool.StreamKey{Thread: chat, ID: "r1:1"}, spool.Offset{}, 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, item := range items.Items {
		if item.Type == spool.ItemToolEnd {
			var p spool.ToolEnded
			if err := json.Unmarshal(item.Data, &p); err != nil {
				s.Fatal(err)
			}
			seen["stream "+string(p.ToolCallID)] = p.Args
		}
	}
	stop()
	s.answer(s.working(c), "c1", true, "")
	s.ended(spool.Completed)
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
	s.becomes(spool.WaitingForInput)
	for name, text := range twofold {
		for field, r := range map[string]engine.Response{
			"arguments": edit(text),
			"payload":   {ToolCallID: "c1", Approved: true, Payload: json.RawMessage(text)},
		} {
			if _, err := s.respondWith(e, r); spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), field+" ") {
				s.Errorf("%s in %s: %v", name, field, err)
			}
		}
	}
	if s.thread().State != spool.WaitingForInput || s.executed() != 0 {
		s.Errorf("the thread is %s after %d calls", s.thread().State, s.executed())
	}
	s.delivered(e, edit(" {\n\"to\" : \"<eve>\"}"))
	s.ended(spool.Completed)
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
	s.delivered(e, engine.Response{ToolCallID: "c1", Approved: true})
	s.work(e)
	s.ended(spool.Completed)
	if last := s.script()[2]; s.executed() != 0 || !strings.Contains(last, "twice") {
		s.Errorf("%d calls ran, and the model reads %s", s.executed(), last)
	}
}
