// Command mcpserver is an MCP server of a small shop, to try Spool's client with. It speaks over its standard
// input and output, or over HTTP:
//
//	go run ./examples/mcpserver
//	go run ./examples/mcpserver --http localhost:9000
//	go run ./examples/mcpserver --http localhost:9000 --secret a-secret
//	go run ./examples/mcpserver --http localhost:9000 --people ann
//
// With a secret it wants access tokens, which it gives to the client "spool" with that secret. With people it wants the
// tokens of people, who sign in without being asked anything.
//
// Its tool refund asks a person why, before it refunds anything. Its tool audit takes a while, and over HTTP its work
// is a task. It also has resources, which are the terms of the shop and its receipts, and a prompt.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type order struct {
	Order string `json:"order" jsonschema:"the number of the order"`
}

var refunds atomic.Int64

func main() {
	address := flag.String("http", "", "serve HTTP at this address")
	secret := flag.String("secret", "", "want access tokens over HTTP, and give them to the client spool with this secret")
	person := flag.String("people", "", "want access tokens of people over HTTP, who all sign in as this person")
	takes := flag.Duration("audit", 5*time.Second, "how long an audit takes")
	flag.Parse()
	if err := serve(*address, *secret, *person, *takes); err != nil {
		fmt.Fprintln(os.Stderr, "mcpserver:", err)
		os.Exit(1)
	}
}

// serve serves HTTP at an address, or standard input and output if it is empty.
func serve(address, secret, person string, takes time.Duration) error {
	offered := &mcp.ServerCapabilities{}
	offered.AddExtension(tasksExtension, nil)
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, &mcp.ServerOptions{Capabilities: offered})
	mcp.AddTool(server, &mcp.Tool{
		Name: "find_order", Description: "Finds an order by its number.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, findOrder)
	mcp.AddTool(server, &mcp.Tool{Name: "refund", Description: "Refunds an order."}, refund)
	destructive := true
	mcp.AddTool(server, &mcp.Tool{
		Name: "delete_order", Description: "Deletes an order.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive},
	}, deleteOrder)
	addLibrary(server)
	if err := addAudits(server, takes); err != nil {
		return err
	}
	if address == "" {
		return server.Run(context.Background(), &mcp.StdioTransport{})
	}
	// Revision 2026-07-28 has no sessions.
	var handler http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true})
	if person != "" {
		mcp.AddTool(server, &mcp.Tool{
			Name: "my_orders", Description: "Lists the orders of the person.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}, myOrders)
	}
	if secret != "" || person != "" {
		handler = newGuard(address, secret, person, handler)
	}
	s := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	return s.ListenAndServe()
}

func said(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func findOrder(_ context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
	return nil, map[string]any{"order": in.Order, "item": "an umbrella", "euros": 20}, nil
}

func deleteOrder(_ context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
	return said("Deleted order %s.", in.Order), nil, nil
}

// refund asks with a result, so that the answer may come the next day and from another process.
func refund(_ context.Context, r *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
	answer, ok := r.Params.InputResponses["why"].(*mcp.ElicitResult)
	switch {
	case !ok:
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"why": &mcp.ElicitParams{
			Mode: "form", Message: "Why is order " + in.Order + " refunded?",
			RequestedSchema: map[string]any{
				"type": "object", "required": []string{"reason"},
				"properties": map[string]any{"reason": map[string]any{"type": "string", "enum": []string{"late", "broken"}}},
			},
		}}}, nil, nil
	case answer.Action != "accept":
		return said("Not refunded: the question was answered with %s.", answer.Action), nil, nil
	default:
		return said("Refunded order %s, as it was %v. It was refund %d.", in.Order, answer.Content["reason"], refunds.Add(1)),
			nil, nil
	}
}
