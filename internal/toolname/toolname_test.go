package toolname_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/toolname"
)

var form = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

func TestFit(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 64)
	for name, want := range map[string]string{
		"echo": "echo", "get-Weather_2": "get-Weather_2", long: long,
		"":                          "_",
		"echo<|channel|>commentary": "echo__channel__commentary_",
		"functions.echo":            "functions_echo_",
		"größe":                     "gr__e_",
		"\xff":                      "__",
		"3d_render":                 "_3d_render_",
		"-v":                        "_-v_",
		long + "x":                  strings.Repeat("x", 51) + "_",
	} {
		got := toolname.Fit(name)
		if got != want && (!strings.HasPrefix(got, want) || len(got) != len(want)+12) {
			t.Errorf("%q becomes %q", name, got)
		}
		if !form.MatchString(got) || toolname.Fit(name) != got || toolname.Fit(got) != got {
			t.Errorf("%q becomes %q, and then %q", name, got, toolname.Fit(got))
		}
	}
}

// Names that differ only in what a provider does not take stay different.
func TestFormsDiffer(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 64)
	seen := make(map[string]string)
	for _, name := range []string{"a.b", "a:b", "a_b", "a b", "", "_", " ", long, long + "y", long + "z", "ä", "ö"} {
		got := toolname.Fit(name)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q become %q", other, name, got)
		}
		seen[got] = name
	}
}

// FuzzFit looks for a name whose form a provider refuses.
func FuzzFit(f *testing.F) {
	f.Add("functions.echo")
	f.Add("\xffü")
	f.Fuzz(func(t *testing.T, name string) {
		got := toolname.Fit(name)
		if !form.MatchString(got) {
			t.Errorf("%q becomes %q", name, got)
		}
		if form.MatchString(name) && got != name {
			t.Errorf("%q becomes %q, and was right", name, got)
		}
		if tool := toolname.Known(got, []string{name}); tool != name {
			t.Errorf("%q is sent as %q, which means %q", name, got, tool)
		}
	})
}

func TestKnown(t *testing.T) {
	t.Parallel()

	tools := []string{"echo", "get_weather", "final", "dotted.name"}
	for name, want := range map[string]string{
		"echo": "echo", "final": "final",
		toolname.Fit("dotted.name"): "dotted.name",

		"echo<|channel|>commentary":                         "echo",
		"echo<|channel|>json":                               "echo",
		"echo<|channel|>commentary<|constrain|>json":        "echo",
		"echo<|channel|>final":                              "echo",
		"final<|channel|>commentary":                        "final",
		"echo <|constrain|>json":                            "echo",
		"echo<|constrain|":                                  "echo",
		"echo<|call|>":                                      "echo",
		"<|channel|>commentary to=functions.echo":           "echo",
		"assistant<|channel|>commentary to=functions.echo":  "echo",
		"<|channel|>commentary to=echo <|constrain|>json":   "echo",
		"functions.echo":                                    "echo",
		"functions.echo<|channel|>commentary":               "echo",
		"functions.echo:0":                                  "echo",
		"functions.get_weather:12<|tool_call_argument_beg|": "get_weather",
		"functions.echo:0<|tool_call_argument_begin|>{} x":  "echo",
		"function<｜tool▁sep｜>echo":                          "echo",
		"default_api.echo":                                  "echo",
		"default_api:echo":                                  "echo",
		"tools.echo":                                        "echo",
		"<function=echo>":                                   "echo",
		" echo\n":                                           "echo",
		`"echo"`:                                            "echo",
		"echo()":                                            "echo",
		"assistant<|channel|>commentary to=functions.what":  "assistant<|channel|>commentary to=functions.what",

		// Nothing says which tool is meant, or whether one is.
		"":                            "",
		"shout":                       "shout",
		"functions.shout":             "functions.shout",
		"Echo":                        "Echo",
		"ech":                         "ech",
		"echo_2":                      "echo_2",
		"my.echo":                     "my.echo",
		"shout<|channel|>echo":        "shout<|channel|>echo",
		"echo get_weather":            "echo get_weather",
		"<|channel|>commentary":       "<|channel|>commentary",
		"echo<b>":                     "echo<b>",
		"assistant<|channel|>analyze": "assistant<|channel|>analyze",
	} {
		if got := toolname.Known(name, tools); got != want {
			t.Errorf("%q means %q, want %q", name, got, want)
		}
	}
	if got := toolname.Known("functions.echo", nil); got != "functions.echo" {
		t.Errorf("without tools, the name is %q", got)
	}
}
