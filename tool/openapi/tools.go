package openapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/tool/internal/argument"
	"github.com/spoolhq/spool/tool/internal/endpoint"
)

// sourceBuilder makes the tools of a document.
type sourceBuilder struct {
	config   Config
	doc      *document
	endpoint *endpoint.Endpoint
}

func (b *sourceBuilder) checkBase() error {
	if b.config.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(b.config.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return spool.Errorf(spool.Invalid, "BaseURL is not an http or https URL without a query")
	}
	return nil
}

// open returns what sends the requests of all tools.
func (b *sourceBuilder) open() (*endpoint.Endpoint, error) {
	c := b.config
	secrets := slices.Clone(c.Secrets)
	for _, credential := range c.Auth {
		secrets = append(secrets, credential.secrets()...)
	}
	return endpoint.New(endpoint.Config{
		Tool: "of the document", Egress: c.Egress, Headers: c.Headers, MaxResultBytes: c.MaxResultBytes, Retry: c.Retry, Secrets: secrets,
		SigningSecrets: c.SigningSecrets, Timeout: c.Timeout,
	})
}

func (b *sourceBuilder) tools(chosen []operation) ([]Tool, error) {
	made := make([]Tool, 0, len(chosen))
	unused := maps.Clone(b.config.Override)
	for _, o := range chosen {
		var over Override
		for key, value := range b.config.Override {
			if o.is(key) {
				over = value
				delete(unused, key)
			}
		}
		t, err := b.tool(o, over)
		if err != nil {
			return nil, placed("operation "+o.name(), err)
		}
		if i := slices.IndexFunc(made, func(other Tool) bool { return other.Name == t.Name }); i >= 0 {
			return nil, spool.Errorf(spool.Invalid, "operation %s: the tool of %s %s has the name %s too: override one of them", o.name(), made[i].Method, made[i].Path, t.Name)
		}
		made = append(made, t)
	}
	for _, key := range slices.Sorted(maps.Keys(unused)) {
		return nil, spool.Errorf(spool.Invalid, "Override: %q is none of the chosen operations", cut(key, 200))
	}
	return made, nil
}

// tool makes the tool of an operation.
func (b *sourceBuilder) tool(o operation, over Override) (Tool, error) {
	plan, schema, p, err := b.plan(o)
	if err != nil {
		return Tool{}, err
	}
	name, description := nameOf(o, b.config.Prefix), about(o)
	if over.Name != "" {
		name = b.config.Prefix + over.Name
	}
	if over.Description != "" {
		description = over.Description
	}
	idempotent := o.method == http.MethodGet || o.method == http.MethodHead
	if over.Idempotent != nil {
		idempotent = *over.Idempotent
	}
	approval := b.config.Approval
	if over.Approval != nil {
		approval = *over.Approval
	}
	made, err := tool.FromSchema(name, description, schema, func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		built, err := plan.Build(c.Args)
		if err != nil {
			return nil, err
		}
		maps.Copy(built.Header, p.header)
		return b.endpoint.Do(ctx, c, endpoint.Request{
			Method: o.method, URL: built.URL, Header: built.Header, Body: built.Body, Idempotent: idempotent, Caller: b.config.Caller, ShortKey: true,
		})
	})
	if err != nil {
		return Tool{}, err
	}
	made.Idempotent, made.Polling = idempotent, over.Polling
	if approval {
		made.Approval = spool.AlwaysApprove
	}
	return Tool{Tool: made, Method: o.method, Path: o.path, OperationID: o.id}, nil
}

// plan returns how the requests of an operation are built, the schema of its arguments, and its secrets.
func (b *sourceBuilder) plan(o operation) (*argument.Plan, json.RawMessage, proof, error) {
	base, err := b.base(o)
	if err != nil {
		return nil, nil, proof{}, err
	}
	p, err := b.secure(o)
	if err != nil {
		return nil, nil, p, err
	}
	params, err := b.parameters(o, p)
	if err != nil {
		return nil, nil, p, err
	}
	content, err := b.body(o)
	if err != nil {
		return nil, nil, p, err
	}
	plan := &argument.Plan{Method: o.method, Base: base, Path: o.path, Body: content.kind, ContentType: content.contentType, Query: p.query}
	taken := make(map[string]bool)
	if content.kind != argument.NoBody {
		plan.BodyArg = bodyArg
		taken[bodyArg] = true
	}
	for i := range params {
		params[i].Arg = argumentName(params[i].Param, taken)
		plan.Params = append(plan.Params, params[i].Param)
	}
	schema, err := written(b.doc, o.place, func(w *writer) (map[string]any, error) { return w.arguments(params, content) })
	return plan, schema, p, err
}

// arguments returns the schema of all arguments.
func (w *writer) arguments(params []parameter, content body) (map[string]any, error) {
	properties, required := make(map[string]any), []any{}
	for _, q := range params {
		schema, err := w.schema(q.schema, q.place+".schema", 0)
		if err != nil {
			return nil, err
		}
		properties[q.Arg] = described(schema, text(q.node, "description"))
		if q.required {
			required = append(required, q.Arg)
		}
	}
	if content.kind != argument.NoBody {
		schema, err := w.schema(content.schema, content.place+".schema", 0)
		if err != nil {
			return nil, err
		}
		if content.kind == argument.Form {
			if err := checkForm(schema, content.place+".schema"); err != nil {
				return nil, err
			}
		}
		properties[bodyArg] = described(schema, content.about)
		if content.required {
			required = append(required, bodyArg)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

// described adds what a parameter is for to its schema.
func described(schema any, about string) any {
	object, ok := schema.(map[string]any)
	if about = strings.TrimSpace(about); ok && about != "" {
		object["description"] = cut(about, maxDescription)
	}
	return schema
}
