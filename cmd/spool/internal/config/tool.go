package config

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/webhook"
)

// The types of a [Tool].
const (
	// ToolHTTP is one endpoint.
	ToolHTTP = "http"
	// ToolOpenAPI is a source of tools: the operations of a document.
	ToolOpenAPI = "openapi"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Tool is an entry of the section tools.
type Tool struct {
	Source

	// Access says whose runs may use the tool.
	Access spool.Access

	Name        string
	Type        string
	Method      string
	URL         string
	Description string
	Idempotent  bool
	Polling     bool
	Approval    bool
	// Search puts the tools into the catalogue of their agents.
	Search bool
	// Body is the form of a request's body, arguments or envelope. Empty: the file has none.
	Body string
	// DistinctApprover forbids the starter of a run to answer for a call of the tool.
	DistinctApprover bool
	// Expiry says how long a call waits for its approval. It is zero if the file does not say.
	Expiry spool.Expiry
	// Parameters is a JSON Schema. Nil: the file has none.
	Parameters json.RawMessage
	// OpenAPI is nil for other types.
	OpenAPI  *OpenAPI
	Requests Requests

	// within has the source of each value of Parameters in the file, by its path.
	within map[string]Source
}

// Requests are the fields of a tool that say how its requests are made. A zero field is not in the file.
type Requests struct {
	// Headers are sent with each request. Their values may be secrets.
	Headers map[string]string
	// SigningSecrets sign each request.
	SigningSecrets []string
	Timeout        time.Duration
	MaxResultBytes int
	Attempts       int
	Backoff        time.Duration
	Within         time.Duration
	// Secrets are the values of the environment in these fields and in the URL's query.
	Secrets []string
}

// toolForms are the types of tools with the options that only they have.
func toolForms(t *Tool, o *OpenAPI) []variant {
	return []variant{{word: ToolHTTP, options: httpOptions(t)}, {word: ToolOpenAPI, options: openAPIOptions(t, o)}}
}

// toolOptions are the options of all tools.
func toolOptions() table {
	t := new(Tool)
	return slices.Concat(table{toolForm(t)}, merged(toolForms(t, new(OpenAPI))), t.Requests.options(),
		commonToolOptions(t))
}

func toolForm(t *Tool) option {
	return row("type", form(&t.Type, ToolHTTP, ToolOpenAPI),
		"http: spool sends the arguments to the URL, and the answer is the result. openapi: the operations of a "+
			"document are tools.")
}

// commonToolOptions are those that every tool has.
func commonToolOptions(t *Tool) table {
	return table{
		row("approval", boolean(&t.Approval), "true: a person is asked before each call. Default: false."),
		row("search", boolean(&t.Search),
			"true: the model does not get the tools of this entry with each request, but finds them by searchTools "+
				"and describeTools. Default: false."),
		row("only_for", onlyFor(&t.Access), "Whose runs may use the tool. Default: everybody's."),
		row("distinct_approver", distinctApprover(&t.DistinctApprover),
			"true: the starter of a run may not answer for a call of this tool. Default: false."),
		row("expiry", expiry(&t.Expiry), "How long a call waits for a person."),
	}
}

// httpOptions are the options that only the type http has.
func httpOptions(t *Tool) table {
	return table{
		row("method", oneOf(&t.Method, "GET", "POST", "PUT", "PATCH", "DELETE"),
			"The method. A GET and a DELETE have their arguments in the query. Default: POST."),
		row("url", requiredIf("type", ToolHTTP, noting(httpURL(&t.URL), func(used []string) {
			t.Requests.Secrets = append(t.Requests.Secrets, secretsOf(t.URL, used)...)
		})), "The URL that is called. {name} in its path is replaced by the argument of that name."),
		row("description", text(&t.Description), "What the model reads of it. Default: none."),
		row("idempotent", boolean(&t.Idempotent),
			"true: a call with an unknown outcome may be repeated. Default: false, and true for a GET."),
		row("polling", boolean(&t.Polling), "true: the same call may have the same result many times. Default: false."),
		row("parameters", object(&t.Parameters, &t.within),
			"The JSON Schema of the arguments, an object. Default: no arguments."),
		row("body", oneOf(&t.Body, "arguments", "envelope").then(func(v value) {
			if t.Body == "envelope" && (t.Method == http.MethodGet || t.Method == http.MethodDelete) {
				v.problemf("is only for methods with a body: POST, PUT and PATCH")
			}
		}),
			"The body of a request: arguments, or an envelope that also has the call and its answer. Default: "+
				"arguments."),
	}
}

// tool reads an entry of the section tools, whose options have some keys.
func tool(e entry, keys []string) Tool {
	t, o := Tool{Source: e.source(), Name: e.name}, &OpenAPI{Prefix: e.name + "_", at: make(map[string]Source)}
	if !toolName.MatchString(e.name) {
		e.problemf("the name of a tool may only have up to 64 letters, digits and the characters _ -")
	}
	f := e.fields(keys...)
	slices.Concat(table{toolForm(&t)}, t.Requests.options(), commonToolOptions(&t)).read(f)
	e.readVariant(f, toolForms(&t, o), t.Type, "a tool of the type "+t.Type+" has no use for it")
	if t.Type == ToolOpenAPI {
		t.OpenAPI = o
		for _, key := range openAPIOptions(&t, o).keys() {
			o.at[key] = f[key].source()
		}
	}
	return t
}

// secretsOf returns those values of the environment that are in a URL's password or query, where keys are.
func secretsOf(text string, used []string) (secrets []string) {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	password, _ := u.User.Password()
	for _, value := range used {
		if value != "" && (value == password || strings.Contains(u.RawQuery, value) ||
			slices.Contains(slices.Concat(valuesOf(u.Query())...), value)) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

func valuesOf(query url.Values) (values [][]string) {
	for _, each := range query {
		values = append(values, each)
	}
	return values
}

// options say how the requests of a tool are made.
func (r *Requests) options() table {
	return table{
		row("headers", secret(&r.Secrets, headers(&r.Headers, ownToolHeader)),
			"Headers of each request, such as a key. They are never shown."),
		row("sign", secret(&r.Secrets, fields(table{
			row("secrets", required(filled(list(&r.SigningSecrets, value.signingSecret))),
				"Base64 of 24 bytes or more, with or without whsec_. Each makes a signature."),
		})), "Sign each request by the specification Standard Webhooks."),
		row("timeout", duration(&r.Timeout), "How long an attempt may take. Default: 30s."),
		row("max_result_bytes", integer(&r.MaxResultBytes), "Bytes of an answer. Default: 262144."),
		row("retry", fields(table{
			row("attempts", required(integer(&r.Attempts).then(func(v value) {
				if r.Attempts > maxAttempts {
					v.problemf("must be %d or less", maxAttempts)
				}
			})), "How often a call is attempted, up to 10."),
			row("backoff", duration(&r.Backoff),
				"The pause before the second attempt; it doubles up to 30s. Default: 500ms."),
			row("within", duration(&r.Within), "The time of all attempts and pauses. Default: 1m."),
		}), "When a call that failed is attempted again."),
	}
}

// maxAttempts is the maximum of retry.attempts.
const maxAttempts = 10

// signingSecret returns a secret of Standard Webhooks.
func (v value) signingSecret() string {
	secret := v.word()
	if _, err := webhook.NewSigner([]string{secret}); err != nil && !v.complained() {
		v.problemf("must be base64 of 24 bytes or more, with or without whsec_")
	}
	return secret
}

// ownToolHeader refuses a header that follows from the call, its body or its connection.
func ownToolHeader(name string) string {
	if name != "Accept" && slices.Contains(ownHeaders, name) || name == "Idempotency-Key" ||
		strings.HasPrefix(name, "Spool-") || strings.HasPrefix(name, "Webhook-") {
		return setByEngine
	}
	return ""
}

// expiry is how the parks of a tool expire.
func expiry(x *spool.Expiry) kind {
	return fields(table{
		row("then", oneOf(&x.Then, string(spool.ExpireDeny), string(spool.ExpireFail), string(spool.ExpireExtend)),
			"What happens to a call that nobody answers. Default: deny."),
		row("ttl", duration(&x.TTL), "How long an answer may take. Default: limits.hitl_ttl."),
		row("warn", duration(&x.Warn),
			"How long before the end the record warns. Default: a fifth of ttl, at most 1h."),
		row("extensions", integer(&x.Extensions).then(func(v value) {
			if x.Then != spool.ExpireExtend {
				v.problemf("is only for then: extend")
			}
		}), "How many times an expiry that extends gives the same time again. Default: 10."),
	})
}
