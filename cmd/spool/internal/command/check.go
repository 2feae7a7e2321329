package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// check checks what serve would start with: flags, environment and configuration, and whether the
// database is whole. With arguments it checks only what they name.
func check(ctx context.Context, args []string, h host) error {
	asked := &variables{read: h.lookup}
	h.lookup = asked.lookup
	f, err := parseFlags(checkHelp(), args, h) //nolint:contextcheck // it waits only for documents of tools, for a bounded time
	switch {
	case err != nil && f.listen == "":
		return err
	case len(f.operands) > 1:
		return usagef("check takes one file, but there is also %q", f.operands[1])
	}
	path := ""
	if len(f.operands) == 1 {
		switch file := f.operands[0]; {
		case isYAML(file):
			f.config, f.named["config"] = file, true
		case isFolder(file):
			f.data, f.named["data"] = file, true
		default:
			path, f.named["data"] = file, true
		}
	}
	whole := !f.named["config"] && !f.named["data"]
	var s *setup
	if whole || f.named["config"] || err != nil {
		if s, err = checkSetup(f.options, err, h, asked); err != nil { //nolint:contextcheck // it waits only for documents of tools, for a bounded time
			return err
		}
	}
	if !whole && !f.named["data"] {
		return nil
	}
	if path == "" {
		path = findDatabase(f.data)
	}
	if set, _ := h.lookup("SPOOL_DATA"); path == "" && whole && set == "" {
		_, err := fmt.Fprintf(h.stdout, "database  none yet in %s\n", f.data)
		return err
	}
	if path == "" {
		path = filepath.Join(f.data, databaseName) // the error then says that it is missing
	}
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	return checkStore(ctx, h, s, path)
}

func isYAML(file string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(file)))
}

func isFolder(file string) bool {
	at, err := os.Stat(file)
	return err == nil && at.IsDir()
}

// checkSetup prints what serve would start with, or returns everything that is wrong with it.
func checkSetup(o options, wrong error, h host, asked *variables) (*setup, error) {
	s, _, err := prepare(o, wrong, h)
	if err == nil && s.missing != nil {
		err = &usageError{s.missing}
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	name := o.config
	if name == "" {
		name = "none, which is the demo"
	}
	fmt.Fprintf(&b, "config    %s\n", name)
	for _, line := range s.lines() {
		if line.remark != "" {
			fmt.Fprintf(&b, "%-9s %s\n", line.name, line.remark)
		}
		if line.name == "models" && len(s.profiles) > 0 {
			fmt.Fprintf(&b, "profiles  %s\n", describe(s.profiles))
		}
	}
	for _, left := range s.leftOut {
		fmt.Fprintf(&b, "left out  %s: %s\n", left.name, left.remark)
	}
	writeSchedules(&b, s.engine.Schedules.Schedules, time.Now())
	for _, text := range s.crowded() {
		fmt.Fprintf(&b, "warning   %s\n", text)
	}
	for _, m := range asked.misspelled(h.environ()) {
		fmt.Fprintf(&b, "unread    the variable %s; there is %s\n", m.name, m.meant)
	}
	b.WriteString("problems  none\n")
	_, err = io.WriteString(h.stdout, b.String())
	return s, err
}

// schema prints the JSON Schema of the configuration.
func schema(args []string, h host) error {
	switch {
	case len(args) == 1 && slices.Contains([]string{"--help", "-help", "-h"}, args[0]):
		_, err := io.WriteString(h.stdout, schemaHelp)
		return err
	case len(args) > 0:
		return usagef("schema takes no argument, but there is %q", args[0])
	}
	b, err := config.Schema()
	if err != nil {
		return err
	}
	_, err = h.stdout.Write(b)
	return err
}

const schemaHelp = `Print the JSON Schema (draft 7) of the configuration, for editors.

Usage:

  spool schema > spool.schema.json

With this as the first line of a configuration beside that file, editors with the YAML language
server (VS Code, Neovim, JetBrains and others) complete and check it:

  # yaml-language-server: $schema=spool.schema.json
`

func checkHelp() string {
	var b strings.Builder
	b.WriteString(`Check what serve would start with, and start nothing.

Usage:

  spool check [flags]                the flags, the configuration and the database
  spool check FILE.yaml              a configuration, as --config FILE.yaml does
  spool check [--data DIR | FILE]    a database, or a file that is one, such as a backup;
                                     --data may be left out before DIR

The flags are those of serve: replace serve by check in a command line that starts a server.
It reports everything that is wrong with flags, environment and configuration at once, with
file and line, including missing variables, and each operation of a document of tools that
is left out, with the reason. It writes no file, and uses the network only for
OpenAPI documents of tools that are at a URL.

For a database it checks that the file and its log belong together, that SQLite finds no
error, and that each row belongs to something. It reads the whole file and changes nothing,
and a server may run meanwhile.

The exit code is 0 when everything is right, 1 when the database is not, and 2 when a flag,
the environment or the configuration is wrong.

Flags, each with its environment variable and its default:

`)
	writeSettings(&b, settings)
	return b.String()
}
