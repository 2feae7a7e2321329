package inbox

import "testing"

// What a page shows of JSON has no character that nobody sees, and means the same.
func TestReadable(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`{"a":1,"b":[]}`:                    "{\n  \"a\": 1,\n  \"b\": []\n}",
		`"\u003cb\u003e \u0026 \\u003c"`:    `"<b> & \\u003c"`,
		"\"a\u202eb\u200bc\ufeff\"":         `"a\u202eb\u200bc\ufeff"`,
		"\"a\u00adb\U000e0041\"":            `"a\u00adb\Ue0041"`,
		"\"äöü €\"":                         "\"äöü €\"",
		"":                                  "",
		"{":                                 "{",
		`{"long":"` + "x\u2028y" + `"}`:     "{\n  \"long\": \"x\u2028y\"\n}",
		`{"to":"ann","to ":"\ud83d\ude00"}`: "{\n  \"to\": \"ann\",\n  \"to \": \"\\ud83d\\ude00\"\n}",
	} {
		if got := readable([]byte(text)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
