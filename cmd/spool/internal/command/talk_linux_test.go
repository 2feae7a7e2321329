package command

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool/internal/testing/script"
)

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlU = "\x15"
)

// A person talks: steers and stops a run, edits the arguments of a call, and leaves.
func TestChatTerminal(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	s := inTerminal(t, nil, "chat", "--url", p.url, "slow 300")
	s.expect("(demo model, not a language model) 1 2 3 ")
	s.typed("And red ones\r")
	s.expect("» And red ones")
	s.expect("… the message is read before the next step")
	s.typed(ctrlC)
	s.expect("… stopping; Ctrl-C again leaves")
	s.expect("… the run was stopped")
	s.expect("> ")

	s.typed("use send_email with {\"to\":\"ann\"} x\x7f\x7f\r") // with two keys taken back
	s.expect("→ send_email {\"to\":\"ann\"}")
	s.expect("? send_email {\"to\":\"ann\"} (until ")
	s.expect("a approve · d deny · e edit the arguments · r with a reason")
	s.typed("x") // no answer
	s.typed("e")
	s.expect(`arguments: {"to":"ann"}`)
	s.typed(ctrlU + "[1]\r")
	s.expect("… the arguments must be a JSON object")
	s.expect("? send_email")
	s.typed("e")
	s.expect(`arguments: {"to":"ann"}`)
	s.typed(ctrlU + "{\"to\":\"bob\"}\r")
	s.expect("… approved send_email")
	s.expect("No email was sent to bob")
	s.expect("> ")

	s.typed("use send_email with {\"to\":\"eve\"}\r")
	s.expect("? send_email {\"to\":\"eve\"}")
	s.typed("r")
	s.expect("reason: ")
	s.typed("not on a Friday\r")
	s.expect("approve (y/n): ")
	s.typed("maybe\r")
	s.expect("… y or n")
	s.typed("r")
	s.expect("reason: ")
	s.typed("not on a Friday\r")
	s.expect("approve (y/n): ")
	s.typed("d\r")
	s.expect("… denied send_email")
	s.expect("not on a Friday")
	s.expect("> ")
	s.typed(ctrlD)
	s.expect("spool chat --thread ")
	thread := s.expect(" goes on here")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(s.all(), "\x1b") {
		t.Error("with NO_COLOR, the terminal gets escape sequences")
	}

	s = inTerminal(t, nil, "chat", "--url", p.url, "--thread", thread)
	s.expect("> slow 300")
	s.expect("> use send_email with {\"to\":\"eve\"}")
	s.expect("\n> ")
	s.typed("Good morning\r")
	s.expect("You said: Good morning")
	s.expect("> ")
	s.typed(ctrlC)
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	s = inTerminal(t, nil, "chat", "--url", p.url, "--thread", thread)
	s.expect(" earlier messages")
	s.expect("> use send_email with {\"to\":\"ann\"}")
	s.expect("> Good morning")
	s.expect("\n> ")
	s.typed(ctrlD)
	s.end()
}

// A chat goes on when its server is killed in the middle of an answer, and shows the whole answer after that.
func TestChatServerKilled(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	p := start(t, data)
	s := inTerminal(t, nil, "chat", "--url", p.url, "slow 40")
	s.expect("(demo model, not a language model) 1 2 3 4 5 ")
	p.signal(t, syscall.SIGKILL)
	s.expect("… the connection is away, and is tried again")
	start(t, data, "--listen", strings.TrimPrefix(p.url, "http://"))
	s.expect("… connected")
	s.expect("… the step has failed, and what it said does not count")
	between := s.expect("(demo model, not a language model) 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 " +
		"31 32 33 34 35 36 37 38 39 40\n")
	if strings.Contains(between, "2 3") {
		t.Errorf("a part of the answer comes twice: %q", between)
	}
	s.expect("> ")
	s.typed(ctrlD)
	s.end()
}

// Before a person types anything, a chat says that the server is away, and then that it is there.
func TestChatServerAway(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	p := start(t, data)
	p.signal(t, syscall.SIGKILL)
	s := inTerminal(t, nil, "chat", "--url", p.url)
	s.expect("… cannot reach " + p.url + ", trying again\n> ")
	start(t, data, "--listen", strings.TrimPrefix(p.url, "http://"))
	s.expect("… connected\n> ")
	s.typed("Good morning\r")
	s.expect("You said: Good morning")
	s.typed(ctrlD)
	s.end()
	if n := strings.Count(s.all(), "cannot reach"); n != 1 {
		t.Errorf("it says %d times that the server is away", n)
	}
}

// A chat that begins with a prompt, on a thread that waits, asks its question first and then sends the prompt.
func TestChatPromptWaits(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	if got := talkTo(p, "chat", "--thread", "t1", `use send_email with {"to":"ann"}`); got.code != exitWaits {
		t.Fatalf("%+v", got)
	}
	s := inTerminal(t, nil, "chat", "--url", p.url, "--thread", "t1", "Good morning")
	s.expect("? send_email {\"to\":\"ann\"}")
	s.expect("… your message is sent after the answer")
	s.typed(ctrlD)
	s.expect("… your message was not sent")
	s.end()

	s = inTerminal(t, nil, "chat", "--url", p.url, "--thread", "t1", "Good morning")
	s.expect("… your message is sent after the answer")
	s.typed("a")
	s.expect("… approved send_email")
	s.expect("You said: Good morning")
	s.expect("\n> ")
	s.typed(ctrlD)
	s.end()
	if strings.Contains(s.all(), "refused") || strings.Contains(s.all(), "not sent") {
		t.Error("the prompt was not sent")
	}

	// Who stops the run that asks takes the prompt back too.
	if got := talkTo(p, "chat", "--thread", "t3", `use send_email with {"to":"ann"}`); got.code != exitWaits {
		t.Fatalf("%+v", got)
	}
	s = inTerminal(t, nil, "chat", "--url", p.url, "--thread", "t3", "Good morning")
	s.expect("… your message is sent after the answer")
	s.typed(ctrlC)
	s.expect("… stopping, and your message is not sent; Ctrl-C again leaves, and lets the run be")
	s.expect("the run was stopped")
	s.expect("> ")
	s.typed(ctrlD)
	s.end()
	if strings.Contains(s.all(), "You said") {
		t.Error("the prompt was sent")
	}

	// A thread that does not exist yet, and one that exists.
	for _, prompt := range []string{"Hello", "Hello again"} {
		s = inTerminal(t, nil, "chat", "--url", p.url, "--thread", "t2", prompt)
		s.expect("You said: " + prompt)
		s.typed(ctrlD)
		s.end()
	}
}

// A budget that is used up is raised by a key, with a total that is proposed.
func TestChatBudget(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	if err := os.WriteFile(file, []byte("budget: {tokens: 600, on_exhausted: park}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, t.TempDir(), "--config", file)
	s := inTerminal(t, nil, "chat", "--url", p.url, "use clock with {} then use clock with {} then use clock with {}")
	s.expect("? budget ")
	s.expect("the budget is used up")
	s.expect("a raise the budget · d end the run")
	s.typed("a")
	s.expect("the new totals: {\"tokenBudget\":")
	s.typed("\x1b") // leaves the line, and the question stands again
	s.expect("a raise the budget · d end the run")
	s.typed("a")
	s.expect("the new totals: {\"tokenBudget\":")
	s.typed("\r")
	s.expect("… approved budget")
	s.expect("> ")
	s.typed(ctrlD)
	s.end()
	if strings.Count(s.all(), "→ clock {}") != 3 {
		t.Error("the run did not go on")
	}
}

// The editor of the person gets the arguments, and what it leaves is what runs.
func TestChatEditor(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	editor := script.Write(t, t.TempDir(), "editor",
		"#!/bin/sh\ngrep -q '\"to\": \"ann\"' \"$1\" && echo '{\"to\": \"zoe\"}' > \"$1\"\n")
	s := inTerminal(t, []string{"EDITOR=" + editor}, "chat", "--url", p.url, `use send_email with {"to":"ann"}`)
	s.expect("? send_email")
	s.typed("e")
	s.expect("… approved send_email")
	s.expect("No email was sent to zoe")
	s.typed(ctrlD)
	s.end()
}

// The inbox shows the questions of all threads, and answers them by keys.
func TestInboxTerminal(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	for _, to := range []string{"ann", "bob", "eve"} {
		if got := talkTo(p, "chat", `use send_email with {"to":"`+to+`"}`); got.code != 3 {
			t.Fatalf("%+v", got)
		}
	}
	s := inTerminal(t, nil, "inbox", "--url", p.url)
	s.expect("[1 of 3] ")
	s.expect("? send_email {\"to\":\"ann\"}")
	s.typed("j")
	s.expect("[2 of 3] ")
	s.expect("? send_email {\"to\":\"bob\"}")
	s.typed("j")
	s.expect("? send_email {\"to\":\"eve\"}")
	s.typed("k")
	s.expect("? send_email {\"to\":\"bob\"}")
	s.typed("d")
	s.expect("… denied send_email")
	s.expect("[2 of 2] ")
	s.expect("? send_email {\"to\":\"eve\"}")
	s.typed("e")
	s.expect("arguments: ")
	s.typed(ctrlU + "{\"to\":\"zoe\"}\r")
	s.expect("… approved send_email")
	s.expect("[1 of 1] ")
	s.typed("r")
	s.expect("reason: ")
	s.typed("she asked\r")
	s.expect("approve (y/n): ")
	s.typed("y\r")
	s.expect("… approved send_email")
	s.expect("No further question waits for an answer.")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := talkTo(p, "inbox", "--json"); got.code != 0 || got.stdout != "" {
		t.Errorf("the inbox has %+v", got)
	}
}
