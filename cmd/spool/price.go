package main

import (
	"log/slog"
	"path/filepath"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/price"
)

// newPricer returns the pricer of the configuration. It uses the cost that a provider reports, or else
// the table. It returns nil if the configuration has no prices. The path of a table is relative to the
// folder of the configuration.
func newPricer(p config.Prices, from string, log *slog.Logger) (spool.Pricer, error) {
	if p.File == "" {
		return nil, nil //nolint:nilnil // without prices there is no pricer
	}
	table := price.Builtin()
	if file := p.File; file != "builtin" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(from), file)
		}
		var err error
		if table, err = price.Load(file); err != nil {
			return nil, p.Errorf("%v", err) // the file belongs to the operator
		}
	}
	list, err := price.New(table, log)
	if err != nil {
		return nil, p.Errorf("%s", spool.MessageOf(err))
	}
	return price.Chain(log, price.Receipt{}, list), nil
}
