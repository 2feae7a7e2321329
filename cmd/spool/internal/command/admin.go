package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// adminFlags has the values of the admin commands' flags. Each command uses some of them.
type adminFlags struct {
	url, token, tenant string
	json               bool

	state, thread, agent, model, stopReason string
	olderThan, before                       string
	limit                                   int
	all, dryRun, expired                    bool
	dead, test                              bool
	replay                                  string

	action, by, since, until string
	server                   bool

	approve, deny                    bool
	call, reason, arguments, payload string
}

// adminFlag is a flag of an admin command.
type adminFlag struct {
	name, arg, help string
	bind            func(fs *flag.FlagSet, f *adminFlags)
}

// everyFlag has the flags of all admin commands.
var everyFlag = []adminFlag{
	{
		"url", "URL", "address of the server; SPOOL_URL, default http://127.0.0.1:8080",
		func(fs *flag.FlagSet, f *adminFlags) { fs.StringVar(&f.url, "url", f.url, "") },
	},
	{
		"token", "TOKEN", "a bearer token with the scope admin; SPOOL_TOKEN is safer",
		func(fs *flag.FlagSet, f *adminFlags) { fs.StringVar(&f.token, "token", f.token, "") },
	},
	{
		"tenant", "TENANT", "a tenant other than the token's, for an operator",
		func(fs *flag.FlagSet, f *adminFlags) { fs.StringVar(&f.tenant, "tenant", "", "") },
	},
	{
		"json", "", "print the server's answer",
		func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.json, "json", false, "") },
	},
}

var (
	limitFlag = adminFlag{
		"limit", "N", "the most entries, up to 1000; default 50",
		func(fs *flag.FlagSet, f *adminFlags) { fs.IntVar(&f.limit, "limit", 50, "") },
	}
	beforeFlag = textFlag("before", "NEXT", "continue an earlier list, which prints the value",
		func(f *adminFlags) *string { return &f.before })
	allFlag = adminFlag{
		"all", "", "all dead jobs", func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.all, "all", false, "") },
	}
)

func textFlag(name, arg, help string, at func(f *adminFlags) *string) adminFlag {
	return adminFlag{name, arg, help, func(fs *flag.FlagSet, f *adminFlags) { fs.StringVar(at(f), name, "", "") }}
}

// adminCommand is one of the admin commands.
type adminCommand struct {
	name, arg, help string
	flags           []adminFlag
	run             func(ctx context.Context, c *adminClient, f *adminFlags, arg string) error
}

func adminCommands() []adminCommand {
	return []adminCommand{
		{"overview", "", "numbers of threads, runs and jobs, and the active runs", nil, showOverview},
		{"ready", "", "whether the server takes requests; needs no token", nil, showReady},
		{"runs", "", "runs, newest first", []adminFlag{
			textFlag("state", "STATE", "only in this state, such as RUNNING or FAILED",
				func(f *adminFlags) *string { return &f.state }),
			{
				"expired", "", "only with questions that nobody answered in time",
				func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.expired, "expired", false, "") },
			},
			textFlag("stop-reason", "REASON", "only those that ended for this reason, such as timeout",
				func(f *adminFlags) *string { return &f.stopReason }),
			textFlag("thread", "ID", "only of this thread", func(f *adminFlags) *string { return &f.thread }),
			textFlag("agent", "NAME", "only of this agent", func(f *adminFlags) *string { return &f.agent }),
			textFlag("model", "NAME", "only with this model", func(f *adminFlags) *string { return &f.model }),
			limitFlag, beforeFlag,
		}, showRuns},
		{"run", "RUN", "one run: steps, calls, waits, and why it ended", nil, showRun},
		{"stop", "RUN", "stop a run, or a thread with its waiting runs", []adminFlag{
			textFlag("thread", "ID", "stop this thread; without it, the argument is a run's id or a thread's",
				func(f *adminFlags) *string { return &f.thread }),
		}, stopRun},
		{"answer", "RUN", "allow or deny the call that a run waits for", answerFlags(), answerPark},
		{"jobs", "", "jobs that are not dead, oldest due time first", []adminFlag{
			textFlag("state", "STATE", "only stuck, ready, delayed or inflight",
				func(f *adminFlags) *string { return &f.state }),
			textFlag("older-than", "TIME", "for stuck jobs: how long they have been due; default 15m",
				func(f *adminFlags) *string { return &f.olderThan }),
			limitFlag,
		}, showJobs},
		{"dead", "", "dead jobs, newest first", []adminFlag{limitFlag, beforeFlag}, showDead},
		{"redrive", "JOB", "continue what died with a job", []adminFlag{allFlag}, redriveJobs},
		{"purge", "JOB", "forget a dead job; its run stays as it is", []adminFlag{
			allFlag, textFlag("older-than", "TIME", "with --all: only jobs that have been dead this long, such as 720h",
				func(f *adminFlags) *string { return &f.olderThan }),
		}, purgeJobs},
		{"prune", "", "delete inactive threads", []adminFlag{
			textFlag("older-than", "TIME", "how long a thread must have been inactive, such as 720h; required",
				func(f *adminFlags) *string { return &f.olderThan }),
			{
				"dry-run", "", "list the threads, and delete none",
				func(fs *flag.FlagSet, f *adminFlags) { fs.BoolVar(&f.dryRun, "dry-run", false, "") },
			},
		}, pruneThreads},
		{"revisions", "[ID]", "agents as runs have used them, or one of them; for an operator", []adminFlag{
			textFlag("agent", "NAME", "only of this agent", func(f *adminFlags) *string { return &f.agent }),
			limitFlag, beforeFlag,
		}, showRevisions},
		{"webhooks", "[NAME]", "endpoints that are told of events, or the attempts of one of them", webhookFlags(), adminWebhooks},
		{"audit", "", "who answered, stopped, deleted and operated, newest first", auditFlags(), showAudit},
	}
}

// admin executes an admin command against a server.
func admin(ctx context.Context, args []string, h host) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" || args[0] == "-help" {
		_, err := io.WriteString(h.stdout, adminHelp())
		return err
	}
	for _, c := range adminCommands() {
		if c.name == args[0] {
			return c.carryOut(ctx, args[1:], h)
		}
	}
	return usagef("there is no command admin %q", args[0])
}

func (c adminCommand) carryOut(ctx context.Context, args []string, h host) error {
	f, arg, err := c.parse(args, h)
	switch {
	case errors.Is(err, flag.ErrHelp):
		if _, err := io.WriteString(h.stdout, c.text()); err != nil {
			return err
		}
		return errHelp
	case err != nil:
		return err
	}
	client, err := newAdminClient(f, h)
	if err != nil {
		return err
	}
	return c.run(ctx, client, f, arg)
}

// parse reads the flags and the argument of a command, in any order.
func (c adminCommand) parse(args []string, h host) (*adminFlags, string, error) {
	f := &adminFlags{url: "http://127.0.0.1:8080"}
	if set, _ := h.lookup(urlVariable); set != "" {
		f.url = set
	}
	f.token, _ = h.lookup(tokenVariable)
	fs := flag.NewFlagSet("admin "+c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, flags := range [][]adminFlag{c.flags, everyFlag} {
		for _, each := range flags {
			each.bind(fs, f)
		}
	}
	operands, err := parseMixed(fs, args)
	if err != nil {
		return nil, "", err
	}
	arg, err := c.argument(operands, f)
	return f, arg, err
}

// argument returns the argument of a command that needs one.
func (c adminCommand) argument(operands []string, f *adminFlags) (string, error) {
	most := 0
	if c.arg != "" {
		most = 1
	}
	switch {
	case len(operands) > most:
		return "", usagef("admin %s has no place for %q", c.name, operands[most])
	case c.hasFlag("all") && (len(operands) == 1) == f.all:
		return "", usagef("admin %s wants either the number of a job or --all", c.name)
	case c.instead() && (len(operands) == 1) == (f.thread != ""):
		return "", usagef("admin %s wants either the id of a run or --thread", c.name)
	case c.arg != "" && !c.optional() && !c.hasFlag("all") && !c.instead() && len(operands) == 0:
		return "", usagef("admin %s wants the id of a run", c.name)
	case len(operands) == 0:
		return "", nil
	}
	return operands[0], nil
}

// instead reports whether --thread may replace the argument.
func (c adminCommand) instead() bool { return c.arg != "" && c.hasFlag("thread") }

// optional reports whether the argument may be missing.
func (c adminCommand) optional() bool { return strings.HasPrefix(c.arg, "[") }

func (c adminCommand) hasFlag(name string) bool {
	for _, each := range c.flags {
		if each.name == name {
			return true
		}
	}
	return false
}

// jobNumber reads the argument of a command that is about one job.
func jobNumber(arg string) (int64, error) {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n <= 0 {
		return 0, usagef("%q must be the number of a job", arg)
	}
	return n, nil
}

// query returns the parameters that are set.
func (f *adminFlags) query(more ...string) url.Values {
	q := url.Values{}
	more = append(more, "tenant", f.tenant)
	for i := 0; i < len(more); i += 2 {
		if more[i+1] != "" {
			q.Set(more[i], more[i+1])
		}
	}
	return q
}

func (c adminCommand) usage() string {
	arg := c.arg
	switch {
	case c.hasFlag("all"):
		arg = "(" + arg + " | --all)"
	case c.instead():
		arg = "(" + arg + " | --thread ID)"
	}
	return strings.TrimRight("spool admin "+c.name+" "+arg, " ")
}

// text returns the help of one command.
func (c adminCommand) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s.\n\nUsage:\n\n  %s [flags]\n\nFlags:\n\n", strings.ToUpper(c.help[:1]), c.help[1:], c.usage())
	for _, flags := range [][]adminFlag{c.flags, everyFlag} {
		for _, f := range flags {
			fmt.Fprintf(&b, "  --%-19s %s\n", strings.TrimSpace(f.name+" "+f.arg), f.help)
		}
	}
	return b.String()
}

func adminHelp() string {
	var b strings.Builder
	b.WriteString("Operate a running server, over HTTP.\n\nUsage:\n\n")
	for _, c := range adminCommands() {
		fmt.Fprintf(&b, "  %-36s %s\n", c.usage(), c.help)
	}
	b.WriteString(`
Each command has --url, --token and --json; SPOOL_URL and SPOOL_TOKEN replace the first two.
"spool admin runs --help" lists all flags of a command. A server on this machine without
auth.tokens needs no token.

The exit code is 0 on success, 1 when the server refused or could not be reached, and 2 when
a flag is wrong.
`)
	return b.String()
}
