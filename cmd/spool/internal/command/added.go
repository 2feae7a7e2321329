package command

import (
	"log/slog"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// Provider is a provider that a program adds to those of the configuration.
type Provider struct {
	Name string
	Open func(m config.Model, log *slog.Logger) (spool.Model, error)
}

// add adds the provider. Nothing else of the package may run meanwhile.
func (p Provider) add() error {
	if p.Open == nil {
		return usagef("the provider %q has no function that opens models", p.Name)
	}
	if err := config.AddProvider(p.Name); err != nil {
		return usagef("%s", spool.MessageOf(err))
	}
	adapters[p.Name] = adapter{open: p.Open}
	return nil
}
