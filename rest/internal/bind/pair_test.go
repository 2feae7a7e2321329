package bind

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzCutPairs holds the cutter against net/url. What that reads without an error must come
// out as the same pairs; what it refuses for an escape must be marked; the rest is a
// semicolon, which is a character here.
func FuzzCutPairs(f *testing.F) {
	for _, seed := range []string{
		"", "a", "a=", "=a", "a=1&b=2", "a=1&a=2", "&&a=1&", "a+b=c+d", "a=%41&%41=b", "a=%", "%zz=1", "a=%4&b=1",
		"a=b=c", "a;b=c", "a=1;b=2", "%00=%ff", "a=%2C,b", "=", "=&=",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, raw string) {
		pairs, tooMany := cutPairs(nil, raw, maxPairs, false)
		if tooMany {
			return
		}

		got, bad := url.Values{}, false
		for i := range pairs {
			if pairs[i].bad {
				bad = true
				continue
			}
			got.Add(pairs[i].name, pairs[i].text)
		}

		if strings.Contains(raw, ";") {
			raw = strings.ReplaceAll(raw, ";", "%3B")
		}
		want, err := url.ParseQuery(raw)
		if bad != (err != nil) {
			t.Fatalf("%q: malformed %v, net/url says %v", raw, bad, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	})
}

// What is cut at commas before it is decoded must be the same as what is decoded, when no
// comma was escaped.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", ",", "a,b", "a%41,+b", "%2C", "%", "a,,b%20"} {
		f.Add(seed)
	}

	field := field{comma: true}

	f.Fuzz(func(t *testing.T, raw string) {
		p := decodePair("x", raw)
		if p.bad {
			return
		}

		got := strings.Join(field.split(nil, &p), ",")
		if got != p.text {
			t.Errorf("%q: got %q, want %q", raw, got, p.text)
		}
	})
}

func TestCutPairsStops(t *testing.T) {
	t.Parallel()

	if pairs, tooMany := cutPairs(nil, "a&b&&c", 3, false); tooMany || len(pairs) != 3 {
		t.Errorf("three of three: %d, %v", len(pairs), tooMany)
	}
	if pairs, tooMany := cutPairs(nil, "a&b&&c", 2, false); !tooMany || len(pairs) != 2 {
		t.Errorf("two of three: %d, %v", len(pairs), tooMany)
	}
}
