package config

import (
	"encoding/json"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
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

// requestFields are the fields of [Requests].
var requestFields = []string{"headers", "sign", "timeout", "max_result_bytes", "retry"}

// httpFields are the fields that only the type http has.
var httpFields = []string{"method", "url", "description", "idempotent", "polling", "parameters", "body"}

// toolFields are the fields of a tool.
var toolFields = slices.Concat(
	[]string{"type"}, httpFields, openAPIToolFields, requestFields, []string{"approval", "search", "only_for", "distinct_approver", "expiry"},
)

func tool(e entry) Tool {
	f := e.fields(toolFields...)
	if !toolName.MatchString(e.name) {
		e.problemf("the name of a tool may only have up to 64 letters, digits and the characters _ -")
	}
	t := Tool{
		Source: e.source(), Name: e.name, Access: onlyFor(f["only_for"]), Approval: f["approval"].boolean(), Search: f["search"].boolean(),
		DistinctApprover: distinctApprover(f["distinct_approver"]), Expiry: expiry(f["expiry"]), Requests: requests(f),
	}
	if f["type"].required() {
		t.Type = f["type"].word()
		f["type"].among(t.Type, ToolHTTP, ToolOpenAPI)
	}
	if t.Type == ToolOpenAPI {
		openAPITool(&t, f)
	} else {
		httpTool(&t, f)
	}
	return t
}

// unused complains about fields of another type.
func unused(f map[string]value, kind string, names []string) {
	for _, name := range names {
		if f[name].present() {
			f[name].problemf("a tool of the type %s has no use for it", kind)
		}
	}
}

// httpTool reads the fields of the type http.
func httpTool(t *Tool, f map[string]value) {
	t.Description, t.Idempotent, t.Polling = f["description"].text(), f["idempotent"].boolean(), f["polling"].boolean()
	t.Body, t.Method = f["body"].text(), f["method"].text()
	f["body"].among(t.Body, "arguments", "envelope")
	f["method"].among(t.Method, "GET", "POST", "PUT", "PATCH", "DELETE")
	if t.Body == "envelope" && (t.Method == http.MethodGet || t.Method == http.MethodDelete) {
		f["body"].problemf("is only for methods with a body: POST, PUT and PATCH")
	}
	t.Parameters, t.within = f["parameters"].object()
	d := f["url"].d
	used := len(d.used)
	if f["url"].requiredWhere("type", ToolHTTP) {
		t.URL = f["url"].url()
	}
	t.Requests.Secrets = append(t.Requests.Secrets, secretsOf(t.URL, d.used[used:])...)
	unused(f, ToolHTTP, openAPIToolFields)
}

// secretsOf returns those values of the environment that are in a URL's password or query, where keys are.
func secretsOf(text string, used []string) (secrets []string) {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	password, _ := u.User.Password()
	for _, value := range used {
		if value != "" && (value == password || strings.Contains(u.RawQuery, value) || slices.Contains(slices.Concat(valuesOf(u.Query())...), value)) {
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

// requests reads how the requests of a tool are made.
func requests(f map[string]value) Requests {
	d := f["headers"].d
	used := len(d.used)
	retry := f["retry"].fields("attempts", "backoff", "within")
	r := Requests{
		Headers: toolHeaders(f["headers"]), Timeout: f["timeout"].duration(), MaxResultBytes: f["max_result_bytes"].integer(),
		Backoff: retry["backoff"].duration(), Within: retry["within"].duration(),
	}
	if f["retry"].present() && retry["attempts"].required() {
		r.Attempts = retry["attempts"].integer()
	}
	if r.Attempts > maxAttempts {
		retry["attempts"].problemf("must be %d or less", maxAttempts)
	}
	if f["sign"].present() {
		r.SigningSecrets = signingSecrets(f["sign"].fields("secrets")["secrets"])
	}
	r.Secrets = append(r.Secrets, d.used[used:]...)
	return r
}

// maxAttempts is the maximum of retry.attempts.
const maxAttempts = 10

// signingSecrets reads secrets of Standard Webhooks.
func signingSecrets(v value) []string {
	secrets := v.words()
	for i, secret := range secrets {
		if _, err := webhook.NewSigner([]string{secret}); err != nil && !v.items()[i].complained() {
			v.items()[i].problemf("must be base64 of 24 bytes or more, with or without whsec_")
		}
	}
	return secrets
}

// toolHeaders reads the headers of a tool's requests.
func toolHeaders(v value) map[string]string {
	var out map[string]string
	for _, e := range v.entries() {
		name, text := textproto.CanonicalMIMEHeaderKey(e.name), e.text()
		_, twice := out[name]
		switch {
		case !e.present(): // an empty header is surely a mistake
			e.problemf("must be text")
		case !server.ValidHeaderName(e.name):
			e.problemf("must be the name of a header")
		case setByTool(name):
			e.problemf("is a header that the engine sets")
		case twice:
			e.problemf("is there twice")
		case controlled(text):
			e.problemf("has a line break or another control character in it")
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[name] = text
	}
	return out
}

// setByTool reports whether a header follows from the call, its body or its connection.
func setByTool(name string) bool {
	return name != "Accept" && slices.Contains(ownHeaders, name) || name == "Idempotency-Key" ||
		strings.HasPrefix(name, "Spool-") || strings.HasPrefix(name, "Webhook-")
}

// controlled reports whether text has characters that no header can have.
func controlled(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
