package command

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/cmd/spool/internal/chat"
	"github.com/spoolhq/spool/wire"
)

// exitWaits is the exit code of a chat whose run needs an answer.
const exitWaits = 3

// maxPrompt bounds a prompt that is read from a pipe.
const maxPrompt = 1 << 20

func chatCommand() talkCommand {
	return talkCommand{
		name: "chat", most: -1,
		usages: [][2]string{
			{"[flags]", "talk to an agent"},
			{"[flags] PROMPT", "begin with a prompt"},
			{"--thread ID", "go on with a thread"},
			{"< FILE", "send one prompt, and print the answer"},
		},
		about: `Talk to an agent. The answer is printed while it comes, and goes on when the server restarts.

In a terminal, Enter sends what you type. While a run works, that steers it: the agent reads it
before its next step. When the agent asks, a approves, d denies, e edits the arguments (in
$VISUAL or $EDITOR, if there is one), r gives a reason, g gives the result of a call whose outcome
nobody knows, and t types a message. Ctrl-C stops the run, and Ctrl-C again leaves. Leaving stops
nothing: --thread goes on where you were.

Without a terminal, chat sends one prompt, prints the answer and ends. Its exit code is 0 when the
run has completed, 1 when it has failed or was stopped, 2 when a flag is wrong, and 3 when it
waits for an answer, which stderr names. Calls of tools and reasons to wait go to stderr.`,
		flags: []talkFlag{
			talkText("thread", "ID", "the thread; default: a new one", func(f *talkFlags) *string { return &f.thread }),
			talkText("agent", "NAME", "the agent; default: the thread's, or the server's first",
				func(f *talkFlags) *string { return &f.agent }),
			talkSwitch("thinking", "show the reasoning of the model too", func(f *talkFlags) *bool { return &f.thinking }),
			talkSwitch("json", "print the start, each frame and the outcome, as JSON in one line each",
				func(f *talkFlags) *bool { return &f.json }),
		},
		run: talk,
	}
}

// talk executes chat.
func talk(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error {
	prompt := strings.Join(args, " ")
	in, out, interactive := terminals(h)
	if interactive && !f.json {
		ctx, release := untilSignal(ctx)
		defer release()
		terminal, err := chat.OpenTerminal(in, out)
		if err != nil {
			return err
		}
		defer terminal.Close()
		s := &chat.Session{
			Client: c, Reach: f.reach, Term: terminal, Thread: spool.ThreadID(f.thread), Agent: f.agent, Editor: editor(h),
			Print: &chat.Printer{Out: terminal, Style: styled(out, h), Thinking: f.thinking, Width: terminal.Width},
		}
		err = s.Run(ctx, prompt)
		terminal.Close()
		if err == nil && s.Thread != "" {
			_, err = io.WriteString(out, "spool chat --thread "+chat.Clean(string(s.Thread))+" goes on here\n")
		}
		return err
	}
	if prompt == "" {
		text, err := io.ReadAll(io.LimitReader(h.stdin, maxPrompt+1))
		if err != nil {
			return err
		}
		if len(text) > maxPrompt {
			return usagef("the prompt is longer than %d bytes", maxPrompt)
		}
		prompt = strings.TrimSpace(string(text))
	}
	if prompt == "" {
		return usagef("there is no prompt")
	}
	return talkOnce(ctx, c, f, prompt, h)
}

// talkOnce sends one prompt and prints the answer.
func talkOnce(ctx context.Context, c *client.Client, f *talkFlags, prompt string, h host) error {
	ctx, release := untilSignal(ctx, os.Interrupt)
	defer release()
	once := chat.Once{Client: c, Reach: f.reach, Thread: spool.ThreadID(f.thread), Agent: f.agent}
	if f.json {
		once.Lines = h.stdout
		f.reach.Notify(func(text string) { _, _ = io.WriteString(h.stderr, "… "+text+"\n") })
	} else {
		file, _ := h.stdout.(*os.File)
		once.Print = &chat.Printer{
			Out: h.stdout, Aside: h.stderr, Style: styled(h.stdout, h) && styled(h.stderr, h), Thinking: f.thinking,
			Whole: file == nil || !isTerminal(file),
		}
		f.reach.Notify(once.Print.State)
	}
	outcome, err := once.Run(ctx, prompt)
	switch {
	case ctx.Err() != nil:
		return errors.New("the run was stopped, because chat was interrupted")
	case err != nil:
		return err
	case outcome.State == wire.Completed:
		return nil
	case len(outcome.Parks) > 0:
		return &exitError{
			exitWaits,
			errors.New(chat.Waiting(outcome) + "\nanswer it: spool chat --thread " + chat.Clean(string(outcome.ThreadID))),
		}
	case outcome.State == wire.Cancelled:
		return errors.New("the run was stopped")
	default:
		return errors.New("the run has failed: " + chat.Line(outcome.Error, 500))
	}
}

// editor returns the command that edits arguments, "" for none.
func editor(h host) string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if set, _ := h.lookup(name); strings.TrimSpace(set) != "" {
			return set
		}
	}
	return ""
}
