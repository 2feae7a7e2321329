package command

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// Models with the same server and key share their limits, whose name is no secret.
func TestProviderLimits(t *testing.T) {
	t.Parallel()
	parse := func(models string) []config.Model {
		c, err := config.Parse("spool.yaml", []byte("models:\n"+models+"agents: {a: {model: m}}"),
			func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		return c.Models
	}
	const key = "secret-key-of-a-team"
	open := "provider: openai, model: x, api_key: " + key
	limits, problems := providerLimits(parse(
		"  m: {" + open + ", limits: {rpm: 60, concurrent: 4}}\n" +
			"  same: {" + open + ", base_url: 'https://api.openai.com/v1/', limits: {rpm: 60, concurrent: 4}}\n" +
			"  apart: {" + open + ", limits: {tpm: 9, group: small}}\n" +
			"  server: {" + open + ", base_url: 'http://localhost:1/v1', limits: {rpm: 1}}\n" +
			"  free: {" + open + "}\n",
	))
	if len(problems) > 0 || len(limits) != 4 {
		t.Fatal(limits, problems)
	}
	if limits["m"] != limits["same"] || limits["m"].Group == limits["server"].Group || limits["m"].RPM != 60 ||
		limits["m"].Concurrent != 4 {
		t.Errorf("%+v", limits)
	}
	if limits["apart"].Group != "group:small" || strings.Contains(limits["m"].Group, key) ||
		!strings.HasPrefix(limits["m"].Group, "key:") {
		t.Errorf("%+v", limits)
	}
	_, problems = providerLimits(parse("  m: {" + open + ", limits: {rpm: 60}}\n  n: {" + open + ", limits: {rpm: 61}}\n"))
	const want = `spool.yaml:3: models.n.limits: differs from the limits of model "m", which has the same server and key: give each a group, if the server counts them apart`
	if len(problems) != 1 || problems[0].Error() != want {
		t.Errorf("%v", problems)
	}
	if limitGroup(config.Model{Provider: "one"}) == limitGroup(config.Model{Provider: "other"}) {
		t.Error("two added providers without an address share their limits")
	}
}
