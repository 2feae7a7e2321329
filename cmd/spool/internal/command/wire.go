package command

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/model/demo"
	httptool "github.com/spoolhq/spool/tool/http"
)

// newModel makes a model of the configuration, and returns it with a short description.
func newModel(m config.Model, log *slog.Logger) (spool.Model, string, error) {
	if m.Provider == config.ProviderDemo {
		return demo.New(demo.Config{Delay: demoDelay, ContextWindow: m.ContextWindow}), demoRemark, nil
	}
	model, err := adapters[m.Provider].open(m, log)
	if baseOf(m) == "" { // of a provider that the program has added
		return model, m.Model + " of " + m.Provider, err
	}
	return model, m.Model + " at " + hostOf(baseOf(m)), err
}

// toolProblem returns the error of a tool, with its position in the configuration.
func toolProblem(t config.Tool, egress egress.Policy, err error) error {
	check := func(parameters json.RawMessage) error {
		t := t
		t.Parameters = parameters
		if _, err := newTool(t, egress); err != nil {
			return errors.New(schemaProblem(t.Name, spool.MessageOf(err)))
		}
		return nil
	}
	if check(nil) == nil {
		if problems := t.CheckParameters(check); len(problems) > 0 {
			return problems
		}
	}
	return t.Errorf("%s", spool.MessageOf(err)) // not an error of the schema
}

// schemaProblem rewrites an error of the schema compiler for a configuration, where the field's name
// comes first.
func schemaProblem(tool, text string) string {
	for _, prefix := range []string{
		"parameters of tool " + tool + ": ", "parse schema: ", "compile schema: ", "jsonschema.Schema: <anonymous schema>: ",
	} {
		text = strings.TrimPrefix(text, prefix)
	}
	// the error names Go types, or another field than the path
	if strings.Contains(text, "unmarshal") || strings.Contains(text, "cannot be a JSON ") {
		return "a JSON Schema cannot have this value here"
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// newTool makes a tool of the configuration.
func newTool(t config.Tool, egress egress.Policy) (spool.Tool, error) {
	tool, err := httptool.New(httptool.Config{
		Name: t.Name, URL: t.URL, Description: t.Description, Parameters: t.Parameters,
		Approval: t.Approval, Idempotent: t.Idempotent, Egress: egress, Body: httptool.Body(t.Body), Method: t.Method,
		Headers: t.Requests.Headers, SigningSecrets: t.Requests.SigningSecrets, Secrets: t.Requests.Secrets,
		Timeout: t.Requests.Timeout, MaxResultBytes: t.Requests.MaxResultBytes, Retry: retryOf(t.Requests),
	})
	tool.Expiry, tool.DistinctApprover, tool.Access, tool.Polling = t.Expiry, t.DistinctApprover, t.Access, t.Polling
	return tool, err
}

func retryOf(r config.Requests) httptool.Retry {
	return httptool.Retry{Attempts: r.Attempts, Backoff: r.Backoff, Within: r.Within}
}

// outputProblem returns the error of a JSON value that an agent answers with, nil for none.
func outputProblem(where config.Source, s *spool.OutputSchema) error {
	if s == nil {
		return nil
	}
	if err := s.Check(); err != nil {
		return where.Errorf("%s", spool.MessageOf(err))
	}
	if _, err := argschema.Compile(s.Schema); err != nil {
		return where.Errorf("output.schema: %s", schemaProblem("", err.Error()))
	}
	return nil
}
