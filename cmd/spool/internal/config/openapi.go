package config

import "strings"

// OpenAPI has the fields of a tool of the type openapi.
type OpenAPI struct {
	// Document is a file, relative to the folder of the configuration, or a URL.
	Document string
	// Operations chooses operations, by id, method and path, or tag.
	Operations []string
	// Except leaves out operations that Operations chooses.
	Except []string
	// Unsupported says what becomes of operations that are not supported: error or skip. Empty: error.
	Unsupported string
	// BaseURL is empty if the file has none.
	BaseURL string
	// Prefix begins the names of the tools.
	Prefix string
	// Caller tells the service whose call it is.
	Caller bool
	// Auth has the credentials of security schemes.
	Auth map[string]Credential
	// Override changes the tools of single operations.
	Override map[string]Override

	// at has the sources of these fields.
	at map[string]Source
}

// What becomes of operations that are not supported.
const (
	UnsupportedError = "error"
	UnsupportedSkip  = "skip"
)

// Credential is an entry of auth of a tool.
type Credential struct{ Token, Username, Password string }

// Override is an entry of override of a tool. Nil: the file does not say.
type Override struct {
	Name, Description    string
	Approval, Idempotent *bool
	Polling              bool
}

// openAPIToolFields are the fields that only the type openapi has.
var openAPIToolFields = []string{"document", "operations", "except", "unsupported", "base_url", "prefix", "caller", "auth", "override"}

// At returns the source of a field.
func (o *OpenAPI) At(field string) Source { return o.at[field] }

// openAPITool reads the fields of the type openapi.
func openAPITool(t *Tool, f map[string]value) {
	o := &OpenAPI{Prefix: t.Name + "_", Caller: f["caller"].boolean(), at: make(map[string]Source)}
	for _, name := range openAPIToolFields {
		o.at[name] = f[name].source()
	}
	d := f["document"].d
	used := len(d.used)
	if f["document"].requiredWhere("type", ToolOpenAPI) {
		o.Document = f["document"].word()
	}
	if f["operations"].requiredWhere("type", ToolOpenAPI) {
		o.Operations = operations(f["operations"])
	}
	o.Except = operations(f["except"])
	o.Unsupported = f["unsupported"].text()
	f["unsupported"].among(o.Unsupported, UnsupportedError, UnsupportedSkip)
	o.BaseURL = f["base_url"].url()
	if prefix := f["prefix"].text(); f["prefix"].present() {
		o.Prefix = prefix
	}
	if o.Prefix != "" && !toolName.MatchString(o.Prefix) {
		f["prefix"].problemf("may only have letters, digits and the characters _ -")
	}
	t.Requests.Secrets = append(t.Requests.Secrets, secretsOf(o.Document, d.used[used:])...)
	used = len(d.used)
	for _, e := range f["auth"].entries() {
		if o.Auth == nil {
			o.Auth = make(map[string]Credential)
		}
		o.Auth[e.name] = credential(e)
	}
	t.Requests.Secrets = append(t.Requests.Secrets, d.used[used:]...)
	for _, e := range f["override"].entries() {
		if o.Override == nil {
			o.Override = make(map[string]Override)
		}
		o.Override[e.name] = override(e)
	}
	unused(f, ToolOpenAPI, httpFields)
	t.OpenAPI = o
}

// operations reads a list of operations. A method and a path have a space between them.
func operations(v value) []string {
	var out []string
	for _, item := range v.items() {
		text := item.text()
		if strings.TrimSpace(text) == "" && !item.complained() {
			item.problemf("is empty")
		}
		out = append(out, text)
	}
	if len(out) == 0 && v.present() && !v.complained() {
		v.problemf("is empty")
	}
	return out
}

func credential(e entry) Credential {
	f := e.fields("token", "username", "password")
	c := Credential{Token: f["token"].optionalWord(), Username: f["username"].text(), Password: f["password"].text()}
	switch {
	case f["token"].present() && (f["username"].present() || f["password"].present()):
		f["token"].problemf("stands in place of username and password: leave one of them out")
	case controlled(c.Token + c.Username + c.Password):
		e.problemf("has a line break or another control character in it")
	case c.Token == "" && c.Username == "" && !e.complained():
		e.problemf("names none of token, username")
	}
	return c
}

func override(e entry) Override {
	f := e.fields("name", "description", "approval", "idempotent", "polling")
	return Override{
		Name: f["name"].optionalWord(), Description: f["description"].text(),
		Approval: f["approval"].optionalBoolean(), Idempotent: f["idempotent"].optionalBoolean(), Polling: f["polling"].boolean(),
	}
}

// optionalBoolean returns nil for an absent value.
func (v value) optionalBoolean() *bool {
	b := v.boolean()
	if !v.present() {
		return nil
	}
	return &b
}

// supplies reports whether a source may have a tool of the name. Only its document says whether it does.
func (t Tool) supplies(name string) bool {
	return t.OpenAPI != nil && strings.HasPrefix(name, t.OpenAPI.Prefix)
}
