// Package command has the commands of the spool binary.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// The exit codes. With exitUsage, the command did nothing and wrote nothing, because its flags or its
// configuration are wrong.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// host has the parts of the process that a command uses.
type host struct {
	stdout, stderr io.Writer
	lookup         func(name string) (string, bool)
	// environ returns the whole environment, as [os.Environ] does.
	environ func() []string
	stdin   io.Reader
}

// Run executes the command line of the process, and returns its exit code. Providers are those that the program adds to
// the providers of the configuration.
func Run(providers ...Provider) int {
	h := host{os.Stdout, os.Stderr, os.LookupEnv, os.Environ, os.Stdin}
	for _, p := range providers {
		if err := p.add(); err != nil {
			return h.report(err, "help")
		}
	}
	return run(context.Background(), os.Args[1:], h)
}

// commandLine is a command of the binary.
type commandLine struct {
	name, arg, help string
	run             func(ctx context.Context, args []string, h host) error
	// subs are the commands below it, for completion.
	subs []string
}

// commands returns all commands, in the order of the help.
func commands() []commandLine {
	talk := func(c talkCommand, arg, help string, subs ...string) commandLine {
		return commandLine{c.name, arg, help, c.carryOut, subs}
	}
	var operate []string
	for _, c := range adminCommands() {
		operate = append(operate, c.name)
	}
	return []commandLine{
		{"serve", "[flags]", "serve the HTTP API and execute runs, over one SQLite file or PostgreSQL", serve, nil},
		talk(chatCommand(), "[PROMPT]", "talk to an agent of a running server"),
		talk(threadsCommand(), "", "list threads, or delete some", "delete"),
		talk(tailCommand(), "THREAD", "print the events of a thread as they come"),
		talk(runCommand(), "export", "write the record of a run's thread as a file, which the console opens", "export"),
		talk(inboxCommand(), "", "answer what agents ask, over all threads", "answer"),
		talk(schedulesCommand(), "", "list runs that start by themselves, or act on one", "pause", "resume", "run", "ticks"),
		talk(startsCommand(), "", "list starts that wait for their time, or act on one", "move", "cancel"),
		{"admin", "COMMAND", "operate a running server: inspect, answer, stop, redrive, prune", admin, operate},
		{"backup", "FILE", "copy the database, even while a server writes to it", backupCommand.carryOut, nil},
		{
			"restore", "FILE", "put a backup in as the database of a data folder",
			func(ctx context.Context, args []string, h host) error {
				return newRestoreCommand().carryOut(ctx, args, h)
			}, nil,
		},
		{"export", "FILE", "write all threads into a file, to move them to another database", exportStore, nil},
		{"import", "FILE", "add the threads of such a file to a database", importStore, nil},
		{"migrate", "", "bring the schema of a PostgreSQL database up to date", migrate, nil},
		{"load", "URL", "measure how many runs and watchers a running server carries", loadServer, nil},
		{
			"mcp", "COMMAND", "try an MCP server by hand: list its tools, call one", tryServer,
			[]string{"list", "call", "login", "logout"},
		},
		{"check", "", "validate the configuration and the database, and start nothing", check, nil},
		{
			"schema", "", "print the JSON Schema of the configuration, for editors",
			func(_ context.Context, args []string, h host) error { return schema(args, h) }, nil,
		},
		{"completion", "SHELL", "print the completion of bash, zsh or fish", completion, []string{"bash", "zsh", "fish"}},
		{"version", "", "print the version", func(_ context.Context, _ []string, h host) error {
			_, err := fmt.Fprintln(h.stdout, "spool", version())
			return err
		}, nil},
		{"help", "", "print this text", func(_ context.Context, _ []string, h host) error {
			_, err := io.WriteString(h.stdout, help())
			return err
		}, nil},
	}
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, h host) int {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if slices.Contains([]string{"--version", "-version", "--help", "-help", "-h"}, name) {
		name = map[bool]string{true: "version", false: "help"}[strings.HasSuffix(name, "version")]
	}
	for _, c := range commands() {
		if c.name == name {
			return h.report(c.run(ctx, args, h), name)
		}
	}
	return h.report(usagef("there is no command %q", name), name)
}

// usageError is an error in the command line or in the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// report tells a person what went wrong and returns the exit code.
func (h host) report(err error, command string) int {
	if refusesToken(err, command) {
		defer fmt.Fprintln(h.stderr, "spool: set "+tokenVariable+" to a token of the server")
	}
	var usage *usageError
	var exit *exitError
	switch {
	case err == nil, errors.Is(err, errHelp):
		return exitOK
	case errors.As(err, &usage):
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(h.stderr, "spool:", strings.TrimSuffix(line, "\n"))
		}
		if command += " --help"; !slices.ContainsFunc(commands(), func(c commandLine) bool {
			return c.name+" --help" == command
		}) {
			command = "help"
		}
		fmt.Fprintf(h.stderr, "Run \"spool %s\" for usage.\n", command)
		return exitUsage
	case errors.As(err, &exit):
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(h.stderr, "spool:", strings.TrimSuffix(line, "\n"))
		}
		return exit.code
	default:
		fmt.Fprintln(h.stderr, "spool:", err)
		return exitFailure
	}
}

// refusesToken reports whether a server has refused the credentials of a command that talks to it.
func refusesToken(err error, command string) bool {
	talks := []string{"chat", "threads", "tail", "run", "inbox", "schedules", "starts", "admin", "load"}
	if !slices.Contains(talks, command) {
		return false
	}
	if err != nil && command == "load" { // it counts failures by their names
		return strings.Contains(err.Error(), "401 unauthorized")
	}
	answered, ok := errors.AsType[*answeredError](err)
	return ok && answered.status == http.StatusUnauthorized || spool.CodeOf(err) == spool.Unauthorized
}

// help returns the help of the binary.
func help() string {
	var b strings.Builder
	b.WriteString(`Spool runs agents durably: prompts go in over HTTP, runs survive crashes, and every
client sees each token once.

Usage:

`)
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-23s %s\n", strings.TrimRight("spool "+c.name+" "+c.arg, " "), c.help)
	}
	b.WriteString(`
Run "spool serve --help" for its flags. To start with the demo model, and to talk to it:

  spool serve
  spool chat
`)
	return b.String()
}
