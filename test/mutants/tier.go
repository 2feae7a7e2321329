//go:build unix

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed tiers.json
var tiersJSON []byte

// plan is what tiers.json says: where mistakes are planted, and the tests of each tier.
type plan struct {
	// Scope has the folders whose files get mistakes.
	Scope []string `json:"scope"`
	// Cover has more folders in which coverage counts. The places of the data races need it.
	Cover []string `json:"cover"`
	// Split matches the tests whose subjects run in a process each.
	Split pattern `json:"split"`
	// RaceFlags are the flags of a build with the race detector.
	RaceFlags []string `json:"raceFlags"`
	// Tiers has the commands of each tier, by name.
	Tiers map[string][]command `json:"tiers"`
}

// command is one "go test" of a tier.
type command struct {
	// Dir is the module, relative to the tree. Defaults to the root module.
	Dir string `json:"dir,omitempty"`
	// Packages are patterns of the go command.
	Packages []string `json:"packages"`
	// Without matches folders, relative to the tree, whose tests are another command's or none.
	Without pattern `json:"without,omitzero"`
	// Run and Skip match names such as "TestEngine/Start". Empty: all, and none.
	Run  pattern `json:"run,omitzero"`
	Skip pattern `json:"skip,omitzero"`
	// Race says that the tier runs these tests with the race detector.
	Race bool `json:"race,omitempty"`
	// Needs has variables without which the command is left out.
	Needs []string `json:"needs,omitempty"`
	// Env has variables of these tests, as NAME=VALUE.
	Env []string `json:"env,omitempty"`
}

// pattern is a regular expression, or nothing.
type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

func (p pattern) MarshalText() ([]byte, error) { //nolint:unparam // it is an encoding.TextMarshaler
	if p.Regexp == nil {
		return nil, nil
	}
	return []byte(p.String()), nil
}

// IsZero leaves an empty pattern out of JSON.
func (p pattern) IsZero() bool { return p.Regexp == nil }

// readPlan reads a file like tiers.json. An empty name is the one in this program.
func readPlan(file string) (*plan, error) {
	data := tiersJSON
	if file != "" {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("read the tiers: %w", err)
		}
	}
	p := new(plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("read the tiers: %w", err)
	}
	return p, nil
}

// String returns the packages as a path from the tree, such as "rest/bunquery/...".
func (c *command) String() string {
	paths := make([]string, 0, len(c.Packages))
	for _, p := range c.Packages {
		paths = append(paths, path.Join(c.Dir, p))
	}
	return strings.Join(paths, " ")
}

// missing returns the first variable that the command needs and nobody has set.
func (c *command) missing() string {
	at := slices.IndexFunc(c.Needs, func(name string) bool { return os.Getenv(name) == "" })
	if at < 0 {
		return ""
	}
	return c.Needs[at]
}

// selects says whether the command runs the test.
func (c *command) selects(name string) bool {
	return (c.Run.Regexp == nil || c.Run.MatchString(name)) && (c.Skip.Regexp == nil || !c.Skip.MatchString(name))
}
