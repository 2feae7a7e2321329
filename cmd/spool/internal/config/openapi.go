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

// At returns the source of a field.
func (o *OpenAPI) At(field string) Source { return o.at[field] }

// openAPIOptions are the options that only the type openapi has.
func openAPIOptions(t *Tool, o *OpenAPI) table {
	return table{
		row("document", requiredIf("type", ToolOpenAPI, noting(word(&o.Document), func(used []string) {
			t.Requests.Secrets = append(t.Requests.Secrets, secretsOf(o.Document, used)...)
		})), "The OpenAPI document, a file relative to the folder of this file, or a URL."),
		row("operations", requiredIf("type", ToolOpenAPI, operations(&o.Operations)),
			"Its operations that become tools, each by operationId, as METHOD /path, as tag:NAME, or * for all."),
		row("except", operations(&o.Except),
			"Operations that are no tools although operations chooses them, by the same words."),
		row("unsupported", oneOf(&o.Unsupported, UnsupportedError, UnsupportedSkip),
			"What becomes of operations that are not supported: error, or skip, which leaves out those that * or a "+
				"tag chose. Default: error."),
		row("base_url", httpURL(&o.BaseURL), "The URL before the paths. Default: the first of the document's servers."),
		row("prefix", text(&o.Prefix).then(func(v value) {
			if o.Prefix != "" && !toolName.MatchString(o.Prefix) {
				v.problemf("may only have letters, digits and the characters _ -")
			}
		}), "What the names of the tools begin with. Default: the name of this entry and _."),
		row("caller", boolean(&o.Caller), "true: requests say whose call it is, in headers. Default: false."),
		row("auth", secret(&t.Requests.Secrets, entries(credentialOptions(new(Credential)), func(e entry) {
			put(&o.Auth, e.name, credential(e))
		})), "Credentials, by the names of the document's security schemes. They are never shown."),
		row("override", entries(overrideOptions(new(Override)), func(e entry) {
			var change Override
			e.read(overrideOptions(&change))
			put(&o.Override, e.name, change)
		}), "Changes single tools, by operationId or METHOD /path."),
	}
}

// operations is a list of operations. A method and a path have a space between them.
func operations(to *[]string) kind {
	return filled(list(to, func(v value) string {
		text := v.text()
		if strings.TrimSpace(text) == "" && !v.complained() {
			v.problemf("is empty")
		}
		return text
	}))
}

func credentialOptions(c *Credential) table {
	return table{
		row("token", optionalWord(&c.Token), "The key or the bearer token."),
		row("username", text(&c.Username), "For http with basic."),
		row("password", text(&c.Password), "For http with basic."),
	}
}

func credential(e entry) (c Credential) {
	e.read(credentialOptions(&c))
	switch token := e.at("token"); {
	case token.present() && (e.at("username").present() || e.at("password").present()):
		token.problemf("stands in place of username and password: leave one of them out")
	case controlled(c.Token + c.Username + c.Password):
		e.problemf("has a line break or another control character in it")
	case c.Token == "" && c.Username == "" && !e.complained():
		e.problemf("names none of token, username")
	}
	return c
}

func overrideOptions(o *Override) table {
	return table{
		row("name", optionalWord(&o.Name), "The name of the tool, without the prefix."),
		row("description", text(&o.Description), "What the model reads of it."),
		row("approval", optionalBoolean(&o.Approval), "Whether a person is asked before each call."),
		row("idempotent", optionalBoolean(&o.Idempotent),
			"Whether a call with an unknown outcome may be repeated. Default: true for GET and HEAD."),
		row("polling", boolean(&o.Polling), "true: the same call may have the same result many times. Default: false."),
	}
}

// supplies reports whether a source may have a tool of the name. Only its document says whether it does.
func (t Tool) supplies(name string) bool {
	return t.OpenAPI != nil && strings.HasPrefix(name, t.OpenAPI.Prefix)
}
