package auth

import (
	"errors"
	"net/url"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// FuzzQueryKey compares with net/url, which reads all parameters.
func FuzzQueryKey(f *testing.F) {
	for _, query := range []string{
		"", "key=a", "key=a&key=b", "a=b&key=c%20d+e", "%6bey=a", "key=%zz", "key", "key=", "&&key=a&", "key=a;b", "k%ey=a",
		"=a", "key=a=b",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, _ := url.ParseQuery(query) // what it cannot read it leaves out
		all := values["key"]
		key, err := queryKey(query, "key")
		switch {
		case err == nil:
			if len(all) != 1 || all[0] != key {
				t.Errorf("%q: the key is %q, and net/url says %q", query, key, all)
			}
		case errors.Is(err, rest.ErrNoCredentials):
			if len(all) > 1 || len(all) == 1 && all[0] != "" {
				t.Errorf("%q: no key, and net/url says %q", query, all)
			}
		}
	})
}
