package mcp_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool/tool/mcp"
)

// TestHints has all combinations of the hints that matter. None of them takes an approval away that another adds.
func TestHints(t *testing.T) {
	t.Parallel()

	yes, no := true, false
	p := newPeer()
	for name, hints := range map[string]*sdk.ToolAnnotations{
		"none": nil, "title": {Title: "T"}, "readOnly": {ReadOnlyHint: true}, "harmless": {DestructiveHint: &no},
		"both": {ReadOnlyHint: true, DestructiveHint: &yes}, "destructive": {DestructiveHint: &yes},
	} {
		p.add("hint-"+name, hints, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, error) {
			return said("ok"), nil
		})
	}
	var waiting []string
	for name, tool := range tools(t, client(t, p.serve(t, stateless).URL), mcp.Selection{}) {
		if after, ok := strings.CutPrefix(name, "hint-"); ok && tool.Approval != nil {
			waiting = append(waiting, after)
		}
	}
	slices.Sort(waiting)
	if want := []string{"both", "destructive", "title"}; !slices.Equal(waiting, want) {
		t.Errorf("got %v, want %v", waiting, want)
	}
}

// TestMissing names tools that the server does not offer. A wrong name in Approve would let calls pass.
func TestMissing(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer
	s := client(t, newPeer().serve(t, stateless).URL,
		func(c *mcp.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	source, err := s.Tools(mcp.Selection{
		Allow:      []string{"echo", "pay"},
		Approve:    []string{"paye"},
		Idempotent: []string{"ecko", "echo"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := source.List(t.Context(), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); strings.Count(got, "does not offer") != 1 || !strings.Contains(got, "server=shop") ||
		!strings.Contains(got, `tools="[ecko paye]"`) {
		t.Errorf("the log is\n%s", got)
	}
}
