package agui_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// story is a thread's life as clients saw it, for cuts.mjs.
type story struct {
	Name string `json:"name"`
	// Full is what a client saw that was there from the start to the end.
	Full string `json:"full"`
	// Resumes is what a client sees that comes at the end, by the id that it has.
	Resumes map[string]string `json:"resumes"`
	// Live is what clients saw that came in the middle.
	Live []liveBody `json:"live"`
	// Bytes is how much of Full is cut also inside of messages, at each byte that Every divides.
	Bytes int `json:"bytes"`
	Every int `json:"every"`
	// Events are types of which there have to be some.
	Events []string `json:"events"`
}

type liveBody struct {
	Have string `json:"have"`
	Body string `json:"body"`
}

// The official client takes every stream from every place, and shows the same in the end.
func TestCuts(t *testing.T) {
	t.Parallel()

	every := 7 // in the long tier: each byte
	if os.Getenv("SPOOL_TEST_LONG") == "1" {
		every = 1
	}
	failing := func(status int) error { return &spool.ModelError{Status: status, Message: "the model is gone"} }
	for name, s := range map[string]struct {
		model  spool.Model
		bytes  int
		play   func(t *testing.T, b *bundle)
		events []string
		// ends is the type of the event by which clients see that the run is over, where the
		// record has no entry of that. Empty: the record has one.
		ends string
	}{
		"Tools": {
			model: spooltest.NewReplayModel(
				spooltest.Turn{
					Reasoning: []string{"two ", "lookups"}, Text: []string{"I look ", "it <up> \u00e9\u4e16."},
					Calls: []spooltest.Call{{ID: "c1", Name: "lookup", Args: `{"n":1}`}, {ID: "c2", Name: "lookup", Args: `{"n":2}`}},
				},
				spooltest.Turn{Calls: []spooltest.Call{{ID: "c3", Name: "lookup"}}},
				spooltest.Turn{Text: []string{"It is ", "done."}, Usage: spooltest.Tokens(3, 4)},
			),
			bytes: 3000,
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.Completed)
			},
			events: []string{
				"RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "STATE_DELTA", "STEP_STARTED", "STEP_FINISHED",
				"REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END", "REASONING_END",
				"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
				"TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_FINISHED",
			},
		},
		"Parks": {
			model: spooltest.NewReplayModel(
				spooltest.Turn{
					Reasoning: []string{"hm"}, Text: []string{"May I?"},
					Calls: []spooltest.Call{
						{ID: "c1", Name: "send"},
						{ID: "c2", Name: "lookup", Args: `{"n":2}`},
						{ID: "c3", Name: "wait"},
					},
				},
				spooltest.Turn{Calls: []spooltest.Call{{ID: "c4", Name: "send"}}},
				spooltest.Say("No ", "more."),
			),
			bytes: 500,
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.WaitingForInput)
				b.hold()
				b.answer(t, "c1", true, "")
				b.hold()
				b.answer(t, "c3", true, `{"at":"noon"}`)
				until(t, "the second park", func() bool {
					s, err := b.engine.Snapshot(t.Context(), key, nil)
					return err == nil && slices.ContainsFunc(agui.Open(s), func(i agui.Interrupt) bool { return i.ID == "c4" })
				})
				b.hold()
				b.answer(t, "c4", false, "")
				b.reaches(t, wire.Completed)
			},
			events: []string{"RUN_STARTED", "RUN_FINISHED", "TOOL_CALL_RESULT", "CUSTOM"},
		},
		"Nested": {
			model: spooltest.NewModel(
				spooltest.Turn{Text: []string{"I ask."}, Calls: []spooltest.Call{
					{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mail ann."}`},
				}},
				spooltest.Turn{
					Text:  []string{"May ", "I?"},
					Calls: []spooltest.Call{{ID: "c1", Name: "send"}, {ID: "c2", Name: "lookup"}},
				},
				spooltest.Say("It is ", "mailed."),
				spooltest.Say("They ", "did."),
			),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.WaitingForInput)
				b.hold()
				s, err := b.engine.Snapshot(t.Context(), key, nil)
				if err != nil || len(agui.Open(s)) != 1 {
					t.Fatalf("%+v, %v, want one park", s, err)
				}
				b.answer(t, agui.Open(s)[0].ToolCallID, true, "")
				b.reaches(t, wire.Completed)
			},
			events: []string{"RUN_FINISHED", "TOOL_CALL_RESULT", "CUSTOM"},
		},
		"ClientTools": { // one of the run's own beside a tool of the agent, then one of a nested run
			model: spooltest.NewModel(
				spooltest.Turn{
					Text:  []string{"Mark ", "it."},
					Calls: []spooltest.Call{{ID: "c1", Name: "mark"}, {ID: "c2", Name: "lookup"}},
				},
				spooltest.Turn{
					Calls: []spooltest.Call{{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mark ann."}`}},
				},
				spooltest.Turn{Text: []string{"Please."}, Calls: []spooltest.Call{{ID: "c3", Name: "mark", Args: `{"who":"ann"}`}}},
				spooltest.Say("Marked."),
				spooltest.Say("They ", "did."),
			),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.answer(t, b.clientCall(t, ""), true, `{"marked":1}`)
				b.hold()
				b.answer(t, b.clientCall(t, "c1"), true, `"ann"`)
				b.reaches(t, wire.Completed)
			},
			events: []string{"RUN_FINISHED", "TOOL_CALL_RESULT", "CUSTOM"},
		},
		"ParkIsStopped": {
			model: spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.WaitingForInput)
				b.hold()
				b.halt(t)
				b.again(t, "use nothing")
				b.reaches(t, wire.WaitingForInput)
			},
			events: []string{"RUN_FINISHED"},
		},
		"ParkIsStoppedAlone": { // nobody starts anything after it
			model: spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.WaitingForInput)
				b.hold()
				b.halt(t)
				b.reaches(t, wire.Cancelled)
			},
			ends:   "RUN_FINISHED",
			events: []string{"RUN_FINISHED"},
		},
		"ParkExpiresAndFails": {
			model: spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "urgent"})),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.WaitingForInput)
				b.hold()
				b.reaches(t, wire.Failed)
			},
			ends:   "RUN_ERROR",
			events: []string{"RUN_FINISHED", "RUN_ERROR"},
		},
		"Fails": {
			model: spooltest.NewReplayModel(
				spooltest.Turn{Text: []string{"Look."}, Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}}},
				spooltest.Turn{Reasoning: []string{"oh"}, Text: []string{"I am ", "about to"}, Err: failing(400)},
			),
			bytes: 500,
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.Failed)
			},
			events: []string{"RUN_ERROR"},
		},
		"Retries": {
			model: spooltest.NewModel(
				spooltest.Turn{Text: []string{"Look."}, Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}}},
				spooltest.Turn{Text: []string{"This is ", "not said"}, Err: failing(500)},
				spooltest.Turn{Text: []string{"nor"}, Calls: []spooltest.Call{{ID: "c2", Name: "lookup"}}, Err: failing(503)},
				spooltest.Say("This ", "is."),
			),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				b.reaches(t, wire.Completed)
			},
			events: []string{"CUSTOM", "RUN_FINISHED"},
		},
		"Stopped": {
			model: spooltest.NewReplayModel(spooltest.Turn{Text: []string{"I go ", "on and ", "on"}, Gate: make(chan struct{})}),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				until(t, "the text", func() bool {
					s, err := b.engine.Snapshot(t.Context(), key, nil)
					return err == nil && s.Stream != nil && len(s.Stream.Items) >= 5
				})
				b.halt(t)
				b.reaches(t, wire.Cancelled)
			},
			events: []string{"RUN_FINISHED"},
		},
		"Edited": {
			model: spooltest.NewReplayModel(spooltest.Say("An ", "answer.")),
			play: func(t *testing.T, b *bundle) {
				t.Helper()
				first := b.reaches(t, wire.Completed)
				b.again(t, "another question")
				b.reaches(t, wire.Completed)
				b.edit(t, first.Messages[0].ID, "the first one, edited")
				b.reaches(t, wire.Completed)
			},
			events: []string{"CUSTOM"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			recorded := record(t, name, setup(t, s.model), s.ends, s.play)
			recorded.Bytes, recorded.Every, recorded.Events = s.bytes, every, s.events
			input, err := json.Marshal([]story{recorded})
			if err != nil {
				t.Fatal(err)
			}
			var said struct {
				Checks  int
				Problem string
			}
			out := node(t, input, "cuts.mjs")
			if err := json.Unmarshal([]byte(out), &said); err != nil || said.Problem != "" {
				t.Fatalf("%v\n%s", err, said.Problem)
			}
			t.Logf("%d checks, %d connections in the middle, %d ids", said.Checks, len(recorded.Live), len(recorded.Resumes))
		})
	}
}

// record plays a story with clients that come at each of its steps, with the last id that
// somebody has seen and without one.
func record(t *testing.T, name string, b *bundle, ends string, play func(t *testing.T, b *bundle)) story {
	t.Helper()

	start := wire.StartRequest{
		Prompt: "a question", ClientMessageID: "mine", RunID: "r1",
		Client: wire.ClientInput{Tools: []wire.ClientTool{{Name: "mark"}}},
	}
	if got, err := b.engine.Run(t.Context(), key, start); err != nil || !got.Accepted {
		t.Fatal(got, err)
	}
	full := b.connect(t, "")
	until(t, "the first id", func() bool { return full.last() != "" })
	var mu sync.Mutex
	var live []*connection
	b.onHold(func() {
		mu.Lock() // tools run at the same time
		defer mu.Unlock()
		if have := full.last(); have != "" && len(live) < 60 {
			live = append(live, b.connect(t, ""), b.connect(t, have))
		}
	})
	b.work(t)
	play(t, b)
	b.onHold(nil)

	all := append([]*connection{full}, live...)
	for _, c := range all {
		b.caughtUp(t, c)
		if ends != "" {
			until(t, "the end of the run on a connection", func() bool { return c.ended(ends) })
		}
	}
	resumes := map[string]*connection{"": b.connect(t, "")}
	for _, c := range all {
		for _, m := range regexp.MustCompile(`(?m)^id: (.*)$`).FindAllStringSubmatch(c.text(), -1) {
			if resumes[m[1]] == nil {
				resumes[m[1]] = b.connect(t, m[1])
			}
		}
	}
	b.engine.Close()
	s := story{Name: name, Resumes: map[string]string{}, Live: []liveBody{}}
	<-full.over
	s.Full = full.text()
	for id, c := range resumes {
		<-c.over
		s.Resumes[id] = c.text()
	}
	for _, c := range live {
		<-c.over
		s.Live = append(s.Live, liveBody{Have: c.have, Body: c.text()})
	}
	return s
}

func (b *bundle) answer(t *testing.T, id spool.ToolCallID, approved bool, payload string) {
	t.Helper()

	r := wire.Response{ToolCallID: id, Approved: approved}
	if payload != "" {
		r.Payload = json.RawMessage(payload)
	}
	if got, err := b.engine.Respond(t.Context(), key, r); err != nil || !got.Delivered {
		t.Fatal(got, err)
	}
}

// clientCall returns the call that waits for the client, once that is another than the one before.
func (b *bundle) clientCall(t *testing.T, before spool.ToolCallID) (id spool.ToolCallID) {
	t.Helper()

	until(t, "a call of the client's tool", func() bool {
		s, err := b.engine.Snapshot(t.Context(), key, nil)
		if err != nil || s.Thread.State != wire.WaitingForInput {
			return false
		}
		for _, e := range s.ActiveEvents {
			var in wire.InputRequired
			if e.Type == wire.EntryInputRequired && json.Unmarshal(e.Payload, &in) == nil && in.Reason == wire.ParkClientTool {
				id = in.ToolCallID
			}
		}
		return id != "" && id != before
	})
	return id
}

func (b *bundle) halt(t *testing.T) {
	t.Helper()

	if got, err := b.engine.Stop(t.Context(), key); err != nil || !got.Accepted {
		t.Fatal(got, err)
	}
}

func (b *bundle) again(t *testing.T, prompt string) {
	t.Helper()

	if got, err := b.engine.Run(t.Context(), key, wire.StartRequest{Prompt: prompt}); err != nil || !got.Accepted {
		t.Fatal(got, err)
	}
}

func (b *bundle) edit(t *testing.T, id spool.MessageID, prompt string) {
	t.Helper()

	if got, err := b.engine.Run(t.Context(), key, wire.StartRequest{Prompt: prompt, EditMessageID: id}); err != nil ||
		!got.Accepted {
		t.Fatal(got, err)
	}
}
