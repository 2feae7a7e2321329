package enginetest

import (
	"strings"
	"testing"
)

// TestNeedsBubble checks that the lists name cases that exist.
func TestNeedsBubble(t *testing.T) {
	t.Parallel()

	names := caseNames()
	for _, list := range []map[string]string{exactCases, longCases} {
		for subject, tests := range list {
			for test := range strings.FieldsSeq(tests) {
				if name := subject + "/" + test; !names[name] || !needsBubble(name) {
					t.Errorf("there is no case %s, or it needs no bubble", name)
				}
			}
		}
	}
	if needsBubble("Start/New") || !needsBubble("Random") {
		t.Error("a short case needs a bubble, or a campaign needs none")
	}
}
