// Package openapi makes tools from the operations of an OpenAPI document, version 3.0, 3.1 or 2.0 (Swagger), in
// JSON or YAML.
//
//	tools, err := openapi.New(openapi.Config{
//		Document:   text,
//		Operations: []string{"listOrders", "POST /refunds", "tag:reports"},
//		Auth:       map[string]openapi.Credential{"key": {Token: os.Getenv("SHOP_KEY")}},
//	})
//
// Each operation becomes a tool. Its parameters and its body are the arguments, and its secrets never are.
// Everything in a chosen operation that the package does not support is an error that names the operation and
// the place in the document.
package openapi

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/internal/endpoint"
)

// Retry says how often a call is attempted. The zero value attempts it once.
type Retry = endpoint.Retry

// Unsupported says what becomes of an operation that is not supported.
type Unsupported string

const (
	// RefuseUnsupported returns an error.
	RefuseUnsupported Unsupported = "error"
	// SkipUnsupported leaves the operation out if "*" or "tag:NAME" chose it. An operation that is chosen by its
	// own name is an error nevertheless.
	SkipUnsupported Unsupported = "skip"
)

// Config configures the tools of a document.
type Config struct {
	// Document is the text of the document: see [Load]. Required.
	Document []byte

	// Operations chooses operations: by "operationId", by "METHOD /path", all of a tag by "tag:NAME", and all
	// by "*". Required.
	Operations []string

	// Approval parks each call until a person allows it.
	//
	// Defaults to false.
	Approval bool

	// Auth has the credentials of the document's security schemes, by their names. An operation gets those of
	// its first security requirement for which there are all. A header in Headers counts as well.
	//
	// Defaults to none, which is an error for operations that ask for a credential.
	Auth map[string]Credential

	// BaseURL is the URL before the paths.
	//
	// Defaults to the first of the document's servers. A document with a DocumentURL can then name only its
	// own host.
	BaseURL string

	// Caller adds the headers that say whose call it is, as [httptool.New] does: tenant, subject, thread, run,
	// agent, step, fence and the answer to the call. Services of others need not know them.
	//
	// Defaults to false.
	Caller bool

	// DocumentURL is where the document came from. Relative URLs of servers refer to it.
	//
	// Defaults to none.
	DocumentURL string

	// Egress says which addresses requests and their redirects may reach.
	//
	// Defaults to public addresses.
	Egress egress.Policy

	// Except leaves operations out that Operations chooses. It has entries of the same kinds.
	//
	// Defaults to none.
	Except []string

	// Headers are added to each request. Their values are secrets, except those of Accept, Accept-Language,
	// User-Agent and headers whose names end with "version". A parameter with the name of such a header is no
	// argument.
	//
	// Defaults to none.
	Headers map[string]string

	// MaxResultBytes bounds an answer. A larger one is an error. An answer that is neither JSON nor text
	// is an error too, unless the engine stores artifacts: see [spool.ToolCall.SaveArtifact].
	//
	// Defaults to 256 KiB, or to 10 MiB if the engine stores artifacts.
	MaxResultBytes int

	// Override changes single tools. A key names an operation by "operationId" or "METHOD /path".
	//
	// Defaults to none.
	Override map[string]Override

	// Prefix begins the name of each tool.
	//
	// Defaults to none.
	Prefix string

	// Retry says which calls are attempted again, and how often.
	//
	// Defaults to one attempt.
	Retry Retry

	// Secrets are further texts of 8 bytes or more that no result and no error may have.
	//
	// Defaults to the values of Headers, Auth and SigningSecrets.
	Secrets []string

	// SigningSecrets sign each request by the specification Standard Webhooks, each with one signature.
	//
	// Defaults to no signature.
	SigningSecrets []string

	// Timeout bounds an attempt, from the dial to the end of the answer.
	//
	// Defaults to 30 seconds.
	Timeout time.Duration

	// Unsupported says what becomes of an operation that is not supported.
	//
	// Defaults to RefuseUnsupported.
	Unsupported Unsupported
}

// Override changes the tool of one operation. A nil or empty field changes nothing.
type Override struct {
	// Name is the name of the tool, without the prefix.
	Name string
	// Description replaces summary and description of the operation.
	Description string
	Approval    *bool
	// Idempotent says that a call with an unknown outcome may be repeated. GET and HEAD are idempotent, unless
	// this is false.
	Idempotent *bool
	// Polling says that the same call may have the same result many times: see [spool.Tool.Polling].
	Polling bool
}

// Tool is the tool of an operation.
type Tool struct {
	spool.Tool

	// Method and Path are those of the operation.
	Method, Path string
	// OperationID may be empty.
	OperationID string
}

// New returns the tools of the chosen operations, in the order of Config.Operations and then of their paths.
// It returns an [spool.Invalid] error for a document that cannot be read, and for an operation that is not
// supported. No error has a configured secret in it.
//
// The name of a tool is the prefix and the operation's id, or its method and path, where each character other
// than letters, digits, "_" and "-" becomes "_". A name of more than 64 bytes is cut and ends with 8 digits of its
// hash.
//
// The arguments of a tool are one object. Each parameter is a property with its name; of two parameters with
// the same name, the one in the path keeps it, and the other ends with "_query", "_header" or "_cookie". The body is
// the property "body". A file is the id or the URI of an artifact of the call's thread, and the files of a call
// may have 32 MiB together: see [spool.ToolCall.OpenArtifact]. References are written out: a schema that is within
// itself a third time, and the deeper levels of a very large schema, accept everything, and the service checks them.
//
// Calls are made and answered as by [httptool.New], but their Idempotency-Key is "call_" and 32 hex digits of the
// SHA-256 of the call's key: many services refuse the slashes in the key itself.
func New(config Config) ([]Tool, error) {
	set, err := NewSet(config)
	return set.Tools, err
}

// Set is what a document has: the tools of the chosen operations, and the operations that are left out.
type Set struct {
	Tools []Tool
	// LeftOut are the chosen operations that are not supported: see [SkipUnsupported].
	LeftOut []LeftOut
}

// LeftOut is an operation that has no tool.
type LeftOut struct {
	// Method and Path are those of the operation. Method is empty if the path itself cannot be read.
	Method, Path string
	// OperationID may be empty.
	OperationID string
	// Reasons say what is not supported, each with its place in the document. There is at least one.
	Reasons []string
}

// NewSet returns the tools as [New] does, and the operations that are left out. It returns an error if no
// operation is left, if more than 5000 are chosen, and if the arguments of all have more than 16 MiB together.
func NewSet(config Config) (Set, error) {
	doc, err := parse(config.Document)
	if err != nil {
		return Set{}, spool.Errorf(spool.Invalid, "the document %s", spool.MessageOf(err))
	}
	switch {
	case len(config.Operations) == 0:
		return Set{}, spool.Errorf(spool.Invalid, "Operations is required")
	case !slices.Contains([]Unsupported{"", RefuseUnsupported, SkipUnsupported}, config.Unsupported):
		return Set{}, spool.Errorf(spool.Invalid, "Unsupported must be %s or %s", RefuseUnsupported, SkipUnsupported)
	}
	b := &sourceBuilder{config: config, doc: doc, library: newLibrary(doc)}
	if err := cmpOr(b.checkBase, b.checkAuth); err != nil {
		return Set{}, err
	}
	all, err := doc.operations()
	if err != nil {
		return Set{}, placed("the document", err)
	}
	chosen, err := choose(all, config.Operations, config.Except)
	if err != nil {
		return Set{}, err
	}
	if b.endpoint, err = b.open(); err != nil {
		return Set{}, err
	}
	return b.tools(chosen)
}

func cmpOr(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
