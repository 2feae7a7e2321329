package anthropic

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// signer makes and checks signatures. It has no state besides the signatures that a test made up.
type signer struct {
	secret []byte
	random io.Reader
	// fixed has what signatures of a test's own stand for.
	fixed sync.Map
}

func (s *signer) sum(parts ...any) []byte {
	mac := hmac.New(sha256.New, s.secret)
	_, _ = mac.Write(encode(parts))
	return mac.Sum(nil)
}

// stamp is a signature of a block: the call that follows the block in its message, if any, and a sum.
func (s *signer) stamp(kind, model string, index int, text, call string) string {
	sum := s.sum(kind, model, index, text, call)
	return base64.StdEncoding.EncodeToString([]byte("fake" + string(sum) + call))
}

// or returns the given signature, or a stamp if there is none.
func (s *signer) or(given, kind, model string, index int, text, call string) string {
	if given == "" {
		return s.stamp(kind, model, index, text, call)
	}
	s.fixed.Store(given, fmt.Sprint(kind, model, index, text))
	return given
}

// check returns whether a stamp is that of a block, and the call that has to be in the block's message.
func (s *signer) check(stamp, kind, model string, index int, text string) (call string, ok bool) {
	if want, fixed := s.fixed.Load(stamp); fixed {
		return "", want == fmt.Sprint(kind, model, index, text)
	}
	raw, err := base64.StdEncoding.DecodeString(stamp)
	if err != nil || len(raw) < len("fake")+sha256.Size {
		return "", false
	}
	call = string(raw[len("fake")+sha256.Size:])
	return call, stamp == s.stamp(kind, model, index, text, call)
}

// callID returns the id of a call that follows n blocks of thinking of its message.
func (s *signer) callID(model string, n int) string {
	nonce := make([]byte, 8)
	_, _ = io.ReadFull(s.random, nonce)
	head := fmt.Sprintf("toolu_%s%02x", hex.EncodeToString(nonce), min(n, 255))
	return head + hex.EncodeToString(s.sum("call", model, head)[:6])
}

// altered reports whether an id is one of this server and this model with something at its end.
func (s *signer) altered(model, id string) bool {
	given, _, more := strings.Cut(id, "-")
	_, own := s.thoughts(model, given)
	return more && own
}

// thoughts returns how many blocks of thinking come before a call, if it is one of this server and this model.
func (s *signer) thoughts(model, id string) (n int, own bool) {
	const head = len("toolu_") + 16 + 2
	if len(id) != head+12 || !strings.HasPrefix(id, "toolu_") ||
		id[head:] != hex.EncodeToString(s.sum("call", model, id[:head])[:6]) {
		return 0, false
	}
	count, err := hex.DecodeString(id[head-2 : head])
	if err != nil {
		return 0, false
	}
	return int(count[0]), true
}

// sign returns the blocks of an answer as they are on the wire, whole.
func (s *Server) sign(blocks []Block, at place) []map[string]any {
	ids := make([]string, len(blocks))
	thought := at.thought
	for i, b := range blocks {
		switch b.Type {
		case "thinking", "redacted_thinking":
			thought++
		case "tool_use":
			if ids[i] = b.ID; b.ID == "" {
				ids[i] = s.signer.callID(at.model, thought)
			}
		case "server_tool_use":
			ids[i] = "srv" + s.signer.callID(at.model, 0)
		}
	}
	out := make([]map[string]any, len(blocks))
	for i, b := range blocks {
		call := ""
		for j := i; j < len(blocks) && call == "" && !b.Loose; j++ {
			if blocks[j].Type == "tool_use" {
				call = ids[j]
			}
		}
		out[i] = s.block(b, at, at.first+i, ids[i], call)
		if b.Type == "web_search_tool_result" {
			out[i] = s.searchResult(b, at.model, ids[i-1])
		}
	}
	return out
}

// block returns a block as it is on the wire. Call is the next call of the message.
func (s *Server) block(b Block, at place, index int, id, call string) map[string]any {
	if b.Raw != nil {
		var out map[string]any
		_ = json.Unmarshal(b.Raw, &out)
		return out
	}
	switch b.Type {
	case "text":
		out := map[string]any{"type": "text", "text": b.Text}
		if b.Cited {
			out["citations"] = []any{map[string]any{
				"type": "web_search_result_location", "cited_text": "quoted", "url": "https://example.com/", "title": "Example",
				"encrypted_index": s.signer.or(b.Signature, "citation", at.model, 0, b.Text, ""),
			}}
		}
		return out
	case "thinking":
		text := b.Text
		if at.display == "omitted" {
			text = ""
		}
		signature := s.signer.or(b.Signature, "thinking", at.model, index, text, call)
		return map[string]any{"type": "thinking", "thinking": text, "signature": signature}
	case "redacted_thinking":
		return map[string]any{
			"type": "redacted_thinking", "data": s.signer.or(b.Signature, "redacted", at.model, index, "", call),
		}
	case "tool_use":
		out := map[string]any{"type": "tool_use", "id": id, "name": b.Name, "input": jsonOr(b.Args)}
		if b.Caller != nil {
			out["caller"] = b.Caller
		}
		return out
	case "server_tool_use":
		return map[string]any{"type": "server_tool_use", "id": id, "name": b.Name, "input": jsonOr(b.Args)}
	default:
		return map[string]any{"type": b.Type}
	}
}

func (s *Server) searchResult(b Block, model, id string) map[string]any {
	return map[string]any{"type": "web_search_tool_result", "tool_use_id": id, "content": []any{map[string]any{
		"type": "web_search_result", "title": "About " + b.Text, "url": "https://example.com/", "page_age": nil,
		"encrypted_content": s.signer.stamp("search", model, 0, id, ""),
	}}}
}

// jsonOr returns arguments as JSON, or nothing if they are not.
func jsonOr(args string) any {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return map[string]any{}
}
