package gemini

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// secret is the key of all signatures. Two servers accept each other's signatures.
var secret = []byte("internal/fake/gemini")

// Skip is the signature that the API accepts on any function call.
const Skip = "skip_thought_signature_validator"

// nonceLen is the length of an answer's nonce in a signature, and macLen that of the rest.
const (
	nonceLen = 8
	macLen   = 16
	idMacLen = 6
)

func mac(texts ...string) []byte {
	h := hmac.New(sha256.New, secret)
	for _, t := range texts {
		sum := sha256.Sum256([]byte(t))
		h.Write(sum[:])
	}
	return h.Sum(nil)
}

// prefix is the digest of the parts before a signed one. Texts without a signature may be joined, and thoughts
// without one may be left out.
type prefix struct {
	b    strings.Builder
	text string
}

func (x *prefix) add(p Part) {
	switch {
	case p.Thought && p.Signature == "":
		return
	case p.Text != nil && p.Signature == "":
		x.text += *p.Text
		return
	}
	x.flush()
	x.b.WriteString(p.kind() + "\x00" + p.data() + "\x00")
}

func (x *prefix) flush() {
	if x.text != "" {
		x.b.WriteString("text\x00" + x.text + "\x00")
		x.text = ""
	}
}

func (x *prefix) String() string {
	x.flush()
	return x.b.String()
}

func (p Part) kind() string {
	switch {
	case p.Call != nil:
		return "call"
	case p.Thought:
		return "thought"
	case p.Text != nil:
		return "signed"
	}
	return "other"
}

// data is what a signature signs.
func (p Part) data() string {
	switch {
	case p.Call != nil:
		return p.Call.ID + "\x00" + p.Call.Name + "\x00" + canonical(p.Call.Args)
	case p.Text != nil:
		return *p.Text
	}
	return canonical(p.Code) + canonical(p.CodeResult) + canonical(p.ToolCall) + canonical(p.ToolResponse)
}

// sign returns the signature of a part after the parts of its answer before it.
func sign(model, nonce string, before []Part, p Part) string {
	var x prefix
	for _, b := range before {
		x.add(b)
	}
	return base64.StdEncoding.EncodeToString(append([]byte(nonce),
		mac(model, nonce, x.String(), p.kind(), p.data())[:macLen]...))
}

// makeID returns the id of a call. It says whether the call is signed, so that the server notices a signature
// that was replaced.
func makeID(model, nonce string, n int, signed bool) string {
	flag := "0"
	if signed {
		flag = "1"
	}
	head := fmt.Sprintf("%x%s%02x", nonce, flag, n&0xff)
	return head + hex.EncodeToString(mac("id", model, head)[:idMacLen])
}

// isSigned reports whether id is one of a signed call of the model.
func isSigned(model, id string) bool {
	n := len(id) - 2*idMacLen
	return n == 2*nonceLen+3 && id[2*nonceLen] == '1' && hex.EncodeToString(mac("id", model, id[:n])[:idMacLen]) == id[n:]
}

const missing = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, " +
	"and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. " +
	"Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."

// checkSignatures checks the signatures of a content of the model. Required: the first call must have one.
func (s *Server) checkSignatures(model string, c Content, required bool) *Error {
	first := true
	for i, p := range c.Parts {
		if p.Call != nil {
			if p.Signature == "" && first && required {
				return invalid(missing, p.Call.Name, i+1)
			}
			if isSigned(model, p.Call.ID) && (p.Signature == "" || p.Signature == Skip) {
				return invalid("Function call `default_api:%s` has lost its thought_signature, position %d.", p.Call.Name, i+1)
			}
			first = false
		}
		if p.Signature == "" || p.Call != nil && p.Signature == Skip {
			continue
		}
		if !s.signed(model, c.Parts, i) {
			return invalid("Thought signature is not valid. Position %d, %s.", i+1, p.kind())
		}
	}
	return nil
}

// signed reports whether the signature of a part is the model's, for this part after the parts before it. A content may
// have several answers, so each part before it may be the first one of its answer.
func (s *Server) signed(model string, parts []Part, i int) bool {
	p := parts[i]
	s.mu.Lock()
	fixed := s.fixed[fixedKey(model, p)]
	s.mu.Unlock()
	if fixed {
		return true
	}
	raw, err := base64.StdEncoding.DecodeString(p.Signature)
	if err != nil || len(raw) != nonceLen+macLen {
		return false
	}
	for from := range i + 1 {
		if sign(model, string(raw[:nonceLen]), parts[from:i], p) == p.Signature {
			return true
		}
	}
	return false
}

func fixedKey(model string, p Part) string {
	return model + "\x00" + p.Signature + "\x00" + p.kind() + "\x00" + p.data()
}

// fix remembers a signature that a script has chosen.
func (s *Server) fix(model string, p Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed[fixedKey(model, p)] = true
}
