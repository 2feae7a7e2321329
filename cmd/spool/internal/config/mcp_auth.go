package config

// MCPAuth is the field auth of an MCP server.
type MCPAuth struct {
	Type, Issuer, ClientID, ClientSecret string
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
	a := &MCPAuth{Issuer: f["issuer"].url(), Method: f["method"].text(), Resource: f["resource"].url(), Scopes: f["scopes"].optionalWords()}
	if f["type"].required() {
		a.Type = f["type"].text()
		f["type"].among(a.Type, "client_credentials")
	}
	f["issuer"].required()
	if f["client_id"].required() {
		a.ClientID = f["client_id"].word()
	}
	if f["client_secret"].required() {
		a.ClientSecret = f["client_secret"].word()
	}
	f["method"].among(a.Method, "basic", "post")
	return a
}
