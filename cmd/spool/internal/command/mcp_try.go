package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/mcp"
)

const mcpHelp = `Try an MCP server by hand.

Usage:

  spool mcp list [SERVER] [flags]               the tools of a server, under the names that agents see
  spool mcp call [SERVER] TOOL [JSON] [flags]   call a tool, by the server's own name
  spool mcp login SERVER [flags]                sign in to a server with the auth authorization_code
  spool mcp logout SERVER [flags]               forget that

SERVER is a name of the section mcp of the configuration. With --url or --command there is none.
A call is a real one, and nobody is asked for an approval. If the server asks a question, the
command prints it. Answer it with --answer JSON, or with --decline. If the server answers by a task,
the command waits for it and prints how far it is. Ctrl-C, or a question without an answer, cancels
the task.

login prints a link to open in a browser of this machine, and waits until the person has signed in.
The client_id of the server must be allowed to redirect to http://127.0.0.1, on any port unless
--listen names one. The sign-in is kept in a file of its own in --data, encrypted with the first of
sign_in.keys, and list and call use it. With --database it is kept there, for runs of --tenant and
--subject too. logout forgets it here; the authorization server is not told.

Flags:

  --config FILE    the configuration ($SPOOL_CONFIG)
  --url URL        a server over HTTP; private addresses are allowed
  --command LINE   a server that is a program; the line is cut at spaces
  --answer JSON    the answer to the question that the server asks
  --decline        decline the question that the server asks
  --data DIR       folder with the sign-ins of this terminal ($SPOOL_DATA, default ./spool-data)
  --database URL   PostgreSQL of a server, for its sign-ins ($SPOOL_DATABASE)
  --tenant NAME    the tenant of the sign-in; default: default
  --subject NAME   the subject of the sign-in; default: none
  --listen ADDRESS where login waits for the browser; default: 127.0.0.1:0, which is any port
`

// tryServer lists or calls the tools of an MCP server.
func tryServer(ctx context.Context, args []string, h host) error {
	fs := flag.NewFlagSet("mcp", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fallback, _ := h.lookup("SPOOL_CONFIG")
	file, url, command := fs.String("config", fallback, ""), fs.String("url", "", ""), fs.String("command", "", "")
	answer, decline := fs.String("answer", "", ""), fs.Bool("decline", false, "")
	at := terminalFlags(fs, h)
	operands, err := parseMixed(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(h.stdout, mcpHelp)
		return err
	}
	if err != nil {
		return err
	}
	if len(operands) == 0 || !slices.Contains([]string{"list", "call", "login", "logout"}, operands[0]) {
		return usagef("mcp needs a command: list, call, login or logout")
	}
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	verb, operands := operands[0], operands[1:]
	var server mcpServer
	switch {
	case verb == "login" || verb == "logout":
		if len(operands) != 1 || *url != "" || *command != "" {
			return usagef("mcp %s needs the name of one server of the configuration", verb)
		}
		return at.change(ctx, verb, *file, operands[0], h)
	case *url != "" || *command != "":
		server, err = namelessServer(*url, *command)
	case len(operands) == 0:
		return usagef("mcp %s needs the name of a server, --url or --command", verb)
	default:
		server, err = at.server(ctx, *file, operands[0], h)
		defer at.close()
		operands = operands[1:]
	}
	if err != nil {
		return err
	}
	defer server.server.Close()
	switch {
	case verb == "list" && len(operands) == 0:
		return server.list(ctx, h.stdout, h.stderr)
	case verb == "call" && (len(operands) == 1 || len(operands) == 2):
		reply := &spool.Answer{Approved: !*decline}
		if *answer != "" {
			reply.Payload = json.RawMessage(*answer)
		}
		if *answer == "" && !*decline {
			reply = nil
		}
		return server.call(ctx, h, append(operands, "{}")[:2], reply)
	default:
		return usagef("mcp %s: wrong number of arguments; see spool mcp --help", verb)
	}
}

// namelessServer returns a server of the command line.
func namelessServer(url, command string) (mcpServer, error) {
	c := config.MCP{Name: "server", URL: url, Command: strings.Fields(command)}
	server, err := newMCP(c, egress.Policy{AllowPrivate: true}, nil, nil)
	if err != nil {
		return mcpServer{}, &usageError{errors.New(spool.MessageOf(err))}
	}
	return mcpServer{MCP: c, server: server}, nil
}

// tools returns the tools of the server by the server's names, and those names in their order. It warns of names in
// the configuration that the server does not offer.
func (s mcpServer) tools(
	ctx context.Context, warnings io.Writer,
) (names []string, byName map[string]spool.Tool, err error) {
	source, err := s.server.Tools(s.selection(nil))
	if err != nil {
		return nil, nil, plainError(err)
	}
	list, text, err := s.listed(ctx, source)
	if err != nil {
		return nil, nil, plainError(err)
	}
	for _, name := range s.selection(nil).Missing(list) {
		fmt.Fprintf(warnings, "warning: the configuration names the tool %s, which the server does not offer\n",
			printable(name))
	}
	tools, err := source.Tools(text)
	if err != nil {
		return nil, nil, plainError(err)
	}
	byLocal := make(map[string]spool.Tool, len(tools))
	for _, t := range tools {
		byLocal[t.Name] = t
	}
	byName = make(map[string]spool.Tool, len(tools))
	prefix := s.Prefix
	if prefix == "" {
		prefix = s.server.Name() + "__"
	}
	for _, listed := range list.All() {
		if t, ok := byLocal[mcp.LocalName(prefix, listed.Name)]; ok {
			names, byName[listed.Name] = append(names, listed.Name), t
		}
	}
	return names, byName, nil
}

// listed returns the list of the tools, and its text. Where people sign in, it is that of the owner.
func (s mcpServer) listed(ctx context.Context, source spool.ToolSource) (*mcp.List, json.RawMessage, error) {
	var tenant spool.Tenant
	var subject string
	if s.SignsIn() {
		tenant, subject = s.as.tenant, s.as.subject
	}
	text, err := source.List(ctx, tenant, subject)
	list := &mcp.List{}
	if err == nil {
		err = json.Unmarshal(text, list)
	}
	return list, text, err
}

// list prints the tools.
func (s mcpServer) list(ctx context.Context, out, warnings io.Writer) error {
	names, tools, err := s.tools(ctx, warnings)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tFOR THE MODEL\tAPPROVAL\tDESCRIPTION")
	for _, name := range names {
		approval := "no"
		if tools[name].Approval != nil {
			approval = "yes"
		}
		description, _, _ := strings.Cut(tools[name].Description, "\n")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", printable(name), tools[name].Name, approval, printable(description))
	}
	return w.Flush()
}

// printable returns a text of a server without characters that a terminal obeys.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// call calls a tool, answers its question if there is an answer, and prints the result or the question.
func (s mcpServer) call(ctx context.Context, h host, args []string, answer *spool.Answer) error {
	_, tools, err := s.tools(ctx, io.Discard)
	if err != nil {
		return err
	}
	tool, ok := tools[args[0]]
	if !ok {
		return fmt.Errorf("the server has no tool %q", args[0])
	}
	call := spool.ToolCall{
		RunID: "try", Step: 1, ID: "call", Name: tool.Name, Args: json.RawMessage(args[1]),
		Thread: spool.ThreadKey{Tenant: s.as.tenant}, Subject: s.as.subject,
	}
	if err := tool.Check(call.Args); err != nil {
		return plainError(err)
	}
	result, err := finished(ctx, tool, &call, h.stderr)
	question, asks := errors.AsType[*spool.ParkRequest](err)
	if asks && answer != nil {
		call.Answer, call.Resume = answer, question.Resume
		if question.Pending != nil {
			call.Pending = question.Pending
		}
		result, err = finished(ctx, tool, &call, h.stderr)
		question, asks = errors.AsType[*spool.ParkRequest](err)
	}
	if call.Pending != nil && (asks || ctx.Err() != nil) { // nobody comes back to the task
		err = errors.Join(err, cancelCall(ctx, tool, call, h.stderr))
	}
	switch {
	case asks:
		return printQuestion(h.stdout, question)
	case err != nil:
		return plainError(err)
	}
	_, err = fmt.Fprintf(h.stdout, "%s\n", result)
	return err
}

// finished calls a tool until its call is not pending any more. It prints how far the work is.
func finished(ctx context.Context, tool spool.Tool, call *spool.ToolCall, progress io.Writer) (json.RawMessage, error) {
	for note := ""; ; {
		result, err := tool.Call(ctx, *call)
		still, pending := errors.AsType[*spool.PendingError](err)
		if !pending {
			return result, err
		}
		if call.Pending == nil || still.Note != note {
			note = still.Note
			fmt.Fprintf(progress, "waits   %s\n", printable(note))
		}
		call.Pending, call.Answer, call.Resume = still.State, nil, nil
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(still.Bounded()):
		}
	}
}

// cancelCall cancels the task of a call, also after an interrupt.
func cancelCall(ctx context.Context, tool spool.Tool, call spool.ToolCall, progress io.Writer) error {
	const limit = 10 * time.Second
	ctx, release := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer release()
	err := tool.Cancel(ctx, call)
	if err == nil {
		fmt.Fprintln(progress, "the task was cancelled")
	}
	return err
}

// printQuestion prints a question and the schema of its answer.
func printQuestion(out io.Writer, question *spool.ParkRequest) error {
	text, err := json.Marshal(question.Payload)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "asks    %s\n", text); err != nil || question.Schema == nil {
		return err
	}
	_, err = fmt.Fprintf(out, "schema  %s\n", question.Schema)
	return err
}

// plainError returns the error with its cause, for the person at the terminal.
func plainError(err error) error {
	coded, ok := errors.AsType[*spool.Error](err)
	switch {
	case !ok:
		return err
	case coded.Err != nil:
		return fmt.Errorf("%s: %w", coded.Message, coded.Err)
	default:
		return errors.New(coded.Message)
	}
}
