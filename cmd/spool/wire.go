package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/model/openai"
	httptool "github.com/spoolhq/spool/tool/http"
)

// newModel makes a model of the configuration, and returns it with a short description.
func newModel(m config.Model) (spool.Model, string, error) {
	if m.Provider == config.ProviderDemo {
		return demo.New(demo.Config{Delay: demoDelay, ContextWindow: m.ContextWindow}), demoRemark, nil
	}
	model, err := openai.New(openai.Config{
		Model: m.Model, APIKey: m.APIKey, BaseURL: m.BaseURL, ContextWindow: m.ContextWindow,
		PromptCache: openai.PromptCache(m.PromptCache), MaxOutputTokens: m.MaxOutputTokens, Headers: m.Headers, Extra: m.Extra, Secrets: m.Secrets,
	})
	return model, m.Model + " at " + hostOf(m.BaseURL), err
}

// hostOf returns the host of a model's URL, without anything that could be a secret.
func hostOf(base string) string {
	if base == "" {
		base = openai.DefaultBaseURL
	}
	u, err := url.Parse(base)
	if err != nil {
		return "?"
	}
	return u.Host
}

// toolProblem returns the error of a tool, with its position in the configuration.
func toolProblem(t config.Tool, egress httptool.Egress, err error) error {
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
	if strings.Contains(text, "unmarshal") || strings.Contains(text, "cannot be a JSON ") { // the error names Go types, or another field than the path
		return "a JSON Schema cannot have this value here"
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// newTool makes a tool of the configuration.
func newTool(t config.Tool, egress httptool.Egress) (spool.Tool, error) {
	made, err := httptool.New(httptool.Config{
		Name: t.Name, URL: t.URL, Description: t.Description, Parameters: t.Parameters,
		Approval: t.Approval, Idempotent: t.Idempotent, Egress: egress, Body: httptool.Body(t.Body),
	})
	made.Expiry, made.DistinctApprover, made.Access = t.Expiry, t.DistinctApprover, t.Access
	return made, err
}
