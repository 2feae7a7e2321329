package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addLibrary adds the resources and the prompt of the shop.
func addLibrary(server *mcp.Server) {
	server.AddResource(&mcp.Resource{
		URI: "shop://terms", Name: "terms", Description: "What the shop promises.", MIMEType: "text/markdown",
	}, readText(func(string) string {
		return "We refund an order within 30 days."
	}))
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "shop://orders/{order}/receipt", Name: "receipt", Description: "The receipt of an order.",
		MIMEType: "text/plain",
	}, readText(func(uri string) string {
		order := strings.TrimSuffix(strings.TrimPrefix(uri, "shop://orders/"), "/receipt")
		return fmt.Sprintf("Order %s: an umbrella, 20 euros.", order)
	}))
	server.AddPrompt(&mcp.Prompt{
		Name: "apology", Description: "Asks for an apology to a customer.",
		Arguments: []*mcp.PromptArgument{{Name: "order", Description: "the number of the order", Required: true}},
	}, apology)
}

func readText(text func(uri string) string) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{
			Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: text(r.Params.URI)}},
		}, nil
	}
}

func apology(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
		Role: "user", Content: &mcp.TextContent{
			Text: fmt.Sprintf("Apologise for the delay of order %s in two sentences.", r.Params.Arguments["order"]),
		},
	}}}, nil
}
