// Package spoolmain is the spool command, for programs that add providers of models to it:
//
//	func main() {
//		spoolmain.Main(spoolmain.Provider{Name: "echo", Open: open})
//	}
//
// Such a program has all commands and options of spool. In its configuration, a model may have "provider: echo".
package spoolmain

import (
	"log/slog"
	"os"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/command"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// Provider makes the models whose entry in the configuration names it.
type Provider struct {
	// Name is the word of the field provider. It must not be one of spool's own.
	Name string
	// Open makes a model. Its error stops the start, and is printed with the line of the entry. It must not have a secret.
	Open func(m Model) (spool.Model, error)
}

// Model is an entry of the section models. A field that the file does not have is zero.
type Model struct {
	// Name is the name of the entry. Model is its field model, which it must have.
	Name, Model string

	BaseURL, APIKey string
	// ContextWindow and MaxOutputTokens are in tokens.
	ContextWindow, MaxOutputTokens int
	// Headers and Extra are the fields headers and extra_body. Numbers in Extra are json.Number.
	Headers map[string]string
	Extra   map[string]any
	// Secrets are values of the environment in BaseURL, Headers and Extra, which no error may have.
	Secrets []string
	// Log is the log of the process. It is never nil.
	Log *slog.Logger
}

// Main executes the command line of the process, and ends the process with its exit code. It refuses a provider
// without a function, and one whose name another one has.
func Main(providers ...Provider) {
	added := make([]command.Provider, len(providers))
	for i, p := range providers {
		added[i].Name = p.Name
		if p.Open != nil {
			added[i].Open = p.open
		}
	}
	os.Exit(command.Run(added...))
}

func (p Provider) open(m config.Model, log *slog.Logger) (spool.Model, error) {
	model, err := p.Open(Model{
		Name: m.Name, Model: m.Model, BaseURL: m.BaseURL, APIKey: m.APIKey,
		ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens,
		Headers: m.Headers, Extra: m.Extra, Secrets: m.Secrets, Log: log,
	})
	if err != nil && spool.CodeOf(err) == spool.Internal { // whose message nobody would see
		return nil, spool.Errorf(spool.Invalid, "%v", err)
	}
	return model, err
}
