package agui_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// pageScript calls the tools of a page as the last turn of the user wants.
func pageScript(ctx context.Context, r spool.ModelRequest) spooltest.Turn {
	var said []string
	for _, m := range r.Messages {
		if m.Role == spool.RoleUser {
			said = nil
			for _, p := range m.Content {
				said = append(said, p.Text)
			}
		}
	}
	prompt, step := said[len(said)-1], spooltest.StepOf(r)
	mark := func(id string) spooltest.Call {
		return spooltest.Call{ID: spool.ToolCallID(id + prompt), Name: "highlight", Args: `{"line":7}`}
	}
	offered := slices.ContainsFunc(r.Tools, func(t spool.ToolSpec) bool { return t.Name == "highlight" })
	switch {
	case !offered && prompt != "long":
		return spooltest.Say("there is no tool")
	case prompt == "highlight" && (len(said) < 2 || !strings.Contains(said[0], "The open page: books")):
		return spooltest.Say("there is no context")
	case prompt == "highlight" && step < 2:
		return spooltest.Use(mark([]string{"a", "b"}[step]))
	case prompt == "both" && step == 0:
		return spooltest.Use(mark("c"), spooltest.Call{ID: "mail", Name: "send"})
	case prompt == "nested" && step == 0:
		return spooltest.Use(spooltest.Call{
			ID: "spawn", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"brief"}`,
		})
	case prompt == "brief" && step == 0:
		return spooltest.Use(mark("d"))
	case prompt == "long":
		return spooltest.Turn{Text: []string{"word "}, Gate: ctx.Done()}
	default:
		return spooltest.Say("done")
	}
}

var subagentID = regexp.MustCompile(`sub_[0-9a-z]{26}`)

// A page's tools run in the page, its context reaches the model, a page that is opened again shows
// the thread, and abort stops the run where the page says so.
func TestPageTools(t *testing.T) {
	t.Parallel()

	// CopilotKit 1.74 and assistant-ui's react-ag-ui 0.0.58 have the client before 1.0.
	for _, client := range []string{"@ag-ui/client", "ag-ui-client-0.0.59"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			testPageTools(t, client)
		})
	}
}

func testPageTools(t *testing.T, client string) {
	t.Helper()

	b := setup(t, spooltest.NewModelFunc(pageScript))
	b.work(t)
	const (
		first = "user assistant tool assistant tool assistant"
		both  = first + " user assistant"
		tools = " tool" + " tool"
		// what a nested run has asked the page is in no message of the page's
		nested = both + tools + " assistant user assistant tool assistant"
		told   = `"tools":["marked","marked","marked","sent","{\"agentId\":\"ID\",\"result\":\"done\"}"]`
		done   = `"waits":[],"state":"COMPLETED"`
		ok     = `"result":{"finishReason":"completed"}`
	)
	want := []string{
		`{"name":"opened","roles":"","tools":[],"waits":[]}`,
		`{"name":"ran","roles":"` + first + `","tools":["marked","marked"],` + done + `,` + ok +
			`,"ran":["{\"line\":7}","{\"line\":7}"]}`,
		`{"name":"reloaded","roles":"` + first + `","tools":["marked","marked"],` + done + `,"same":true}`,
		`{"name":"both","roles":"` + both +
			` tool","tools":["marked","marked","marked"],"waits":["send"],"state":"WAITING_FOR_INPUT","ran":["{\"line\":7}"]}`,
		`{"name":"reloaded while it waits","roles":"` + both +
			`","tools":["marked","marked"],"waits":["send"],"state":"WAITING_FOR_INPUT"}`,
		`{"name":"approved","roles":"` + both + tools + ` assistant","tools":["marked","marked","marked","sent"],` + done +
			`,` + ok + `,"ran":[]}`,
		`{"name":"nested","roles":"` + nested + `",` + told + `,` + done + `,` + ok + `,"ran":["{\"line\":7}"]}`,
		`{"name":"stopped","roles":"` + nested + ` user assistant",` + told + `,"waits":[],"state":"CANCELLED","status":200}`,
	}
	out := subagentID.ReplaceAllString(node(t, nil, "tools.mjs", b.url+"/api/agent/ag-ui", client), "ID")
	got := strings.Split(strings.TrimSpace(out), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		}
		if diff := cmp.Diff(decoded(t, want[i]), decoded(t, got[i])); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}
