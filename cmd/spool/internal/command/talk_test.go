package command

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// talkTo executes a command against a server.
func talkTo(p *process, args ...string) result {
	return command(map[string]string{urlVariable: p.url}, args...)
}

// Without a terminal, chat prints the answer, and its exit code says how the run has ended.
func TestChatPipe(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	got := talkTo(p, "chat", "Good", "morning")
	if got.code != 0 || !strings.HasPrefix(got.stdout, "(demo model, not a language model) You said: Good morning") {
		t.Errorf("%+v", got)
	}
	got = talkTo(p, "chat", "--thread", "t1", `use send_email with {"to":"ann"}`)
	if got.code != exitWaits || !strings.Contains(got.stderr, `waits for an answer: send_email {"to":"ann"}`) ||
		got.stdout != "(demo model, not a language model) I call send_email.\n" {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "chat", "--thread", "t1", "Hello"); got.code != exitFailure ||
		!strings.Contains(got.stderr, "the run was refused") {
		t.Errorf("busy: %+v", got)
	}
	if got = talkTo(p, "chat", "--agent", "nobody", "Hello"); got.code != exitFailure || got.stdout != "" {
		t.Errorf("no agent: %+v", got)
	}
	if got = talkTo(p, "chat"); got.code != exitUsage || !strings.Contains(got.stderr, "there is no prompt") {
		t.Errorf("no prompt: %+v", got)
	}
	got = talkTo(p, "chat", "ask researcher to use clock with {}")
	if got.code != 0 || !strings.Contains(got.stderr, "  researcher:\n") ||
		!strings.Contains(got.stderr, "\n  → clock {}\n") || strings.Contains(got.stdout, "→") {
		t.Errorf("nested: %+v", got)
	}
	got = talkTo(p, "chat", "Hello \u202eevil\u009b31m and \x1b]0;title\x07")
	if got.code != 0 || strings.ContainsAny(got.stdout+got.stderr, "\x1b\x07\u009b\u202e") ||
		!strings.Contains(got.stdout, "Hello evil31m and ]0;title") {
		t.Errorf("control characters: %+v", got)
	}
}

// With --json, chat prints the start, each frame with its cursor, and the outcome.
func TestChatJSON(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	talkTo(p, "chat", "--thread", "t1", "Good morning")
	got := talkTo(p, "chat", "--json", "--thread", "t1", "Hello")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	var started wire.RunResult
	var outcome wire.RunOutcome
	if got.code != 0 || json.Unmarshal([]byte(lines[0]), &started) != nil ||
		json.Unmarshal([]byte(lines[len(lines)-1]), &outcome) != nil ||
		!started.Accepted || outcome.State != wire.Completed || outcome.RunID != started.RunID {
		t.Fatalf("%+v", got)
	}
	// The frames begin behind what the thread had before, and lack none: tail prints the same.
	tail := strings.Split(strings.TrimSpace(talkTo(p, "tail", "t1", "--since", "2", "--end", "--json").stdout), "\n")
	if a, b := withIDs(lines), withIDs(tail); len(a) < 10 || !slices.Equal(a, b) ||
		!strings.Contains(a[0], `"RUN_STARTED"`) {
		t.Errorf("chat prints\n%s\nand tail prints\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	last := ""
	for _, line := range lines[1 : len(lines)-1] {
		var f struct {
			ID string
			wire.Frame
		}
		if err := json.Unmarshal([]byte(line), &f.Frame); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var id struct{ ID string }
		if json.Unmarshal([]byte(line), &id) == nil && id.ID != "" {
			last = id.ID
		}
	}
	// What tail prints behind that cursor is nothing but the present state.
	got = talkTo(p, "tail", "t1", "--cursor", last, "--end", "--json")
	if got.code != 0 || strings.Count(got.stdout, "\n") != 1 || !strings.Contains(got.stdout, "STATE_CHANGE") {
		t.Errorf("behind %q: %+v", last, got)
	}
}

// withIDs returns the lines of frames that move the cursor.
func withIDs(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, `{"id":`) })
}

func TestThreadsAndTail(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	talkTo(p, "chat", "--thread", "t1", "Good morning")
	talkTo(p, "chat", "--thread", "t2", "Good evening")
	got := talkTo(p, "threads")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[1], "t2  ") ||
		!strings.HasSuffix(lines[2], "  Good morning") {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "--search", "evening", "--json"); strings.Count(got.stdout, "\n") != 1 ||
		!strings.Contains(got.stdout, `"id":"t2"`) {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "--limit", "1"); strings.Count(got.stdout, "\n") != 2 ||
		!strings.Contains(got.stderr, "there are more threads") {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "--limit", "2", "--json"); strings.Count(got.stdout, "\n") != 2 || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "--limit", "0"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "--limit: must be at least 1") {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "delete"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "threads delete wants the id of a thread") {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "--state", "nonsense"); got.code != exitFailure {
		t.Errorf("%+v", got)
	}
	got = talkTo(p, "tail", "t1", "--end")
	if got.code != 0 || !strings.Contains(got.stdout, "RUN_STARTED") || !strings.Contains(got.stdout, "\n2 ") ||
		!strings.Contains(got.stdout, "TEXT_MESSAGE_CONTENT") {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "tail", "t1", "--since", "2", "--end"); strings.Contains(got.stdout, "RUN_STARTED") {
		t.Errorf("since 2: %+v", got)
	}
	if got = talkTo(p, "tail", "nobody"); got.code != exitFailure || !strings.Contains(got.stderr, "Thread not found") {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "tail", "t1", "--cursor", "x"); got.code != exitUsage {
		t.Errorf("%+v", got)
	}
	if got = talkTo(p, "threads", "delete", "t1", "t9"); got.code != exitFailure || got.stdout != "deleted t1\n" ||
		!strings.Contains(got.stderr, "delete t9: Thread not found") {
		t.Errorf("%+v", got)
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	talkTo(p, "chat", "--thread", "t1", `use send_email with {"to":"ann"}`)
	got := talkTo(p, "inbox")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 || len(lines) != 2 || !strings.Contains(lines[1], `send_email {"to":"ann"} (until `) {
		t.Fatalf("%+v", got)
	}
	call, _, _ := strings.Cut(lines[1], " ")
	talkTo(p, "chat", "--thread", "t2", `use send_email with {"to":"eve"}`)
	if got := talkTo(p, "inbox", "--limit", "1", "--json"); strings.Count(got.stdout, "\n") != 1 ||
		!strings.Contains(got.stderr, "there are more questions") {
		t.Errorf("%+v", got)
	}
	talkTo(p, "threads", "delete", "t2")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"answer", call}, exitUsage, "wants either --approve or --deny"},
		{[]string{"answer", call, "--deny", "--arguments", "{}"}, exitUsage, "arguments go with an approval"},
		{[]string{"answer", call, "--approve", "--arguments", "[]"}, exitUsage, "must be a JSON object"},
		{[]string{"answer", "nothing", "--approve"}, exitFailure, "no call nothing waits"},
		{[]string{"anser"}, exitUsage, `no place for "anser"`},
		{[]string{"answer", call, "--approve", "--arguments", `{"to":"bob"}`, "--reason", "he is back"}, 0, ""},
		{[]string{"answer", call, "--approve"}, exitFailure, "waits for an answer"},
	} {
		if got := talkTo(p, append([]string{"inbox"}, c.args...)...); got.code != c.code ||
			!strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	c, err := client.New(p.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := patiently(t)
	for v, err := range c.Watch(ended, "t1", client.WatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if v.Settled() && v.State().Terminal() {
			break
		}
	}
	if got := talkTo(p, "tail", "t1", "--end", "--json"); !strings.Contains(got.stdout, "No email was sent to bob") {
		t.Errorf("the call ran with something else: %s", got.stdout)
	}
}

// Starts that wait for their time are listed, moved and cancelled.
func TestStarts(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	c, err := client.New(p.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []spool.RunID{"r1", "r2"} {
		r := client.RunRequest{ThreadID: "t1", RunID: run, Prompt: "hello", StartAt: time.Now().Add(time.Hour)}
		if _, err := c.Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--thread", "t2", "--json"}, 0, ""},
		{[]string{"--json"}, 0, `"runId":"r2"`},
		{[]string{"move", "r1", "2027-01-31T09:00:00Z"}, 0, "r1   t1      2027-01-31 09:00Z  assistant  hello"},
		{[]string{"cancel", "r1"}, 0, "r1 "},
		{[]string{"cancel", "r1"}, exitFailure, "Delayed start not found"},
		{[]string{"move", "r2", "tomorrow"}, exitUsage, "wants a time"},
		{[]string{"move", "r2"}, exitUsage, "move RUN TIME"},
		{[]string{"x"}, exitUsage, "cancel RUN"},
		{[]string{"move", "r2", "now"}, 0, "r2 "},
	} {
		got := talkTo(p, append([]string{"starts"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) || c.want == "" && got.stdout != "" {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}

// Every command has a help, whose lines fit, and which names all its flags.
func TestTalkHelp(t *testing.T) {
	t.Parallel()

	for _, c := range []talkCommand{
		chatCommand(), threadsCommand(), tailCommand(), inboxCommand(), schedulesCommand(), startsCommand(),
	} {
		got := command(nil, c.name, "--help")
		if got.code != 0 || !strings.Contains(got.stdout, "spool "+c.name) {
			t.Errorf("%s: %+v", c.name, got)
		}
		for line := range strings.Lines(got.stdout) {
			if len([]rune(line)) > 100 {
				t.Errorf("a line of the help of %s is too long: %s", c.name, line)
			}
		}
		if got := command(nil, c.name, "--nonsense"); got.code != exitUsage ||
			!strings.Contains(got.stderr, `Run "spool `+c.name+` --help"`) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := command(nil, c.name, "--url", "ftp://x", "y"); got.code != exitUsage {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
