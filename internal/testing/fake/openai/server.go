// Package openai is a fake of the chat completions interface for tests, as a router with models of several makers
// offers it. It speaks the real wire, and it is strict: it refuses with status 400 calls without their results, and
// reasoning_details and thought signatures that were left out, moved, altered or made by another model.
//
// Its signatures are made from the content, the place and the model of a part. An id of a call says how much
// reasoning came before the call and whether the call is signed. So the server keeps no state of conversations.
package openai

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const (
	maxBody     = 64 << 20
	maxProblems = 100
)

// Server is the fake. It is safe for concurrent use.
type Server struct {
	answer func(*Request) Answer

	mu       sync.Mutex
	requests int
	problems []string
}

var _ http.Handler = (*Server)(nil)

// New returns a server. Answer returns the answer to a request that passed all checks. It may be called
// concurrently.
func New(answer func(*Request) Answer) *Server { return &Server{answer: answer} }

// Count returns how many requests the server got.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Problems returns why requests were refused with 400, the first hundred of them.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// ServeHTTP answers a request to the path /chat/completions, below any prefix.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		refuse(w, http.StatusNotFound, "", "not found")
		return
	}
	request, problem := Read(raw)
	s.mu.Lock()
	s.requests++
	n := s.requests
	if problem != "" && len(s.problems) < maxProblems {
		s.problems = append(s.problems, problem)
	}
	s.mu.Unlock()
	if problem != "" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", problem)
		return
	}
	request.nonce = nonceOf(raw, n)
	s.answer(request).write(w, request)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(map[string]any{"error": map[string]any{"message": message, "type": kind}}))
}

// encode writes JSON of values that always have a JSON form.
func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}

var secret = []byte("internal/fake/openai")

func mac(parts ...any) string {
	h := hmac.New(sha256.New, secret)
	_, _ = h.Write(encode(parts))
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// nonceLen is the length of an answer's nonce, which its signatures begin with.
const nonceLen = 12

// nonceOf returns the nonce of the answer to the n-th request. A request that comes again gets another one, so that no
// id is given twice.
func nonceOf(body []byte, n int) string {
	sum := sha256.Sum256(fmt.Appendf(slices.Clip(body), "%d", n))
	return hex.EncodeToString(sum[:nonceLen/2])
}

// signDetail returns the signature of the n-th detail of an answer.
func signDetail(model, nonce string, n int, text string) string {
	return nonce + mac("detail", model, nonce, n, text)
}

// signCall returns the signature of a call.
func signCall(model, nonce, id, name, args string) string {
	return nonce + mac("call", model, nonce, id, name, canonical(args))
}

// canonical returns JSON without differences of form.
func canonical(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return string(encode(value))
}

// callHead is the length of an id of a call without its checksum: the nonce, the number of the call, the number of
// details before it, and whether the call is signed.
const callHead = len("call_") + nonceLen + 2 + 2 + 1

// callID returns the id of the n-th call of an answer.
func callID(model, nonce string, n, details int, signed bool) string {
	flag := 0
	if signed {
		flag = 1
	}
	head := fmt.Sprintf("call_%s%02x%02x%d", nonce, n&0xff, details&0xff, flag)
	return head + mac("id", model, head)[:8]
}

// readID returns what the id of a call says, if it is one of this model.
func readID(model, id string) (nonce string, details int, signed, ok bool) {
	if len(id) != callHead+8 || id[callHead:] != mac("id", model, id[:callHead])[:8] {
		return "", 0, false, false
	}
	n, err := hex.DecodeString(id[callHead-3 : callHead-1])
	if err != nil {
		return "", 0, false, false
	}
	at := len("call_")
	return id[at : at+nonceLen], int(n[0]), id[callHead-1] == '1', true
}
