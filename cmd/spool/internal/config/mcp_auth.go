package config

// The types of the field auth of an MCP server.
const (
	AuthClient = "client_credentials"
	AuthPeople = "authorization_code"
)

// MCPAuth is the field auth of an MCP server.
type MCPAuth struct {
	Source

	Type, Issuer string
	// ClientID and ClientSecret may be empty for AuthPeople.
	ClientID, ClientSecret string
	// Method and Resource are empty, and Scopes is nil, if the file does not have them.
	Method, Resource string
	Scopes           []string
}

// mcpAuth reads how requests to an MCP server get access tokens, or nil if the file does not say.
func mcpAuth(v value) *MCPAuth {
	f := v.fields("type", "issuer", "client_id", "client_secret", "method", "resource", "scopes")
	if !v.present() {
		return nil
	}
	a := &MCPAuth{Source: v.source(), Issuer: f["issuer"].url(), Method: f["method"].text(), Resource: f["resource"].url(), Scopes: f["scopes"].optionalWords()}
	if f["type"].required() {
		a.Type = f["type"].text()
		f["type"].among(a.Type, AuthClient, AuthPeople)
	}
	f["issuer"].required()
	id, secret := f["client_id"], f["client_secret"]
	switch a.Type {
	case AuthClient:
		if id.requiredWhere("type", AuthClient) {
			a.ClientID = id.word()
		}
		if secret.requiredWhere("type", AuthClient) {
			a.ClientSecret = secret.word()
		}
	default:
		if id.present() {
			a.ClientID = id.word()
		}
		if secret.present() {
			a.ClientSecret = secret.word()
		}
		if secret.present() && !id.present() {
			secret.problemf("needs a client_id")
		}
	}
	f["method"].among(a.Method, "basic", "post")
	return a
}
