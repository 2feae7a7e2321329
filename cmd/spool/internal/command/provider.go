package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/engine/option"
)

// providerLimits returns the limits of the models' providers. Models with the same limits group must have the
// same numbers.
func providerLimits(models []config.Model) (map[string]option.ProviderLimit, []error) {
	var problems []error
	limits := make(map[string]option.ProviderLimit)
	first := make(map[string]config.Model) // of each group
	for _, m := range models {
		if m.Limits.None() {
			continue
		}
		l := option.ProviderLimit{
			Group: limitGroup(m), Concurrent: m.Limits.Concurrent, RPM: m.Limits.RPM, TPM: m.Limits.TPM,
		}
		switch other, some := first[l.Group]; {
		case !some:
			first[l.Group] = m
		case limits[other.Name] != l && m.Limits.Group != "":
			problems = append(problems, m.Limits.Errorf("differs from the limits of model %q, which has the same group",
				other.Name))
		case limits[other.Name] != l:
			problems = append(problems,
				m.Limits.Errorf("differs from the limits of model %q, which has the same server and key: "+
					"give each a group, if the server counts them apart", other.Name))
		}
		limits[m.Name] = l
	}
	return limits, problems
}

// limitGroup returns the name of what the model's provider counts together: the requests with one key.
func limitGroup(m config.Model) string {
	switch {
	case m.Limits.Group != "":
		return "group:" + m.Limits.Group
	case m.Provider == config.ProviderDemo:
		return "model:" + m.Name
	}
	base := cmp.Or(strings.TrimRight(baseOf(m), "/"), m.Provider) // an added provider may have no address
	hash := sha256.Sum256([]byte(base + "\n" + cmp.Or(m.APIKey, m.Headers["Authorization"], m.Headers["X-Api-Key"])))
	return "key:" + hex.EncodeToString(hash[:])
}
