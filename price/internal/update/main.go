// Command update writes the built-in tables of prices and of context windows, from a public table of models:
//
//	go run ./price/internal/update -as-of 2026-07-24 model_prices_and_context_window.json
//
// The input is an object with an entry for each model, whose rates are in dollars per token. It is not a part of this
// repository: docs/design/dependencies.md says where the numbers come from. Run the command in the repository's root.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spoolhq/spool/price"
)

const (
	pricesFile  = "price/builtin.json"
	windowsFile = "internal/knownmodel/windows.json"
)

func main() {
	asOf := flag.String("as-of", "", "the day of the prices, such as 2026-07-24")
	flag.Parse()
	if err := run(*asOf, flag.Arg(0)); err != nil {
		log.Fatalf("update: %v", err) //nolint:forbidigo // a command for the terminal
	}
}

func run(asOf, from string) error {
	day, err := time.Parse(time.DateOnly, asOf)
	if err != nil {
		return fmt.Errorf("-as-of: %w", err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	models, err := read(text)
	if err != nil {
		return err
	}
	table := price.Table{Version: "builtin-" + day.Format("2006-01"), Currency: "USD", AsOf: asOf, Models: rates(models)}
	if err := table.Check(); err != nil {
		return err
	}
	prices, err := lines(table.Models, "  ")
	if err != nil {
		return err
	}
	head := fmt.Sprintf("{\n  \"version\": %q,\n  \"currency\": %q,\n  \"asOf\": %q,\n  \"models\": ", table.Version,
		table.Currency, table.AsOf)
	if err := os.WriteFile(pricesFile, slices.Concat([]byte(head), prices, []byte("\n}\n")), 0o600); err != nil {
		return err
	}
	sizes, err := lines(windows(models), "")
	if err != nil {
		return err
	}
	return os.WriteFile(windowsFile, append(sizes, '\n'), 0o600)
}

// lines returns a JSON object with an indented line for each entry.
func lines[V any](entries map[string]V, indent string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(entries)) {
		text, err := json.Marshal(entries[name])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n%s  %q: %s", indent, name, text)
	}
	b.WriteString("\n" + indent + "}")
	return b.Bytes(), nil
}
