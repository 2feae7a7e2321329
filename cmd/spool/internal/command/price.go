package command

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"path/filepath"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/price"
)

// newPricer returns the pricer of the configuration. It uses the cost that a provider reports, or else the prices of
// the file and then a table. It returns nil if the configuration has no prices. The path of a table is relative to
// the folder of the configuration.
func newPricer(p config.Prices, from string, log *slog.Logger) (price.Pricer, error) {
	if p.None() {
		return nil, nil //nolint:nilnil // without prices there is no pricer
	}
	tables := []price.Table{price.Builtin()}
	switch file := p.File; {
	case len(p.Models) > 0:
		tables = append([]price.Table{ownPrices(p)}, tables...)
	case file != "builtin" && file != "":
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(from), file)
		}
		var err error
		if tables[0], err = price.Load(file); err != nil {
			return nil, p.Errorf("%v", err) // the file belongs to the operator
		}
	}
	pricers := []price.Pricer{price.Receipt{}}
	for _, table := range tables {
		list, err := price.New(table, log)
		if err != nil {
			return nil, p.Errorf("%s", spool.MessageOf(err))
		}
		pricers = append(pricers, list)
	}
	return price.Chain(log, pricers...), nil
}

// ownPrices returns the table of the prices in the configuration. Its version changes with them.
func ownPrices(p config.Prices) price.Table {
	text, err := json.Marshal(p.Models)
	if err != nil {
		panic("the prices are no JSON: " + err.Error()) // they come from JSON's own numbers
	}
	sum := sha256.Sum256(text)
	return price.Table{Version: "configuration-" + hex.EncodeToString(sum[:4]), Currency: "USD", Models: p.Models}
}
