// Command spool serves durable agent runs from one binary: the HTTP API, a worker and a SQLite file,
// with a demo model if nothing else is configured.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], host{os.Stdout, os.Stderr, os.LookupEnv, os.Environ}))
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, h host) int {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	var err error
	switch name {
	case "serve":
		err = serve(ctx, args, h)
	case "admin":
		err = admin(ctx, args, h)
	case "migrate":
		err = migrate(ctx, args, h)
	case "backup":
		err = backupCommand.carryOut(ctx, args, h)
	case "restore":
		err = newRestoreCommand().carryOut(ctx, args, h)
	case "load":
		err = loadServer(ctx, args, h)
	case "export":
		err = exportStore(ctx, args, h)
	case "import":
		err = importStore(ctx, args, h)
	case "mcp":
		err = tryServer(ctx, args, h)
	case "check":
		err = check(ctx, args, h)
	case "schema":
		err = schema(args, h)
	case "version", "--version", "-version":
		_, err = fmt.Fprintln(h.stdout, "spool", version())
	case "help", "--help", "-help", "-h":
		_, err = io.WriteString(h.stdout, help)
	default:
		err = usagef("there is no command %q", name)
	}
	return h.report(err, name)
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
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, errHelp):
		return exitOK
	case errors.As(err, &usage):
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(h.stderr, "spool:", strings.TrimSuffix(line, "\n"))
		}
		if !slices.Contains([]string{"admin", "migrate", "backup", "restore", "export", "import", "check", "schema", "load", "mcp"}, command) {
			command = "serve"
		}
		fmt.Fprintf(h.stderr, "Run \"spool %s --help\" for usage.\n", command)
		return exitUsage
	default:
		fmt.Fprintln(h.stderr, "spool:", err)
		return exitFailure
	}
}

const help = `Spool runs agents durably: prompts go in over HTTP, runs survive crashes, and every
client sees each token once.

Usage:

  spool serve [flags]   serve the HTTP API and execute runs, over one SQLite file or PostgreSQL
  spool admin COMMAND   operate a running server: inspect, answer, stop, redrive, prune
  spool backup FILE     copy the database, even while a server writes to it
  spool restore FILE    put a backup in as the database of a data folder
  spool export FILE     write all threads into a file, to move them to another database
  spool import FILE     add the threads of such a file to a database
  spool migrate         bring the schema of a PostgreSQL database up to date
  spool load URL        measure how many runs and watchers a running server carries
  spool mcp COMMAND     try an MCP server by hand: list its tools, call one
  spool check           validate the configuration and the database, and start nothing
  spool schema          print the JSON Schema of the configuration, for editors
  spool version         print the version
  spool help            print this text

Run "spool serve --help" for its flags. To start with the demo model:

  spool serve
`
