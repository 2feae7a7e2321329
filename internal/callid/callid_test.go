package callid_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/callid"
)

func TestCall(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 40)
	for _, c := range []struct{ id, given, want string }{
		{"call_1", "", "call_1"},
		{"call_1-0a0b0c0d", "call_1", "call_1"},
		{"functions.look:0-0a0b0c0d", "functions.look:0", "functions.look:0"},
		{long, "", long},
		{"functions.look:0", "", "functions_look_0_"},
		{long + "x", "", strings.Repeat("x", 23) + "_"},
		{"", "", "_"},
		{"ü", "", "__"},
	} {
		ids := callid.IDs{Max: 40}
		got := ids.Call(spool.ToolCallID(c.id), c.given)
		if got != c.want && (!strings.HasPrefix(got, c.want) || len(got) != len(c.want)+16) {
			t.Errorf("%q given as %q becomes %q", c.id, c.given, got)
		}
		if result := ids.Result(spool.ToolCallID(c.id)); result != got {
			t.Errorf("the result of %q has the id %q, and its call %q", c.id, result, got)
		}
	}
}

// A provider that counts from zero gives the same id to many calls, and other ids look like those that are made.
func TestCallsDiffer(t *testing.T) {
	t.Parallel()

	form := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	made := new(callid.IDs)
	made.Max = 40
	taken := made.Call("a.b", "")
	build := func() (all []string) {
		ids := callid.IDs{Max: 40}
		seen := make(map[string]bool)
		for n, id := range []string{
			"a.b", "a:b", "a.b", taken, taken, "a_b", "a_b", strings.Repeat("y", 128), strings.Repeat("y", 127), "c", "c",
		} {
			given := map[bool]string{true: "call_0"}[n%3 == 0]
			got := ids.Call(spool.ToolCallID(id), given)
			if seen[got] || !form.MatchString(got) || ids.Result(spool.ToolCallID(id)) != got {
				t.Errorf("%s becomes %s, after %v", id, got, all)
			}
			seen[got] = true
			all = append(all, got)
		}
		return all
	}
	if first, again := build(), build(); fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("%s became %s", first, again)
	}
}
