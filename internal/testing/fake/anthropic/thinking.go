package anthropic

import (
	"encoding/json"
	"fmt"
)

func readThinking(r *Request, in *wireRequest) string {
	if in.Thinking == nil {
		return ""
	}
	t := in.Thinking
	r.Thinking, r.Display = t.Type, t.Display
	switch t.Type {
	case "enabled":
		switch {
		case t.BudgetTokens == nil:
			return "thinking.enabled.budget_tokens: Field required"
		case *t.BudgetTokens < 1024:
			return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
		case *t.BudgetTokens >= r.MaxTokens:
			return "`max_tokens` must be greater than `thinking.budget_tokens`."
		}
		r.Budget = *t.BudgetTokens
	case "adaptive":
		if t.BudgetTokens != nil {
			return "thinking.adaptive.budget_tokens: Extra inputs are not permitted"
		}
	case "disabled":
		if t.BudgetTokens != nil || t.Display != "" {
			return "thinking.disabled: Extra inputs are not permitted"
		}
		return ""
	default:
		return fmt.Sprintf(
			"thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'",
			t.Type,
		)
	}
	switch {
	case t.Display != "" && t.Display != "summarized" && t.Display != "omitted":
		return "thinking.display: Input should be 'summarized' or 'omitted'"
	case r.ToolChoice == "any" || r.ToolChoice == "tool":
		return "Thinking may not be enabled when tool_choice forces tool use."
	case in.Temperature != nil && *in.Temperature != 1:
		return "`temperature` may only be set to 1 when thinking is enabled."
	}
	return ""
}

// checkSigned checks everything that only this service and this model can have made.
func (s *Server) checkSigned(r *Request, _ *wireRequest) string {
	for i, m := range r.Messages {
		searches := make(map[string]bool)
		for j := range m.Content {
			b := &m.Content[j]
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			var call string
			ok := true
			switch b.Type {
			case "thinking":
				if call, ok = s.signer.check(b.Signature, "thinking", r.Model, j, *b.Thinking); !ok {
					return at + ": Invalid `signature` in `thinking` block"
				}
			case "redacted_thinking":
				if call, ok = s.signer.check(b.Data, "redacted", r.Model, j, ""); !ok {
					return at + ": Invalid `data` in `redacted_thinking` block"
				}
			case "tool_use":
				if s.signer.altered(r.Model, b.ID) {
					return at + ": the id of the `tool_use` block is not the one that was given: " + b.ID
				}
			case "server_tool_use":
				searches[b.ID] = true
			case "web_search_tool_result":
				if !searches[b.ToolUseID] {
					return at + ": `web_search_tool_result` block without its `server_tool_use` block"
				}
				ok = s.checkSearch(b, r.Model)
			case "text":
				for _, c := range b.Citations {
					_, cited := s.signer.check(c.EncryptedIndex, "citation", r.Model, 0, *b.Text)
					ok = ok && cited
				}
			}
			if !ok {
				return at + ": Invalid encrypted content"
			}
			if call != "" && !hasCall(m.Content[j:], call) {
				return at + ": `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. " +
					"These blocks must remain as they were in the original response."
			}
		}
	}
	return ""
}

func (s *Server) checkSearch(b *RequestBlock, model string) bool {
	//nolint:tagliatelle // the provider's words
	var found []struct {
		EncryptedContent string `json:"encrypted_content"`
	}
	if json.Unmarshal(b.Content, &found) != nil {
		return false
	}
	for _, f := range found {
		if _, ok := s.signer.check(f.EncryptedContent, "search", model, 0, b.ToolUseID); !ok {
			return false
		}
	}
	return true
}

func hasCall(blocks []RequestBlock, id string) bool {
	for i := range blocks {
		if blocks[i].Type == "tool_use" && blocks[i].ID == id {
			return true
		}
	}
	return false
}

// turn returns the assistant's messages of the turn that is not finished. A turn goes from a user's message to
// the next one; results of tools do not end it.
func turn(r *Request) []RequestMessage {
	var out []RequestMessage
	for _, m := range r.Messages {
		switch {
		case m.Role == "assistant":
			out = append(out, m)
		case m.Content[0].Type != "tool_result":
			out = nil
		}
	}
	return out
}

// checkTurn checks that an unfinished turn began with thinking, if the model thinks with a budget.
func checkTurn(r *Request, _ *wireRequest) string {
	if r.Thinking != "enabled" {
		return ""
	}
	if t := turn(r); len(t) > 0 && !t[0].Content[0].isThinking() {
		return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, "+
			"a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).",
			len(r.Messages)-1, t[0].Content[0].Type)
	}
	return ""
}

// checkThoughts checks that no block of thinking is missing before the calls of an unfinished turn.
func (s *Server) checkThoughts(r *Request, _ *wireRequest) string {
	if r.Thinking == "disabled" {
		return ""
	}
	for _, m := range turn(r) {
		thought := 0
		for i := range m.Content {
			switch b := &m.Content[i]; {
			case b.isThinking():
				thought++
			case b.Type == "tool_use" && s.lacks(r.Model, b.ID, thought):
				return "messages: `thinking` blocks of the latest assistant turn are missing before the `tool_use` block " + b.ID
			}
		}
	}
	return ""
}

// lacks reports whether a call of this server comes with fewer blocks of thinking than in its answer.
func (s *Server) lacks(model, id string, thought int) bool {
	n, own := s.signer.thoughts(model, id)
	return own && n > thought
}
