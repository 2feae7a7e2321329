package main

import (
	"net/url"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/model/openai"
	httptool "github.com/spoolhq/spool/tool/http"
)

// newModel makes a model of the configuration and says in a few words what it is.
func newModel(m config.Model) (spool.Model, string, error) {
	if m.Provider == config.ProviderDemo {
		return demo.New(demo.Config{Delay: demoDelay}), demoRemark, nil
	}
	model, err := openai.New(openai.Config{
		Model: m.Model, APIKey: m.APIKey, BaseURL: m.BaseURL, ContextWindow: m.ContextWindow,
	})
	return model, m.Model + " at " + hostOf(m.BaseURL), err
}

// hostOf returns the host of a model's URL and nothing that could be a secret.
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

// newTool makes a tool of the configuration.
func newTool(t config.Tool, egress httptool.Egress) (spool.Tool, error) {
	return httptool.New(httptool.Config{
		Name: t.Name, URL: t.URL, Description: t.Description, Parameters: t.Parameters,
		Approval: t.Approval, Idempotent: t.Idempotent, Egress: egress,
	})
}
