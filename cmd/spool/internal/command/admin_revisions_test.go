package command

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// TestAdminRevisions leads an operator from an answer in the audit log to what the agent was.
func TestAdminRevisions(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	o.works(t)
	o.start(t, "t1", "r1", false)
	key := spool.ThreadKey{Tenant: "acme", ID: "t1"}
	if got, err := o.engine.Await(t.Context(), key, "r1"); err != nil || !got.State.Terminal() {
		t.Fatal(got, err)
	}
	d, err := o.engine.RunDetail(t.Context(), "acme", "r1")
	if err != nil || d.Revision == "" {
		t.Fatal(d.Revision, err)
	}
	id := string(d.Revision)
	o.shows(t, "run r1", "revision", id)
	operator := " --token of-olga"
	o.shows(t, "revisions"+operator, "AGENT", "assistant", "demo", id)
	o.shows(t, "revisions --agent assistant --limit 1"+operator, id, "There is more: --before '")
	o.shows(t, "revisions "+id+operator, id, "assistant", "send (approval: always)", "Sends nothing.", `"profiles"`,
		"mailer")
	o.shows(t, "revisions "+id[:12]+operator, id)
	o.shows(t, "revisions --json "+id+operator, `{"id":"`+id+`"`)
	if got := o.admin("revisions", "--agent", "other", "--token", "of-olga"); got.code != exitOK ||
		strings.Contains(got.stdout, id) {
		t.Errorf("the revisions of another agent: %+v", got)
	}
	if got := o.admin("revisions", "rev_none", "--token", "of-olga"); got.code != exitFailure ||
		!strings.Contains(got.stderr+got.stdout, "Revision not found") {
		t.Errorf("an unknown revision: %+v", got)
	}
}
