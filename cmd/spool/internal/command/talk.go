package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/cmd/spool/internal/chat"
)

// talkFlags has the values of the flags of chat, threads, tail, inbox and run. Each command uses some of them.
type talkFlags struct {
	url, token string
	json       bool
	// reach is the transport of the client.
	reach *chat.Reach

	thread, agent string
	thinking      bool
	run, output   string

	search, state, owner, label string
	limit                       int
	expired                     bool

	since  int64
	cursor string
	end    bool

	tool, order                string
	approve, deny              bool
	reason, arguments, payload string
}

// talkFlag is a flag of such a command.
type talkFlag struct {
	name, arg, help string
	bind            func(fs *flag.FlagSet, f *talkFlags)
}

func talkText(name, arg, help string, at func(f *talkFlags) *string) talkFlag {
	return talkFlag{name, arg, help, func(fs *flag.FlagSet, f *talkFlags) { fs.StringVar(at(f), name, *at(f), "") }}
}

func talkSwitch(name, help string, at func(f *talkFlags) *bool) talkFlag {
	return talkFlag{name, "", help, func(fs *flag.FlagSet, f *talkFlags) { fs.BoolVar(at(f), name, false, "") }}
}

// talkEveryFlag has the flags of all of them.
var talkEveryFlag = []talkFlag{
	talkText("url", "URL", "address of the server; SPOOL_URL, default http://127.0.0.1:8080",
		func(f *talkFlags) *string { return &f.url }),
	talkText("token", "TOKEN", "a bearer token; SPOOL_TOKEN is safer", func(f *talkFlags) *string { return &f.token }),
}

// talkCommand is a command for people who talk to agents.
type talkCommand struct {
	name string
	// usages are the forms of the command, and what each is for.
	usages [][2]string
	about  string
	flags  []talkFlag
	// most is how many arguments there may be at most. Negative: any number.
	most int
	run  func(ctx context.Context, c *client.Client, f *talkFlags, args []string, h host) error
}

// carryOut executes the command.
func (t talkCommand) carryOut(ctx context.Context, args []string, h host) error {
	f, operands, err := t.parse(args, h)
	switch {
	case errors.Is(err, flag.ErrHelp):
		if _, err := io.WriteString(h.stdout, t.help()); err != nil {
			return err
		}
		return errHelp
	case err != nil:
		return err
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	return t.run(ctx, c, f, operands, h)
}

// parse reads the flags and the arguments, in any order. Behind "--" everything is an argument.
func (t talkCommand) parse(args []string, h host) (*talkFlags, []string, error) {
	f := &talkFlags{url: "http://127.0.0.1:8080", limit: 20}
	if set, _ := h.lookup(urlVariable); set != "" {
		f.url = set
	}
	f.token, _ = h.lookup(tokenVariable)
	fs := flag.NewFlagSet(t.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, flags := range [][]talkFlag{t.flags, talkEveryFlag} {
		for _, each := range flags {
			each.bind(fs, f)
		}
	}
	operands, err := parseMixed(fs, args)
	if err != nil {
		return nil, nil, err
	}
	if f.limit < 1 {
		return nil, nil, usagef("--limit: must be at least 1")
	}
	if t.most >= 0 && len(operands) > t.most {
		return nil, nil, usagef("%s has no place for %q", t.name, operands[t.most])
	}
	return f, operands, nil
}

// client returns a client of the server.
func (f *talkFlags) client() (*client.Client, error) {
	u, err := url.Parse(f.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usagef("--url: %q must be an http or https URL", f.url)
	}
	if u.User != nil {
		return nil, usagef("--url: has a password in it; the token belongs into SPOOL_TOKEN")
	}
	f.reach = &chat.Reach{URL: f.url}
	o := client.Options{HTTPClient: &http.Client{Transport: f.reach}}
	if f.token != "" {
		o.Token = client.StaticToken(f.token)
	}
	c, err := client.New(f.url, o)
	if err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// help returns the help of the command.
func (t talkCommand) help() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(t.about) + "\n\nUsage:\n\n")
	for _, u := range t.usages {
		fmt.Fprintf(&b, "  %-44s %s\n", strings.TrimRight("spool "+t.name+" "+u[0], " "), u[1])
	}
	b.WriteString("\nFlags:\n\n")
	for _, flags := range [][]talkFlag{t.flags, talkEveryFlag} {
		for _, f := range flags {
			fmt.Fprintf(&b, "  --%-19s %s\n", strings.TrimSpace(f.name+" "+f.arg), f.help)
		}
	}
	return b.String()
}

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// terminals returns the terminal of the process, if both its input and its output are one.
func terminals(h host) (in, out *os.File, ok bool) {
	in, is := h.stdin.(*os.File)
	out, also := h.stdout.(*os.File)
	if !is || !also || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, nil, false
	}
	return in, out, true
}

// styled reports whether text on an output may have colours.
func styled(out io.Writer, h host) bool {
	file, ok := out.(*os.File)
	_, plain := h.lookup("NO_COLOR")
	kind, _ := h.lookup("TERM")
	return ok && !plain && kind != "dumb" && term.IsTerminal(int(file.Fd()))
}

// untilSignal returns a context that ends when the process gets a signal to end.
func untilSignal(ctx context.Context, also ...os.Signal) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, append(also, syscall.SIGTERM)...)
}
