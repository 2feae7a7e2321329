package wire

// WebhookCreate asks for an endpoint.
type WebhookCreate struct {
	// Name is an id that is unique in the tenant.
	Name string `example:"billing" json:"name"`
	// URL is where the events go: https, of up to 2,048 bytes. Nobody sees it again but its scheme and host.
	URL string `example:"https://hooks.example.com/spool" json:"url"`
	WebhookFilter
	// Form is the form of the bodies. Left out: plain.
	Form string `enum:"plain,slack" json:"form,omitempty"`
	// Text is whether the events have the last answer of the run.
	Text bool `json:"text,omitempty"`
	// Approver is who answers with the links in the events. Left out: the events have no link.
	Approver string `example:"ann@example.com" json:"approver,omitempty"`
	// Maker is who makes the endpoint. The endpoint ends with its right: MayTell of the option Webhooks looks it up. It
	// comes from the host, and nobody sees it. Nil: nothing is looked up.
	Maker *Maker `json:"-"`
}

// WebhookMade is an endpoint with a secret that was made just now.
type WebhookMade struct {
	WebhookEndpoint
	// Secret signs the events: see Standard Webhooks. It is shown this once. Left out: no secret was made.
	Secret string `json:"secret,omitempty"`
}

// WebhookChange changes an endpoint. A field that is left out changes nothing.
type WebhookChange struct {
	// URL is the new URL.
	URL *string `json:"url,omitempty" nullable:"false"`
	// Filter replaces the whole filter.
	Filter *WebhookFilter `json:"filter,omitempty" nullable:"false"`
	// Form is the new form of the bodies.
	Form *string `enum:"plain,slack" json:"form,omitempty" nullable:"false"`
	// Text is whether the events have the last answer of the run.
	Text *bool `json:"text,omitempty" nullable:"false"`
	// Approver is who answers with the links in the events. Empty: the events have no link.
	Approver *string `json:"approver,omitempty" nullable:"false"`
	// Disabled is whether it gets no events. It is the only change of an endpoint that the configuration has.
	Disabled *bool `json:"disabled,omitempty" nullable:"false"`
	// Maker is who changes the endpoint. If it has made the endpoint, its credentials of now count from then on. It comes
	// from the host. Nil: the endpoint keeps those that it has.
	Maker *Maker `json:"-"`
}

// WebhookRotation changes the secrets of an endpoint.
type WebhookRotation struct {
	// Finish ends the use of the older secret. Left out: a new secret is made, and signs beside the older one.
	Finish bool `json:"finish,omitempty"`
}
