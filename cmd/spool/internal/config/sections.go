package config

import (
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server"
)

// sections returns the table of the whole file.
func (c *Config) sections() table {
	models, tools := modelOptions(), toolOptions()
	modelKeys, toolKeys := models.keys(), tools.keys()
	return table{
		row("models", entries(models, func(e entry) { c.Models = append(c.Models, model(e, modelKeys)) }),
			"The models that agents can use, by your own names."),
		row("agents", late(entries(agentOptions(new(Agent)), func(e entry) { c.Agents = append(c.Agents, agent(e)) })),
			"The agents. The first one is the default."),
		row("tools", entries(tools, func(e entry) { c.Tools = append(c.Tools, tool(e, toolKeys)) }),
			"The tools that agents can call, by name."),
		row("mcp", entries(mcpOptions(new(MCP)), func(e entry) { c.MCP = append(c.MCP, mcpServer(e)) }),
			"MCP servers whose tools agents can have, by your own names."),
		row("auth", fields(c.authOptions()).then(c.checkAuth),
			"Who may call the server. Default: SPOOL_TOKEN, or only this machine."),
		row("server", fields(c.serverOptions()), "The address of the server."),
		row("egress", fields(table{
			row("allow", list(&c.Egress, value.egress),
				"Private hosts, addresses and ranges that tools may reach. Default: none."),
		}), "Addresses that tools may reach."),
		row("cors", fields(corsOptions(&c.CORS)).then(c.CORS.check), "Web pages of other origins."),
		row("queue", fields(queueOptions(&c.Queue)), "Jobs through an external queue."),
		row("limits", fields(limitsOptions(&c.Limits)), "What a caller may start, send and store."),
		row("context", late(fields(contextOptions(&c.Context))), "How much of a long thread a model reads."),
		row("budget", late(fields(budgetOptions(&c.Budget))),
			"What a run and its nested runs may use, unless the start or the agent says otherwise."),
		row("prices", pricesKind(&c.Prices),
			`A table of prices, relative to the folder of this file, or "builtin"; or the prices of single models `+
				"in USD, which win over the built-in ones. Default: none."),
		row("artifacts", fields(artifactsOptions(&c.Artifacts)).then(c.Artifacts.check),
			"Where large files and results are stored. Default: in their messages."),
		row("sign_in", fields(signInOptions(&c.SignIn)),
			"How people sign in to MCP servers with the auth authorization_code."),
		row("webhooks", late(fields(c.webhooksOptions()).then(func(v value) { c.Webhooks.Source = v.source() })),
			"Who is told of what happens to runs."),
		row("schedules", late(fields(c.schedulesOptions()).then(c.checkSchedules)), "Runs that start by themselves."),
	}
}

// read reads the file.
func (c *Config) read(root value, sections table) {
	d := root.d
	d.anonymous = !root.at("auth").present()
	c.SignIn.Source = root.at("sign_in").source()
	root.read(sections)
	for _, s := range c.MCP {
		if s.SignsIn() && len(c.SignIn.Keys) == 0 {
			d.add(s.Auth.Errorf("needs sign_in.keys, which encrypt the tokens of people"))
		}
	}
	// A file may have neither: the demo, with limits or tokens.
	switch {
	case len(c.Agents) == 0 && (len(c.Models) > 0 || len(c.Tools) > 0 || len(c.MCP) > 0):
		root.at("agents").problemf("is required: an agent says which model is used")
	case len(c.Models) == 0 && len(c.Agents) > 0:
		root.at("models").problemf("is required: the agents have no model to use")
	}
}

// serverOptions are the options of the section server.
func (c *Config) serverOptions() table {
	return table{
		row("base_path", of(shape{kind: kindText}, &c.BasePath, basePath),
			"A prefix of all paths, such as /v1. Default: none."),
		row("public_url", httpURL(&c.PublicURL).then(c.checkPublicURL),
			"The scheme and host under which clients reach the server, with the path that a proxy cuts off, for the "+
				"OpenAPI document. Default: the address of the request."),
		row("provider_options", strict(&c.StrictOptions),
			"Provider options of a start that its agent does not allow: ignore, with a warning in the answer and "+
				"the log, or strict, with a 400. Default: ignore."),
	}
}

// strict is the word ignore or strict.
func strict(to *bool) kind {
	var word string
	return oneOf(&word, "ignore", "strict").then(func(value) { *to = word == "strict" })
}

// checkPublicURL checks that the URL has a scheme, a host and the path that a proxy cuts off, and cuts the slash at its
// end. The base path follows it.
func (c *Config) checkPublicURL(v value) {
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if c.PublicURL == "" || v.complained() {
		return
	}
	switch err := server.CheckPublicURL(c.PublicURL, c.BasePath); {
	case err == nil:
	case server.CheckPublicURL(c.PublicURL, "") == nil:
		v.problemf("must not end with base_path, which comes after it")
	default:
		v.problemf(`may only have a scheme, a host and a path, such as "https://agents.example"`)
	}
}

// basePath returns the prefix of all paths, without a slash at the end.
func basePath(v value) string {
	at := strings.TrimRight(v.text(), "/")
	if err := rest.CheckBasePath(at); err != nil && !v.complained() {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		v.problemf(`must be a path such as "/v1": %s`, reason)
	}
	return at
}

// Context is the section context. A zero field is not in the file.
type Context struct {
	// Ceiling and OutputReserve are in tokens.
	Ceiling, OutputReserve int
	// CompactionModel is the name of the model that summarises.
	CompactionModel string
}

func contextOptions(c *Context) table {
	return table{
		row("ceiling", integer(&c.Ceiling), "The most tokens of a prompt and its answer. Default: 265000."),
		row("output_reserve", integer(&c.OutputReserve), "Tokens of that for the answer. Default: 16000."),
		row("compaction_model", text(&c.CompactionModel).then(func(v value) {
			if c.CompactionModel != "" && !v.d.hasModel(c.CompactionModel) {
				v.problemf("there is no model %q", c.CompactionModel)
			}
		}), "A name of models: the one that summarises older messages. Default: the run's."),
	}
}
