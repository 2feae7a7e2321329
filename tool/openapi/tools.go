package openapi

import (
	"context"
	"encoding/json"
	"maps"
	"mime"
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
	library  *library
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
		Tool: "of the document", Egress: c.Egress, Headers: c.Headers, MaxResultBytes: c.MaxResultBytes, Retry: c.Retry,
		Secrets: secrets, SigningSecrets: c.SigningSecrets, Timeout: c.Timeout,
	})
}

func (b *sourceBuilder) tools(chosen []choice) (Set, error) {
	room := maxSchemas
	set := Set{Tools: make([]Tool, 0, len(chosen))}
	unused := maps.Clone(b.config.Override)
	names := make(map[string]Tool, len(chosen))
	for _, o := range chosen {
		over := b.override(o.operation, unused)
		t, err := b.tool(o.operation, over)
		if other, twice := names[t.Name]; twice && err == nil {
			err = spool.Errorf(spool.Invalid, "the tool of %s %s has the name %s too: override one of them", other.Method,
				cut(other.Path, 300), t.Name)
		}
		switch {
		case err == nil:
			names[t.Name] = t
			set.Tools = append(set.Tools, t)
			if room -= len(t.Parameters); room < 0 {
				return Set{}, spool.Errorf(spool.Invalid,
					"the arguments of the chosen operations are too large together: more than %d MiB; choose fewer", maxSchemas>>20)
			}
		case o.ignored && !o.named && b.config.Unsupported != SkipUnsupported: // "*" means the operations that can be tools
		case b.config.Unsupported == SkipUnsupported && !o.named:
			var all faults
			all.add(err)
			set.LeftOut = append(set.LeftOut, LeftOut{o.method, cut(o.path, maxPath), cut(o.id, maxPath), all.named()})
		default:
			return Set{}, placed("operation "+o.name(), err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(unused)) {
		return Set{}, spool.Errorf(spool.Invalid, "Override: %q is none of the chosen operations", cut(key, 200))
	}
	if len(set.Tools) == 0 {
		if len(set.LeftOut) == 0 {
			return Set{}, spool.Errorf(spool.Invalid, "the document has no operation that can be a tool")
		}
		first := set.LeftOut[0]
		if len(set.LeftOut) == 1 {
			return Set{}, placed("operation "+chosen[0].name(), faults(first.Reasons))
		}
		return Set{}, spool.Errorf(spool.Invalid, "none of the %d chosen operations is supported; of %s %s: %s",
			len(set.LeftOut), first.Method, cut(first.Path, 300), cut(strings.Join(first.Reasons, "; "), 1000))
	}
	return set, nil
}

// override returns what the configuration changes of an operation.
func (b *sourceBuilder) override(o operation, unused map[string]Override) (over Override) {
	for key, value := range b.config.Override {
		if o.is(key) {
			over = value
			delete(unused, key)
		}
	}
	return over
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
	c := &checker{source: schema}
	tool, err := tool.FromSchema(name, description, anyArguments, caller(c, b.endpoint, plan, endpoint.Request{
		Method: o.method, Header: b.fixed(o, p), Idempotent: idempotent, Caller: b.config.Caller, ShortKey: true,
	}))
	if err != nil {
		return Tool{}, err
	}
	tool.Parameters, tool.Check = schema, c.check
	tool.Idempotent, tool.Polling = idempotent, over.Polling
	if approval {
		tool.Approval = spool.AlwaysApprove
	}
	return Tool{Tool: tool, Method: o.method, Path: o.path, OperationID: o.id}, nil
}

// anyArguments is the schema that a tool is made with, before it gets its own one.
var anyArguments = json.RawMessage(`{"type":"object"}`)

// fixed returns the headers that each request of an operation has: secrets, and what it accepts.
func (b *sourceBuilder) fixed(o operation, p proof) http.Header {
	fixed := p.header
	if len(p.cookies) > 0 {
		fixed.Set("Cookie", strings.Join(p.cookies, "; "))
	}
	if kinds := b.answers(o); kinds != "" {
		fixed.Set("Accept", kinds)
	}
	return fixed
}

// caller returns the function of a tool. It must not refer to the document, which can be large.
func caller(
	k *checker, e *endpoint.Endpoint, plan *argument.Plan, request endpoint.Request,
) func(context.Context, spool.ToolCall) (json.RawMessage, error) {
	return func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if err := k.check(c.Args); err != nil {
			return nil, err
		}
		built, err := plan.Build(c.Args, opener(ctx, c))
		if err != nil {
			return nil, err
		}
		r := request
		if cookies := slices.Concat(built.Header["Cookie"], request.Header["Cookie"]); len(cookies) > 0 {
			built.Header.Set("Cookie", strings.Join(cookies, "; "))
		}
		for name, values := range request.Header {
			if name != "Cookie" {
				built.Header[name] = values
			}
		}
		r.URL, r.Header, r.Body = built.URL, built.Header, built.Body
		return e.Do(ctx, c, r)
	}
}

// plan returns how the requests of an operation are built, the schema of its arguments, and its secrets. Its error
// has everything that is wrong with the operation.
func (b *sourceBuilder) plan(o operation) (*argument.Plan, json.RawMessage, proof, error) {
	if o.fault != nil {
		return nil, nil, proof{}, o.fault
	}
	wrongs := slices.Clone(o.wrongs)
	base, err := b.base(o)
	wrongs.add(err)
	p, err := b.secure(o)
	wrongs.add(err)
	params, err := b.parameters(o, p)
	wrongs.add(err)
	content, err := b.body(o)
	if wrongs.add(err); err != nil {
		content = body{} // its schema has nothing more to say
	}
	path, query := o.target()
	if query != "" {
		base += "?" + query
	}
	plan := &argument.Plan{
		Method: o.method, Base: base, Path: path, Body: content.kind, ContentType: content.contentType, Query: p.query,
		Fields: content.fields,
	}
	names := make(map[string]int)
	if content.kind != argument.NoBody {
		plan.BodyArg = bodyArg
		names[bodyArg] = 1
	}
	for i := range params {
		params[i].Arg = argumentName(params[i].Param, names)
		plan.Params = append(plan.Params, params[i].Param)
	}
	schema, files, err := b.library.schemaOf(o.place, func(w *writer) any { return w.arguments(params, content) })
	wrongs.add(err)
	withFiles(plan, files)
	return plan, schema, p, wrongs.err()
}

// withFiles tells a plan where the body has files.
func withFiles(plan *argument.Plan, files [][]string) {
	switch plan.Body {
	case argument.JSON:
		plan.Files = files
	case argument.Multipart:
		fields := make(map[string]argument.Field)
		maps.Copy(fields, plan.Fields)
		for _, steps := range files {
			name := strings.TrimPrefix(steps[0], ".")
			f := fields[name]
			f.File, f.Style = true, ""
			fields[name] = f
		}
		plan.Fields = fields
	default:
	}
}

// arguments returns the schema of all arguments.
func (w *writer) arguments(params []parameter, content body) map[string]any {
	properties, required := make(map[string]any), []any{}
	for _, q := range params {
		if q.schema == nil { // it is wrong
			continue
		}
		properties[q.Arg] = described(w.top(q.schema, q.place+".schema"), text(q.node, "description"))
		w.add(0, len(q.Arg))
		if q.required {
			required = append(required, q.Arg)
		}
	}
	if content.kind != argument.NoBody {
		place := content.place + ".schema"
		if w.kind = content.kind; w.kind == argument.JSON && w.doc.old || w.kind == argument.Form || w.kind == argument.Text {
			w.kind = argument.NoBody
		}
		schema := w.top(content.schema, place)
		if content.kind == argument.Form || content.kind == argument.Multipart {
			w.wrongs.add(checkForm(content, schema, place))
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
	return out
}

// described returns the schema of a parameter with what the parameter is for.
func described(schema any, about string) any {
	object, ok := schema.(map[string]any)
	if about = strings.TrimSpace(about); !ok || about == "" {
		return schema
	}
	object = maps.Clone(object)
	object["description"] = cut(about, maxDescription)
	return object
}

// answers returns the content types of an operation's answers as the header Accept. It is empty if the usual one
// fits: JSON is among the answers, or nothing is said of them.
func (b *sourceBuilder) answers(o operation) string {
	responses := mapOf(o.node, "responses")
	var kinds []string
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		response, _, err := b.doc.object(responses[status], "")
		if err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(mapOf(response, "content"))) {
			kind, _, err := mime.ParseMediaType(name)
			switch {
			case kind == "application/json", kind == "application/*", kind == "*/*":
				return ""
			case err == nil && len(kinds) < maxAccept && !slices.Contains(kinds, kind):
				kinds = append(kinds, kind)
			}
		}
	}
	return strings.Join(kinds, ", ")
}

// maxAccept bounds how many content types a request accepts by name.
const maxAccept = 10
