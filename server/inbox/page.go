package inbox

import (
	"bytes"
	_ "embed" // the page
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/page"
	"github.com/spoolhq/spool/wire"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	linkPage = page.Must(pageHTML, pageCSS, page.Options{Forms: true})
)

// LinkQuestion is the question of a link, as its approver sees it.
type LinkQuestion struct {
	Approver    string          `json:"approver"`
	ToolName    string          `json:"toolName"`
	Agent       string          `json:"agent"`
	Path        []string        `json:"path"`
	Reason      string          `json:"reason"`
	Arguments   json.RawMessage `json:"arguments"`
	InputSchema json.RawMessage `json:"inputSchema"`
	StartedBy   string          `json:"startedBy,omitempty"`
	Title       string          `json:"title"`
	AskedAt     time.Time       `json:"askedAt"`
	// ExpiresAt is when the link expires.
	ExpiresAt time.Time `json:"expiresAt"`
}

// Page is what a link answers: a question, or what became of it.
type Page struct {
	status int
	header http.Header
	// question is the question that waits. Nil: the page has a title and a text only.
	question *LinkQuestion
	// title and text say something else, in place of the question or above it.
	title, text string
	// body is the page for programs.
	body any
}

// Respond implements [rest.Responder]. A program that asks for JSON gets it, and everybody else a page.
func (p Page) Respond(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	maps.Copy(h, p.header)
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Add("Vary", "Accept")
	if !wantsJSON(r) {
		linkPage.Write(w, p.status, p.shown())
		return nil
	}
	page.Private(h)
	h.Set("Content-Type", "application/json; charset=utf-8")
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(p.body); err != nil {
		return err
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(p.status)
	_, _ = w.Write(body.Bytes())
	return nil
}

// wantsJSON reports whether a program has asked: a browser accepts HTML.
func wantsJSON(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// words are the words of a page for a kind of question.
type words struct{ ask, approve, deny string }

var wordsOf = map[string]words{
	wire.ParkApproval:       {"May this call run?", "Approve", "Deny"},
	wire.ParkOutcomeUnknown: {"What became of this call?", "Run it again", "Leave it"},
	wire.ParkBudget:         {"The budget of the run is used up. May it have more?", "Allow", "Deny"},
}

// shown returns what the template shows.
func (p Page) shown() map[string]any {
	out := map[string]any{"Title": p.title, "Text": p.text}
	q := p.question
	if q == nil {
		return out
	}
	w, ours := wordsOf[q.Reason]
	if !ours {
		w = words{"The tool asks.", "Answer", "Decline"}
	}
	if p.title == "" {
		out["Title"] = w.ask
	}
	facts := []struct{ Name, Value string }{}
	for _, f := range []struct{ name, value string }{
		{"Tool", q.ToolName},
		{"Agent", strings.Join(q.Path, " → ")},
		{"Reason", q.Reason},
		{"Conversation", q.Title},
		{"Started by", q.StartedBy},
		{"Asked", q.AskedAt.UTC().Format(time.RFC1123)},
		{"Link works until", q.ExpiresAt.UTC().Format(time.RFC1123)},
		{"You answer as", q.Approver},
	} {
		if f.value != "" {
			facts = append(facts, struct{ Name, Value string }{f.name, visible(f.value)})
		}
	}
	out["Question"], out["Facts"], out["Arguments"] = true, facts, readable(q.Arguments)
	out["Approve"], out["Deny"] = w.approve, w.deny
	out["Payload"] = q.Reason != wire.ParkApproval
	if len(q.InputSchema) > 0 && q.Reason != wire.ParkApproval {
		out["Schema"] = readable(q.InputSchema)
	}
	return out
}

// readable returns JSON with line breaks, and with escapes for characters that nobody sees.
func readable(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return visible(string(text))
	}
	return visible(unescapedHTML.Replace(out.String()))
}

// unescapedHTML undoes the escapes with which Go writes the characters of HTML in JSON: the template escapes them for
// the page. An escaped backslash stays, so that what follows it is no escape.
var unescapedHTML = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// visible returns a text with escapes for characters that nobody sees, or that change the order of others.
func visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || !hidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			out.WriteString(`\U` + strconv.FormatInt(int64(r), 16))
		default:
			const digits = 4
			code := strconv.FormatInt(int64(r), 16)
			out.WriteString(`\u` + strings.Repeat("0", max(0, digits-len(code))) + code)
		}
	}
	return out.String()
}

// failed returns the page of an error. It has nothing of what the link is about.
func failed(err error) Page {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok {
		e = call.MapError(err)
	}
	code := spool.Code(e.Code)
	return Page{
		status: e.Status, header: e.Header, title: "You cannot answer with this link", text: page.Sentence(e.Detail),
		body: call.ErrorBody{Error: e.Detail, Code: code},
	}
}
