package command

import (
	"log/slog"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/model/responses"
)

func openResponses(m config.Model, _ *slog.Logger) (spool.Model, error) {
	r := m.Responses
	return plain(responses.New(responses.Config{
		Model: m.Model, APIKey: m.APIKey, BaseURL: m.BaseURL, ContextWindow: m.ContextWindow,
		MaxOutputTokens: m.MaxOutputTokens, Headers: m.Headers, Extra: m.Extra, Secrets: m.Secrets,
		ReasoningEffort: r.ReasoningEffort, ReasoningSummary: r.ReasoningSummary, Background: r.Background, Store: r.Store,
		ItemIDs: r.ItemIDs,
	}))
}
