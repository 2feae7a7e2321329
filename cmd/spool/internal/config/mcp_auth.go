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

// mcpAuthOptions say how requests to an MCP server get access tokens.
func mcpAuthOptions(a *MCPAuth) table {
	return table{
		row("type", form(&a.Type, AuthClient, AuthPeople),
			"client_credentials: tokens for Spool itself. authorization_code: tokens of the people behind runs, who "+
				"sign in."),
		row("issuer", required(httpURL(&a.Issuer)), "The URL of the authorization server. It alone gets the secret."),
		row("client_id", requiredIf("type", AuthClient, word(&a.ClientID)),
			"The id of Spool there. Default for authorization_code: the URL of a document that this server has."),
		row("client_secret", requiredIf("type", AuthClient, word(&a.ClientSecret)),
			"Its secret, such as ${SHOP_SECRET}. For authorization_code it may be left out."),
		row("method", oneOf(&a.Method, "basic", "post"),
			"How the secret is sent: basic, in a header, or post, in the body. Default: as the authorization server "+
				"says."),
		row("resource", httpURL(&a.Resource), "The URI that tokens are for. Default: what the server says, else url."),
		row("scopes", words(&a.Scopes), "What tokens are to allow. Default: what the authorization server chooses."),
	}
}

func (a *MCPAuth) check(v value) {
	if secret := v.at("client_secret"); a.Type != AuthClient && secret.present() && !v.at("client_id").present() {
		secret.problemf("needs a client_id")
	}
}
